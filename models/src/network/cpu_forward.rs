//! The forward pass on the CPU, over slices.

use candle_core::Result;
use rayon::prelude::*;

use crate::load::config::ModelConfig;
use crate::network::kernels;
use crate::network::kv_cache::CpuCache;
use crate::network::layers::{Layer, Network};
use crate::network::linear::with_cpu_slice;
use crate::network::rope::Rope;

/// Tokens whose attention scores are in memory at once.
const TOKENS_AT_ONCE: usize = 16;

/// Multiplications from which attention is shared between threads, by heads: below, waking threads takes longer.
const PARALLEL_FROM: usize = 1 << 18;

/// Runs one forward pass, which appends `tokens` at `position`; returns the logits after the last one, `[vocab_size]`.
pub(crate) fn forward(
    network: &Network,
    config: &ModelConfig,
    rope: &Rope,
    cache: &mut CpuCache,
    position: usize,
    tokens: &[u32],
) -> Result<Vec<f32>> {
    let count = tokens.len();
    cache.reserve(config, position + count);
    let (cos, sin) = rope.angles(position, count);
    let mut pass = CpuPass {
        config,
        position,
        count,
        cos,
        sin,
        normed: Vec::new(),
        wide: Vec::new(),
        narrow: Vec::new(),
        added: Vec::new(),
    };
    let mut x = Vec::new();
    network.embeddings.copy_rows(tokens, &mut x)?;
    for (index, layer) in network.layers.iter().enumerate() {
        pass.attention(layer, index, cache, &mut x)?;
        pass.feed_forward(layer, &mut x)?;
    }
    let mut last = x.split_off((count - 1) * config.hidden_size);
    with_cpu_slice(&network.final_norm, |weight| {
        kernels::rms_norm(&mut last, weight, config.rms_norm_eps)
    })?;
    let mut logits = Vec::new();
    network.output.apply(&last, 1, &mut logits)?;
    Ok(logits)
}

/// State of one forward pass: angles, and buffers whose memory is reused from layer to layer.
struct CpuPass<'a> {
    config: &'a ModelConfig,
    position: usize,
    count: usize,
    /// `[count, head_dim / 2]`.
    cos: Vec<f32>,
    /// `[count, head_dim / 2]`.
    sin: Vec<f32>,
    normed: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    added: Vec<f32>,
}

