//! [`Experts`]: the experts of feed-forward parts, and how config.json describes them.

use crate::error::ModelError;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::MAX_WIDTH;
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
    /// Whether the shares of the chosen experts sum to one.
    pub normalised: bool,
    /// How the router's logits become shares.
    pub routing: Routing,
    /// How the checkpoint keeps the experts' matrices.
    pub storage: ExpertStorage,
    /// Layers that have one feed-forward part for all tokens instead, in ascending order.
    pub dense_layers: Vec<usize>,
}

/// How a router's logits become the experts' shares of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Routing {
    /// Their softmax; the largest are chosen.
    Softmax,
    /// Their sigmoids, times a factor.
    Sigmoid {
        /// The factor.
        factor: f32,
        /// Whether each expert has a bias, which counts when experts are chosen, and not in their shares.
        bias: bool,
    },
}

/// How a checkpoint keeps the matrices of a layer's experts.
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
            Family::Qwen3Moe => {
                let normalised = fields.flag("norm_topk_prob", false)?;
                ("moe_intermediate_size", normalised, Routing::Softmax)
            }
            Family::Lfm2Moe => {
                let routing = Routing::Sigmoid {
                    factor: fields.number("routed_scaling_factor", 0.0, 1e9)?.unwrap_or(1.0) as f32,
                    bias: fields.flag("use_expert_bias", true)?,
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
        let step = fields.size("decoder_sparse_step", layers.max(1) + 1)?.unwrap_or(1);
        let named = fields.whole_numbers("mlp_only_layers")?;
        let first = match family {
            Family::Lfm2Moe => fields.whole_number("num_dense_layers")?.unwrap_or(2),
            _ => 0,
        };
        let dense = |layer: &usize| *layer < first || named.contains(layer) || !(layer + 1).is_multiple_of(step);
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
        Ok(Some(Self {
            count,
            per_token,
            intermediate_size,
            storage,
            normalised,
            routing,
            dense_layers: (0..layers).filter(dense).collect(),
        }))
    }
}
