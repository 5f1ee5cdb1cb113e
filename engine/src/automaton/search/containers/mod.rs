//! Completion of partially read objects and arrays: whether members or items exist that make the residual formula true.
//!
//! A [tableau] decomposes the formula into facts about [members](object_facts) or [items](arrays), and these raise
//! queries about single values. The verdicts on a value that its container admits are found
//! [model by model](admitted_verdicts).

mod admitted_verdicts;
mod array_models;
pub(super) mod arrays;
pub(super) mod object_facts;
mod object_models;
mod objects;
mod positions;
mod served_arrays;
mod tableau;
mod value_facts;
