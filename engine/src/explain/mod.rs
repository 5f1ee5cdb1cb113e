//! Explanations: minimal sets of keywords that make a schema unsatisfiable, or that forbid a byte of a document.
//!
//! An [`Explainer`] reports about one schema
//!
//! - the keywords that cannot be treated exactly ([`refused`](Explainer::refused)),
//! - the keywords for which no value satisfies the schema ([`conflict`](Explainer::conflict)),
//! - the subschemas that no value satisfies ([`unsatisfiable_parts`](Explainer::unsatisfiable_parts)),
//! - the first byte of a document that is forbidden, and the keywords that forbid it ([`forbidden`](Explainer::forbidden)),
//! - the valid values that the style leaves out ([`narrowings`](Explainer::narrowings)).
//!
//! The keywords are a [`Conflict`]: a set that has the same effect when all other keywords are removed from
//! the schema, and of which none can be left out. That is minimality by inclusion: there may be other such sets, smaller
//! ones too, and one of them is given. The references that lead to its keywords belong to the set. Removing a keyword only ever
//! admits more values: the names that it declares for `additionalProperties` and `unevaluated*` stay declared, and in place of keywords
//! below `not`, `if` or a `contains` with `maxContains` that outer keyword is named.
//!
//! Where one keyword excludes a value by itself, sets are found by one walk: beside a text (`blame.rs`), or through the subschemas without a
//! value (`empty_parts.rs`). Where keywords exclude a value only together, they are found by removing keywords one after the
//! other (`minimal_conflict.rs`), in their subschema. The number of steps is bounded; where they run out, [`Conflict::minimal`] is false.
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
mod keyword_notes;
mod keyword_part;
mod messages;
mod minimal_conflict;
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
