//! [`causal_softmax`]: the softmax of attention scores with the causal mask; on the CPU one operation with a derivative of its own. Several
//! tensor operations would pass a dozen times over the scores, whose number is the square of the number of tokens.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, D, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::operations::softmax;
use crate::network::cpu::kernels;
use crate::network::tensors::forward::mask;

/// The softmax of each row of `scores`, `[.., tokens, seen]`, over the last `window` tokens up to the row's own; other shares are 0. The rows
/// are those of the last `tokens` of the `seen` tokens.
pub(super) fn causal_softmax(scores: &Tensor, window: usize) -> Result<Tensor> {
    match scores.device().is_cpu() {
        true => scores.contiguous()?.apply_op1(CausalSoftmax { window }),
        false => composed(scores, window),
    }
}

/// Computes [`causal_softmax`] on any device, by several tensor operations.
fn composed(scores: &Tensor, window: usize) -> Result<Tensor> {
    let (tokens, seen) = (scores.dim(D::Minus2)?, scores.dim(D::Minus1)?);
    softmax(&scores.broadcast_add(&mask(seen - tokens, tokens, window, scores.device())?)?)
}

/// The operation on the CPU.
struct CausalSoftmax {
    window: usize,
}

impl CustomOp1 for CausalSoftmax {
    fn name(&self) -> &'static str {
        "causal-softmax"
    }

    fn cpu_fwd(&self, scores: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let scores = numbers(scores, layout)?;
        let (tokens, all) = last(layout)?;
        let mut shares = vec![0f32; scores.len()];
        let rows = shares.par_chunks_mut(all).zip(scores.par_chunks(all));
        rows.enumerate().for_each(|(row, (shares, scores))| {
            let end = all - tokens + row % tokens + 1;
            let seen = end.saturating_sub(self.window)..end;
            let shares = &mut shares[seen.clone()];
            shares.copy_from_slice(&scores[seen]);
            kernels::softmax(shares, 1.0);
        });
        Ok((CpuStorage::F32(shares), layout.shape().clone()))
    }

    fn bwd(&self, _: &Tensor, shares: &Tensor, slope: &Tensor) -> Result<Option<Tensor>> {
        let slope = slope.contiguous()?;
        shares.detach().apply_op2_no_bwd(&slope, &SoftmaxSlope).map(Some)
    }
}

/// The derivative by the scores, of the shares and the derivative by these.
struct SoftmaxSlope;

impl CustomOp2 for SoftmaxSlope {
    fn name(&self) -> &'static str {
        "softmax-slope"
    }

    fn cpu_fwd(
        &self,
        shares: &CpuStorage,
        layout: &Layout,
        slopes: &CpuStorage,
        slopes_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (shares, slopes) = (numbers(shares, layout)?, numbers(slopes, slopes_layout)?);
        let (_, all) = last(layout)?;
        let mut result = vec![0f32; shares.len()];
        let rows = result.par_chunks_mut(all).zip(shares.par_chunks(all));
        let rows = rows.zip(slopes.par_chunks(all));
        rows.for_each(|((result, shares), slopes)| {
            let mean: f32 = shares.iter().zip(slopes).map(|(share, slope)| share * slope).sum();
            for ((result, share), slope) in result.iter_mut().zip(shares).zip(slopes) {
                *result = share * (slope - mean);
            }
        });
        Ok((CpuStorage::F32(result), layout.shape().clone()))
    }
}

/// The numbers of a tensor without gaps.
fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<f32>()?[start..end]),
        None => candle_core::bail!("scores with gaps"),
    }
}

/// Number of tokens that have a row, and of those that a row has shares of.
fn last(layout: &Layout) -> Result<(usize, usize)> {
    match layout.dims() {
        [.., tokens, seen] if 0 < *tokens && tokens <= seen => Ok((*tokens, *seen)),
        dims => candle_core::bail!("scores of the shape {dims:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};

    #[test]
    fn one_operation_gives_what_several_do() {
        for (seen, window) in [(7, 1), (7, 3), (7, usize::MAX), (12, 1), (12, 9), (12, usize::MAX)] {
            let scores = Tensor::randn(0f32, 2.0, (2, 3, 7, seen), &Device::Cpu).unwrap();
            let scores = Var::from_tensor(&scores).unwrap();
            let weights = Tensor::randn(0f32, 1.0, (2, 3, 7, seen), &Device::Cpu).unwrap();
            let [one, several] = [causal_softmax(&scores, window), composed(&scores, window)].map(|shares| {
                let shares = shares.unwrap();
                let slopes = (&shares * &weights).unwrap().sum_all().unwrap().backward().unwrap();
                let both = Tensor::stack(&[&shares, slopes.get(&scores).unwrap()], 0).unwrap();
                both.flatten_all().unwrap().to_vec1::<f32>().unwrap()
            });
            assert!(one.iter().zip(&several).all(|(one, other)| (one - other).abs() < 1e-6));
        }
    }
}
