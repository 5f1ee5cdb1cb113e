//! The weights under llama.cpp's names, in its order of rows.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};

use crate::ModelError;
use crate::load::config::{Family, ModelConfig};
use crate::load::weights::Weights;
use crate::network::rope::frequency_divisors;

/// Why a tensor could not be converted.
pub(super) enum TensorError {
    Model(ModelError),
    Candle(candle_core::Error),
}

impl TensorError {
    /// The error of the model called `name`.
    pub(super) fn into_model_error(self, name: &str) -> ModelError {
        match self {
            Self::Model(error) => error,
            Self::Candle(error) => ModelError::compute(name, "writing tensors", &error),
        }
    }
}

impl From<ModelError> for TensorError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<candle_core::Error> for TensorError {
    fn from(error: candle_core::Error) -> Self {
        Self::Candle(error)
    }
}

/// Converts all tensors of a model, with llama.cpp's names, matrices in `format`.
pub(super) fn convert_all(
    config: &ModelConfig,
    weights: &Weights,
    format: GgmlDType,
) -> Result<Vec<(String, QTensor)>, TensorError> {
    let mut converter = TensorConverter {
        config,
        weights,
        format,
        tensors: Vec::new(),
    };
    let hidden = config.hidden_size;
    converter.matrix(
        "token_embd",
        "model.embed_tokens",
        config.vocab_size,
        hidden,
        Rows::Unchanged,
    )?;
    for layer in 0..config.layers {
        converter.layer(&format!("blk.{layer}."), &format!("model.layers.{layer}."))?;
    }
    converter.vector("output_norm.weight", "model.norm.weight", hidden, Rows::Unchanged)?;
    if !config.tied_embeddings {
        converter.matrix("output", "lm_head", config.vocab_size, hidden, Rows::Unchanged)?;
    }
    if let Some(divisors) = frequency_divisors(config) {
        let count = divisors.len();
        converter.push(
            "rope_freqs.weight",
            &Tensor::from_vec(divisors, count, &Device::Cpu)?,
            GgmlDType::F32,
        )?;
    }
    Ok(converter.tensors)
}

/// The order in which a tensor's rows are written.
#[derive(Clone, Copy)]
enum Rows {
    Unchanged,
    /// Rotary positions turn pairs of a head's rows: checkpoints keep the first of all pairs before the second of all
    /// pairs, llama.cpp's `llama` architecture keeps pairs together.
    Pairs {
        heads: usize,
    },
}

/// What [`convert_all`] works on.
struct TensorConverter<'a> {
    config: &'a ModelConfig,
    weights: &'a Weights,
    format: GgmlDType,
    tensors: Vec<(String, QTensor)>,
}

impl TensorConverter<'_> {
    /// Converts the tensors of one layer from names with the prefix `from` to names with the prefix `to`.
    fn layer(&mut self, to: &str, from: &str) -> Result<(), TensorError> {
        let config = self.config;
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let (query, key) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
        let pairs = |heads| match config.family {
            Family::Llama | Family::Mistral => Rows::Pairs { heads },
            Family::Qwen2 | Family::Qwen3 => Rows::Unchanged,
        };
        let (query_rows, key_rows) = (pairs(config.heads), pairs(config.kv_heads));
        let same = Rows::Unchanged;
        let (qkv, output, mlp) = (config.qkv_bias, config.attention_output_bias, config.mlp_bias);
        let projections = [
            ("attn_q", "self_attn.q_proj", query, hidden, query_rows, qkv),
            ("attn_k", "self_attn.k_proj", key, hidden, key_rows, qkv),
            ("attn_v", "self_attn.v_proj", key, hidden, same, qkv),
            ("attn_output", "self_attn.o_proj", hidden, query, same, output),
            ("ffn_gate", "mlp.gate_proj", wide, hidden, same, mlp),
            ("ffn_up", "mlp.up_proj", wide, hidden, same, mlp),
            ("ffn_down", "mlp.down_proj", hidden, wide, same, mlp),
        ];
        for (ours, theirs, outputs, inputs, rows, has_bias) in projections {
            let (ours, theirs) = (format!("{to}{ours}"), format!("{from}{theirs}"));
            self.matrix(&ours, &theirs, outputs, inputs, rows)?;
            if has_bias {
                self.vector(&format!("{ours}.bias"), &format!("{theirs}.bias"), outputs, rows)?;
            }
        }
        let norms: &[_] = match config.family {
            Family::Qwen3 => &[
                ("attn_q_norm", "self_attn.q_norm", config.head_dim),
                ("attn_k_norm", "self_attn.k_norm", config.head_dim),
            ],
            _ => &[],
        };
        let norms = norms.iter().copied().chain([
            ("attn_norm", "input_layernorm", hidden),
            ("ffn_norm", "post_attention_layernorm", hidden),
        ]);
        for (ours, theirs, len) in norms {
            self.vector(
                &format!("{to}{ours}.weight"),
                &format!("{from}{theirs}.weight"),
                len,
                same,
            )?;
        }
        Ok(())
    }

    /// Converts a matrix.
    fn matrix(&mut self, to: &str, from: &str, outputs: usize, inputs: usize, rows: Rows) -> Result<(), TensorError> {
        let tensor = self.read(&format!("{from}.weight"), vec![outputs, inputs], rows)?;
        self.push(&format!("{to}.weight"), &tensor, self.format)
    }

    /// Converts a norm or a bias, which llama.cpp wants in F32.
    fn vector(&mut self, to: &str, from: &str, len: usize, rows: Rows) -> Result<(), TensorError> {
        let tensor = self.read(from, vec![len], rows)?;
        self.push(to, &tensor, GgmlDType::F32)
    }

    /// Reads a tensor, its rows in the order `rows`.
    fn read(&self, name: &str, shape: Vec<usize>, rows: Rows) -> Result<Tensor, TensorError> {
        let part = (name.to_owned(), shape);
        let tensor = self
            .weights
            .stacked(std::slice::from_ref(&part), DType::F32, &Device::Cpu)?;
        let Rows::Pairs { heads } = rows else {
            return Ok(tensor);
        };
        let shape = tensor.dims().to_vec();
        let half = shape[0] / heads / 2;
        let apart = tensor.reshape((heads, 2, half, tensor.elem_count() / shape[0]))?;
        Ok(apart.transpose(1, 2)?.contiguous()?.reshape(shape)?)
    }

    /// Adds a tensor in `format` to the result.
    fn push(&mut self, name: &str, tensor: &Tensor, format: GgmlDType) -> Result<(), TensorError> {
        self.tensors.push((name.to_owned(), QTensor::quantize(tensor, format)?));
        Ok(())
    }
}
