//! [`RecurrentWeights`]: the weights of a recurrent layer.

use candle_core::{DType, Result, Tensor};

use crate::load::config::recurrence::Recurrence;
use crate::network::matrices::linear::Linear;
use crate::network::recurrent::arithmetic::{softplus, softplus_tensor};
use crate::network::recurrent::causal_convolution::Taps;

/// The weights of a recurrent layer, a gated delta net's or Mamba2's.
#[derive(Debug, Clone)]
pub(crate) struct RecurrentWeights {
    /// The kind of layer, and its sizes.
    pub(crate) recurrence: Recurrence,
    /// Gates of the output, the convolution's input, and one or two numbers for each head, in one matrix.
    pub(crate) input: Linear,
    pub(crate) taps: Taps,
    /// Factors in the exponents of the heads' decays, all negative, on the host: `[heads]`.
    pub(crate) rates: Vec<f32>,
    /// Biases of the heads' time steps, from which their decays follow, on the host: `[heads]`.
    pub(crate) biases: Vec<f32>,
    /// Factors of the heads' vectors that go past their matrices, on the host: `[heads]` in Mamba2, empty in delta nets.
    pub(crate) skips: Vec<f32>,
    /// Norm of the output: of each head in delta nets, of each group of heads in Mamba2.
    pub(crate) norm: Tensor,
    pub(crate) output: Linear,
    /// Number added to the mean square in the norm.
    pub(crate) eps: f32,
}

/// Length of a token's time step, and the factor by which the matrix of a head decays in that time.
pub(super) struct StepOf<T> {
    pub(super) length: T,
    pub(super) decay: T,
}

impl RecurrentWeights {
    /// The step of a token in one head, of which [`input`](Self::input) gives `number`.
    pub(super) fn step(&self, head: usize, number: f32) -> StepOf<f32> {
        let length = softplus(number + self.biases[head]);
        StepOf {
            length,
            decay: (self.rates[head] * length).exp(),
        }
    }

    /// The steps of tokens in all heads, `[count, heads, 1, 1]` each, of which [`input`](Self::input) gives `numbers`,
    /// `[count, heads]`.
    pub(super) fn steps(&self, numbers: &Tensor) -> Result<StepOf<Tensor>> {
        let (count, heads) = numbers.dims2()?;
        let (biases, rates) = (
            Self::of_heads(&self.biases, numbers)?,
            Self::of_heads(&self.rates, numbers)?,
        );
        let lengths = softplus_tensor(&numbers.to_dtype(DType::F32)?.broadcast_add(&biases)?)?;
        let decays = lengths.broadcast_mul(&rates)?.exp()?;
        let shape = (count, heads, 1, 1);
        Ok(StepOf {
            length: lengths.reshape(shape)?,
            decay: decays.reshape(shape)?,
        })
    }

    /// One number for each head on the device of another tensor, `[1, heads]`.
    pub(super) fn of_heads(numbers: &[f32], beside: &Tensor) -> Result<Tensor> {
        Tensor::from_slice(numbers, (1, numbers.len()), beside.device())
    }
}

/// `x`, `[count, groups, 1, width]`, once for each of the `heads` that share a group: `[count, heads, 1, width]`.
pub(super) fn for_heads(x: &Tensor, heads: usize) -> Result<Tensor> {
    let (count, groups, _, width) = x.dims4()?;
    x.broadcast_as((count, groups, heads / groups, width))?
        .reshape((count, heads, 1, width))
}
