//! [`RecurrentWeights`]: the weights of a recurrent layer.

use candle_core::Tensor;

use crate::load::config::recurrence::Recurrence;
use crate::network::matrices::linear::Linear;
use crate::network::recurrent::causal_convolution::Taps;

/// The weights of a recurrent layer, a gated delta net's or Mamba2's.
#[derive(Debug, Clone)]
pub(crate) struct RecurrentWeights {
    /// The kind of layer, and its sizes.
    pub(crate) recurrence: Recurrence,
    /// Gates of the output, what the convolution sees, and one or two numbers for each head, in one matrix.
    pub(crate) input: Linear,
    pub(crate) taps: Taps,
    /// Factors in the exponents of the heads' decays, all negative, on the host: `[heads]`.
    pub(crate) rates: Vec<f32>,
    /// What is added to the heads' numbers that their decays follow from, on the host: `[heads]`.
    pub(crate) biases: Vec<f32>,
    /// Factors of the heads' vectors that go past their matrices, on the host: `[heads]` in Mamba2, empty in delta nets.
    pub(crate) skips: Vec<f32>,
    /// Norm of the output: of each head in delta nets, of each group of heads in Mamba2.
    pub(crate) norm: Tensor,
    pub(crate) output: Linear,
    /// Number added to the mean square in the norm.
    pub(crate) eps: f32,
}
