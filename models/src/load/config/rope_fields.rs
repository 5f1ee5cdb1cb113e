//! [`RopeFields`]: the rotary position settings of config.json.

use crate::error::ModelError;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::MAX_POSITIONS;
use crate::load::config::rope_scaling::{RopeScaling, magnitude};
use crate::load::json_fields::JsonFields;

/// The rotary base of OLMo 3's layers with windows, and of the others where config.json names none.
const OLMO3_THETA: f64 = 500_000.0;

/// The rotary position settings of config.json.
pub(crate) struct RopeFields {
    /// Base of the frequencies.
    pub(crate) theta: f32,
    /// Base of the frequencies in layers with windows, where these have one of their own.
    pub(crate) local_theta: f32,
    /// Scaling of the frequencies.
    pub(crate) scaling: RopeScaling,
    /// Factor of the attention scores that comes with the scaling.
    pub(crate) scores: f32,
    /// Number of elements of a head's vector that are rotated.
    pub(crate) dim: usize,
}

impl RopeFields {
    /// Reads `rope_theta` and `rope_scaling`, or the newer `rope_parameters` that holds both, Gemma's once for each kind of layer. Where a
    /// file has both, `rope_scaling` counts, as in transformers: it has been added by hand.
    pub(crate) fn read(
        fields: &JsonFields<'_>,
        family: Family,
        head_dim: usize,
        max_positions: usize,
    ) -> Result<Self, ModelError> {
        let is_scaled = fields
            .object("rope_scaling")?
            .is_some_and(|scaling| scaling.names().next().is_some());
        let name = match (fields.get("rope_parameters"), is_scaled) {
            // Of these, transformers changes one kind of layer only.
            (Some(_), true) if matches!(family, Family::Gemma3 | Family::Gemma4 | Family::Olmo3) => {
                return Err(fields.unsupported(
                    "rope_scaling beside rope_parameters".to_owned(),
                    "remove one of the two",
                ));
            }
            (Some(_), false) => "rope_parameters",
            (None, _) | (Some(_), true) => "rope_scaling",
        };
        let mut parameters = fields.object(name)?;
        let mut local = None;
        if let Some(by_kind) = &parameters {
            let global = by_kind.object("full_attention")?;
            local = by_kind.object("sliding_attention")?;
            parameters = match global {
                Some(global) => Some(global),
                None if family == Family::Gemma4 || local.is_some() => {
                    return Err(by_kind.error("full_attention", "missing; expected an object"));
                }
                None => parameters,
            };
        }
        if let Some(local) = &local
            && RopeScaling::kind(local)?.is_some_and(|kind| kind != "default")
        {
            let what = format!("{name} of sliding_attention of another type than \"default\"");
            return Err(fields.unsupported(what, "positions that are not stretched in layers with windows"));
        }
        let number = |within: Option<&JsonFields<'_>>, field: &str, beside: &str, low: f64, high: f64| {
            let nested = match within {
                Some(within) => within.number(field, low, high)?,
                None => None,
            };
            match nested {
                Some(number) => Ok(Some(number)),
                None => fields.number(beside, low, high),
            }
        };
        let default = match family {
            Family::Lfm2 | Family::Lfm2Moe | Family::Gemma3 | Family::Gemma4 | Family::Mixtral => 1e6,
            Family::SmolLm3 => 2e6,
            Family::GptOss => 150_000.0,
            Family::Olmo3 => OLMO3_THETA,
            _ => 1e4,
        };
        let local_default = if family == Family::Olmo3 { OLMO3_THETA } else { 1e4 };
        let theta = number(parameters.as_ref(), "rope_theta", "rope_theta", 1.0, 1e15)?.unwrap_or(default);
        let local_theta =
            number(local.as_ref(), "rope_theta", "rope_local_base_freq", 1.0, 1e15)?.unwrap_or(local_default);
        let field = "partial_rotary_factor";
        let part = match number(parameters.as_ref(), field, field, 0.0, 1.0)? {
            // Not a part of each head, but of the pairs within the whole head.
            Some(_) if family == Family::Gemma4 => 1.0,
            Some(part) if matches!(family, Family::Glm4 | Family::Phi3) || family.has_delta_nets() || part == 1.0 => {
                part
            }
            Some(_) => return Err(fields.unsupported(field, "rotary positions over the whole head")),
            None if family == Family::Glm4 => 0.5,
            None if family.has_delta_nets() => 0.25,
            None => 1.0,
        };
        let dim = (head_dim as f64 * part) as usize;
        if dim == 0 || !dim.is_multiple_of(2) {
            let message = format!("rotary positions over {dim} elements, which is odd or none; they need pairs");
            return Err(fields.error("head_dim", message));
        }
        let original = fields.size("original_max_position_embeddings", MAX_POSITIONS)?;
        let scaling = match &parameters {
            None if matches!(family, Family::GptOss | Family::Gemma4) => {
                return Err(fields.error(name, "missing; models of this family have other positions than Llama's"));
            }
            None => RopeScaling::None,
            Some(parameters) => RopeScaling::from_fields(
                name,
                parameters,
                dim / 2,
                (original.unwrap_or(max_positions), max_positions),
            )?,
        };
        if matches!(scaling, RopeScaling::Proportional { .. }) && family != Family::Gemma4 {
            let what = format!("{name} of type \"proportional\"");
            return Err(fields.unsupported(what, "Gemma 4's models alone have it"));
        }
        let scores = match &parameters {
            Some(parameters) if family.has_latent_attention() && scaling != RopeScaling::None => {
                score_factor(parameters)?
            }
            _ => 1.0,
        };
        Ok(Self {
            theta: theta as f32,
            local_theta: local_theta as f32,
            scaling,
            scores,
            dim,
        })
    }
}

/// The factor of attention scores in DeepSeek's models with stretched positions.
fn score_factor(parameters: &JsonFields<'_>) -> Result<f32, ModelError> {
    match parameters.number("mscale_all_dim", -1.0, 1e9)? {
        Some(weight) if weight != 0.0 => {
            let factor = parameters.required_number("factor", 0.0, 1e9)?;
            Ok(magnitude(factor, weight).powi(2) as f32)
        }
        _ => Ok(1.0),
    }
}
