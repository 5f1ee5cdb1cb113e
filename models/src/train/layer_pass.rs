//! [`LayerPass`]: one layer over the rows of a batch, of operations that have a derivative. How the rows attend to each other is given.

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

/// The layers of a network, with their weights.
#[derive(Clone, Copy)]
pub(super) struct LayerPass<'a> {
    pub(super) config: &'a ModelConfig,
    pub(super) parameters: &'a Parameters,
}

/// Rows in order that belong to sequences of equal length, with the angles of their positions.
pub(super) struct Span {
    sequences: usize,
    /// Number of rows of each sequence.
    tokens: usize,
    /// `[tokens, rotary_dim / 2]`.
    angles: Angles<Tensor>,
}

impl Span {
    /// Sequences of `tokens` tokens whose positions begin at `start`.
    pub(super) fn new(rope: &Rope, sequences: usize, start: usize, tokens: usize, device: &Device) -> Result<Self> {
        let angles = rope.angles(start, tokens);
        Ok(Self {
            sequences,
            tokens,
            angles: on_device(angles, tokens, device)?,
        })
    }

    /// Sequences of one token each, at `positions`.
    pub(super) fn of_single(rope: &Rope, positions: &[usize], device: &Device) -> Result<Self> {
        let mut all = rope.angles(0, 0);
        for &position in positions {
            let Angles { whole, local } = rope.angles(position, 1);
            all.whole.0.extend(whole.0);
            all.whole.1.extend(whole.1);
            if let (Some(all), Some(local)) = (&mut all.local, local) {
                all.0.extend(local.0);
                all.1.extend(local.1);
            }
        }
        // The rows of one sequence have an angle each.
        Ok(Self {
            sequences: 1,
            tokens: positions.len(),
            angles: on_device(all, positions.len(), device)?,
        })
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.sequences * self.tokens
    }
}

/// Moves the angles of `tokens` positions to `device`.
fn on_device(angles: Angles<Vec<f32>>, tokens: usize, device: &Device) -> Result<Angles<Tensor>> {
    let tensor = |numbers: Vec<f32>| {
        let pairs = numbers.len() / tokens;
        Tensor::from_vec(numbers, (tokens, pairs), device)
    };
    let both = |(cos, sin)| Ok::<_, candle_core::Error>((tensor(cos)?, tensor(sin)?));
    Ok(Angles {
        whole: both(angles.whole)?,
        local: angles.local.map(both).transpose()?,
    })
}

/// Queries, keys and values of a layer, before norms and positions: `[rows, heads · head_dim]`, keys and values `[rows, kv_heads · head_dim]`.
pub(super) struct Projections<'a> {
    pass: LayerPass<'a>,
    /// Number of the layer.
    pub(super) layer: usize,
    /// Number of tokens that one sees, itself included.
    window: usize,
    positions: Positions,
    norms: &'a [NamedShape],
    query: Tensor,
    key: Tensor,
    value: Tensor,
}

