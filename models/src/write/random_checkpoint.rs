//! [`RandomCheckpoint`]: models with random weights of any shape, in Hugging Face layout, for tests and timing.

use std::convert::Infallible;
use std::io::{BufWriter, Write};
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
use crate::load::weight_format::WeightFormat;
use crate::write::random_tensors::{RandomElements, RandomTensor, tensors};
use crate::write::typical_shapes::make_typical;

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
        if family == Family::Mistral {
            config["sliding_window"] = Value::Null;
        }
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
            let (dtype, width) = match tensor.elements {
                RandomElements::Floats { .. } => (dtype, width),
                RandomElements::Bytes { .. } => ("U8", 1),
            };
            let end = start + tensor.count() * width;
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
            for _ in 0..tensor.count() {
                let (center, scale) = match tensor.elements {
                    RandomElements::Floats { center, scale } => (center, scale),
                    RandomElements::Bytes { low, high } => {
                        let byte = low + (random.next_u32() % (u32::from(high - low) + 1)) as u8;
                        out.write_all(&[byte]).map_err(failed)?;
                        continue;
                    }
                };
                // 24 random bits, uniform from -1 to 1: exact in 32-bit floats, so the same on every machine.
                let unit = (random.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
                let value = center + scale * unit;
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
