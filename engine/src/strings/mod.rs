//! Regular languages of Unicode strings, closed under the Boolean operations, as derivative automata.
//!
//! The keywords on strings (`pattern`, `minLength`, `format`, `const`, `enum`, `propertyNames`, …), their negations and
//! combinations each become one regular expression over *decoded* characters: the automaton above this module decodes JSON's escapes and UTF-8.
//! The alphabet is the Unicode scalar values. An expression is a state; its derivatives by characters are its transitions.
//!
//! - [`expr`]: hash-consed expressions in a normal form, in which most equal languages have equal ids.
//! - [`derive`](mod@derive): derivatives, as a table over ranges of characters.
//! - [`analysis`]: emptiness, lengths and cardinality, found from the structure of an expression, from its set of lengths, or by a memoised
//!   search of its automaton. A bound on the number of characters stays a counter: whether a text of an admissible length exists is answered by
//!   the set of lengths of the bounded expression, without a walk over counter values.
//! - [`pattern`]: parser and compiler of patterns, whose assertions become intersections and complements.
//! - [`custom_dfa`]: deterministic automata for formats whose expressions would be too large.
//! - [`formats`]: the formats of JSON Schema.
//!
//! Imports point one way: [`charset`], [`unicode_properties`] and [`lengths`] import no other part; custom DFAs import these;
//! expressions embed states of custom DFAs; patterns and formats make expressions; derivatives
//! and analyses read them. [`languages`] has the one type that other modules use, with the table of results of each analysis.

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
pub(crate) use analysis::{Padding, is_blank};
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
pub(crate) use pattern::error::{PatternError, quoted};
