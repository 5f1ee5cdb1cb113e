//! [`Trial`]: the results of a framework's worker on one schema and its instances.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use maskwright::TokenId;
use maskwright_worker::protocol::{Replayed, Time, WireCompileError};
use serde::{Deserialize, Serialize};

use crate::worker::{Limits, Worker, WorkerFailure};

/// Options of a trial: limits, and the measurements wanted.
#[derive(Clone, Copy, Debug)]
pub struct TrialOptions {
    /// Limits on the compilation; and, together, on all replays.
    pub limits: Limits,
    /// Whether to time the first mask.
    pub first_mask: bool,
    /// Whether to count forced tokens.
    pub forced: bool,
}

/// Results of a framework on one schema: its compilation and the replays of its instances.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The compilation.
    pub compilation: Compilation,
    /// Replays of the instances, in order; fewer than instances where the worker failed, the failure then being last.
    pub replays: Vec<Result<Replayed, Ending>>,
}

/// Outcome of the compilation.
#[derive(Clone, Debug)]
pub enum Compilation {
    /// The schema was compiled to a masker.
    Done {
        /// Time of the compilation.
        time: Time,
        /// Time of the first mask, where it was asked for.
        first_mask: Option<Time>,
    },
    /// The framework refused the schema.
    Refused(WireCompileError),
    /// The worker failed.
    Failed(Ending),
}

/// Failure of a worker: it ended, or left a request without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Kind of the failure.
    pub kind: EndingKind,
    /// The particulars.
    pub message: String,
}

/// The ways in which a worker fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// The process ended by itself: a signal, an exit, an exhausted stack.
    Crash,
    /// A limit on elapsed or processor time was reached.
    Timeout,
    /// The limit on memory was reached.
    Memory,
    /// The worker did not keep to the protocol.
    Protocol,
}

impl From<WorkerFailure> for Ending {
    fn from(failure: WorkerFailure) -> Self {
        let kind = match failure {
            WorkerFailure::Crashed { .. } | WorkerFailure::Start { .. } => EndingKind::Crash,
            WorkerFailure::TimedOut { .. } | WorkerFailure::OutOfCpuTime { .. } => EndingKind::Timeout,
            WorkerFailure::OutOfMemory { .. } => EndingKind::Memory,
            WorkerFailure::Protocol { .. } | WorkerFailure::Refused { .. } => EndingKind::Protocol,
        };
        Self {
            kind,
            message: failure.to_string(),
        }
    }
}

impl Trial {
    /// Compiles `schema`, which may refer to `documents`, and replays `instances` one by one, up to the first that the worker does not survive.
    pub fn run(
        worker: &mut Worker,
        schema: &str,
        documents: &BTreeMap<String, String>,
        instances: &[Vec<TokenId>],
        options: &TrialOptions,
    ) -> Self {
        let without = |compilation| Self {
            compilation,
            replays: Vec::new(),
        };
        let compiled = match worker.compile(schema, documents, options.first_mask, &options.limits) {
            Ok(compiled) => compiled,
            Err(failure) => return without(Compilation::Failed(failure.into())),
        };
        if let Some(error) = compiled.compile_error {
            return without(Compilation::Refused(error));
        }
        let Some(masker) = compiled.masker else {
            return without(Compilation::Failed(Ending {
                kind: EndingKind::Protocol,
                message: "the reply to `compile` has neither a masker nor an error".to_owned(),
            }));
        };
        let mut trial = without(Compilation::Done {
            time: compiled.time,
            first_mask: compiled.first_mask,
        });
        let deadline = Instant::now() + options.limits.time;
        for tokens in instances {
            let limits = Limits {
                time: deadline.saturating_duration_since(Instant::now()).max(MOMENT),
                ..options.limits
            };
            let replayed = worker.replay(masker, tokens, options.forced, &limits);
            let failed = replayed.is_err();
            trial.replays.push(replayed.map_err(Into::into));
            if failed {
                worker.forget(masker);
                return trial;
            }
        }
        worker.forget(masker);
        trial
    }
}

/// The least time that a replay is given, so that a limit just reached is reported as such.
const MOMENT: Duration = Duration::from_millis(1);
