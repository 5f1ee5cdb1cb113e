//! Gated delta nets (arXiv 2412.06464): a matrix for each head that every token decays and corrects.
//!
//! A token's queries, keys and values pass a short convolution. Each head's matrix maps keys to values: it decays by the token's
//! factor, its value for the token's key is moved towards the token's value, and its value for the query is then the head's
//! output, which is normalised and gated. The output of [`RecurrentWeights::input`] for a token: the convolution's input (the
//! queries, keys and values of all heads), the gates of the output, and for each value head a strength and a decay.

use candle_core::{D, DType, Result, Tensor};
use candle_nn::ops::{rms_norm, sigmoid, silu};

use crate::load::config::recurrence::DeltaNet;
use crate::network::cpu::slices::with_cpu_slice;
use crate::network::recurrent::arithmetic::{for_each_head, logistic, swish};
use crate::network::recurrent::recurrent_state::LayerState;
use crate::network::recurrent::weights::{RecurrentWeights, for_heads};

/// Number added to the sum of squares that queries and keys are normalised by.
const SMALLEST_SQUARE: f32 = 1e-6;

/// Computes the gated outputs of all tokens, `[count, values]`, on the CPU; `wide` is the output of [`RecurrentWeights::input`]
/// for the tokens.
pub(super) fn apply(
    weights: &RecurrentWeights,
    sizes: &DeltaNet,
    kept: &mut LayerState,
    wide: &[f32],
    out: &mut Vec<f32>,
) -> Result<()> {
    let (inputs, matrices) = kept.slices()?;
    let (channels, values, heads) = (sizes.channels(), sizes.values(), sizes.value_heads);
    let row = channels + values + 2 * heads;
    let count = wide.len() / row;
    let mut mixed = weights.taps.apply(inputs, wide.chunks_exact(row), 0)?;
    // Queries and keys.
    for token in mixed.chunks_exact_mut(channels) {
        for vector in token[..2 * sizes.keys()].chunks_exact_mut(sizes.key_dim) {
            let squares: f32 = vector.iter().map(|x| x * x).sum();
            let factor = 1.0 / (squares + SMALLEST_SQUARE).sqrt();
            vector.iter_mut().for_each(|x| *x *= factor);
        }
    }
    // For each head the outputs of all tokens, [count, value_dim].
    let mut by_head = vec![0.0; count * values];
    let of_head = |head: usize, matrix: &mut [f32], out: &mut [f32]| {
        let key_start = head / (heads / sizes.key_heads) * sizes.key_dim;
        for (token, out) in out.chunks_exact_mut(sizes.value_dim).enumerate() {
            let (mixed, wide) = (&mixed[token * channels..][..channels], &wide[token * row..][..row]);
            let (strength, decay) = (wide[channels + values + head], wide[channels + values + heads + head]);
            let step = Step {
                query: &mixed[key_start..][..sizes.key_dim],
                key: &mixed[sizes.keys() + key_start..][..sizes.key_dim],
                value: &mixed[2 * sizes.keys() + head * sizes.value_dim..][..sizes.value_dim],
                strength: logistic(strength),
                decay: weights.step(head, decay).decay,
            };
            step.apply(matrix, out);
        }
    };
    let multiplications = 4 * count * heads * sizes.key_dim * sizes.value_dim;
    for_each_head(heads, matrices, &mut by_head, multiplications, of_head);
    out.clear();
    with_cpu_slice(&weights.norm, |norm: &[f32]| {
        for token in 0..count {
            for head in 0..heads {
                let from = (head * count + token) * sizes.value_dim;
                let output = &by_head[from..][..sizes.value_dim];
                let squares: f32 = output.iter().map(|x| x * x).sum();
                let factor = 1.0 / (squares / sizes.value_dim as f32 + weights.eps).sqrt();
                let gates = &wide[token * row + channels + head * sizes.value_dim..][..sizes.value_dim];
                let gated = output.iter().zip(norm).zip(gates);
                out.extend(gated.map(|((x, norm), gate)| norm * (x * factor) * swish(*gate)));
            }
        }
    })
}

