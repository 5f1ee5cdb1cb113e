//! [`ModelConfig`]: the shape of a model, read from its config.json and checked.

pub(crate) mod defaults;
pub(crate) mod experts;
pub(crate) mod family;
pub(crate) mod gemma4;
pub(crate) mod latent_attention;
pub(crate) mod layer_kinds;
pub(crate) mod missing;
pub(crate) mod recurrence;
pub(crate) mod rope_fields;
pub(crate) mod rope_scaling;
pub(crate) mod single_parts;

use serde_json::Value;

use crate::error::ModelError;
use crate::load::config::defaults::{Defaults, GEMMA3_TEXT};
use crate::load::config::experts::Experts;
use crate::load::config::family::Family;
use crate::load::config::gemma4::{Gemma4Parts, Heads, global_heads};
use crate::load::config::latent_attention::LatentAttention;
use crate::load::config::layer_kinds::{
    Activation, MAX_POSITIONS, MAX_WIDTH, Mixer, Multipliers, Positions, SoftCaps, convolution, lfm2_width, mixers,
};
use crate::load::config::missing::MISSING;
use crate::load::config::recurrence::Recurrence;
use crate::load::config::rope_fields::RopeFields;
use crate::load::config::rope_scaling::RopeScaling;
use crate::load::config::single_parts::parts;
use crate::load::json_fields::JsonFields;

/// The most layers.
const MAX_LAYERS: usize = 2_000;

/// The shape of a model. All sizes are positive, fit together, and stay under [`ModelConfig::LIMITS`].
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// The family, which decides the forward pass.
    pub family: Family,
    /// Length of a token's vector.
    pub hidden_size: usize,
    /// Width of the feed-forward layers.
    pub intermediate_size: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Number of query heads.
    pub heads: usize,
    /// Number of key and value heads; divides `heads`. Layers of Gemma 4 that see all tokens have another number. It is one in
    /// latent attention, whose heads all see the same vectors.
    pub kv_heads: usize,
    /// Length of a head's vector. Layers of Gemma 4 that see all tokens have another length. In latent attention, the length of
    /// the vector that the cache keeps for each token.
    pub head_dim: usize,
    /// Number of elements at the start of a head's vector that rotary positions turn; even.
    pub rotary_dim: usize,
    /// Number of rotated elements of a head's vector in layers with [`Positions::LocalRotary`](crate::Positions::LocalRotary), in
    /// place of `rotary_dim`.
    pub local_rotary_dim: usize,
    /// Number of embeddings and of logits.
    pub vocab_size: usize,
    /// Longest sequence, in tokens.
    pub max_positions: usize,
    /// Number added to the mean square in the norms, so that nothing is divided by zero.
    pub rms_norm_eps: f32,
    /// Base of the rotary position frequencies.
    pub rope_theta: f32,
    /// Base of the frequencies of [`Positions::LocalRotary`](crate::Positions::LocalRotary).
    pub local_rope_theta: f32,
    /// Scaling of the rotary frequencies for long contexts.
    pub rope_scaling: RopeScaling,
    /// The mixer of each layer; as many as `layers`.
    pub mixers: Vec<Mixer>,
    /// Number of tokens that a short convolution sees, the newest included.
    pub convolution_taps: usize,
    /// Whether short convolutions and the projections around them have biases.
    pub convolution_bias: bool,
    /// Sizes of the attention, where keys and values of all heads are made from one vector of each token.
    pub latent_attention: Option<LatentAttention>,
    /// The recurrent layers, where there are any.
    pub recurrence: Option<Recurrence>,
    /// The function that gates feed-forward parts.
    pub activation: Activation,
    /// The experts, where feed-forward parts have any.
    pub experts: Option<Experts>,
    /// Parts of Gemma 4's network that Gemma 3's does not have.
    pub gemma4: Option<Gemma4Parts>,
    /// Factors beside the weights.
    pub multipliers: Multipliers,
    /// Bounds of scores and logits.
    pub soft_caps: SoftCaps,
    /// Whether the output matrix is the embedding matrix.
    pub tied_embeddings: bool,
    /// Whether the query, key and value projections have biases.
    pub qkv_bias: bool,
    /// Whether the attention's output projection has a bias.
    pub attention_output_bias: bool,
    /// Whether the feed-forward projections have biases.
    pub mlp_bias: bool,
    /// End-of-sequence ids that config.json names.
    pub eos_token_ids: Vec<u32>,
}

