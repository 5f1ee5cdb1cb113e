//! [`BenchmarkPart`]: the parts of the benchmark, with the command of each and the number of questions that fit into a time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use maskwright_suites::dataset::Catalog;
use maskwright_suites::locate::locate;
use maskwright_suites::mask_bench::{MaskBench, MaskBenchError};
use serde::{Deserialize, Serialize};

use super::AllArguments;
use crate::frameworks::{BUILT_IN_FRAMEWORKS, EXTERNAL_FRAMEWORKS, LM_ONLY};

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchmarkPart {
    /// Efficiency and coverage
    Bench,
    /// Replies to IFStruct's requests
    Ifstruct,
    /// Calls of functions
    Tools,
    /// Questions with known answers
    Quality,
    /// The JSON Schema Test Suite
    Testsuite,
    /// MaskBench
    Masks,
    /// True coverage
    Coverage,
}

/// The parts in the order in which they run: parts that need no data come first.
pub const PARTS: [BenchmarkPart; 7] = [
    BenchmarkPart::Bench,
    BenchmarkPart::Ifstruct,
    BenchmarkPart::Tools,
    BenchmarkPart::Quality,
    BenchmarkPart::Testsuite,
    BenchmarkPart::Masks,
    BenchmarkPart::Coverage,
];

impl BenchmarkPart {
    /// Returns the part's name, which is also the name of the run's directory.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bench => "bench",
            Self::Ifstruct => "ifstruct",
            Self::Tools => "tools",
            Self::Quality => "quality",
            Self::Testsuite => "testsuite",
            Self::Masks => "masks",
            Self::Coverage => "coverage",
        }
    }

    /// Returns the weight of the part when the time is divided. Time that a part does not use goes to the parts after it.
    pub fn weight(self) -> f64 {
        match self {
            Self::Bench => 3.0,
            Self::Ifstruct => 2.0,
            Self::Tools | Self::Quality => 1.5,
            Self::Testsuite | Self::Masks | Self::Coverage => 1.0,
        }
    }

    /// Returns the largest number of questions for each second of the part's share of the time. A command that reaches the end of its share is
    /// cut off and keeps its records; a sample that fits into the share is spread over all of the data instead.
    fn per_second(self) -> f64 {
        match self {
            Self::Bench | Self::Ifstruct | Self::Tools | Self::Quality => 0.5,
            Self::Masks => 2.0,
            Self::Coverage => 0.5,
            // The test suite runs whole: nothing is sampled.
            Self::Testsuite => f64::INFINITY,
        }
    }

    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Ifstruct => &["ifstruct", "run"],
            Self::Bench => &["bench"],
            Self::Tools => &["bench", "--tools", "builtin"],
            Self::Quality => &["quality"],
            Self::Testsuite => &["testsuite"],
            Self::Masks => &["masks"],
            Self::Coverage => &["coverage"],
        }
    }

    /// Whether the part asks a model.
    fn asks_model(self) -> bool {
        matches!(self, Self::Bench | Self::Quality | Self::Ifstruct | Self::Tools)
    }

    /// Returns the command line that continues the part's run, without the program's name. With `offline`, no model is downloaded.
    pub fn resumed(self, out: &Path, offline: bool) -> Vec<OsString> {
        let mut words: Vec<OsString> = self.words().iter().map(OsString::from).collect();
        words.extend(["--resume".into(), "--out".into(), out.into()]);
        words.extend((offline && self.asks_model()).then(|| OsString::from("--offline")));
        words
    }
}

/// A part and the data that it is run with.
pub struct Plan {
    /// The part.
    pub part: BenchmarkPart,
    data: Option<PathBuf>,
}

impl Plan {
    /// Plans a part for `frameworks`, with `data` or, where that is `None`, with the fetched data.
    ///
    /// # Errors
    ///
    /// A message that names the missing data or frameworks and tells how to get them.
    pub fn new(part: BenchmarkPart, frameworks: &[String], data: Option<&Path>) -> Result<Self, String> {
        if !part.asks_model() && frameworks.iter().all(|name| name == LM_ONLY) {
            return Err(format!(
                "it compares frameworks, and --frameworks names none but `{LM_ONLY}`"
            ));
        }
        let suite = || locate("test-suite", data).map_err(|error| error.to_string());
        let mask_bench = || {
            let directory = data.map_or_else(|| locate("jsonschemabench", None), |data| Ok(data.to_owned()));
            let directory = directory.map_err(|error| error.to_string())?;
            check_mask_bench(&directory).map_err(|error| error.to_string())?;
            Ok::<_, String>(directory)
        };
        let data = match part {
            BenchmarkPart::Bench => data.filter(|data| holds_schemas(data)).map(Path::to_owned),
            BenchmarkPart::Ifstruct | BenchmarkPart::Tools | BenchmarkPart::Quality => None,
            BenchmarkPart::Testsuite => Some(suite()?),
            BenchmarkPart::Masks => Some(mask_bench()?),
            // `coverage` takes both datasets from one directory, or both from the cache of fetched data.
            BenchmarkPart::Coverage => {
                suite()?;
                mask_bench()?;
                data.map(Path::to_owned)
            }
        };
        Ok(Self { part, data })
    }

