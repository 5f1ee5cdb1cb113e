//! The arguments that choose frameworks and limit their time and memory.

use std::time::Duration;

use clap::Args;

use super::numbers::seconds;
use crate::error::CommandError;
use crate::frameworks::{self, Framework, LM_ONLY, NamedWorker};
use crate::run::manifest::Hardware;
use crate::vocabularies::{self, NamedVocabulary, VocabularySourceError};
use crate::worker::Limits;

/// Further frameworks, and the memory of each.
#[derive(Debug, Args)]
pub struct WorkerOptions {
    /// A further framework: a program that speaks the worker protocol, or maskbench:module.Class, an engine of MaskBench in Python;
    /// may be repeated. The document worker-protocol.md in https://github.com/maskwright/maskwright describes both
    #[arg(long = "worker", value_name = "NAME=COMMAND")]
    pub workers: Vec<NamedWorker>,
    /// Memory that a framework's process may use, in MiB [default: 8192, or half of the machine's where that is less]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(64..))]
    pub memory_limit: Option<u64>,
}

/// Default limit on the memory of a framework's process, in MiB.
const MEMORY_MIB: u64 = 8192;

impl WorkerOptions {
    /// Returns the limits on a request that may take `time`.
    pub fn limits(&self, time: Duration) -> Limits {
        Limits {
            time,
            memory_mib: self.memory_mib(),
        }
    }

    fn memory_mib(&self) -> u64 {
        self.memory_limit.unwrap_or_else(|| {
            let half = Hardware::current().memory_mib / 2;
            // Where the system does not tell its memory, half of it is 0.
            if half == 0 { MEMORY_MIB } else { MEMORY_MIB.min(half) }
        })
    }
}

/// Options of the frameworks in workers, which replay instances token by token, and their limits.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// Frameworks to compare, comma-separated
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "maskwright,llguidance",
        value_name = "NAMES"
    )]
    frameworks: Vec<String>,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Vocabulary: o200k_base, cl100k_base, or that of a model (builtin, a directory, a hub id)
    #[arg(long, default_value = vocabularies::DEFAULT, value_name = "NAME")]
    vocabulary: String,
    /// Seconds that a compilation, and the instances of a schema together, may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    pub time_limit: f64,
}

impl ReplayArguments {
    /// Returns the frameworks that were named, each once.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where a framework is unknown or its worker does not start.
    pub fn choose(&self) -> Result<Vec<Framework>, CommandError> {
        if self.frameworks.iter().any(|name| name == LM_ONLY) {
            let message = format!("{LM_ONLY} is the model alone, and no model is run here: name frameworks only");
            return Err(CommandError::Arguments(message));
        }
        Ok(frameworks::choose(&self.frameworks, &self.workers.workers)?)
    }

    /// Loads the vocabulary that instances are tokenised with.
    ///
    /// # Errors
    ///
    /// [`VocabularySourceError`], where there is no such vocabulary.
    pub fn load_vocabulary(&self) -> Result<NamedVocabulary, VocabularySourceError> {
        NamedVocabulary::load(&self.vocabulary)
    }

    /// Returns the limits on a compilation, and on all instances of a schema together.
    pub fn limits(&self) -> Limits {
        self.workers.limits(Duration::from_secs_f64(self.time_limit))
    }
}
