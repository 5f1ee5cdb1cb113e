//! [`Network`]: the weights of all layers, read from a checkpoint.

use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::tensor_shapes::{MatrixShape, NamedShape};
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
        let embeddings = self.linear(&[config.embeddings()])?;
        let output = match config.untied_output() {
            Some(output) => self.linear(&[output])?,
            None => embeddings.clone(),
        };
        let layers = (0..config.layers).map(|layer| self.layer(layer));
        Ok(Network {
            embeddings,
            layers: layers.collect::<Result<_, _>>()?,
            final_norm: self.vector(&[config.final_norm()])?,
            output,
        })
    }

    /// The layer of that number.
    fn layer(&self, layer: usize) -> Result<Layer, ModelError> {
        let [query, key, value, attention_output, gate, up, down] = self.config.layer_matrices(layer);
        let [attention_norm, feed_forward_norm] = self.config.layer_norms(layer);
        let qk_norm = match self.config.query_key_norms(layer) {
            Some([query_norm, key_norm]) => Some([self.vector(&[query_norm])?, self.vector(&[key_norm])?]),
            None => None,
        };
        Ok(Layer {
            attention_norm: self.vector(&[attention_norm])?,
            qkv: self.linear(&[query, key, value])?,
            qk_norm,
            attention_output: self.linear(&[attention_output])?,
            feed_forward_norm: self.vector(&[feed_forward_norm])?,
            gate_up: self.linear(&[gate, up])?,
            down: self.linear(&[down])?,
        })
    }

    /// Matrices with as many columns, stacked into one.
    fn linear(&self, matrices: &[MatrixShape]) -> Result<Linear, ModelError> {
        let weights: Vec<NamedShape> = matrices.iter().map(MatrixShape::weight).collect();
        let weight = self.weights.stacked(&weights, self.dtype, self.device)?;
        let biases: Vec<NamedShape> = matrices.iter().filter_map(MatrixShape::bias).collect();
        let bias = match biases.is_empty() {
            true => None,
            false => Some(self.vector(&biases)?),
        };
        Ok(Linear::new(weight, bias))
    }

    /// Norms or biases joined into one vector, in the format of the activations.
    fn vector(&self, parts: &[NamedShape]) -> Result<Tensor, ModelError> {
        let dtype = if self.device.is_cpu() { DType::F32 } else { self.dtype };
        self.weights.stacked(parts, dtype, self.device)
    }
}
