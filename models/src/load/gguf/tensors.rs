//! [`GgufTensors`]: the weights of a GGUF file under the names that checkpoints in Hugging Face layout have.

use std::collections::BTreeSet;

use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::load::gguf::block_format::BlockFormat;
use crate::load::gguf::file::{GgufFile, TensorPlace};
use crate::load::shapes::matrices::NamedShape;

/// The tensors of a GGUF file, without its bytes.
#[derive(Debug)]
pub(crate) struct GgufTensors {
    file: String,
    tensors: std::collections::HashMap<String, TensorPlace>,
    /// Numbers of query heads and key heads, where the rows of their matrices are in llama.cpp's order for the architecture `llama`.
    paired_heads: Option<[usize; 2]>,
    is_gemma3: bool,
    /// Offset in bytes at which the tensor data starts, behind the header and its padding.
    pub(crate) data_start: usize,
}

/// The rows of a tensor in the order that checkpoints in Hugging Face layout have them in.
pub(crate) struct Rows<'a> {
    pub(crate) format: BlockFormat,
    /// Number of rows.
    pub(crate) count: usize,
    bytes: &'a [u8],
    row_bytes: usize,
    /// Number of heads whose rows stand in pairs.
    paired_heads: Option<usize>,
}

impl<'a> Rows<'a> {
    /// Returns `count` rows that stand in order in `bytes`.
    #[cfg(test)]
    pub(crate) fn in_order(format: BlockFormat, count: usize, bytes: &'a [u8]) -> Self {
        Self {
            format,
            count,
            bytes,
            row_bytes: bytes.len() / count,
            paired_heads: None,
        }
    }

    /// The bytes of a row.
    pub(crate) fn row(&self, row: usize) -> &'a [u8] {
        // Rotary positions turn pairs of a head's rows. Checkpoints keep the first of all pairs before the second of all pairs;
        // llama.cpp keeps pairs together for the architecture `llama`.
        let stored = match self.paired_heads {
            None => row,
            Some(heads) => {
                let length = self.count / heads;
                let (head, within) = (row / length, row % length);
                head * length + within % (length / 2) * 2 + within / (length / 2)
            }
        };
        &self.bytes[stored * self.row_bytes..][..self.row_bytes]
    }
}

