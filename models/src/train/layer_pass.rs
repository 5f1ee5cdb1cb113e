//! [`LayerPass`]: one layer over a batch of sequences, of operations that have a derivative.

use candle_core::{D, Device, Result, Tensor};

use super::causal_softmax::causal_softmax;
use super::operations::{capped, rms_norm, rotated, scaled};
use super::trainable_model::Parameters;
use crate::load::config::ModelConfig;
use crate::load::config::gemma4::Heads;
use crate::load::config::layer_kinds::{Activation, Mixer, Positions};
use crate::load::shapes::matrices::{GatedShapes, MatrixShape, NamedShape};
use crate::load::shapes::tensors::{FeedForwardShapes, MixerShapes};
use crate::network::rope::{Angles, Rope};

/// Values that all layers share in a pass over a batch, `[sequences, tokens]`. Shorter sequences are padded behind their end,
/// where none of their tokens looks.
pub(super) struct LayerPass<'a> {
    config: &'a ModelConfig,
    parameters: &'a Parameters,
    sequences: usize,
    tokens: usize,
    /// `[tokens, rotary_dim / 2]`.
    angles: Angles<Tensor>,
}

impl<'a> LayerPass<'a> {
    /// A pass over `sequences` sequences of `tokens` tokens.
    pub(super) fn new(
        (config, parameters): (&'a ModelConfig, &'a Parameters),
        rope: &Rope,
        (sequences, tokens): (usize, usize),
        device: &Device,
    ) -> Result<Self> {
        let angles = rope.angles(0, tokens);
        let tensor = |numbers: Vec<f32>| {
            let pairs = numbers.len() / tokens;
            Tensor::from_vec(numbers, (tokens, pairs), device)
        };
        let both = |(cos, sin)| Ok::<_, candle_core::Error>((tensor(cos)?, tensor(sin)?));
        Ok(Self {
            config,
            parameters,
            sequences,
            tokens,
            angles: Angles {
                whole: both(angles.whole)?,
                local: angles.local.map(both).transpose()?,
            },
        })
    }

    /// Computes the layer of that number for `x`; `x` and the result are `[sequences · tokens, hidden_size]`.
    pub(super) fn layer(&self, index: usize, x: &Tensor) -> Result<Tensor> {
        let shapes = self.config.layer(index);
        let residuals = self.config.multipliers.residuals;
        let seen = self.norm(shapes.mixer_norms.before.as_ref(), x.clone())?;
        let mixed = self.attention(index, &shapes.mixer, &seen)?;
        let mixed = self.norm(shapes.mixer_norms.behind.as_ref(), mixed)?;
        let x = (x + scaled(mixed, residuals)?)?;
        let seen = self.norm(shapes.feed_forward_norms.before.as_ref(), x.clone())?;
        let fed = match &shapes.feed_forward {
            FeedForwardShapes::Dense(gated) => self.gated(gated, &seen)?,
            FeedForwardShapes::Experts(_) => candle_core::bail!("layer {index} has experts"),
            FeedForwardShapes::None => candle_core::bail!("layer {index} has no feed-forward part"),
        };
        let fed = self.norm(shapes.feed_forward_norms.behind.as_ref(), fed)?;
        x + scaled(fed, residuals)?
    }

    /// Computes the layer's attention for the tokens of `x`.
    fn attention(&self, index: usize, shapes: &MixerShapes, x: &Tensor) -> Result<Tensor> {
        let (MixerShapes::Attention { qkv, output, norms, .. }, Mixer::Attention { window, positions }) =
            (shapes, self.config.mixers[index])
        else {
            candle_core::bail!("layer {index} has no attention");
        };
        let Heads { kv_heads, head_dim } = self.config.heads_of(index);
        let heads = self.config.heads;
        let [query, key, value] = self.parts(qkv, [heads * head_dim, kv_heads * head_dim, kv_heads * head_dim], x)?;
        let query = self.by_head(query, heads, norms.first(), positions)?;
        let key = self.by_head(key, kv_heads, norms.get(1), positions)?;
        let value = self.by_head(value, kv_heads, None, Positions::None)?;

        // The heads that share a key head are rows of one product: [sequences, kv_heads, group · tokens, head_dim].
        let grouped = (self.sequences, kv_heads, heads / kv_heads * self.tokens, head_dim);
        let query = (query.reshape(grouped)? * f64::from(self.config.multipliers.scores))?;
        let scores = query.matmul(&key.transpose(2, 3)?.contiguous()?)?;
        let scores = capped(scores, self.config.soft_caps.scores)?;
        let (sequences, tokens) = (self.sequences, self.tokens);
        let scores = scores.reshape((sequences, heads, tokens, tokens))?;
        let shares = causal_softmax(&scores, window.unwrap_or(usize::MAX))?;
        let shares = shares.reshape((sequences, kv_heads, heads / kv_heads * tokens, tokens))?;
        let mixed = shares.matmul(&value)?.reshape((sequences, heads, tokens, head_dim))?;
        let mixed = mixed.transpose(1, 2)?.contiguous()?;
        self.linear(output, &mixed.reshape((sequences * tokens, heads * head_dim))?)
    }

