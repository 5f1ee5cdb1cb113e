//! Matrices whose rows checkpoints have in another order than the forward passes.

use candle_core::Tensor;

use crate::error::ModelError;
use crate::load::config::gemma4::Heads;
use crate::load::config::recurrence::DeltaNet;
use crate::load::shapes::matrices::{MatrixShape, NamedShape};
use crate::network::layers::NetworkReader;
use crate::network::matrices::linear::Linear;

impl NetworkReader<'_> {
    /// Queries, keys, values and gates in one matrix, of matrices the first of which gives each head's gates behind its query.
    pub(super) fn gated_queries(&self, matrices: &[MatrixShape], heads: Heads) -> Result<Linear, ModelError> {
        let (count, dim) = (self.config.heads, heads.head_dim);
        self.sorted(matrices, |all| {
            let (rows, columns) = all.dims2()?;
            let (queries, keys) = (count * dim, rows - 2 * count * dim);
            let pairs = all.narrow(0, 0, 2 * queries)?.reshape((count, 2, dim, columns))?;
            let part = |number| pairs.narrow(1, number, 1)?.contiguous()?.reshape((queries, columns));
            Tensor::cat(&[part(0)?, all.narrow(0, 2 * queries, keys)?, part(1)?], 0)
        })
    }

    /// The input matrix of a gated delta net, of one that gives, for each key head, its query, its key, and values and output gates
    /// of its value heads, and one that gives strengths and decays of its value heads.
    pub(super) fn delta_net_by_key_heads(
        &self,
        matrices: &[MatrixShape],
        sizes: &DeltaNet,
    ) -> Result<Linear, ModelError> {
        let (heads, of_key_head) = (sizes.value_heads, sizes.values() / sizes.key_heads);
        self.sorted(matrices, |all| {
            let columns = all.dim(1)?;
            let wide = sizes.channels() + sizes.values();
            let part = |from: usize, rows: usize, start: usize, len: usize| {
                let by_head = (sizes.key_heads, rows / sizes.key_heads, columns);
                let of_head = all.narrow(0, from, rows)?.reshape(by_head)?.narrow(1, start, len)?;
                of_head.contiguous()?.reshape((sizes.key_heads * len, columns))
            };
            let (key, values, numbers) = (sizes.key_dim, 2 * sizes.key_dim, heads / sizes.key_heads);
            let parts = [
                part(0, wide, 0, key)?,
                part(0, wide, key, key)?,
                part(0, wide, values, of_key_head)?,
                part(0, wide, values + of_key_head, of_key_head)?,
                part(wide, 2 * heads, 0, numbers)?,
                part(wide, 2 * heads, numbers, numbers)?,
            ];
            Tensor::cat(&parts, 0)
        })
    }

    /// The rows of `matrices`, stacked, in the order that `sort` gives them.
    fn sorted(
        &self,
        matrices: &[MatrixShape],
        sort: impl FnOnce(&Tensor) -> candle_core::Result<Tensor>,
    ) -> Result<Linear, ModelError> {
        let weights: Vec<NamedShape> = matrices.iter().map(MatrixShape::weight).collect();
        let all = self.weights.stacked(&weights, self.format.dtype(), self.device)?;
        Ok(Linear::new(sort(&all).map_err(|error| self.failed(&error))?, None))
    }
}
