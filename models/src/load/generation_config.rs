//! [`GenerationDefaults`] and end-of-sequence ids: the sampling settings that a model's authors recommend.

use serde_json::Value;

use crate::error::ModelError;
use crate::load::file_names::GENERATION_CONFIG;
use crate::load::files::ModelFiles;
use crate::load::json_fields::JsonFields;

/// Sampling settings that the model's generation_config.json recommends; `None` where it names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct GenerationDefaults {
    /// Whether to sample at all, rather than take the likeliest token.
    pub do_sample: Option<bool>,
    /// Divisor of the logits.
    pub temperature: Option<f32>,
    /// Number of likeliest tokens to choose from; 0 for all.
    pub top_k: Option<usize>,
    /// Probability mass of the likeliest tokens to choose from.
    pub top_p: Option<f32>,
    /// Smallest probability of a token to choose, relative to the likeliest one's.
    pub min_p: Option<f32>,
    /// Divisor (where positive) or factor (where negative) of the logits of tokens that occurred.
    pub repetition_penalty: Option<f32>,
}

/// Reads generation_config.json: sampling settings, and end-of-sequence ids (empty where it names none).
pub(crate) fn read(files: &ModelFiles) -> Result<(GenerationDefaults, Vec<u32>), ModelError> {
    let Some(bytes) = files.get(GENERATION_CONFIG) else {
        return Ok((GenerationDefaults::default(), Vec::new()));
    };
    let file = files.label(GENERATION_CONFIG);
    let fields = JsonFields::parse(&file, bytes)?;
    let number = |field: &str, low: f64, high: f64| -> Result<Option<f32>, ModelError> {
        let number = fields.number(field, low, high)?;
        Ok(number.map(|number| number as f32))
    };
    let defaults = GenerationDefaults {
        do_sample: fields.get("do_sample").and_then(Value::as_bool),
        // Zero temperature is written by some for greedy choice.
        temperature: number("temperature", -f64::MIN_POSITIVE, 1e6)?,
        // vLLM writes -1 for all tokens, which is 0 here.
        top_k: number("top_k", -1.0 - f64::EPSILON, 1e9)?.map(|number| number as usize),
        top_p: number("top_p", -f64::MIN_POSITIVE, 1.0)?,
        min_p: number("min_p", -f64::MIN_POSITIVE, 1.0)?,
        repetition_penalty: number("repetition_penalty", 0.0, 1e6)?,
    };
    Ok((defaults, fields.token_ids("eos_token_id")?))
}
