//! Mamba2's layers (arXiv 2405.21060): a matrix for each head that every token decays and adds to.
//!
//! A token's heads, and for each group of heads a row to write and a row to read with, pass a short convolution. Each head's
//! matrix decays by the token's factor, gets the head's vector times the row to write with, and gives its product with the row to
//! read with; the head's vector goes past it, too. What all heads give is gated and normalised.

use candle_core::{D, DType, Result, Tensor};
use candle_nn::ops::silu;
use rayon::prelude::*;

use crate::load::config::recurrence::Mamba2;
use crate::network::causal_convolution::{Taps, swish};
use crate::network::delta_net::{softplus, softplus_tensor};
use crate::network::linear::Linear;
use crate::network::recurrent_state::{LayerState, wrong_kind};
use crate::network::tensor_slices::with_cpu_slice;

/// Multiplications from which heads are shared between threads: below, waking threads takes longer.
const PARALLEL_FROM: usize = 1 << 18;

/// The weights of a Mamba2 layer.
#[derive(Debug, Clone)]
pub(crate) struct Mamba2Weights {
    pub(crate) sizes: Mamba2,
    /// Gates of the output, what the convolution sees, and for each head a time step, in one matrix.
    pub(crate) input: Linear,
    pub(crate) taps: Taps,
    /// Factors of the heads' time steps in their decays, all negative; on the host.
    pub(crate) rates: Vec<f32>,
    /// What is added to the heads' time steps; on the host.
    pub(crate) biases: Vec<f32>,
    /// Factors of the heads' vectors that go past their matrices; on the host.
    pub(crate) skips: Vec<f32>,
    /// Norm of the output, of each group of heads.
    pub(crate) norm: Tensor,
    pub(crate) output: Linear,
    /// Number added to the mean square in the norm.
    pub(crate) eps: f32,
}

/// The gated outputs of all tokens, `[count, width]`, on the CPU; `wide` is what [`Mamba2Weights::input`] gives of them.
pub(crate) fn apply(weights: &Mamba2Weights, kept: &mut LayerState, wide: &[f32], out: &mut Vec<f32>) -> Result<()> {
    let LayerState::Slices { inputs, matrices } = kept else {
        return Err(wrong_kind());
    };
    let sizes = &weights.sizes;
    let (width, channels, dim, state) = (sizes.width(), sizes.channels(), sizes.head_dim, sizes.state);
    let row = width + channels + sizes.heads;
    let count = wide.len() / row;
    let mixed = weights.taps.apply(inputs, wide.chunks_exact(row), width)?;
    // For each head the outputs of all tokens, [count, head_dim].
    let mut by_head = vec![0.0; count * width];
    let head = |(head, (matrix, out)): (usize, (&mut [f32], &mut [f32]))| {
        let group = head / (sizes.heads / sizes.groups);
        for (token, out) in out.chunks_exact_mut(dim).enumerate() {
            let mixed = &mixed[token * channels..][..channels];
            let step = softplus(wide[token * row + width + channels + head] + weights.biases[head]);
            let decay = (step * weights.rates[head]).exp();
            let vector = &mixed[head * dim..][..dim];
            let write = &mixed[width + group * state..][..state];
            let read = &mixed[width + (sizes.groups + group) * state..][..state];
            let rows = matrix.chunks_exact_mut(state).zip(out.iter_mut().zip(vector));
            for (matrix, (out, x)) in rows {
                let added = step * x;
                let mut sum = 0.0;
                for (number, (write, read)) in matrix.iter_mut().zip(write.iter().zip(read)) {
                    *number = *number * decay + added * write;
                    sum += *number * read;
                }
                *out = sum + weights.skips[head] * x;
            }
        }
    };
    if rayon::current_num_threads() > 1 && 2 * count * width * state >= PARALLEL_FROM {
        let heads = matrices
            .par_chunks_exact_mut(dim * state)
            .zip(by_head.par_chunks_exact_mut(count * dim));
        heads.enumerate().for_each(head);
    } else {
        let heads = matrices
            .chunks_exact_mut(dim * state)
            .zip(by_head.chunks_exact_mut(count * dim));
        heads.enumerate().for_each(head);
    }
    out.clear();
    for token in 0..count {
        let gates = &wide[token * row..][..width];
        let outputs = (0..sizes.heads).flat_map(|head| &by_head[(head * count + token) * dim..][..dim]);
        out.extend(outputs.zip(gates).map(|(output, gate)| output * swish(*gate)));
    }
    let of_group = width / sizes.groups;
    with_cpu_slice(&weights.norm, |norm: &[f32]| {
        for (group, numbers) in out.chunks_exact_mut(of_group).enumerate() {
            let squares: f32 = numbers.iter().map(|x| x * x).sum();
            let factor = 1.0 / (squares / of_group as f32 + weights.eps).sqrt();
            let norm = &norm[group % sizes.groups * of_group..][..of_group];
            for (x, norm) in numbers.iter_mut().zip(norm) {
                *x *= factor * norm;
            }
        }
    })
}

