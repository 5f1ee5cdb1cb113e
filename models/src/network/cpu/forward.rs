//! The forward pass on the CPU, over slices.

mod head_group;
mod latent_attention;

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use self::head_group::{Scoring, Sight, attend_group};
use crate::load::config::ModelConfig;
use crate::network::cpu::kernels;
use crate::network::cpu::slices::with_cpu_slice;
use crate::network::experts::mixture::{Mixture, Shared};
use crate::network::kv_cache::CpuCache;
use crate::network::layers::{
    Attention, FeedForward, Gated, Layer, LayerEmbeddingWeights, LayerInput, MixerWeights, Network, SeenKeys,
    ShortConvolution,
};
use crate::network::recurrent::layer as recurrent;
use crate::network::rope::{Angles, Rope, rotate, rotate_neighbours};

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
    cache.states.begin(position, count)?;
    let mut pass = CpuPass {
        config,
        position,
        count,
        angles: rope.angles(position, count),
        layer_inputs: Vec::new(),
        normed: Vec::new(),
        wide: Vec::new(),
        narrow: Vec::new(),
        added: Vec::new(),
    };
    let mut x = Vec::new();
    network.embeddings.copy_rows(tokens, &mut x)?;
    scale(&mut x, config.multipliers.embeddings);
    if let Some(embeddings) = &network.layer_embeddings {
        pass.embed_for_layers(embeddings, tokens, &x)?;
    }
    for (index, layer) in network.layers.iter().enumerate() {
        pass.mix(layer, index, cache, &mut x)?;
        pass.feed_forward(layer, &mut x)?;
        if let Some(input) = &layer.input {
            pass.add_layer_input(input, index, &mut x)?;
        }
        scale(&mut x, layer.factor);
    }
    cache.states.finish(position + count);
    let mut last = x.split_off((count - 1) * config.hidden_size);
    with_cpu_slice(&network.final_norm, |weight| {
        kernels::rms_norm(&mut last, weight, config.rms_norm_eps)
    })?;
    let mut logits = Vec::new();
    network.output.apply(&last, 1, &mut logits)?;
    scale(&mut logits, config.multipliers.logits);
    if let Some(cap) = config.soft_caps.logits {
        soft_cap(&mut logits, 1.0, cap);
    }
    Ok(logits)
}

/// State of one forward pass: angles, and buffers whose memory is reused from layer to layer.
struct CpuPass<'a> {
    config: &'a ModelConfig,
    position: usize,
    count: usize,
    /// `[count, rotary_dim / 2]`, local ones `[count, local_rotary_dim / 2]`.
    angles: Angles<Vec<f32>>,
    /// The tokens' embeddings for each layer: `[count, layers · width]`; empty where the model has none.
    layer_inputs: Vec<f32>,
    normed: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    added: Vec<f32>,
}

