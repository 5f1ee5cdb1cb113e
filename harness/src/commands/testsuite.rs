//! `maskwright testsuite`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use maskwright::TokenId;
use maskwright_suites::locate::locate;
use maskwright_suites::test_suite::{Case, CaseInstance, Draft, SuitePart, TestSuite};
use maskwright_worker::{Purpose, StyleChanges};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::arguments::directory::DirectoryArguments;
use super::arguments::frameworks::ReplayArguments;
use crate::error::CommandError;
use crate::figures::heat_map;
use crate::frameworks::{Framework, FrameworkSettings, Judging};
use crate::run::directory::RunDirectory;
use crate::run::manifest::{Manifest, Settings};
use crate::run::{interrupt, progress};
use crate::terminal::did_you_mean;
use crate::testsuite::conformance::{self, CaseOutcome, Conformance};
use crate::testsuite::record::{SuiteKey, SuiteRecord};
use crate::testsuite::report;
use crate::vocabularies::NamedVocabulary;
use crate::worker::trial::{Trial, TrialOptions};
use crate::worker::{Provision, Worker};

/// Arguments of `maskwright testsuite`.
#[derive(Debug, Args)]
pub struct TestSuiteArguments {
    #[command(flatten)]
    replay: ReplayArguments,
    /// Draft: 4, 6, 7, 2019-09 or 2020-12
    #[arg(long, default_value_t = Draft::Draft202012)]
    draft: Draft,
    /// Parts of the suite, comma-separated
    #[arg(
        long,
        value_delimiter = ',',
        value_enum,
        default_value = "required",
        value_name = "PARTS"
    )]
    parts: Vec<PartName>,
    /// Only these categories, comma-separated: names of files such as anyOf or optional/format/date
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    categories: Vec<String>,
    /// Directory of the suite, with `tests` and `remotes` [default: what `maskwright fetch test-suite` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// List every failing case, with the token at which it failed and why
    #[arg(long)]
    failures: bool,
    /// Print the JSONSchemaBench paper's counts (tables 5 and 6) beside ours
    #[arg(long)]
    paper: bool,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Prefix of the categories in which `format` asserts.
const FORMATS: &str = "optional/format/";

/// A part of the suite, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PartName {
    /// Behaviour that every implementation must have
    Required,
    /// Behaviour that an implementation may have
    Optional,
    /// Formats, asserted
    Format,
}

impl From<PartName> for SuitePart {
    fn from(name: PartName) -> Self {
        match name {
            PartName::Required => Self::Required,
            PartName::Optional => Self::Optional,
            PartName::Format => Self::OptionalFormat,
        }
    }
}

/// Runs the suite over the frameworks and prints the tables, also where they cannot be written.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &TestSuiteArguments) -> Result<(), CommandError> {
    arguments.directory.check(SuiteSettings::COMMAND)?;
    let frameworks = arguments.replay.choose()?;
    let suite = TestSuite::open(&locate("test-suite", arguments.data.as_deref())?)?;
    let cases = cases(arguments, &suite)?;
    let vocabulary = arguments.replay.load_vocabulary()?;
    let documents = suite.remotes(arguments.draft)?;
    let provisions = [false, true].map(|assert_formats| {
        let tokenizer = Some(vocabulary.tokenizer.clone());
        Provision::new(
            &vocabulary.vocabulary,
            tokenizer,
            &documents,
            assert_formats,
            Purpose::Judge,
            &StyleChanges::default(),
        )
    });
    let mut manifest = Manifest::new(SuiteSettings {
        frameworks: frameworks.iter().map(FrameworkSettings::from).collect(),
        draft: arguments.draft.to_string(),
        cases: cases.len(),
        sha256: hash(&cases, &documents),
        vocabulary: vocabulary.name.clone(),
        time_limit_s: arguments.replay.time_limit,
    });
    let division = arguments.directory.division([]);
    let own = (0..cases.len()).filter(|number| division.has("", &number.to_string()));
    let planned = own.flat_map(|number| {
        frameworks.iter().map(move |framework| SuiteKey {
            framework: framework.name.clone(),
            number,
        })
    });
    let directory = arguments.directory.open(&mut manifest, planned.collect())?;
    interrupt::watch();
    let run = SuiteRun {
        cases: &cases,
        documents: &documents,
        vocabulary: &vocabulary,
        options: TrialOptions {
            limits: arguments.replay.limits(),
            first_mask: false,
            forced: false,
        },
        bar: progress::bar((cases.len() * frameworks.len()) as u64, ""),
        log: Mutex::new(Log {
            directory,
            failure: None,
        }),
    };
    let outcomes = run.all(&frameworks, &provisions)?;
    run.bar.finish_and_clear();
    let Log { directory, failure } = run.log.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(outcomes) = outcomes else {
        return Err(CommandError::interrupted(&directory));
    };
    if directory.ends_part(&[])? {
        return failure.map_or(Ok(()), Err);
    }
    let sheet = report::Sheet {
        draft: arguments.draft.to_string(),
        vocabulary: vocabulary.name.clone(),
        settings: manifest.settings.frameworks,
        paper: arguments.paper.then(|| without_remotes(&outcomes, &cases, &documents)),
        frameworks: outcomes,
    };
    let written = failure.map_or_else(|| write(&directory, &sheet), Err);
    match arguments.json {
        true => crate::print(&format!("{}\n", report::json(&sheet)))?,
        false => {
            if arguments.failures {
                crate::print_text(&report::failures(&sheet))?;
            }
            crate::print_text(&report::terminal(&sheet))?;
        }
    }
    written?;
    if !arguments.json {
        directory.say_where();
    }
    Ok(())
}

