//! Arithmetic over slices for the CPU: products with few columns, norms, activations, attention over one head.
//!
//! A decode step multiplies every weight with one vector, so it runs as fast as weights come from memory.
//! General matrix products are built for many vectors and lose half of that speed or more on one; these
//! loops keep it. [`pulp`] picks the widest vector instructions at run time.

use half::{bf16, f16};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::load::config::layer_kinds::Activation;

/// A number a weight can be stored as. Arithmetic is always in `f32`.
pub(crate) trait Weight: Copy + Send + Sync {
    /// The weight as a 32-bit float.
    fn widen(self) -> f32;

    /// The first weights of a slice, as many as a vector register holds.
    #[inline(always)]
    fn load<S: Simd>(weights: &[Self]) -> S::f32s {
        let mut wide = [0f32; MAX_LANES];
        for lane in 0..S::F32_LANES {
            wide[lane] = weights[lane].widen();
        }
        load::<S>(&wide)
    }
}

/// Numbers in the widest vector register there is.
const MAX_LANES: usize = 16;

impl Weight for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    fn load<S: Simd>(weights: &[Self]) -> S::f32s {
        load::<S>(weights)
    }
}

impl Weight for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

impl Weight for f16 {
    /// Exact for finite numbers, in a form that vectorises: the exponent is rebased by a product with 2^112,
    /// which also brings subnormals right. Infinity and NaN become large numbers.
    #[inline(always)]
    fn widen(self) -> f32 {
        const REBASE: f32 = f32::from_bits((127 + 112) << 23);
        let bits = u32::from(self.to_bits());
        let magnitude = f32::from_bits((bits & 0x7fff) << 13) * REBASE;
        f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
    }
}

/// The first numbers of a slice, as many as a vector register holds.
#[inline(always)]
fn load<S: Simd>(numbers: &[f32]) -> S::f32s {
    S::as_simd_f32s(&numbers[..S::F32_LANES]).0[0]
}

/// Multiplications from which a product is shared between threads: below, waking threads takes longer.
const PARALLEL_FROM: usize = 1 << 19;

/// `out[row, token] = Σ weights[row, column] · x[token, column]`, rows shared between the threads of the
/// current rayon pool.
///
/// `weights` is `[rows, columns]`, `x` is `[tokens, columns]`, `out` is `[rows, tokens]`.
pub(crate) fn product<W: Weight>(weights: &[W], x: &[f32], columns: usize, tokens: usize, out: &mut [f32]) {
    let threads = rayon::current_num_threads();
    let rows = out.len() / tokens;
    if threads == 1 || rows * columns * tokens < PARALLEL_FROM {
        return product_on_this_thread(weights, x, columns, tokens, out);
    }
    let rows_per_part = rows.div_ceil(threads * 2).next_multiple_of(8);
    out.par_chunks_mut(rows_per_part * tokens)
        .zip(weights.par_chunks(rows_per_part * columns))
        .for_each(|(out, weights)| product_on_this_thread(weights, x, columns, tokens, out));
}

/// Computes the same product as [`product`], on the calling thread.
pub(crate) fn product_on_this_thread<W: Weight>(
    weights: &[W],
    x: &[f32],
    columns: usize,
    tokens: usize,
    out: &mut [f32],
) {
    Arch::new().dispatch(Product {
        weights,
        x,
        columns,
        tokens,
        out,
    });
}

/// The arguments of [`product_on_this_thread`].
struct Product<'a, W> {
    weights: &'a [W],
    x: &'a [f32],
    columns: usize,
    tokens: usize,
    out: &'a mut [f32],
}

impl<W: Weight> WithSimd for Product<'_, W> {
    type Output = ();

    /// Rows and tokens are taken in blocks of eight sums, which fit the registers of all machines.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            weights,
            x,
            columns,
            tokens,
            out,
        } = self;
        let blocks = weights.chunks(8 * columns).zip(out.chunks_mut(8 * tokens));
        for (weights, out) in blocks {
            let rows = weights.len() / columns;
            let mut token = 0;
            while token < tokens {
                let part = Block {
                    weights,
                    x: &x[token * columns..],
                    columns,
                    stride: tokens,
                };
                let out = &mut out[token..];
                token += match (rows, tokens - token) {
                    (8, 4..) => part.sums::<S, 2, 4>(simd, out),
                    (8, 2..) => part.sums::<S, 4, 2>(simd, out),
                    (8, _) => part.sums::<S, 4, 1>(simd, out),
                    (_, 4..) => part.sums::<S, 1, 4>(simd, out),
                    _ => part.sums::<S, 1, 1>(simd, out),
                };
            }
        }
    }
}

