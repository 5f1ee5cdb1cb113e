//! [`RopeScaling`]: how config.json stretches rotary positions for long contexts.

use serde_json::Value;

use crate::error::ModelError;
use crate::load::json_fields::JsonFields;

/// How rotary frequencies are stretched so that a model sees further than it was first trained for.
#[derive(Clone, Debug, PartialEq)]
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
    /// LongRoPE's scaling for sequences that are no longer than those of the first training.
    Long {
        /// The divisor of each frequency.
        divisors: Vec<f32>,
        /// Factor of the rotated vectors.
        vectors: f32,
        /// Context length of the first training, in tokens; longer sequences would need other divisors from their start.
        original_max_positions: usize,
    },
}

impl RopeScaling {
    /// Number of positions that the scaling serves, where it does not serve all.
    pub(crate) fn longest(&self) -> Option<usize> {
        match self {
            Self::Long {
                original_max_positions, ..
            } => Some(*original_max_positions),
            _ => None,
        }
    }

    /// Reads `fields`, the object that config.json has under `name` (`rope_scaling` or `rope_parameters`).
    ///
    /// `pairs` is the number of frequencies. `lengths` are the context lengths, in tokens, of the first training and of the
    /// whole one, as they are written beside that object.
    pub(crate) fn from_fields(
        name: &str,
        fields: &JsonFields<'_>,
        pairs: usize,
        lengths: (usize, usize),
    ) -> Result<Self, ModelError> {
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
            Some("longrope" | "su") => {
                let original = fields
                    .size("original_max_position_embeddings", 1 << 26)?
                    .unwrap_or(lengths.0);
                let factor = fields
                    .number("factor", 0.0, 1e9)?
                    .unwrap_or(lengths.1 as f64 / original as f64);
                let vectors = match fields.number("attention_factor", 0.0, 1e9)? {
                    Some(vectors) => vectors,
                    None if factor <= 1.0 => 1.0,
                    None => (1.0 + factor.ln() / (original as f64).ln()).sqrt(),
                };
                Ok(Self::Long {
                    divisors: fields.numbers("short_factor", pairs)?,
                    vectors: vectors as f32,
                    original_max_positions: original,
                })
            }
            Some(other) => {
                let what = format!("{name} of type {other:?}");
                Err(fields.unsupported(what, "supported: default, linear, llama3, longrope"))
            }
        }
    }
}
