//! Failures that the records of a run contain.

use std::collections::BTreeMap;

use maskwright_suites::ifstruct::Samples;
use maskwright_suites::validate::Scoring;

use super::{Failure, keyword_of};
use crate::bench::record::{CompileFailure, Record};
use crate::coverage::record::CoverageRecord;
use crate::coverage::rows::{Defect, findings};
use crate::coverage::subject::dataset_of;
use crate::frameworks::display_name;
use crate::ifstruct::record::ReplyRecord;
use crate::masks::record::MaskRecord;
use crate::quality::record::AnswerRecord;
use crate::results::coverage::frameworks;
use crate::results::run::{Found, Run, RunRecords};
use crate::results::schemas::Schemas;
use crate::testsuite::conformance::{CaseFailure, FailureKind};
use crate::testsuite::record::SuiteRecord;
use crate::tools::record::CallRecord;
use crate::worker::trial::Ending;

/// Returns the failures of a run.
pub fn of_run(run: &Run, schemas: &Schemas, scoring: Scoring) -> Vec<Failure> {
    let mut found = match &run.found {
        Found::Bench(run) => of_bench(run, schemas, scoring),
        Found::Quality(run) => run.records.iter().filter_map(of_answer).collect(),
        Found::Tools(run) => run.records.iter().filter_map(of_calls).collect(),
        Found::Suite(run) => of_suite(run, schemas),
        Found::Masks(run) => of_masks(run, schemas, scoring),
        Found::Coverage(run) => of_coverage(run),
        Found::Ifstruct(run, samples) => of_replies(run, samples),
    };
    for failure in &mut found {
        failure.run_of = run.command();
    }
    found
}

impl Failure {
    /// Notes that a schema was refused.
    fn refused(&mut self, error: &CompileFailure) {
        self.kind = "schema refused";
        self.keyword = match (&error.keyword, &error.pointer) {
            (Some(keyword), _) => keyword.clone(),
            (None, Some(pointer)) => keyword_of(pointer),
            (None, None) => String::new(),
        };
        self.reason = error.message.clone();
    }

    /// Notes that a worker failed.
    fn ended(&mut self, ending: &Ending) {
        self.kind = "crash or limit";
        self.reason = ending.message.clone();
    }
}

fn of_bench(run: &RunRecords<Record>, schemas: &Schemas, scoring: Scoring) -> Vec<Failure> {
    let seed = run.settings["sampling"]["seed"].as_u64().unwrap_or(0);
    let counts: BTreeMap<&str, usize> = run.settings["datasets"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|dataset| Some((dataset["name"].as_str()?, dataset["instances"].as_u64()? as usize)))
        .collect();
    // A manifest may claim any number; more than the records name is not generated.
    let numbers = run
        .records
        .iter()
        .filter_map(|record| record.key.instance.parse::<usize>().ok());
    let named = numbers.max().map_or(0, |number| number.saturating_add(1));
    let is_wrong = |record: &&Record| record.unusable.is_none() && !record.is_valid(scoring) && !record.lacked_room();
    let wrong = run.records.iter().filter(is_wrong);
    wrong
        .map(|record| {
            let key = &record.key;
            let claimed = counts.get(key.dataset.as_str()).copied().unwrap_or(0);
            let generated = (claimed.min(named), seed);
            let mut failure = Failure {
                model: key.model.clone(),
                framework: display_name(&key.framework),
                dataset: key.dataset.clone(),
                name: key.instance.clone(),
                schema: schemas.of_dataset(&key.dataset, &key.instance, generated),
                text: record.generation.as_ref().map(|generation| generation.text.clone()),
                ..Failure::default()
            };
            describe_answer(&mut failure, record, scoring);
            failure
        })
        .collect()
}

fn describe_answer(failure: &mut Failure, record: &Record, scoring: Scoring) {
    let error = record.compile.as_ref().and_then(|compile| compile.error.as_ref());
    if let Some(error) = error {
        failure.refused(error);
        return;
    }
    let verdict = match scoring {
        Scoring::Strict => record.verdict.as_ref(),
        Scoring::Paper => record.paper_verdict.as_ref(),
    };
    let problem = verdict.and_then(|verdict| verdict.problems.first());
    let generation = record.generation.as_ref();
    let error = generation.and_then(|generation| generation.error.as_ref());
    match (error, problem) {
        (Some(error), _) => {
            failure.kind = "generation failed";
            failure.reason = error.clone();
        }
        (None, Some(problem)) => {
            failure.kind = match verdict.is_some_and(|verdict| verdict.parsed) {
                true => "invalid answer",
                false => "not JSON",
            };
            failure.keyword = keyword_of(&problem.keyword);
            failure.reason = problem.message.clone();
            failure.is_explainable = true;
        }
        (None, None) => {
            failure.kind = "no answer in time";
            failure.reason = "the limit on time was reached".to_owned();
        }
    }
}

