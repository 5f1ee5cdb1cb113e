//! [`Manifest`]: everything needed to repeat a run and to interpret its figures.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::machine::{are_alike, described, machine, without_state};
use super::shard::Shard;

/// Settings of a command; two runs with equal settings measure the same.
pub trait Settings: Serialize + DeserializeOwned {
    /// The command, as it stands behind `maskwright`.
    const COMMAND: &'static str;
}

/// Manifest of a run: settings, command line, program and machine. It is written once, when the run starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest<S> {
    /// Settings of the run. Two runs with equal settings measure the same.
    pub settings: S,
    /// The command whose run it is, such as `ifstruct run`. Empty in manifests of earlier versions.
    #[serde(default)]
    pub run_of: String,
    /// The command line. `--resume` takes options from it that are not given again; `settings` is what counts.
    pub command: Vec<String>,
    /// Time at which the run started, RFC 3339.
    pub started: String,
    /// Version and git commit of the program.
    pub program: ProgramVersion,
    /// The machine.
    pub hardware: Hardware,
    /// Part of the run that this manifest describes, where several processes measure one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Number of records of the run, or of this part of the run. Manifests of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
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

impl<S: Settings> Manifest<S> {
    /// The manifest of a run that starts now.
    pub fn new(settings: S) -> Self {
        Self {
            settings,
            run_of: S::COMMAND.to_owned(),
            command: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            program: ProgramVersion::current(),
            hardware: Hardware::current(),
            shard: None,
            planned: None,
        }
    }

    /// The manifest as JSON text.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists only: this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// The parser's error with line and column, where the text is not a manifest.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the differences between this manifest and `other` in what is measured, option by option.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let [before, now] = [self, other].map(|manifest| serde_json::to_value(&manifest.settings).unwrap_or_default());
        let mut found = setting_differences(&before, &now);
        if self.shard != other.shard {
            let told = |shard: Option<Shard>| shard.map_or_else(|| "not given".to_owned(), |shard| shard.to_string());
            found.push(format!("--shard was {}, now {}", told(self.shard), told(other.shard)));
        }
        let of_part = self.shard.and_then(|_| self.machine_difference(other));
        found.extend(
            of_part.map(|difference| format!("the part {difference}; parts are put together by their manifests")),
        );
        found
    }
}

impl<S: Settings> Manifest<S> {
    /// Returns the difference in program or machine between the process that began a run and another, as the end of a sentence about the run.
    pub(super) fn machine_difference(&self, other: &Self) -> Option<String> {
        if self.program != other.program {
            let told = |program: &ProgramVersion| format!("{} at commit {}", program.version, program.commit);
            return Some(format!(
                "was begun by version {}, this is {}",
                told(&self.program),
                told(&other.program)
            ));
        }
        let [before, now] = [self, other].map(|manifest| machine(&serde_json::to_value(manifest).unwrap_or_default()));
        (!are_alike(&before, &now)).then(|| {
            let (before, now) = (described(&before), described(&now));
            format!("was begun on {before}, this is {now}")
        })
    }
}

/// Returns the differences between the settings `before` and `now`, option by option.
pub fn setting_differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    differ("", &without_state(before), &without_state(now), &mut found);
    found
}

/// The command whose run a manifest's text describes; empty where it does not tell.
pub fn command_of(manifest: &str) -> String {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    match manifest["run_of"].as_str() {
        Some(command) if !command.is_empty() => command.to_owned(),
        // An earlier version: the words before the options.
        _ => {
            let words = manifest["command"].as_array().into_iter().flatten().skip(1);
            let words = words.filter_map(Value::as_str);
            let words: Vec<&str> = words.take_while(|word| !word.starts_with('-')).collect();
            words.join(" ")
        }
    }
}

/// Longest text of a value in a difference, in characters.
const SHOWN_VALUE: usize = 80;