    /// Returns the command line of the part, without the program's name.
    pub fn words(&self, arguments: &AllArguments, out: &Path, share: Duration) -> Vec<OsString> {
        let mut words: Vec<OsString> = self.part.words().iter().map(OsString::from).collect();
        let mut add = |option: &str, value: OsString| words.extend([OsString::from(option), value]);
        add("--out", out.into());
        if let Some(data) = &self.data {
            add("--data", data.into());
        }
        let frameworks = arguments.frameworks.join(",");
        let with_alone = match arguments.frameworks.iter().any(|name| name == LM_ONLY) {
            true => frameworks.clone(),
            false => format!("{frameworks},{LM_ONLY}"),
        };
        let without_alone: Vec<&str> = arguments
            .frameworks
            .iter()
            .map(String::as_str)
            .filter(|name| *name != LM_ONLY)
            .collect();
        match self.part {
            BenchmarkPart::Bench | BenchmarkPart::Quality => {
                add("--model", (&arguments.model).into());
                add("--device", (&arguments.device).into());
                add("--frameworks", with_alone.into());
            }
            BenchmarkPart::Tools => {
                add("--model", (&arguments.model).into());
                add("--device", (&arguments.device).into());
                let taking = with_alone.split(',').filter(|name| !takes_no_tags(name));
                add("--frameworks", taking.collect::<Vec<&str>>().join(",").into());
            }
            BenchmarkPart::Ifstruct => {
                add("--model", (&arguments.model).into());
                add("--device", (&arguments.device).into());
                add("--split", "test".into());
            }
            BenchmarkPart::Testsuite | BenchmarkPart::Masks | BenchmarkPart::Coverage => {
                add("--frameworks", without_alone.join(",").into())
            }
        }
        if self.part == BenchmarkPart::Quality {
            // The questions of this task are generated: no data is needed.
            add("--tasks", "last-letter".into());
        }
        if matches!(self.part, BenchmarkPart::Masks | BenchmarkPart::Coverage) {
            add("--seed", "0".into());
        }
        let most = (share.as_secs_f64() * self.part.per_second()).max(1.0);
        if most.is_finite() {
            add("--limit", format!("{most:.0}").into());
        }
        if self.part == BenchmarkPart::Coverage {
            words.push("--true".into());
        }
        if arguments.offline && self.part.asks_model() {
            words.push("--offline".into());
        }
        words
    }
}

/// Checks that MaskBench is in a directory.
fn check_mask_bench(directory: &Path) -> Result<(), MaskBenchError> {
    let bench = MaskBench::open(directory)?;
    bench.check(bench.names())
}

/// Whether a directory holds schemas, which `bench` takes, and neither the Test Suite nor MaskBench.
fn holds_schemas(directory: &Path) -> bool {
    let is_public = locate("test-suite", Some(directory)).is_ok() || check_mask_bench(directory).is_ok();
    !is_public && Catalog::empty().add_directory(directory).is_ok()
}

/// Whether a framework is known to compile no structural tags.
fn takes_no_tags(name: &str) -> bool {
    let built_in = BUILT_IN_FRAMEWORKS.iter().map(|one| (one.name, one.structural_tags));
    let external = EXTERNAL_FRAMEWORKS.iter().map(|one| (one.name, one.structural_tags));
    built_in.chain(external).any(|known| known == (name, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_schemas_are_for_bench_and_public_data_for_the_other_parts() {
        let data = tempfile::tempdir().unwrap();
        let plan = |part| Plan::new(part, &["maskwright".to_owned()], Some(data.path()));
        std::fs::write(data.path().join("a.json"), r#"{"type": "object"}"#).unwrap();
        assert_eq!(
            plan(BenchmarkPart::Bench).ok().unwrap().data.as_deref(),
            Some(data.path())
        );
        let left_out = plan(BenchmarkPart::Masks).err().unwrap();
        assert!(left_out.contains("bench --data DIR"), "{left_out}");
        std::fs::write(data.path().join("a.json"), r#"{"schema": {}, "tests": []}"#).unwrap();
        assert_eq!(plan(BenchmarkPart::Bench).ok().unwrap().data, None);
        assert!(plan(BenchmarkPart::Masks).is_ok());
    }

    #[test]
    fn parts_that_ask_a_model_are_continued_offline() {
        let is_offline = |part: BenchmarkPart, offline| {
            let words = part.resumed(Path::new("out"), offline);
            words.iter().any(|word| word == "--offline")
        };
        let expected = [true, true, true, true, false, false, false];
        assert_eq!(PARTS.map(|part| is_offline(part, true)), expected);
        assert_eq!(PARTS.map(|part| is_offline(part, false)), [false; 7]);
    }
}