impl GgufTensors {
    /// Reads the header of `bytes`, the file that errors call `file`.
    pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let gguf = GgufFile::parse(file, bytes)?;
        let architecture = gguf.metadata.text("general.architecture")?.unwrap_or_default();
        let layers = gguf.metadata.size(&format!("{architecture}.block_count"), 1 << 16)?;
        // One number for all layers, or a list of as many; that all layers have as many is checked where sizes are read.
        let heads = |name: &str| {
            let key = format!("{architecture}.attention.{name}");
            let counts = gguf.metadata.by_layer(&key, layers.unwrap_or(0), 1 << 16)?;
            Ok(counts.and_then(|counts| counts.first().copied()))
        };
        let paired_heads = match architecture {
            "llama" => heads("head_count")?.map(|count| Ok([count, heads("head_count_kv")?.unwrap_or(count)])),
            _ => None,
        };
        let tensors = gguf.tensors.iter();
        Ok(Self {
            file: file.to_owned(),
            tensors: tensors
                .map(|(name, place)| ((*name).to_owned(), place.clone()))
                .collect(),
            paired_heads: paired_heads.transpose()?,
            is_gemma3: architecture == "gemma3",
            data_start: gguf.data_start,
        })
    }

    /// The format of a tensor, where there is one of that name.
    pub(crate) fn format(&self, name: &str) -> Option<BlockFormat> {
        self.place(name).map(|(_, place)| place.format)
    }

    /// The formats of all matrices, and the bytes of all tensors.
    pub(crate) fn formats_and_bytes(&self) -> (BTreeSet<BlockFormat>, u64) {
        // The taps of short convolutions are numbers of 32 bits in all files.
        let is_matrix = |name: &str, place: &TensorPlace| place.shape.len() > 1 && !name.contains("shortconv.conv");
        let matrices = self.tensors.iter().filter(|(name, place)| is_matrix(name, place));
        let bytes = self.tensors.values().map(|place| place.bytes.len() as u64).sum();
        (matrices.map(|(_, place)| place.format).collect(), bytes)
    }

    /// The bytes of a tensor, 0 where there is none of that name.
    pub(crate) fn bytes_of(&self, name: &str) -> u64 {
        self.place(name).map_or(0, |(_, place)| place.bytes.len() as u64)
    }

    /// The tensor that checkpoints in Hugging Face layout call `name`, with its name in the file.
    fn place(&self, name: &str) -> Option<(String, &TensorPlace)> {
        names_in_file(name, self.is_gemma3)
            .into_iter()
            .find_map(|name| self.tensors.get(&name).map(|place| (name, place)))
    }

    /// The rows of a tensor, which must have the given shape; `bytes` are those of the file.
    pub(crate) fn rows<'a>(&self, bytes: &'a [u8], (name, expected): &NamedShape) -> Result<Rows<'a>, ModelError> {
        let Some((in_file, place)) = self.place(name) else {
            return Err(ModelError::TensorMissing {
                file: self.file.clone(),
                tensor: names_in_file(name, self.is_gemma3)
                    .into_iter()
                    .next()
                    .unwrap_or_else(|| name.clone()),
            });
        };
        // Files may leave out dimensions of one.
        let above_one = |shape: &[usize]| shape.iter().copied().filter(|size| *size != 1).collect::<Vec<_>>();
        if above_one(&place.shape) != above_one(expected) {
            return Err(ModelError::TensorShape {
                file: self.file.clone(),
                tensor: in_file,
                expected: expected.clone(),
                found: place.shape.clone(),
            });
        }
        // Numbers of a list without rows stand alone: no blocks of several.
        let row = expected.get(1..).and_then(<[usize]>::last).copied().unwrap_or(1);
        if !row.is_multiple_of(place.format.block_len()) {
            return Err(ModelError::Unsupported {
                file: self.file.clone(),
                what: format!("tensor `{in_file}` in {}", place.format.name()),
                hint: "tensors whose rows are no whole blocks have to be F32, F16 or BF16".to_owned(),
            });
        }
        let rows = expected.first().copied().unwrap_or(1);
        let row_bytes = place.bytes.len().checked_div(rows).unwrap_or(0);
        let heads = match (self.paired_heads, name) {
            (Some([heads, _]), name) if name.contains(".q_proj.") => Some(heads),
            (Some([_, heads]), name) if name.contains(".k_proj.") => Some(heads),
            _ => None,
        };
        if heads.is_some_and(|heads| heads == 0 || !rows.is_multiple_of(2 * heads)) {
            return Err(ModelError::TensorShape {
                file: self.file.clone(),
                tensor: in_file,
                expected: expected.clone(),
                found: place.shape.clone(),
            });
        }
        Ok(Rows {
            format: place.format,
            count: rows,
            bytes: &bytes[place.bytes.clone()],
            row_bytes,
            paired_heads: heads,
        })
    }

    /// Tensors stacked along their first dimension as numbers of `dtype` on `device`; `bytes` are those of the file.
    pub(crate) fn stacked(
        &self,
        bytes: &[u8],
        parts: &[NamedShape],
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor, ModelError> {
        let mut shape = parts.first().map_or_else(Vec::new, |(_, shape)| shape.clone());
        if let Some(rows) = shape.first_mut() {
            *rows = parts.iter().map(|(_, shape)| shape[0]).sum();
        }
        let mut tensors = Vec::new();
        for part in parts {
            let rows = self.rows(bytes, part)?;
            let mut numbers = Vec::with_capacity(part.1.iter().product());
            for row in 0..rows.count {
                rows.format.extend_with_numbers(rows.row(row), &mut numbers);
            }
            // Converted one by one, so that one tensor at a time is in memory in 32 bits.
            let tensor =
                Tensor::from_vec(numbers, part.1.as_slice(), &Device::Cpu).and_then(|part| part.to_dtype(dtype));
            tensors.push(tensor.map_err(|error| self.failed(&error))?);
        }
        let stacked = match tensors.as_slice() {
            [only] => Ok(only.clone()),
            all => Tensor::cat(all, 0),
        };
        stacked
            .and_then(|stacked| stacked.reshape(shape)?.to_device(device))
            .map_err(|error| self.failed(&error))
    }

    /// The error of a device that could not take weights.
    fn failed(&self, error: &candle_core::Error) -> ModelError {
        ModelError::Device {
            device: "cpu".to_owned(),
            message: format!("copying weights of {} failed: {error}", self.file),
        }
    }
}

/// The names that files have for the tensor that checkpoints in Hugging Face layout call `name`, the usual one first; none where no
/// architecture that is read has such a tensor.
pub(crate) fn names_in_file(name: &str, is_gemma3: bool) -> Vec<String> {
    let Some((name, part)) = name.rsplit_once('.') else {
        return Vec::new();
    };
    let Some((layer, within)) = name.strip_prefix("model.layers.").and_then(|rest| rest.split_once('.')) else {
        let names: &[&str] = match name {
            "model.embed_tokens" => &["token_embd"],
            "model.norm" => &["output_norm"],
            "model.embedding_norm" => &["token_embd_norm", "output_norm"],
            "lm_head" => &["output"],
            _ => &[],
        };
        return names.iter().map(|name| format!("{name}.{part}")).collect();
    };
    let within = match within {
        "self_attn.q_proj" => "attn_q",
        "self_attn.k_proj" => "attn_k",
        "self_attn.v_proj" => "attn_v",
        "self_attn.o_proj" | "self_attn.out_proj" => "attn_output",
        "self_attn.q_norm" | "self_attn.q_layernorm" => "attn_q_norm",
        "self_attn.k_norm" | "self_attn.k_layernorm" => "attn_k_norm",
        "mlp.gate_proj" | "feed_forward.w1" => "ffn_gate",
        "mlp.up_proj" | "feed_forward.w3" => "ffn_up",
        "mlp.down_proj" | "feed_forward.w2" => "ffn_down",
        "input_layernorm" | "operator_norm" => "attn_norm",
        "post_attention_layernorm" if is_gemma3 => "post_attention_norm",
        "post_attention_layernorm" | "pre_feedforward_layernorm" | "ffn_norm" => "ffn_norm",
        "post_feedforward_layernorm" => "post_ffw_norm",
        "conv.conv" => "shortconv.conv",
        "conv.in_proj" => "shortconv.in_proj",
        "conv.out_proj" => "shortconv.out_proj",
        _ => return Vec::new(),
    };
    vec![format!("blk.{layer}.{within}.{part}")]
}
