//! `maskwright train`: a model learns IFStruct, first by imitation, then by reward.
//!
//! 1. `samples` generates requests of both splits and leaves out those that do not fit the model's context; no schema is in both splits.
//! 2. `course` runs two phases. *Supervised*: references of the train split become likelier. *GRPO*: the model replies several
//!    times to each request, and replies that the judge passes become likelier than the others of their group. A record follows each step,
//!    a checkpoint some of them, and in between the model is evaluated on the test split.
//! 3. `report` and `curves` make a table and a picture of the records.
//!
//! All random choices are drawn from the seed and the number of the step, so that a run that was killed goes on to the same weights.

pub mod checkpoints;
pub mod course;
pub mod curves;
pub mod record;
pub mod replies;
pub mod report;
pub mod samples;
pub mod settings;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

/// Reason why a model cannot be trained, or a run not be continued.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A schema is in both splits, so that the test would say nothing about unseen schemas.
    #[error(
        "the samples of the train and the test split share {count} schemas, the first that of the test sample with seed {seed}: take another --seed"
    )]
    SharedSchemas {
        /// Number of samples of the test split whose schema is also in the train split.
        count: usize,
        /// The first such sample of the test split.
        seed: u64,
    },
    /// No sample of a split fits the limits on prompts and replies.
    #[error(
        "no sample of the {split} split fits: prompts may have {max_prompt_tokens} tokens and references {max_tokens}; raise --max-prompt-tokens or \
         --max-tokens, or take a model with a longer context"
    )]
    NothingFits {
        /// The split.
        split: &'static str,
        /// Longest prompt, in tokens.
        max_prompt_tokens: usize,
        /// Longest reply, in tokens.
        max_tokens: usize,
    },
    /// The model has no token that ends replies, so that it could not learn to end one.
    #[error("{model} has no end-of-sequence token, so that it cannot learn where replies end")]
    NoEnd {
        /// The model.
        model: String,
    },
    /// The state of a checkpoint cannot be read.
    #[error("{}: {message}; remove this directory, and --resume goes on from the checkpoint before it, or from the start", path.display())]
    Checkpoint {
        /// The checkpoint's directory.
        path: PathBuf,
        /// Defect of the checkpoint.
        message: String,
    },
    /// The records of a run lack steps that its weights have made.
    #[error(
        "{} has no record of {missing}, which {} is made by: put the lines back, or remove this directory, and the run goes on from the checkpoint \
         before it or from the start",
        records.display(), weights.display()
    )]
    MissingRecords {
        /// The file of the records.
        records: PathBuf,
        /// The steps and evaluations without a record.
        missing: String,
        /// The directory of the weights.
        weights: PathBuf,
    },
}
