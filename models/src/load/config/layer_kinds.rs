//! The parts of layers and their fields in config.json: [`Mixer`], [`Multipliers`], [`SoftCaps`], [`Activation`].

use crate::error::ModelError;
use crate::load::config::defaults::Defaults;
use crate::load::config::family::Family;
use crate::load::config::single_parts::{Part, parts};
use crate::load::json_fields::JsonFields;

/// The most taps of a short convolution.
const MAX_TAPS: usize = 64;
/// The longest sequence, in tokens.
pub(crate) const MAX_POSITIONS: usize = 1 << 26;
/// The longest sliding window, in tokens.
const MAX_WINDOW: usize = MAX_POSITIONS;
/// Widest feed-forward part.
pub(crate) const MAX_WIDTH: usize = 1 << 20;

/// The part of a layer in which tokens see each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mixer {
    /// Attention.
    Attention {
        /// Sliding window: number of tokens that a token sees, itself included; `None` where it sees all tokens before it.
        window: Option<usize>,
        /// The rotary positions of queries and keys.
        positions: Positions,
    },
    /// A gated convolution over the token and the few before it.
    ShortConvolution,
    /// A layer that keeps matrices, which every token changes, instead of keys and values of all tokens.
    Recurrent,
    /// Tokens do not see each other in this layer, which is a feed-forward part alone.
    None,
}

/// The rotary positions of an attention layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Positions {
    /// Rotary positions with the model's `rope_theta` and scaling.
    Rotary,
    /// Rotary positions with a base of their own, without scaling.
    LocalRotary,
    /// No positions.
    None,
}

/// Factors that a network has beside its weights; all are 1 in Llama, and the scores' is `1 / sqrt(head_dim)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multipliers {
    /// Factor of the embeddings.
    pub embeddings: f32,
    /// Factor of the attention scores.
    pub scores: f32,
    /// Factor of the vectors that attention and feed-forward part add.
    pub residuals: f32,
    /// Factor of the logits.
    pub logits: f32,
}

/// Bounds that numbers approach and do not pass: with a cap, `x` becomes `cap · tanh(x / cap)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftCaps {
    /// The cap of attention scores, after their factor.
    pub scores: Option<f32>,
    /// The cap of logits, after their factor.
    pub logits: Option<f32>,
}

/// The function that gates feed-forward parts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Activation {
    /// `x · sigmoid(x)`.
    Silu,
    /// The Gaussian error linear unit, by its approximation with the hyperbolic tangent.
    GeluTanh,
    /// `max(0, x)²` of one projection, without a gate.
    ReluSquared,
    /// `x · sigmoid(steepness · x)` of a gate that is at most `limit`; the gated numbers are clamped from `-limit` to `limit`,
    /// and one is added to them.
    ClampedSwish {
        /// The factor within the sigmoid.
        steepness: f32,
        /// The largest gate.
        limit: f32,
    },
}

impl Activation {
    /// Number of projections of a token's vector that a feed-forward part has: two where one gates the other.
    pub(crate) fn projections(self) -> usize {
        if self == Self::ReluSquared { 1 } else { 2 }
    }

