//! Masks within strings: one [strategy](strategy::Strategy) for each kind of string language, and the choice among them.

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
