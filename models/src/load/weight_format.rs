//! [`WeightFormat`]: the number format that weights are kept or written in.

use std::str::FromStr;

use candle_core::DType;

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::weights::Weights;

/// The number format weights are kept in.
///
/// On the CPU, the format decides memory and speed only: arithmetic is in 32-bit floats, and weights kept as BF16 give the same
/// results as in F32, but for the order of additions. On a GPU, arithmetic is in this format too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightFormat {
    /// The checkpoint's own format; on the CPU, F32 for small models with F16 weights, and quantised weights stay so.
    #[default]
    Auto,
    /// 32-bit floats.
    F32,
    /// 16-bit floats with 8 bits of exponent.
    Bf16,
    /// 16-bit floats with 5 bits of exponent.
    F16,
}

impl WeightFormat {
    /// The format as candle names it; [`Auto`](Self::Auto) is that of the embeddings of a model of `config` in `weights`, BF16 where they are
    /// quantised, or F32 where they have none in use.
    pub(crate) fn or_that_of(self, config: &ModelConfig, weights: &Weights) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::Bf16 => DType::BF16,
            Self::F16 => DType::F16,
            Self::Auto => {
                let otherwise = match weights.gguf() {
                    Some(_) => DType::BF16,
                    None => DType::F32,
                };
                weights.dtype(&config.embeddings().weight().0).unwrap_or(otherwise)
            }
        }
    }
}

impl FromStr for WeightFormat {
    type Err = ModelError;

    /// Reads `auto`, `f32`, `bf16` or `f16`.
    fn from_str(text: &str) -> Result<Self, ModelError> {
        match text {
            "auto" => Ok(Self::Auto),
            "f32" | "float32" => Ok(Self::F32),
            "bf16" | "bfloat16" => Ok(Self::Bf16),
            "f16" | "float16" => Ok(Self::F16),
            _ => Err(ModelError::Device {
                device: format!("dtype {text}"),
                message: "expected auto, f32, bf16 or f16".to_owned(),
            }),
        }
    }
}
