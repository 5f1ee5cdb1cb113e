//! [`WorkerFailure`]: the ways in which a request to a worker fails.

use std::time::Duration;

/// Reason for which a request to a worker brought no reply. All but [`WorkerFailure::Refused`] end the worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkerFailure {
    /// The program could not be started.
    #[error("the worker {program} cannot be started: {message}")]
    Start {
        /// The program.
        program: String,
        /// Reason of the failure.
        message: String,
    },
    /// The process ended by itself.
    #[error("the worker ended ({status}){}", last_words(.said))]
    Crashed {
        /// Exit code or signal.
        status: String,
        /// The last lines it wrote to standard error.
        said: String,
    },
    /// No reply within the limit on elapsed time.
    #[error("no reply within {} s", .limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The limit on processor time was reached.
    #[error("over {} s of processor time", .limit.as_secs_f64())]
    OutOfCpuTime {
        /// The limit.
        limit: Duration,
    },
    /// The limit on memory was reached.
    #[error("{used_mib} MiB of memory, over the limit of {limit_mib} MiB")]
    OutOfMemory {
        /// Resident memory when it was seen, in MiB.
        used_mib: u64,
        /// The limit, in MiB.
        limit_mib: u64,
    },
    /// The reply does not follow the protocol.
    #[error("the worker does not keep to the protocol: {message}")]
    Protocol {
        /// The deviation from the protocol.
        message: String,
    },
    /// The worker said that it cannot serve the request.
    #[error("{message}")]
    Refused {
        /// The worker's message.
        message: String,
    },
}

impl WorkerFailure {
    /// Whether the process is gone, or must go, after this.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

fn last_words(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}
