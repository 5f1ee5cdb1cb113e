//! Analyses of a language: emptiness, lengths and cardinality, prefix universality, over-approximations and fingerprints.

pub(super) mod answers;
mod cardinality;
mod custom_dfa_bounds;
mod emptiness;
mod fingerprint;
mod over_approximation;
mod prefix_universal;
mod text_lengths;

pub(crate) use over_approximation::is_blank;