fn of_calls(record: &CallRecord) -> Option<Failure> {
    if record.is_right() || record.lacked_room() || record.unusable.is_some() {
        return None;
    }
    let key = &record.key;
    let generation = record.generation.as_ref();
    let mut failure = Failure {
        model: key.model.clone(),
        framework: display_name(&key.framework),
        dataset: key.dataset.clone(),
        name: key.request.clone(),
        text: generation.map(|generation| generation.text.clone()),
        ..Failure::default()
    };
    let refusal = record.compile.as_ref().and_then(|compile| compile.error.as_ref());
    let error = generation.and_then(|generation| generation.error.as_ref());
    match (refusal, error, &record.judgement) {
        (Some(refusal), _, _) => failure.refused(refusal),
        (None, Some(error), _) => {
            failure.kind = "generation failed";
            failure.reason = error.clone();
        }
        (None, None, judgement) => {
            failure.kind = if record.was_cut_off() { "cut off" } else { "wrong call" };
            failure.reason = judgement
                .as_ref()
                .and_then(|judgement| judgement.problem.clone())
                .unwrap_or_default();
        }
    }
    Some(failure)
}

fn of_answer(record: &AnswerRecord) -> Option<Failure> {
    if record.is_right() || record.lacked_room() {
        return None;
    }
    let key = &record.key;
    let mut failure = Failure {
        model: key.model.clone(),
        framework: key.shown_row(),
        dataset: key.task.name().to_owned(),
        name: key.question.clone(),
        text: record.generation.as_ref().map(|generation| generation.text.clone()),
        schema: Some(key.task.schema()),
        ..Failure::default()
    };
    let error = record.compile.as_ref().and_then(|compile| compile.error.as_ref());
    let answer = record
        .judgement
        .as_ref()
        .and_then(|judgement| judgement.lenient.answer.as_ref());
    match (error, answer) {
        (Some(error), _) => failure.refused(error),
        (None, Some(answer)) => {
            failure.kind = "wrong answer";
            failure.reason = format!("the answer was read as {answer}");
        }
        (None, None) => {
            failure.kind = if record.was_cut_off() {
                "cut off"
            } else {
                "unreadable answer"
            };
            failure.reason = "no answer is found in the text".to_owned();
        }
    }
    Some(failure)
}

