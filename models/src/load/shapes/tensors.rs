//! The names and shapes of a checkpoint's tensors, which follow from its [`ModelConfig`].

use crate::load::config::ModelConfig;
use crate::load::config::experts::{ExpertStorage, Routing};
use crate::load::config::family::{Family, NormPlacement, QueryKeyNorm};
use crate::load::config::gemma4::{Gemma4Parts, Heads};
use crate::load::config::layer_kinds::Mixer;
use crate::load::config::recurrence::{DeltaNet, Mamba2, Recurrence};
use crate::load::shapes::experts::{BesideShapes, ExpertShapes, MixtureShapes, SharedShapes, StackedShapes};
use crate::load::shapes::latent_attention::LatentShapes;
use crate::load::shapes::matrices::{GatedShapes, MatrixShape, NamedShape, matrix_shape, norm};
use crate::load::weights::Weights;

/// The tensors of a layer.
pub(crate) struct LayerShapes {
    pub(crate) mixer: MixerShapes,
    pub(crate) mixer_norms: NormShapes,
    pub(crate) feed_forward: FeedForwardShapes,
    pub(crate) feed_forward_norms: NormShapes,
    /// The tensors that add the layer's own token embeddings to its output; `None` where the model has no such embeddings.
    pub(crate) layer_input: Option<LayerInputShapes>,
    /// Factor of the layer's output, `[1]`; `None` where there is none.
    pub(crate) factor: Option<NamedShape>,
}

/// The tensors by which a layer adds its own token embeddings to its output.
pub(crate) struct LayerInputShapes {
    /// Matrix from a token's vector to the width of the embeddings.
    pub(crate) gate: MatrixShape,
    /// Matrix from the width of the embeddings to a token's vector.
    pub(crate) projection: MatrixShape,
    pub(crate) norm: NamedShape,
}

/// The tensors that give tokens their embeddings for each layer.
pub(crate) struct LayerEmbeddingShapes {
    /// `[tokens, layers · width]`.
    pub(crate) table: MatrixShape,
    /// Matrix from a token's vector to all layers' embeddings.
    pub(crate) projection: MatrixShape,
    /// The norm of each layer's part of the output of `projection`.
    pub(crate) norm: NamedShape,
}

/// The norms around a part of a layer.
pub(crate) struct NormShapes {
    pub(crate) before: Option<NamedShape>,
    pub(crate) behind: Option<NamedShape>,
}

/// The tensors of a [`Mixer`](crate::Mixer).
pub(crate) enum MixerShapes {
    Attention {
        /// Query, key and value, or one matrix of all three; the query alone, where another layer has keys and values.
        qkv: Vec<MatrixShape>,
        /// Whether the key's matrix is the value's, too.
        values_are_keys: bool,
        /// Whether the query's matrix gives each head's gates behind its query.
        is_gated: bool,
        output: MatrixShape,
        /// The norms of query and key, of the query alone, or none.
        norms: Vec<NamedShape>,
        /// A score for each query head, `[heads]`, that takes a share and gives nothing.
        sinks: Option<NamedShape>,
    },
    Latent(LatentShapes),
    /// None: the layer is a feed-forward part alone.
    None,
    Recurrent {
        /// One matrix, or those that make it when they are stacked.
        input: Vec<MatrixShape>,
        /// `[channels, 1, taps]`.
        taps: NamedShape,
        /// `[channels]`.
        bias: Option<NamedShape>,
        /// Tensors with one number for each head, `[heads]` each: the logarithm of the negated decay rates, the bias of the time
        /// steps, and in Mamba2 the factors of the skip connections.
        of_heads: Vec<NamedShape>,
        norm: NamedShape,
        output: MatrixShape,
    },
    ShortConvolution {
        /// The input's gate, the output's gate and the input in one matrix, in this order.
        input: MatrixShape,
        /// `[hidden_size, 1, taps]`.
        taps: NamedShape,
        /// `[hidden_size]`.
        bias: Option<NamedShape>,
        output: MatrixShape,
    },
}