/// Weight rows and vectors whose products fill a part of the result.
struct Block<'a, W> {
    weights: &'a [W],
    x: &'a [f32],
    columns: usize,
    /// Number of elements from one row of the result to the next.
    stride: usize,
}

impl<W: Weight> Block<'_, W> {
    /// All rows times the first `TOKENS` vectors, `ROWS` at a time, into the first `TOKENS` columns of `out`; returns
    /// `TOKENS`.
    #[inline(always)]
    fn sums<S: Simd, const ROWS: usize, const TOKENS: usize>(&self, simd: S, out: &mut [f32]) -> usize {
        let columns = self.columns;
        let whole = columns - columns % S::F32_LANES;
        let x: [&[f32]; TOKENS] = std::array::from_fn(|token| &self.x[token * columns..][..columns]);
        for (group, weights) in self.weights.chunks_exact(ROWS * columns).enumerate() {
            let weights: [&[W]; ROWS] = std::array::from_fn(|row| &weights[row * columns..][..columns]);
            let mut sums = [[simd.splat_f32s(0.0); TOKENS]; ROWS];
            let mut column = 0;
            while column < whole {
                for row in 0..ROWS {
                    let weights = W::load::<S>(&weights[row][column..]);
                    for token in 0..TOKENS {
                        let x = load::<S>(&x[token][column..]);
                        sums[row][token] = simd.mul_add_e_f32s(weights, x, sums[row][token]);
                    }
                }
                column += S::F32_LANES;
            }
            for row in 0..ROWS {
                for token in 0..TOKENS {
                    let mut sum = simd.reduce_sum_f32s(sums[row][token]);
                    for column in whole..columns {
                        sum += weights[row][column].widen() * x[token][column];
                    }
                    out[(group * ROWS + row) * self.stride + token] = sum;
                }
            }
        }
        TOKENS
    }
}

/// Converts `weights` to 32-bit floats.
pub(crate) fn widened<W: Weight>(weights: &[W]) -> Vec<f32> {
    let mut wide = vec![0.0; weights.len()];
    let parts = weights.par_chunks(1 << 16).zip(wide.par_chunks_mut(1 << 16));
    parts.for_each(|(weights, wide)| Arch::new().dispatch(Widen { weights, wide }));
    wide
}

/// The arguments of [`widened`].
struct Widen<'a, W> {
    weights: &'a [W],
    wide: &'a mut [f32],
}

impl<W: Weight> WithSimd for Widen<'_, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (wide, weight) in self.wide.iter_mut().zip(self.weights) {
            *wide = weight.widen();
        }
    }
}

/// Root-mean-square norm of each `weight.len()` elements of `x`, in place (arXiv 1910.07467).
pub(crate) fn rms_norm(x: &mut [f32], weight: &[f32], eps: f32) {
    for row in x.chunks_exact_mut(weight.len()) {
        let squares: f32 = row.chunks(8).map(|part| part.iter().map(|x| x * x).sum::<f32>()).sum();
        let scale = 1.0 / (squares / weight.len() as f32 + eps).sqrt();
        for (x, weight) in row.iter_mut().zip(weight) {
            *x = weight * (*x * scale);
        }
    }
}

/// `out[i] = activation(gate[i]) · up[i]` for rows `[gate, up]` of `x`, `width` elements each; squares where nothing is gated.
pub(crate) fn gated(x: &[f32], width: usize, activation: Activation, out: &mut Vec<f32>) {
    out.resize(x.len() / activation.projections(), 0.0);
    if activation == Activation::ReluSquared {
        let numbers = out.iter_mut().zip(x);
        return numbers.for_each(|(out, x)| *out = x.max(0.0) * x.max(0.0));
    }
    Arch::new().dispatch(GatedRows {
        x,
        width,
        activation,
        out,
    });
}

/// The arguments of [`gated`].
struct GatedRows<'a> {
    x: &'a [f32],
    width: usize,
    activation: Activation,
    out: &'a mut [f32],
}