impl ModelConfig {
    /// The largest value of each size field, over ten times what any published model of these families has; config.json with a
    /// larger one is refused.
    pub const LIMITS: [(&'static str, usize); 8] = [
        ("hidden_size", 1 << 17),
        ("intermediate_size", MAX_WIDTH),
        ("num_hidden_layers", MAX_LAYERS),
        ("num_attention_heads", 4_096),
        ("num_key_value_heads", 4_096),
        ("head_dim", 4_096),
        ("vocab_size", 1 << 24),
        ("max_position_embeddings", MAX_POSITIONS),
    ];

    /// Reads and checks `bytes`, the config.json called `file` in error messages.
    ///
    /// # Errors
    ///
    /// [`ModelError::Json`], [`ModelError::Config`] and [`ModelError::Unsupported`].
    pub fn from_json(file: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let outer = JsonFields::parse(file, bytes)?;
        let family = family(&outer)?;
        refuse_unsupported(&outer, family)?;
        // Models that also see pictures describe the part that reads text in an object of its own.
        let text = match family {
            Family::Gemma3 => outer.object("text_config")?.map(|text| text.or(GEMMA3_TEXT)),
            Family::Gemma4 | Family::Qwen35 | Family::Qwen35Moe => outer.object("text_config")?,
            _ => None,
        };
        let fields = text.as_ref().unwrap_or(&outer);
        refuse_unsupported(fields, family)?;
        let hidden_size = size(fields, "hidden_size")?;
        let heads = size(fields, "num_attention_heads")?;
        let defaults = Defaults::of(family);
        let latent = LatentAttention::read(fields, family)?;
        let local_heads = match &latent {
            Some(latent) => Heads {
                kv_heads: 1,
                head_dim: latent.kept_dim(),
            },
            None => heads_of_attention(fields, &defaults, (hidden_size, heads))?,
        };
        let Heads { kv_heads, head_dim } = local_heads;
        let layers = match family {
            Family::NemotronH => parts(fields, MAX_LAYERS)?.len(),
            _ => size(fields, "num_hidden_layers")?,
        };
        let written_positions = size(fields, "max_position_embeddings")?;
        let global = match family {
            Family::Gemma4 => {
                let mixers = mixers(fields, family, layers, written_positions)?;
                let kinds: Vec<bool> = mixers.into_iter().map(Gemma4Parts::is_global).collect();
                Some(global_heads(fields, heads, local_heads, &kinds)?)
            }
            _ => None,
        };
        let turned = match &latent {
            Some(latent) => latent.rotary_dim,
            None => global.map_or(head_dim, |global| global.head_dim),
        };
        let rope = RopeFields::read(fields, family, turned, written_positions)?;
        let max_positions = rope.scaling.positions(written_positions);
        let intermediate_size = width(fields, family)?;
        let (convolution_taps, convolution_bias) = convolution(fields)?;
        let eps = match family {
            Family::Lfm2 | Family::Lfm2Moe => "norm_eps",
            Family::NemotronH => "layer_norm_epsilon",
            _ => "rms_norm_eps",
        };
        let attention_bias = fields.flag("attention_bias", matches!(family, Family::Glm4 | Family::GptOss))?;
        let tied_by_default = matches!(
            family,
            Family::Lfm2 | Family::Lfm2Moe | Family::Gemma2 | Family::Gemma3 | Family::Gemma4 | Family::SmolLm3
        );
        let mixers = mixers(fields, family, layers, max_positions)?;
        let recurrent = mixers.iter().filter(|mixer| **mixer == Mixer::Recurrent).count();
        let query_dim = latent.map_or(head_dim, |latent| latent.query_dim());
        let mut multipliers = Multipliers::read(fields, family, (hidden_size, query_dim))?;
        multipliers.scores *= rope.scores;
        let gemma4 = global.map(|global| Gemma4Parts::read(fields, global, &mixers));
        let tied = outer.flag(
            "tie_word_embeddings",
            fields.flag("tie_word_embeddings", tied_by_default)?,
        )?;
        Ok(Self {
            family,
            hidden_size,
            intermediate_size,
            layers,
            heads,
            kv_heads,
            head_dim,
            rotary_dim: rope.dim,
            local_rotary_dim: if global.is_some() { head_dim } else { rope.dim },
            vocab_size: size(fields, "vocab_size")?,
            max_positions,
            rms_norm_eps: fields.number(eps, 0.0, 1.0)?.unwrap_or(defaults.norm_eps) as f32,
            rope_theta: rope.theta,
            local_rope_theta: rope.local_theta,
            rope_scaling: rope.scaling,
            mixers,
            convolution_taps,
            convolution_bias,
            latent_attention: latent,
            recurrence: Recurrence::read(fields, family, hidden_size, recurrent)?,
            activation: Activation::read(fields, family)?,
            experts: Experts::read(fields, family, layers)?,
            gemma4: gemma4.transpose()?,
            multipliers,
            soft_caps: SoftCaps::read(fields, family)?,
            // Nemotron-H has an output matrix of its own, whatever is written.
            tied_embeddings: fields.flag("tie_embedding", tied)? && family != Family::NemotronH,
            qkv_bias: family == Family::Qwen2 || attention_bias,
            attention_output_bias: !matches!(family, Family::Qwen2 | Family::Glm4) && attention_bias,
            mlp_bias: match family {
                Family::GptOss => true,
                Family::Llama | Family::Granite | Family::SmolLm3 => fields.flag("mlp_bias", false)?,
                _ => false,
            },
            eos_token_ids: match outer.token_ids("eos_token_id")? {
                none if none.is_empty() => fields.token_ids("eos_token_id")?,
                ids => ids,
            },
        })
    }

    /// Whether the network is one that our GPU kernels and our GGUF files are made for: of a family that they know, without
    /// windows, YaRN, and without a factor of the vectors that rotary positions turn.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = Mixer::Attention {
            window: None,
            positions: Positions::Rotary,
        };
        self.mixers.iter().all(|mixer| *mixer == plain)
            && self.activation == Activation::Silu
            && self.family.has_kernels()
            && self.rope_scaling.only_divides()
    }

    /// Whether the layer of that number has attention, and so keys and values.
    pub(crate) fn has_attention(&self, layer: usize) -> bool {
        matches!(self.mixers[layer], Mixer::Attention { .. })
    }

    /// Sizes of the heads of the layer of that number.
    pub(crate) fn heads_of(&self, layer: usize) -> Heads {
        match &self.gemma4 {
            Some(parts) if Gemma4Parts::is_global(self.mixers[layer]) => parts.global_heads,
            _ => Heads {
                kv_heads: self.kv_heads,
                head_dim: self.head_dim,
            },
        }
    }

    /// Returns the layer whose keys and values the layer of that number sees, mostly itself.
    pub(crate) fn key_layer(&self, layer: usize) -> usize {
        let parts = self.gemma4.as_ref();
        parts.map_or(layer, |parts| parts.key_layer(&self.mixers, layer))
    }

    /// Whether the layer of that number has a short convolution.
    pub(crate) fn has_convolution(&self, layer: usize) -> bool {
        self.mixers[layer] == Mixer::ShortConvolution
    }

    /// Whether the layer of that number keeps matrices of all tokens instead of keys and values of each.
    pub(crate) fn is_recurrent(&self, layer: usize) -> bool {
        self.mixers[layer] == Mixer::Recurrent
    }

    /// Whether the layer of that number has keys and values of its own.
    pub(crate) fn has_keys(&self, layer: usize) -> bool {
        self.has_attention(layer) && self.key_layer(layer) == layer
    }

    /// The width of the feed-forward part of the layer of that number, where it has no experts.
    pub(crate) fn width_of(&self, layer: usize) -> usize {
        let double = self.gemma4.is_some_and(|parts| parts.double_width) && self.key_layer(layer) != layer;
        if double {
            2 * self.intermediate_size
        } else {
            self.intermediate_size
        }
    }

    /// The experts of the layer of that number, where it has any.
    pub(crate) fn experts_of(&self, layer: usize) -> Option<&Experts> {
        let experts = self.experts.as_ref();
        experts.filter(|experts| experts.dense_layers.binary_search(&layer).is_err())
    }
}