/// Returns the outcomes of the cases whose schemas refer to no other document of the suite: the paper left the others out.
fn without_remotes(
    frameworks: &[Conformance],
    cases: &[Case],
    documents: &BTreeMap<String, String>,
) -> Vec<Conformance> {
    let needs_none = |case: &Case| {
        let mut uris = documents.keys().map(|uri| uri.trim_end_matches('#'));
        !uris.any(|uri| case.schema_text.contains(uri))
    };
    let kept: Vec<bool> = cases.iter().map(needs_none).collect();
    let of_framework = |one: &Conformance| {
        let outcomes = one.cases.iter().zip(&kept).filter(|(_, kept)| **kept);
        Conformance::new(&one.framework, outcomes.map(|(outcome, _)| outcome.clone()).collect())
    };
    frameworks.iter().map(of_framework).collect()
}

/// Returns the cases selected by the arguments.
fn cases(arguments: &TestSuiteArguments, suite: &TestSuite) -> Result<Vec<Case>, CommandError> {
    let mut cases = Vec::new();
    for (number, part) in arguments.parts.iter().enumerate() {
        if arguments.parts[..number].contains(part) {
            continue;
        }
        cases.extend(suite.cases(arguments.draft, (*part).into())?);
    }
    let (wanted, draft) = (&arguments.categories, arguments.draft);
    let known: BTreeSet<&str> = cases.iter().map(|case| case.category.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name.as_str())) {
        let hint = format!(": there is no category {unknown:?}{}", did_you_mean(unknown, known));
        return Err(CommandError::NoCases { draft, hint });
    }
    cases.retain(|case| wanted.is_empty() || wanted.contains(&case.category));
    if cases.is_empty() {
        let hint = String::new();
        return Err(CommandError::NoCases { draft, hint });
    }
    Ok(cases)
}

/// A run of the suite over all frameworks, in progress.
struct SuiteRun<'a> {
    cases: &'a [Case],
    documents: &'a BTreeMap<String, String>,
    vocabulary: &'a NamedVocabulary,
    options: TrialOptions,
    bar: progress::Bar,
    log: Mutex<Log>,
}

/// The records on disk, and the first error of writing one. The run continues after such an error, as its tables are still of use.
struct Log {
    directory: RunDirectory<SuiteRecord>,
    failure: Option<CommandError>,
}

impl Log {
    fn add(&mut self, record: SuiteRecord) {
        if self.failure.is_none() {
            self.failure = self.directory.add(record).err().map(Into::into);
        }
    }
}