/// The update of one head's matrix by one token.
struct Step<'a> {
    query: &'a [f32],
    key: &'a [f32],
    value: &'a [f32],
    /// Step size of the update towards the value (the delta rule's beta), from 0 to 1.
    strength: f32,
    /// Factor by which the matrix decays before the update.
    decay: f32,
}

impl Step<'_> {
    /// Updates `matrix`, `[key_dim, value_dim]`, and writes the value that it then gives for the query, divided by the root of
    /// the query's length.
    fn apply(&self, matrix: &mut [f32], out: &mut [f32]) {
        let width = out.len();
        out.fill(0.0);
        for (row, key) in matrix.chunks_exact_mut(width).zip(self.key) {
            for (given, x) in out.iter_mut().zip(row) {
                *x *= self.decay;
                *given += *x * key;
            }
        }
        let moved: Vec<f32> = self
            .value
            .iter()
            .zip(&*out)
            .map(|(value, given)| (value - given) * self.strength)
            .collect();
        out.fill(0.0);
        for (row, (key, query)) in matrix.chunks_exact_mut(width).zip(self.key.iter().zip(self.query)) {
            for (out, (x, moved)) in out.iter_mut().zip(row.iter_mut().zip(&moved)) {
                *x += key * moved;
                *out += *x * query;
            }
        }
        let scale = 1.0 / (self.query.len() as f32).sqrt();
        out.iter_mut().for_each(|out| *out *= scale);
    }
}

/// Computes the gated outputs of all tokens, `[count, values]`, by tensor operations; `wide` is the output of
/// [`RecurrentWeights::input`] for the tokens.
pub(super) fn apply_tensors(
    weights: &RecurrentWeights,
    sizes: &DeltaNet,
    kept: &mut LayerState,
    wide: &Tensor,
) -> Result<Tensor> {
    let (inputs, matrices) = kept.tensors()?;
    let count = wide.dim(0)?;
    let (channels, values, heads) = (sizes.channels(), sizes.values(), sizes.value_heads);
    let mixed = weights
        .taps
        .apply_tensors(inputs, &wide.narrow(1, 0, channels)?.contiguous()?)?;
    let mixed = mixed.to_dtype(DType::F32)?;
    // [count, heads, key_dim, 1], each key head for all the value heads that share it.
    let normalised = |from: usize| {
        let vectors = mixed
            .narrow(1, from, sizes.keys())?
            .reshape((count, sizes.key_heads, 1, sizes.key_dim))?;
        let squares = (vectors.sqr()?.sum_keepdim(D::Minus1)? + f64::from(SMALLEST_SQUARE))?;
        let vectors = vectors.broadcast_div(&squares.sqrt()?)?;
        for_heads(&vectors, heads)?.reshape((count, heads, sizes.key_dim, 1))
    };
    let queries = (normalised(0)? / (sizes.key_dim as f64).sqrt())?;
    let keys = normalised(sizes.keys())?;
    let of_values = mixed
        .narrow(1, 2 * sizes.keys(), values)?
        .reshape((count, heads, 1, sizes.value_dim))?;
    let by_head = |from: usize| wide.narrow(1, from, heads);
    let strengths = by_head(channels + values)?.to_dtype(DType::F32)?;
    let strengths = sigmoid(&strengths)?.reshape((count, heads, 1, 1))?;
    let decays = weights.steps(&by_head(channels + values + heads)?)?.decay;
    let mut outputs = Vec::with_capacity(count);
    for token in 0..count {
        let of = |all: &Tensor| all.get(token);
        let (key, query) = (of(&keys)?, of(&queries)?);
        let decayed = matrices.broadcast_mul(&of(&decays)?)?;
        let given = decayed.broadcast_mul(&key)?.sum_keepdim(1)?;
        let moved = (of(&of_values)? - given)?.broadcast_mul(&of(&strengths)?)?;
        *matrices = (decayed + key.broadcast_mul(&moved)?)?;
        outputs.push(matrices.broadcast_mul(&query)?.sum(1)?);
    }
    // [count · heads, value_dim].
    let outputs = Tensor::cat(&outputs, 0)?.to_dtype(wide.dtype())?;
    let normed = rms_norm(&outputs, &weights.norm, weights.eps)?.reshape((count, values))?;
    normed * silu(&wide.narrow(1, channels, values)?.contiguous()?)?
}
