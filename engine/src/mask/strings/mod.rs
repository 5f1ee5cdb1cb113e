//! The tokens that may come within a string: a strategy for each kind of language, and the place where one is chosen.

pub(crate) mod chain;
pub(crate) mod definite_region;
pub(crate) mod excluded_texts;
pub(crate) mod few_tokens;
pub(crate) mod over_approximation;
pub(crate) mod partial_code_point;
pub(crate) mod residual;
pub(crate) mod self_loop;
pub(crate) mod states;
pub(crate) mod strategy;
pub(crate) mod word_list;