    /// The activation that config.json names.
    pub(crate) fn read(fields: &JsonFields<'_>, family: Family) -> Result<Self, ModelError> {
        if family == Family::GptOss {
            return Ok(Self::ClampedSwish {
                steepness: fields.number("swiglu_alpha", 0.0, 1e9)?.unwrap_or(1.702) as f32,
                limit: fields.number("swiglu_limit", 0.0, 1e9)?.unwrap_or(7.0) as f32,
            });
        }
        if family == Family::NemotronH {
            for (field, known) in [("mlp_hidden_act", "relu2"), ("mamba_hidden_act", "silu")] {
                if let Some(other) = fields.text(field)?.filter(|name| *name != known) {
                    return Err(fields.unsupported(format!("{field} {other:?}"), format!("supported: {known}")));
                }
            }
            return Ok(Self::ReluSquared);
        }
        let (field, default) = match family {
            Family::Gemma2 | Family::Gemma3 | Family::Gemma4 => ("hidden_activation", "gelu_pytorch_tanh"),
            _ => ("hidden_act", "silu"),
        };
        // It stands behind the convolutions of recurrent layers, too.
        let silu_only = family.has_delta_nets() || family == Family::GraniteHybrid;
        match fields.text(field)?.unwrap_or(default) {
            "silu" | "swish" => Ok(Self::Silu),
            "gelu_pytorch_tanh" if !silu_only => Ok(Self::GeluTanh),
            name => {
                let hint = if silu_only {
                    "supported: silu"
                } else {
                    "supported: silu, gelu_pytorch_tanh"
                };
                Err(fields.unsupported(format!("{field} {name:?}"), hint))
            }
        }
    }
}

impl Multipliers {
    /// The factors of a family, read from config.json where they are written there.
    pub(crate) fn read(
        fields: &JsonFields<'_>,
        family: Family,
        (hidden_size, head_dim): (usize, usize),
    ) -> Result<Self, ModelError> {
        let mut multipliers = Self {
            embeddings: 1.0,
            scores: 1.0 / (head_dim as f32).sqrt(),
            residuals: 1.0,
            logits: 1.0,
        };
        let number = |field: &str| {
            let number = fields.number(field, 0.0, 1e9)?;
            Ok::<f32, ModelError>(number.unwrap_or(1.0) as f32)
        };
        match family {
            Family::Granite | Family::GraniteHybrid => {
                multipliers = Self {
                    embeddings: number("embedding_multiplier")?,
                    scores: number("attention_multiplier")?,
                    residuals: number("residual_multiplier")?,
                    logits: 1.0 / number("logits_scaling")?,
                }
            }
            Family::Gemma3 => {
                for field in ["final_logit_softcapping", "attn_logit_softcapping"] {
                    if fields.get(field).is_some() {
                        return Err(fields.unsupported(field, "logits and scores as they are"));
                    }
                }
                Self::of_gemma(&mut multipliers, fields, hidden_size)?;
            }
            Family::Gemma4 => {
                multipliers.embeddings = (hidden_size as f32).sqrt();
                multipliers.scores = 1.0;
            }
            Family::Gemma2 => Self::of_gemma(&mut multipliers, fields, hidden_size)?,
            _ => {}
        }
        Ok(multipliers)
    }

    /// Sets the factors that Gemma's embeddings and scores have.
    fn of_gemma(&mut self, fields: &JsonFields<'_>, hidden_size: usize) -> Result<(), ModelError> {
        self.embeddings = (hidden_size as f32).sqrt();
        let scalar = fields.number("query_pre_attn_scalar", 0.0, 1e9)?.unwrap_or(256.0);
        self.scores = 1.0 / (scalar as f32).sqrt();
        Ok(())
    }
}

impl SoftCaps {
    /// The caps that config.json has for models of a family that knows them.
    pub(crate) fn read(fields: &JsonFields<'_>, family: Family) -> Result<Self, ModelError> {
        let cap = |field: &str| Ok::<_, ModelError>(fields.number(field, 0.0, 1e9)?.map(|cap| cap as f32));
        let absent = |field: &str, default: f32| fields.is_absent(field).then_some(default);
        Ok(match family {
            Family::Gemma2 => Self {
                scores: cap("attn_logit_softcapping")?.or(absent("attn_logit_softcapping", 50.0)),
                logits: cap("final_logit_softcapping")?.or(absent("final_logit_softcapping", 30.0)),
            },
            Family::Gemma4 => Self {
                scores: None,
                logits: cap("final_logit_softcapping")?,
            },
            _ => Self::default(),
        })
    }
}

