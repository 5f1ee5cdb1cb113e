//! The names and shapes of a checkpoint's tensors, which follow from its [`ModelConfig`].

use crate::load::config::ModelConfig;
use crate::load::config::family::{Family, NormPlacement, QueryKeyNorm};
use crate::load::config::layer_kinds::Routing;

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

    /// Number of weights.
    fn elements(&self) -> u64 {
        elements(&self.weight()) + self.bias().as_ref().map_or(0, elements)
    }
}

/// The tensors of a layer.
pub(crate) struct LayerShapes {
    pub(crate) mixer: MixerShapes,
    pub(crate) mixer_norms: NormShapes,
    pub(crate) feed_forward: FeedForwardShapes,
    pub(crate) feed_forward_norms: NormShapes,
}

/// The norms around a part of a layer.
pub(crate) struct NormShapes {
    pub(crate) before: Option<NamedShape>,
    pub(crate) behind: Option<NamedShape>,
}

/// The tensors of a [`Mixer`](crate::Mixer).
pub(crate) enum MixerShapes {
    Attention {
        /// Query, key and value, or one matrix of all three.
        qkv: Vec<MatrixShape>,
        output: MatrixShape,
        /// The norms of query and key.
        norms: Option<[NamedShape; 2]>,
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
    Experts {
        router: MatrixShape,
        /// `[experts]`.
        bias: Option<NamedShape>,
        experts: Vec<GatedShapes>,
    },
}

/// The matrices of one gated feed-forward part.
pub(crate) struct GatedShapes {
    /// Gate and up projection, or one matrix of both.
    pub(crate) gate_up: Vec<MatrixShape>,
    pub(crate) down: MatrixShape,
}

impl GatedShapes {
    fn matrices(&self) -> impl Iterator<Item = &MatrixShape> {
        self.gate_up.iter().chain([&self.down])
    }
}

impl LayerShapes {
    /// All matrices with their biases, in the order of a forward pass.
    pub(crate) fn matrices(&self) -> Vec<&MatrixShape> {
        let mut matrices: Vec<&MatrixShape> = match &self.mixer {
            MixerShapes::Attention { qkv, output, .. } => qkv.iter().chain([output]).collect(),
            MixerShapes::ShortConvolution { input, output, .. } => vec![input, output],
        };
        match &self.feed_forward {
            FeedForwardShapes::Dense(gated) => matrices.extend(gated.matrices()),
            FeedForwardShapes::Experts { router, experts, .. } => {
                matrices.push(router);
                matrices.extend(experts.iter().flat_map(GatedShapes::matrices));
            }
        }
        matrices
    }

    /// The norms of the layer: of attention and feed-forward part, then of query and key.
    pub(crate) fn norms(&self) -> Vec<NamedShape> {
        let around = [&self.mixer_norms, &self.feed_forward_norms];
        let around = around.into_iter().flat_map(|norms| [&norms.before, &norms.behind]);
        let of_heads = match &self.mixer {
            MixerShapes::Attention { norms, .. } => norms.as_ref(),
            MixerShapes::ShortConvolution { .. } => None,
        };
        around
            .flatten()
            .chain(of_heads.into_iter().flatten())
            .cloned()
            .collect()
    }

    /// The taps of a short convolution with their bias, where the layer has them.
    pub(crate) fn convolution(&self) -> Option<(&NamedShape, Option<&NamedShape>)> {
        match &self.mixer {
            MixerShapes::ShortConvolution { taps, bias, .. } => Some((taps, bias.as_ref())),
            MixerShapes::Attention { .. } => None,
        }
    }

    /// The biases of the experts, where the layer has them.
    pub(crate) fn expert_bias(&self) -> Option<&NamedShape> {
        match &self.feed_forward {
            FeedForwardShapes::Experts { bias, .. } => bias.as_ref(),
            FeedForwardShapes::Dense(_) => None,
        }
    }