impl CpuPass<'_> {
    /// Adds the attention to `x`: `x += attention(norm(x))`.
    fn attention(&mut self, layer: &Layer, index: usize, cache: &mut CpuCache, x: &mut [f32]) -> Result<()> {
        let config = self.config;
        let (dim, eps) = (config.head_dim, config.rms_norm_eps);
        let (query_width, key_width) = (config.heads * dim, config.kv_heads * dim);
        self.normed.clear();
        self.normed.extend_from_slice(x);
        with_cpu_slice(&layer.attention_norm, |weight| {
            kernels::rms_norm(&mut self.normed, weight, eps)
        })?;
        layer.qkv.apply(&self.normed, self.count, &mut self.wide)?;
        for (token, row) in self.wide.chunks_exact_mut(query_width + 2 * key_width).enumerate() {
            let (query, rest) = row.split_at_mut(query_width);
            let (key, value) = rest.split_at_mut(key_width);
            if let Some([query_norm, key_norm]) = &layer.qk_norm {
                with_cpu_slice(query_norm, |weight| kernels::rms_norm(query, weight, eps))?;
                with_cpu_slice(key_norm, |weight| kernels::rms_norm(key, weight, eps))?;
            }
            let angles = token * dim / 2..(token + 1) * dim / 2;
            for head in query.chunks_exact_mut(dim).chain(key.chunks_exact_mut(dim)) {
                kernels::rotate(head, &self.cos[angles.clone()], &self.sin[angles.clone()]);
            }
            cache.store(index, self.position + token, key, value);
        }
        self.attend(index, cache);
        layer
            .attention_output
            .apply(&self.narrow, self.count, &mut self.added)?;
        add_in_place(x, &self.added);
        Ok(())
    }

    /// Attention of all query heads in `self.wide` over the cache, into `self.narrow`: `[count, heads · head_dim]`.
    fn attend(&mut self, index: usize, cache: &CpuCache) {
        let config = self.config;
        let (dim, group) = (config.head_dim, config.heads / config.kv_heads);
        let row = (config.heads + 2 * config.kv_heads) * dim;
        let (position, count, wide) = (self.position, self.count, &self.wide);
        // Per head group, [count, group, head_dim].
        let width = group * dim;
        let attend = |kv_head: usize, out: &mut [f32]| {
            let mut queries = Vec::new();
            for first in (0..count).step_by(TOKENS_AT_ONCE) {
                let tokens = TOKENS_AT_ONCE.min(count - first);
                queries.clear();
                for token in first..first + tokens {
                    queries.extend_from_slice(&wide[token * row + kv_head * width..][..width]);
                }
                let (keys, values) = cache.head(index, kv_head, position + first + tokens);
                let out = &mut out[first * width..][..tokens * width];
                attend_group(keys, values, &queries, (dim, group), position + first, out);
            }
        };
        let mut grouped = vec![0.0; count * config.heads * dim];
        let work = 2 * count * config.heads * dim * (position + count);
        if rayon::current_num_threads() > 1 && work >= PARALLEL_FROM {
            let groups = grouped.par_chunks_mut(count * width).enumerate();
            groups.for_each(|(kv_head, out)| attend(kv_head, out));
        } else {
            let groups = grouped.chunks_mut(count * width).enumerate();
            groups.for_each(|(kv_head, out)| attend(kv_head, out));
        }
        self.narrow.clear();
        for token in 0..count {
            for group in grouped.chunks_exact(count * width) {
                self.narrow.extend_from_slice(&group[token * width..][..width]);
            }
        }
    }

    /// Adds the feed-forward part to `x`: `x += feed_forward(norm(x))`.
    fn feed_forward(&mut self, layer: &Layer, x: &mut [f32]) -> Result<()> {
        self.normed.clear();
        self.normed.extend_from_slice(x);
        let eps = self.config.rms_norm_eps;
        with_cpu_slice(&layer.feed_forward_norm, |weight| {
            kernels::rms_norm(&mut self.normed, weight, eps)
        })?;
        layer.gate_up.apply(&self.normed, self.count, &mut self.wide)?;
        kernels::swiglu(&self.wide, self.config.intermediate_size, &mut self.narrow);
        layer.down.apply(&self.narrow, self.count, &mut self.added)?;
        add_in_place(x, &self.added);
        Ok(())
    }
}

/// Attention of the query heads that share one key head.
///
/// `keys` and `values` are `[len, dim]`, `queries` and `out` `[tokens, group, dim]`; the first token of `queries`
/// stands at `position`, the last at `len - 1`, and each sees the positions up to its own.
fn attend_group(
    keys: &[f32],
    values: &[f32],
    queries: &[f32],
    (dim, group): (usize, usize),
    position: usize,
    out: &mut [f32],
) {
    let (len, count) = (keys.len() / dim, queries.len() / dim);
    let mut scores = vec![0.0; len * count];
    let scale = 1.0 / (dim as f32).sqrt();
    let mut weigh = |query: usize, shares: &mut [f32]| {
        kernels::softmax(shares, scale);
        kernels::weighted_sum(shares, values, &mut out[query * dim..][..dim]);
    };
    let seen = |query: usize| position + query / group + 1;
    if count < 4 {
        // [len, count]: the loops are fastest with many rows.
        kernels::product_on_this_thread(keys, queries, dim, count, &mut scores);
        let mut shares = Vec::with_capacity(len);
        for query in 0..count {
            shares.clear();
            shares.extend(scores.iter().skip(query).step_by(count).take(seen(query)));
            weigh(query, &mut shares);
        }
    } else {
        // [count, len].
        kernels::product_on_this_thread(queries, keys, dim, len, &mut scores);
        for (query, scores) in scores.chunks_exact_mut(len).enumerate() {
            weigh(query, &mut scores[..seen(query)]);
        }
    }
}

/// Adds `added` to `x`, element by element.
fn add_in_place(x: &mut [f32], added: &[f32]) {
    for (x, added) in x.iter_mut().zip(added) {
        *x += added;
    }
}
