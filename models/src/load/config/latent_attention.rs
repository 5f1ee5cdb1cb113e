//! [`LatentAttention`]: sizes of attention whose keys and values are made from one short latent vector of each token.

use crate::error::ModelError;
use crate::load::config::family::Family;
use crate::load::json_fields::JsonFields;

/// The longest vector of a token or a head.
const MAX_SIZE: usize = 1 << 16;

/// Sizes of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): of each token, one vector is kept from which every head
/// makes its key and its value, and one vector with rotary positions that is a part of every head's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatentAttention {
    /// Length of the vector that the queries of a token are made from, where it is not the token's own.
    pub query_rank: Option<usize>,
    /// Length of the vector that keys and values of a token are made from.
    pub rank: usize,
    /// Number of elements of a head's query and key that positions turn; even.
    pub rotary_dim: usize,
    /// Number of elements of a head's query and key that positions do not turn.
    pub plain_dim: usize,
    /// Length of a head's value.
    pub value_dim: usize,
}

impl LatentAttention {
    /// The sizes in config.json, or those that it leaves out, where the family has such attention.
    pub(crate) fn read(fields: &JsonFields<'_>, family: Family) -> Result<Option<Self>, ModelError> {
        if !family.has_latent_attention() {
            return Ok(None);
        }
        if !fields.flag("rope_interleave", true)? {
            return Err(fields.unsupported("rope_interleave false", "positions that turn neighbouring elements"));
        }
        let query_rank = fields.size("q_lora_rank", MAX_SIZE)?;
        let default = fields.is_absent("q_lora_rank").then_some(1536);
        Ok(Some(Self {
            query_rank: query_rank.or(default),
            rank: fields.size_or("kv_lora_rank", MAX_SIZE, 512)?,
            rotary_dim: fields.size_or("qk_rope_head_dim", MAX_SIZE, 64)?,
            plain_dim: fields.size_or("qk_nope_head_dim", MAX_SIZE, 128)?,
            value_dim: fields.size_or("v_head_dim", MAX_SIZE, 128)?,
        }))
    }

    /// Length of a head's query.
    pub(crate) fn query_dim(&self) -> usize {
        self.rotary_dim + self.plain_dim
    }

    /// Length of the vector that the cache keeps for each token, which is key and value of all heads in one.
    pub(crate) fn kept_dim(&self) -> usize {
        self.rotary_dim + self.rank
    }
}
