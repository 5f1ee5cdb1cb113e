//! The names and shapes of a checkpoint's tensors, which follow from its [`ModelConfig`].

use crate::load::config::{Family, ModelConfig};

/// A tensor's name and shape.
pub(crate) type NamedShape = (String, Vec<usize>);

/// A matrix of a checkpoint, which may have a bias.
pub(crate) struct MatrixShape {
    /// The name without `.weight` or `.bias`.
    name: String,
    /// Number of rows.
    outputs: usize,
    /// Number of columns.
    pub(crate) inputs: usize,
    has_bias: bool,
}

impl MatrixShape {
    /// The matrix, `[outputs, inputs]`.
    pub(crate) fn weight(&self) -> NamedShape {
        (format!("{}.weight", self.name), vec![self.outputs, self.inputs])
    }

    /// The bias, `[outputs]`, where there is one.
    pub(crate) fn bias(&self) -> Option<NamedShape> {
        self.has_bias
            .then(|| (format!("{}.bias", self.name), vec![self.outputs]))
    }
}

/// The weights of a norm, `[len]`.
fn norm(name: &str, len: usize) -> NamedShape {
    (format!("{name}.weight"), vec![len])
}

impl ModelConfig {
    /// The embeddings of all tokens.
    pub(crate) fn embeddings(&self) -> MatrixShape {
        MatrixShape {
            name: "model.embed_tokens".to_owned(),
            outputs: self.vocab_size,
            inputs: self.hidden_size,
            has_bias: false,
        }
    }

    /// The output matrix, where it is not that of the embeddings.
    pub(crate) fn untied_output(&self) -> Option<MatrixShape> {
        (!self.tied_embeddings).then(|| MatrixShape {
            name: "lm_head".to_owned(),
            ..self.embeddings()
        })
    }

    /// The matrices of a layer: query, key, value, attention output, gate, up, down.
    pub(crate) fn layer_matrices(&self, layer: usize) -> [MatrixShape; 7] {
        let (hidden, wide) = (self.hidden_size, self.intermediate_size);
        let (query, key) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let matrices = [
            ("self_attn.q_proj", query, hidden, self.qkv_bias),
            ("self_attn.k_proj", key, hidden, self.qkv_bias),
            ("self_attn.v_proj", key, hidden, self.qkv_bias),
            ("self_attn.o_proj", hidden, query, self.attention_output_bias),
            ("mlp.gate_proj", wide, hidden, self.mlp_bias),
            ("mlp.up_proj", wide, hidden, self.mlp_bias),
            ("mlp.down_proj", hidden, wide, self.mlp_bias),
        ];
        matrices.map(|(name, outputs, inputs, has_bias)| MatrixShape {
            name: format!("model.layers.{layer}.{name}"),
            outputs,
            inputs,
            has_bias,
        })
    }

    /// The norms of a layer: before the attention, before the feed-forward part.
    pub(crate) fn layer_norms(&self, layer: usize) -> [NamedShape; 2] {
        ["input_layernorm", "post_attention_layernorm"]
            .map(|name| norm(&format!("model.layers.{layer}.{name}"), self.hidden_size))
    }

    /// The norms of each head's query and key, where the family has them.
    pub(crate) fn query_key_norms(&self, layer: usize) -> Option<[NamedShape; 2]> {
        let names = ["self_attn.q_norm", "self_attn.k_norm"];
        (self.family == Family::Qwen3)
            .then(|| names.map(|name| norm(&format!("model.layers.{layer}.{name}"), self.head_dim)))
    }

    /// The norm after the last layer.
    pub(crate) fn final_norm(&self) -> NamedShape {
        norm("model.norm", self.hidden_size)
    }

    /// Number of weights, tied embeddings counted once.
    pub fn parameters(&self) -> u64 {
        let matrix = |matrix: &MatrixShape| elements(&matrix.weight()) + matrix.bias().as_ref().map_or(0, elements);
        let layer = self.layer_matrices(0).iter().map(matrix).sum::<u64>()
            + self.layer_norms(0).iter().map(elements).sum::<u64>()
            + self.query_key_norms(0).iter().flatten().map(elements).sum::<u64>();
        matrix(&self.embeddings())
            + self.untied_output().as_ref().map_or(0, matrix)
            + layer * self.layers as u64
            + elements(&self.final_norm())
    }

    /// Number of weights that a forward pass over one token reads: all but embeddings that are not the output matrix, too.
    pub(crate) fn parameters_per_token(&self) -> u64 {
        match self.tied_embeddings {
            true => self.parameters(),
            false => self.parameters() - elements(&self.embeddings().weight()),
        }
    }
}

/// Number of elements of a tensor.
pub(crate) fn elements((_, shape): &NamedShape) -> u64 {
    shape.iter().map(|size| *size as u64).product()
}
