//! [`Network`]: the weights of all layers, read from a checkpoint.

use candle_core::{DType, Device, Tensor};

use crate::ModelError;
use crate::load::config::{Family, ModelConfig};
use crate::load::weights::Weights;
use crate::network::linear::Linear;

/// One block's weights.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) attention_norm: Tensor,
    /// Queries, keys and values in one matrix: `[(heads + 2 · kv_heads) · head_dim, hidden_size]`.
    pub(crate) qkv: Linear,
    /// Norms of each head's query and key (Qwen3).
    pub(crate) qk_norm: Option<[Tensor; 2]>,
    pub(crate) attention_output: Linear,
    pub(crate) feed_forward_norm: Tensor,
    /// Gate and up projection in one matrix: `[2 · intermediate_size, hidden_size]`.
    pub(crate) gate_up: Linear,
    pub(crate) down: Linear,
}

/// All weights of a model.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) embeddings: Linear,
    pub(crate) layers: Vec<Layer>,
    pub(crate) final_norm: Tensor,
    pub(crate) output: Linear,
}

impl Network {
    /// Reads the network that `config` describes from `weights`, matrices kept as `dtype` on `device`.
    pub(crate) fn read(
        config: &ModelConfig,
        weights: &Weights,
        dtype: DType,
        device: &Device,
    ) -> Result<Self, ModelError> {
        let reader = NetworkReader {
            config,
            weights,
            dtype,
            device,
        };
        reader.network()
    }
}

/// Reads a network's tensors under the names Hugging Face checkpoints give them.
struct NetworkReader<'a> {
    config: &'a ModelConfig,
    weights: &'a Weights,
    dtype: DType,
    device: &'a Device,
}

impl NetworkReader<'_> {
    /// All layers, with what stands around them.
    fn network(&self) -> Result<Network, ModelError> {
        let config = self.config;
        let table = [("model.embed_tokens", config.vocab_size)];
        let embeddings = self.linear("", &table, config.hidden_size, false)?;
        let output = if config.tied_embeddings {
            embeddings.clone()
        } else {
            self.linear("", &[("lm_head", config.vocab_size)], config.hidden_size, false)?
        };
        let layers = (0..config.layers).map(|index| self.layer(&format!("model.layers.{index}.")));
        Ok(Network {
            embeddings,
            layers: layers.collect::<Result<_, _>>()?,
            final_norm: self.norm("model.norm", config.hidden_size)?,
            output,
        })
    }

    /// The layer whose tensors have names with `prefix`.
    fn layer(&self, prefix: &str) -> Result<Layer, ModelError> {
        let config = self.config;
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let (query, key) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
        let norm = |name: &str, len| self.norm(&format!("{prefix}{name}"), len);
        let qkv = [
            ("self_attn.q_proj", query),
            ("self_attn.k_proj", key),
            ("self_attn.v_proj", key),
        ];
        let qk_norm = match config.family {
            Family::Qwen3 => Some([
                norm("self_attn.q_norm", config.head_dim)?,
                norm("self_attn.k_norm", config.head_dim)?,
            ]),
            _ => None,
        };
        let attention_output = [("self_attn.o_proj", hidden)];
        let gate_up = [("mlp.gate_proj", wide), ("mlp.up_proj", wide)];
        Ok(Layer {
            attention_norm: norm("input_layernorm", hidden)?,
            qkv: self.linear(prefix, &qkv, hidden, config.qkv_bias)?,
            qk_norm,
            attention_output: self.linear(prefix, &attention_output, query, config.attention_output_bias)?,
            feed_forward_norm: norm("post_attention_layernorm", hidden)?,
            gate_up: self.linear(prefix, &gate_up, hidden, config.mlp_bias)?,
            down: self.linear(prefix, &[("mlp.down_proj", hidden)], wide, config.mlp_bias)?,
        })
    }

    /// Matrices of `inputs` columns stacked into one; `parts` has their names and numbers of rows.
    fn linear(&self, prefix: &str, parts: &[(&str, usize)], inputs: usize, biased: bool) -> Result<Linear, ModelError> {
        let weights = parts
            .iter()
            .map(|(name, rows)| (format!("{prefix}{name}.weight"), vec![*rows, inputs]));
        let weight = self
            .weights
            .stacked(&weights.collect::<Vec<_>>(), self.dtype, self.device)?;
        let bias = if biased {
            let biases = parts
                .iter()
                .map(|(name, rows)| (format!("{prefix}{name}.bias"), vec![*rows]));
            Some(self.vector(&biases.collect::<Vec<_>>())?)
        } else {
            None
        };
        Ok(Linear::new(weight, bias))
    }

    /// The weights of a norm.
    fn norm(&self, name: &str, len: usize) -> Result<Tensor, ModelError> {
        self.vector(&[(format!("{name}.weight"), vec![len])])
    }

    /// The weights of a norm or bias, in the format of the activations.
    fn vector(&self, parts: &[(String, Vec<usize>)]) -> Result<Tensor, ModelError> {
        let dtype = if self.device.is_cpu() { DType::F32 } else { self.dtype };
        self.weights.stacked(parts, dtype, self.device)
    }
}
