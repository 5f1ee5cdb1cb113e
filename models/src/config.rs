//! [`ModelConfig`]: the shape of a model, read from its config.json and checked.

use serde_json::{Map, Value};

use crate::ModelError;
use crate::rope::RopeScaling;

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
    const NAMES: [(&'static str, Self); 4] = [
        ("LlamaForCausalLM", Self::Llama),
        ("MistralForCausalLM", Self::Mistral),
        ("Qwen2ForCausalLM", Self::Qwen2),
        ("Qwen3ForCausalLM", Self::Qwen3),
    ];

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
    /// Which forward pass.
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
    /// Added to the mean square in the norms.
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

/// Upper limits of a model's sizes; over ten times what any published model of these families has.
const LIMITS: [(&str, usize); 8] = [
    ("hidden_size", 1 << 17),
    ("intermediate_size", 1 << 20),
    ("num_hidden_layers", 2_000),
    ("num_attention_heads", 4_096),
    ("num_key_value_heads", 4_096),
    ("head_dim", 4_096),
    ("vocab_size", 1 << 24),
    ("max_position_embeddings", 1 << 26),
];

impl ModelConfig {
    /// The largest value of each size field; config.json with a larger one is refused.
    pub const LIMITS: [(&'static str, usize); 8] = LIMITS;

    /// Reads and checks `bytes`, the config.json called `file` in error messages.
    ///
    /// # Errors
    ///
    /// [`ModelError::Json`], [`ModelError::Config`] and [`ModelError::Unsupported`].
    pub fn from_json(file: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let fields = Fields::parse(file, bytes)?;
        let family = fields.family()?;
        fields.refuse_unsupported(family)?;
        let hidden_size = fields.size("hidden_size")?;
        let heads = fields.size("num_attention_heads")?;
        let kv_heads = fields.optional_size("num_key_value_heads")?.unwrap_or(heads);
        let head_dim = match fields.optional_size("head_dim")? {
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
        let (rope_theta, rope_scaling) = fields.rope()?;
        let attention_bias = fields.flag("attention_bias", false)?;
        Ok(Self {
            family,
            hidden_size,
            intermediate_size: fields.size("intermediate_size")?,
            layers: fields.size("num_hidden_layers")?,
            heads,
            kv_heads,
            head_dim,
            vocab_size: fields.size("vocab_size")?,
            max_positions: fields.size("max_position_embeddings")?,
            rms_norm_eps: fields.number("rms_norm_eps", Some(1e-6), 0.0, 1.0)? as f32,
            rope_theta,
            rope_scaling,
            tied_embeddings: fields.flag("tie_word_embeddings", false)?,
            qkv_bias: family == Family::Qwen2 || attention_bias,
            attention_output_bias: family != Family::Qwen2 && attention_bias,
            mlp_bias: family == Family::Llama && fields.flag("mlp_bias", false)?,
            eos_token_ids: token_ids(file, &fields.map, "eos_token_id")?,
        })
    }

    /// Number of weights, tied embeddings counted once.
    pub fn parameters(&self) -> u64 {
        let wide = |a: usize, b: usize| a as u64 * b as u64;
        let query = self.heads * self.head_dim;
        let key = self.kv_heads * self.head_dim;
        let mut layer =
            wide(self.hidden_size, 2 * query + 2 * key) + 3 * wide(self.hidden_size, self.intermediate_size);
        layer += 2 * self.hidden_size as u64;
        if self.qkv_bias {
            layer += (query + 2 * key) as u64;
        }
        if self.attention_output_bias {
            layer += self.hidden_size as u64;
        }
        if self.mlp_bias {
            layer += (2 * self.intermediate_size + self.hidden_size) as u64;
        }
        if self.family == Family::Qwen3 {
            layer += 2 * self.head_dim as u64;
        }
        let embeddings = if self.tied_embeddings { 1 } else { 2 } * wide(self.vocab_size, self.hidden_size);
        embeddings + self.hidden_size as u64 + layer * self.layers as u64
    }
}

/// The top-level fields of one JSON file, with the file's name for error messages.
struct Fields<'a> {
    file: &'a str,
    map: Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn parse(file: &'a str, bytes: &[u8]) -> Result<Self, ModelError> {
        Ok(Self {
            file,
            map: json_object(file, bytes)?,
        })
    }

    fn error(&self, field: &str, message: impl Into<String>) -> ModelError {
        ModelError::Config {
            file: self.file.to_owned(),
            field: field.to_owned(),
            message: message.into(),
        }
    }

    fn unsupported(&self, what: impl Into<String>, hint: impl Into<String>) -> ModelError {
        ModelError::Unsupported {
            file: self.file.to_owned(),
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// The field's value; `null` counts as absent, as in transformers.
    fn get(&self, field: &str) -> Option<&Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    fn family(&self) -> Result<Family, ModelError> {
        let supported = || {
            let names: Vec<_> = Family::NAMES.iter().map(|(name, _)| *name).collect();
            format!("supported architectures: {}", names.join(", "))
        };
        let named = match self.get("architectures") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(_) => return Err(self.error("architectures", "expected a list of names")),
            None => Vec::new(),
        };
        let by_architecture = Family::NAMES.iter().find(|(name, _)| named.contains(name));
        if let Some((_, family)) = by_architecture {
            return Ok(*family);
        }
        if let Some(name) = named.first() {
            return Err(self.unsupported(format!("architecture {name}"), supported()));
        }
        let model_type = self.get("model_type").and_then(Value::as_str);
        match Family::NAMES
            .iter()
            .find(|(_, family)| Some(family.name()) == model_type)
        {
            Some((_, family)) => Ok(*family),
            None => Err(self.error("architectures", format!("missing; {}", supported()))),
        }
    }

    fn refuse_unsupported(&self, family: Family) -> Result<(), ModelError> {
        let activation = self.get("hidden_act").map_or(Some("silu"), Value::as_str);
        if !matches!(activation, Some("silu" | "swish")) {
            let shown = self.get("hidden_act").unwrap_or(&Value::Null);
            return Err(self.unsupported(format!("hidden_act {shown}"), "supported: silu"));
        }
        if let Some(quantization) = self.get("quantization_config") {
            let method = quantization
                .get("quant_method")
                .and_then(Value::as_str)
                .unwrap_or("unnamed");
            return Err(self.unsupported(
                format!("quantization ({method})"),
                "use a checkpoint with F32, F16 or BF16 weights",
            ));
        }
        let window = self.get("sliding_window");
        let in_use = match family {
            Family::Mistral => window.is_some(),
            Family::Qwen2 | Family::Qwen3 => window.is_some() && self.flag("use_sliding_window", false)?,
            Family::Llama => false,
        };
        let windowed_layer = match self.get("layer_types") {
            Some(Value::Array(types)) => types.iter().any(|kind| kind.as_str() != Some("full_attention")),
            Some(_) => return Err(self.error("layer_types", "expected a list of names")),
            None => false,
        };
        if in_use || windowed_layer {
            return Err(self.unsupported("sliding-window attention", "full attention in every layer"));
        }
        Ok(())
    }

    fn size(&self, field: &str) -> Result<usize, ModelError> {
        self.optional_size(field)?
            .ok_or_else(|| self.error(field, "missing; expected a positive whole number"))
    }

    fn optional_size(&self, field: &str) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let limit = LIMITS
            .iter()
            .find(|(name, _)| *name == field)
            .map_or(usize::MAX, |(_, limit)| *limit);
        match value.as_u64() {
            Some(size) if size >= 1 && size <= limit as u64 => Ok(Some(size as usize)),
            _ => Err(self.error(
                field,
                format!("{} is not a whole number from 1 to {limit}", shown(value)),
            )),
        }
    }

    /// A finite number over `low` (exclusive) and up to `high`.
    fn number(&self, field: &str, default: Option<f64>, low: f64, high: f64) -> Result<f64, ModelError> {
        number_in(self.file, field, self.get(field), default, low, high)
    }

    fn flag(&self, field: &str, default: bool) -> Result<bool, ModelError> {
        match self.get(field) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => Err(self.error(field, format!("{} is not true or false", shown(value)))),
        }
    }

    /// `rope_theta` and `rope_scaling`, or the newer `rope_parameters` that holds both.
    fn rope(&self) -> Result<(f32, RopeScaling), ModelError> {
        let (name, parameters) = match (self.get("rope_parameters"), self.get("rope_scaling")) {
            (Some(value), _) => ("rope_parameters", Some(value)),
            (None, value) => ("rope_scaling", value),
        };
        let parameters = match parameters {
            None => None,
            Some(Value::Object(map)) => Some(map),
            Some(_) => return Err(self.error(name, "expected an object")),
        };
        let nested = parameters
            .and_then(|map| map.get("rope_theta"))
            .filter(|value| !value.is_null());
        let theta = match nested {
            Some(value) => number_in(self.file, "rope_parameters.rope_theta", Some(value), None, 1.0, 1e15)?,
            None => self.number("rope_theta", Some(10_000.0), 1.0, 1e15)?,
        };
        for field in ["partial_rotary_factor"] {
            if self.number(field, Some(1.0), 0.0, 1.0)? != 1.0 {
                return Err(self.unsupported(field, "rotary positions over the whole head"));
            }
        }
        let scaling = match parameters {
            None => RopeScaling::None,
            Some(map) => RopeScaling::from_json(self.file, name, map)?,
        };
        Ok((theta as f32, scaling))
    }
}

/// A finite number over `low` (exclusive) and up to `high`, or `default` where `value` is absent.
pub(crate) fn number_in(
    file: &str,
    field: &str,
    value: Option<&Value>,
    default: Option<f64>,
    low: f64,
    high: f64,
) -> Result<f64, ModelError> {
    let message = match (value, default) {
        (None, Some(default)) => return Ok(default),
        (None, None) => "missing; expected a number".to_owned(),
        (Some(value), _) => match value.as_f64() {
            Some(number) if number > low && number <= high => return Ok(number),
            _ => format!("{} is not a number over {low} and up to {high}", shown(value)),
        },
    };
    Err(ModelError::Config {
        file: file.to_owned(),
        field: field.to_owned(),
        message,
    })
}

/// The fields of the JSON object in `bytes`. The error names `file`.
pub(crate) fn json_object(file: &str, bytes: &[u8]) -> Result<Map<String, Value>, ModelError> {
    let failed = |message: String| ModelError::Json {
        file: file.to_owned(),
        message,
    };
    match serde_json::from_slice(bytes).map_err(|error| failed(error.to_string()))? {
        Value::Object(map) => Ok(map),
        other => Err(failed(format!("{} where an object was expected", shown(&other)))),
    }
}

/// A field that holds one token id or a list of them; empty where absent.
pub(crate) fn token_ids(file: &str, map: &Map<String, Value>, field: &str) -> Result<Vec<u32>, ModelError> {
    let one = |value: &Value| {
        let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| ModelError::Config {
            file: file.to_owned(),
            field: field.to_owned(),
            message: format!("{} is not a token id", shown(value)),
        })
    };
    match map.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(ids)) => ids.iter().map(one).collect(),
        Some(value) => Ok(vec![one(value)?]),
    }
}

/// A value as an error message shows it: short, whatever the file holds.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
