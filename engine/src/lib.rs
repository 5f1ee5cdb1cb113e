//! Token masks for JSON Schema.
//!
//! A language model writes a document token by token. Constrained decoding forbids, at every step, the tokens
//! after which no valid document could follow. This crate holds what every framework that does so shares:
//!
//! 1. a [`Vocabulary`]: the bytes of each token of a model, read from a `tokenizer.json` or from tiktoken ranks;
//! 2. a [`Compiler`], which turns a JSON Schema into a [`Masker`] over that vocabulary;
//! 3. the [`Masker`], asked for a [`TokenMask`] before each token is chosen and told of each token chosen;
//! 4. [`ExactCompiler`], the compiler of this project: a token is allowed if and only if some valid document goes on
//!    with it, and what cannot be treated exactly is refused.
//!
//! The crate has no machine-learning dependency, opens no file and no socket, and starts no thread.

mod automaton;
mod decimal;
mod error;
pub mod explain;
mod json;
mod limits;
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
pub use reply::{DataFormat, Envelope, ReplyCompiler, ReplyForm};
pub use schema::{Draft, SchemaOptions};
pub use style::{Escapes, KeyOrder, NumberStyle, Style, Whitespace};
pub use token_mask::TokenMask;
#[cfg(feature = "tokenizers")]
pub use vocabulary::HuggingFaceTokenizer;
pub use vocabulary::{TokenKind, Tokenize, Vocabulary, VocabularyBuilder};

/// Index of a token in a [`Vocabulary`], and of its bit in a [`TokenMask`].
pub type TokenId = u32;