/// The mixers of all `layers` layers; a window as long as `max_positions` is none.
pub(crate) fn mixers(
    fields: &JsonFields<'_>,
    family: Family,
    layers: usize,
    max_positions: usize,
) -> Result<Vec<Mixer>, ModelError> {
    let in_use = match family {
        Family::Mistral
        | Family::Mixtral
        | Family::Phi3
        | Family::Gemma2
        | Family::Gemma3
        | Family::Gemma4
        | Family::GptOss
        | Family::Olmo3 => true,
        Family::Qwen2 | Family::Qwen3 | Family::Qwen3Moe | Family::SmolLm3 => {
            fields.flag("use_sliding_window", false)?
        }
        _ => false,
    };
    let written = fields.size("sliding_window", MAX_WINDOW)?;
    let default = Defaults::of(family)
        .window
        .filter(|_| fields.is_absent("sliding_window"));
    let window = match written.or(default) {
        Some(window) if in_use => Some(window).filter(|window| *window < max_positions),
        _ => None,
    };
    let kinds = layer_kinds(fields, family, layers)?;
    let rotated = fields.whole_numbers("no_rope_layers")?;
    let interval = fields.size_or("no_rope_layer_interval", MAX_WINDOW, 4)?;
    let has_rope = match family {
        Family::GraniteHybrid => match fields.text("position_embedding_type")? {
            None | Some("nope") => false,
            Some("rope") => true,
            Some(kind) => {
                return Err(fields.unsupported(format!("position_embedding_type {kind:?}"), "supported: rope, nope"));
            }
        },
        _ => true,
    };
    let has_positions = |layer: usize| match family {
        Family::GraniteHybrid => has_rope,
        Family::NemotronH => false,
        Family::SmolLm3 => rotated
            .get(layer)
            .map_or_else(|| !(layer + 1).is_multiple_of(interval), |rotated| *rotated != 0),
        _ => true,
    };
    let mixers = kinds.into_iter().enumerate().map(|(layer, kind)| {
        // Whatever is written, as transformers has it.
        let is_last = family == Family::Gemma4 && layer + 1 == layers;
        let kind = if is_last { LayerKind::Full } else { kind };
        let local = kind == LayerKind::Sliding && matches!(family, Family::Gemma3 | Family::Gemma4 | Family::Olmo3);
        let positions = match (has_positions(layer), local) {
            (false, _) => Positions::None,
            (true, true) => Positions::LocalRotary,
            (true, false) => Positions::Rotary,
        };
        match kind {
            LayerKind::Convolution => Ok(Mixer::ShortConvolution),
            LayerKind::Linear => Ok(Mixer::Recurrent),
            LayerKind::FeedForward => Ok(Mixer::None),
            LayerKind::Full => Ok(Mixer::Attention {
                window: None,
                positions,
            }),
            LayerKind::Sliding if in_use => Ok(Mixer::Attention { window, positions }),
            LayerKind::Sliding => Err(fields.unsupported(
                "sliding-window attention",
                format!("full attention in every layer of a {} model", family.name()),
            )),
        }
    });
    mixers.collect()
}

/// Kind of a layer, as config.json names it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LayerKind {
    Full,
    Sliding,
    Convolution,
    Linear,
    /// No mixer.
    FeedForward,
}

