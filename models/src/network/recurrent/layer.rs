//! The recurrent layers of both kinds: the gated outputs that a layer's output matrix is applied to.

use candle_core::{Result, Tensor};

use crate::load::config::recurrence::Recurrence;
use crate::network::recurrent::recurrent_state::LayerState;
use crate::network::recurrent::weights::RecurrentWeights;
use crate::network::recurrent::{delta_net, mamba2};

/// Computes the gated outputs of all tokens on the CPU, `[count, width]`; `wide` is the output of [`RecurrentWeights::input`] for
/// the tokens.
pub(crate) fn apply(weights: &RecurrentWeights, kept: &mut LayerState, wide: &[f32], out: &mut Vec<f32>) -> Result<()> {
    match &weights.recurrence {
        Recurrence::DeltaNet(sizes) => delta_net::apply(weights, sizes, kept, wide, out),
        Recurrence::Mamba2(sizes) => mamba2::apply(weights, sizes, kept, wide, out),
    }
}

/// Computes the gated outputs of all tokens by tensor operations, `[count, width]`; `wide` is the output of
/// [`RecurrentWeights::input`] for the tokens.
pub(crate) fn apply_tensors(weights: &RecurrentWeights, kept: &mut LayerState, wide: &Tensor) -> Result<Tensor> {
    match &weights.recurrence {
        Recurrence::DeltaNet(sizes) => delta_net::apply_tensors(weights, sizes, kept, wide),
        Recurrence::Mamba2(sizes) => mamba2::apply_tensors(weights, sizes, kept, wide),
    }
}