impl SuiteRun<'_> {
    /// Runs all frameworks at once, each in its own workers, as nothing is timed. Returns `None` where the user interrupted.
    fn all(
        &self,
        frameworks: &[Framework],
        provisions: &[Provision; 2],
    ) -> Result<Option<Vec<Conformance>>, CommandError> {
        let workers: Vec<[Worker; 2]> = frameworks
            .iter()
            .map(|framework| {
                let [plain, asserting] = provisions;
                // An error of preparing a framework is reported before any case is run; the second worker is started
                // by the first case that asserts formats.
                let plain = framework.ready_worker(plain.clone())?;
                Ok([plain, framework.worker(asserting.clone())?])
            })
            .collect::<Result<_, CommandError>>()?;
        std::thread::scope(|scope| {
            let threads: Vec<_> = frameworks
                .iter()
                .zip(workers)
                .map(|(framework, workers)| scope.spawn(|| self.one(framework, workers)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| CommandError::Panicked))
                .collect()
        })
    }

    /// Runs one framework over the cases: the second of its workers takes the cases in which formats are asserted, the first all others. Returns
    /// `None` where the user interrupted.
    fn one(&self, framework: &Framework, mut workers: [Worker; 2]) -> Option<Conformance> {
        let name = &framework.name;
        let log = || self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let known: HashMap<usize, CaseOutcome> = {
            let log = log();
            let records = log.directory.records().iter();
            let own = records.filter(|record| record.key.framework == *name);
            own.map(|record| (record.key.number, record.outcome.clone())).collect()
        };
        let mut outcomes = Vec::with_capacity(self.cases.len());
        for (number, case) in self.cases.iter().enumerate() {
            self.bar.inc(1);
            if let Some(outcome) = known.get(&number) {
                outcomes.push(outcome.clone());
                continue;
            }
            let key = SuiteKey {
                framework: name.clone(),
                number,
            };
            if !log().directory.lacks(&key) {
                continue;
            }
            if interrupt::requested() {
                return None;
            }
            let judging = Judging {
                documents: self.documents,
                assert_formats: case.category.starts_with(FORMATS),
                style: &StyleChanges::default(),
            };
            let worker = &mut workers[usize::from(judging.assert_formats)];
            let tokens = &self.tokens(framework, &judging, case);
            let trial = Trial::run(worker, &case.schema_text, &BTreeMap::new(), tokens, &self.options);
            self.bar.set_message(format!("{name}: {}", case.category));
            let outcome = conformance::judge(case, tokens, &trial, &self.vocabulary.vocabulary);
            log().add(SuiteRecord {
                key,
                outcome: outcome.clone(),
            });
            outcomes.push(outcome);
        }
        Some(Conformance::new(name, outcomes))
    }

    fn tokens(&self, framework: &Framework, judging: &Judging<'_>, case: &Case) -> Vec<Vec<TokenId>> {
        let tokens = |one: &CaseInstance| {
            let text = framework.text(judging, &case.schema_text, &one.text, one.valid);
            self.vocabulary.tokenize(text.as_deref().unwrap_or(&one.text))
        };
        case.instances.iter().map(tokens).collect()
    }
}

/// Settings of a run of `maskwright testsuite`, kept in its manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SuiteSettings {
    frameworks: Vec<FrameworkSettings>,
    draft: String,
    cases: usize,
    /// SHA-256 of the cases, in order, with their descriptions and labels, and of the documents that their schemas may refer to.
    sha256: String,
    vocabulary: String,
    time_limit_s: f64,
}

impl Settings for SuiteSettings {
    const COMMAND: &'static str = "testsuite";
}

/// Returns the SHA-256 of all that decides the outcomes and the names of cases: the cases with their labels, and the documents by URI.
fn hash(cases: &[Case], documents: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    for case in cases {
        add(&case.category);
        add(&case.description);
        add(&case.schema_text);
        add(&case.instances.len().to_string());
        for instance in &case.instances {
            add(&instance.description);
            add(&instance.text);
            add(if instance.valid { "valid" } else { "invalid" });
        }
    }
    for (uri, text) in documents {
        add(uri);
        add(text);
    }
    hex::encode(hash.finalize())
}

/// Writes the tables, the failing cases and the heat map into the run's directory.
fn write(directory: &RunDirectory<SuiteRecord>, sheet: &report::Sheet) -> Result<(), CommandError> {
    directory.write("report.md", &(directory.heading() + &report::markdown(sheet)))?;
    directory.write("report.json", &(report::json(sheet) + "\n"))?;
    directory.write("failures.txt", &report::failures(sheet))?;
    directory.write("heat-map.svg", &heat_map::svg(&sheet.frameworks))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_labels_descriptions_and_documents_are_other_questions() {
        let case = Case {
            category: "type".to_owned(),
            description: "case".to_owned(),
            schema_text: "{}".to_owned(),
            instances: vec![CaseInstance {
                description: "instance".to_owned(),
                text: "1".to_owned(),
                valid: true,
            }],
        };
        let documents = BTreeMap::from([("http://localhost:1234/a".to_owned(), "{}".to_owned())]);
        let changed = |change: &dyn Fn(&mut Case)| {
            let mut case = case.clone();
            change(&mut case);
            hash(&[case], &documents)
        };
        let mut hashes = vec![
            changed(&|_| {}),
            changed(&|case| case.description += "s"),
            changed(&|case| case.instances[0].description += "s"),
            changed(&|case| case.instances[0].valid = false),
        ];
        for (uri, text) in [("http://localhost:1234/b", "{}"), ("http://localhost:1234/a", "true")] {
            let documents = BTreeMap::from([(uri.to_owned(), text.to_owned())]);
            hashes.push(hash(std::slice::from_ref(&case), &documents));
        }
        let distinct: BTreeSet<&String> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
    }
}