/// Returns the kinds of all layers: those of `layer_types`, or those that the family's older configurations give in other fields.
fn layer_kinds(fields: &JsonFields<'_>, family: Family, layers: usize) -> Result<Vec<LayerKind>, ModelError> {
    if family == Family::NemotronH {
        let kinds = parts(fields, layers)?.into_iter().map(|part| match part {
            Part::Recurrent => LayerKind::Linear,
            Part::Attention => LayerKind::Full,
            Part::Dense | Part::Experts => LayerKind::FeedForward,
        });
        return Ok(kinds.collect());
    }
    let named = fields.list("layer_types")?;
    if !named.is_empty() {
        if named.len() != layers {
            let message = format!("{} items for {layers} layers", named.len());
            return Err(fields.error("layer_types", message));
        }
        let kinds = named.iter().map(|kind| match kind.as_str() {
            Some("full_attention") => Ok(LayerKind::Full),
            Some("sliding_attention") => Ok(LayerKind::Sliding),
            Some("conv") if family.is_lfm2() => Ok(LayerKind::Convolution),
            Some("linear_attention") if family.has_delta_nets() => Ok(LayerKind::Linear),
            Some("linear_attention" | "mamba") if family == Family::GraniteHybrid => Ok(LayerKind::Linear),
            Some("attention") if family == Family::GraniteHybrid => Ok(LayerKind::Full),
            _ => Err(fields.unsupported(
                format!("a layer of type {kind}"),
                "supported: full_attention, sliding_attention, and lfm2's conv, linear_attention of Qwen3.5 and Qwen3-Next, granitemoehybrid's mamba",
            )),
        });
        return kinds.collect();
    }
    let sliding_from = match family {
        Family::Mistral | Family::Mixtral | Family::Phi3 => 0,
        Family::Qwen3Moe if fields.flag("use_sliding_window", false)? => 0,
        Family::Qwen2 | Family::Qwen3 if fields.flag("use_sliding_window", false)? => {
            fields.whole_number("max_window_layers")?.unwrap_or(28)
        }
        Family::SmolLm3 if fields.flag("use_sliding_window", false)? => {
            return Err(fields.unsupported(
                "use_sliding_window without layer_types",
                "a config.json whose layer_types says which layers have windows",
            ));
        }
        _ => usize::MAX,
    };
    let pattern = fields.size_or("sliding_window_pattern", MAX_WINDOW, 6)?;
    let attention = fields.whole_numbers("full_attn_idxs")?;
    let interval = fields.size_or("full_attention_interval", MAX_WINDOW, 4)?;
    let kind = |layer: usize| match family {
        family if family.is_lfm2() && fields.get("full_attn_idxs").is_some() && !attention.contains(&layer) => {
            LayerKind::Convolution
        }
        Family::Gemma3 | Family::Gemma4 if !(layer + 1).is_multiple_of(pattern) => LayerKind::Sliding,
        Family::GraniteHybrid => LayerKind::Linear,
        family if family.has_delta_nets() && !(layer + 1).is_multiple_of(interval) => LayerKind::Linear,
        Family::GptOss | Family::Gemma2 if layer.is_multiple_of(2) => LayerKind::Sliding,
        Family::Olmo3 if !(layer + 1).is_multiple_of(4) => LayerKind::Sliding,
        _ if layer >= sliding_from => LayerKind::Sliding,
        _ => LayerKind::Full,
    };
    Ok((0..layers).map(kind).collect())
}

/// Number of taps of the short convolutions, and whether these and the projections around them have biases.
pub(crate) fn convolution(fields: &JsonFields<'_>) -> Result<(usize, bool), ModelError> {
    let taps = fields.size_or("conv_L_cache", MAX_TAPS, 3)?;
    Ok((taps, fields.flag("conv_bias", false)?))
}

/// The width of feed-forward parts, where config.json writes another than the checkpoint has: LFM2's may have to be rounded.
pub(crate) fn lfm2_width(fields: &JsonFields<'_>, written: usize) -> Result<usize, ModelError> {
    if !fields.flag("block_auto_adjust_ff_dim", true)? {
        return Ok(written);
    }
    let factor = fields.number("block_ffn_dim_multiplier", 0.0, 1e3)?.unwrap_or(1.0);
    let multiple = fields.size_or("block_multiple_of", MAX_WIDTH, 256)?;
    let width = ((factor * (2 * written / 3) as f64) as usize)
        .next_multiple_of(multiple)
        .max(1);
    if width > MAX_WIDTH {
        return Err(fields.error(
            "block_ffn_dim_multiplier",
            format!("a width of {width}; at most {MAX_WIDTH}"),
        ));
    }
    Ok(width)
}
