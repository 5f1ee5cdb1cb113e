//! The scores that the benchmark was published with, to stand beside one's own.

/// Source of the published scores: "IFStruct: Measuring structured-output compliance", Liquid AI, 2026; 2,000 samples of the public test set,
/// unconstrained.
pub const SOURCE: &str = "published with the public test set (Liquid AI, 2026)";

/// Further benchmarks with a published score for each model: StructEval without what has to be rendered (arXiv 2505.20139), and the text part of the
/// Structured Output Benchmark, a mean weighted by difficulty (arXiv 2604.25359); both from 0 to 100.
pub const BESIDE: [&str; 2] = ["StructEval", "Structured Output Benchmark"];

/// A model's scores, each from 0 to 100.
#[derive(Clone, Copy, Debug)]
pub struct Scores {
    /// The model, as it was published.
    pub model: &'static str,
    /// Percent of the samples that it passes.
    pub pass_rate: f64,
    /// Scores of the model in the benchmarks of [`BESIDE`].
    pub beside: [f64; 2],
}

const fn scores(model: &'static str, pass_rate: f64, beside: [f64; 2]) -> Scores {
    Scores {
        model,
        pass_rate,
        beside,
    }
}

/// The models, the best first.
pub const SCORES: [Scores; 15] = [
    scores("gemma-4-31B-it", 95.90, [80.21, 85.12]),
    scores("gpt-oss-20b", 91.95, [79.19, 85.28]),
    scores("Nemotron-3-Nano-30B-A3B", 86.80, [76.90, 84.57]),
    scores("Qwen3-8B", 79.75, [78.06, 85.18]),
    scores("gemma-4-E4B-it", 76.65, [75.64, 81.77]),
    scores("granite-4.1-8b", 68.45, [74.69, 83.64]),
    scores("gemma-4-E2B-it", 64.85, [76.18, 78.05]),
    scores("LFM2.5-350M + IFStruct RL", 44.90, [45.99, 68.00]),
    scores("granite-4.0-h-tiny", 38.75, [67.87, 79.50]),
    scores("Qwen3.5-4B", 36.25, [72.75, 81.03]),
    scores("Qwen3.5-2B", 33.15, [69.18, 80.82]),
    scores("LFM2.5-350M", 21.10, [43.80, 56.07]),
    scores("Qwen3.5-0.8B", 15.50, [49.45, 70.03]),
    scores("granite-4.0-h-350m", 1.70, [26.34, 6.44]),
    scores("gemma-3-270m-it", 0.50, [31.28, 20.50]),
];