/// The tensors of a feed-forward part.
pub(crate) enum FeedForwardShapes {
    Dense(GatedShapes),
    Experts(Box<MixtureShapes>),
    /// None: the layer is a mixer alone.
    None,
}

impl LayerShapes {
    /// All matrices that are tensors of their own, with their biases, in the order of a forward pass.
    pub(crate) fn matrices(&self) -> Vec<&MatrixShape> {
        let mut matrices: Vec<&MatrixShape> = match &self.mixer {
            MixerShapes::Attention { qkv, output, .. } => qkv.iter().chain([output]).collect(),
            MixerShapes::Latent(latent) => latent.matrices().collect(),
            MixerShapes::None => Vec::new(),
            MixerShapes::ShortConvolution { input, output, .. } => vec![input, output],
            MixerShapes::Recurrent { input, output, .. } => input.iter().chain([output]).collect(),
        };
        match &self.feed_forward {
            FeedForwardShapes::Dense(gated) => matrices.extend(gated.matrices()),
            FeedForwardShapes::Experts(mixture) => matrices.extend(mixture.matrices()),
            FeedForwardShapes::None => {}
        }
        if let Some(input) = &self.layer_input {
            matrices.extend([&input.gate, &input.projection]);
        }
        matrices
    }

    /// The tensors that hold all experts, where the layer has such.
    pub(crate) fn stacked_experts(&self) -> Option<&StackedShapes> {
        match &self.mixture()?.experts {
            ExpertShapes::Stacked(stacked) => Some(stacked),
            ExpertShapes::Separate(_) => None,
        }
    }

    /// The feed-forward part's tensors, where it has experts.
    pub(crate) fn mixture(&self) -> Option<&MixtureShapes> {
        match &self.feed_forward {
            FeedForwardShapes::Experts(mixture) => Some(mixture),
            FeedForwardShapes::Dense(_) | FeedForwardShapes::None => None,
        }
    }

    /// The attention sinks, where the layer has them.
    pub(crate) fn sinks(&self) -> Option<&NamedShape> {
        match &self.mixer {
            MixerShapes::Attention { sinks, .. } => sinks.as_ref(),
            _ => None,
        }
    }

    /// Returns the norms of the layer: of attention and feed-forward part, of query and key, and of the parts beside them.
    pub(crate) fn norms(&self) -> Vec<NamedShape> {
        let around = [&self.mixer_norms, &self.feed_forward_norms];
        let around = around.into_iter().flat_map(|norms| [&norms.before, &norms.behind]);
        let of_heads = match &self.mixer {
            MixerShapes::Attention { norms, .. } => norms.iter().collect(),
            MixerShapes::Latent(latent) => latent.norms().collect(),
            MixerShapes::ShortConvolution { .. } | MixerShapes::Recurrent { .. } | MixerShapes::None => Vec::new(),
        };
        let of_input = self.layer_input.as_ref().map(|input| &input.norm);
        let beside = self.mixture().and_then(|mixture| mixture.beside.as_ref());
        let beside = beside.into_iter().flat_map(BesideShapes::norms);
        let norms = around.flatten().chain(of_heads).chain(of_input).chain(beside);
        norms.cloned().collect()
    }

    /// The taps of a short convolution with their bias, where the layer has them.
    pub(crate) fn convolution(&self) -> Option<(&NamedShape, Option<&NamedShape>)> {
        match &self.mixer {
            MixerShapes::ShortConvolution { taps, bias, .. } | MixerShapes::Recurrent { taps, bias, .. } => {
                Some((taps, bias.as_ref()))
            }
            MixerShapes::Attention { .. } | MixerShapes::Latent(_) | MixerShapes::None => None,
        }
    }

    /// The numbers that recurrent layers have for each head, and the norm of their output, where the layer has them.
    pub(crate) fn recurrence(&self) -> Option<(&[NamedShape], &NamedShape)> {
        match &self.mixer {
            MixerShapes::Recurrent { of_heads, norm, .. } => Some((of_heads, norm)),
            _ => None,
        }
    }