    /// Number of weights, and of those among them that a pass over one token does not read.
    fn parameters(&self, experts_unread: usize) -> (u64, u64) {
        let convolution = self
            .convolution()
            .map_or(0, |(taps, bias)| elements(taps) + bias.map_or(0, elements));
        let matrices: u64 = self.matrices().into_iter().map(MatrixShape::elements).sum();
        let norms: u64 = self.norms().iter().map(elements).sum();
        let unread = match &self.feed_forward {
            FeedForwardShapes::Dense(_) => 0,
            FeedForwardShapes::Experts { experts, .. } => {
                let unread = experts.iter().take(experts_unread);
                unread.flat_map(GatedShapes::matrices).map(MatrixShape::elements).sum()
            }
        };
        let bias = self.expert_bias().map_or(0, elements);
        (convolution + matrices + norms + bias, unread)
    }
}

/// The weights of a norm, `[len]`.
fn norm(name: &str, len: usize) -> NamedShape {
    (format!("{name}.weight"), vec![len])
}

fn matrix_shape(name: impl Into<String>, outputs: usize, inputs: usize, has_bias: bool) -> MatrixShape {
    MatrixShape {
        name: name.into(),
        outputs,
        inputs,
        has_bias,
    }
}

impl ModelConfig {
    /// The embeddings of all tokens.
    pub(crate) fn embeddings(&self) -> MatrixShape {
        matrix_shape("model.embed_tokens", self.vocab_size, self.hidden_size, false)
    }

    /// The output matrix, where it is not that of the embeddings.
    pub(crate) fn untied_output(&self) -> Option<MatrixShape> {
        (!self.tied_embeddings).then(|| matrix_shape("lm_head", self.vocab_size, self.hidden_size, false))
    }

    /// The norm after the last layer.
    pub(crate) fn final_norm(&self) -> NamedShape {
        let name = match self.family {
            Family::Lfm2 | Family::Lfm2Moe => "model.embedding_norm",
            _ => "model.norm",
        };
        norm(name, self.hidden_size)
    }

    /// The tensors of the layer of that number.
    pub(crate) fn layer(&self, layer: usize) -> LayerShapes {
        let at = |name: &str| format!("model.layers.{layer}.{name}");
        let [mixer_norms, feed_forward_norms] = self.norms_around(&at);
        LayerShapes {
            mixer: match self.has_attention(layer) {
                true => self.attention(&at),
                false => self.short_convolution(&at),
            },
            mixer_norms,
            feed_forward: self.feed_forward(layer, &at),
            feed_forward_norms,
        }
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
            Family::Gemma3 => [
                "input_layernorm",
                "post_attention_layernorm",
                "pre_feedforward_layernorm",
                "post_feedforward_layernorm",
            ],
            Family::Olmo2 => ["", "post_attention_layernorm", "", "post_feedforward_layernorm"],
            _ => ["input_layernorm", "", "post_attention_layernorm", ""],
        };
        let placement = self.family.norm_placement();
        let pair = |before: &str, behind: &str| NormShapes {
            before: (placement != NormPlacement::Behind).then(|| norm(before)).flatten(),
            behind: (placement != NormPlacement::Before).then(|| norm(behind)).flatten(),
        };
        [pair(first, second), pair(third, fourth)]
    }

