//! The weights under llama.cpp's names, in its order of rows.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::matrix_shapes::{MatrixShape, NamedShape};
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
    converter.matrix("token_embd", &config.embeddings(), Rows::Unchanged)?;
    for layer in 0..config.layers {
        converter.layer(layer)?;
    }
    converter.vector("output_norm.weight", config.final_norm(), Rows::Unchanged)?;
    if let Some(output) = config.untied_output() {
        converter.matrix("output", &output, Rows::Unchanged)?;
    }
    if let Some(divisors) = frequency_divisors(config) {
        let count = divisors.len();
        let divisors = Tensor::from_vec(divisors, count, &Device::Cpu)?;
        converter.push("rope_freqs.weight".to_owned(), &divisors, GgmlDType::F32)?;
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
    /// Converts the tensors of a layer.
    fn layer(&mut self, layer: usize) -> Result<(), TensorError> {
        let config = self.config;
        let pairs = |heads| match config.family {
            Family::Llama | Family::Mistral => Rows::Pairs { heads },
            _ => Rows::Unchanged,
        };
        let matrices = [
            ("attn_q", pairs(config.heads)),
            ("attn_k", pairs(config.kv_heads)),
            ("attn_v", Rows::Unchanged),
            ("attn_output", Rows::Unchanged),
            ("ffn_gate", Rows::Unchanged),
            ("ffn_up", Rows::Unchanged),
            ("ffn_down", Rows::Unchanged),
        ];
        let shapes = config.layer(layer);
        for ((name, rows), matrix) in matrices.into_iter().zip(shapes.matrices()) {
            let name = format!("blk.{layer}.{name}");
            self.matrix(&name, matrix, rows)?;
            if let Some(bias) = matrix.bias() {
                self.vector(&format!("{name}.bias"), bias, rows)?;
            }
        }
        let names = ["attn_norm", "ffn_norm", "attn_q_norm", "attn_k_norm"];
        for (name, norm) in names.into_iter().zip(shapes.norms()) {
            self.vector(&format!("blk.{layer}.{name}.weight"), norm, Rows::Unchanged)?;
        }
        Ok(())
    }

    /// Converts a matrix without its bias.
    fn matrix(&mut self, name: &str, matrix: &MatrixShape, rows: Rows) -> Result<(), TensorError> {
        let tensor = self.read(matrix.weight(), rows)?;
        self.push(format!("{name}.weight"), &tensor, self.format)
    }

    /// Converts a norm or a bias, which llama.cpp wants in F32.
    fn vector(&mut self, name: &str, vector: NamedShape, rows: Rows) -> Result<(), TensorError> {
        let tensor = self.read(vector, rows)?;
        self.push(name.to_owned(), &tensor, GgmlDType::F32)
    }

    /// Reads a tensor, its rows in the order `rows`.
    fn read(&self, tensor: NamedShape, rows: Rows) -> Result<Tensor, TensorError> {
        let tensor = self.weights.stacked(&[tensor], DType::F32, &Device::Cpu)?;
        let Rows::Pairs { heads } = rows else {
            return Ok(tensor);
        };
        let shape = tensor.dims().to_vec();
        let half = shape[0] / heads / 2;
        let apart = tensor.reshape((heads, 2, half, tensor.elem_count() / shape[0]))?;
        Ok(apart.transpose(1, 2)?.contiguous()?.reshape(shape)?)
    }

    /// Adds a tensor in `format` to the result.
    fn push(&mut self, name: String, tensor: &Tensor, format: GgmlDType) -> Result<(), TensorError> {
        self.tensors.push((name, QTensor::quantize(tensor, format)?));
        Ok(())
    }
}
