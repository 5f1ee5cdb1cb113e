//! `maskwright testsuite`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use maskwright::TokenId;
use maskwright_suites::locate::locate;
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite};
use maskwright_worker::Purpose;
use serde::Serialize;

use super::arguments::frameworks::ReplayArguments;
use crate::error::CommandError;

use crate::frameworks::{Framework, FrameworkSettings, Judging};
use crate::run::manifest::Manifest;
use crate::run::progress;
use crate::testsuite::conformance::{self, CaseOutcome, Conformance};
use crate::testsuite::heat_map;
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
    /// Write the tables, the failing cases and the heat map (manifest.json, report.md, report.json, failures.txt, heat-map.svg) here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// How the categories begin in which `format` asserts.
const FORMATS: &str = "optional/format/";

/// A part of the suite, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PartName {
    /// What every implementation has to do
    Required,
    /// What it may do
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

/// Runs the suite over the frameworks and prints the tables.
///
/// # Errors
///
/// [`CommandError`].
pub fn run(arguments: &TestSuiteArguments) -> Result<(), CommandError> {
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
        )
    });
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
    };
    let manifest = Manifest::new(SuiteSettings {
        frameworks: frameworks.iter().map(FrameworkSettings::from).collect(),
        draft: arguments.draft.to_string(),
        cases: cases.len(),
        vocabulary: vocabulary.name.clone(),
    });
    let outcomes = run.all(&frameworks, &provisions)?;
    run.bar.finish_and_clear();
    let sheet = report::Sheet {
        draft: arguments.draft.to_string(),
        vocabulary: vocabulary.name.clone(),
        descriptions: frameworks.into_iter().map(|framework| framework.description).collect(),
        frameworks: outcomes,
        paper: arguments.paper,
    };
    if let Some(directory) = &arguments.out {
        write(directory, &sheet, &manifest)?;
    }
    if arguments.json {
        return crate::print(&format!("{}\n", report::json(&sheet)));
    }
    crate::print(&report::terminal(&sheet))?;
    if arguments.failures {
        crate::print(&report::failures(&sheet))?;
    }
    Ok(())
}

/// The cases asked for.
fn cases(arguments: &TestSuiteArguments, suite: &TestSuite) -> Result<Vec<Case>, CommandError> {
    let mut cases = Vec::new();
    for part in &arguments.parts {
        cases.extend(suite.cases(arguments.draft, (*part).into())?);
    }
    let wanted = &arguments.categories;
    cases.retain(|case| wanted.is_empty() || wanted.contains(&case.category));
    if cases.is_empty() {
        return Err(CommandError::NoCases { draft: arguments.draft });
    }
    Ok(cases)
}

/// The suite on its way through the frameworks.
struct SuiteRun<'a> {
    cases: &'a [Case],
    documents: &'a BTreeMap<String, String>,
    vocabulary: &'a NamedVocabulary,
    options: TrialOptions,
    bar: ProgressBar,
}

impl SuiteRun<'_> {
    /// All frameworks at once, each in its own worker: nothing is timed here.
    fn all(&self, frameworks: &[Framework], provisions: &[Provision; 2]) -> Result<Vec<Conformance>, CommandError> {
        let workers: Vec<[Worker; 2]> = frameworks
            .iter()
            .map(|framework| {
                let [plain, asserting] = provisions;
                // A framework that cannot be made ready is found out before anything is run; the second worker is started
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

    /// One framework: in its first worker what the standard asks for, in its second where formats are asserted.
    fn one(&self, framework: &Framework, mut workers: [Worker; 2]) -> Conformance {
        let name = &framework.name;
        let outcome = |case: &Case| -> CaseOutcome {
            let judging = Judging {
                documents: self.documents,
                assert_formats: case.category.starts_with(FORMATS),
            };
            let worker = &mut workers[usize::from(judging.assert_formats)];
            let tokens = &self.tokens(framework, &judging, case);
            let trial = Trial::run(worker, &case.schema_text, tokens, &self.options);
            self.bar.set_message(format!("{name}: {}", case.category));
            self.bar.inc(1);
            conformance::judge(case, tokens, &trial, &self.vocabulary.vocabulary)
        };
        Conformance::new(name, self.cases.iter().map(outcome).collect())
    }

    fn tokens(&self, framework: &Framework, judging: &Judging<'_>, case: &Case) -> Vec<Vec<TokenId>> {
        let instances = case.instances.iter();
        let texts = instances.map(|one| framework.text(judging, &case.schema_text, &one.text, one.valid));
        texts.map(|text| self.vocabulary.tokenize(&text)).collect()
    }
}

/// What a run of the suite measures.
#[derive(Debug, Serialize)]
struct SuiteSettings {
    frameworks: Vec<FrameworkSettings>,
    draft: String,
    cases: usize,
    vocabulary: String,
}

/// Writes the manifest, the tables, the failing cases and the heat map into a directory.
fn write(directory: &Path, sheet: &report::Sheet, manifest: &Manifest<SuiteSettings>) -> Result<(), CommandError> {
    let files: BTreeMap<&str, String> = BTreeMap::from([
        ("manifest.json", manifest.to_json()),
        ("report.md", report::markdown(sheet)),
        ("report.json", report::json(sheet) + "\n"),
        ("failures.txt", report::failures(sheet)),
        ("heat-map.svg", heat_map::svg(&sheet.frameworks)?),
    ]);
    std::fs::create_dir_all(directory).map_err(|source| CommandError::write(directory, source))?;
    for (name, text) in files {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|source| CommandError::write(&path, source))?;
    }
    Ok(())
}