/// The first family that `architectures` names, or without it `model_type`.
fn family(fields: &JsonFields<'_>) -> Result<Family, ModelError> {
    let supported = || format!("supported architectures: {}", Family::list(Family::architecture));
    let named = fields.list("architectures")?.iter().filter_map(Value::as_str);
    let named: Vec<&str> = named.collect();
    let by_architecture = named.iter().find_map(|name| Family::from_architecture(name));
    if let Some(family) = by_architecture {
        return Ok(family);
    }
    if let Some(name) = named.first() {
        let known = MISSING.iter().find(|known| named.contains(&known.architecture));
        return Err(match known {
            Some(known) => fields.unsupported(
                format!("architecture {} ({})", known.architecture, known.models),
                format!("missing here: {}", known.missing),
            ),
            None => fields.unsupported(format!("architecture {name}"), supported()),
        });
    }
    fields
        .text("model_type")?
        .and_then(Family::from_name)
        .ok_or_else(|| fields.error("architectures", format!("missing; {}", supported())))
}

/// Errs where the network has parts that the forward passes do not know.
fn refuse_unsupported(fields: &JsonFields<'_>, family: Family) -> Result<(), ModelError> {
    if let Some(quantization) = fields.get("quantization_config") {
        let method = quantization
            .get("quant_method")
            .and_then(Value::as_str)
            .unwrap_or("unnamed");
        if family == Family::GptOss && method == "mxfp4" {
            return Ok(());
        }
        return Err(fields.unsupported(
            format!("quantization ({method})"),
            "use a checkpoint with F32, F16 or BF16 weights",
        ));
    }
    if family.has_delta_nets() && fields.flag("attention_bias", false)? {
        return Err(fields.unsupported("attention_bias", "projections without biases"));
    }
    if family == Family::NemotronH {
        for (field, hint) in [
            ("attention_bias", "attention without biases"),
            ("mlp_bias", "feed-forward parts without biases"),
        ] {
            if fields.flag(field, false)? {
                return Err(fields.unsupported(field, hint));
            }
        }
        if fields.get("moe_latent_size").is_some() {
            return Err(fields.unsupported("moe_latent_size", "experts that see the tokens' own vectors"));
        }
    }
    if family == Family::DeepseekV2 && fields.flag("mlp_bias", false)? {
        return Err(fields.unsupported("mlp_bias", "feed-forward parts without biases"));
    }
    if matches!(family, Family::Gemma2 | Family::Gemma3) && fields.flag("use_bidirectional_attention", false)? {
        return Err(fields.unsupported("use_bidirectional_attention", "causal attention"));
    }
    Ok(())
}

