//! Names and shapes of a checkpoint's tensors, which follow from its configuration.

pub(crate) mod experts;
pub(crate) mod latent_attention;
pub(crate) mod matrices;
pub(crate) mod tensors;
