//! Token masks for JSON Schema: the tokens that a language model may write next, so that its document is valid.
//!
//! A language model writes a document token by token. Before each token this crate says which tokens can still lead to a
//! document that is valid under a JSON Schema; the caller sets the logits of all others to negative infinity. A token is
//! allowed **if and only if** some valid document goes on with it: a model can neither leave the schema nor be kept from
//! anything that the schema admits.
//!
//! # Key types
//!
//! 1. [`Vocabulary`]: the bytes of each token of a model, read from a `tokenizer.json`, a SentencePiece model or tiktoken ranks, or
//!    built token by token. There is one for each model.
//! 2. [`ExactCompiler`]: compiles schemas for one vocabulary, as [`ExactOptions`] say. There is one for each vocabulary,
//!    and threads share it.
//! 3. [`Masker`]: stands at one place in one document. [`mask`](Masker::mask) gives the [`TokenMask`] of that place,
//!    [`advance`](Masker::advance) takes the token that was chosen.
//! 4. [`Explainer`](explain::Explainer): says which keywords forbid a text, or leave a schema without any value, and which values
//!    a style leaves out.
//!
//! [`ReplyCompiler`] does the same for replies in which something stands around the data, such as a fence, or in which
//! the data is YAML. The traits [`Compiler`] and [`Masker`] are open to other implementations.
//!
//! # Use
//!
//! ```
//! use std::sync::Arc;
//!
//! use maskwright::{Compiler, ExactCompiler, ExactOptions, Vocabulary};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 1. The vocabulary. A real one comes from a file: `Vocabulary::from_tokenizer_json(&std::fs::read("tokenizer.json")?)?`.
//! let mut builder = Vocabulary::builder();
//! for byte in 0..=255_u8 {
//!     builder = builder.text(byte.into(), [byte])?;
//! }
//! // The tokenizer is needed for forced tokens only; here, each byte is a token.
//! let tokenizer = |text: &[u8]| text.iter().map(|byte| u32::from(*byte)).collect();
//! let vocabulary = Arc::new(builder.special(256, "<end>")?.eos([256]).tokenizer(Arc::new(tokenizer)).build()?);
//!
//! // 2. The compiler, which is kept, and a masker for each document.
//! let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default());
//! let mut masker = compiler.compile(r#"{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}"#)?;
//!
//! // 3. The mask: a document begins with a brace, or with nothing else.
//! let mut logits = vec![0.0; vocabulary.len()];
//! masker.mask()?.apply_to(&mut logits);
//! assert_eq!(masker.mask()?.single(), Some(u32::from(b'{')));
//! assert_eq!(logits[usize::from(b'[')], f32::NEG_INFINITY);
//!
//! // 4. The chosen token.
//! masker.advance(u32::from(b'{'))?;
//! masker.advance(u32::from(b'"'))?;
//!
//! // 5. Tokens that must come next, whatever is sampled: the rest of the only name that may come first.
//! let mut forced = Vec::new();
//! masker.forced_tokens(&mut forced)?;
//! assert_eq!(vocabulary.text_bytes(&forced), b"id\":");
//!
//! // 6. The end: an end-of-sequence token is in the mask where the document may end.
//! for byte in br#"id": 7}"# {
//!     masker.advance(u32::from(*byte))?;
//! }
//! assert!(masker.is_complete()?);
//! assert!(masker.mask()?.allows(256));
//! # Ok(())
//! # }
//! ```
//!
//! [`Masker::completion`] gives tokens that end the document, for callers with a limit on tokens; [`Masker::fork`] and
//! [`Masker::rollback`] serve beam search and speculative decoding. Masks may be worked out on another thread while the
//! model computes: a masker is [`Send`].
//!
//! # When not to use it
//!
//! - For nested grammars that are ambiguous, or need more than one byte of lookahead: [`ReplyCompiler`] compiles regular expressions, structural
//!   tags, and grammars in EBNF or Lark's notation, but refuses such grammars.
//! - To validate whole documents: a validator such as the crate `jsonschema` does that faster, and needs no vocabulary.
//! - For schemas that must be treated at any price: a schema with a keyword that cannot be treated exactly, such as a pattern with
//!   back-references, is refused with [`CompileErrorKind::Unsupported`]; a keyword is never ignored instead.
//!
//! # Untrusted input
//!
//! Schemas and tokenizer files may come from strangers. Whatever they hold, there is no panic, and recursion on the native stack
//! is bounded, whatever the depth of a schema or a document: to 200 subschemas where an error is explained, to
//! [`Limits::pattern_depth`] in a pattern. [`Limits`] bounds memory and time; input that exceeds them is
//! refused with an error that names the limit. The defaults are wide: a hostile schema can take gigabytes and seconds. A thread
//! that compiles or asks for masks needs 512 KiB of stack, which musl's default is below. The
//! crate opens no file and no socket, starts no thread, reads no environment variable, and never fetches a reference:
//! documents that `$ref` leads to are given with [`ExactOptions::document`].
//!
//! # Features
//!
//! None is on by default.
//!
//! - `tokenizers`: `Vocabulary::from_tokenizer` and `HuggingFaceTokenizer`, for the crate `tokenizers` 0.23, whose
//!   `onig` or `fancy-regex` your program has to switch on.
//! - `serde`: [`CompileErrorKind`] can be serialised.

mod automaton;
mod decimal;
mod error;
pub mod explain;
mod json;
mod limits;
pub mod lint;
mod mask;
mod masker;
mod numbers;
mod reply;
mod schema;
mod strings;
mod style;
mod token_mask;
mod vocabulary;

pub use automaton::Formats;
pub use error::{CompileError, CompileErrorKind, MaskError, VocabularyError};
pub use limits::Limits;
pub use mask::{ExactCompiler, ExactOptions};
pub use masker::{Compiler, Masker};
pub use reply::{DataFormat, Envelope, GrammarSyntax, ReplyCompiler, ReplyForm};
pub use schema::{Draft, SchemaOptions};
pub use strings::PatternSyntax;
pub use style::{
    Escapes, FixedWhitespace, Indent, KeyOrder, LineBreak, NumberStyle, SpacesAround, StringStyle, Style, Whitespace,
    WritingBounds,
};
pub use token_mask::TokenMask;
#[cfg(feature = "tokenizers")]
pub use vocabulary::HuggingFaceTokenizer;
pub use vocabulary::{TokenKind, Tokenize, Vocabulary, VocabularyBuilder};

/// Index of a token in a [`Vocabulary`], and of its bit in a [`TokenMask`].
pub type TokenId = u32;