impl Projections<'_> {
    /// The queries, keys and values of the rows of `span`, which begin with row `start`, normalised and turned:
    /// `[sequences, heads, tokens, head_dim]`, keys and values with `kv_heads`.
    pub(super) fn of_span(&self, start: usize, span: &Span) -> Result<[Tensor; 3]> {
        let heads = self.pass.config.heads;
        let kv_heads = self.pass.config.heads_of(self.layer).kv_heads;
        let (query_norm, key_norm) = (self.norms.first(), self.norms.get(1));
        let rows = |all: &Tensor| all.narrow(0, start, span.rows());
        Ok([
            self.by_head(rows(&self.query)?, heads, (query_norm, self.positions), span)?,
            self.by_head(rows(&self.key)?, kv_heads, (key_norm, self.positions), span)?,
            self.by_head(rows(&self.value)?, kv_heads, (None, Positions::None), span)?,
        ])
    }

    /// `x`, `[rows, heads · head_dim]`, normalised and turned, as `[sequences, heads, tokens, head_dim]`.
    fn by_head(
        &self,
        x: Tensor,
        heads: usize,
        (norm, positions): (Option<&NamedShape>, Positions),
        span: &Span,
    ) -> Result<Tensor> {
        let width = x.dim(1)?;
        let x = match norm {
            // Of each head or of all together.
            Some(norm) => {
                let together = norm.1.first().copied().unwrap_or(width);
                self.pass.norm(Some(norm), x.reshape(((), together))?)?
            }
            None => x,
        };
        let x = x.reshape((span.sequences, span.tokens, heads, width / heads))?;
        let x = x.transpose(1, 2)?.contiguous()?;
        match span.angles.of(positions) {
            Some(angles) => rotated(&x, angles, self.pass.config.family.rotates_neighbours()),
            None => Ok(x),
        }
    }

    /// Computes the attention of the tokens of `query`, `[sequences, heads, tokens, head_dim]`, to the keys and values of their sequences,
    /// `[sequences, kv_heads, seen, head_dim]`, the last of which are those of the tokens themselves, and to those before them that all
    /// sequences share, `[1, kv_heads, shared, head_dim]`: `[sequences · tokens, heads · head_dim]`.
    pub(super) fn attended(
        &self,
        query: &Tensor,
        [key, value]: [&Tensor; 2],
        shared: Option<&[Tensor; 2]>,
    ) -> Result<Tensor> {
        let (sequences, heads, tokens, head_dim) = query.dims4()?;
        let (kv_heads, seen) = (key.dim(1)?, key.dim(2)?);
        // The heads that share a key head are rows of one product.
        let rows = heads / kv_heads * tokens;
        let query = (query * f64::from(self.pass.config.multipliers.scores))?;
        let query = query.reshape((sequences, kv_heads, rows, head_dim))?;
        // So are those of all sequences, where they share the keys, too: from [sequences, kv_heads, rows, ..] and back.
        let together = |x: &Tensor| {
            let last = x.dim(D::Minus1)?;
            x.transpose(0, 1)?
                .contiguous()?
                .reshape((kv_heads, sequences * rows, last))
        };
        let apart = |x: Tensor| {
            let last = x.dim(D::Minus1)?;
            x.reshape((kv_heads, sequences, rows, last))?
                .transpose(0, 1)?
                .contiguous()
        };
        let mut scores = query.matmul(&key.t()?)?;
        if let Some([keys, _]) = shared {
            let earlier = apart(together(&query)?.matmul(&keys.squeeze(0)?.t()?)?)?;
            scores = Tensor::cat(&[&earlier, &scores], D::Minus1)?;
        }
        let scores = capped(scores, self.pass.config.soft_caps.scores)?;
        let all = scores.dim(D::Minus1)?;
        let shares = causal_softmax(&scores.reshape((sequences, heads, tokens, all))?, self.window)?;
        let shares = shares.reshape((sequences, kv_heads, rows, all))?;
        let mut mixed = shares.narrow(3, all - seen, seen)?.contiguous()?.matmul(value)?;
        if let Some([_, values]) = shared {
            let earlier = together(&shares.narrow(3, 0, all - seen)?)?.matmul(&values.squeeze(0)?)?;
            mixed = (mixed + apart(earlier)?)?;
        }
        let mixed = mixed.reshape((sequences, heads, tokens, head_dim))?;
        let mixed = mixed.transpose(1, 2)?.contiguous()?;
        mixed.reshape((sequences * tokens, heads * head_dim))
    }
}

/// Computes what the rows of a layer find by attention, `[rows, heads · head_dim]`.
pub(super) type Attend<'f> = dyn FnMut(&Projections<'_>) -> Result<Tensor> + 'f;

impl LayerPass<'_> {
    /// Computes the layer of that number for `x`; `x` and the result are `[rows, hidden_size]`.
    pub(super) fn layer(&self, index: usize, x: &Tensor, attend: &mut Attend<'_>) -> Result<Tensor> {
        let shapes = self.config.layer(index);
        let residuals = self.config.multipliers.residuals;
        let seen = self.norm(shapes.mixer_norms.before.as_ref(), x.clone())?;
        let mixed = self.attention((index, &shapes.mixer), &seen, attend)?;
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

    /// Computes the layer's attention for the rows of `x`.
    fn attention(&self, (layer, shapes): (usize, &MixerShapes), x: &Tensor, attend: &mut Attend<'_>) -> Result<Tensor> {
        let (MixerShapes::Attention { qkv, output, norms, .. }, Mixer::Attention { window, positions }) =
            (shapes, self.config.mixers[layer])
        else {
            candle_core::bail!("layer {layer} has no attention");
        };
        let Heads { kv_heads, head_dim } = self.config.heads_of(layer);
        let widths = [self.config.heads, kv_heads, kv_heads].map(|heads| heads * head_dim);
        let [query, key, value] = self.parts(qkv, widths, x)?;
        let mixed = attend(&Projections {
            pass: *self,
            layer,
            window: window.unwrap_or(usize::MAX),
            positions,
            norms,
            query,
            key,
            value,
        })?;
        self.linear(output, &mixed)
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
