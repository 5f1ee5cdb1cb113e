//! [`RopeScaling`]: the scaling of rotary frequencies for long contexts, as config.json gives it.

use crate::error::ModelError;
use crate::load::config::layer_kinds::MAX_POSITIONS;
use crate::load::json_fields::JsonFields;

/// Scaling of rotary frequencies, by which a model sees further than it was first trained for.
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
    /// Only the first pairs are turned, with the frequencies that they have where all are turned; Gemma 4's.
    Proportional {
        /// Number of pairs that are turned.
        pairs: usize,
    },
    /// YaRN's scaling (arXiv 2309.00071): frequencies that turn often within the first training's context are kept, those that
    /// hardly turn are divided by `factor`, those between are blended.
    Yarn {
        /// Divisor of the slow frequencies.
        factor: f32,
        /// Number of turns within the first training's context from which a frequency is kept.
        fast_turns: f32,
        /// Number of turns below which a frequency is divided.
        slow_turns: f32,
        /// Context length of the first training, in tokens.
        original_max_positions: f32,
        /// Whether the bounds of the blended frequencies are rounded outwards to whole pairs.
        rounded: bool,
        /// Factor of the rotated vectors.
        vectors: f32,
    },
}

impl RopeScaling {
    /// Number of positions that a model has, of which config.json has `written`: of a LongRoPE only the first training's are served, and YaRN
    /// lengthens the context although many files keep the number of the first training.
    pub(crate) fn positions(&self, written: usize) -> usize {
        match self {
            Self::Long {
                original_max_positions, ..
            } => written.min(*original_max_positions),
            Self::Yarn {
                factor,
                original_max_positions,
                ..
            } => written.max(((factor * original_max_positions) as usize).min(MAX_POSITIONS)),
            _ => written,
        }
    }

    /// Whether the scaling is nothing but a divisor of each frequency: it is not YaRN, and has no factor of the rotated vectors.
    pub(crate) fn only_divides(&self) -> bool {
        match self {
            Self::Yarn { .. } => false,
            Self::Long { vectors, .. } => *vectors == 1.0,
            _ => true,
        }
    }

    /// Returns the kind of scaling that `fields` names (`rope_type`, or the older `type`); `None` where neither is given.
    pub(crate) fn kind<'a>(fields: &'a JsonFields<'_>) -> Result<Option<&'a str>, ModelError> {
        match fields.text("rope_type")? {
            Some(kind) => Ok(Some(kind)),
            None => fields.text("type"),
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
        match Self::kind(fields)? {
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
            Some("proportional") => {
                let factor = fields.number("factor", 0.0, 1e9)?;
                if factor.is_some_and(|factor| factor != 1.0) {
                    return Err(
                        fields.unsupported(format!("{name} of type \"proportional\" with a factor"), "factor 1")
                    );
                }
                let part = fields.number("partial_rotary_factor", 0.0, 1.0)?.unwrap_or(1.0);
                Ok(Self::Proportional {
                    pairs: (part * pairs as f64) as usize,
                })
            }
            Some("yarn") => Self::yarn(fields, lengths),
            Some(other) => {
                let what = format!("{name} of type {other:?}");
                Err(fields.unsupported(what, "supported: default, linear, llama3, longrope, proportional, yarn"))
            }
        }
    }

    /// Reads YaRN's fields; `lengths` as [`from_fields`](Self::from_fields) takes them.
    fn yarn(fields: &JsonFields<'_>, lengths: (usize, usize)) -> Result<Self, ModelError> {
        let original = fields
            .size("original_max_position_embeddings", 1 << 26)?
            .unwrap_or(lengths.0);
        let factor = match fields.number("factor", 0.0, 1e9)? {
            Some(factor) => factor,
            None => lengths.1 as f64 / original as f64,
        };
        let weights = (
            fields.number("mscale", -1.0, 1e9)?.unwrap_or(0.0),
            fields.number("mscale_all_dim", -1.0, 1e9)?.unwrap_or(0.0),
        );
        let vectors = match (fields.number("attention_factor", 0.0, 1e9)?, weights) {
            (Some(vectors), _) => vectors,
            (None, (one, all)) if one != 0.0 && all != 0.0 => magnitude(factor, one) / magnitude(factor, all),
            (None, _) => magnitude(factor, 1.0),
        };
        let turns = |field: &str, default: f64| Ok(fields.number(field, 0.0, 1e9)?.unwrap_or(default) as f32);
        Ok(Self::Yarn {
            factor: factor as f32,
            fast_turns: turns("beta_fast", 32.0)?,
            slow_turns: turns("beta_slow", 1.0)?,
            original_max_positions: original as f32,
            rounded: fields.flag("truncate", true)?,
            vectors: vectors as f32,
        })
    }
}

/// Returns YaRN's magnitude: the factor by which vectors grow where frequencies are divided by `factor`, with the weight
/// `mscale`.
pub(crate) fn magnitude(factor: f64, weight: f64) -> f64 {
    match factor <= 1.0 {
        true => 1.0,
        false => 0.1 * weight * factor.ln() + 1.0,
    }
}
