//! Structural tags: replies of text, fixed parts, JSON documents and special tokens, as servers describe them for tool calls and
//! reasoning.
//!
//! ```text
//! JSON ─ parse.rs ─► formats (format.rs) ─ build.rs ─► program of points (program.rs)
//!                                                        │ threads.rs: threads, byte by byte
//!                        contents.rs, region.rs ─────────┤ masks.rs: the tokens that may come
//!                                                        └ ends.rs: a short end
//! ```
//!
//! A reply is read as one string of bytes, in which five bytes stand for a special token ([`literal`]). A state is a set of
//! *threads*, the ways in which the reply so far can be read; each of them can be completed. Reading is nondeterministic where
//! branches begin alike, or where what follows free text may begin within it. The number of threads is bounded:
//!
//! - Fixed texts that a reply chooses between share their beginnings.
//! - Free text is one thread, with a state of an Aho-Corasick automaton of its triggers and excluded texts. Free text within a tag ends
//!   with the tag's end, which is excluded from it.
//! - A tag is refused when it is compiled if a content in it could begin over and over while it is read, or if some reply could be read
//!   in more ways at once than [`MAX_THREADS`](build::MAX_THREADS) ([`ambiguity`]).
//!
//! What texts mean where there is a choice: free text ends with the first trigger that is read in it. A trigger or excluded text
//! with the name of a special token is that token; spelled out of other tokens it must not occur in free text. Free text may have all special
//! tokens that end no sequence; JSON documents and texts of expressions have none.

mod ambiguity;
mod build;
mod contents;
mod ends;
mod entries;
mod format;
mod literal;
mod masks;
mod members;
mod parse;
mod program;
mod region;
mod replies;
mod threads;

use std::sync::Arc;

use crate::mask::compiled_schema::CompiledSchema;
use crate::mask::masker::StateMasker;
use crate::{CompileError, CompileErrorKind, KeyOrder, Masker};
use contents::{Content, Contents};
use format::ContentSource;
pub(super) use masks::TagTokens;
use replies::TagReplies;

use super::{ReplyCompiler, text};

/// Compiles a structural tag.
///
/// # Errors
///
/// [`CompileError`], with the place in the structural tag, where it is malformed, not treated or too large, or a content in it cannot be
/// compiled.
pub(super) fn compile(compiler: &ReplyCompiler, tag: &str) -> Result<Box<dyn Masker>, CompileError> {
    let tokens = compiler.tag_tokens();
    let limits = &compiler.options.schema.limits;
    let tag = parse::parse(tag, &compiler.vocabulary, &tokens, limits)?;
    let mut contents = Vec::with_capacity(tag.contents.len());
    for (source, place) in &tag.contents {
        contents.push(content(compiler, source).map_err(|error| error.within(place))?);
    }
    let starts: Vec<_> = contents.iter().map(|content| content.start).collect();
    let program = build::build(&tag, &starts)?;
    let contents = Contents::new(contents);
    ambiguity::check_threads(&program, &contents)?;
    let replies = TagReplies::new(
        compiler.vocabulary.clone(),
        compiler.json_tokens(),
        tokens,
        program,
        contents,
    );
    let start = replies.start();
    Ok(Box::new(StateMasker::new(replies, start)))
}

/// Compiles a JSON document or a text of an expression within a structural tag.
fn content(compiler: &ReplyCompiler, source: &ContentSource) -> Result<Content, CompileError> {
    // Of hundreds of contents few are ever looked at.
    let languages = compiler.languages().over(&compiler.options.schema.limits, 0);
    let compiled = |tokens, automaton| {
        let vocabulary = compiler.vocabulary.clone();
        Box::new(CompiledSchema::within_reply(vocabulary, tokens, automaton))
    };
    match source {
        ContentSource::Json { schema, any_order } => {
            let mut options = compiler.options.clone();
            if *any_order {
                options.style.key_order = KeyOrder::Any;
            }
            let (automaton, start) = options.automaton(schema, languages)?;
            Ok(Content::new(compiled(compiler.json_tokens(), automaton), start, None)?)
        }
        ContentSource::Regex(pattern) => {
            let schema = text::schema_of_pattern(pattern, &compiler.options, &compiler.vocabulary)?;
            let options = compiler.text_options();
            let (mut automaton, start) = options.automaton(&schema, languages)?;
            let start = text::begin(&mut automaton, start)?.ok_or_else(|| {
                let message = "no text matches this expression";
                CompileError::new(CompileErrorKind::Unsatisfiable, message).at("")
            })?;
            let unlike = Some(compiler.unlike_tokens());
            let tokens: Arc<_> = compiler.text_tokens();
            Ok(Content::new(compiled(tokens, automaton), start, unlike)?)
        }
    }
}
