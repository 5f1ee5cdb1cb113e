//! The causal convolution at the start of recurrent layers: each channel over the last few tokens, with `x · sigmoid(x)` behind
//! it.

use candle_core::{Result, Tensor};
use candle_nn::ops::silu;

use crate::network::cpu::slices::with_cpu_slice;
use crate::network::recurrent::arithmetic::swish;

/// Kernel and bias of a convolution.
#[derive(Debug, Clone)]
pub(crate) struct Taps {
    /// The convolution kernel of each channel, the factor of the oldest token first: `[taps, channels]`.
    pub(crate) taps: Tensor,
    /// Bias added to each channel, of shape `[channels]`.
    pub(crate) bias: Option<Tensor>,
}

impl Taps {
    /// Returns the convolution's output for the tokens, `[count, channels]`, computed on the CPU.
    ///
    /// `rows` are the tokens' rows, each of which has the convolution's channels at `from`. `kept` are the channels of the tokens
    /// before, `[taps - 1, channels]`, and become those of the last tokens.
    pub(crate) fn apply<'a>(
        &self,
        kept: &mut Vec<f32>,
        rows: impl Iterator<Item = &'a [f32]>,
        from: usize,
    ) -> Result<Vec<f32>> {
        let (before, channels) = (kept.len(), self.taps.dims()[1]);
        for row in rows {
            kept.extend_from_slice(&row[from..][..channels]);
        }
        let new = kept.len() - before;
        let mut mixed = vec![0.0; new];
        with_cpu_slice(&self.taps, |taps: &[f32]| {
            for (token, mixed) in mixed.chunks_exact_mut(channels).enumerate() {
                let seen = kept[token * channels..].chunks_exact(channels);
                for (input, tap) in seen.zip(taps.chunks_exact(channels)) {
                    for (mixed, (input, tap)) in mixed.iter_mut().zip(input.iter().zip(tap)) {
                        *mixed += input * tap;
                    }
                }
            }
        })?;
        if let Some(bias) = &self.bias {
            with_cpu_slice(bias, |bias: &[f32]| {
                let numbers = mixed.iter_mut().zip(bias.iter().cycle());
                numbers.for_each(|(mixed, bias)| *mixed += bias);
            })?;
        }
        mixed.iter_mut().for_each(|x| *x = swish(*x));
        kept.drain(..new);
        Ok(mixed)
    }

    /// Returns the convolution's output for tokens whose channels are `new`, by tensor operations; both are `[count, channels]`.
    ///
    /// `kept` are the channels of the tokens before, `[taps - 1, channels]`, and become those of the last tokens.
    pub(crate) fn apply_tensors(&self, kept: &mut Tensor, new: &Tensor) -> Result<Tensor> {
        let (count, taps) = (new.dim(0)?, self.taps.dim(0)?);
        let seen = Tensor::cat(&[&*kept, new], 0)?;
        let mut mixed = new.zeros_like()?;
        for tap in 0..taps {
            mixed = (mixed
                + seen
                    .narrow(0, tap, count)?
                    .broadcast_mul(&self.taps.narrow(0, tap, 1)?)?)?;
        }
        if let Some(bias) = &self.bias {
            mixed = mixed.broadcast_add(bias)?;
        }
        // A view would keep the whole pass in memory.
        *kept = seen.narrow(0, count, taps - 1)?.force_contiguous()?;
        silu(&mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{CpuStorage, DType, Device, Storage};

    #[test]
    fn what_is_kept_of_a_pass_is_as_large_as_its_shape() {
        let zeros = |rows| Tensor::zeros((rows, 3), DType::F32, &Device::Cpu).unwrap();
        let taps = Taps {
            taps: zeros(4),
            bias: None,
        };
        let mut kept = zeros(3);
        taps.apply_tensors(&mut kept, &zeros(100)).unwrap();
        let (storage, _) = kept.storage_and_layout();
        match &*storage {
            Storage::Cpu(CpuStorage::F32(numbers)) => assert_eq!(numbers.len(), 9),
            _ => unreachable!("tensors of 32-bit floats on the CPU"),
        }
    }
}
