//! [`Network`]: the weights of all layers, read from a checkpoint.

use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::layer_kinds::{Mixer, Positions};
use crate::load::tensor_shapes::{FeedForwardShapes, GatedShapes, MatrixShape, MixerShapes, NamedShape, NormShapes};
use crate::load::weights::Weights;
use crate::network::linear::Linear;

/// One block's weights.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) mixer: MixerWeights,
    pub(crate) mixer_norms: Norms,
    pub(crate) feed_forward: FeedForward,
    pub(crate) feed_forward_norms: Norms,
}

/// The norms around a part of a layer: of its input, and of its output before that is added.
#[derive(Debug, Clone)]
pub(crate) struct Norms {
    pub(crate) before: Option<Tensor>,
    pub(crate) behind: Option<Tensor>,
}

/// The weights of a [`Mixer`].
#[derive(Debug, Clone)]
pub(crate) enum MixerWeights {
    Attention(Attention),
    ShortConvolution(ShortConvolution),
}

/// The weights of an attention, and what of it is not the same in all layers.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    /// Queries, keys and values in one matrix: `[(heads + 2 · kv_heads) · head_dim, hidden_size]`.
    pub(crate) qkv: Linear,
    /// Norms of queries and keys, of each head or of all together.
    pub(crate) qk_norm: Option<[Tensor; 2]>,
    pub(crate) output: Linear,
    /// Number of tokens that a token sees, itself included, where it does not see all.
    pub(crate) window: Option<usize>,
    pub(crate) positions: Positions,
}

/// The weights of a gated convolution over few tokens.
#[derive(Debug, Clone)]
pub(crate) struct ShortConvolution {
    /// The input's gate, the output's gate and the input in one matrix: `[3 · hidden_size, hidden_size]`.
    pub(crate) input: Linear,
    /// The factors of each element, of the oldest token first: `[taps, hidden_size]`.
    pub(crate) taps: Tensor,
    /// `[hidden_size]`.
    pub(crate) bias: Option<Tensor>,
    pub(crate) output: Linear,
}

/// The weights of a feed-forward part.
#[derive(Debug, Clone)]
pub(crate) enum FeedForward {
    Dense(Gated),
    Experts {
        router: Linear,
        /// What counts beside the router's logits when experts are chosen.
        bias: Option<Vec<f32>>,
        experts: Vec<Gated>,
    },
}

/// One gated feed-forward part.
#[derive(Debug, Clone)]
pub(crate) struct Gated {
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
            final_norm: self.norm(&config.final_norm())?,
            output,
        })
    }

    /// The layer of that number.
    fn layer(&self, layer: usize) -> Result<Layer, ModelError> {
        let shapes = self.config.layer(layer);
        let mixer = match &shapes.mixer {
            MixerShapes::Attention { qkv, output, norms } => {
                let (window, positions) = match self.config.mixers[layer] {
                    Mixer::Attention { window, positions } => (window, positions),
                    Mixer::ShortConvolution => (None, Positions::Rotary),
                };
                MixerWeights::Attention(Attention {
                    qkv: self.linear(qkv)?,
                    qk_norm: match norms {
                        Some([query, key]) => Some([self.norm(query)?, self.norm(key)?]),
                        None => None,
                    },
                    output: self.linear(std::slice::from_ref(output))?,
                    window,
                    positions,
                })
            }
            MixerShapes::ShortConvolution {
                input,
                taps,
                bias,
                output,
            } => MixerWeights::ShortConvolution(ShortConvolution {
                input: self.linear(std::slice::from_ref(input))?,
                taps: self.taps(taps)?,
                bias: bias
                    .as_ref()
                    .map(|bias| self.vector(std::slice::from_ref(bias)))
                    .transpose()?,
                output: self.linear(std::slice::from_ref(output))?,
            }),
        };
        let feed_forward = match &shapes.feed_forward {
            FeedForwardShapes::Dense(gated) => FeedForward::Dense(self.gated(gated)?),
            FeedForwardShapes::Experts { router, bias, experts } => FeedForward::Experts {
                bias: bias.as_ref().map(|bias| self.on_host(bias)).transpose()?,
                router: self.linear(std::slice::from_ref(router))?,
                experts: experts
                    .iter()
                    .map(|expert| self.gated(expert))
                    .collect::<Result<_, _>>()?,
            },
        };
        Ok(Layer {
            mixer,
            mixer_norms: self.norms(&shapes.mixer_norms)?,
            feed_forward,
            feed_forward_norms: self.norms(&shapes.feed_forward_norms)?,
        })
    }

    fn gated(&self, shapes: &GatedShapes) -> Result<Gated, ModelError> {
        Ok(Gated {
            gate_up: self.linear(&shapes.gate_up)?,
            down: self.linear(std::slice::from_ref(&shapes.down))?,
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

    fn norms(&self, shapes: &NormShapes) -> Result<Norms, ModelError> {
        let norm = |shape: &Option<NamedShape>| shape.as_ref().map(|shape| self.norm(shape)).transpose();
        Ok(Norms {
            before: norm(&shapes.before)?,
            behind: norm(&shapes.behind)?,
        })
    }

    /// The factors of a norm, in the format of the activations.
    fn norm(&self, shape: &NamedShape) -> Result<Tensor, ModelError> {
        let weights = self.vector(std::slice::from_ref(shape))?;
        match self.config.family.norm_weights_are_offsets() {
            true => (weights + 1.0).map_err(|error| self.failed(&error)),
            false => Ok(weights),
        }
    }

    /// The taps of a convolution, `[taps, hidden_size]`.
    fn taps(&self, shape: &NamedShape) -> Result<Tensor, ModelError> {
        let taps = self.vector(std::slice::from_ref(shape))?;
        let turned = taps.squeeze(1).and_then(|taps| taps.t()?.contiguous());
        turned.map_err(|error| self.failed(&error))
    }

    /// Norms or biases joined into one vector, in the format of the activations.
    fn vector(&self, parts: &[NamedShape]) -> Result<Tensor, ModelError> {
        let dtype = if self.device.is_cpu() { DType::F32 } else { self.dtype };
        self.weights.stacked(parts, dtype, self.device)
    }

    /// A vector that the host reads.
    fn on_host(&self, shape: &NamedShape) -> Result<Vec<f32>, ModelError> {
        let vector = self
            .weights
            .stacked(std::slice::from_ref(shape), DType::F32, &Device::Cpu)?;
        vector.to_vec1().map_err(|error| self.failed(&error))
    }

    /// The error of a device that could not prepare weights.
    fn failed(&self, error: &candle_core::Error) -> ModelError {
        ModelError::Device {
            device: format!("{:?}", self.device.location()),
            message: format!("preparing weights failed: {error}"),
        }
    }
}
