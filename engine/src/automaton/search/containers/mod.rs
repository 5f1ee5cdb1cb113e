//! Completion of objects and arrays that have been read in part.
//!
//! A [tableau] decomposes a formula into facts about [members](object_facts) or [items](arrays), and these raise
//! queries about single values. Which verdicts of a value its container admits is found out
//! [model by model](admitted_verdicts).

mod admitted_verdicts;
pub(super) mod arrays;
pub(super) mod object_facts;
mod object_models;
mod objects;
mod positions;
mod served_arrays;
mod tableau;
mod value_facts;
