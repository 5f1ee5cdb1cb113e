//! Arithmetic that delta nets and Mamba2 share: functions of single numbers, and work by heads.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

/// Multiplications from which heads are shared between threads: below, waking threads takes longer.
const PARALLEL_FROM: usize = 1 << 18;

/// Calls `of_head` for each of `heads` heads with its number, its part of `matrices` and its part of `outputs`: on several
/// threads where the heads together take enough `multiplications`.
pub(super) fn for_each_head(
    heads: usize,
    matrices: &mut [f32],
    outputs: &mut [f32],
    multiplications: usize,
    of_head: impl Fn(usize, &mut [f32], &mut [f32]) + Sync,
) {
    let (matrix, output) = (matrices.len() / heads, outputs.len() / heads);
    if rayon::current_num_threads() > 1 && multiplications >= PARALLEL_FROM {
        let parts = matrices
            .par_chunks_exact_mut(matrix)
            .zip(outputs.par_chunks_exact_mut(output));
        parts
            .enumerate()
            .for_each(|(head, (matrix, output))| of_head(head, matrix, output));
    } else {
        let parts = matrices.chunks_exact_mut(matrix).zip(outputs.chunks_exact_mut(output));
        parts
            .enumerate()
            .for_each(|(head, (matrix, output))| of_head(head, matrix, output));
    }
}

/// `1 / (1 + exp(-x))`.
pub(super) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// `x · sigmoid(x)`.
pub(super) fn swish(x: f32) -> f32 {
    x / (1.0 + (-x).exp())
}

/// `ln(1 + exp(x))`.
pub(super) fn softplus(x: f32) -> f32 {
    if x > 20.0 { x } else { x.exp().ln_1p() }
}

/// `ln(1 + exp(x))` of each element of 32-bit floats, as `max(x, 0) + ln(1 + exp(-|x|))`.
pub(super) fn softplus_tensor(x: &Tensor) -> Result<Tensor> {
    // What rounding takes of small `y` in `1 + y` comes back by the factor `y / ((1 + y) - 1)`; where it takes all,
    // `ln(1 + y)` is `y`.
    let y = x.abs()?.neg()?.exp()?;
    let sum = (&y + 1.0)?;
    let rounded = (&sum - 1.0)?;
    let lost = rounded.eq(&rounded.zeros_like()?)?.to_dtype(x.dtype())?;
    let logarithm = ((sum.log()? * &y)? / (rounded + &lost)?)?;
    x.relu()? + (logarithm + (y * lost)?)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn softplus_keeps_small_values() {
        let xs = [-80f32, -20.0, -15.0, -10.0, -5.0, -0.1, 0.0, 3.0, 30.0];
        let tensor = softplus_tensor(&Tensor::new(&xs, &Device::Cpu).unwrap()).unwrap();
        for (x, by_tensor) in xs.into_iter().zip(tensor.to_vec1::<f32>().unwrap()) {
            let expected = f64::from(x).exp().ln_1p();
            for found in [by_tensor, softplus(x)] {
                assert!(
                    (f64::from(found) / expected - 1.0).abs() < 1e-6,
                    "{x}: {found}, expected {expected}"
                );
            }
        }
    }
}
