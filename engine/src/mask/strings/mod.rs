//! Masks within strings: one [strategy](strategy::Strategy) for each kind of string language, and the choice among them.
//!
//! `strategy.rs` chooses a strategy by name; `RUST_LOG=maskwright=trace` tells which. Between the bytes of a character
//! `partial_code_point.rs` answers, and behind a closing quote `string_ends.rs`.

pub(crate) mod cache;
pub(crate) mod excluded_texts;
mod few_tokens;
mod open_lengths;
mod over_approximation;
mod partial_code_point;
pub(crate) mod residual;
mod residual_states;
pub(crate) mod strategy;
pub(crate) mod string_ends;
mod walk;
mod word_list;
