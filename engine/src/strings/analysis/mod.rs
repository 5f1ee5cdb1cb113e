//! Analyses of a language: emptiness, lengths and cardinality, prefix universality, padding, over-approximations and fingerprints.

pub(super) mod answers;
pub(super) mod beside_custom_dfa;
mod cardinality;
mod custom_dfa_bounds;
mod emptiness;
mod fingerprint;
mod over_approximation;
mod padding;
mod prefix_universal;
mod text_lengths;

pub(crate) use over_approximation::is_blank;
pub(crate) use padding::Padding;
