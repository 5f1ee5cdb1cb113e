//! [`LatentAttention`]: the weights of attention whose keys and values are made from one latent vector of each token.
//!
//! A head's score is its query times the key that the head's matrix makes of the latent vector. The product is the same where the
//! query is multiplied with that matrix instead; so is a head's output where its value matrix is applied after the weighted sum.
//! So all heads see the latent vectors themselves, as one key that is the value, too, and keys and values of the heads are never
//! made.

use candle_core::{D, Tensor};

use crate::error::ModelError;
use crate::load::config::gemma4::Heads;
use crate::load::config::latent_attention::LatentAttention as Sizes;
use crate::load::shapes::latent_attention::LatentShapes;
use crate::network::layers::{NetworkReader, SeenKeys};
use crate::network::matrices::linear::Linear;

/// Number added to the mean square in the norms of the latent vectors of queries, keys and values, whatever config.json says of
/// other norms.
pub(crate) const NORM_EPS: f32 = 1e-6;

/// The weights of latent attention.
#[derive(Debug, Clone)]
pub(crate) struct LatentAttention {
    pub(crate) sizes: Sizes,
    /// Matrix from a token's vector to the queries of all heads, each its plain part before the part that positions rotate, or to
    /// the latent vector that queries are made from.
    pub(crate) query: Linear,
    /// The norm of the queries' latent vector and the matrix from it to the queries; `None` where `query` gives the queries
    /// themselves.
    pub(crate) query_up: Option<(Tensor, Linear)>,
    /// Matrix from a token's vector to the vector that the cache keeps, with the part that positions rotate behind the other.
    pub(crate) kept: Linear,
    /// The norm of the latent vector, which is the part that positions do not rotate.
    pub(crate) kept_norm: Tensor,
    /// Matrices from the plain part of a head's query to the vector that is compared with the latent vectors: `[rank, plain_dim]`
    /// for each head.
    pub(crate) keys: HeadMatrices,
    /// Matrices from a head's weighted sum of latent vectors to its value: `[value_dim, rank]` for each head.
    pub(crate) values: HeadMatrices,
    pub(crate) output: Linear,
    pub(crate) seen: SeenKeys,
}

/// One matrix for each head.
#[derive(Debug, Clone)]
pub(crate) enum HeadMatrices {
    /// One matrix for each head, for loops over slices on the CPU.
    Each(Vec<Linear>),
    /// All matrices in one tensor, for one product of tensors: `[heads, outputs, inputs]`.
    Stacked(Tensor),
}

impl HeadMatrices {
    /// The matrices in `stacked`, `[heads, outputs, inputs]`, as the device multiplies with them.
    fn new(stacked: &Tensor) -> candle_core::Result<Self> {
        if !stacked.device().is_cpu() {
            return Ok(Self::Stacked(stacked.contiguous()?));
        }
        let each = (0..stacked.dim(0)?).map(|head| Ok(Linear::new(stacked.get(head)?.force_contiguous()?, None)));
        each.collect::<candle_core::Result<_>>().map(Self::Each)
    }

    /// Multiplies tensors: `x` is `[heads, tokens, inputs]`, the result `[heads, tokens, outputs]`.
    pub(crate) fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Each(each) => {
                let heads = each.iter().enumerate();
                let products = heads.map(|(head, matrix)| matrix.forward(&x.get(head)?));
                Tensor::stack(&products.collect::<candle_core::Result<Vec<_>>>()?, 0)
            }
            Self::Stacked(stacked) => x.matmul(&stacked.transpose(D::Minus2, D::Minus1)?),
        }
    }

    /// Multiplies slices on the CPU: of each row of `x`, the heads' inputs are at `from`, of each row of `out`, their outputs are put
    /// at `to`.
    pub(crate) fn apply(
        &self,
        (x, from): (&[f32], Columns),
        (out, to): (&mut [f32], Columns),
    ) -> candle_core::Result<()> {
        let Self::Each(each) = self else {
            return Err(candle_core::Error::Msg("expected matrices on the CPU".to_owned()));
        };
        let tokens = x.len() / from.row;
        let (mut input, mut product) = (Vec::new(), Vec::new());
        for (head, matrix) in each.iter().enumerate() {
            input.clear();
            for row in x.chunks_exact(from.row) {
                input.extend_from_slice(from.of_head(head, row));
            }
            matrix.apply(&input, tokens, &mut product)?;
            for (row, product) in out.chunks_exact_mut(to.row).zip(product.chunks_exact(to.width)) {
                row[to.start + head * to.stride..][..to.width].copy_from_slice(product);
            }
        }
        Ok(())
    }
}

