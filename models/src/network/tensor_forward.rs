//! The forward pass by tensor operations, for any device candle has.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::rope as rotate;

use crate::load::config::ModelConfig;
use crate::network::kv_cache::TensorCache;
use crate::network::layers::{Layer, Network};
use crate::network::rope::Rope;

/// Runs one forward pass, which appends `tokens` at `position`; returns the logits after the last one, `[vocab_size]`, on
/// `device`, as 32-bit floats.
pub(crate) fn forward(
    network: &Network,
    config: &ModelConfig,
    rope: &Rope,
    cache: &mut TensorCache,
    (device, dtype): (&Device, DType),
    position: usize,
    tokens: &[u32],
) -> Result<Tensor> {
    let count = tokens.len();
    cache.reserve(config, dtype, device, position, position + count)?;
    let (cos, sin) = rope.angles(position, count);
    let angles = |values| Tensor::from_vec(values, (count, config.head_dim / 2), device)?.to_dtype(dtype);
    let pass = TensorPass {
        config,
        position,
        count,
        cos: angles(cos)?,
        sin: angles(sin)?,
        mask: (count > 1).then(|| causal_mask(position, count, device)).transpose()?,
    };
    let mut x = network.embeddings.rows(tokens)?;
    for (index, layer) in network.layers.iter().enumerate() {
        x = (&x + pass.attention(layer, index, cache, &x)?)?;
        x = (&x + pass.feed_forward(layer, &x)?)?;
    }
    let last = x.narrow(0, count - 1, 1)?.contiguous()?;
    let last = rms_norm(&last, &network.final_norm, config.rms_norm_eps)?;
    network.output.forward(&last)?.squeeze(0)?.to_dtype(DType::F32)
}

/// State of one forward pass that all layers share.
struct TensorPass<'a> {
    config: &'a ModelConfig,
    position: usize,
    count: usize,
    /// `[count, head_dim / 2]`.
    cos: Tensor,
    /// `[count, head_dim / 2]`.
    sin: Tensor,
    /// `[count, position + count]`: zero where a token may look, else minus infinity.
    mask: Option<Tensor>,
}

impl TensorPass<'_> {
    /// The attention part of a layer; `x` and the result are `[count, hidden_size]`.
    fn attention(&self, layer: &Layer, index: usize, cache: &TensorCache, x: &Tensor) -> Result<Tensor> {
        let config = self.config;
        let (heads, kv_heads, dim) = (config.heads, config.kv_heads, config.head_dim);
        let qkv = layer
            .qkv
            .forward(&rms_norm(x, &layer.attention_norm, config.rms_norm_eps)?)?;
        let part = |start: usize, heads: usize| {
            let part = qkv.narrow(1, start * dim, heads * dim)?;
            part.contiguous()?.reshape((self.count, heads, dim))
        };
        let (mut query, mut key) = (part(0, heads)?, part(heads, kv_heads)?);
        let value = part(heads + kv_heads, kv_heads)?;
        if let Some([query_norm, key_norm]) = &layer.qk_norm {
            query = rms_norm(&query, query_norm, config.rms_norm_eps)?;
            key = rms_norm(&key, key_norm, config.rms_norm_eps)?;
        }
        let by_head = |x: Tensor| x.transpose(0, 1)?.contiguous();
        let turned = |x: Tensor| rotate(&by_head(x)?.unsqueeze(0)?, &self.cos, &self.sin)?.squeeze(0);
        let (query, key, value) = (turned(query)?, turned(key)?, by_head(value)?);
        let [keys, values] = cache.store(index, self.position, [&key, &value])?;
        // The heads that share a key head are rows of one product: [kv_heads, group · count, head_dim].
        let rows = heads / kv_heads * self.count;
        let query = (query.reshape((kv_heads, rows, dim))? / (dim as f64).sqrt())?;
        let scores = query.matmul(&keys.t()?)?.to_dtype(DType::F32)?;
        let scores = match &self.mask {
            None => scores,
            Some(mask) => {
                let len = self.position + self.count;
                let scores = scores.reshape((heads, self.count, len))?.broadcast_add(mask)?;
                scores.reshape((kv_heads, rows, len))?
            }
        };
        let shares = softmax_last_dim(&scores)?.to_dtype(values.dtype())?;
        let mixed = shares.matmul(&values)?.reshape((heads, self.count, dim))?;
        let mixed = mixed
            .transpose(0, 1)?
            .contiguous()?
            .reshape((self.count, heads * dim))?;
        layer.attention_output.forward(&mixed)
    }

    /// The feed-forward part of a layer; `x` and the result are `[count, hidden_size]`.
    fn feed_forward(&self, layer: &Layer, x: &Tensor) -> Result<Tensor> {
        let x = rms_norm(x, &layer.feed_forward_norm, self.config.rms_norm_eps)?;
        let both = layer.gate_up.forward(&x)?;
        let width = self.config.intermediate_size;
        let gate = both.narrow(D::Minus1, 0, width)?.contiguous()?;
        let up = both.narrow(D::Minus1, width, width)?.contiguous()?;
        layer.down.forward(&(silu(&gate)? * up)?)
    }
}

/// The mask that keeps each token from seeing those after it, `[count, position + count]`.
fn causal_mask(position: usize, count: usize, device: &Device) -> Result<Tensor> {
    let len = position + count;
    let cells = (0..count).flat_map(|row| {
        (0..len).map(move |column| {
            if column <= position + row {
                0.0
            } else {
                f32::NEG_INFINITY
            }
        })
    });
    Tensor::from_vec(cells.collect::<Vec<f32>>(), (count, len), device)
}