    /// The biases of the experts, where the layer has them.
    pub(crate) fn expert_bias(&self) -> Option<&NamedShape> {
        self.mixture()?.bias.as_ref()
    }

    /// Returns the factors of the router's input and of the experts' shares, where the layer has them.
    pub(crate) fn expert_factors(&self) -> impl Iterator<Item = &NamedShape> {
        let beside = self.mixture().and_then(|mixture| mixture.beside.as_ref());
        beside
            .into_iter()
            .flat_map(|beside| [&beside.router_scale, &beside.expert_scales])
    }
}

impl ModelConfig {
    /// The embeddings of all tokens.
    pub(crate) fn embeddings(&self) -> MatrixShape {
        let name = match self.family {
            Family::NemotronH => "model.embeddings",
            _ => "model.embed_tokens",
        };
        matrix_shape(name, self.vocab_size, self.hidden_size, false)
    }

    /// Returns the configuration with an output matrix of its own where `weights` have one that differs from the embeddings, whatever config.json
    /// says: transformers takes it, too.
    pub(crate) fn with_output_as_in(mut self, weights: &Weights) -> Self {
        self.tied_embeddings &= !weights.differ(&self.output().weight().0, &self.embeddings().weight().0);
        self
    }

    /// The output matrix, where it is not that of the embeddings.
    pub(crate) fn untied_output(&self) -> Option<MatrixShape> {
        (!self.tied_embeddings).then(|| self.output())
    }

    /// An output matrix that is not that of the embeddings.
    fn output(&self) -> MatrixShape {
        matrix_shape("lm_head", self.vocab_size, self.hidden_size, false)
    }

    /// The norm after the last layer.
    pub(crate) fn final_norm(&self) -> NamedShape {
        let name = match self.family {
            Family::Lfm2 | Family::Lfm2Moe => "model.embedding_norm",
            Family::NemotronH => "model.norm_f",
            _ => "model.norm",
        };
        norm(name, self.hidden_size)
    }

    /// The tensors of the layer of that number.
    pub(crate) fn layer(&self, layer: usize) -> LayerShapes {
        let at = |name: &str| format!("model.layers.{layer}.{name}");
        let [mut mixer_norms, mut feed_forward_norms] = self.norms_around(&at);
        // Layers of one part have one norm.
        if self.mixers[layer] == Mixer::None {
            mixer_norms.before = None;
        } else if self.family == Family::NemotronH {
            feed_forward_norms.before = None;
        }
        LayerShapes {
            mixer: match (self.mixers[layer], &self.recurrence) {
                (Mixer::Attention { .. }, _) => match &self.latent_attention {
                    Some(sizes) => MixerShapes::Latent(LatentShapes::of(self, sizes, &at)),
                    None => self.attention(layer, &at),
                },
                (Mixer::None, _) => MixerShapes::None,
                (Mixer::Recurrent, Some(Recurrence::DeltaNet(sizes))) => self.delta_net(sizes, &at),
                (Mixer::Recurrent, Some(Recurrence::Mamba2(sizes))) => self.mamba2(sizes, &at),
                _ => self.short_convolution(&at),
            },
            mixer_norms,
            feed_forward: match self.family == Family::NemotronH && self.mixers[layer] != Mixer::None {
                true => FeedForwardShapes::None,
                false => self.feed_forward(layer, &at),
            },
            feed_forward_norms,
            layer_input: self.gemma4.and_then(|parts| parts.layer_embeddings).map(|embeddings| {
                let (hidden, width) = (self.hidden_size, embeddings.width);
                LayerInputShapes {
                    gate: matrix_shape(at("per_layer_input_gate"), width, hidden, false),
                    projection: matrix_shape(at("per_layer_projection"), hidden, width, false),
                    norm: norm(&at("post_per_layer_input_norm"), hidden),
                }
            }),
            factor: self.gemma4.map(|_| (at("layer_scalar"), vec![1])),
        }
    }

