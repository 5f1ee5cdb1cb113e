//! The tokens that may come within a string: a strategy for each kind of language, and the place where one is chosen.

mod chain;
mod character_walk;
mod class_sets;
mod definite_region;
pub(crate) mod excluded_texts;
mod few_tokens;
mod group;
mod open_lengths;
mod open_region;
mod over_approximation;
mod partial_code_point;
pub(crate) mod residual;
mod residual_states;
mod self_loop;
pub(crate) mod strategy;
pub(crate) mod string_ends;
mod word_list;
