//! Mamba2's layers (arXiv 2405.21060): a matrix for each head that every token decays and adds to.
//!
//! A token's heads, and for each group of heads a row to write and a row to read with, pass a short convolution. Each head's
//! matrix decays by the token's factor, gets the head's vector times the row to write with, and gives its product with the row to
//! read with; a skip connection adds the head's vector. The outputs of all heads are gated and normalised. The output of
//! [`RecurrentWeights::input`] for a token: the gates of the output, the convolution's input (the heads' vectors, and the groups'
//! rows), and for each head a time step.

use candle_core::{D, DType, Result, Tensor};
use candle_nn::ops::silu;

use crate::load::config::recurrence::Mamba2;
use crate::network::cpu::slices::with_cpu_slice;
use crate::network::recurrent::arithmetic::{for_each_head, swish};
use crate::network::recurrent::recurrent_state::LayerState;
use crate::network::recurrent::weights::{RecurrentWeights, for_heads};

/// Computes the gated outputs of all tokens, `[count, width]`, on the CPU; `wide` is the output of [`RecurrentWeights::input`]
/// for the tokens.
pub(super) fn apply(
    weights: &RecurrentWeights,
    sizes: &Mamba2,
    kept: &mut LayerState,
    wide: &[f32],
    out: &mut Vec<f32>,
) -> Result<()> {
    let (inputs, matrices) = kept.slices()?;
    let (width, channels, dim, state) = (sizes.width(), sizes.channels(), sizes.head_dim, sizes.state);
    let row = width + channels + sizes.heads;
    let count = wide.len() / row;
    let mixed = weights.taps.apply(inputs, wide.chunks_exact(row), width)?;
    // For each head the outputs of all tokens, [count, head_dim].
    let mut by_head = vec![0.0; count * width];
    let of_head = |head: usize, matrix: &mut [f32], out: &mut [f32]| {
        let group = head / (sizes.heads / sizes.groups);
        for (token, out) in out.chunks_exact_mut(dim).enumerate() {
            let mixed = &mixed[token * channels..][..channels];
            let step = weights.step(head, wide[token * row + width + channels + head]);
            let vector = &mixed[head * dim..][..dim];
            let write = &mixed[width + group * state..][..state];
            let read = &mixed[width + (sizes.groups + group) * state..][..state];
            let rows = matrix.chunks_exact_mut(state).zip(out.iter_mut().zip(vector));
            for (matrix, (out, x)) in rows {
                let added = step.length * x;
                let mut sum = 0.0;
                for (number, (write, read)) in matrix.iter_mut().zip(write.iter().zip(read)) {
                    *number = *number * step.decay + added * write;
                    sum += *number * read;
                }
                *out = sum + weights.skips[head] * x;
            }
        }
    };
    for_each_head(sizes.heads, matrices, &mut by_head, 2 * count * width * state, of_head);
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

/// Computes the gated outputs of all tokens, `[count, width]`, by tensor operations; `wide` is the output of
/// [`RecurrentWeights::input`] for the tokens.
pub(super) fn apply_tensors(
    weights: &RecurrentWeights,
    sizes: &Mamba2,
    kept: &mut LayerState,
    wide: &Tensor,
) -> Result<Tensor> {
    let (inputs, matrices) = kept.tensors()?;
    let count = wide.dim(0)?;
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
        for_heads(&rows, heads)
    };
    let (write, read) = (rows(width)?, rows(width + sizes.groups * sizes.state)?);
    let steps = weights.steps(&wide.narrow(1, width + channels, heads)?)?;
    let added = vectors.broadcast_mul(&steps.length)?;
    let mut outputs = Vec::with_capacity(count);
    for token in 0..count {
        let of = |all: &Tensor| all.get(token);
        let new = of(&added)?.broadcast_mul(&of(&write)?)?;
        *matrices = (matrices.broadcast_mul(&of(&steps.decay)?)? + new)?;
        outputs.push(matrices.broadcast_mul(&of(&read)?)?.sum(D::Minus1)?);
    }
    let past = vectors
        .squeeze(3)?
        .broadcast_mul(&RecurrentWeights::of_heads(&weights.skips, wide)?.reshape((1, heads, 1))?)?;
    let outputs = (Tensor::stack(&outputs, 0)? + past)?.reshape((count, width))?;
    let gates = silu(&wide.narrow(1, 0, width)?.contiguous()?.to_dtype(DType::F32)?)?;
    let gated = (outputs * gates)?.reshape((count, sizes.groups, width / sizes.groups))?;
    let squares = (gated.sqr()?.mean_keepdim(D::Minus1)? + f64::from(weights.eps))?;
    let normed = gated.broadcast_div(&squares.sqrt()?)?.reshape((count, width))?;
    normed.to_dtype(wide.dtype())?.broadcast_mul(&weights.norm)
}
