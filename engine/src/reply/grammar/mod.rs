//! Grammars: replies that are a text of one, in EBNF or in Lark's notation.
//!
//! ```text
//! text ─ ebnf.rs, lark.rs ─► rules (rules.rs) ─ regular.rs ─► a language of strings/ ─► a reply of text
//! ```

mod common;
mod components;
mod ebnf;
mod lark;
mod reader;
mod regular;
mod rules;
mod syntax;
#[cfg(test)]
mod tests;

use crate::strings::{LanguageId, Languages, PatternSyntax};
use crate::{CompileError, CompileErrorKind, ExactOptions, Masker, Vocabulary, WritingBounds};
use regular::{RegularRules, limit};
use rules::Rule;
pub use syntax::GrammarSyntax;

use super::{ReplyCompiler, ReplyForm};

/// The name under which the language of a grammar is the keyword `pattern` of a schema. As an expression it cannot be read.
const NAME: &str = "(grammar";

/// Compiles a grammar.
///
/// # Errors
///
/// [`CompileError`], with line and column where the grammar cannot be read.
pub(super) fn compile(
    compiler: &ReplyCompiler,
    grammar: &str,
    syntax: GrammarSyntax,
) -> Result<Box<dyn Masker>, CompileError> {
    let options = options(compiler.text_options());
    let limits = &options.schema.limits;
    let mut languages = Languages::within(limits);
    let language = regular(grammar, syntax, &mut languages, &options, &compiler.vocabulary)?;
    languages.name_pattern(PatternSyntax::Common, NAME, language);
    let schema = format!(r#"{{"type":"string","pattern":"{NAME}"}}"#);
    compiler.masker(&schema, &ReplyForm::bare_text(), &options, (languages, &compiler.text))
}

/// The options under which texts of a grammar are read: nothing but the grammar narrows them.
fn options(options: ExactOptions) -> ExactOptions {
    let mut options = options.patterns(PatternSyntax::Common);
    options.style.bounds = WritingBounds::NONE;
    options.style.strings = crate::StringStyle::any();
    options
}

/// The texts of a grammar that tokens can spell, as one language.
fn regular(
    grammar: &str,
    syntax: GrammarSyntax,
    languages: &mut Languages,
    options: &ExactOptions,
    vocabulary: &Vocabulary,
) -> Result<LanguageId, CompileError> {
    let grammar = match syntax {
        GrammarSyntax::Ebnf => ebnf::read(grammar, &options.schema.limits)?,
        GrammarSyntax::Lark => lark::read(grammar, &options.schema.limits)?,
    };
    let rules = RegularRules::new(&grammar, languages)?;
    let Some(mut language) = rules.language(grammar.root) else {
        let nested = (0..grammar.rules.len()).find(|rule| rules.language(*rule).is_none());
        let Rule { name, line, .. } = &grammar.rules[nested.unwrap_or(grammar.root)];
        let message = format!("line {line}: the rule `{name}` is nested in itself, which is not supported");
        return Err(CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar"));
    };
    if vocabulary.is_ascii() {
        let character = languages.characters(&[('\0', '\u{7f}')], false).map_err(limit)?;
        let ascii = languages.repeat(character, 0, u64::MAX).map_err(limit)?;
        language = languages.and(&[language, ascii]).map_err(limit)?;
    }
    if languages.is_empty(language).map_err(limit)? {
        let message = "no text is one of this grammar: each way of it goes on for ever, or needs a character that cannot be written";
        return Err(CompileError::new(CompileErrorKind::Unsatisfiable, message).on_keyword("grammar"));
    }
    Ok(language)
}