fn of_suite(run: &RunRecords<SuiteRecord>, schemas: &Schemas) -> Vec<Failure> {
    let draft = run.settings["draft"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for record in &run.records {
        for failure in &record.outcome.failures {
            found.push(of_case(record, failure, draft, schemas));
        }
    }
    found
}

fn of_case(record: &SuiteRecord, failed: &CaseFailure, draft: &str, schemas: &Schemas) -> Failure {
    let outcome = &record.outcome;
    let instance = failed.instance.as_deref();
    let mut failure = Failure {
        framework: record.key.framework.clone(),
        dataset: format!("Test Suite: {}", outcome.category),
        name: match instance {
            Some(instance) => format!("{} / {instance}", outcome.description),
            None => outcome.description.clone(),
        },
        // A category is called by the keyword that it is about.
        keyword: outcome.category.rsplit('/').next().unwrap_or_default().to_owned(),
        kind: match failed.kind {
            FailureKind::CompileError => "schema refused",
            FailureKind::OverConstrained => "valid document blocked",
            FailureKind::UnderConstrained => "invalid document let through",
            FailureKind::Crashed => "crash or limit",
        },
        reason: failed.reason.clone(),
        is_explainable: failed.kind == FailureKind::UnderConstrained,
        ..Failure::default()
    };
    schemas.of_suite(draft, &outcome.category, &outcome.description, |case, _| {
        failure.schema = Some(case.schema_text.clone());
        let same = case
            .instances
            .iter()
            .find(|one| Some(one.description.as_str()) == instance);
        failure.text = same.map(|one| one.text.clone());
    });
    if let Some(stop) = &failed.stopped {
        // What was fed may be spelt otherwise than in the suite.
        failure.text = Some(format!("{}{}", stop.after, stop.text));
        failure.byte = Some(stop.after.len());
    }
    failure
}

fn of_masks(run: &RunRecords<MaskRecord>, schemas: &Schemas, scoring: Scoring) -> Vec<Failure> {
    let check_end = scoring == Scoring::Strict;
    let is_wrong = |record: &&MaskRecord| record.unusable.is_none() && !record.passes(check_end);
    let wrong = run.records.iter().filter(is_wrong);
    wrong
        .map(|record| {
            let mut failure = Failure {
                framework: record.key.framework.clone(),
                dataset: format!("MaskBench: {}", dataset_of(&record.key.file)),
                name: record.key.file.clone(),
                schema: schemas.of_mask_bench(&record.key.file).map(|(schema, _)| schema),
                ..Failure::default()
            };
            let wrong = record
                .instances
                .iter()
                .find(|one| one.valid != one.is_accepted(check_end));
            if let Some(error) = &record.compile_error {
                failure.refused(error);
            } else if let Some(ending) = &record.ending {
                failure.ended(ending);
            } else if let Some(one) = wrong {
                failure.kind = match one.valid {
                    true => "valid document blocked",
                    false => "invalid document let through",
                };
                failure.reason = match one.valid {
                    true => format!("{} of {} tokens were allowed", one.accepted, one.tokens),
                    false => format!("all {} tokens and the end were allowed", one.tokens),
                };
            }
            failure
        })
        .collect()
}

fn of_coverage(run: &RunRecords<CoverageRecord>) -> Vec<Failure> {
    let with_defects = frameworks(run).into_iter().flat_map(|framework| {
        findings(&run.records, &framework)
            .into_iter()
            .map(|finding| Failure {
                framework: framework.clone(),
                dataset: finding.record.key.dataset.clone(),
                name: finding.record.key.schema.clone(),
                kind: match finding.defect {
                    Defect::OverConstrained => "valid document blocked",
                    Defect::UnderConstrained => "invalid document let through",
                },
                reason: match finding.defect {
                    Defect::OverConstrained => "the document is valid and is blocked".to_owned(),
                    Defect::UnderConstrained => finding.problem().to_owned(),
                },
                schema: finding.record.schema.clone(),
                text: Some(finding.text().to_owned()),
                is_explainable: finding.defect == Defect::UnderConstrained,
                ..Failure::default()
            })
            .collect::<Vec<_>>()
    });
    let refused = run.records.iter().filter_map(|record| {
        let mut failure = Failure {
            framework: record.key.framework.clone(),
            dataset: record.key.dataset.clone(),
            name: record.key.schema.clone(),
            schema: record.schema.clone(),
            ..Failure::default()
        };
        match (
            &record.compile_error,
            record.ending.as_ref().or(record.replay_ending.as_ref()),
        ) {
            // Nothing valid is blocked by refusing a schema without known valid documents.
            (Some(error), _) if !record.blocks_nothing() => failure.refused(error),
            (None, Some(ending)) => failure.ended(ending),
            _ => return None,
        }
        Some(failure)
    });
    with_defects.chain(refused).collect()
}

fn of_replies(run: &RunRecords<ReplyRecord>, samples: &Samples) -> Vec<Failure> {
    let wrong = run
        .records
        .iter()
        .filter(|record| !record.passed() && !record.lacked_room());
    wrong
        .map(|record| {
            let sample = samples.with_seed(record.key.seed);
            let problem = record.score.as_ref().and_then(|score| score.failures.first());
            Failure {
                model: record.key.model.clone(),
                framework: record.key.mode.name().to_owned(),
                dataset: "IFStruct".to_owned(),
                name: match sample {
                    Some(sample) => format!("{} (seed {})", sample.entity_type, sample.seed),
                    None => format!("seed {}", record.key.seed),
                },
                kind: match (&record.refused, problem) {
                    (Some(_), _) => "not asked for",
                    (None, Some(problem)) => problem.kind.describe(),
                    (None, None) => "no reply",
                },
                reason: match (&record.refused, problem) {
                    (Some(reason), _) => reason.clone(),
                    (None, problem) => problem.map(ToString::to_string).unwrap_or_default(),
                },
                schema: sample.and_then(|sample| serde_json::to_string(&sample.json_schema).ok()),
                text: record.generation.as_ref().map(|generation| generation.text.clone()),
                ..Failure::default()
            }
        })
        .collect()
}
