//! A run of `maskwright coverage --true`, from its arguments to its tables.

use std::collections::BTreeMap;

use maskwright::TokenId;
use maskwright_suites::dataset::Subsample;
use maskwright_suites::locate::locate;
use maskwright_suites::mask_bench::MaskBench;
use maskwright_suites::test_suite::TestSuite;
use maskwright_worker::{Purpose, StyleChanges};
use serde::{Deserialize, Serialize};

use super::CoverageArguments;
use crate::coverage::documents::{Amounts, Document, Documents};
use crate::coverage::record::{CounterExample, CoverageKey, CoverageRecord};
use crate::coverage::report::CoverageReport;
use crate::coverage::rows::rows;
use crate::coverage::shrink::{Probe, smallest};
use crate::coverage::subject::{Source, Subject, dataset_of, hash};
use crate::documents::{DocumentLibrary, DocumentSettings};
use crate::error::CommandError;
use crate::frameworks::{Framework, FrameworkSettings, Judging};
use crate::report::table::Style;
use crate::run::directory::RunDirectory;
use crate::run::manifest::{Manifest, Settings};
use crate::run::{interrupt, progress};
use crate::vocabularies::NamedVocabulary;
use crate::worker::trial::{Compilation, Trial, TrialOptions};
use crate::worker::{Provision, Worker};

/// Largest size of a schema, in bytes, that is recorded beside a counter-example.
const SHORT_SCHEMA: usize = 4_000;
/// Number of defects of each framework in report.md.
const DEFECTS_WRITTEN: usize = 50;
/// Largest number of characters kept of the judge's objection to a document.
const PROBLEM: usize = 300;

/// Settings of a run of `maskwright coverage --true`, kept in its manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CoverageSettings {
    frameworks: Vec<FrameworkSettings>,
    /// Number of MaskBench's files, and SHA-256 of their names and contents.
    files: usize,
    sha256: Option<String>,
    /// Number of the Test Suite's cases, their draft, and SHA-256 of the cases and the documents that they refer to.
    cases: usize,
    #[serde(default)]
    draft: Option<String>,
    #[serde(default)]
    cases_sha256: Option<String>,
    seed: Option<u64>,
    documents_made: Amounts,
    vocabulary: String,
    time_limit_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    documents: Option<DocumentSettings>,
}

impl Settings for CoverageSettings {
    const COMMAND: &'static str = "coverage";
}

/// Tests frameworks with documents of every schema and prints the tables.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &CoverageArguments) -> Result<(), CommandError> {
    arguments.directory.check(CoverageSettings::COMMAND)?;
    let frameworks = arguments.replay.choose()?;
    let names: Vec<String> = frameworks.iter().map(|framework| framework.name.clone()).collect();
    let sample = Subsample {
        limit: arguments.limit,
        seed: arguments.seed,
    };
    let bench = arguments.mask_bench()?;
    let files = bench.as_ref().map(|bench| bench.sample(sample)).unwrap_or_default();
    let cases = match arguments.sources.contains(&Source::Testsuite) {
        true => {
            let suite = TestSuite::open(&locate("test-suite", arguments.data.as_deref())?)?;
            Subject::of_test_suite(&suite, arguments.draft, sample)?
        }
        false => Vec::new(),
    };
    let library = arguments.documents.read()?;
    let vocabulary = arguments.replay.load_vocabulary()?;
    let mut manifest = Manifest::new(CoverageSettings {
        frameworks: frameworks.iter().map(FrameworkSettings::from).collect(),
        files: files.len(),
        sha256: bench.as_ref().map(|bench| bench.hash(&files)),
        cases: cases.len(),
        draft: (!cases.is_empty()).then(|| arguments.draft.to_string()),
        cases_sha256: (!cases.is_empty()).then(|| hash(&cases)),
        seed: arguments.seed,
        documents_made: arguments.amounts(),
        vocabulary: vocabulary.name.clone(),
        time_limit_s: arguments.replay.time_limit,
        documents: library.settings(),
    });
    let of_files = files
        .iter()
        .map(|file| (dataset_of(file).to_owned(), (*file).to_owned()));
    let of_cases = cases.iter().map(|case| (case.dataset.clone(), case.name.clone()));
    let schemas: Vec<(String, String)> = of_files.chain(of_cases).collect();
    let division = arguments.directory.division([]);
    let own = schemas
        .iter()
        .filter(|(dataset, name)| division.has("", &format!("{dataset}/{name}")));
    let planned = own.flat_map(|(dataset, schema)| {
        names.iter().map(move |framework| CoverageKey {
            framework: framework.clone(),
            dataset: dataset.clone(),
            schema: schema.clone(),
        })
    });
    let mut directory = arguments.directory.open(&mut manifest, planned.collect())?;
    interrupt::watch();
    let mut run = CoverageRun {
        library: &library,
        vocabulary: &vocabulary,
        amounts: arguments.amounts(),
        options: TrialOptions {
            limits: arguments.replay.limits(),
            first_mask: false,
            forced: false,
        },
        frameworks: &frameworks,
        workers: BTreeMap::new(),
        schemas: schemas.len(),
    };
    let of_files = files.iter().map(|name| Next::File(name));
    run.all(
        bench.as_ref(),
        of_files.chain(cases.iter().map(Next::Case)),
        &mut directory,
    )?;
    drop(run);
    if directory.ends_part(&[])? {
        return Ok(());
    }
    let mut datasets: Vec<String> = schemas.iter().map(|(dataset, _)| dataset.clone()).collect();
    datasets.sort();
    datasets.dedup();
    finish(arguments, &directory, &datasets, &names)
}

