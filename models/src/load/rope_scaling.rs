//! [`RopeScaling`]: how config.json stretches rotary positions for long contexts.

use serde_json::Value;

use crate::error::ModelError;
use crate::load::json_fields::JsonFields;

/// How rotary frequencies are stretched so that a model sees further than it was first trained for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RopeScaling {
    /// Frequencies are not stretched.
    None,
    /// All frequencies are divided by `factor` (position interpolation).
    Linear {
        /// The divisor.
        factor: f32,
    },
    /// Llama 3.1's scaling: long wavelengths are divided by `factor`, short ones are kept, those between are blended.
    Llama3 {
        /// Divisor of the long wavelengths.
        factor: f32,
        /// Wavelengths over `original_max_positions / low_freq_factor` are long.
        low_freq_factor: f32,
        /// Wavelengths under `original_max_positions / high_freq_factor` are short.
        high_freq_factor: f32,
        /// Context length of the first training, in tokens.
        original_max_positions: f32,
    },
}

impl RopeScaling {
    /// Reads `fields`, the object that config.json has under `name` (`rope_scaling` or `rope_parameters`).
    pub(crate) fn from_fields(name: &str, fields: &JsonFields<'_>) -> Result<Self, ModelError> {
        let number = |field: &str| {
            let number = fields.required_number(field, 0.0, 1e9);
            number.map(|number| number as f32)
        };
        let kind = fields.get("rope_type").or(fields.get("type")).and_then(Value::as_str);
        match kind {
            None | Some("default") => Ok(Self::None),
            Some("linear") => Ok(Self::Linear {
                factor: number("factor")?,
            }),
            Some("llama3") => {
                let (low, high) = (number("low_freq_factor")?, number("high_freq_factor")?);
                if low >= high {
                    return Err(fields.error("high_freq_factor", format!("{high} is not over low_freq_factor {low}")));
                }
                Ok(Self::Llama3 {
                    factor: number("factor")?,
                    low_freq_factor: low,
                    high_freq_factor: high,
                    original_max_positions: number("original_max_position_embeddings")?,
                })
            }
            Some(other) => {
                let what = format!("{name} of type {other:?}");
                Err(fields.unsupported(what, "supported: default, linear, llama3"))
            }
        }
    }
}
