//! [`Family`]: the networks that can be run, and their differences from Llama's by design rather than by size.

/// The families whose forward pass is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// `LlamaForCausalLM`: Llama 2 and 3, TinyLlama, SmolLM, and others of the same shape.
    Llama,
    /// `MistralForCausalLM`: Llama's shape, with a sliding window where config.json has one.
    Mistral,
    /// `Qwen2ForCausalLM`: Qwen 2 and 2.5; biases on the query, key and value projections.
    Qwen2,
    /// `Qwen3ForCausalLM`: queries and keys normalised per head.
    Qwen3,
    /// `Lfm2ForCausalLM`: LFM2 and LFM2.5; short convolutions in most layers, attention in the others.
    Lfm2,
    /// `Lfm2MoeForCausalLM`: LFM2 with experts.
    Lfm2Moe,
    /// `GraniteForCausalLM`: Granite 3 and 4.1; Llama's shape, with factors on embeddings, scores, sums and logits.
    Granite,
    /// `GraniteMoeHybridForCausalLM`: Granite 4.0-H; Mamba2 in most layers, attention without positions in the others.
    GraniteHybrid,
    /// `Olmo2ForCausalLM`: OLMo 2; norms behind attention and feed-forward part instead of before them.
    Olmo2,
    /// `Olmo3ForCausalLM`: OLMo 3; OLMo 2's shape, with sliding windows in most layers.
    Olmo3,
    /// `SmolLM3ForCausalLM`: SmolLM3; every fourth layer has no positions.
    SmolLm3,
    /// `Phi3ForCausalLM`: Phi 3, 3.5 and 4; fused projections, a part of each head rotated.
    Phi3,
    /// `Glm4ForCausalLM`: GLM-4-0414; norms before and behind, half of each head rotated, in neighbouring pairs.
    Glm4,
    /// `Gemma2ForCausalLM`: Gemma 2; norms before and behind, a sliding window in every other layer, soft caps on scores and logits.
    Gemma2,
    /// `Gemma3ForCausalLM`: Gemma 3's text models; norms before and behind, sliding windows in most layers.
    Gemma3,
    /// `Gemma4ForCausalLM`: Gemma 4; embeddings of each layer, keys and values that layers share, or experts beside dense parts.
    Gemma4,
    /// `Qwen3MoeForCausalLM`: Qwen3 with experts.
    Qwen3Moe,
    /// `Qwen3_5ForCausalLM`: Qwen3.5's dense models; gated delta nets in most layers, gated attention in the others.
    Qwen35,
    /// `Qwen3_5MoeForCausalLM`: Qwen3.5 with experts, and one that all tokens share.
    Qwen35Moe,
    /// `Qwen3NextForCausalLM`: Qwen3-Next; Qwen3.5's layers with experts, their projections in other tensors.
    Qwen3Next,
    /// `DeepseekV2ForCausalLM`: DeepSeek V2; latent attention, experts chosen by groups.
    DeepseekV2,
    /// `DeepseekV3ForCausalLM`: DeepSeek V3 and R1; latent attention, experts chosen by groups and biases.
    DeepseekV3,
    /// `NemotronHForCausalLM`: Nemotron-H and Nemotron 3; layers of one part each: Mamba2, attention without positions, or a
    /// feed-forward part, with experts or without.
    NemotronH,
    /// `MixtralForCausalLM`: Mistral with experts.
    Mixtral,
    /// `GptOssForCausalLM`: gpt-oss; experts in MXFP4, attention sinks, a sliding window in every other layer.
    GptOss,
}

/// Placement of the norms of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormPlacement {
    /// Norms before the attention, and before the feed-forward part.
    Before,
    /// Norms behind each of them, before the sum.
    Behind,
    /// Norms before and behind each of them.
    Around,
}