impl CoverageArguments {
    /// Opens MaskBench, where it is among the sources.
    fn mask_bench(&self) -> Result<Option<MaskBench>, CommandError> {
        if !self.sources.contains(&Source::Maskbench) {
            return Ok(None);
        }
        let directory = match &self.data {
            Some(directory) => directory.clone(),
            None => locate("jsonschemabench", None)?,
        };
        Ok(Some(MaskBench::open(&directory)?))
    }
}

/// Writes the tables beside the records, and prints them.
fn finish(
    arguments: &CoverageArguments,
    directory: &RunDirectory<CoverageRecord>,
    datasets: &[String],
    frameworks: &[String],
) -> Result<(), CommandError> {
    let report = CoverageReport {
        rows: rows(directory.records(), datasets, frameworks),
        frameworks,
        records: directory.records(),
    };
    let json = report.json() + "\n";
    let markdown = directory.heading() + &report.text(Style::Markdown, DEFECTS_WRITTEN);
    let written = directory
        .write("report.md", &markdown)
        .and_then(|()| directory.write("report.json", &json));
    match arguments.json {
        true => crate::print(&json)?,
        false => crate::print_text(&report.text(Style::Terminal, arguments.defects))?,
    }
    written?;
    if !arguments.json {
        directory.say_where();
    }
    Ok(())
}

/// The next schema.
enum Next<'a> {
    File(&'a str),
    Case(&'a Subject),
}

/// A run over all schemas and frameworks, in progress.
struct CoverageRun<'a> {
    library: &'a DocumentLibrary,
    vocabulary: &'a NamedVocabulary,
    amounts: Amounts,
    options: TrialOptions,
    frameworks: &'a [Framework],
    /// Workers by the framework's number and by whether formats are asserted.
    workers: BTreeMap<(usize, bool), Worker>,
    /// Number of schemas of the whole run.
    schemas: usize,
}