    /// The products of `x` with matrices that are tensors of their own or one tensor of all, as parts of the given widths.
    fn parts<const N: usize>(&self, matrices: &[MatrixShape], widths: [usize; N], x: &Tensor) -> Result<[Tensor; N]> {
        let parts: Vec<Tensor> = match matrices {
            [fused] => {
                let (all, mut start) = (self.linear(fused, x)?, 0);
                let part = |width| {
                    start += width;
                    all.narrow(D::Minus1, start - width, width)?.contiguous()
                };
                widths.into_iter().map(part).collect::<Result<_>>()?
            }
            separate => separate
                .iter()
                .map(|matrix| self.linear(matrix, x))
                .collect::<Result<_>>()?,
        };
        <[Tensor; N]>::try_from(parts)
            .map_err(|parts| candle_core::Error::Msg(format!("{} matrices in place of {N}", parts.len())).bt())
    }

    /// `x`, `[sequences · tokens, heads · head_dim]`, normalised and turned, as `[sequences, heads, tokens, head_dim]`.
    fn by_head(&self, x: Tensor, heads: usize, norm: Option<&NamedShape>, positions: Positions) -> Result<Tensor> {
        let width = x.dim(1)?;
        let x = match norm {
            // Of each head or of all together.
            Some(norm) => {
                let together = norm.1.first().copied().unwrap_or(width);
                self.norm(Some(norm), x.reshape(((), together))?)?
            }
            None => x,
        };
        let x = x.reshape((self.sequences, self.tokens, heads, width / heads))?;
        let x = x.transpose(1, 2)?.contiguous()?;
        match self.angles.of(positions) {
            Some(angles) => rotated(&x, angles, self.config.family.rotates_neighbours()),
            None => Ok(x),
        }
    }

    /// A gated feed-forward part.
    fn gated(&self, shapes: &GatedShapes, x: &Tensor) -> Result<Tensor> {
        let width = shapes.down.inputs;
        let [gate, up] = self.parts(&shapes.gate_up, [width, width], x)?;
        let gate = match self.config.activation {
            Activation::Silu => gate.silu()?,
            Activation::GeluTanh => gate.gelu()?,
            Activation::ClampedSwish { .. } | Activation::ReluSquared => {
                candle_core::bail!("a clamped swish and squares have no derivative here")
            }
        };
        self.linear(&shapes.down, &(gate * up)?)
    }

    /// The product of `x` and a matrix, with its bias.
    fn linear(&self, matrix: &MatrixShape, x: &Tensor) -> Result<Tensor> {
        let product = x.matmul(&self.parameters.get(&matrix.weight().0)?.t()?)?;
        match matrix.bias() {
            Some((bias, _)) => product.broadcast_add(self.parameters.get(&bias)?),
            None => Ok(product),
        }
    }

    /// `x`, normalised where there is a norm.
    pub(super) fn norm(&self, norm: Option<&NamedShape>, x: Tensor) -> Result<Tensor> {
        let Some((name, _)) = norm else {
            return Ok(x);
        };
        let factors = self.parameters.get(name)?.as_tensor();
        match self.config.family.norm_weights_are_offsets() {
            true => rms_norm(&x, &(factors + 1.0)?, self.config.rms_norm_eps),
            false => rms_norm(&x, factors, self.config.rms_norm_eps),
        }
    }
}
