//! Walks over the trie of tokens within a string, beside the derivatives of its language. Whole subtrees and classes of tokens are judged
//! at once where their characters suffice: by character class, in a self-loop, in a definite or an open region.

mod chain;
pub(crate) mod character_walk;
pub(super) mod class_sets;
mod definite_region;
pub(super) mod group;
mod open_region;
mod self_loop;
