//! Layers that keep something else of the tokens before than their keys and values: recurrent layers and short convolutions.
//!
//! 1. [`layer`]: a recurrent layer, whose tokens pass [`causal_convolution`] and then [`delta_net`] or [`mamba2`].
//! 2. [`recurrent_state`] and [`convolution_state`]: what such layers keep of the tokens before.
//! 3. [`layer_states`]: both together, with the rollback that they share ([`rollback`]).

mod arithmetic;
pub(super) mod causal_convolution;
pub(super) mod convolution_state;
mod delta_net;
pub(super) mod layer;
pub(super) mod layer_states;
mod mamba2;
pub(super) mod recurrent_state;
pub(super) mod rollback;
pub(super) mod weights;
