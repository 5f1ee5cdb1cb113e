//! Arguments for reading records.

use clap::Args;
use maskwright_suites::validate::Scoring;

use crate::commands::arguments::numbers::confidence;
use crate::results::bench::ReadOptions;

/// Options for reading records, where the run's manifest does not have them.
#[derive(Debug, Args)]
pub struct ReadingArguments {
    /// Rules by which answers are judged: strict or paper; records have both verdicts
    #[arg(long, default_value_t = Scoring::Strict, value_name = "RULES")]
    scoring: Scoring,
    /// Confidence of the intervals in tables of `bench` and of comparisons; those of other commands and of the overview are of 95 %
    #[arg(long, default_value_t = 0.95, value_parser = confidence, value_name = "P")]
    confidence: f64,
}

impl ReadingArguments {
    /// Returns the options for reading records.
    pub fn reading(&self) -> ReadOptions {
        ReadOptions {
            scoring: self.scoring,
            confidence: self.confidence,
        }
    }
}
