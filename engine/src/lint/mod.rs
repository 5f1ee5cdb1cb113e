//! Warnings of keywords that are probably not meant as they stand: [`lint`] finds those that are misspelt, misplaced or without
//! effect.
//!
//! A warning never changes what a schema means. A correct schema has no warnings, except where it is written in one of a few ways that
//! are mistakes nearly always.
//!
//! ```
//! use maskwright::lint::WarningKind;
//! use maskwright::{ExactOptions, lint::lint};
//!
//! let schema = r#"{"type": "object", "properties": {"age": {"type": "integer", "mininum": 1}}}"#;
//! let warnings = lint(schema, &ExactOptions::default());
//! assert_eq!(warnings[0].kind(), WarningKind::MisspeltKeyword);
//! assert_eq!(warnings[0].pointer(), "/properties/age/mininum");
//! assert!(warnings[0].message().contains("`minimum`"));
//! ```
//!
//! Only the text itself is read, not the documents that it refers to. Every place where the dialect has a schema is checked, and every
//! target of a reference within the text; values such as those of `const`, `enum`, `default` and `examples` are not. The time is
//! linear in the text, at most 1,000 warnings are given, of about 16 MiB together, and nothing recurses.

mod branches;
mod closed;
mod ineffective;
mod keyword_suggestion;
mod open_api;
mod patterns;
mod peers;
mod places;
mod report;
mod resources;
mod root;
#[cfg(test)]
mod tests;
mod unknown;
mod values;
mod warning;

use crate::ExactOptions;
use crate::json::Document;

use places::{Place, Places};
use report::Report;

pub use warning::{Warning, WarningKind};

/// Warns of keywords that are probably not meant as they stand, in the order of the schema's places from the root on.
///
/// Options that change how a schema is read change the warnings: the draft, the syntax of patterns, the root. A text that is
/// not JSON has no warnings; [`Explainer`](crate::explain::Explainer) reports the errors of a schema that is refused.
pub fn lint(schema: &str, options: &ExactOptions) -> Vec<Warning> {
    inspect(schema, options, |report, place| {
        root::check(report, place);
        unknown::check(report, place);
        ineffective::check(report, place);
        values::check(report, place);
        patterns::check(report, place);
        closed::check(report, place);
        branches::check(report, place);
        open_api::check(report, place);
    })
}

/// Notes on keywords of a schema that OpenAI's strict mode, XGrammar and llguidance refuse, drop or ask for.
///
/// These are no defects. Each message names the state of the documentation that it was taken from.
pub fn peer_notes(schema: &str, options: &ExactOptions) -> Vec<Warning> {
    inspect(schema, options, peers::check)
}

fn inspect(schema: &str, options: &ExactOptions, check: impl for<'d> Fn(&mut Report<'d>, &Place<'d>)) -> Vec<Warning> {
    let Ok(document) = Document::parse(schema, &options.schema.limits) else {
        return Vec::new();
    };
    let Some(root) = places::root(&document, &options.schema) else {
        return Vec::new();
    };
    let places = Places::of(&document, &options.schema, &root);
    let mut report = Report::new(&document, &places, options);
    for number in 0..places.len() {
        check(&mut report, &places.get(number));
        if report.is_full() {
            break;
        }
    }
    report.into_warnings()
}