/// Vectors over which queries and keys are normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKeyNorm {
    None,
    /// Each head's vector.
    EachHead,
    /// The vectors of all heads.
    AllHeads,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 25] = [
        Self::Llama,
        Self::Mistral,
        Self::Qwen2,
        Self::Qwen3,
        Self::Lfm2,
        Self::Granite,
        Self::Olmo2,
        Self::SmolLm3,
        Self::Phi3,
        Self::Glm4,
        Self::Gemma3,
        Self::Qwen3Moe,
        Self::Mixtral,
        Self::Lfm2Moe,
        Self::GptOss,
        Self::Olmo3,
        Self::Gemma2,
        Self::Gemma4,
        Self::Qwen35,
        Self::GraniteHybrid,
        Self::Qwen35Moe,
        Self::Qwen3Next,
        Self::DeepseekV2,
        Self::DeepseekV3,
        Self::NemotronH,
    ];

    /// Lists all families for a message, each by the text that `told` gives of it, with commas between: `llama, mistral, …` by
    /// [`name`](Self::name).
    pub fn list(told: fn(Self) -> &'static str) -> String {
        // A vector: the compiler takes minutes to join an array of twenty texts.
        Vec::from_iter(Self::ALL.into_iter().map(told)).join(", ")
    }

    /// The family of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Returns the family of an entry of config.json's `architectures`: those of [`architecture`](Self::architecture), and of
    /// models whose text part is of a family.
    pub(crate) fn from_architecture(name: &str) -> Option<Self> {
        match name {
            "Gemma3ForConditionalGeneration" => Some(Self::Gemma3),
            "Qwen3_5ForConditionalGeneration" => Some(Self::Qwen35),
            "Qwen3_5MoeForConditionalGeneration" => Some(Self::Qwen35Moe),
            "Gemma4ForConditionalGeneration" => Some(Self::Gemma4),
            _ => Self::ALL.into_iter().find(|family| family.architecture() == name),
        }
    }

    /// The name in config.json's `architectures`.
    pub fn architecture(self) -> &'static str {
        match self {
            Self::Llama => "LlamaForCausalLM",
            Self::Mistral => "MistralForCausalLM",
            Self::Qwen2 => "Qwen2ForCausalLM",
            Self::Qwen3 => "Qwen3ForCausalLM",
            Self::Lfm2 => "Lfm2ForCausalLM",
            Self::Lfm2Moe => "Lfm2MoeForCausalLM",
            Self::Granite => "GraniteForCausalLM",
            Self::GraniteHybrid => "GraniteMoeHybridForCausalLM",
            Self::Olmo2 => "Olmo2ForCausalLM",
            Self::Olmo3 => "Olmo3ForCausalLM",
            Self::SmolLm3 => "SmolLM3ForCausalLM",
            Self::Phi3 => "Phi3ForCausalLM",
            Self::Glm4 => "Glm4ForCausalLM",
            Self::Gemma2 => "Gemma2ForCausalLM",
            Self::Gemma3 => "Gemma3ForCausalLM",
            Self::Gemma4 => "Gemma4ForCausalLM",
            Self::Qwen3Moe => "Qwen3MoeForCausalLM",
            Self::Qwen35 => "Qwen3_5ForCausalLM",
            Self::Qwen35Moe => "Qwen3_5MoeForCausalLM",
            Self::Qwen3Next => "Qwen3NextForCausalLM",
            Self::DeepseekV2 => "DeepseekV2ForCausalLM",
            Self::DeepseekV3 => "DeepseekV3ForCausalLM",
            Self::NemotronH => "NemotronHForCausalLM",
            Self::Mixtral => "MixtralForCausalLM",
            Self::GptOss => "GptOssForCausalLM",
        }
    }

    /// The name in a few letters: `llama`, `qwen3`, `lfm2` …; config.json's `model_type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Mistral => "mistral",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Lfm2 => "lfm2",
            Self::Lfm2Moe => "lfm2_moe",
            Self::Granite => "granite",
            Self::GraniteHybrid => "granitemoehybrid",
            Self::Olmo2 => "olmo2",
            Self::Olmo3 => "olmo3",
            Self::SmolLm3 => "smollm3",
            Self::Phi3 => "phi3",
            Self::Glm4 => "glm4",
            Self::Gemma2 => "gemma2",
            Self::Gemma3 => "gemma3_text",
            Self::Gemma4 => "gemma4_text",
            Self::Qwen3Moe => "qwen3_moe",
            Self::Qwen35 => "qwen3_5_text",
            Self::Qwen35Moe => "qwen3_5_moe_text",
            Self::Qwen3Next => "qwen3_next",
            Self::DeepseekV2 => "deepseek_v2",
            Self::DeepseekV3 => "deepseek_v3",
            Self::NemotronH => "nemotron_h",
            Self::Mixtral => "mixtral",
            Self::GptOss => "gpt_oss",
        }
    }

    /// The models that are of this family, as people call them.
    pub fn models(self) -> &'static str {
        match self {
            Self::Llama => "Llama 2, 3, 3.1, 3.2 and 3.3, TinyLlama, SmolLM and SmolLM2, and others of the same shape",
            Self::Mistral => "Mistral 7B, Nemo and Small (text)",
            Self::Qwen2 => "Qwen 2 and 2.5",
            Self::Qwen3 => "Qwen3, dense",
            Self::Lfm2 => "LFM2 and LFM2.5, dense",
            Self::Lfm2Moe => "LFM2 with experts (8B-A1B)",
            Self::Granite => "Granite 3 and 4.1, dense",
            Self::GraniteHybrid => "Granite 4.0-H, with experts or without",
            Self::Olmo2 => "OLMo 2",
            Self::Olmo3 => "OLMo 3",
            Self::SmolLm3 => "SmolLM3",
            Self::Phi3 => "Phi-3, Phi-3.5 and Phi-4, mini ones included",
            Self::Glm4 => "GLM-4-0414",
            Self::Gemma2 => "Gemma 2",
            Self::Gemma3 => "Gemma 3, those that see pictures included",
            Self::Gemma4 => "Gemma 4 (E2B, E4B, 26B-A4B, 31B)",
            Self::Qwen3Moe => "Qwen3 with experts (30B-A3B, 235B-A22B)",
            Self::Qwen35 => "Qwen3.5, dense",
            Self::Qwen35Moe => "Qwen3.5 with experts (35B-A3B, 122B-A10B, 397B-A17B)",
            Self::Qwen3Next => "Qwen3-Next (80B-A3B)",
            Self::DeepseekV2 => "DeepSeek V2, V2-Lite and Coder-V2",
            Self::DeepseekV3 => "DeepSeek V3, V3.1 and R1, Moonlight and Kimi K2 (R1's distills are Llama and Qwen2)",
            Self::NemotronH => "Nemotron-H, Nemotron 3 Nano (30B-A3B)",
            Self::Mixtral => "Mixtral",
            Self::GptOss => "gpt-oss (20b, 120b), MXFP4 or not",
        }
    }

    /// Returns the limitations of this family's models here, compared with other implementations; empty where there are none.
    pub fn limits(self) -> &'static str {
        match self {
            Self::Phi3 => "with LongRoPE, only positions before the original context's end",
            Self::Gemma3 | Self::Gemma4 | Self::Qwen35 | Self::Qwen35Moe => "text only",
            Self::DeepseekV3 => {
                "weights in 16 or 32 bits; those in FP8 are refused; Moonlight and Kimi K2 need a tokenizer.json, and their repositories have \
                 tiktoken.model instead"
            }
            Self::NemotronH => {
                "not Nemotron 3 Super, whose experts see shorter vectors; time steps have no lower limit, as in vLLM"
            }
            _ => "",
        }
    }

    /// Whether a GPU computes passes over few tokens by kernels of our own, where the sizes fit them and no window is shorter than
    /// the context.
    pub fn has_kernels(self) -> bool {
        matches!(self, Self::Llama | Self::Mistral | Self::Qwen2 | Self::Qwen3)
    }

    /// Whether each query head has an attention sink, a score that takes a share and gives nothing.
    pub(crate) fn has_sinks(self) -> bool {
        self == Self::GptOss
    }

    /// Whether the query's projection also gives gates, by which each query head's output is multiplied.
    pub(crate) fn gates_attention(self) -> bool {
        self.has_delta_nets()
    }

    /// Whether most layers are gated delta nets: Qwen3.5, with experts or without, and Qwen3-Next.
    pub(crate) fn has_delta_nets(self) -> bool {
        matches!(self, Self::Qwen35 | Self::Qwen35Moe | Self::Qwen3Next)
    }

    /// Whether keys and values of all heads are made from one short vector of each token.
    pub(crate) fn has_latent_attention(self) -> bool {
        matches!(self, Self::DeepseekV2 | Self::DeepseekV3)
    }

    /// Whether this is LFM2, with experts or without.
    pub(crate) fn is_lfm2(self) -> bool {
        matches!(self, Self::Lfm2 | Self::Lfm2Moe)
    }

    /// Returns the placement of the norms of a layer.
    pub(crate) fn norm_placement(self) -> NormPlacement {
        match self {
            Self::Olmo2 | Self::Olmo3 => NormPlacement::Behind,
            Self::Gemma2 | Self::Gemma3 | Self::Gemma4 | Self::Glm4 => NormPlacement::Around,
            _ => NormPlacement::Before,
        }
    }

    /// Returns the vectors over which queries and keys are normalised.
    pub(crate) fn query_key_norm(self) -> QueryKeyNorm {
        match self {
            Self::Qwen3
            | Self::Qwen3Moe
            | Self::Lfm2
            | Self::Lfm2Moe
            | Self::Gemma3
            | Self::Gemma4
            | Self::Qwen35
            | Self::Qwen35Moe
            | Self::Qwen3Next => QueryKeyNorm::EachHead,
            Self::Olmo2 | Self::Olmo3 => QueryKeyNorm::AllHeads,
            _ => QueryKeyNorm::None,
        }
    }

    /// Whether the checkpoint's norm weights are one less than the factors they stand for.
    pub(crate) fn norm_weights_are_offsets(self) -> bool {
        self.has_delta_nets() || matches!(self, Self::Gemma2 | Self::Gemma3)
    }

    /// Whether the product that says which experts a token is sent to is one of 32-bit floats, whatever the format of the model: near ties, rounded
    /// products choose other experts.
    pub(crate) fn routes_in_32_bits(self) -> bool {
        matches!(self, Self::DeepseekV2 | Self::DeepseekV3 | Self::NemotronH)
    }

    /// Whether activations may be above 65,504, the largest number that F16 has.
    pub(crate) fn has_large_activations(self) -> bool {
        matches!(self, Self::Gemma2 | Self::Gemma3 | Self::Gemma4)
    }

    /// Whether rotary positions turn neighbouring elements, `2i` with `2i + 1`, instead of `i` with `i + half`.
    pub(crate) fn rotates_neighbours(self) -> bool {
        self == Self::Glm4 || self.has_latent_attention()
    }
}
