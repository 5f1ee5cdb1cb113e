//! [`MaskRecord`]: verdicts and times of one framework on one file of MaskBench.

use maskwright_worker::protocol::Time;
use serde::{Deserialize, Serialize};

use crate::bench::record::CompileFailure;
use crate::run::directory::Recorded;
use crate::worker::trial::{Compilation, Ending, EndingKind, Trial};

/// One line of `records.jsonl` of a run of `maskwright masks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaskRecord {
    /// Key of the record: framework and file.
    pub key: MaskKey,
    /// Reason for which the file could not be used at all; it then counts for no framework.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Time of the compilation, where there is a masker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile: Option<Time>,
    /// Time of the first mask after the compilation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_mask: Option<Time>,
    /// Reason for which the schema was refused, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_error: Option<CompileFailure>,
    /// Failure of the worker while compiling or replaying, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// The instances that were replayed, in order.
    #[serde(default)]
    pub instances: Vec<InstanceRecord>,
    /// Number of valid instances that were replayed unchanged because no text in the framework's style was found for them.
    #[serde(default)]
    pub not_rewritten: usize,
    /// Elapsed time of mask and advance of every token tried, in nanoseconds.
    #[serde(default)]
    pub wall_ns: Vec<u64>,
    /// Processor time (of the worker, all threads) of mask and advance of every token tried, in nanoseconds.
    #[serde(default)]
    pub cpu_ns: Vec<u64>,
    /// Bytes of the compiled schema after the last instance, where the framework tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_bytes: Option<usize>,
    /// Largest resident memory of the worker so far, in MiB.
    #[serde(default)]
    pub peak_rss_mib: u64,
    /// Total processor times of all repetitions, in seconds, where the file was replayed several times. The times of tokens are
    /// then medians.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats_s: Vec<f64>,
}

/// Key of a [`MaskRecord`]: framework and file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MaskKey {
    /// The framework.
    pub framework: String,
    /// The file's name without its extension.
    pub file: String,
}

/// A replayed instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// Whether the instance is valid under the schema.
    pub valid: bool,
    /// Number of tokens of the instance.
    pub tokens: usize,
    /// Number of tokens that the framework allowed, one after the other.
    pub accepted: usize,
    /// Whether the framework allowed the end after the last token.
    pub complete: bool,
    /// Number of tokens that were forced; `None` if the framework does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<usize>,
    /// The framework's message where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Recorded for MaskRecord {
    type Key = MaskKey;

    fn key(&self) -> &MaskKey {
        &self.key
    }
}

impl InstanceRecord {
    /// Whether the framework accepts the instance; in the paper's scoring, without looking at its end.
    pub fn is_accepted(&self, check_end: bool) -> bool {
        self.failure.is_none() && self.accepted == self.tokens && (self.complete || !check_end)
    }
}

impl MaskRecord {
    fn empty(key: MaskKey) -> Self {
        Self {
            key,
            unusable: None,
            compile: None,
            first_mask: None,
            compile_error: None,
            ending: None,
            instances: Vec::new(),
            not_rewritten: 0,
            wall_ns: Vec::new(),
            cpu_ns: Vec::new(),
            schema_bytes: None,
            peak_rss_mib: 0,
            repeats_s: Vec::new(),
        }
    }

    /// Returns the last of several records of the same question, with the medians of the times of its tokens, and with the first measured record's times of
    /// compilation and first mask, since a framework may keep what it compiled; `None` without records. Records with another number of times are
    /// left out.
    pub fn medians(records: Vec<Self>) -> Option<Self> {
        let mut last = records.last()?.clone();
        let alike: Vec<&Self> = records
            .iter()
            .filter(|record| record.is_measured())
            .filter(|record| record.cpu_ns.len() == last.cpu_ns.len() && record.wall_ns.len() == last.wall_ns.len())
            .collect();
        if alike.len() < 2 {
            return Some(last);
        }
        let median = |value: &dyn Fn(&Self) -> u64| {
            let mut values: Vec<u64> = alike.iter().map(|record| value(record)).collect();
            values.sort_unstable();
            values[(values.len() - 1) / 2]
        };
        let wall_ns = (0..last.wall_ns.len()).map(|at| median(&|record| record.wall_ns[at]));
        let cpu_ns = (0..last.cpu_ns.len()).map(|at| median(&|record| record.cpu_ns[at]));
        (last.wall_ns, last.cpu_ns) = (wall_ns.collect(), cpu_ns.collect());
        last.repeats_s = alike
            .iter()
            .map(|record| record.cpu_ns.iter().sum::<u64>() as f64 / 1e9)
            .collect();
        (last.compile, last.first_mask) = (alike[0].compile, alike[0].first_mask);
        Some(last)
    }

    /// A record of a file that cannot be used.
    pub fn unusable(key: MaskKey, reason: String) -> Self {
        Self {
            unusable: Some(reason),
            ..Self::empty(key)
        }
    }

    /// Makes the record of a trial. `instances` has the labels and numbers of tokens, in the order of the trial.
    pub fn new(key: MaskKey, trial: Trial, instances: &[(bool, usize)], peak_memory: u64) -> Self {
        let mut record = Self {
            peak_rss_mib: peak_memory >> 20,
            ..Self::empty(key)
        };
        match trial.compilation {
            Compilation::Done { time, first_mask } => {
                record.compile = Some(time);
                record.first_mask = first_mask;
            }
            Compilation::Refused(error) => {
                record.compile_error = Some(error.into());
            }
            Compilation::Failed(ending) => record.ending = Some(ending),
        }
        for (replay, &(valid, tokens)) in trial.replays.into_iter().zip(instances) {
            match replay {
                Ok(replay) => {
                    record.wall_ns.extend(replay.wall_ns);
                    record.cpu_ns.extend(replay.cpu_ns);
                    record.schema_bytes = replay.memory_bytes.or(record.schema_bytes);
                    record.instances.push(InstanceRecord {
                        valid,
                        tokens,
                        accepted: replay.accepted,
                        complete: replay.complete,
                        forced: replay.forced,
                        failure: replay.failure,
                    });
                }
                Err(ending) => record.ending = Some(ending),
            }
        }
        record
    }

    /// Whether the worker ended in that way.
    pub fn ended(&self, kinds: &[EndingKind]) -> bool {
        self.ending.as_ref().is_some_and(|ending| kinds.contains(&ending.kind))
    }

    /// Whether there are times of this schema: it compiled, and all its instances were replayed.
    pub fn is_measured(&self) -> bool {
        self.compile.is_some() && self.ending.is_none()
    }

    /// Whether a valid instance was rejected.
    pub fn rejects_valid(&self, check_end: bool) -> bool {
        self.instances
            .iter()
            .any(|one| one.valid && !one.is_accepted(check_end))
    }

    /// Whether an invalid instance was accepted.
    pub fn accepts_invalid(&self, check_end: bool) -> bool {
        self.instances
            .iter()
            .any(|one| !one.valid && one.is_accepted(check_end))
    }

    /// Whether every instance was judged rightly.
    pub fn passes(&self, check_end: bool) -> bool {
        self.is_measured() && !self.rejects_valid(check_end) && !self.accepts_invalid(check_end)
    }
}
