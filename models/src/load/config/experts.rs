//! [`Experts`]: the experts of feed-forward parts, and how config.json describes them.

use crate::error::ModelError;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::MAX_WIDTH;
use crate::load::config::single_parts::{Part, parts};
use crate::load::json_fields::JsonFields;

/// The most experts of a layer.
const MAX_EXPERTS: usize = 4_096;
/// Number of weights of an MXFP4 matrix that share a scale.
pub(crate) const BLOCK: usize = 32;

/// The experts of feed-forward parts, of which a router chooses some for each token.
#[derive(Clone, Debug, PartialEq)]
pub struct Experts {
    /// Number of experts in a layer.
    pub count: usize,
    /// Number of experts that a token is sent to.
    pub per_token: usize,
    /// Width of an expert.
    pub intermediate_size: usize,
    /// Width of the part that all tokens pass beside their experts, where it is not [`ModelConfig::intermediate_size`].
    ///
    /// [`ModelConfig::intermediate_size`]: crate::ModelConfig::intermediate_size
    pub shared_intermediate_size: Option<usize>,
    /// Whether the shares of the chosen experts sum to one, before the factor.
    pub normalised: bool,
    /// Factor of the shares.
    pub factor: f32,
    /// Function from the router's logits to the shares of the experts.
    pub routing: Routing,
    /// The groups of experts, where a token's experts are all of some groups.
    pub groups: Option<ExpertGroups>,
    /// Layout of the experts' matrices in the checkpoint.
    pub storage: ExpertStorage,
    /// Numbers of the layers, from 0 and in ascending order, that have one feed-forward part for all tokens instead of experts.
    pub dense_layers: Vec<usize>,
}

/// Function from a router's logits to the experts' shares of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Routing {
    /// Softmax of the logits; the experts with the largest shares are chosen.
    Softmax,
    /// Sigmoids of the logits.
    Sigmoid {
        /// Whether each expert has a bias, which counts when experts are chosen, and not in their shares.
        bias: bool,
        /// Number added to the sum that shares are divided by.
        smallest_sum: f32,
    },
}

/// Groups of experts, one behind the other and of one size: a token's experts are all of the groups that are chosen for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpertGroups {
    /// Number of groups; divides the number of experts.
    pub count: usize,
    /// Number of groups that are chosen, those whose best experts have the largest sum.
    pub chosen: usize,
    /// Number of a group's best experts by whose sum the group is chosen.
    pub best: usize,
}

impl ExpertGroups {
    /// The groups that config.json describes, each judged by so many of its best experts; of `experts` experts, each token is sent to
    /// `per_token`. `by_default` are the numbers of groups and of those chosen where they are not written.
    fn read(
        fields: &JsonFields<'_>,
        best: usize,
        (experts, per_token): (usize, usize),
        by_default: Option<(usize, usize)>,
    ) -> Result<Option<Self>, ModelError> {
        let size = |field: &str, default: Option<usize>| {
            let default = default.filter(|_| fields.is_absent(field));
            Ok::<_, ModelError>(fields.size(field, experts)?.or(default))
        };
        let count = size("n_group", by_default.map(|(count, _)| count))?;
        let chosen = size("topk_group", by_default.map(|(_, chosen)| chosen))?;
        let (Some(count), Some(chosen)) = (count, chosen) else {
            return Err(fields.error("n_group", "missing, or topk_group is; expected positive whole numbers"));
        };
        if !experts.is_multiple_of(count) || chosen > count {
            let message = format!("{experts} experts are not {count} groups of one size, of which {chosen} are chosen");
            return Err(fields.error("n_group", message));
        }
        let size = experts / count;
        if chosen * size < per_token || size < best {
            let message = format!("{chosen} groups of {size} experts, for {per_token} experts of each token");
            return Err(fields.error("topk_group", message));
        }
        Ok((count > 1).then_some(Self { count, chosen, best }))
    }
}

