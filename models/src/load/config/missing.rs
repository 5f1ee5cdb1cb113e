//! [`MISSING`]: architectures that are known and cannot be run, with the part that is missing.

/// An architecture that cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingArchitecture {
    /// The name in config.json's `architectures`.
    pub architecture: &'static str,
    /// The models of this architecture, as people call them.
    pub models: &'static str,
    /// The part that would have to be written.
    pub missing: &'static str,
}

/// Architectures that are asked for and cannot be run.
pub const MISSING: [MissingArchitecture; 1] = [MissingArchitecture {
    architecture: "DeepseekV32ForCausalLM",
    models: "DeepSeek V3.2",
    missing: "attention to the tokens that an indexer chooses",
}];
