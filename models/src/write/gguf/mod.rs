//! [`export_gguf`]: a checkpoint as one GGUF file, for llama.cpp and the programs built on it.
//!
//! The format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. The names of tensors and keys are those that
//! llama.cpp reads for the architectures `llama`, `qwen2`, `qwen3`, `gemma3` and `lfm2`.

mod tensors;
pub(crate) mod tokens;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use candle_core::DType;
use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::{Activation, Mixer, Positions};
use crate::load::config::rope_scaling::RopeScaling;
use crate::load::files::ModelFiles;
use crate::load::hub::settings::HubSettings;
use crate::load::source::ModelSource;
use crate::load::weight_format::WeightFormat;
use crate::load::weights::Weights;
use crate::prompt::chat_template::ChatTemplate;
use crate::prompt::vocabulary::ConfigurationFiles;
use crate::write::gguf::tokens::PreTokenizer;

/// A summary of the GGUF file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GgufSummary {
    /// llama.cpp's name of the architecture.
    pub architecture: &'static str,
    /// Number of tensors.
    pub tensors: usize,
    /// Number of tokens, padding included.
    pub tokens: usize,
    /// llama.cpp's rule for cutting texts into words, and whether it is known to be the model's own.
    pub pre_tokenizer: PreTokenizer,
}

/// Writes the model at `source` to `path` as GGUF, without quantisation.
///
/// `format` is that of the matrices, by default the checkpoint's own; norms and biases are always F32, as llama.cpp wants
/// them. `pre_tokenizer` names one of llama.cpp's ways of cutting texts into words before they are merged into tokens;
/// without it the model's own is recognised, where it is GPT-2's, Llama 3's, Qwen 2's or SmolLM's.
///
/// All weights are in memory at once.
///
/// # Errors
///
/// [`ModelError`]: as [`load`](crate::load), [`ModelError::Unsupported`] for families other than Llama, Mistral, Qwen2, Qwen3, Gemma 3
/// and LFM2, for YaRN, for what llama.cpp computes otherwise (sliding windows elsewhere than in Gemma 3, LongRoPE, other gates, other
/// factors), and for tokenizers other than byte-level BPE, and [`ModelError::Write`].
pub fn export_gguf(
    source: &ModelSource,
    hub: &HubSettings,
    format: WeightFormat,
    pre_tokenizer: Option<&str>,
    path: &Path,
) -> Result<GgufSummary, ModelError> {
    let mut files = ModelFiles::open(source, hub, None)?;
    let mut parsed = ConfigurationFiles::read(&files)?;
    let templates = ChatTemplate::texts(&files, &parsed.tokenizer_config)?;
    let weights = Weights::new(std::mem::take(&mut files.weights))?;
    parsed.config = parsed.config.with_output_as_in(&weights);
    let format = match format.or_that_of(&parsed.config, &weights) {
        DType::F16 => GgmlDType::F16,
        DType::BF16 => GgmlDType::BF16,
        _ => GgmlDType::F32,
    };

    let (token_metadata, pre_tokenizer) = tokens::metadata(&files, &parsed, pre_tokenizer)?;
    let architecture = architecture(&parsed.config, &files.name)?;
    let mut metadata = hyper_parameters(&parsed.config, architecture);
    metadata.push(("general.name".to_owned(), Value::String(files.name.clone())));
    metadata.push(("general.file_type".to_owned(), Value::U32(file_type(format))));
    metadata.extend(token_metadata);
    if let Some((default, tool_use)) = templates {
        metadata.push(("tokenizer.chat_template".to_owned(), Value::String(default)));
        if let Some(tool_use) = tool_use {
            let names = Value::Array(vec![Value::String("tool_use".to_owned())]);
            metadata.push(("tokenizer.chat_templates".to_owned(), names));
            metadata.push(("tokenizer.chat_template.tool_use".to_owned(), Value::String(tool_use)));
        }
    }
    let tensors =
        tensors::convert_all(&parsed.config, &weights, format).map_err(|error| error.into_model_error(&files.name))?;
    write(path, &metadata, &tensors)?;
    Ok(GgufSummary {
        architecture,
        tensors: tensors.len(),
        tokens: parsed.config.vocab_size,
        pre_tokenizer,
    })
}

/// llama.cpp's name of the architecture of a family whose models can be written.
pub(crate) fn architecture_of(family: Family) -> Option<&'static str> {
    match family {
        Family::Llama | Family::Mistral => Some("llama"),
        Family::Qwen2 => Some("qwen2"),
        Family::Qwen3 => Some("qwen3"),
        Family::Gemma3 => Some("gemma3"),
        Family::Lfm2 => Some("lfm2"),
        _ => None,
    }
}

