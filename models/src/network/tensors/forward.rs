//! The forward pass by tensor operations, for any device candle has.

mod latent_attention;

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops::{sigmoid, silu, softmax_last_dim};
use candle_nn::rotary_emb::{rope as rotate, rope_i as rotate_neighbours};

use crate::load::config::ModelConfig;
use crate::load::config::layer_kinds::{Activation, Mixer};
use crate::network::experts::mixture::Mixture;
use crate::network::kv_cache::TensorCache;
use crate::network::layers::{
    Attention, FeedForward, Gated, Layer, LayerEmbeddingWeights, LayerInput, MixerWeights, Network, SeenKeys,
    ShortConvolution,
};
use crate::network::matrices::linear::Linear;
use crate::network::recurrent::layer as recurrent;
use crate::network::rope::{Angles, Rope};
use crate::network::tensors::norm::rms_norm;

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
    cache.states.begin(position, count)?;
    let angles = rope.angles(position, count);
    let angle = |values: Vec<f32>| {
        let pairs = values.len() / count;
        Tensor::from_vec(values, (count, pairs), device)?.to_dtype(dtype)
    };
    let pass = TensorPass {
        config,
        position,
        count,
        angles: Angles {
            whole: (angle(angles.whole.0)?, angle(angles.whole.1)?),
            local: match angles.local {
                Some((cos, sin)) => Some((angle(cos)?, angle(sin)?)),
                None => None,
            },
        },
        masks: Masks::new(config, position, count, device)?,
    };
    let multipliers = &config.multipliers;
    let mut x = scaled(network.embeddings.rows(tokens)?, multipliers.embeddings)?;
    let layer_inputs = match &network.layer_embeddings {
        Some(embeddings) => Some(pass.embed_for_layers(embeddings, tokens, &x)?),
        None => None,
    };
    for (index, layer) in network.layers.iter().enumerate() {
        let mixed = pass.mix(layer, index, cache, &x)?;
        x = (&x + scaled(mixed, multipliers.residuals)?)?;
        let fed = pass.feed_forward(layer, &x)?;
        x = (&x + scaled(fed, multipliers.residuals)?)?;
        if let (Some(input), Some(inputs)) = (&layer.input, &layer_inputs) {
            x = (&x + pass.layer_input(input, &inputs.narrow(1, index, 1)?, &x)?)?;
        }
        x = scaled(x, layer.factor)?;
    }
    cache.states.finish(position + count);
    let last = x.narrow(0, count - 1, 1)?.contiguous()?;
    let last = rms_norm(&last, &network.final_norm, config.rms_norm_eps)?;
    let logits = network.output.forward(&last)?.squeeze(0)?.to_dtype(DType::F32)?;
    capped(scaled(logits, multipliers.logits)?, config.soft_caps.logits)
}

/// `x` times `factor`, which is 1 in most models.
fn scaled(x: Tensor, factor: f32) -> Result<Tensor> {
    match factor == 1.0 {
        true => Ok(x),
        false => x * f64::from(factor),
    }
}

/// `x`, kept within `cap` where there is one.
fn capped(x: Tensor, cap: Option<f32>) -> Result<Tensor> {
    match cap.map(f64::from) {
        Some(cap) => (x / cap)?.tanh()? * cap,
        None => Ok(x),
    }
}

/// The masks of a forward pass, `[count, position + count]`: zero where a token may look, else minus infinity.
struct Masks {
    /// Mask for attention to all tokens before.
    causal: Option<Tensor>,
    /// Mask for attention in a window; a model has windows of one length only.
    windowed: Option<Tensor>,
}

impl Masks {
    fn new(config: &ModelConfig, position: usize, count: usize, device: &Device) -> Result<Self> {
        let window = config.mixers.iter().find_map(|mixer| match mixer {
            Mixer::Attention { window, .. } => *window,
            _ => None,
        });
        let windowed = window.filter(|window| position + count > *window);
        Ok(Self {
            causal: (count > 1)
                .then(|| mask(position, count, usize::MAX, device))
                .transpose()?,
            windowed: windowed
                .map(|window| mask(position, count, window, device))
                .transpose()?,
        })
    }

    /// The mask of a layer, where one is needed.
    fn of(&self, window: Option<usize>) -> Option<&Tensor> {
        match window {
            Some(_) => self.windowed.as_ref().or(self.causal.as_ref()),
            None => self.causal.as_ref(),
        }
    }
}

/// State of one forward pass that all layers share.
struct TensorPass<'a> {
    config: &'a ModelConfig,
    position: usize,
    count: usize,
    /// `[count, rotary_dim / 2]`, local ones `[count, local_rotary_dim / 2]`.
    angles: Angles<Tensor>,
    masks: Masks,
}