    fn attention(&self, at: &dyn Fn(&str) -> String) -> MixerShapes {
        let (hidden, bias) = (self.hidden_size, self.qkv_bias);
        let (query, key) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let qkv = match self.family {
            Family::Phi3 => vec![matrix_shape(at("self_attn.qkv_proj"), query + 2 * key, hidden, bias)],
            _ => [("q", query), ("k", key), ("v", key)]
                .map(|(name, outputs)| matrix_shape(at(&format!("self_attn.{name}_proj")), outputs, hidden, bias))
                .into(),
        };
        let (output, norms) = match self.family {
            Family::Lfm2 | Family::Lfm2Moe => {
                ("self_attn.out_proj", ["self_attn.q_layernorm", "self_attn.k_layernorm"])
            }
            _ => ("self_attn.o_proj", ["self_attn.q_norm", "self_attn.k_norm"]),
        };
        let [query_norm, key_norm] = norms.map(at);
        let lengths = match self.family.query_key_norm() {
            QueryKeyNorm::None => None,
            QueryKeyNorm::EachHead => Some((self.head_dim, self.head_dim)),
            QueryKeyNorm::AllHeads => Some((query, key)),
        };
        MixerShapes::Attention {
            qkv,
            output: matrix_shape(at(output), hidden, query, self.attention_output_bias),
            norms: lengths.map(|(query, key)| [norm(&query_norm, query), norm(&key_norm, key)]),
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
                    true => vec![matrix(gate, 2 * wide, self.hidden_size)],
                    false => vec![matrix(gate, wide, self.hidden_size), matrix(up, wide, self.hidden_size)],
                },
                down: matrix(down, self.hidden_size, wide),
            }
        };
        let projections = ["gate_proj", "up_proj", "down_proj"];
        if let Some(experts) = self.experts_of(layer) {
            let (within, names) = match self.family {
                Family::Mixtral => ("block_sparse_moe", ["w1", "w3", "w2"]),
                Family::Lfm2Moe => ("feed_forward", ["w1", "w3", "w2"]),
                _ => ("mlp", projections),
            };
            let expert = |expert| gated(&format!("{within}.experts.{expert}"), names, experts.intermediate_size);
            return FeedForwardShapes::Experts {
                router: matrix_shape(at(&format!("{within}.gate")), experts.count, self.hidden_size, false),
                bias: matches!(experts.routing, Routing::Sigmoid { bias: true, .. })
                    .then(|| (at(&format!("{within}.expert_bias")), vec![experts.count])),
                experts: (0..experts.count).map(expert).collect(),
            };
        }
        FeedForwardShapes::Dense(match self.family {
            Family::Lfm2 | Family::Lfm2Moe => gated("feed_forward", ["w1", "w3", "w2"], self.intermediate_size),
            Family::Phi3 | Family::Glm4 => gated(
                "mlp",
                ["gate_up_proj", "gate_up_proj", "down_proj"],
                self.intermediate_size,
            ),
            _ => gated("mlp", projections, self.intermediate_size),
        })
    }

    /// Number of weights, tied embeddings counted once.
    pub fn parameters(&self) -> u64 {
        self.all_and_unread_parameters().0
    }

    /// Number of weights that a forward pass over one token reads: all but those of experts that it is not sent to, and
    /// embeddings that are not the output matrix, too.
    pub(crate) fn parameters_per_token(&self) -> u64 {
        let (all, unread) = self.all_and_unread_parameters();
        match self.tied_embeddings {
            true => all - unread,
            false => all - unread - elements(&self.embeddings().weight()),
        }
    }

    /// Number of weights, and of those among them that belong to experts which a token is not sent to.
    fn all_and_unread_parameters(&self) -> (u64, u64) {
        let output = self.untied_output().as_ref().map_or(0, MatrixShape::elements);
        let around = self.embeddings().elements() + output + elements(&self.final_norm());
        let unread = self
            .experts
            .as_ref()
            .map_or(0, |experts| experts.count - experts.per_token);
        // Layers of one kind are alike.
        let kind = |layer: usize| (self.has_attention(layer), self.experts_of(layer).is_some());
        let mut known = std::collections::HashMap::new();
        (0..self.layers).fold((around, 0), |(all, all_unread), layer| {
            let (of_layer, unread) = *known
                .entry(kind(layer))
                .or_insert_with(|| self.layer(layer).parameters(unread));
            (all + of_layer, all_unread + unread)
        })
    }
}

/// Number of elements of a tensor.
pub(crate) fn elements((_, shape): &NamedShape) -> u64 {
    shape.iter().map(|size| *size as u64).product()
}
