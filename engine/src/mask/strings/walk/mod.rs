//! Walks over the characters of tokens within a string, beside the states of its language. A whole group of tokens is taken
//! at once where its characters tell enough: by their class, in a self-loop, in a definite or an open region.

mod chain;
pub(crate) mod character_walk;
pub(super) mod class_sets;
mod definite_region;
pub(super) mod group;
mod open_region;
mod self_loop;
