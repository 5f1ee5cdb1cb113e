//! The arguments that choose frameworks and limit what they may use.

use std::time::Duration;

use clap::Args;

use crate::frameworks::{Contender, NamedWorker};
use crate::manifest::{FrameworkSettings, Hardware};
use crate::worker::Limits;

/// Further frameworks, and what each may use.
#[derive(Debug, Args)]
pub struct WorkerOptions {
    /// A further framework: a program that speaks the worker protocol (docs/worker-protocol.md); may be repeated
    #[arg(long = "worker", value_name = "NAME=COMMAND")]
    pub workers: Vec<NamedWorker>,
    /// Memory that a framework's process may use, in MiB [default: 8192, or half of the machine's where that is less]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(64..))]
    pub memory_limit: Option<u64>,
}

/// Default limit on memory.
const MEMORY_MIB: u64 = 8192;

impl WorkerOptions {
    /// The limits on a request that may take `time`.
    pub fn limits(&self, time: Duration) -> Limits {
        Limits {
            time,
            memory_mib: self.memory_mib(),
        }
    }

    fn memory_mib(&self) -> u64 {
        self.memory_limit.unwrap_or_else(|| {
            let half = Hardware::current().memory_mib / 2;
            // Where the system does not tell, half is nothing.
            if half == 0 { MEMORY_MIB } else { MEMORY_MIB.min(half) }
        })
    }
}

/// What goes on record of a framework.
pub fn framework_settings(contender: &Contender) -> FrameworkSettings {
    FrameworkSettings {
        name: contender.name.clone(),
        version: contender.description.version.clone(),
        options: contender.description.options.clone(),
    }
}

/// Reads a number of seconds above 0.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(value) {
        Ok(duration) if duration > Duration::ZERO => Ok(value),
        _ => Err("must be above 0".to_owned()),
    }
}
