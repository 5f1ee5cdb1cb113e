//! [`LatentShapes`]: names and shapes of the tensors of latent attention.

use crate::load::config::ModelConfig;
use crate::load::config::latent_attention::LatentAttention;
use crate::load::shapes::matrices::{MatrixShape, NamedShape, matrix_shape, norm};

/// The tensors of latent attention.
pub(crate) struct LatentShapes {
    /// Matrix from a token's vector to the queries of all heads, or to the latent vector that queries are made from.
    pub(crate) query: MatrixShape,
    /// The norm of the queries' latent vector and the matrix from it to the queries; `None` where `query` gives the queries
    /// themselves.
    pub(crate) query_up: Option<(NamedShape, MatrixShape)>,
    /// Matrix from a token's vector to the latent vector of keys and values, then the part of the keys that positions rotate.
    pub(crate) kept: MatrixShape,
    /// The norm of the latent vector of keys and values.
    pub(crate) kept_norm: NamedShape,
    /// Matrix from the latent vector to each head's key and value: `[heads · (plain_dim + value_dim), rank]`.
    pub(crate) key_value_up: MatrixShape,
    pub(crate) output: MatrixShape,
}

impl LatentShapes {
    pub(crate) fn of(config: &ModelConfig, sizes: &LatentAttention, at: &dyn Fn(&str) -> String) -> Self {
        let (hidden, heads, bias) = (config.hidden_size, config.heads, config.qkv_bias);
        let matrix = |name: &str, outputs: usize, inputs: usize, bias: bool| {
            matrix_shape(at(&format!("self_attn.{name}")), outputs, inputs, bias)
        };
        let queries = heads * sizes.query_dim();
        Self {
            query: match sizes.query_rank {
                Some(rank) => matrix("q_a_proj", rank, hidden, bias),
                None => matrix("q_proj", queries, hidden, false),
            },
            query_up: sizes.query_rank.map(|rank| {
                let up = matrix("q_b_proj", queries, rank, false);
                (norm(&at("self_attn.q_a_layernorm"), rank), up)
            }),
            kept: matrix("kv_a_proj_with_mqa", sizes.kept_dim(), hidden, bias),
            kept_norm: norm(&at("self_attn.kv_a_layernorm"), sizes.rank),
            key_value_up: matrix(
                "kv_b_proj",
                heads * (sizes.plain_dim + sizes.value_dim),
                sizes.rank,
                false,
            ),
            output: matrix("o_proj", hidden, heads * sizes.value_dim, config.attention_output_bias),
        }
    }

    /// All matrices, in the order of a forward pass.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = &MatrixShape> {
        let up = self.query_up.iter().map(|(_, matrix)| matrix);
        let behind = [&self.kept, &self.key_value_up, &self.output];
        std::iter::once(&self.query).chain(up).chain(behind)
    }

    /// Returns the norms of the latent vectors.
    pub(crate) fn norms(&self) -> impl Iterator<Item = &NamedShape> {
        let query = self.query_up.iter().map(|(norm, _)| norm);
        query.chain([&self.kept_norm])
    }
}
