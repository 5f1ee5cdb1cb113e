//! [`ModelConfig`]: the shape of a model, read from its config.json and checked.

use serde_json::Value;

use crate::error::ModelError;
use crate::load::json_fields::JsonFields;
use crate::load::rope_scaling::RopeScaling;

/// The families whose forward pass is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// `LlamaForCausalLM`: Llama 2 and 3, TinyLlama, SmolLM, and others of the same shape.
    Llama,
    /// `MistralForCausalLM` without a sliding window: Llama's shape.
    Mistral,
    /// `Qwen2ForCausalLM`: Qwen 2 and 2.5; biases on the query, key and value projections.
    Qwen2,
    /// `Qwen3ForCausalLM`: queries and keys normalised per head.
    Qwen3,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Llama, Self::Mistral, Self::Qwen2, Self::Qwen3];

    /// The family of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The name in config.json's `architectures`.
    pub fn architecture(self) -> &'static str {
        match self {
            Self::Llama => "LlamaForCausalLM",
            Self::Mistral => "MistralForCausalLM",
            Self::Qwen2 => "Qwen2ForCausalLM",
            Self::Qwen3 => "Qwen3ForCausalLM",
        }
    }

    /// The name in a few letters: `llama`, `mistral`, `qwen2`, `qwen3`; config.json's `model_type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Mistral => "mistral",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
        }
    }
}

/// The shape of a Llama-like model. All sizes are positive, fit together, and stay under [`ModelConfig::LIMITS`].
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
    /// Number of key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Length of a head's vector; even.
    pub head_dim: usize,
    /// Number of embeddings and of logits.
    pub vocab_size: usize,
    /// Longest sequence, in tokens.
    pub max_positions: usize,
    /// Number added to the mean square in the norms, so that nothing is divided by zero.
    pub rms_norm_eps: f32,
    /// Base of the rotary position frequencies.
    pub rope_theta: f32,
    /// How the rotary frequencies are stretched for long contexts.
    pub rope_scaling: RopeScaling,
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
        ("intermediate_size", 1 << 20),
        ("num_hidden_layers", 2_000),
        ("num_attention_heads", 4_096),
        ("num_key_value_heads", 4_096),
        ("head_dim", 4_096),
        ("vocab_size", 1 << 24),
        ("max_position_embeddings", 1 << 26),
    ];

    /// Reads and checks `bytes`, the config.json called `file` in error messages.
    ///
    /// # Errors
    ///
    /// [`ModelError::Json`], [`ModelError::Config`] and [`ModelError::Unsupported`].
    pub fn from_json(file: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let fields = JsonFields::parse(file, bytes)?;
        let family = family(&fields)?;
        refuse_unsupported(&fields, family)?;
        let hidden_size = size(&fields, "hidden_size")?;
        let heads = size(&fields, "num_attention_heads")?;
        let kv_heads = optional_size(&fields, "num_key_value_heads")?.unwrap_or(heads);
        let head_dim = match optional_size(&fields, "head_dim")? {
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
        if !head_dim.is_multiple_of(2) {
            return Err(fields.error("head_dim", format!("{head_dim} is odd; rotary positions need pairs")));
        }
        let (rope_theta, rope_scaling) = rope(&fields)?;
        let attention_bias = fields.flag("attention_bias", false)?;
        Ok(Self {
            family,
            hidden_size,
            intermediate_size: size(&fields, "intermediate_size")?,
            layers: size(&fields, "num_hidden_layers")?,
            heads,
            kv_heads,
            head_dim,
            vocab_size: size(&fields, "vocab_size")?,
            max_positions: size(&fields, "max_position_embeddings")?,
            rms_norm_eps: fields.number("rms_norm_eps", 0.0, 1.0)?.unwrap_or(1e-6) as f32,
            rope_theta,
            rope_scaling,
            tied_embeddings: fields.flag("tie_word_embeddings", false)?,
            qkv_bias: family == Family::Qwen2 || attention_bias,
            attention_output_bias: family != Family::Qwen2 && attention_bias,
            mlp_bias: family == Family::Llama && fields.flag("mlp_bias", false)?,
            eos_token_ids: fields.token_ids("eos_token_id")?,
        })
    }
}

