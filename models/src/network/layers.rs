//! [`Network`]: the weights of all layers, read from a checkpoint.

mod fused;
pub(crate) mod latent_attention;

use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::config::gemma4::Heads;
use crate::load::config::layer_kinds::{Mixer, Positions};
use crate::load::config::recurrence::Recurrence;
use crate::load::shapes::experts::{ExpertShapes, MixtureShapes};
use crate::load::shapes::matrices::{GatedShapes, MatrixShape, NamedShape};
use crate::load::shapes::tensors::{FeedForwardShapes, MixerShapes, NormShapes};
use crate::load::weights::Weights;
use crate::network::experts::mixture::{Beside, Mixture, Shared};
use crate::network::experts::stacked::StackedReader;
use crate::network::layers::latent_attention::LatentAttention;
use crate::network::matrices::format::MatrixFormat;
use crate::network::matrices::linear::Linear;
use crate::network::recurrent::causal_convolution::Taps;
use crate::network::recurrent::weights::RecurrentWeights;

/// One block's weights.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) mixer: MixerWeights,
    pub(crate) mixer_norms: Norms,
    pub(crate) feed_forward: FeedForward,
    pub(crate) feed_forward_norms: Norms,
    /// Weights that add the layer's own token embeddings to its output; `None` where the model has no such embeddings.
    pub(crate) input: Option<LayerInput>,
    /// Factor of the layer's output.
    pub(crate) factor: f32,
}

/// Weights by which a layer adds its own token embeddings to its output.
#[derive(Debug, Clone)]
pub(crate) struct LayerInput {
    /// `[width, hidden_size]`.
    pub(crate) gate: Linear,
    /// `[hidden_size, width]`.
    pub(crate) projection: Linear,
    /// Norm of the vectors that the layer adds.
    pub(crate) norm: Tensor,
}

/// The embeddings that tokens have for each layer.
#[derive(Debug, Clone)]
pub(crate) struct LayerEmbeddingWeights {
    /// `[tokens, layers · width]`.
    pub(crate) table: Linear,
    /// Matrix from a token's vector to all layers' embeddings: `[layers · width, hidden_size]`.
    pub(crate) projection: Linear,
    /// The norm of each layer's part of the output of `projection`.
    pub(crate) norm: Tensor,
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
    Latent(Box<LatentAttention>),
    ShortConvolution(ShortConvolution),
    Recurrent(RecurrentWeights),
    /// None: the layer is a feed-forward part alone.
    None,
}

/// The weights of an attention, and the settings that differ between layers.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    /// Queries, keys and values in one matrix: `[(heads + 2 · kv_heads) · head_dim, hidden_size]`; queries alone, where
    /// `seen` are another layer's.
    pub(crate) qkv: Linear,
    /// Norm of queries, of each head or of all together.
    pub(crate) query_norm: Option<Tensor>,
    /// Norm of keys, of each head or of all together.
    pub(crate) key_norm: Option<Tensor>,
    /// Norm of values, of each head.
    pub(crate) value_norm: Option<Tensor>,
    /// Whether `qkv` also gives gates of the query heads' outputs, behind the values.
    pub(crate) is_gated: bool,
    pub(crate) output: Linear,
    pub(crate) seen: SeenKeys,
    pub(crate) positions: Positions,
}

/// The keys and values that the queries of a layer see, and how.
#[derive(Debug, Clone)]
pub(crate) struct SeenKeys {
    /// Number of the layer with these keys and values, mostly the queries' own.
    pub(crate) layer: usize,
    pub(crate) heads: Heads,
    /// Attention sinks, as 32-bit floats: for each query head a score that takes a share of the softmax and adds no value:
    /// `[heads]`.
    pub(crate) sinks: Option<Tensor>,
    /// Number of tokens that a token sees, itself included, where it does not see all.
    pub(crate) window: Option<usize>,
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
    Experts(Box<Mixture>),
    /// None: the layer is a mixer alone.
    None,
}

