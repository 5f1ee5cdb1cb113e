//! Questions about a whole language: whether it has a text, how long and how many its texts are, and which simpler
//! languages contain it.

pub(super) mod answers;
mod cardinality;
mod custom_dfa_bounds;
mod emptiness;
mod fingerprint;
mod over_approximation;
mod prefix_universal;
mod text_lengths;

pub(crate) use over_approximation::is_blank;
