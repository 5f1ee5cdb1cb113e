//! [`RandomCheckpoint`]: models with random weights of any shape, in Hugging Face layout, for tests and timing.

use std::convert::Infallible;
use std::io::{BufWriter, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use half::{bf16, f16};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use crate::error::ModelError;
use crate::load::builtin;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::disk::{create_file, write_file};
use crate::load::file_names::{
    CONFIG, GENERATION_CONFIG, TEMPLATE_JINJA, TOKENIZER, TOKENIZER_CONFIG, WEIGHT_INDEX, WEIGHTS,
};
use crate::load::tensor_shapes::{LayerShapes, NamedShape};
use crate::load::weight_format::WeightFormat;

/// A checkpoint to be written. The same fields give the same bytes everywhere.
#[derive(Clone, Debug)]
pub struct RandomCheckpoint {
    /// The contents of config.json; sizes and names of the tensors follow from it.
    pub config: Value,
    /// Seed of the weights.
    pub seed: u64,
    /// Format of the weights; [`WeightFormat::Auto`] is BF16.
    pub format: WeightFormat,
    /// Number of weight files.
    pub shards: usize,
    /// The tokenizer.
    pub tokenizer: CheckpointTokenizer,
}

/// The tokenizer of a [`RandomCheckpoint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointTokenizer {
    /// Each byte is a token; a beginning and an end of sequence follow.
    Bytes,
    /// The tokenizer of the builtin model.
    Builtin,
    /// The tokenizer of the model in a directory.
    Directory(PathBuf),
}

impl FromStr for CheckpointTokenizer {
    type Err = Infallible;

    /// Reads `bytes`, `builtin` or a directory.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "bytes" => Self::Bytes,
            "builtin" => Self::Builtin,
            directory => Self::Directory(directory.into()),
        })
    }
}

/// Names of the shapes that [`RandomCheckpoint::preset`] knows.
pub const PRESETS: [&str; 4] = ["tiny", "small", "llama-3.2-1b", "llama-3.1-8b"];

/// Id of the byte tokenizer's beginning-of-sequence token, which follows the 256 bytes.
const BOS: u32 = 256;
/// Id of the byte tokenizer's end-of-sequence token.
const EOS: u32 = 257;

impl RandomCheckpoint {
    /// The shape of that name: `tiny` (some 50,000 weights), `small` (4.4 million), `llama-3.2-1b` (1.24 billion) or
    /// `llama-3.1-8b` (8.03 billion), those models' shapes; `None` for other names, and where it is not `tiny` for families
    /// other than Llama, Mistral, Qwen2 and Qwen3.
    pub fn preset(family: Family, preset: &str) -> Option<Self> {
        let mut config = match preset {
            "tiny" => json!({
                "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 320, "max_position_embeddings": 1024,
                "rope_theta": 10000.0,
            }),
            "small" => json!({
                "hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 8,
                "num_key_value_heads": 4, "head_dim": 32, "vocab_size": 4096, "max_position_embeddings": 4096,
                "rope_theta": 10000.0,
            }),
            "llama-3.2-1b" => json!({
                "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
                "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128_256, "max_position_embeddings": 131_072,
                "rope_theta": 500_000.0,
            }),
            "llama-3.1-8b" => json!({
                "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
                "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128_256, "max_position_embeddings": 131_072,
                "rope_theta": 500_000.0,
            }),
            _ => return None,
        };
        config["architectures"] = json!([family.architecture()]);
        config["model_type"] = family.name().into();
        config["hidden_act"] = "silu".into();
        config["rms_norm_eps"] = json!(1e-5);
        config["tie_word_embeddings"] = (preset != "llama-3.1-8b").into();
        if family == Family::Llama {
            // So that tests see each of the three kinds of frequencies within a small model's few positions.
            let first_training = if preset == "tiny" { 64 } else { 8192 };
            config["rope_scaling"] = json!({
                "rope_type": "llama3", "factor": if preset == "llama-3.1-8b" { 8.0 } else { 32.0 }, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": first_training,
            });
        }
        match (preset, family) {
            ("tiny", _) => make_typical(family, &mut config),
            (_, Family::Llama | Family::Mistral | Family::Qwen2 | Family::Qwen3) => {}
            _ => return None,
        }
        Some(Self {
            config,
            seed: 0,
            format: WeightFormat::Auto,
            shards: 1,
            tokenizer: CheckpointTokenizer::Bytes,
        })
    }

