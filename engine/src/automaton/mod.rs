//! The automaton of a schema: a pushdown automaton over the bytes of a document, whose states are made lazily. A byte is allowed if and only if
//! the document can still be completed behind it to a valid one.
//!
//! ```text
//! SchemaSet ─ formula/ ─► Constraint (per type of value) ─ step/ ─► states, byte by byte
//!                             │ atoms, formulas                ▲
//!                             └──► search/: can this still be completed?
//! ```
//!
//! Each layer owns the one below: [`Automaton`] has a [`Search`](search::search::Search), that has an
//! [`Algebra`](formula::algebra::Algebra). Every subschema that a value's surroundings need to know about is an
//! [assertion](formula::assertion::Assertion).

mod decode;
mod error;
mod formula;
mod memory;
mod search;
mod step;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use decode::{DecodeState, Decoded, is_plain};
pub(crate) use error::AutomatonError;
pub(crate) use formula::keys::sets::KeySetId;
pub(crate) use formula::texts::TextId;
pub(crate) use search::KeyListId;
pub(crate) use step::completion::TextPiece;
pub(crate) use step::keys::classes::{KeyClass, KeyRests, PartialKey};
pub(crate) use step::keys::remaining::{RemainingKeyText, RemainingKeys, SeenKeys, SomeKeys};
pub(crate) use step::machine::Automaton;
pub(crate) use step::memo::TextClasses;
pub(crate) use step::shapes::{CommonShape, NextMembers, ValueShape};
pub(crate) use step::state::State;
pub(crate) use step::state::class::{NumberClass, StateClass};
pub(crate) use step::style::bounds::{Written, WrittenState};
pub(crate) use step::style::narrowings::ValueFacts;
pub(crate) use step::style::whitespace::Layout;
pub(crate) use step::unique_items::numbers::PartialNumber;

/// The effect of the keyword `format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formats {
    /// Formats that the drafts define must be met.
    Asserted,
    /// Formats that the drafts define must be met, but `date-time` and `time` may lack the offset from UTC: `2025-10-20T14:00:00`,
    /// the local time of ISO 8601, which many programs write. RFC 3339 does not allow it, so validators refuse such texts.
    LocalTimes,
    /// Formats are annotations, as draft 2020-12 has it, unless a meta-schema asks for their assertion.
    #[default]
    Annotation,
}
