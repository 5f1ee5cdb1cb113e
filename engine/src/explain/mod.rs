//! Explanations: the keywords that leave no value, and those that forbid a byte of a document.
//!
//! An [`Explainer`] answers for one schema
//!
//! - what in it cannot be treated ([`refused`](Explainer::refused)),
//! - why no value satisfies it ([`conflict`](Explainer::conflict)),
//! - which parts of it no value satisfies ([`unsatisfiable_parts`](Explainer::unsatisfiable_parts)),
//! - where a document leaves it, and why ([`forbidden`](Explainer::forbidden)),
//! - which of its values the style leaves out ([`narrowings`](Explainer::narrowings)).
//!
//! The answer to "why" is a [`Conflict`]: a set of keywords that still has that effect with all other keywords taken out of
//! the schema, and of which none can be left out. That is minimality by inclusion: there may be other such sets, smaller
//! ones too, and one of them is given. The references that lead to its keywords are in it. Taking a keyword out only ever
//! admits more: what it declares for `additionalProperties` and `unevaluated*` stays declared, and in place of keywords
//! below `not`, `if` or a `contains` with `maxContains` it is that keyword which is named.
//!
//! Sets are found by walks: beside a text (`blame.rs`), or through the subschemas that have no value (`empty_parts.rs`).
//! Only what keywords do together is found by taking keywords out (`minimal_conflict.rs`), in the subschema where they
//! stand. An explanation does a bounded number of steps; where they run out, [`Conflict::minimal`] is false.
//!
//! ```
//! use maskwright::ExactOptions;
//! use maskwright::explain::Explainer;
//!
//! let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
//! let mut explainer = Explainer::new(schema, &ExactOptions::judging())?;
//! let forbidden = explainer.forbidden(br#"{"a": "x"}"#)?.expect("a string is no integer");
//! assert_eq!(
//!     forbidden.to_string(),
//!     "byte 6 (line 1, column 7), `\"` at `/a`: forbidden by `/properties/a/type` (\"integer\"); expected a number"
//! );
//! # Ok::<(), maskwright::CompileError>(())
//! ```

mod blame;
mod blamed;
mod direct_checks;
mod empty_parts;
mod expect;
mod explainer;
mod json_position;
mod keyword_part;
mod messages;
mod minimal_conflict;
mod naming;
mod narrowings;
mod removable_keywords;
mod single_keywords;
#[cfg(test)]
mod tests;
mod text_tree;

pub use crate::style::NarrowingKind;
pub use explainer::Explainer;
pub(crate) use explainer::unsatisfiable;
pub use json_position::line_of;
pub use messages::{Cause, Conflict, Expected, Forbidden, KeywordLocation, OtherBranches, UnsatisfiablePart};
pub use narrowings::{Narrowing, Narrowings};