impl<'a> CoverageRun<'a> {
    /// Tests the schemas that the directory has no record of yet, schema by schema, with all frameworks in turn.
    fn all(
        &mut self,
        bench: Option<&MaskBench>,
        schemas: impl Iterator<Item = Next<'a>>,
        directory: &mut RunDirectory<CoverageRecord>,
    ) -> Result<(), CommandError> {
        let bar = progress::bar((self.schemas * self.frameworks.len()) as u64, "");
        for next in schemas {
            let (dataset, name) = match &next {
                Next::File(name) => (dataset_of(name), *name),
                Next::Case(subject) => (subject.dataset.as_str(), subject.name.as_str()),
            };
            bar.set_message(name);
            let key = |framework: &Framework| CoverageKey {
                framework: framework.name.clone(),
                dataset: dataset.to_owned(),
                schema: name.to_owned(),
            };
            let missing: Vec<usize> = (0..self.frameworks.len())
                .filter(|number| directory.lacks(&key(&self.frameworks[*number])))
                .collect();
            if !missing.is_empty() {
                let subject = match (next, bench) {
                    (Next::Case(subject), _) => Ok(subject.clone()),
                    (Next::File(name), Some(bench)) => {
                        Subject::of_mask_bench(bench, name).map_err(|error| error.to_string())
                    }
                    (Next::File(_), None) => Err("there is no MaskBench".to_owned()),
                };
                let subject = subject.map(|mut subject| {
                    subject.documents = self.library.beside(&subject.schema, &subject.documents);
                    let documents = Documents::of(&subject, self.amounts);
                    (subject, documents)
                });
                if let (Ok((_, documents)), true) = (&subject, missing.len() < self.frameworks.len()) {
                    check_same(directory.records(), (dataset, name), &documents.hash())?;
                }
                for number in missing {
                    if interrupt::requested() {
                        bar.abandon();
                        return Err(CommandError::interrupted(directory));
                    }
                    let key = key(&self.frameworks[number]);
                    directory.add(match &subject {
                        Ok((subject, documents)) => self.record(key, number, subject, documents)?,
                        Err(reason) => CoverageRecord {
                            unusable: Some(reason.clone()),
                            ..CoverageRecord::empty(key)
                        },
                    })?;
                }
            }
            bar.inc(self.frameworks.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Records the verdicts of one framework on the documents of a schema.
    fn record(
        &mut self,
        key: CoverageKey,
        number: usize,
        subject: &Subject,
        documents: &Documents,
    ) -> Result<CoverageRecord, CommandError> {
        let (framework, worker_key) = (&self.frameworks[number], (number, subject.assert_formats));
        if !self.workers.contains_key(&worker_key) {
            let provision = self.provision(subject);
            self.workers.insert(worker_key, framework.ready_worker(provision)?);
        }
        let Some(worker) = self.workers.get_mut(&worker_key) else {
            return Ok(CoverageRecord::empty(key));
        };
        let mut probe = WorkerProbe {
            framework,
            worker,
            vocabulary: self.vocabulary,
            options: &self.options,
            subject,
        };
        let texts: Vec<(&str, bool)> = documents.all.iter().map(|one| (one.text.as_str(), one.valid)).collect();
        let (trial, verdicts) = probe.replay(&texts);
        let mut record = CoverageRecord {
            documents_sha256: documents.hash(),
            source: subject.source,
            verdicts: verdicts.iter().flatten().count(),
            valid: documents.all.iter().filter(|one| one.valid).count(),
            invalid: documents.all.iter().filter(|one| !one.valid).count(),
            disputed: documents.disputed,
            ..CoverageRecord::empty(key)
        };
        match trial.compilation {
            Compilation::Done { .. } => {}
            Compilation::Refused(error) => record.compile_error = Some(error.into()),
            Compilation::Failed(ending) => record.ending = Some(ending),
        }
        if let Some(Err(ending)) = trial.replays.into_iter().last() {
            record.replay_ending = Some(ending);
        }
        let wrong = |valid: bool| -> Vec<&Document> {
            let pairs = documents.all.iter().zip(&verdicts);
            let wrong = pairs.filter(|(one, verdict)| one.valid == valid && **verdict == Some(!valid));
            wrong.map(|(one, _)| one).collect()
        };
        let (blocked, let_through) = (wrong(true), wrong(false));
        (record.blocked, record.let_through) = (blocked.len(), let_through.len());
        record.over_constrained = counter_example(&blocked, true, documents, &mut probe);
        record.under_constrained = counter_example(&let_through, false, documents, &mut probe);
        let has_example = record.over_constrained.is_some() || record.under_constrained.is_some();
        if has_example && subject.schema.len() <= SHORT_SCHEMA {
            record.schema = Some(subject.schema.clone());
        }
        Ok(record)
    }

    fn provision(&self, subject: &Subject) -> Provision {
        Provision::new(
            &self.vocabulary.vocabulary,
            Some(self.vocabulary.tokenizer.clone()),
            &BTreeMap::new(),
            subject.assert_formats,
            Purpose::Judge,
            &StyleChanges::default(),
        )
    }
}

/// Checks that the existing records of a schema are of the documents with this hash.
///
/// # Errors
///
/// [`CommandError::Arguments`], where the hash differs: figures of different documents cannot be compared.
fn check_same(records: &[CoverageRecord], (dataset, schema): (&str, &str), sha256: &str) -> Result<(), CommandError> {
    let mut known = records.iter();
    let other = known.find(|record| {
        let is_own = (record.key.dataset.as_str(), record.key.schema.as_str()) == (dataset, schema);
        is_own && record.unusable.is_none() && record.documents_sha256 != sha256
    });
    match other {
        Some(other) => Err(CommandError::Arguments(format!(
            "the run has a record of {} on {dataset}/{schema} with other documents than are made now, so that frameworks would be tested \
             unequally: start a new run with another --out",
            other.key.framework
        ))),
        None => Ok(()),
    }
}

/// Returns the smallest document found that shows the same defect as the documents `wrong`.
fn counter_example(
    wrong: &[&Document],
    valid: bool,
    documents: &Documents,
    probe: &mut dyn Probe,
) -> Option<CounterExample> {
    let shortest = wrong.iter().min_by_key(|one| one.text.len())?;
    let judge = documents.judge.as_ref();
    let text = smallest(&shortest.text, valid, judge, probe);
    let problem = judge.and_then(|judge| {
        let problem = judge.judge(&text).problems.into_iter().next()?;
        let place = match problem.instance.is_empty() {
            true => String::new(),
            false => format!("{}: ", problem.instance),
        };
        let text = format!("{place}{}", problem.message);
        Some(text.chars().take(PROBLEM).collect())
    });
    Some(CounterExample {
        text,
        origin: shortest.origin,
        problem,
    })
}

/// A framework's worker with a schema, which compiles it and replays documents.
struct WorkerProbe<'p> {
    framework: &'p Framework,
    worker: &'p mut Worker,
    vocabulary: &'p NamedVocabulary,
    options: &'p TrialOptions,
    subject: &'p Subject,
}

impl WorkerProbe<'_> {
    /// Compiles the schema and replays texts. A verdict is `None` where the framework gave none.
    fn replay(&mut self, texts: &[(&str, bool)]) -> (Trial, Vec<Option<bool>>) {
        let subject = self.subject;
        let judging = Judging {
            documents: &subject.documents,
            assert_formats: subject.assert_formats,
            style: &StyleChanges::default(),
        };
        let spelt = texts
            .iter()
            .map(|(text, valid)| self.framework.text(&judging, &subject.schema, text, *valid));
        let tokens: Vec<Option<Vec<TokenId>>> = spelt
            .map(|text| text.map(|text| self.vocabulary.tokenize(&text)))
            .collect();
        let known: Vec<Vec<TokenId>> = tokens.iter().flatten().cloned().collect();
        let trial = Trial::run(self.worker, &subject.schema, &subject.documents, &known, self.options);
        let mut replayed = trial.replays.iter().zip(&known).map(|(replay, tokens)| {
            let replay = replay.as_ref().ok()?;
            Some(replay.failure.is_none() && replay.accepted == tokens.len() && replay.complete)
        });
        // A document that cannot be written in the framework's style says nothing about its constraints.
        let verdicts = tokens.iter().map(|tokens| match tokens {
            Some(_) => replayed.next().flatten(),
            None => None,
        });
        let verdicts = verdicts.collect();
        (trial, verdicts)
    }
}

impl Probe for WorkerProbe<'_> {
    fn accepts(&mut self, texts: &[String], valid: bool) -> Vec<Option<bool>> {
        let texts: Vec<(&str, bool)> = texts.iter().map(|text| (text.as_str(), valid)).collect();
        self.replay(&texts).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_with_the_documents_that_it_was_begun_with_only() {
        let record = |schema: &str, sha256: &str| CoverageRecord {
            documents_sha256: sha256.to_owned(),
            ..CoverageRecord::empty(CoverageKey {
                framework: "f".to_owned(),
                dataset: "d".to_owned(),
                schema: schema.to_owned(),
            })
        };
        let records = [record("one", "1"), record("two", "2")];
        assert!(check_same(&records, ("d", "one"), "1").is_ok());
        assert!(check_same(&records, ("d", "three"), "3").is_ok());
        let error = check_same(&records, ("d", "two"), "1").unwrap_err().to_string();
        assert!(error.contains("f on d/two") && error.contains("--out"), "{error}");
    }
}