    /// The tensors that give tokens their embeddings for each layer, where they have any.
    pub(crate) fn layer_embeddings(&self) -> Option<LayerEmbeddingShapes> {
        let embeddings = self.gemma4?.layer_embeddings?;
        let all = self.layers * embeddings.width;
        Some(LayerEmbeddingShapes {
            table: matrix_shape("model.embed_tokens_per_layer", embeddings.vocab_size, all, false),
            projection: matrix_shape("model.per_layer_model_projection", all, self.hidden_size, false),
            norm: norm("model.per_layer_projection_norm", embeddings.width),
        })
    }

    /// The norms around attention and feed-forward part, under the family's names.
    fn norms_around(&self, at: &dyn Fn(&str) -> String) -> [NormShapes; 2] {
        let norm = |name: &str| Some(norm(&at(name), self.hidden_size));
        let [first, second, third, fourth] = match self.family {
            Family::Lfm2 | Family::Lfm2Moe => ["operator_norm", "", "ffn_norm", ""],
            Family::Glm4 => [
                "input_layernorm",
                "post_self_attn_layernorm",
                "post_attention_layernorm",
                "post_mlp_layernorm",
            ],
            Family::Gemma2 | Family::Gemma3 | Family::Gemma4 => [
                "input_layernorm",
                "post_attention_layernorm",
                "pre_feedforward_layernorm",
                "post_feedforward_layernorm",
            ],
            Family::NemotronH => ["norm", "", "norm", ""],
            Family::Olmo2 | Family::Olmo3 => ["", "post_attention_layernorm", "", "post_feedforward_layernorm"],
            _ => ["input_layernorm", "", "post_attention_layernorm", ""],
        };
        let placement = self.family.norm_placement();
        let pair = |before: &str, behind: &str| NormShapes {
            before: (placement != NormPlacement::Behind).then(|| norm(before)).flatten(),
            behind: (placement != NormPlacement::Before).then(|| norm(behind)).flatten(),
        };
        [pair(first, second), pair(third, fourth)]
    }

    fn attention(&self, layer: usize, at: &dyn Fn(&str) -> String) -> MixerShapes {
        let (hidden, bias) = (self.hidden_size, self.qkv_bias);
        let Heads { kv_heads, head_dim } = self.heads_of(layer);
        let (query, key) = (self.heads * head_dim, kv_heads * head_dim);
        let query_and_gate = if self.family.gates_attention() {
            2 * query
        } else {
            query
        };
        let values_are_keys =
            self.gemma4.is_some_and(|parts| parts.values_are_keys) && Gemma4Parts::is_global(self.mixers[layer]);
        let within = match self.family {
            Family::NemotronH => "mixer",
            _ => "self_attn",
        };
        let mut qkv: Vec<MatrixShape> = match self.family {
            Family::Phi3 => vec![matrix_shape(at("self_attn.qkv_proj"), query + 2 * key, hidden, bias)],
            _ => [("q", query_and_gate), ("k", key), ("v", key)]
                .map(|(name, outputs)| matrix_shape(at(&format!("{within}.{name}_proj")), outputs, hidden, bias))
                .into(),
        };
        let (output, norms) = match self.family {
            Family::Lfm2 | Family::Lfm2Moe => {
                ("self_attn.out_proj", ["self_attn.q_layernorm", "self_attn.k_layernorm"])
            }
            Family::NemotronH => ("mixer.o_proj", ["", ""]),
            _ => ("self_attn.o_proj", ["self_attn.q_norm", "self_attn.k_norm"]),
        };
        // Query and key alone, or the query alone.
        let own = if self.has_keys(layer) { 2 } else { 1 };
        if values_are_keys || own == 1 {
            qkv.truncate(own);
        }
        let lengths = match self.family.query_key_norm() {
            QueryKeyNorm::None => None,
            QueryKeyNorm::EachHead => Some([head_dim, head_dim]),
            QueryKeyNorm::AllHeads => Some([query, key]),
        };
        MixerShapes::Attention {
            qkv,
            output: matrix_shape(at(output), hidden, query, self.attention_output_bias),
            norms: lengths.map_or_else(Vec::new, |lengths| {
                let norms = norms.iter().zip(lengths).take(own);
                norms.map(|(name, len)| norm(&at(name), len)).collect()
            }),
            values_are_keys,
            is_gated: self.family.gates_attention(),
            sinks: (self.family.has_sinks()).then(|| (at("self_attn.sinks"), vec![self.heads])),
        }
    }