/// Columns of the heads' vectors in the rows of tokens: `width` elements from `start + head · stride` on, in rows of `row`
/// elements.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) row: usize,
    pub(crate) start: usize,
    pub(crate) stride: usize,
    pub(crate) width: usize,
}

impl Columns {
    fn of_head(self, head: usize, row: &[f32]) -> &[f32] {
        &row[self.start + head * self.stride..][..self.width]
    }
}

impl NetworkReader<'_> {
    /// The latent attention that has these tensors, in the layer of that number.
    pub(super) fn latent_attention(
        &self,
        shapes: &LatentShapes,
        sizes: Sizes,
        layer: usize,
    ) -> Result<LatentAttention, ModelError> {
        let linear = |shape| self.linear(std::slice::from_ref(shape));
        let query_up = shapes.query_up.as_ref();
        let query_up = query_up.map(|(norm, up)| Ok::<_, ModelError>((self.norm(norm)?, linear(up)?)));
        let up = self
            .weights
            .stacked(&[shapes.key_value_up.weight()], self.format.dtype(), self.device)?;
        let of_heads = |first: usize, rows: usize| {
            let all = (self.config.heads, sizes.plain_dim + sizes.value_dim, sizes.rank);
            up.reshape(all)?.narrow(1, first, rows)
        };
        let keys = of_heads(0, sizes.plain_dim).and_then(|keys| HeadMatrices::new(&keys.transpose(1, 2)?));
        let values = of_heads(sizes.plain_dim, sizes.value_dim).and_then(|values| HeadMatrices::new(&values));
        Ok(LatentAttention {
            sizes,
            query: linear(&shapes.query)?,
            query_up: query_up.transpose()?,
            kept: linear(&shapes.kept)?,
            kept_norm: self.norm(&shapes.kept_norm)?,
            keys: keys.map_err(|error| self.failed(&error))?,
            values: values.map_err(|error| self.failed(&error))?,
            output: linear(&shapes.output)?,
            seen: SeenKeys {
                layer,
                heads: Heads {
                    kv_heads: 1,
                    head_dim: sizes.kept_dim(),
                },
                sinks: None,
                window: None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn matrices_of_heads_multiply_alike_in_every_form() {
        let (heads, outputs, inputs, tokens) = (3, 4, 5, 2);
        let random = |shape: (usize, usize, usize)| Tensor::randn(0.0_f32, 1.0, shape, &Device::Cpu).unwrap();
        let (stacked, x) = (random((heads, outputs, inputs)), random((heads, tokens, inputs)));
        let each = HeadMatrices::new(&stacked).unwrap();
        let one = each.forward(&x).unwrap().flatten_all().unwrap().to_vec1::<f32>();
        let other = HeadMatrices::Stacked(stacked).forward(&x).unwrap();
        let other = other.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert!(one.unwrap().iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5));

        // Rows of tokens, one element before the heads' vectors and one behind each.
        let by_token = x.transpose(0, 1).unwrap().pad_with_zeros(2, 0, 1).unwrap();
        let by_token = by_token.flatten_from(1).unwrap().pad_with_zeros(1, 1, 0).unwrap();
        let rows = by_token.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let from = Columns {
            row: 1 + heads * (inputs + 1),
            start: 1,
            stride: inputs + 1,
            width: inputs,
        };
        let to = Columns {
            row: heads * outputs,
            start: 0,
            stride: outputs,
            width: outputs,
        };
        let mut out = vec![0.0; tokens * heads * outputs];
        each.apply((&rows, from), (&mut out, to)).unwrap();
        for head in 0..heads {
            for token in 0..tokens {
                for element in 0..outputs {
                    let expected = other[(head * tokens + token) * outputs + element];
                    let got = out[(token * heads + head) * outputs + element];
                    assert!((got - expected).abs() < 1e-5);
                }
            }
        }
    }
}