/// Adds the differences between two values at `place`, a path of settings.
fn differ(place: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (before, now) if before == now => {}
        (Value::Object(before), Value::Object(now)) => {
            let added = now.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                let place = match place {
                    "" => name.clone(),
                    place => format!("{place}.{name}"),
                };
                let member = |members: &serde_json::Map<String, Value>| members.get(name).cloned().unwrap_or_default();
                differ(&place, &member(before), &member(now), found);
            }
        }
        (Value::Array(before), Value::Array(now)) if names(before) == names(now) && before.len() == now.len() => {
            for (number, (before, now)) in before.iter().zip(now).enumerate() {
                let name = before["name"]
                    .as_str()
                    .map_or_else(|| number.to_string(), str::to_owned);
                differ(&format!("{place}.{name}"), before, now, found);
            }
        }
        (before, now) => found.push(format!(
            "{} was {}, now {}",
            option_of(place),
            shown(before),
            shown(now)
        )),
    }
}

fn names(values: &[Value]) -> Option<Vec<&str>> {
    values.iter().map(|value| value["name"].as_str()).collect()
}

/// A value in few words: of things with names, the names.
fn shown(value: &Value) -> String {
    let names = value
        .as_array()
        .filter(|values| !values.is_empty())
        .and_then(|values| names(values));
    let text = match (value, names) {
        (Value::Null, _) => "not given".to_owned(),
        (_, Some(names)) => names.join(","),
        _ => value.to_string(),
    };
    match text.char_indices().nth(SHOWN_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Options that decide a setting of another name.
const OPTIONS: [(&str, &str); 15] = [
    ("models", "--model"),
    ("servers", "--server"),
    ("datasets", "--datasets, --data or --limit"),
    ("fast_forward", "--no-fast-forward: fast forwarding"),
    ("finish_in_time", "--no-finish-in-time: finishing in time"),
    ("overlap", "--no-overlap: overlap"),
    ("prompt_date", "the date in prompts"),
    ("files", "--data or --limit: the number of files"),
    ("cases", "--parts, --categories or --data: the number of cases"),
    ("samples", "--samples, --split or --limit: the number of samples"),
    ("sha256", "the data"),
    ("cases_sha256", "--draft or --data: the cases"),
    ("level", "--strict: the level"),
    ("chat_template_sha256", "--chat-template: the file"),
    ("reasoning_tokens", "--reasoning or --reasoning-tokens"),
];

/// The option that decides the setting at `place`, with the rest of the place.
fn option_of(place: &str) -> String {
    let inner = ["sampling.", "prompt."]
        .iter()
        .find_map(|group| place.strip_prefix(group));
    let place = inner.unwrap_or(place);
    let (setting, rest) = place.split_once('.').unwrap_or((place, ""));
    let option = match OPTIONS.iter().find(|(name, _)| *name == setting) {
        Some((_, option)) => (*option).to_owned(),
        None => format!("--{}", setting.strip_suffix("_s").unwrap_or(setting).replace('_', "-")),
    };
    match rest {
        "" => option,
        rest => format!("{option}: {}", rest.replace('.', ", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_difference_is_told_by_its_option() {
        let before = json!({
            "shots": 2, "compile_limit_s": 40.0, "sampling": {"temperature": 0.0, "seed": 1}, "overlap": true,
            "frameworks": [{"name": "a", "version": "1"}, {"name": "b"}], "datasets": [{"name": "x", "instances": 3}],
        });
        let now = json!({
            "shots": 1, "compile_limit_s": 4.0, "sampling": {"temperature": 1.0, "seed": 1}, "overlap": false,
            "frameworks": [{"name": "a", "version": "1"}], "datasets": [{"name": "x", "instances": 2}], "threads": 1,
        });
        assert_eq!(
            setting_differences(&before, &now),
            [
                "--shots was 2, now 1",
                "--compile-limit was 40.0, now 4.0",
                "--temperature was 0.0, now 1.0",
                "--no-overlap: overlap was true, now false",
                "--frameworks was a,b, now a",
                "--datasets, --data or --limit: x, instances was 3, now 2",
                "--threads was not given, now 1",
            ]
        );
        assert!(setting_differences(&now, &now).is_empty());
    }

    #[test]
    fn the_command_of_earlier_manifests_is_read_off_their_command_line() {
        let manifest = json!({"command": ["maskwright", "ifstruct", "run", "--split", "test"]});
        assert_eq!(command_of(&manifest.to_string()), "ifstruct run");
        assert_eq!(command_of(r#"{"run_of": "bench", "command": ["x", "masks"]}"#), "bench");
        assert_eq!(command_of("nonsense"), "");
    }
}