impl WithSimd for GatedRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let out = self.out.chunks_exact_mut(self.width);
        for (row, out) in self.x.chunks_exact(2 * self.width).zip(out) {
            let (gate, up) = row.split_at(self.width);
            let numbers = gate.iter().zip(up).zip(out);
            match self.activation {
                Activation::ReluSquared => {}
                Activation::Silu => {
                    for ((gate, up), out) in numbers {
                        *out = gate / (1.0 + exp(-gate)) * up;
                    }
                }
                Activation::ClampedSwish { steepness, limit } => {
                    for ((gate, up), out) in numbers {
                        let gate = if *gate > limit { limit } else { *gate };
                        let swish = gate / (1.0 + exp(-steepness * gate));
                        *out = (up.clamp(-limit, limit) + 1.0) * swish;
                    }
                }
                Activation::GeluTanh => {
                    // (1 + tanh(x)) / 2 = 1 / (1 + exp(-2 x)).
                    const TWICE_ROOT: f32 = 1.595_769;
                    for ((gate, up), out) in numbers {
                        let inner = TWICE_ROOT * (gate + 0.044_715 * gate * gate * gate);
                        *out = gate / (1.0 + exp(-inner)) * up;
                    }
                }
            }
        }
    }
}

/// Softmax of `scale · scores` in place. A row of equal infinities cannot occur: every token sees itself.
pub(crate) fn softmax(scores: &mut [f32], scale: f32) {
    softmax_beside(scores, scale, f32::NEG_INFINITY);
}

/// Softmax of `scale · scores` and `sink` in place, without the share of `sink`.
pub(crate) fn softmax_beside(scores: &mut [f32], scale: f32, sink: f32) {
    Arch::new().dispatch(Softmax { scores, scale, sink });
}

/// The arguments of [`softmax`].
struct Softmax<'a> {
    scores: &'a mut [f32],
    scale: f32,
    sink: f32,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Partial results, so that each step has its own.
        const LANES: usize = 16;
        let mut largest = [f32::NEG_INFINITY; LANES];
        for part in self.scores.chunks(LANES) {
            for (largest, score) in largest.iter_mut().zip(part) {
                *largest = if *score > *largest { *score } else { *largest };
            }
        }
        let largest = largest.iter().copied().fold(self.sink / self.scale, f32::max);
        for score in self.scores.iter_mut() {
            *score = exp((*score - largest) * self.scale);
        }
        let mut sums = [0f32; LANES];
        for part in self.scores.chunks(LANES) {
            for (sum, score) in sums.iter_mut().zip(part) {
                *sum += *score;
            }
        }
        let beside = exp(self.sink - largest * self.scale);
        let share = 1.0 / (sums.iter().sum::<f32>() + beside);
        for score in self.scores.iter_mut() {
            *score *= share;
        }
    }
}

/// The exponential function, within two units in the last place, in a form that vectorises: a power of two
/// times a polynomial on what is left of the exponent. The smallest results are 2^-126, the largest 2^127.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Added, these round to a whole number, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    // Natural logarithm of two in two parts, the first with few bits.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.3, 88.3);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let power = shifted - ROUND;
    let rest = x - power * LN_2_HIGH - power * LN_2_LOW;
    let mut series = 1.987_569_1e-4;
    for coefficient in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        series = series * rest + coefficient;
    }
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    (series * rest * rest + rest + 1.0) * f32::from_bits(exponent)
}

/// `out[column] = Σ shares[row] · values[row, column]` for `values` of shape `[shares.len(), out.len()]`.
pub(crate) fn weighted_sum(shares: &[f32], values: &[f32], out: &mut [f32]) {
    Arch::new().dispatch(WeightedSum { shares, values, out });
}

/// The arguments of [`weighted_sum`].
struct WeightedSum<'a> {
    shares: &'a [f32],
    values: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for WeightedSum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const VECTORS: usize = 4;
        let Self { shares, values, out } = self;
        let (width, lanes) = (out.len(), S::F32_LANES);
        let mut column = 0;
        while column + VECTORS * lanes <= width {
            weigh::<S, VECTORS>(simd, shares, &values[column..], width, &mut out[column..]);
            column += VECTORS * lanes;
        }
        while column + lanes <= width {
            weigh::<S, 1>(simd, shares, &values[column..], width, &mut out[column..]);
            column += lanes;
        }
        for column in column..width {
            let values = values[column..].iter().step_by(width);
            out[column] = shares.iter().zip(values).map(|(share, value)| share * value).sum();
        }
    }
}