    fn delta_net(&self, sizes: &DeltaNet, at: &dyn Fn(&str) -> String) -> MixerShapes {
        let (hidden, heads) = (self.hidden_size, sizes.value_heads);
        let (channels, values) = (sizes.channels(), sizes.values());
        let parts = match self.family {
            Family::Qwen3Next => vec![("qkvz", channels + values), ("ba", 2 * heads)],
            _ => vec![("qkv", channels), ("z", values), ("b", heads), ("a", heads)],
        };
        let matrix = |(name, outputs): (&str, usize)| {
            let name = at(&format!("linear_attn.in_proj_{name}"));
            matrix_shape(name, outputs, hidden, false)
        };
        MixerShapes::Recurrent {
            input: parts.into_iter().map(matrix).collect(),
            bias: None,
            taps: (at("linear_attn.conv1d.weight"), vec![sizes.channels(), 1, sizes.taps]),
            of_heads: ["A_log", "dt_bias"]
                .map(|name| (at(&format!("linear_attn.{name}")), vec![heads]))
                .into(),
            norm: norm(&at("linear_attn.norm"), sizes.value_dim),
            output: matrix_shape(at("linear_attn.out_proj"), hidden, sizes.values(), false),
        }
    }

    fn mamba2(&self, sizes: &Mamba2, at: &dyn Fn(&str) -> String) -> MixerShapes {
        let (hidden, width, bias) = (self.hidden_size, sizes.width(), sizes.projection_bias);
        let rows = width + sizes.channels() + sizes.heads;
        let of_heads = ["A_log", "dt_bias", "D"];
        let within = match self.family {
            Family::NemotronH => "mixer",
            _ => "mamba",
        };
        let at = |name: &str| at(&format!("{within}.{name}"));
        MixerShapes::Recurrent {
            input: vec![matrix_shape(at("in_proj"), rows, hidden, bias)],
            taps: (at("conv1d.weight"), vec![sizes.channels(), 1, sizes.taps]),
            bias: (sizes.convolution_bias).then(|| (at("conv1d.bias"), vec![sizes.channels()])),
            of_heads: of_heads.map(|name| (at(name), vec![sizes.heads])).into(),
            norm: norm(&at("norm"), width),
            output: matrix_shape(at("out_proj"), hidden, width, bias),
        }
    }

    fn short_convolution(&self, at: &dyn Fn(&str) -> String) -> MixerShapes {
        let (hidden, bias) = (self.hidden_size, self.convolution_bias);
        MixerShapes::ShortConvolution {
            input: matrix_shape(at("conv.in_proj"), 3 * hidden, hidden, bias),
            taps: (at("conv.conv.weight"), vec![hidden, 1, self.convolution_taps]),
            bias: bias.then(|| (at("conv.conv.bias"), vec![hidden])),
            output: matrix_shape(at("conv.out_proj"), hidden, hidden, bias),
        }
    }