/// The first family that `architectures` names, or without it `model_type`.
fn family(fields: &JsonFields<'_>) -> Result<Family, ModelError> {
    let supported = || {
        format!(
            "supported architectures: {}",
            Family::ALL.map(Family::architecture).join(", ")
        )
    };
    let named = fields.list("architectures")?.iter().filter_map(Value::as_str);
    let named: Vec<&str> = named.collect();
    let by_architecture = Family::ALL
        .into_iter()
        .find(|family| named.contains(&family.architecture()));
    if let Some(family) = by_architecture {
        return Ok(family);
    }
    if let Some(name) = named.first() {
        return Err(fields.unsupported(format!("architecture {name}"), supported()));
    }
    let model_type = fields.get("model_type").and_then(Value::as_str);
    model_type
        .and_then(Family::from_name)
        .ok_or_else(|| fields.error("architectures", format!("missing; {}", supported())))
}

/// Errs where the network has parts that the forward passes do not know.
fn refuse_unsupported(fields: &JsonFields<'_>, family: Family) -> Result<(), ModelError> {
    if let Some(activation) = fields.get("hidden_act")
        && !matches!(activation.as_str(), Some("silu" | "swish"))
    {
        return Err(fields.unsupported(format!("hidden_act {activation}"), "supported: silu"));
    }
    if let Some(quantization) = fields.get("quantization_config") {
        let method = quantization
            .get("quant_method")
            .and_then(Value::as_str)
            .unwrap_or("unnamed");
        return Err(fields.unsupported(
            format!("quantization ({method})"),
            "use a checkpoint with F32, F16 or BF16 weights",
        ));
    }
    let has_window = fields.get("sliding_window").is_some();
    let in_use = match family {
        Family::Mistral => has_window,
        Family::Qwen2 | Family::Qwen3 => has_window && fields.flag("use_sliding_window", false)?,
        Family::Llama => false,
    };
    let mut layers = fields.list("layer_types")?.iter();
    if in_use || layers.any(|kind| kind.as_str() != Some("full_attention")) {
        return Err(fields.unsupported("sliding-window attention", "full attention in every layer"));
    }
    Ok(())
}

/// A field of [`ModelConfig::LIMITS`] that every model has.
fn size(fields: &JsonFields<'_>, field: &str) -> Result<usize, ModelError> {
    optional_size(fields, field)?.ok_or_else(|| fields.error(field, "missing; expected a positive whole number"))
}

/// A field of [`ModelConfig::LIMITS`], where the model has it.
fn optional_size(fields: &JsonFields<'_>, field: &str) -> Result<Option<usize>, ModelError> {
    let limit = ModelConfig::LIMITS.iter().find(|(name, _)| *name == field);
    fields.size(field, limit.map_or(usize::MAX, |(_, limit)| *limit))
}

/// `rope_theta` and `rope_scaling`, or the newer `rope_parameters` that holds both.
fn rope(fields: &JsonFields<'_>) -> Result<(f32, RopeScaling), ModelError> {
    let name = match fields.get("rope_parameters") {
        Some(_) => "rope_parameters",
        None => "rope_scaling",
    };
    let parameters = fields.object(name)?;
    let nested = match &parameters {
        Some(parameters) => parameters.number("rope_theta", 1.0, 1e15)?,
        None => None,
    };
    let theta = match nested {
        Some(theta) => theta,
        None => fields.number("rope_theta", 1.0, 1e15)?.unwrap_or(10_000.0),
    };
    if fields
        .number("partial_rotary_factor", 0.0, 1.0)?
        .is_some_and(|factor| factor != 1.0)
    {
        return Err(fields.unsupported("partial_rotary_factor", "rotary positions over the whole head"));
    }
    let scaling = match &parameters {
        None => RopeScaling::None,
        Some(parameters) => RopeScaling::from_fields(name, parameters)?,
    };
    Ok((theta as f32, scaling))
}