/// [`weighted_sum`] for the first `VECTORS` registers' worth of columns of `values`, rows of `width`.
#[inline(always)]
fn weigh<S: Simd, const VECTORS: usize>(simd: S, shares: &[f32], values: &[f32], width: usize, out: &mut [f32]) {
    let lanes = S::F32_LANES;
    // Two rows at a time, with sums of their own, so that no addition waits for the one before it.
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; 2];
    for (pair, shares) in shares.chunks(2).enumerate() {
        for (row, share) in shares.iter().enumerate() {
            let share = simd.splat_f32s(*share);
            let values = &values[(2 * pair + row) * width..][..VECTORS * lanes];
            for vector in 0..VECTORS {
                let values = load::<S>(&values[vector * lanes..]);
                sums[row][vector] = simd.mul_add_e_f32s(share, values, sums[row][vector]);
            }
        }
    }
    let [first, second] = sums;
    let out = S::as_mut_simd_f32s(&mut out[..VECTORS * lanes]).0;
    for vector in 0..VECTORS {
        out[vector] = simd.add_f32s(first[vector], second[vector]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_is_exact_for_every_finite_number() {
        for bits in 0..=u16::MAX {
            let (wide, half) = (f16::from_bits(bits), bf16::from_bits(bits));
            if wide.is_finite() {
                assert_eq!(wide.widen().to_bits(), wide.to_f32().to_bits(), "f16 {bits:#06x}");
            }
            if half.is_finite() {
                assert_eq!(half.widen().to_bits(), half.to_f32().to_bits(), "bf16 {bits:#06x}");
            }
        }
    }

    #[test]
    fn product_equals_the_plain_sum_for_every_remainder() {
        for (rows, columns, tokens) in [
            (1, 1, 1),
            (4, 16, 1),
            (5, 17, 3),
            (9, 40, 4),
            (7, 33, 7),
            (8, 8, 2),
            (300, 513, 5),
        ] {
            let number = |i: usize| ((i * 7919 + 13) % 101) as f32 / 50.0 - 1.0;
            let weights: Vec<f32> = (0..rows * columns).map(number).collect();
            let x: Vec<f32> = (0..tokens * columns).map(|i| number(i + 5)).collect();
            let mut out = vec![f32::NAN; rows * tokens];
            product(&weights, &x, columns, tokens, &mut out);
            for row in 0..rows {
                for token in 0..tokens {
                    let exact: f64 = (0..columns)
                        .map(|c| f64::from(weights[row * columns + c]) * f64::from(x[token * columns + c]))
                        .sum();
                    let got = f64::from(out[row * tokens + token]);
                    assert!(
                        (got - exact).abs() < 1e-4,
                        "{rows}x{columns}, {tokens} tokens: {got} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn exponentials_are_within_two_units_in_the_last_place() {
        for step in -870_000..880_000 {
            let x = step as f32 * 1e-4;
            let (got, exact) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((got - exact).abs() <= 2.4e-7 * exact, "exp({x}) = {got}, not {exact}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1e-37 && exp(f32::NAN).is_nan());
    }

    #[test]
    fn softmax_sums_to_one() {
        for len in [1, 15, 16, 33] {
            let mut scores: Vec<f32> = (0..len).map(|i| i as f32 * 3.0 - 20.0).collect();
            let exact: Vec<f64> = scores.iter().map(|score| f64::from(*score * 0.5).exp()).collect();
            softmax(&mut scores, 0.5);
            for (got, exact_share) in scores.iter().zip(&exact) {
                assert!((f64::from(*got) - exact_share / exact.iter().sum::<f64>()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn weighted_sum_handles_widths_that_are_no_multiple_of_the_lanes() {
        for width in [2, 31, 32, 80] {
            let values: Vec<f32> = (0..3 * width).map(|i| i as f32).collect();
            let mut out = vec![f32::NAN; width];
            weighted_sum(&[0.5, 0.25, 0.25], &values, &mut out);
            for (column, got) in out.iter().enumerate() {
                assert_eq!(*got, column as f32 + 0.75 * width as f32);
            }
        }
    }
}
