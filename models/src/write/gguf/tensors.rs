//! The weights under llama.cpp's names, in its order of rows.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::gguf::tensors::names_in_file;
use crate::load::shapes::matrices::{MatrixShape, NamedShape};
use crate::load::weights::Weights;
use crate::network::rope::frequency_divisors;

/// Error of converting a tensor.
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
    converter.matrix(&config.embeddings())?;
    for layer in 0..config.layers {
        converter.layer(layer)?;
    }
    converter.norm(config.final_norm())?;
    if let Some(output) = config.untied_output() {
        converter.matrix(&output)?;
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

/// Converter of a model's tensors, by which [`convert_all`] collects them.
struct TensorConverter<'a> {
    config: &'a ModelConfig,
    weights: &'a Weights,
    format: GgmlDType,
    tensors: Vec<(String, QTensor)>,
}

impl TensorConverter<'_> {
    /// Converts the tensors of a layer.
    fn layer(&mut self, layer: usize) -> Result<(), TensorError> {
        let shapes = self.config.layer(layer);
        for matrix in shapes.matrices() {
            self.matrix(matrix)?;
        }
        for norm in shapes.norms() {
            self.norm(norm)?;
        }
        if let Some((taps, _)) = shapes.convolution() {
            let tensor = self.read(taps.clone())?.squeeze(1)?;
            self.push(self.name_in_file(taps)?, &tensor, GgmlDType::F32)?;
        }
        Ok(())
    }

    /// Converts a matrix with its bias.
    fn matrix(&mut self, matrix: &MatrixShape) -> Result<(), TensorError> {
        let weight = matrix.weight();
        let name = self.name_in_file(&weight)?;
        let tensor = self.read(weight)?;
        self.push(name, &tensor, self.format)?;
        match matrix.bias() {
            // llama.cpp wants biases in F32.
            Some(bias) => {
                let name = self.name_in_file(&bias)?;
                let tensor = self.read(bias)?;
                self.push(name, &tensor, GgmlDType::F32)
            }
            None => Ok(()),
        }
    }

    /// Converts the factors of a norm, which llama.cpp wants in F32.
    fn norm(&mut self, norm: NamedShape) -> Result<(), TensorError> {
        let name = self.name_in_file(&norm)?;
        let mut factors = self.read(norm)?;
        // Where the weights are those of a GGUF file, they are factors already.
        if self.config.family.norm_weights_are_offsets() && self.weights.gguf().is_none() {
            factors = (factors + 1.0)?;
        }
        self.push(name, &factors, GgmlDType::F32)
    }

    /// llama.cpp's name of a tensor.
    fn name_in_file(&self, (name, _): &NamedShape) -> Result<String, TensorError> {
        let names = names_in_file(name, self.config.family == Family::Gemma3);
        let first = names.into_iter().next();
        first
            .ok_or_else(|| TensorError::Candle(candle_core::Error::Msg(format!("llama.cpp has no tensor like {name}"))))
    }

    /// The order of the rows of the tensor of that name.
    fn order(&self, name: &str) -> Rows {
        let heads = match self.config.family {
            Family::Llama | Family::Mistral if name.contains(".q_proj.") => Some(self.config.heads),
            Family::Llama | Family::Mistral if name.contains(".k_proj.") => Some(self.config.kv_heads),
            _ => None,
        };
        heads.map_or(Rows::Unchanged, |heads| Rows::Pairs { heads })
    }

    /// Reads a tensor, its rows in llama.cpp's order.
    fn read(&self, tensor: NamedShape) -> Result<Tensor, TensorError> {
        let rows = self.order(&tensor.0);
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