/// The heads of attention that keeps keys and values of its own for each of them, of a model with vectors of `hidden_size`
/// elements and so many query heads.
fn heads_of_attention(
    fields: &JsonFields<'_>,
    defaults: &Defaults,
    (hidden_size, heads): (usize, usize),
) -> Result<Heads, ModelError> {
    let kv_heads = match optional_size(fields, "num_key_value_heads")? {
        Some(kv_heads) => kv_heads,
        None if fields.is_absent("num_key_value_heads") => defaults.kv_heads.unwrap_or(heads),
        None => heads,
    };
    let default = defaults.head_dim.filter(|_| fields.is_absent("head_dim"));
    let head_dim = match optional_size(fields, "head_dim")?.or(default) {
        Some(head_dim) => head_dim,
        None if hidden_size.is_multiple_of(heads) => hidden_size / heads,
        None => {
            return Err(fields.error(
                "num_attention_heads",
                format!("{heads} heads do not divide hidden_size {hidden_size}, and there is no head_dim"),
            ));
        }
    };
    if !heads.is_multiple_of(kv_heads) {
        return Err(fields.error(
            "num_key_value_heads",
            format!("{kv_heads} does not divide the {heads} attention heads"),
        ));
    }
    Ok(Heads { kv_heads, head_dim })
}

/// The width of feed-forward parts that all tokens pass.
fn width(fields: &JsonFields<'_>, family: Family) -> Result<usize, ModelError> {
    let named = |field: &str| optional_size_named(fields, field, "intermediate_size");
    match family {
        Family::GraniteHybrid => {
            size(fields, "intermediate_size")?;
            Ok(named("shared_intermediate_size")?.unwrap_or(1024))
        }
        Family::Qwen35Moe => Ok(named("shared_expert_intermediate_size")?.unwrap_or(512)),
        Family::Lfm2 => match named("block_ff_dim")? {
            Some(written) => lfm2_width(fields, written),
            None => lfm2_width(fields, size(fields, "intermediate_size")?),
        },
        _ => size(fields, "intermediate_size"),
    }
}

/// A field of [`ModelConfig::LIMITS`] that every model has.
fn size(fields: &JsonFields<'_>, field: &str) -> Result<usize, ModelError> {
    optional_size(fields, field)?.ok_or_else(|| fields.error(field, "missing; expected a positive whole number"))
}

/// A field of [`ModelConfig::LIMITS`], where the model has it.
fn optional_size(fields: &JsonFields<'_>, field: &str) -> Result<Option<usize>, ModelError> {
    optional_size_named(fields, field, field)
}

/// `field`, where the model has it, with the limit of `like`.
fn optional_size_named(fields: &JsonFields<'_>, field: &str, like: &str) -> Result<Option<usize>, ModelError> {
    let limit = ModelConfig::LIMITS.iter().find(|(name, _)| *name == like);
    fields.size(field, limit.map_or(usize::MAX, |(_, limit)| *limit))
}