/// One gated feed-forward part.
#[derive(Debug, Clone)]
pub(crate) struct Gated {
    /// Gate and up projection in one matrix: `[2 · intermediate_size, hidden_size]`; where nothing is gated, the up projection alone.
    pub(crate) gate_up: Linear,
    pub(crate) down: Linear,
}

/// All weights of a model.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) embeddings: Linear,
    pub(crate) layer_embeddings: Option<LayerEmbeddingWeights>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) final_norm: Tensor,
    pub(crate) output: Linear,
}

impl Network {
    /// Reads the network that `config` describes from `weights`, matrices kept in `format` on `device`.
    pub(crate) fn read(
        config: &ModelConfig,
        weights: &Weights,
        format: &MatrixFormat,
        device: &Device,
    ) -> Result<Self, ModelError> {
        let reader = NetworkReader {
            config,
            weights,
            format,
            device,
        };
        reader.network()
    }
}

/// Reads a network's tensors under the names Hugging Face checkpoints give them.
struct NetworkReader<'a> {
    config: &'a ModelConfig,
    weights: &'a Weights,
    format: &'a MatrixFormat,
    device: &'a Device,
}

impl NetworkReader<'_> {
    /// Reads the whole network: embeddings, all layers, final norm and output.
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
            layer_embeddings: match config.layer_embeddings() {
                Some(shapes) => Some(LayerEmbeddingWeights {
                    table: self.linear(&[shapes.table])?,
                    projection: self.linear(&[shapes.projection])?,
                    norm: self.norm(&shapes.norm)?,
                }),
                None => None,
            },
            layers: layers.collect::<Result<_, _>>()?,
            final_norm: self.norm(&config.final_norm())?,
            output,
        })
    }

    /// The layer of that number.
    fn layer(&self, layer: usize) -> Result<Layer, ModelError> {
        let shapes = self.config.layer(layer);
        let mixer = match &shapes.mixer {
            MixerShapes::Attention {
                qkv,
                output,
                values_are_keys,
                is_gated,
                norms,
                sinks,
            } => {
                let (window, positions) = match self.config.mixers[layer] {
                    Mixer::Attention { window, positions } => (window, positions),
                    _ => (None, Positions::Rotary),
                };
                let (heads, key_layer) = (self.config.heads_of(layer), self.config.key_layer(layer));
                MixerWeights::Attention(Attention {
                    is_gated: *is_gated,
                    qkv: match (values_are_keys, qkv.as_slice()) {
                        _ if *is_gated => self.gated_queries(qkv, heads)?,
                        (true, [query, key]) => self.linear(&[query.clone(), key.clone(), key.clone()])?,
                        _ => self.linear(qkv)?,
                    },
                    query_norm: norms.first().map(|norm| self.norm(norm)).transpose()?,
                    key_norm: norms.get(1).map(|norm| self.norm(norm)).transpose()?,
                    value_norm: match self.config.gemma4.is_some() && key_layer == layer {
                        true => Some(self.ones(heads.head_dim)?),
                        false => None,
                    },
                    output: self.linear(std::slice::from_ref(output))?,
                    seen: SeenKeys {
                        layer: key_layer,
                        heads,
                        sinks: sinks
                            .as_ref()
                            .map(|sinks| {
                                let sinks = std::slice::from_ref(sinks);
                                self.weights.stacked(sinks, DType::F32, self.device)
                            })
                            .transpose()?,
                        window,
                    },
                    positions,
                })
            }
            MixerShapes::Latent(latent) => {
                let sizes = self.config.latent_attention;
                let sizes = sizes.ok_or_else(|| self.without_sizes("latent attention"))?;
                MixerWeights::Latent(Box::new(self.latent_attention(latent, sizes, layer)?))
            }
            MixerShapes::None => MixerWeights::None,
            MixerShapes::Recurrent { .. } => self.recurrent(&shapes.mixer)?,
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
            FeedForwardShapes::Experts(mixture) => FeedForward::Experts(Box::new(self.mixture(mixture)?)),
            FeedForwardShapes::None => FeedForward::None,
        };
        Ok(Layer {
            mixer,
            mixer_norms: self.norms(&shapes.mixer_norms)?,
            feed_forward,
            feed_forward_norms: self.norms(&shapes.feed_forward_norms)?,
            input: match &shapes.layer_input {
                Some(input) => Some(LayerInput {
                    gate: self.linear(std::slice::from_ref(&input.gate))?,
                    projection: self.linear(std::slice::from_ref(&input.projection))?,
                    norm: self.norm(&input.norm)?,
                }),
                None => None,
            },
            factor: match &shapes.factor {
                Some(factor) => self.on_host(factor)?[0],
                None => 1.0,
            },
        })
    }

    fn mixture(&self, shapes: &MixtureShapes) -> Result<Mixture, ModelError> {
        let shared = shapes.shared.as_ref().map(|shared| {
            let gate = shared.gate.as_ref().map(|gate| self.linear(std::slice::from_ref(gate)));
            Ok::<_, ModelError>(Shared {
                gated: self.gated(&shared.gated)?,
                gate: gate.transpose()?,
            })
        });
        let beside = shapes.beside.as_ref().map(|beside| {
            // The router sees vectors whose length is one in the mean, not the mean square.
            let scale = self.vector(std::slice::from_ref(&beside.router_scale))?;
            let scale = scale * f64::from((self.config.hidden_size as f32).sqrt().recip());
            Ok::<_, ModelError>(Beside {
                router_norm: scale.map_err(|error| self.failed(&error))?,
                expert_scales: self.on_host(&beside.expert_scales)?,
                before: self.norm(&beside.before)?,
                behind: self.norm(&beside.behind)?,
                behind_dense: self.norm(&beside.behind_dense)?,
            })
        });
        Ok(Mixture {
            router: self.router(&shapes.router)?,
            bias: shapes.bias.as_ref().map(|bias| self.on_host(bias)).transpose()?,
            experts: self.experts(&shapes.experts)?,
            shared: shared.transpose()?,
            beside: beside.transpose()?,
        })
    }

    /// The matrix whose products say which experts a token is sent to.
    fn router(&self, router: &MatrixShape) -> Result<Linear, ModelError> {
        if !self.config.family.routes_in_32_bits() {
            return self.linear(std::slice::from_ref(router));
        }
        let weight = self.weights.stacked(&[router.weight()], DType::F32, self.device)?;
        Ok(Linear::new(weight, None))
    }

    fn experts(&self, shapes: &ExpertShapes) -> Result<Vec<Gated>, ModelError> {
        match shapes {
            ExpertShapes::Separate(experts) => experts.iter().map(|expert| self.gated(expert)).collect(),
            ExpertShapes::Stacked(stacked) => {
                let reader = StackedReader {
                    weights: self.weights,
                    dtype: self.format.dtype(),
                    activations: self.activations(),
                    device: self.device,
                };
                let experts = reader.read(stacked)?.into_iter();
                Ok(experts.map(|[gate_up, down]| Gated { gate_up, down }).collect())
            }
        }
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
        let matrix = self.format.stacked(&weights, self.weights, self.device)?;
        let biases: Vec<NamedShape> = matrices.iter().filter_map(MatrixShape::bias).collect();
        let bias = match biases.is_empty() {
            true => None,
            false => Some(self.vector(&biases)?),
        };
        Ok(Linear::of(matrix, bias))
    }

    /// The recurrent layer that has these tensors.
    fn recurrent(&self, shapes: &MixerShapes) -> Result<MixerWeights, ModelError> {
        let unknown = || self.without_sizes("a recurrent layer");
        let MixerShapes::Recurrent {
            input,
            taps,
            bias,
            of_heads,
            norm,
            output,
        } = shapes
        else {
            return Err(unknown());
        };
        let bias = bias.as_ref().map(|bias| self.vector(std::slice::from_ref(bias)));
        let input = match self.config.recurrence {
            Some(Recurrence::DeltaNet(sizes)) if self.config.family == Family::Qwen3Next => {
                self.delta_net_by_key_heads(input, &sizes)?
            }
            _ => self.linear(input)?,
        };
        let output = self.linear(std::slice::from_ref(output))?;
        let taps = Taps {
            taps: self.taps(taps)?,
            bias: bias.transpose()?,
        };
        // Not of the family's kind of norms.
        let norm = self.vector(std::slice::from_ref(norm))?;
        let of_heads = of_heads.iter().map(|numbers| self.on_host(numbers));
        let of_heads = of_heads.collect::<Result<Vec<_>, _>>()?;
        let (Some(recurrence), [logarithms, biases, skips @ ..]) = (self.config.recurrence, of_heads.as_slice()) else {
            return Err(unknown());
        };
        Ok(MixerWeights::Recurrent(RecurrentWeights {
            recurrence,
            input,
            taps,
            rates: logarithms.iter().map(|rate| -rate.exp()).collect(),
            biases: biases.clone(),
            skips: skips.concat(),
            norm,
            output,
            eps: self.config.rms_norm_eps,
        }))
    }

    fn norms(&self, shapes: &NormShapes) -> Result<Norms, ModelError> {
        let norm = |shape: &Option<NamedShape>| shape.as_ref().map(|shape| self.norm(shape)).transpose();
        Ok(Norms {
            before: norm(&shapes.before)?,
            behind: norm(&shapes.behind)?,
        })
    }

    /// The factors of a norm: in the format of the activations as the checkpoint has them, as 32-bit floats where it has them less
    /// one, since 16 bits do not hold the sum.
    fn norm(&self, shape: &NamedShape) -> Result<Tensor, ModelError> {
        if !self.config.family.norm_weights_are_offsets() {
            return self.vector(std::slice::from_ref(shape));
        }
        let stored = self
            .weights
            .stacked(std::slice::from_ref(shape), DType::F32, self.device)?;
        // GGUF files have the sums.
        if self.weights.gguf().is_some() {
            return Ok(stored);
        }
        (stored + 1.0).map_err(|error| self.failed(&error))
    }

    /// The factors of a norm that has none.
    fn ones(&self, len: usize) -> Result<Tensor, ModelError> {
        let ones = Tensor::ones(len, self.activations(), self.device);
        ones.map_err(|error| self.failed(&error))
    }

    /// The taps of a convolution, `[taps, hidden_size]`.
    fn taps(&self, shape: &NamedShape) -> Result<Tensor, ModelError> {
        let taps = self.vector(std::slice::from_ref(shape))?;
        let turned = taps.squeeze(1).and_then(|taps| taps.t()?.contiguous());
        turned.map_err(|error| self.failed(&error))
    }

    /// Norms or biases joined into one vector, in the format of the activations.
    fn vector(&self, parts: &[NamedShape]) -> Result<Tensor, ModelError> {
        self.weights.stacked(parts, self.activations(), self.device)
    }

    /// The format of the activations.
    fn activations(&self) -> DType {
        if self.device.is_cpu() {
            DType::F32
        } else {
            self.format.dtype()
        }
    }

    /// A vector that the host reads.
    fn on_host(&self, shape: &NamedShape) -> Result<Vec<f32>, ModelError> {
        let vector = self
            .weights
            .stacked(std::slice::from_ref(shape), DType::F32, &Device::Cpu)?;
        vector.to_vec1().map_err(|error| self.failed(&error))
    }

    /// Returns the error for tensors whose sizes are not in the configuration.
    fn without_sizes(&self, what: &str) -> ModelError {
        self.failed(&candle_core::Error::Msg(format!("{what} without sizes")))
    }

    /// The error of a device that could not prepare weights.
    fn failed(&self, error: &candle_core::Error) -> ModelError {
        ModelError::Device {
            device: format!("{:?}", self.device.location()),
            message: format!("preparing weights failed: {error}"),
        }
    }
}