/// The gated outputs of all tokens, `[count, width]`, by tensor operations; `wide` is what [`Mamba2Weights::input`] gives of them.
pub(crate) fn apply_tensors(weights: &Mamba2Weights, kept: &mut LayerState, wide: &Tensor) -> Result<Tensor> {
    let LayerState::Tensors { inputs, matrices } = kept else {
        return Err(wrong_kind());
    };
    let sizes = &weights.sizes;
    let (count, device) = (wide.dim(0)?, wide.device());
    let (width, channels, heads) = (sizes.width(), sizes.channels(), sizes.heads);
    let mixed = weights
        .taps
        .apply_tensors(inputs, &wide.narrow(1, width, channels)?.contiguous()?)?;
    let mixed = mixed.to_dtype(DType::F32)?;
    let vectors = mixed.narrow(1, 0, width)?.reshape((count, heads, sizes.head_dim, 1))?;
    // [count, heads, 1, state], each group for all its heads.
    let rows = |from: usize| {
        let rows = mixed
            .narrow(1, from, sizes.groups * sizes.state)?
            .reshape((count, sizes.groups, 1, sizes.state))?;
        let shape = (count, sizes.groups, heads / sizes.groups, sizes.state);
        rows.broadcast_as(shape)?.reshape((count, heads, 1, sizes.state))
    };
    let (write, read) = (rows(width)?, rows(width + sizes.groups * sizes.state)?);
    let on_device = |numbers: &[f32]| Tensor::from_slice(numbers, (1, heads), device);
    let steps = wide.narrow(1, width + channels, heads)?.to_dtype(DType::F32)?;
    let steps = softplus_tensor(&steps.broadcast_add(&on_device(&weights.biases)?)?)?;
    let decays = steps
        .broadcast_mul(&on_device(&weights.rates)?)?
        .exp()?
        .reshape((count, heads, 1, 1))?;
    let added = vectors.broadcast_mul(&steps.reshape((count, heads, 1, 1))?)?;
    let mut outputs = Vec::with_capacity(count);
    for token in 0..count {
        let of = |all: &Tensor| all.get(token);
        let new = of(&added)?.broadcast_mul(&of(&write)?)?;
        *matrices = (matrices.broadcast_mul(&of(&decays)?)? + new)?;
        outputs.push(matrices.broadcast_mul(&of(&read)?)?.sum(D::Minus1)?);
    }
    let past = vectors
        .squeeze(3)?
        .broadcast_mul(&on_device(&weights.skips)?.reshape((1, heads, 1))?)?;
    let outputs = (Tensor::stack(&outputs, 0)? + past)?.reshape((count, width))?;
    let gates = silu(&wide.narrow(1, 0, width)?.contiguous()?.to_dtype(DType::F32)?)?;
    let gated = (outputs * gates)?.reshape((count, sizes.groups, width / sizes.groups))?;
    let squares = (gated.sqr()?.mean_keepdim(D::Minus1)? + f64::from(weights.eps))?;
    let normed = gated.broadcast_div(&squares.sqrt()?)?.reshape((count, width))?;
    normed.to_dtype(wide.dtype())?.broadcast_mul(&weights.norm)
}
