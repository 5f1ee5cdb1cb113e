//! Norms, softmax and rotations of operations that have a derivative; candle_nn's fused ones have none.

use candle_core::{D, Result, Tensor};

/// The rows of `x` along its last dimension, each divided by the root of its mean square plus `eps`, times `factors`.
pub(super) fn rms_norm(x: &Tensor, factors: &Tensor, eps: f32) -> Result<Tensor> {
    let root = (x.sqr()?.mean_keepdim(D::Minus1)? + f64::from(eps))?.sqrt()?;
    x.broadcast_div(&root)?.broadcast_mul(factors)
}

/// The softmax of `x` along its last dimension.
pub(super) fn softmax(x: &Tensor) -> Result<Tensor> {
    // The largest number cancels out, so its derivative is left out.
    let powers = x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?.exp()?;
    powers.broadcast_div(&powers.sum_keepdim(D::Minus1)?)
}

/// The logarithms of the probabilities that rows of `logits`, `[rows, vocab]`, give to the tokens in `chosen`, `[rows]`.
pub(super) fn log_probabilities(logits: &Tensor, chosen: &Tensor) -> Result<Tensor> {
    let shifted = logits.broadcast_sub(&logits.detach().max_keepdim(D::Minus1)?)?;
    let total = shifted.exp()?.sum(D::Minus1)?.log()?;
    let own = shifted.gather(&chosen.unsqueeze(1)?, 1)?.squeeze(1)?;
    own - total
}

/// `x` times `factor`, which is 1 in most models.
pub(super) fn scaled(x: Tensor, factor: f32) -> Result<Tensor> {
    match factor == 1.0 {
        true => Ok(x),
        false => x * f64::from(factor),
    }
}

/// `x`, kept within `cap` where there is one.
pub(super) fn capped(x: Tensor, cap: Option<f32>) -> Result<Tensor> {
    match cap.map(f64::from) {
        Some(cap) => (x / cap)?.tanh()? * cap,
        None => Ok(x),
    }
}

/// The start of each head's vector in `x`, `[.., tokens, head_dim]`, turned by the angles whose cosines and sines are given,
/// `[tokens, turned / 2]`: element `i` with element `i + turned / 2`, or neighbouring elements with each other.
pub(super) fn rotated(x: &Tensor, (cos, sin): &(Tensor, Tensor), neighbours: bool) -> Result<Tensor> {
    let (dim, half) = (x.dim(D::Minus1)?, cos.dim(1)?);
    let turned = x.narrow(D::Minus1, 0, 2 * half)?;
    let pairs = match neighbours {
        true => {
            let mut shape = turned.dims().to_vec();
            shape.pop();
            shape.extend([half, 2]);
            let pairs = turned.reshape(shape)?;
            let part = |number| pairs.narrow(D::Minus1, number, 1)?.squeeze(D::Minus1);
            [part(0)?, part(1)?]
        }
        false => [
            turned.narrow(D::Minus1, 0, half)?,
            turned.narrow(D::Minus1, half, half)?,
        ],
    };
    let [a, b] = &pairs;
    let first = (a.broadcast_mul(cos)? - b.broadcast_mul(sin)?)?;
    let second = (b.broadcast_mul(cos)? + a.broadcast_mul(sin)?)?;
    let turned = match neighbours {
        true => Tensor::stack(&[first, second], D::Minus1)?.flatten_from(D::Minus2)?,
        false => Tensor::cat(&[first, second], D::Minus1)?,
    };
    match dim == 2 * half {
        true => Ok(turned),
        false => Tensor::cat(&[turned, x.narrow(D::Minus1, 2 * half, dim - 2 * half)?], D::Minus1),
    }
}
