//! Fuzz target: no text of a grammar makes the compiler panic, and what the engine admits does not depend on how it is cut into tokens.

use std::sync::LazyLock;

use maskwright::{CompileErrorKind, ExactOptions, GrammarSyntax, MaskError, Masker, ReplyCompiler, TokenId};

use super::walk::one_walk;
use super::{Language, Outcome, TargetResult, WalkError, discrepancy, mistyped};
use crate::Choices;
use crate::engine::vocabulary;

/// Pieces of both syntaxes.
const PIECES: [&str; 24] = [
    "\"",
    "(",
    ")",
    "[",
    "]",
    "|",
    "/",
    "\\",
    "\\x",
    "\\ud800",
    "::=",
    ":",
    "\n",
    "*",
    "{9999}",
    "{2,1}",
    "~3",
    "?",
    "#",
    "%ignore \" \"\n",
    "root",
    "%import common.INT\n",
    "[^",
    "é",
];

/// A random grammar, as it is or with something changed, or any bytes as the text of one. Compiling gives a masker or a typed error and never
/// panics. Random walks keep what those over schemas do, and each text that ends one is admitted byte by byte, too.
///
/// # Errors
///
/// A disagreement, described as a finding of the target.
pub fn grammar_text(bytes: &[u8]) -> TargetResult {
    static COMPILER: LazyLock<ReplyCompiler> =
        LazyLock::new(|| ReplyCompiler::new(vocabulary(), ExactOptions::default()));
    let mut choices = Choices::new(bytes);
    let syntax = [GrammarSyntax::Ebnf, GrammarSyntax::Lark][choices.below(2)];
    let text = match choices.below(8) {
        0..4 => random(&mut choices, syntax),
        7 => String::from_utf8_lossy(choices.rest()).into_owned(),
        _ => {
            let text = random(&mut choices, syntax);
            mistyped(&mut choices, &text, &PIECES)
        }
    };
    let start = match COMPILER.compile_grammar(&text, syntax) {
        Ok(masker) => masker,
        Err(error) if error.message().is_empty() => return Err(discrepancy("an error says nothing", &text, "")),
        Err(error) => {
            return match error.kind() {
                CompileErrorKind::Internal => Err(discrepancy(error.to_string(), &text, "")),
                CompileErrorKind::Unsatisfiable => Ok(Outcome::Unsatisfiable),
                CompileErrorKind::LimitExceeded => Ok(Outcome::Limit),
                _ => Ok(Outcome::Nothing),
            };
        }
    };
    // The walk is drawn from the same bytes as the grammar: where they were its text, none are left.
    let replies = match one_walk(&*start, Language::Grammar, &mut Choices::new(bytes)) {
        Err(WalkError::Limit) => return Ok(Outcome::Limit),
        Err(WalkError::Wrong(what, so_far)) => return Err(discrepancy(what, &text, so_far)),
        Ok(replies) => replies,
    };
    for reply in &replies {
        match is_admitted(&*start, reply) {
            Ok(true) => {}
            Ok(false) => {
                let what = "the tokens of a reply are admitted, and its bytes are not";
                return Err(discrepancy(what, &text, String::from_utf8_lossy(reply)));
            }
            Err(MaskError::LimitExceeded(_)) => return Ok(Outcome::Limit),
            Err(error) => return Err(discrepancy(error.to_string(), &text, String::from_utf8_lossy(reply))),
        }
    }
    Ok(match replies.len() {
        0 => Outcome::Nothing,
        count => Outcome::Agreement(count),
    })
}

/// Whether the masker admits a whole reply byte by byte; the token of a byte is its number.
fn is_admitted(start: &dyn Masker, reply: &[u8]) -> Result<bool, MaskError> {
    let mut masker = start.fork()?;
    for byte in reply {
        match masker.advance(TokenId::from(*byte)) {
            Err(MaskError::TokenRefused { .. }) => return Ok(false),
            taken => taken?,
        }
    }
    masker.is_complete()
}

/// The text of a grammar of up to four rules.
fn random(choices: &mut Choices<'_>, syntax: GrammarSyntax) -> String {
    let (root, sign) = match syntax {
        GrammarSyntax::Lark => ("start", ":"),
        _ => ("root", "::="),
    };
    let names = [root, "one", "two", "three"];
    let names = &names[..1 + choices.below(names.len())];
    let rules = names
        .iter()
        .map(|name| format!("{name} {sign} {}\n", body(choices, names, syntax, 3)));
    rules.collect()
}

/// The body of a rule that is nested at most `depth` deep.
fn body(choices: &mut Choices<'_>, names: &[&str], syntax: GrammarSyntax, depth: usize) -> String {
    const TEXTS: [&str; 8] = ["\"a\"", "\"b\"", "\"ab\"", "\"(\"", "\")\"", "\",\"", "\"é\"", "\" \""];
    let is_lark = syntax == GrammarSyntax::Lark;
    match choices.below(if depth == 0 { 5 } else { 12 }) {
        0..3 => choices.pick(&TEXTS).to_owned(),
        3 if is_lark => choices.pick(&["/[a-c]/", "/[^()]/", "/(a|bé)*/"]).to_owned(),
        3 => choices.pick(&["[a-c]", "[^()]", "."]).to_owned(),
        4 => choices.pick(names).to_owned(),
        5..8 => {
            let first = body(choices, names, syntax, depth - 1);
            format!("{first} {}", body(choices, names, syntax, depth - 1))
        }
        8..10 => {
            let first = body(choices, names, syntax, depth - 1);
            format!("({first} | {})", body(choices, names, syntax, depth - 1))
        }
        kind => {
            let times = match (kind, is_lark) {
                (10, _) => choices.pick(&["*", "+", "?"]),
                (_, true) => choices.pick(&["~2", "~1..3"]),
                (_, false) => choices.pick(&["{2}", "{1,3}", "{2,}"]),
            };
            format!("({}){times}", body(choices, names, syntax, depth - 1))
        }
    }
}