/// Layout of the matrices of a layer's experts in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpertStorage {
    /// Each matrix is a tensor of its own.
    Separate,
    /// One tensor holds the matrices of all experts: `[experts, outputs, inputs]`, gate projection before up projection.
    Rows,
    /// One tensor holds the matrices of all experts, transposed: `[experts, inputs, outputs]`; outputs of gate and up projection
    /// alternate.
    Transposed,
    /// MXFP4: 4-bit floats in blocks of 32 with a power of two for each block, in a tensor of blocks and one of scales for
    /// all experts; outputs of gate and up projection alternate.
    Mxfp4,
}

impl Experts {
    /// The experts that config.json describes, where the family has any; `layers` is the number of layers.
    pub(crate) fn read(fields: &JsonFields<'_>, family: Family, layers: usize) -> Result<Option<Self>, ModelError> {
        let required = |names: &[&str], limit: usize| {
            for name in names {
                if let Some(size) = fields.size(name, limit)? {
                    return Ok(size);
                }
            }
            Err(fields.error(names[0], "missing; expected a positive whole number"))
        };
        let (width, normalised, routing) = match family {
            Family::Mixtral => ("intermediate_size", true, Routing::Softmax),
            Family::Qwen3Moe | Family::Qwen3Next => {
                let normalised = fields.flag("norm_topk_prob", family == Family::Qwen3Next)?;
                ("moe_intermediate_size", normalised, Routing::Softmax)
            }
            Family::DeepseekV2 => {
                // As transformers has it, whatever norm_topk_prob says.
                expect(fields, "scoring_func", &["softmax"])?;
                ("moe_intermediate_size", false, Routing::Softmax)
            }
            Family::NemotronH if !parts(fields, layers)?.contains(&Part::Experts) => return Ok(None),
            Family::DeepseekV3 | Family::NemotronH => {
                expect(fields, "scoring_func", &["sigmoid"])?;
                expect(fields, "topk_method", &["noaux_tc"])?;
                let routing = Routing::Sigmoid {
                    bias: true,
                    smallest_sum: 1e-20,
                };
                ("moe_intermediate_size", fields.flag("norm_topk_prob", true)?, routing)
            }
            Family::Lfm2Moe => {
                let routing = Routing::Sigmoid {
                    bias: fields.flag("use_expert_bias", true)?,
                    smallest_sum: 1e-6,
                };
                ("moe_intermediate_size", fields.flag("norm_topk_prob", true)?, routing)
            }
            Family::GraniteHybrid if fields.whole_number("num_local_experts")? == Some(0) => return Ok(None),
            Family::Gemma4 if !fields.flag("enable_moe_block", false)? => return Ok(None),
            Family::Gemma4 | Family::Qwen35Moe => ("moe_intermediate_size", true, Routing::Softmax),
            Family::GptOss | Family::GraniteHybrid => ("intermediate_size", true, Routing::Softmax),
            _ => return Ok(None),
        };
        let (count, per_token) = match family {
            Family::Gemma4 => (["num_experts"].as_slice(), ["top_k_experts"].as_slice()),
            family if family.has_latent_attention() || family == Family::NemotronH => {
                (["n_routed_experts"].as_slice(), ["num_experts_per_tok"].as_slice())
            }
            Family::Mixtral | Family::GptOss | Family::GraniteHybrid => (
                ["num_local_experts", "num_experts"].as_slice(),
                ["num_experts_per_tok", "experts_per_token"].as_slice(),
            ),
            _ => (
                ["num_experts", "num_local_experts"].as_slice(),
                ["num_experts_per_tok", "experts_per_token"].as_slice(),
            ),
        };
        let count = required(count, MAX_EXPERTS)?;
        let per_token = required(per_token, count)?;
        let step = fields.size_or("decoder_sparse_step", layers.max(1) + 1, 1)?;
        let named = fields.whole_numbers("mlp_only_layers")?;
        let first = match family {
            Family::Lfm2Moe => fields.whole_number("num_dense_layers")?.unwrap_or(2),
            Family::DeepseekV3 => fields.whole_number("first_k_dense_replace")?.unwrap_or(3),
            Family::DeepseekV2 => fields.whole_number("first_k_dense_replace")?.unwrap_or(0),
            _ => 0,
        };
        let single = match family {
            Family::NemotronH => Some(parts(fields, layers)?),
            _ => None,
        };
        let dense = |layer: &usize| match &single {
            Some(parts) => parts[*layer] != Part::Experts,
            None => *layer < first || named.contains(layer) || !(layer + 1).is_multiple_of(step),
        };
        let intermediate_size = required(&[width], MAX_WIDTH)?;
        let storage = match family {
            Family::GptOss if fields.get("quantization_config").is_some() => ExpertStorage::Mxfp4,
            Family::GptOss => ExpertStorage::Transposed,
            Family::GraniteHybrid | Family::Gemma4 => ExpertStorage::Rows,
            _ => ExpertStorage::Separate,
        };
        if storage == ExpertStorage::Mxfp4 {
            let hidden_size = required(&["hidden_size"], MAX_WIDTH)?;
            for (field, size) in [("hidden_size", hidden_size), (width, intermediate_size)] {
                if !size.is_multiple_of(BLOCK) {
                    let message = format!("{size} is not a multiple of {BLOCK}, the block of MXFP4 weights");
                    return Err(fields.error(field, message));
                }
            }
        }
        let factor = match family {
            Family::DeepseekV3 => 2.5,
            _ => 1.0,
        };
        let has_factor = matches!(family, Family::Lfm2Moe | Family::NemotronH) || family.has_latent_attention();
        let written = match has_factor {
            true => fields.number("routed_scaling_factor", 0.0, 1e9)?,
            false => None,
        };
        let sizes = (count, per_token);
        let groups = match family {
            Family::DeepseekV3 => ExpertGroups::read(fields, 2, sizes, Some((8, 4)))?,
            Family::NemotronH => ExpertGroups::read(fields, 2, sizes, Some((1, 1)))?,
            Family::DeepseekV2 => {
                expect(fields, "topk_method", &["greedy", "group_limited_greedy"])?;
                match fields.text("topk_method")? {
                    Some("group_limited_greedy") => ExpertGroups::read(fields, 1, sizes, None)?,
                    _ => None,
                }
            }
            _ => None,
        };
        let shared_intermediate_size = match family {
            Family::Qwen3Next => Some(
                fields
                    .size("shared_expert_intermediate_size", MAX_WIDTH)?
                    .unwrap_or(512),
            ),
            Family::NemotronH => {
                let field = "moe_shared_expert_intermediate_size";
                Some(fields.size_or(field, MAX_WIDTH, 7688)?)
            }
            Family::DeepseekV2 | Family::DeepseekV3 => {
                let default = if family == Family::DeepseekV2 { 2 } else { 1 };
                let parts = fields.size("n_shared_experts", MAX_WIDTH / intermediate_size)?;
                Some(parts.unwrap_or(default) * intermediate_size)
            }
            _ => None,
        };
        Ok(Some(Self {
            count,
            per_token,
            intermediate_size,
            shared_intermediate_size,
            storage,
            normalised,
            factor: written.unwrap_or(factor) as f32,
            groups,
            routing,
            dense_layers: (0..layers).filter(dense).collect(),
        }))
    }
}

/// Errs where the text that config.json has under `field` is none of `known`.
fn expect(fields: &JsonFields<'_>, field: &str, known: &[&str]) -> Result<(), ModelError> {
    match fields.text(field)? {
        Some(other) if !known.contains(&other) => {
            Err(fields.unsupported(format!("{field} {other:?}"), format!("supported: {}", known.join(", "))))
        }
        _ => Ok(()),
    }
}
