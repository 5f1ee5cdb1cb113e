//! Latent attention on the CPU.

use candle_core::Result;

use crate::load::config::layer_kinds::Positions;
use crate::network::cpu::forward::CpuPass;
use crate::network::cpu::kernels;
use crate::network::cpu::slices::with_cpu_slice;
use crate::network::kv_cache::CpuCache;
use crate::network::layers::latent_attention::{Columns, LatentAttention, NORM_EPS};
use crate::network::rope::rotate_neighbours;

impl CpuPass<'_> {
    /// The latent attention of `self.normed`, into `self.added`.
    ///
    /// The cache keeps, for each token, the part of the key that positions rotate, then the latent vector that keys and values
    /// are made from.
    pub(super) fn latent_attention(&mut self, latent: &LatentAttention, cache: &mut CpuCache) -> Result<()> {
        let (sizes, heads) = (latent.sizes, self.config.heads);
        latent.kept.apply(&self.normed, self.count, &mut self.wide)?;
        for (token, row) in self.wide.chunks_exact(sizes.kept_dim()).enumerate() {
            let (made_from, turned) = row.split_at(sizes.rank);
            let mut kept = [turned, made_from].concat();
            let (turned, made_from) = kept.split_at_mut(sizes.rotary_dim);
            self.turn(turned, token);
            with_cpu_slice(&latent.kept_norm, |weight| {
                kernels::rms_norm(made_from, weight, NORM_EPS)
            })?;
            cache.store(latent.seen.layer, self.position + token, &kept, &[]);
        }
        latent.query.apply(&self.normed, self.count, &mut self.wide)?;
        if let Some((norm, up)) = &latent.query_up {
            with_cpu_slice(norm, |weight| kernels::rms_norm(&mut self.wide, weight, NORM_EPS))?;
            up.apply(&self.wide, self.count, &mut self.narrow)?;
            std::mem::swap(&mut self.wide, &mut self.narrow);
        }

        // Queries as they are compared with what is kept: [count, heads, kept_dim].
        let (query_row, row) = (heads * sizes.query_dim(), heads * sizes.kept_dim());
        let mut queries = vec![0.0; self.count * row];
        let rows = self.wide.chunks_exact(query_row).zip(queries.chunks_exact_mut(row));
        for (token, (own, query)) in rows.enumerate() {
            let of_heads = own
                .chunks_exact(sizes.query_dim())
                .zip(query.chunks_exact_mut(sizes.kept_dim()));
            for (own, query) in of_heads {
                let turned = &mut query[..sizes.rotary_dim];
                turned.copy_from_slice(&own[sizes.plain_dim..]);
                self.turn(turned, token);
            }
        }
        let plain = Columns {
            row: query_row,
            start: 0,
            stride: sizes.query_dim(),
            width: sizes.plain_dim,
        };
        // The part of each head behind the one that positions turn.
        let made_from = Columns {
            row,
            start: sizes.rotary_dim,
            stride: sizes.kept_dim(),
            width: sizes.rank,
        };
        latent.keys.apply((&self.wide, plain), (&mut queries, made_from))?;
        self.wide = queries;
        self.attend(&latent.seen, row, cache)?;

        let values = Columns {
            row: heads * sizes.value_dim,
            start: 0,
            stride: sizes.value_dim,
            width: sizes.value_dim,
        };
        self.wide.resize(self.count * values.row, 0.0);
        latent
            .values
            .apply((&self.narrow, made_from), (&mut self.wide, values))?;
        latent.output.apply(&self.wide, self.count, &mut self.added)
    }

    /// Turns a vector by the position of the token of that number.
    fn turn(&self, vector: &mut [f32], token: usize) {
        if let Some((cos, sin)) = self.angles.of(Positions::Rotary) {
            let half = vector.len() / 2;
            rotate_neighbours(vector, &cos[token * half..][..half], &sin[token * half..][..half]);
        }
    }
}