    fn feed_forward(&self, layer: usize, at: &dyn Fn(&str) -> String) -> FeedForwardShapes {
        let gated = |within: &str, [gate, up, down]: [&str; 3], wide: usize| {
            let matrix = |name: &str, outputs, inputs| {
                matrix_shape(at(&format!("{within}.{name}")), outputs, inputs, self.mlp_bias)
            };
            GatedShapes {
                gate_up: match gate == up {
                    _ if gate.is_empty() => vec![matrix(up, wide, self.hidden_size)],
                    true => vec![matrix(gate, 2 * wide, self.hidden_size)],
                    false => vec![matrix(gate, wide, self.hidden_size), matrix(up, wide, self.hidden_size)],
                },
                down: matrix(down, self.hidden_size, wide),
            }
        };
        let projections = match self.family {
            // Nothing is gated.
            Family::NemotronH => ["", "up_proj", "down_proj"],
            _ => ["gate_proj", "up_proj", "down_proj"],
        };
        let shared_names = ["input_linear", "input_linear", "output_linear"];
        let shared = || gated("shared_mlp", shared_names, self.intermediate_size);
        if let Some(experts) = self.experts_of(layer) {
            let (within, names) = match self.family {
                Family::Mixtral | Family::GraniteHybrid => ("block_sparse_moe.", ["w1", "w3", "w2"]),
                Family::Lfm2Moe => ("feed_forward.", ["w1", "w3", "w2"]),
                Family::Gemma4 => ("", projections),
                Family::NemotronH => ("mixer.", projections),
                _ => ("mlp.", projections),
            };
            let expert = |expert| gated(&format!("{within}experts.{expert}"), names, experts.intermediate_size);
            let (router, router_bias) = match self.family {
                Family::GptOss => ("router", true),
                Family::GraniteHybrid => ("router.layer", false),
                Family::Gemma4 => ("router.proj", false),
                _ => ("gate", false),
            };
            let choice_bias = match self.family {
                Family::DeepseekV3 | Family::NemotronH => "gate.e_score_correction_bias",
                _ => "expert_bias",
            };
            let stacked = match self.family {
                Family::GraniteHybrid => ["input_linear.weight", "output_linear.weight"],
                _ => ["experts.gate_up_proj", "experts.down_proj"],
            };
            let inside = |name: &str| at(&format!("{within}{name}"));
            let (hidden, count) = (self.hidden_size, experts.count);
            let shared_size = experts.shared_intermediate_size.unwrap_or(self.intermediate_size);
            return FeedForwardShapes::Experts(Box::new(MixtureShapes {
                router: matrix_shape(inside(router), count, hidden, router_bias),
                bias: matches!(experts.routing, Routing::Sigmoid { bias: true, .. })
                    .then(|| (inside(choice_bias), vec![count])),
                experts: match experts.storage {
                    ExpertStorage::Separate => ExpertShapes::Separate((0..count).map(expert).collect()),
                    _ => ExpertShapes::stacked(stacked.map(inside), experts, hidden),
                },
                shared: match self.family {
                    Family::GraniteHybrid => Some(SharedShapes {
                        gated: shared(),
                        gate: None,
                    }),
                    Family::DeepseekV2 | Family::DeepseekV3 => Some(SharedShapes {
                        gated: gated("mlp.shared_experts", projections, shared_size),
                        gate: None,
                    }),
                    Family::NemotronH => Some(SharedShapes {
                        gated: gated("mixer.shared_experts", projections, shared_size),
                        gate: None,
                    }),
                    Family::Qwen35Moe | Family::Qwen3Next => Some(SharedShapes {
                        gated: gated("mlp.shared_expert", projections, shared_size),
                        gate: Some(matrix_shape(at("mlp.shared_expert_gate"), 1, hidden, false)),
                    }),
                    Family::Gemma4 => Some(SharedShapes {
                        gated: gated("mlp", projections, self.width_of(layer)),
                        gate: None,
                    }),
                    _ => None,
                },
                beside: (self.family == Family::Gemma4).then(|| BesideShapes {
                    router_scale: (at("router.scale"), vec![hidden]),
                    expert_scales: (at("router.per_expert_scale"), vec![count]),
                    before: norm(&at("pre_feedforward_layernorm_2"), hidden),
                    behind: norm(&at("post_feedforward_layernorm_2"), hidden),
                    behind_dense: norm(&at("post_feedforward_layernorm_1"), hidden),
                }),
            }));
        }
        FeedForwardShapes::Dense(match self.family {
            Family::NemotronH => gated("mixer", projections, self.intermediate_size),
            Family::Lfm2 | Family::Lfm2Moe => gated("feed_forward", ["w1", "w3", "w2"], self.intermediate_size),
            Family::Phi3 | Family::Glm4 => gated(
                "mlp",
                ["gate_up_proj", "gate_up_proj", "down_proj"],
                self.intermediate_size,
            ),
            Family::GraniteHybrid => shared(),
            _ => gated("mlp", projections, self.width_of(layer)),
        })
    }
}