impl TensorPass<'_> {
    /// Computes a layer's mixer for the tokens of `x`, with its norms; `x` and the result are `[count, hidden_size]`.
    fn mix(&self, layer: &Layer, index: usize, cache: &mut TensorCache, x: &Tensor) -> Result<Tensor> {
        let x = self.norm(layer.mixer_norms.before.as_ref(), x.clone())?;
        let mixed = match &layer.mixer {
            MixerWeights::None => return x.zeros_like(),
            MixerWeights::Attention(attention) => self.attention(attention, index, cache, &x)?,
            MixerWeights::Latent(latent) => self.latent_attention(latent, cache, &x)?,
            MixerWeights::ShortConvolution(convolution) => self.short_convolution(convolution, index, cache, &x)?,
            MixerWeights::Recurrent(weights) => {
                let state = cache.states.recurrent(index)?;
                let gated = recurrent::apply_tensors(weights, state, &weights.input.forward(&x)?)?;
                weights.output.forward(&gated)?
            }
        };
        self.norm(layer.mixer_norms.behind.as_ref(), mixed)
    }

    /// The attention of `x`; it and the result are `[count, hidden_size]`.
    fn attention(&self, attention: &Attention, index: usize, cache: &TensorCache, x: &Tensor) -> Result<Tensor> {
        let config = self.config;
        let (heads, kv_heads, dim) = (
            config.heads,
            attention.seen.heads.kv_heads,
            attention.seen.heads.head_dim,
        );
        let qkv = attention.qkv.forward(x)?;
        let part = |start: usize, heads: usize, norm: &Option<Tensor>| {
            let part = qkv.narrow(1, start * dim, heads * dim)?.contiguous()?;
            let part = match norm {
                Some(norm) => {
                    let together = norm.elem_count();
                    let rows = part.reshape((self.count * heads * dim / together, together))?;
                    rms_norm(&rows, norm, config.rms_norm_eps)?
                }
                None => part,
            };
            part.reshape((self.count, heads, dim))
        };
        let by_head = |x: Tensor| x.transpose(0, 1)?.contiguous();
        let turned = |x: Tensor| match self.angles.of(attention.positions) {
            Some((cos, sin)) => self.rotated(by_head(x)?, cos, sin),
            None => by_head(x),
        };
        let query = turned(part(0, heads, &attention.query_norm)?)?;
        if attention.seen.layer == index {
            let key = turned(part(heads, kv_heads, &attention.key_norm)?)?;
            let value = by_head(part(heads + kv_heads, kv_heads, &attention.value_norm)?)?;
            cache.store(index, self.position, [&key, &value])?;
        }
        let mixed = self.attend(&attention.seen, &query, cache)?;
        let mixed = match attention.is_gated {
            true => (mixed * sigmoid(&qkv.narrow(1, (heads + 2 * kv_heads) * dim, heads * dim)?.contiguous()?)?)?,
            false => mixed,
        };
        attention.output.forward(&mixed)
    }

    /// Computes attention: for each query, `[heads, count, head_dim]`, the sum of the values that it sees, weighted by its
    /// shares; returns `[count, heads · head_dim]`.
    fn attend(&self, seen: &SeenKeys, query: &Tensor, cache: &TensorCache) -> Result<Tensor> {
        let config = self.config;
        let (heads, kv_heads, dim) = (config.heads, seen.heads.kv_heads, seen.heads.head_dim);
        let [keys, values] = cache.first(seen.layer, self.position + self.count)?;
        // The heads that share a key head are rows of one product: [kv_heads, group · count, head_dim].
        let rows = heads / kv_heads * self.count;
        let query = (query.reshape((kv_heads, rows, dim))? * f64::from(config.multipliers.scores))?;
        let scores = query.matmul(&keys.t()?)?.to_dtype(DType::F32)?;
        let scores = capped(scores, config.soft_caps.scores)?;
        let scores = match self.masks.of(seen.window) {
            None => scores,
            Some(mask) => {
                let len = self.position + self.count;
                let scores = scores.reshape((heads, self.count, len))?.broadcast_add(mask)?;
                scores.reshape((kv_heads, rows, len))?
            }
        };
        let shares = self.shares(&scores, seen)?.to_dtype(values.dtype())?;
        let mixed = shares.matmul(&values)?.reshape((heads, self.count, dim))?;
        mixed.transpose(0, 1)?.contiguous()?.reshape((self.count, heads * dim))
    }

    /// The shares that scores give, `[kv_heads, group · count, len]` both.
    fn shares(&self, scores: &Tensor, seen: &SeenKeys) -> Result<Tensor> {
        let Some(sinks) = &seen.sinks else {
            return softmax_last_dim(scores);
        };
        let (kv_heads, rows, len) = scores.dims3()?;
        let sinks = sinks.reshape((kv_heads, rows / self.count, 1))?;
        let sinks = sinks
            .broadcast_as((kv_heads, rows / self.count, self.count))?
            .reshape((kv_heads, rows, 1))?;
        let shares = softmax_last_dim(&Tensor::cat(&[scores, &sinks], D::Minus1)?)?;
        shares.narrow(D::Minus1, 0, len)?.contiguous()
    }

    /// `x`, `[heads, count, head_dim]`, turned by its positions.
    fn rotated(&self, x: Tensor, cos: &Tensor, sin: &Tensor) -> Result<Tensor> {
        let (dim, turned) = (x.dim(D::Minus1)?, 2 * cos.dim(1)?);
        let first = x.narrow(D::Minus1, 0, turned)?.contiguous()?.unsqueeze(0)?;
        let first = match self.config.family.rotates_neighbours() {
            true => rotate_neighbours(&first, cos, sin)?,
            false => rotate(&first, cos, sin)?,
        };
        let first = first.squeeze(0)?;
        match turned == dim {
            true => Ok(first),
            false => Tensor::cat(&[&first, &x.narrow(D::Minus1, turned, dim - turned)?], D::Minus1)?.contiguous(),
        }
    }

    /// Computes the gated convolution of `x` and the tokens before it; `x` and the result are `[count, hidden_size]`.
    fn short_convolution(
        &self,
        convolution: &ShortConvolution,
        index: usize,
        cache: &mut TensorCache,
        x: &Tensor,
    ) -> Result<Tensor> {
        let hidden = self.config.hidden_size;
        let state = cache.states.convolutions()?;
        let three = convolution.input.forward(x)?;
        let part = |number: usize| three.narrow(1, number * hidden, hidden);
        let inputs = (part(0)? * part(2)?)?;
        state.store_tensor(index, self.position, &inputs)?;
        let inputs = state.inputs_tensor(index, self.position, self.count)?;
        let mut sum = x.zeros_like()?;
        for tap in 0..convolution.taps.dim(0)? {
            let seen = inputs.narrow(0, tap, self.count)?;
            sum = (sum + seen.broadcast_mul(&convolution.taps.narrow(0, tap, 1)?)?)?;
        }
        if let Some(bias) = &convolution.bias {
            sum = sum.broadcast_add(bias)?;
        }
        convolution.output.forward(&(sum * part(1)?)?)
    }

    /// The feed-forward part of a layer; `x` and the result are `[count, hidden_size]`.
    fn feed_forward(&self, layer: &Layer, x: &Tensor) -> Result<Tensor> {
        let normed = self.norm(layer.feed_forward_norms.before.as_ref(), x.clone())?;
        let fed = match &layer.feed_forward {
            FeedForward::None => return x.zeros_like(),
            FeedForward::Dense(gated) => self.gated(gated, &normed)?,
            FeedForward::Experts(mixture) => self.mixture(mixture, x, &normed)?,
        };
        self.norm(layer.feed_forward_norms.behind.as_ref(), fed)
    }

    /// Computes the feed-forward part with experts for `x`, whose norm is `normed`: the sum of the chosen experts and the shared
    /// expert. All are `[count, hidden_size]`.
    fn mixture(&self, mixture: &Mixture, x: &Tensor, normed: &Tensor) -> Result<Tensor> {
        let shared = match &mixture.shared {
            Some(shared) => {
                let passed = self.gated(&shared.gated, normed)?;
                match &shared.gate {
                    Some(gate) => passed.broadcast_mul(&sigmoid(&gate.forward(normed)?)?)?,
                    None => passed,
                }
            }
            None => normed.zeros_like()?,
        };
        let Some(beside) = &mixture.beside else {
            let logits = router_logits(&mixture.router, normed)?;
            return self.experts(mixture, &logits, normed, shared);
        };
        let shared = self.norm(Some(&beside.behind_dense), shared)?;
        let logits = router_logits(&mixture.router, &self.norm(Some(&beside.router_norm), x.clone())?)?;
        let seen = self.norm(Some(&beside.before), x.clone())?;
        let given = self.experts(mixture, &logits, &seen, seen.zeros_like()?)?;
        shared + self.norm(Some(&beside.behind), given)?
    }

    /// `sum` and the shares of the experts that each token of `x` is sent to by the router's `logits`, `[count, experts]`.
    fn experts(&self, mixture: &Mixture, logits: &Tensor, x: &Tensor, mut sum: Tensor) -> Result<Tensor> {
        let logits = logits.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
        let routes = mixture.routes(&logits, self.config.experts.as_ref());
        let sent = mixture.experts.iter().zip(routes);
        for (expert, tokens) in sent.filter(|(_, tokens)| !tokens.is_empty()) {
            let (tokens, shares): (Vec<u32>, Vec<f32>) =
                tokens.into_iter().map(|(token, share)| (token as u32, share)).unzip();
            let shares = Tensor::from_vec(shares, (tokens.len(), 1), x.device())?.to_dtype(x.dtype())?;
            let tokens = Tensor::new(tokens, x.device())?;
            let answers = self.gated(expert, &x.index_select(&tokens, 0)?)?;
            sum = sum.index_add(&tokens, &answers.broadcast_mul(&shares)?, 0)?;
        }
        Ok(sum)
    }

    /// Computes each layer's own embeddings of `tokens`, from the embedding table and from the tokens' vectors `x`: `[count,
    /// layers, width]`.
    fn embed_for_layers(&self, embeddings: &LayerEmbeddingWeights, tokens: &[u32], x: &Tensor) -> Result<Tensor> {
        let (layers, width) = (self.config.layers, embeddings.norm.elem_count());
        let hidden = self.config.hidden_size as f32;
        let projected = scaled(embeddings.projection.forward(x)?, 1.0 / hidden.sqrt())?;
        let projected = projected.reshape((self.count * layers, width))?;
        let projected = rms_norm(&projected.contiguous()?, &embeddings.norm, self.config.rms_norm_eps)?;
        let rows = scaled(embeddings.table.rows(tokens)?, (width as f32).sqrt())?;
        let both = (rows.reshape((self.count * layers, width))? + projected)?;
        (both * std::f64::consts::FRAC_1_SQRT_2)?.reshape((self.count, layers, width))
    }

    /// Computes the vectors that a layer adds to `x`, `[count, hidden_size]`, from the layer's own embeddings `inputs`, `[count,
    /// 1, width]`.
    fn layer_input(&self, input: &LayerInput, inputs: &Tensor, x: &Tensor) -> Result<Tensor> {
        let gate = input.gate.forward(x)?;
        let inputs = inputs.squeeze(1)?.contiguous()?;
        let given = input.projection.forward(&self.activated(&gate, inputs)?)?;
        rms_norm(&given.contiguous()?, &input.norm, self.config.rms_norm_eps)
    }

    /// One gated feed-forward part of `x`, `[tokens, hidden_size]`.
    fn gated(&self, gated: &Gated, x: &Tensor) -> Result<Tensor> {
        let both = gated.gate_up.forward(x)?;
        if self.config.activation == Activation::ReluSquared {
            return gated.down.forward(&both.relu()?.sqr()?);
        }
        let width = gated.gate_up.outputs() / 2;
        let gate = both.narrow(D::Minus1, 0, width)?.contiguous()?;
        let up = both.narrow(D::Minus1, width, width)?.contiguous()?;
        gated.down.forward(&self.activated(&gate, up)?)
    }

    /// Returns `up` gated by the activation of `gate`; both are `[tokens, width]`.
    fn activated(&self, gate: &Tensor, up: Tensor) -> Result<Tensor> {
        match self.config.activation {
            Activation::ReluSquared => gate.relu()?.sqr(),
            Activation::Silu => silu(gate)? * up,
            // Candle's GELU on a GPU rounds each of its steps to the format of its argument.
            Activation::GeluTanh => gate.to_dtype(DType::F32)?.gelu()?.to_dtype(gate.dtype())? * up,
            Activation::ClampedSwish { steepness, limit } => {
                let limit = f64::from(limit);
                let gate = gate.minimum(limit)?;
                let swish = (&gate * sigmoid(&(&gate * f64::from(steepness))?)?)?;
                swish * (up.clamp(-limit, limit)? + 1.0)?
            }
        }
    }

    /// `x`, normalised where there is a norm.
    fn norm(&self, norm: Option<&Tensor>, x: Tensor) -> Result<Tensor> {
        match norm {
            Some(norm) => rms_norm(&x.contiguous()?, norm, self.config.rms_norm_eps),
            None => Ok(x),
        }
    }
}

/// The logits by which tokens are sent to experts; those of a router that is not quantised are in the format of its weights.
fn router_logits(router: &Linear, x: &Tensor) -> Result<Tensor> {
    match router.weight() {
        Ok(weight) => router.forward(&x.to_dtype(weight.dtype())?),
        Err(_) => router.forward(x),
    }
}

/// The mask that keeps each token from seeing those after it and those before its window, `[count, position + count]`.
pub(crate) fn mask(position: usize, count: usize, window: usize, device: &Device) -> Result<Tensor> {
    let len = position + count;
    let cells = (0..count).flat_map(|row| {
        let end = position + row + 1;
        (0..len).map(
            move |column| match (end.saturating_sub(window)..end).contains(&column) {
                true => 0.0,
                false => f32::NEG_INFINITY,
            },
        )
    });
    Tensor::from_vec(cells.collect::<Vec<f32>>(), (count, len), device)
}