impl CpuPass<'_> {
    /// Adds to `x` the output of the layer's mixer: `x += mixer(norm(x))`.
    fn mix(&mut self, layer: &Layer, index: usize, cache: &mut CpuCache, x: &mut [f32]) -> Result<()> {
        if matches!(layer.mixer, MixerWeights::None) {
            return Ok(());
        }
        self.norm(layer.mixer_norms.before.as_ref(), x)?;
        match &layer.mixer {
            MixerWeights::Attention(attention) => self.attention(attention, index, cache)?,
            MixerWeights::Latent(latent) => self.latent_attention(latent, cache)?,
            MixerWeights::ShortConvolution(convolution) => self.short_convolution(convolution, index, cache)?,
            MixerWeights::Recurrent(weights) => {
                weights.input.apply(&self.normed, self.count, &mut self.wide)?;
                recurrent::apply(weights, cache.states.recurrent(index)?, &self.wide, &mut self.narrow)?;
                weights.output.apply(&self.narrow, self.count, &mut self.added)?;
            }
            MixerWeights::None => {}
        }
        self.add(layer.mixer_norms.behind.as_ref(), x)
    }

    /// The attention of `self.normed`, into `self.added`.
    fn attention(&mut self, attention: &Attention, index: usize, cache: &mut CpuCache) -> Result<()> {
        let (config, eps) = (self.config, self.config.rms_norm_eps);
        let (own, dim) = (attention.seen.layer == index, attention.seen.heads.head_dim);
        let query_width = config.heads * dim;
        let key_width = if own { attention.seen.heads.kv_heads * dim } else { 0 };
        let turn = match config.family.rotates_neighbours() {
            true => rotate_neighbours,
            false => rotate,
        };
        attention.qkv.apply(&self.normed, self.count, &mut self.wide)?;
        let gates_from = query_width + 2 * key_width;
        let row = gates_from + if attention.is_gated { query_width } else { 0 };
        for (token, row) in self.wide.chunks_exact_mut(row).enumerate() {
            let (query, rest) = row[..gates_from].split_at_mut(query_width);
            let (key, value) = rest.split_at_mut(key_width);
            let normalise = |norm: &Option<Tensor>, x: &mut [f32]| match norm {
                Some(norm) => with_cpu_slice(norm, |weight| kernels::rms_norm(x, weight, eps)),
                None => Ok(()),
            };
            normalise(&attention.query_norm, query)?;
            normalise(&attention.key_norm, key)?;
            normalise(&attention.value_norm, value)?;
            if let Some((cos, sin)) = self.angles.of(attention.positions) {
                let half = cos.len() / self.count;
                let angles = token * half..(token + 1) * half;
                for head in query.chunks_exact_mut(dim).chain(key.chunks_exact_mut(dim)) {
                    turn(&mut head[..2 * half], &cos[angles.clone()], &sin[angles.clone()]);
                }
            }
            if own {
                cache.store(index, self.position + token, key, value);
            }
        }
        self.attend(&attention.seen, row, cache)?;
        if attention.is_gated {
            let mixed = self.narrow.chunks_exact_mut(query_width);
            for (mixed, row) in mixed.zip(self.wide.chunks_exact(row)) {
                for (mixed, gate) in mixed.iter_mut().zip(&row[gates_from..]) {
                    *mixed /= 1.0 + (-gate).exp();
                }
            }
        }
        attention.output.apply(&self.narrow, self.count, &mut self.added)
    }

    /// Computes the gated convolution of `self.normed` and the tokens before it, into `self.added`.
    fn short_convolution(&mut self, convolution: &ShortConvolution, index: usize, cache: &mut CpuCache) -> Result<()> {
        let hidden = self.config.hidden_size;
        convolution.input.apply(&self.normed, self.count, &mut self.wide)?;
        self.narrow.clear();
        for row in self.wide.chunks_exact(3 * hidden) {
            let (gate, input) = (&row[..hidden], &row[2 * hidden..]);
            self.narrow
                .extend(gate.iter().zip(input).map(|(gate, input)| gate * input));
        }
        let state = cache.states.convolutions()?;
        state.store(index, self.position, &self.narrow)?;
        let inputs = state.inputs(index, self.position, self.count)?;
        let bias = &convolution.bias;
        with_cpu_slice(&convolution.taps, |taps: &[f32]| {
            for (token, out) in self.narrow.chunks_exact_mut(hidden).enumerate() {
                out.fill(0.0);
                let seen = inputs[token * hidden..].chunks_exact(hidden);
                for (input, tap) in seen.zip(taps.chunks_exact(hidden)) {
                    for (out, (input, tap)) in out.iter_mut().zip(input.iter().zip(tap)) {
                        *out += input * tap;
                    }
                }
            }
        })?;
        if let Some(bias) = bias {
            with_cpu_slice(bias, |bias| {
                let rows = self.narrow.chunks_exact_mut(hidden);
                rows.for_each(|row| add_in_place(row, bias));
            })?;
        }
        let gates = self
            .wide
            .chunks_exact(3 * hidden)
            .flat_map(|row| &row[hidden..2 * hidden]);
        for (out, gate) in self.narrow.iter_mut().zip(gates) {
            *out *= gate;
        }
        convolution.output.apply(&self.narrow, self.count, &mut self.added)
    }

    /// Copies `x` into `self.normed`, normalised where there is a norm.
    fn norm(&mut self, norm: Option<&Tensor>, x: &[f32]) -> Result<()> {
        self.normed.clear();
        self.normed.extend_from_slice(x);
        let eps = self.config.rms_norm_eps;
        match norm {
            Some(norm) => with_cpu_slice(norm, |weight| kernels::rms_norm(&mut self.normed, weight, eps)),
            None => Ok(()),
        }
    }

    /// Adds `self.added` to `x`, normalised where there is a norm.
    fn add(&mut self, norm: Option<&Tensor>, x: &mut [f32]) -> Result<()> {
        let eps = self.config.rms_norm_eps;
        if let Some(norm) = norm {
            with_cpu_slice(norm, |weight| kernels::rms_norm(&mut self.added, weight, eps))?;
        }
        scale(&mut self.added, self.config.multipliers.residuals);
        add_in_place(x, &self.added);
        Ok(())
    }

    /// Attention of all query heads in `self.wide`, rows of `row` elements, over the cache, into `self.narrow`:
    /// `[count, heads · head_dim]`.
    fn attend(&mut self, seen: &SeenKeys, row: usize, cache: &CpuCache) -> Result<()> {
        let (config, window) = (self.config, seen.window);
        let sinks = match &seen.sinks {
            Some(sinks) => with_cpu_slice(sinks, <[f32]>::to_vec)?,
            None => vec![f32::NEG_INFINITY; config.heads],
        };
        let (dim, group) = (seen.heads.head_dim, config.heads / seen.heads.kv_heads);
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
                // What none of these tokens sees is left out.
                let unseen = window.map_or(0, |window| (position + first + 1).saturating_sub(window));
                let (keys, values) = cache.head(seen.layer, kv_head, position + first + tokens);
                let (keys, values) = (&keys[unseen * dim..], &values[unseen * dim..]);
                let out = &mut out[first * width..][..tokens * width];
                let sight = Sight {
                    position: position + first - unseen,
                    window: window.unwrap_or(usize::MAX),
                };
                attend_group(
                    keys,
                    values,
                    &queries,
                    (dim, group),
                    Scoring {
                        scale: config.multipliers.scores,
                        cap: config.soft_caps.scores,
                        sinks: &sinks[kv_head * group..][..group],
                    },
                    sight,
                    out,
                );
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
        Ok(())
    }

    /// Adds the feed-forward part to `x`: `x += feed_forward(norm(x))`.
    fn feed_forward(&mut self, layer: &Layer, x: &mut [f32]) -> Result<()> {
        if matches!(layer.feed_forward, FeedForward::None) {
            return Ok(());
        }
        self.norm(layer.feed_forward_norms.before.as_ref(), x)?;
        match &layer.feed_forward {
            FeedForward::Dense(gated) => {
                let normed = std::mem::take(&mut self.normed);
                let done = self.gated(gated, &normed, self.count);
                self.normed = normed;
                done?;
            }
            FeedForward::Experts(mixture) => self.mixture(mixture, x)?,
            FeedForward::None => {}
        }
        self.add(layer.feed_forward_norms.behind.as_ref(), x)
    }

    /// Computes each layer's own embeddings of `tokens`, from the embedding table and from the tokens' vectors `x`, into
    /// `self.layer_inputs`.
    fn embed_for_layers(&mut self, embeddings: &LayerEmbeddingWeights, tokens: &[u32], x: &[f32]) -> Result<()> {
        let eps = self.config.rms_norm_eps;
        let mut rows = Vec::new();
        embeddings.table.copy_rows(tokens, &mut rows)?;
        embeddings.projection.apply(x, self.count, &mut self.layer_inputs)?;
        let hidden = self.config.hidden_size as f32;
        scale(&mut self.layer_inputs, 1.0 / hidden.sqrt());
        with_cpu_slice(&embeddings.norm, |weight| {
            kernels::rms_norm(&mut self.layer_inputs, weight, eps);
        })?;
        scale(&mut rows, (embeddings.norm.elem_count() as f32).sqrt());
        add_in_place(&mut self.layer_inputs, &rows);
        scale(&mut self.layer_inputs, std::f32::consts::FRAC_1_SQRT_2);
        Ok(())
    }

    /// Adds to `x` the vectors that the layer of that number makes from its own embeddings.
    fn add_layer_input(&mut self, input: &LayerInput, index: usize, x: &mut [f32]) -> Result<()> {
        let width = input.gate.outputs();
        input.gate.apply(x, self.count, &mut self.narrow)?;
        // Rows of gates and what they gate.
        self.wide.clear();
        let inputs = self.layer_inputs.chunks_exact(self.config.layers * width);
        for (gate, inputs) in self.narrow.chunks_exact(width).zip(inputs) {
            self.wide.extend_from_slice(gate);
            self.wide.extend_from_slice(&inputs[index * width..][..width]);
        }
        kernels::gated(&self.wide, width, self.config.activation, &mut self.narrow);
        input.projection.apply(&self.narrow, self.count, &mut self.added)?;
        let eps = self.config.rms_norm_eps;
        with_cpu_slice(&input.norm, |weight| kernels::rms_norm(&mut self.added, weight, eps))?;
        add_in_place(x, &self.added);
        Ok(())
    }

    /// One gated feed-forward part of `x`, `[count, hidden_size]`, into `self.added`.
    fn gated(&mut self, gated: &Gated, x: &[f32], count: usize) -> Result<()> {
        gated.gate_up.apply(x, count, &mut self.wide)?;
        let width = gated.gate_up.outputs() / self.config.activation.projections();
        kernels::gated(&self.wide, width, self.config.activation, &mut self.narrow);
        gated.down.apply(&self.narrow, count, &mut self.added)
    }

    /// Computes the feed-forward part with experts for `x`, whose norm is in `self.normed`: the sum of the chosen experts and the
    /// shared expert, into `self.added`.
    fn mixture(&mut self, mixture: &Mixture, x: &[f32]) -> Result<()> {
        let eps = self.config.rms_norm_eps;
        let mut shared = match &mixture.shared {
            Some(shared) => self.shared(shared)?,
            None => Vec::new(),
        };
        if let Some(beside) = &mixture.beside {
            with_cpu_slice(&beside.behind_dense, |weight| {
                kernels::rms_norm(&mut shared, weight, eps)
            })?;
            self.norm(Some(&beside.router_norm), x)?;
        }
        mixture.router.apply(&self.normed, self.count, &mut self.wide)?;
        let routes = mixture.routes(&self.wide, self.config.experts.as_ref());
        if let Some(beside) = &mixture.beside {
            self.norm(Some(&beside.before), x)?;
        }
        self.experts(&mixture.experts, &routes)?;
        if let Some(beside) = &mixture.beside {
            with_cpu_slice(&beside.behind, |weight| kernels::rms_norm(&mut self.added, weight, eps))?;
        }
        add_in_place(&mut self.added, &shared);
        Ok(())
    }

    /// Computes the shared expert for all tokens of `self.normed`.
    fn shared(&mut self, shared: &Shared) -> Result<Vec<f32>> {
        let normed = std::mem::take(&mut self.normed);
        self.gated(&shared.gated, &normed, self.count)?;
        if let Some(gate) = &shared.gate {
            gate.apply(&normed, self.count, &mut self.narrow)?;
            let rows = self.added.chunks_exact_mut(self.config.hidden_size);
            rows.zip(&self.narrow)
                .for_each(|(row, gate)| scale(row, 1.0 / (1.0 + (-gate).exp())));
        }
        self.normed = normed;
        Ok(std::mem::take(&mut self.added))
    }

    /// The shares of the experts that each token of `self.normed` is sent to, into `self.added`.
    fn experts(&mut self, experts: &[Gated], routes: &[Vec<(usize, f32)>]) -> Result<()> {
        let hidden = self.config.hidden_size;
        let mut sum = vec![0.0; self.count * hidden];
        let mut sent = Vec::new();
        for (expert, tokens) in experts.iter().zip(routes) {
            if tokens.is_empty() {
                continue;
            }
            sent.clear();
            for (token, _) in tokens {
                sent.extend_from_slice(&self.normed[token * hidden..][..hidden]);
            }
            self.gated(expert, &sent, tokens.len())?;
            for ((token, share), answer) in tokens.iter().zip(self.added.chunks_exact(hidden)) {
                for (sum, answer) in sum[token * hidden..][..hidden].iter_mut().zip(answer) {
                    *sum += share * answer;
                }
            }
        }
        self.added = sum;
        Ok(())
    }
}

/// Multiplies `x` with `factor`, which is 1 in most models.
fn scale(x: &mut [f32], factor: f32) {
    if factor != 1.0 {
        x.iter_mut().for_each(|x| *x *= factor);
    }
}

/// Keeps `scale · x` within `cap`, in place: `cap · tanh(scale · x / cap)`.
fn soft_cap(x: &mut [f32], scale: f32, cap: f32) {
    let factor = scale / cap;
    x.iter_mut().for_each(|x| *x = cap * (*x * factor).tanh());
}

/// Adds `added` to `x`, element by element.
fn add_in_place(x: &mut [f32], added: &[f32]) {
    for (x, added) in x.iter_mut().zip(added) {
        *x += added;
    }
}
