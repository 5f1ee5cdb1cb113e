//! Regular languages of Unicode strings, closed under the Boolean operations, walked by derivatives.
//!
//! The keywords on strings (`pattern`, `minLength`, `format`, `const`, `enum`, `propertyNames`, …), their negations and
//! combinations are each one language of *decoded* characters: escapes of JSON and UTF-8 are undone above. The
//! alphabet is the Unicode scalar values.
//!
//! - [`expr`]: an expression is stored once; normal form makes most equal languages equal ids.
//! - [`derive`](mod@derive): derivatives are a table over ranges of characters; a language *is* the state of its
//!   automaton.
//! - [`analysis`]: whether anything is left at all is answered by structure, by lengths, or by a search with memory. A
//!   bound on the number of characters stays a counter: whether a text of an admissible length is left is answered by
//!   the set of lengths of what it bounds, not by walking counter values.
//! - [`pattern`]: assertions of patterns become intersections and complements.
//! - [`custom_dfa`]: deterministic automata for the formats that no expression of bearable size describes.
//! - [`formats`]: the formats of JSON Schema.
//!
//! Arrows of imports point one way: [`charset`], [`unicode_properties`] and [`lengths`] know nothing else; custom DFAs stand on
//! these; expressions have states of custom DFAs among their forms; patterns and formats make expressions; derivatives
//! and analyses read them. [`languages`] has the one type that others use, and the table that each analysis remembers
//! its answers in.

mod analysis;
mod charset;
mod custom_dfa;
mod derive;
mod expr;
mod formats;
mod language_id;
mod languages;
mod lengths;
mod limits;
mod pattern;
mod shared_layer;
#[cfg(test)]
mod tests;
mod unicode_properties;

pub(crate) use analysis::answers::{Cardinality, Fingerprint, Horizon};
pub(crate) use analysis::is_blank;
pub(crate) use charset::CharRange;
pub(crate) use custom_dfa::regex::ends_what_is_remembered;
pub(crate) use derive::custom_dfa_states::CustomDfaStates;
pub(crate) use derive::derivatives::Transitions;
pub(crate) use expr::word_lists::group_by_first_character;
pub(crate) use formats::usual::Usual;
pub(crate) use language_id::LanguageId;
pub(crate) use languages::Languages;
pub(crate) use lengths::Lengths;
pub(crate) use limits::LanguageLimits;
pub(crate) use limits::LimitReached;
pub use pattern::PatternSyntax;
pub(crate) use pattern::check as check_pattern;
pub(crate) use pattern::error::PatternError;