/// llama.cpp's name of the architecture of a model called `name`; errs for models that cannot be written.
fn architecture(config: &ModelConfig, name: &str) -> Result<&'static str, ModelError> {
    let unsupported = |what: String, hint: &str| ModelError::Unsupported {
        file: name.to_owned(),
        what,
        hint: hint.to_owned(),
    };
    let Some(architecture) = architecture_of(config.family) else {
        let what = format!("a GGUF file of a {} model", config.family.name());
        let written = Family::ALL
            .into_iter()
            .filter(|family| architecture_of(*family).is_some());
        let names: Vec<&str> = written.map(Family::name).collect();
        return Err(unsupported(what, &format!("{} can be written", names.join(", "))));
    };
    let is_alike = match config.family {
        // llama.cpp has the root of a head's length, and this activation, built in.
        Family::Gemma3 => {
            config.activation == Activation::GeluTanh
                && config.multipliers.scores == 1.0 / (config.head_dim as f32).sqrt()
        }
        Family::Lfm2 => {
            let full = |mixer: &Mixer| !matches!(mixer, Mixer::Attention { window: Some(_), .. });
            config.activation == Activation::Silu && !config.convolution_bias && config.mixers.iter().all(full)
        }
        _ => config.is_plain(),
    };
    if !is_alike || !config.rope_scaling.only_divides() {
        let what =
            "a GGUF file of a model with YaRN, or other sliding windows, LongRoPE, gates or factors than llama.cpp has";
        return Err(unsupported(
            what.to_owned(),
            "such models run from their checkpoint only",
        ));
    }
    Ok(architecture)
}

/// `llama_ftype` of files whose matrices are all of one format.
fn file_type(format: GgmlDType) -> u32 {
    match format {
        GgmlDType::F16 => 1,
        GgmlDType::BF16 => 32,
        _ => 0,
    }
}

/// The sizes and switches of the network, as llama.cpp's metadata.
fn hyper_parameters(config: &ModelConfig, architecture: &str) -> Vec<(String, Value)> {
    // Sizes are under `ModelConfig::LIMITS`, all of which fit.
    let size = |size: usize| Value::U32(size as u32);
    let mut fields = vec![
        ("context_length", size(config.max_positions)),
        ("embedding_length", size(config.hidden_size)),
        ("block_count", size(config.layers)),
        ("feed_forward_length", size(config.intermediate_size)),
        ("attention.head_count", size(config.heads)),
        ("attention.head_count_kv", kv_heads(config)),
        ("attention.key_length", size(config.head_dim)),
        ("attention.value_length", size(config.head_dim)),
        ("attention.layer_norm_rms_epsilon", Value::F32(config.rms_norm_eps)),
        ("rope.dimension_count", size(config.head_dim)),
        ("rope.freq_base", Value::F32(config.rope_theta)),
        ("vocab_size", size(config.vocab_size)),
    ];
    if let RopeScaling::Linear { factor } = config.rope_scaling {
        fields.push(("rope.scaling.type", Value::String("linear".to_owned())));
        fields.push(("rope.scaling.factor", Value::F32(factor)));
    }
    match config.family {
        Family::Gemma3 => fields.extend(gemma3_fields(config)),
        Family::Lfm2 => fields.push(("shortconv.l_cache", size(config.convolution_taps))),
        _ => {}
    }
    let named = fields
        .into_iter()
        .map(|(field, value)| (format!("{architecture}.{field}"), value));
    std::iter::once((
        "general.architecture".to_owned(),
        Value::String(architecture.to_owned()),
    ))
    .chain(named)
    .collect()
}

/// Number of key and value heads: one number, or one for each layer where some have none.
fn kv_heads(config: &ModelConfig) -> Value {
    let count = Value::U32(config.kv_heads as u32);
    let of_layer = |layer| match config.has_attention(layer) {
        true => count.clone(),
        false => Value::U32(0),
    };
    match (0..config.layers).all(|layer| config.has_attention(layer)) {
        true => count,
        false => Value::Array((0..config.layers).map(of_layer).collect()),
    }
}

/// Gemma 3's windows, and the layers that have them: those whose positions have a base of their own.
fn gemma3_fields(config: &ModelConfig) -> Vec<(&'static str, Value)> {
    let window = |mixer: &Mixer| match mixer {
        Mixer::Attention {
            window,
            positions: Positions::LocalRotary,
        } => Some(window.unwrap_or(config.max_positions)),
        _ => None,
    };
    let Some(length) = config.mixers.iter().find_map(window) else {
        return Vec::new();
    };
    let has_window = config.mixers.iter().map(|mixer| Value::Bool(window(mixer).is_some()));
    vec![
        ("attention.sliding_window", Value::U32(length as u32)),
        ("attention.sliding_window_pattern", Value::Array(has_window.collect())),
        ("rope.freq_base_swa", Value::F32(config.local_rope_theta)),
    ]
}

/// Writes the file.
fn write(path: &Path, metadata: &[(String, Value)], tensors: &[(String, QTensor)]) -> Result<(), ModelError> {
    let failed = |source| ModelError::cannot_write(path, source);
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    gguf_file::write(&mut file, &metadata, &tensors).map_err(|error| failed(std::io::Error::other(error)))?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)
}
