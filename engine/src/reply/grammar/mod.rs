//! Context-free grammars in EBNF or Lark's notation, compiled to token masks: a reply is a text of the root rule.
//!
//! ```text
//! text ─ ebnf.rs, lark.rs ─► rules (rules.rs) ─ regular.rs ─► a language of strings/ ─► a reply of text
//!                                                └ nested/ ──► a deterministic pushdown automaton, for rules nested in themselves
//! ```

mod common;
mod components;
mod ebnf;
mod lark;
mod nested;
mod reader;
mod regular;
mod rules;
mod syntax;
#[cfg(test)]
mod tests;

use crate::strings::{LanguageId, Languages, PatternSyntax};
use crate::{CompileError, CompileErrorKind, ExactOptions, Masker, WritingBounds};
use regular::{RegularRules, limit};
use rules::{Grammar, Rule};
pub use syntax::GrammarSyntax;

use super::{ReplyCompiler, ReplyForm, text};

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
    let mut languages = Languages::within(&options.schema.limits);
    let grammar = read(grammar, syntax, &options)?;
    let rules = RegularRules::new(&grammar, &mut languages)?;
    let within = spelled(compiler, &mut languages)?;
    match rules.language(grammar.root) {
        Some(language) => {
            let schema = schema(language, within, &mut languages)?;
            compiler.masker(&schema, &ReplyForm::bare_text(), &options, (languages, &compiler.text))
        }
        None => nested::compile(compiler, &grammar, &rules, &mut languages, within),
    }
}

/// The schema and the options of the strings that are texts of a grammar in EBNF, within a structural tag. The schema is one in `languages`.
///
/// # Errors
///
/// [`CompileError`], with line and column where the grammar cannot be read; [`CompileErrorKind::Unsupported`] where a rule of it is nested in itself.
pub(super) fn content(
    compiler: &ReplyCompiler,
    grammar: &str,
    syntax: GrammarSyntax,
    languages: &mut Languages,
) -> Result<(String, ExactOptions), CompileError> {
    let options = options(compiler.text_options());
    let grammar = read(grammar, syntax, &options)?;
    let rules = RegularRules::new(&grammar, languages)?;
    let Some(language) = rules.language(grammar.root) else {
        let nested = (0..grammar.rules.len()).find(|rule| rules.is_reached(*rule) && rules.language(*rule).is_none());
        let Rule { name, line, .. } = &grammar.rules[nested.unwrap_or(grammar.root)];
        let message = format!(
            "line {line}: the rule `{name}` is nested in itself, which is not supported in structural tags: write it as a JSON Schema, or \
             ask for the grammar alone"
        );
        return Err(CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar"));
    };
    let within = spelled(compiler, languages)?;
    Ok((schema(language, within, languages)?, options))
}

/// The options under which texts of a grammar are read: nothing but the grammar narrows them.
fn options(options: ExactOptions) -> ExactOptions {
    let mut options = options.patterns(PatternSyntax::Common);
    options.style.bounds = WritingBounds::NONE;
    options.style.strings = crate::StringStyle::any();
    options
}

/// Reads a grammar.
fn read(grammar: &str, syntax: GrammarSyntax, options: &ExactOptions) -> Result<Grammar, CompileError> {
    match syntax {
        GrammarSyntax::Ebnf => ebnf::read(grammar, &options.schema.limits),
        GrammarSyntax::Lark => lark::read(grammar, &options.schema.limits),
    }
}

/// The texts that tokens can spell, if not all.
fn spelled(compiler: &ReplyCompiler, languages: &mut Languages) -> Result<Option<LanguageId>, CompileError> {
    let ascii = compiler.is_ascii.then(|| text::ascii(languages));
    ascii.transpose().map_err(limit)
}

/// The schema of the texts of a language that tokens can spell.
fn schema(
    mut language: LanguageId,
    within: Option<LanguageId>,
    languages: &mut Languages,
) -> Result<String, CompileError> {
    if let Some(within) = within {
        language = languages.and(&[language, within]).map_err(limit)?;
    }
    if languages.is_empty(language).map_err(limit)? {
        return Err(no_text());
    }
    languages.name_pattern(PatternSyntax::Common, NAME, language);
    Ok(format!(r#"{{"type":"string","pattern":"{NAME}"}}"#))
}

/// The error that a grammar has no text.
fn no_text() -> CompileError {
    let message =
        "no text is one of this grammar: each way of it goes on for ever, or needs a character that cannot be written";
    CompileError::new(CompileErrorKind::Unsatisfiable, message).on_keyword("grammar")
}
