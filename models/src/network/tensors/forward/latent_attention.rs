//! Latent attention by tensor operations.

use candle_core::{D, Result, Tensor};

use crate::load::config::layer_kinds::Positions;
use crate::network::kv_cache::TensorCache;
use crate::network::layers::latent_attention::{LatentAttention, NORM_EPS};
use crate::network::tensors::forward::TensorPass;
use crate::network::tensors::norm::rms_norm;

impl TensorPass<'_> {
    /// The latent attention of `x`; it and the result are `[count, hidden_size]`.
    ///
    /// The cache keeps, for each token, the part of the key that positions rotate, then the latent vector that keys and values
    /// are made from.
    pub(super) fn latent_attention(&self, latent: &LatentAttention, cache: &TensorCache, x: &Tensor) -> Result<Tensor> {
        let (sizes, heads) = (latent.sizes, self.config.heads);
        let kept = latent.kept.forward(x)?;
        let made_from = rms_norm(
            &kept.narrow(1, 0, sizes.rank)?.contiguous()?,
            &latent.kept_norm,
            NORM_EPS,
        )?;
        let turned = self.turned(&kept.narrow(1, sizes.rank, sizes.rotary_dim)?.unsqueeze(0)?)?;
        let kept = Tensor::cat(&[&turned, &made_from.unsqueeze(0)?], D::Minus1)?;
        cache.store_both(latent.seen.layer, self.position, &kept.contiguous()?)?;

        let queries = latent.query.forward(x)?;
        let queries = match &latent.query_up {
            Some((norm, up)) => up.forward(&rms_norm(&queries.contiguous()?, norm, NORM_EPS)?)?,
            None => queries,
        };
        let queries = queries
            .reshape((self.count, heads, sizes.query_dim()))?
            .transpose(0, 1)?
            .contiguous()?;
        let plain = queries.narrow(D::Minus1, 0, sizes.plain_dim)?.contiguous()?;
        let turned = self.turned(&queries.narrow(D::Minus1, sizes.plain_dim, sizes.rotary_dim)?)?;
        let queries = Tensor::cat(&[&turned, &latent.keys.forward(&plain)?], D::Minus1)?.contiguous()?;
        let mixed = self.attend(&latent.seen, &queries, cache)?;
        let mixed = mixed
            .reshape((self.count, heads, sizes.kept_dim()))?
            .narrow(D::Minus1, sizes.rotary_dim, sizes.rank)?
            .transpose(0, 1)?
            .contiguous()?;
        let values = latent.values.forward(&mixed)?.transpose(0, 1)?.contiguous()?;
        latent
            .output
            .forward(&values.reshape((self.count, heads * sizes.value_dim))?)
    }

    /// `x`, `[heads, count, rotary_dim]`, turned by its positions.
    fn turned(&self, x: &Tensor) -> Result<Tensor> {
        match self.angles.of(Positions::Rotary) {
            Some((cos, sin)) => self.rotated(x.contiguous()?, cos, sin),
            None => Ok(x.clone()),
        }
    }
}
