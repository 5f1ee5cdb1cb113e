//! Structural tags: replies of free text, fixed texts, JSON documents and special tokens, as servers describe them for tool calls and
//! reasoning. A tag is compiled to a nondeterministic automaton over bytes, whose threads are simulated in parallel.
//!
//! ```text
//! JSON ─ parse.rs ─► formats (format.rs) ─ build.rs ─► program of points (program.rs)
//!                                                        │ threads.rs: threads, byte by byte
//! parameters/, contents.rs, region.rs ───────────────────┤ masks.rs: token masks
//! (shared_contents.rs: contents of several tags)         │
//!                                                        └ ends.rs: completions
//! ```
//!
//! A reply is read as one string of bytes, in which five bytes stand for a special token ([`literal`]). A state is a set of
//! *threads*, one for each parse of the reply so far that can be completed. Reading is nondeterministic where
//! branches begin alike, or where the text that follows free text may begin within it. The number of threads is bounded:
//!
//! - Fixed texts that a reply chooses between share their beginnings.
//! - Free text is one thread, with a state of an Aho-Corasick automaton of its triggers and excluded texts. Free text within a tag ends
//!   with the tag's end, which is excluded from it.
//! - A tag is refused when it is compiled if a content in it could begin over and over while it is read, or if some reply could have
//!   more than [`MAX_THREADS`](build::MAX_THREADS) threads ([`ambiguity`]).
//!
//! Free text ends with the first trigger that is read in it. A trigger or excluded text
//! with the name of a special token is that token; spelled with other tokens it must not occur in free text. Free text may have all special
//! tokens except those that end a sequence; JSON documents and texts of expressions have none.

mod ambiguity;
mod build;
mod contents;
mod ends;
mod entries;
mod format;
mod literal;
mod masks;
mod members;
mod parameters;
mod parse;
mod program;
mod region;
mod replies;
mod shared_contents;
mod threads;
mod tokens;

use std::borrow::Cow;
use std::sync::Arc;

use crate::mask::compiled_schema::CompiledSchema;
use crate::mask::masker::StateMasker;
use crate::{CompileError, CompileErrorKind, Escapes, ExactOptions, KeyOrder, Masker};
use contents::{Content, Contents};
use format::ContentSource;
use replies::TagReplies;
pub(super) use shared_contents::SharedContents;
pub(super) use tokens::TagTokens;

use super::{ReplyCompiler, grammar, text};

/// Compiles a structural tag.
///
/// # Errors
///
/// [`CompileError`], with a JSON Pointer into the structural tag, where the tag is malformed, not treated or too large, or a content in it cannot
/// be compiled.
pub(super) fn compile(compiler: &ReplyCompiler, tag: &str) -> Result<Box<dyn Masker>, CompileError> {
    let tokens = compiler.tag_tokens();
    let limits = &compiler.options.schema.limits;
    let is_closed = compiler.options.style.closed;
    let mut tag = parse::parse(tag, &compiler.vocabulary, &tokens, (limits, is_closed))?;
    let (mut contents, mut numbers, mut places) = (Vec::with_capacity(tag.contents.len()), Vec::new(), Vec::new());
    for found in &tag.contents {
        numbers.push(Some(contents.len()));
        match compiler
            .contents
            .get(&found.source, || content(compiler, &found.source))
        {
            Ok(content) => {
                contents.push(content);
                places.push(found.place.clone());
            }
            Err(error) if !found.is_needed && error.kind() == CompileErrorKind::Unsatisfiable => {
                numbers.pop();
                numbers.push(None);
            }
            Err(error) if found.is_verbatim => return Err(error.within(&found.place)),
            Err(error) => return Err(error.at(found.place.clone())),
        }
    }
    tag.leave_out(&numbers)?;
    let starts: Vec<_> = contents.iter().map(|content| content.start).collect();
    let program = build::build(&tag, &starts)?;
    let contents = Contents::new(contents);
    ambiguity::check_threads(&program, &contents, &places)?;
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
    let languages = || compiler.languages().over(&compiler.options.schema.limits, 0);
    let compiled = |tokens, automaton| {
        let vocabulary = compiler.vocabulary.clone();
        Box::new(CompiledSchema::within_reply(vocabulary, tokens, automaton))
    };
    let escapes = compiler.options.style.escapes;
    let of_text = |schema: &str, options: &ExactOptions, languages| {
        let (mut automaton, start) = options.automaton(schema, languages)?;
        let start = text::begin(&mut automaton, start, compiler.is_ascii)?.ok_or_else(|| {
            let message = "no text is one of this content";
            CompileError::new(CompileErrorKind::Unsatisfiable, message).at("")
        })?;
        let shared = compiled(compiler.escaped_tokens(), automaton);
        Ok(Content::new(source.clone(), shared, start, None)?)
    };
    match source {
        ContentSource::Json {
            schema,
            any_order,
            arguments,
            never,
        } => {
            let mut options = with_arguments(&compiler.options, arguments);
            if *any_order {
                options.to_mut().style.key_order = KeyOrder::Any;
            }
            if !never.is_empty() && escapes != Escapes::Any {
                // A text with a character that is always escaped is never written.
                let is_written = |text: &&&str| !text.chars().any(|character| escapes.hides(character));
                options.to_mut().left_out = never.iter().filter(is_written).copied().collect();
            }
            let (automaton, start) = options.automaton(schema, languages())?;
            let shared = compiled(compiler.json_tokens(), automaton);
            let marks = (!never.is_empty() && escapes == Escapes::Any).then(|| compiler.tag_tokens().marks(never));
            Ok(Content::new(source.clone(), shared, start, marks)?)
        }
        ContentSource::Text { schema, arguments, .. } => of_text(
            schema,
            &with_arguments(&compiler.text_options(), arguments),
            languages(),
        ),
        ContentSource::Regex(pattern) => {
            let schema = text::schema_of_pattern(pattern, &compiler.options)?;
            let content = of_text(&schema, &compiler.text_options(), languages());
            content.map_err(|error| text::error_of_pattern(error, pattern))
        }
        ContentSource::Grammar(text, syntax) => {
            let mut languages = languages();
            let (schema, options) = grammar::content(compiler, text, *syntax, &mut languages)?;
            of_text(&schema, &options, languages)
        }
    }
}

/// Options under which a schema may refer to that of a call's arguments.
fn with_arguments<'o>(options: &'o ExactOptions, arguments: &Option<Arc<str>>) -> Cow<'o, ExactOptions> {
    match arguments {
        None => Cow::Borrowed(options),
        Some(text) => Cow::Owned(options.clone().document(parameters::ARGUMENTS, &**text)),
    }
}
