//! [`rms_norm`]: the norm of tensors whose factors may be kept in more bits than they are.

use candle_core::{Result, Tensor};
use candle_nn::ops;

/// The rows of `x`, each divided by the root of its mean square plus `eps`, times `factors`; computed in the factors' format, and
/// in that of `x` where it is handed back.
pub(crate) fn rms_norm(x: &Tensor, factors: &Tensor, eps: f32) -> Result<Tensor> {
    match x.dtype() == factors.dtype() {
        true => ops::rms_norm(x, factors, eps),
        false => ops::rms_norm(&x.to_dtype(factors.dtype())?, factors, eps)?.to_dtype(x.dtype()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{DType, Device};

    #[test]
    fn factors_of_32_bits_are_not_rounded_to_the_format_of_what_is_normalised() {
        let numbers: Vec<f32> = (0..256).map(|index| 1.0 + (index % 128) as f32 / 128.0).collect();
        let x = Tensor::from_vec(numbers, (1, 256), &Device::Cpu).unwrap();
        // Nearer to 1 than BF16's next number is.
        let factors = Tensor::full(1.003f32, 256, &Device::Cpu).unwrap();
        let bits = |tensor: Tensor| tensor.flatten_all().unwrap().to_vec1::<half::bf16>().unwrap();
        let expected = bits(rms_norm(&x, &factors, 1e-6).unwrap().to_dtype(DType::BF16).unwrap());
        let narrow = x.to_dtype(DType::BF16).unwrap();
        let found = rms_norm(&narrow, &factors, 1e-6).unwrap();
        assert_eq!(bits(found), expected);
        let rounded = rms_norm(&narrow, &factors.to_dtype(DType::BF16).unwrap(), 1e-6).unwrap();
        assert_ne!(bits(rounded), expected);
    }
}
