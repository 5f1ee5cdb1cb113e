//! [`MISSING`]: architectures that are known and cannot be run, with the part that is missing.

/// An architecture that cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingArchitecture {
    /// The name in config.json's `architectures`.
    pub architecture: &'static str,
    /// The models that are of it, as people call them.
    pub models: &'static str,
    /// What would have to be written.
    pub missing: &'static str,
}

/// Architectures that are asked for and cannot be run.
pub const MISSING: [MissingArchitecture; 9] = [
    MissingArchitecture {
        architecture: "GptOssForCausalLM",
        models: "gpt-oss",
        missing: "MXFP4 weights, attention sinks and YaRN positions",
    },
    MissingArchitecture {
        architecture: "Gemma2ForCausalLM",
        models: "Gemma 2",
        missing: "soft caps on scores and logits",
    },
    MissingArchitecture {
        architecture: "Gemma4ForConditionalGeneration",
        models: "Gemma 4",
        missing: "embeddings of each layer and keys and values that layers share",
    },
    MissingArchitecture {
        architecture: "GraniteMoeHybridForCausalLM",
        models: "Granite 4.0-H",
        missing: "Mamba2 layers",
    },
    MissingArchitecture {
        architecture: "NemotronHForCausalLM",
        models: "Nemotron-3-Nano, Nemotron-H",
        missing: "Mamba2 layers",
    },
    MissingArchitecture {
        architecture: "Qwen3_5ForConditionalGeneration",
        models: "Qwen3.5",
        missing: "gated delta-net layers",
    },
    MissingArchitecture {
        architecture: "Qwen3NextForCausalLM",
        models: "Qwen3-Next",
        missing: "gated delta-net layers",
    },
    MissingArchitecture {
        architecture: "Olmo3ForCausalLM",
        models: "OLMo 3",
        missing: "YaRN positions",
    },
    MissingArchitecture {
        architecture: "DeepseekV3ForCausalLM",
        models: "DeepSeek V3 and R1",
        missing: "multi-head latent attention",
    },
];