    /// Writes the checkpoint's files into `directory`, which is created.
    ///
    /// # Errors
    ///
    /// [`ModelError::Config`] where config.json does not describe a model, [`ModelError::Write`] where the files
    /// cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), ModelError> {
        let mut config = self.config.clone();
        match &self.tokenizer {
            CheckpointTokenizer::Directory(from) => copy_tokenizer(from, directory)?,
            CheckpointTokenizer::Builtin => {
                for (name, bytes) in builtin::CONFIGURATION.iter().filter(|(name, _)| *name != CONFIG) {
                    write_file(&directory.join(name), bytes)?;
                }
            }
            CheckpointTokenizer::Bytes => {
                config["bos_token_id"] = BOS.into();
                config["eos_token_id"] = EOS.into();
                write_json(&directory.join(TOKENIZER), &byte_tokenizer())?;
                let special = json!({"bos_token": "<|bos|>", "eos_token": "<|eos|>", "tokenizer_class": "PreTrainedTokenizerFast"});
                write_json(&directory.join(TOKENIZER_CONFIG), &special)?;
            }
        }
        config["torch_dtype"] = match self.format {
            WeightFormat::F32 => "float32",
            WeightFormat::F16 => "float16",
            WeightFormat::Bf16 | WeightFormat::Auto => "bfloat16",
        }
        .into();
        write_json(&directory.join(CONFIG), &config)?;
        let shape = ModelConfig::from_json(CONFIG, config.to_string().as_bytes())?;
        let tensors = tensors(&shape);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        if self.shards <= 1 {
            return self.write_shard(&directory.join(WEIGHTS), &tensors, &mut random);
        }
        let mut shard_of = Map::new();
        let per_shard = tensors.len().div_ceil(self.shards);
        let count = tensors.len().div_ceil(per_shard);
        for (index, tensors) in tensors.chunks(per_shard).enumerate() {
            let name = format!("model-{:05}-of-{count:05}.safetensors", index + 1);
            self.write_shard(&directory.join(&name), tensors, &mut random)?;
            shard_of.extend(tensors.iter().map(|tensor| (tensor.name.clone(), name.clone().into())));
        }
        let index = json!({"metadata": {}, "weight_map": shard_of});
        write_json(&directory.join(WEIGHT_INDEX), &index)
    }

    /// Writes one safetensors file: the header's length, the header, the elements.
    fn write_shard(&self, path: &Path, tensors: &[RandomTensor], random: &mut ChaCha8Rng) -> Result<(), ModelError> {
        let (dtype, width) = match self.format {
            WeightFormat::F32 => ("F32", 4),
            WeightFormat::F16 => ("F16", 2),
            WeightFormat::Bf16 | WeightFormat::Auto => ("BF16", 2),
        };
        let mut header = Map::from_iter([("__metadata__".to_owned(), json!({"format": "pt"}))]);
        let mut start = 0;
        for tensor in tensors {
            let end = start + tensor.elements() * width;
            let info = json!({"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, end]});
            header.insert(tensor.name.clone(), info);
            start = end;
        }
        let mut header = Value::Object(header).to_string();
        // The elements start at a multiple of eight bytes.
        header.extend(std::iter::repeat_n(
            ' ',
            header.len().next_multiple_of(8) - header.len(),
        ));
        let failed = |source| ModelError::cannot_write(path, source);
        let mut out = BufWriter::with_capacity(1 << 20, create_file(path)?);
        out.write_all(&(header.len() as u64).to_le_bytes()).map_err(failed)?;
        out.write_all(header.as_bytes()).map_err(failed)?;
        for tensor in tensors {
            for _ in 0..tensor.elements() {
                // 24 random bits, uniform from -1 to 1: exact in 32-bit floats, so the same on every machine.
                let unit = (random.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
                let value = tensor.center + tensor.scale * unit;
                let written = match width {
                    4 => out.write_all(&value.to_le_bytes()),
                    _ if dtype == "F16" => out.write_all(&f16::from_f32(value).to_le_bytes()),
                    _ => out.write_all(&bf16::from_f32(value).to_le_bytes()),
                };
                written.map_err(failed)?;
            }
        }
        out.flush().map_err(failed)
    }
}

/// Gives a small model what its family has beside Llama's network: layers of each kind, windows that are shorter than its
/// context, factors other than 1.
fn make_typical(family: Family, config: &mut Value) {
    let fields = match family {
        Family::Lfm2 => json!({
            "num_hidden_layers": 4, "full_attn_idxs": [2], "conv_L_cache": 3, "conv_bias": false, "norm_eps": 1e-5,
            "block_ff_dim": 96, "block_multiple_of": 32, "block_auto_adjust_ff_dim": true, "rope_theta": 1_000_000.0,
        }),
        Family::Lfm2Moe => json!({
            "num_hidden_layers": 4, "layer_types": ["conv", "conv", "full_attention", "conv"], "conv_L_cache": 3,
            "norm_eps": 1e-5, "rope_theta": 1_000_000.0, "num_experts": 5, "num_experts_per_tok": 2,
            "moe_intermediate_size": 24, "num_dense_layers": 1, "use_expert_bias": true, "norm_topk_prob": true,
            "routed_scaling_factor": 1.5,
        }),
        Family::Granite => json!({
            "embedding_multiplier": 6.0, "attention_multiplier": 0.2, "residual_multiplier": 0.5, "logits_scaling": 1.5,
        }),
        Family::SmolLm3 => json!({"num_hidden_layers": 4, "no_rope_layers": [1, 1, 0, 1]}),
        Family::Phi3 => json!({
            "sliding_window": 24, "partial_rotary_factor": 0.5, "original_max_position_embeddings": 512,
            "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [1.0, 3.0]},
        }),
        Family::Glm4 => json!({"attention_bias": true, "partial_rotary_factor": 0.5}),
        Family::Gemma3 => json!({
            "num_hidden_layers": 4, "sliding_window_pattern": 2, "sliding_window": 24, "query_pre_attn_scalar": 12,
            "rope_local_base_freq": 1000.0, "rope_theta": 50000.0, "hidden_activation": "gelu_pytorch_tanh",
            "rope_scaling": {"rope_type": "linear", "factor": 4.0},
        }),
        Family::Qwen3Moe => json!({
            "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "norm_topk_prob": true,
            "num_hidden_layers": 3, "mlp_only_layers": [1],
        }),
        Family::Mixtral => json!({"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 24}),
        Family::Mistral => json!({"sliding_window": null}),
        _ => json!({}),
    };
    if let (Value::Object(config), Value::Object(fields)) = (config, fields) {
        // Defaults of transformers may be past the end of a small vocabulary.
        config.insert("pad_token_id".to_owned(), Value::Null);
        config.extend(fields);
    }
}

/// A tensor whose elements are uniform from `center - scale` to `center + scale`.
struct RandomTensor {
    name: String,
    shape: Vec<usize>,
    center: f32,
    scale: f32,
}

impl RandomTensor {
    /// Number of elements.
    fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// All tensors of a model: matrices and biases in the order of the layers, then norms.
fn tensors(config: &ModelConfig) -> Vec<RandomTensor> {
    let mut tensors = Vec::new();
    let mut push = |(name, shape): NamedShape, center: f32, scale: f32| {
        tensors.push(RandomTensor {
            name,
            shape,
            center,
            scale,
        });
    };
    let layers: Vec<LayerShapes> = (0..config.layers).map(|layer| config.layer(layer)).collect();
    let (embeddings, output) = (config.embeddings(), config.untied_output());
    let matrices = iter::once(&embeddings)
        .chain(layers.iter().flat_map(LayerShapes::matrices))
        .chain(&output);
    for matrix in matrices {
        // Products keep the size of their input, so that every layer counts.
        push(matrix.weight(), 0.0, (3.0 / matrix.inputs as f32).sqrt());
        if let Some(bias) = matrix.bias() {
            push(bias, 0.0, 0.5);
        }
    }
    for (taps, bias) in layers.iter().filter_map(LayerShapes::convolution) {
        push(taps.clone(), 0.0, (3.0 / config.convolution_taps as f32).sqrt());
        if let Some(bias) = bias {
            push(bias.clone(), 0.0, 0.5);
        }
    }
    for bias in layers.iter().filter_map(LayerShapes::expert_bias) {
        push(bias.clone(), 0.0, 0.5);
    }
    let center = if config.family.norm_weights_are_offsets() {
        0.0
    } else {
        1.0
    };
    let norms = layers.iter().flat_map(LayerShapes::norms);
    for norm in norms.chain([config.final_norm()]) {
        push(norm, center, 0.25);
    }
    tensors
}

/// A tokenizer.json in which each byte is a token, 0 to 255, followed by a beginning and an end of sequence.
fn byte_tokenizer() -> Value {
    let mut shifted = 0x100u32..;
    let vocabulary = (0..256u32).map(|byte| {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let code = if printable { Some(byte) } else { shifted.next() };
        let name = code.and_then(char::from_u32).map_or_else(String::new, String::from);
        (name, Value::from(byte))
    });
    let special = |id: u32, content: &str| json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(BOS, "<|bos|>"), special(EOS, "<|eos|>")],
        "normalizer": null, "pre_tokenizer": byte_level, "post_processor": null, "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "vocab": vocabulary.collect::<Map<_, _>>(), "merges": [],
        },
    })
}

/// Copies the files that a tokenizer needs from one model's directory to another's.
fn copy_tokenizer(from: &Path, to: &Path) -> Result<(), ModelError> {
    const FILES: [&str; 4] = [TOKENIZER, TOKENIZER_CONFIG, GENERATION_CONFIG, TEMPLATE_JINJA];
    for file in FILES.iter().filter(|file| from.join(file).is_file()) {
        let path = from.join(file);
        let bytes = std::fs::read(&path).map_err(|source| ModelError::cannot_read(&path, source))?;
        write_file(&to.join(file), &bytes)?;
    }
    Ok(())
}

/// Writes indented JSON.
fn write_json(path: &Path, value: &Value) -> Result<(), ModelError> {
    write_file(path, format!("{value:#}\n").as_bytes())
}
