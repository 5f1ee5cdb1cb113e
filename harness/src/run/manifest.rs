//! [`Manifest`]: everything needed to run a run again, and to know what its figures mean.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was run, with which options, on what. Written once, when a run starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest<S> {
    /// What the run measures. Two runs with equal settings measure the same.
    pub settings: S,
    /// The command line, for people; `settings` is what counts.
    pub command: Vec<String>,
    /// When the run started, RFC 3339.
    pub started: String,
    /// Version and git commit of the program.
    pub program: ProgramVersion,
    /// The machine.
    pub hardware: Hardware,
}

/// The program that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramVersion {
    /// Version of the package.
    pub version: String,
    /// Git commit it was built from, `-dirty` appended where the tree was not clean; "unknown" outside a checkout.
    pub commit: String,
}

/// The machine that ran it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hardware {
    /// Model name of the processor.
    pub cpu: String,
    /// Number of logical processors available.
    pub cpus: usize,
    /// Memory, in MiB.
    pub memory_mib: u64,
    /// Operating system and its version.
    pub os: String,
}

impl ProgramVersion {
    /// This program.
    pub fn current() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("MASKWRIGHT_COMMIT").to_owned(),
        }
    }
}

impl Hardware {
    /// This machine.
    pub fn current() -> Self {
        let system = sysinfo::System::new_with_specifics(
            sysinfo::RefreshKind::nothing()
                .with_cpu(sysinfo::CpuRefreshKind::nothing())
                .with_memory(sysinfo::MemoryRefreshKind::nothing().with_ram()),
        );
        Self {
            cpu: system
                .cpus()
                .first()
                .map(|cpu| cpu.brand().trim().to_owned())
                .unwrap_or_default(),
            cpus: available_cpus(),
            memory_mib: system.total_memory() >> 20,
            os: sysinfo::System::long_os_version().unwrap_or_else(|| std::env::consts::OS.to_owned()),
        }
    }
}

/// Number of logical processors this process may use.
pub fn available_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl<S: Serialize> Manifest<S> {
    /// The manifest of a run that starts now.
    pub fn new(settings: S) -> Self {
        Self {
            settings,
            command: std::env::args().collect(),
            started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            program: ProgramVersion::current(),
            hardware: Hardware::current(),
        }
    }

    /// The manifest as JSON text.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists only: this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The first setting in which `other` measures something else, in words.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let sides = [self, other].map(|manifest| serde_json::to_value(&manifest.settings).unwrap_or_default());
        let [Value::Object(before), Value::Object(now)] = &sides else {
            return None;
        };
        before
            .iter()
            .find(|(setting, value)| now.get(*setting) != Some(value))
            .map(|(setting, value)| {
                let changed = now.get(setting).unwrap_or(&Value::Null);
                format!("{setting} was {value}, now {changed}")
            })
    }
}

impl<S: serde::de::DeserializeOwned> Manifest<S> {
    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// Where the text is not a manifest, with line and column.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}
