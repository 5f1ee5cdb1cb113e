//! Files in the format of EleutherAI's lm-evaluation-harness (version 0.4), so that a program which reads its results reads ours: for each model and
//! framework a directory with `results.json` and, for each dataset or task, `samples_TASK.jsonl`.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::bench::ReadOptions;
use super::run::{Found, Run};
use crate::bench::record::Record;
use crate::error::CommandError;
use crate::frameworks::LM_ONLY;
use crate::ifstruct::record::ReplyRecord;
use crate::quality::record::{AnswerRecord, Mode};

/// A file below the directory that is written to.
#[derive(Debug, PartialEq)]
pub struct ExportedFile {
    /// Directory of the file, named after model and framework.
    pub directory: String,
    /// Name of the file.
    pub name: String,
    /// Content of the file.
    pub content: String,
}

/// One answer.
struct ExportedSample {
    name: String,
    /// The question, as far as records tell.
    document: Value,
    /// The right answer, where there is one.
    target: String,
    text: String,
    /// Figures by metric.
    metrics: BTreeMap<&'static str, f64>,
}

/// Samples of a task, and the run that they are of.
struct Task<'r> {
    run: &'r Run,
    samples: Vec<ExportedSample>,
}

/// Tasks by model and framework.
type Rows<'r> = BTreeMap<(String, String), BTreeMap<String, Task<'r>>>;

/// The files of runs of `bench`, `quality` and `ifstruct run`; other runs ask no model.
///
/// # Errors
///
/// [`CommandError::Arguments`], where two runs that are not read as one have the same task of one model and framework: one file would mix
/// answers to different questions.
pub fn files(runs: &[Run], reading: ReadOptions) -> Result<Vec<ExportedFile>, CommandError> {
    let mut rows = Rows::new();
    for run in runs {
        for (model, framework, name, sample) in samples(run, reading) {
            let tasks = rows.entry((model, framework)).or_default();
            let samples = Vec::new();
            let task = tasks.entry(name.clone()).or_insert(Task { run, samples });
            if !std::ptr::eq(task.run, run) {
                let place = |run: &Run| {
                    run.paths
                        .first()
                        .map_or_else(String::new, |path| path.display().to_string())
                };
                return Err(CommandError::Arguments(format!(
                    "{} and {} both have the task {name:?} but do not fit together: write the files of each by itself",
                    place(task.run),
                    place(run)
                )));
            }
            task.samples.push(sample);
        }
    }
    let mut files = Vec::new();
    let mut directories = BTreeSet::new();
    for (row, tasks) in &rows {
        let directory = unused(
            format!("{}__{}", file_name(&row.0), file_name(&row.1)),
            &mut directories,
        );
        files.push(ExportedFile {
            directory: directory.clone(),
            name: "results.json".to_owned(),
            content: format!("{:#}\n", results(row, tasks)),
        });
        let mut names = BTreeSet::new();
        files.extend(tasks.iter().map(|(task, Task { samples, .. })| {
            let name = unused(format!("samples_{}", file_name(task)), &mut names);
            ExportedFile {
                directory: directory.clone(),
                name: format!("{name}.jsonl"),
                content: samples
                    .iter()
                    .enumerate()
                    .map(|(number, sample)| line(number, sample))
                    .collect(),
            }
        }));
    }
    Ok(files)
}

/// Returns `name`, followed by a number where the name is taken: `a/b` and `a_b` are one name to a file system.
fn unused(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_usize..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone())
        .chain(numbered)
        .find(|name| !taken.contains(name));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}

/// The manifest and the summary of a model in a run, which may be read from several directories.
fn manifest_of<'r>(run: &'r Run, model: &str) -> (&'r Value, &'r Value) {
    let summary = |manifest: &'r Value| {
        let mut models = manifest["settings"]["models"].as_array().into_iter().flatten();
        models.find(|summary| summary["name"] == model)
    };
    let found = run
        .manifests
        .iter()
        .find_map(|manifest| Some((manifest, summary(manifest)?)));
    found.unwrap_or((run.manifests.first().unwrap_or(&Value::Null), &Value::Null))
}

/// The number of questions that the command of a run was limited to.
fn limit_of(manifest: &Value) -> Option<u64> {
    let words = manifest["command"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let words: Vec<&str> = words.collect();
    let value = words.iter().enumerate().find_map(|(number, word)| match *word {
        "--limit" | "-n" => words.get(number + 1).copied(),
        word => word.strip_prefix("--limit="),
    });
    value?.parse().ok()
}

/// Returns `name` with `_` in place of all characters but ASCII letters, digits, `-`, `.` and `_`, since some have a meaning to file systems.
fn file_name(name: &str) -> String {
    let plain = |character: char| match character {
        character if character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_') => character,
        _ => '_',
    };
    name.chars().map(plain).collect()
}

fn samples(run: &Run, reading: ReadOptions) -> Vec<(String, String, String, ExportedSample)> {
    let share = |holds: bool| if holds { 1.0 } else { 0.0 };
    let text = |generation: Option<&crate::bench::record::GenerationRecord>| {
        generation.map_or_else(String::new, |generation| generation.text.clone())
    };
    match &run.found {
        Found::Bench(run) => {
            // As in the report, what some row of a model had no room for counts in none of them.
            let question = |record: &Record| {
                let key = &record.key;
                (key.model.clone(), key.dataset.clone(), key.instance.clone())
            };
            let lacking = run.records.iter().filter(|record| record.lacked_room());
            let no_room: HashSet<_> = lacking.map(question).collect();
            let usable = run
                .records
                .iter()
                .filter(|record| record.unusable.is_none() && !no_room.contains(&question(record)));
            let each = usable.map(|record| {
                let key = &record.key;
                let mut metrics = BTreeMap::from([("valid", share(record.is_valid(reading.scoring)))]);
                metrics.extend(record.declared().map(|declared| ("declared", share(declared))));
                let sample = ExportedSample {
                    name: key.instance.clone(),
                    document: json!({"dataset": key.dataset, "schema": key.instance}),
                    target: String::new(),
                    text: text(record.generation.as_ref()),
                    metrics,
                };
                (key.model.clone(), key.framework.clone(), key.dataset.clone(), sample)
            });
            each.collect()
        }
        Found::Quality(run) => {
            let question = |record: &AnswerRecord| {
                let key = &record.key;
                (key.model.clone(), key.task, key.question.clone())
            };
            let lacking = run.records.iter().filter(|record| record.lacked_room());
            let no_room: HashSet<_> = lacking.map(question).collect();
            let asked = run.records.iter().filter(|record| !no_room.contains(&question(record)));
            let each = asked.map(|record| {
                let key = &record.key;
                let sample = ExportedSample {
                    name: key.question.clone(),
                    document: json!({"task": key.task, "question": key.question, "mode": key.mode}),
                    target: String::new(),
                    text: text(record.generation.as_ref()),
                    metrics: BTreeMap::from([
                        ("acc", share(record.is_right())),
                        ("exact_match", share(record.is_strictly_right())),
                    ]),
                };
                let task = match key.mode {
                    Mode::Direct => key.task.name().to_owned(),
                    mode => format!("{}-{}", key.task.name(), mode.name()),
                };
                (key.model.clone(), key.framework.clone(), task, sample)
            });
            each.collect()
        }
        Found::Tools(run) => {
            let asked = run.records.iter();
            let asked = asked.filter(|record| record.unusable.is_none() && !record.lacked_room());
            let each = asked.map(|record| {
                let key = &record.key;
                let sample = ExportedSample {
                    name: key.request.clone(),
                    document: json!({"requests": key.dataset, "request": key.request, "format": record.format}),
                    target: String::new(),
                    text: text(record.generation.as_ref()),
                    metrics: BTreeMap::from([
                        ("acc", share(record.is_right())),
                        ("parsed", share(record.is(|judgement| judgement.parsed))),
                        (
                            "right_functions",
                            share(record.is(|judgement| judgement.right_functions)),
                        ),
                        ("valid", share(record.is(|judgement| judgement.valid_arguments))),
                    ]),
                };
                let task = format!("tools-{}", key.dataset);
                (key.model.clone(), key.framework.clone(), task, sample)
            });
            each.collect()
        }
        Found::Ifstruct(run, samples) => {
            let lacking = run.records.iter().filter(|record| record.lacked_room());
            let no_room: HashSet<_> = lacking.map(|record| (&record.key.model, record.key.seed)).collect();
            let is_asked = |record: &&ReplyRecord| !no_room.contains(&(&record.key.model, record.key.seed));
            let each = run.records.iter().filter(is_asked).map(|record| {
                let key = &record.key;
                let asked = samples.with_seed(key.seed);
                let sample = ExportedSample {
                    name: key.seed.to_string(),
                    document: asked
                        .and_then(|sample| serde_json::to_value(sample).ok())
                        .unwrap_or_default(),
                    target: String::new(),
                    text: text(record.generation.as_ref()),
                    metrics: BTreeMap::from([("acc", share(record.passed()))]),
                };
                let framework = match key.mode {
                    crate::ifstruct::record::Mode::Unconstrained => LM_ONLY,
                    crate::ifstruct::record::Mode::Constrained => "maskwright",
                };
                (key.model.clone(), framework.to_owned(), "ifstruct".to_owned(), sample)
            });
            each.collect()
        }
        Found::Suite(_) | Found::Masks(_) | Found::Coverage(_) => Vec::new(),
    }
}

/// One line of a file of samples.
fn line(number: usize, sample: &ExportedSample) -> String {
    let hash = |text: &str| hex::encode(Sha256::digest(text));
    let document = sample.document.to_string();
    let mut line = json!({
        "doc_id": number,
        "doc": sample.document,
        "target": sample.target,
        "arguments": {"gen_args_0": {"arg_0": sample.name, "arg_1": {}}},
        "resps": [[sample.text]],
        "filtered_resps": [sample.text],
        "filter": "none",
        "metrics": sample.metrics.keys().collect::<Vec<_>>(),
        "doc_hash": hash(&document),
        "prompt_hash": hash(&sample.name),
        "target_hash": hash(&sample.target),
    });
    for (name, value) in &sample.metrics {
        line[*name] = json!(value);
    }
    format!("{line}\n")
}

/// The content of `results.json`.
fn results((model, framework): &(String, String), tasks: &BTreeMap<String, Task<'_>>) -> Value {
    let first = tasks.values().next().map(|task| manifest_of(task.run, model));
    let (manifest, summary) = first.unwrap_or((&Value::Null, &Value::Null));
    let (mut results, mut configs, mut counts) = (json!({}), json!({}), json!({}));
    let (mut versions, mut shots, mut higher, mut groups) = (json!({}), json!({}), json!({}), json!({}));
    for (task, Task { run, samples }) in tasks {
        let (manifest, _) = manifest_of(run, model);
        let mut of_task = json!({"alias": task});
        let mut names: Vec<&str> = samples
            .iter()
            .flat_map(|sample| sample.metrics.keys().copied())
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in &names {
            let values: Vec<f64> = samples
                .iter()
                .filter_map(|sample| sample.metrics.get(name).copied())
                .collect();
            let (count, mean) = (
                values.len() as f64,
                values.iter().sum::<f64>() / values.len().max(1) as f64,
            );
            // As lm-evaluation-harness has it: the standard error of a mean, with the sample's variance.
            let error = (mean * (1.0 - mean) / (count - 1.0).max(1.0)).sqrt();
            of_task[format!("{name},none")] = json!(mean);
            of_task[format!("{name}_stderr,none")] = json!(error);
        }
        results[task] = of_task;
        configs[task] = json!({
            "task": task,
            "output_type": "generate_until",
            "metric_list": names.iter().map(|name| json!({"metric": name, "aggregation": "mean", "higher_is_better": true})).collect::<Vec<_>>(),
            "num_fewshot": manifest["settings"]["shots"].as_u64().unwrap_or(0),
            "metadata": {"framework": framework},
        });
        counts[task] = json!({"original": samples.len(), "effective": samples.len()});
        versions[task] = json!(manifest["program"]["version"]);
        shots[task] = json!(manifest["settings"]["shots"].as_u64().unwrap_or(0));
        higher[task] = names
            .iter()
            .map(|name| ((*name).to_owned(), json!(true)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        groups[task] = json!([]);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let started = manifest["started"]
        .as_str()
        .and_then(|text| text.parse::<jiff::Timestamp>().ok());
    json!({
        "results": results,
        "group_subtasks": groups,
        "configs": configs,
        "versions": versions,
        "n-shot": shots,
        "higher_is_better": higher,
        "n-samples": counts,
        "config": {
            "model": "maskwright",
            "model_args": format!("model={model},framework={framework}"),
            "batch_size": 1,
            "device": summary["device"],
            "limit": limit_of(manifest),
            "gen_kwargs": manifest["settings"]["sampling"],
            "random_seed": manifest["settings"]["sampling"]["seed"],
        },
        "git_hash": manifest["program"]["commit"],
        "date": started.map_or(0.0, |time| time.as_second() as f64),
        "pretty_env_info": format!("{} × {}, {}", manifest["hardware"]["cpus"], text(&manifest["hardware"]["cpu"]), text(&manifest["hardware"]["os"])),
        "model_source": "maskwright",
        "model_name": model,
        "model_name_sanitized": file_name(model),
        "start_time": Value::Null,
        "end_time": Value::Null,
        "total_evaluation_time_seconds": Value::Null,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::run::RunRecords;

    fn run(path: &str, models: &[&str]) -> Run {
        let record = |model: &&str| {
            let key = json!({"model": model, "framework": "maskwright", "dataset": "d", "instance": "i"});
            serde_json::from_value(key).unwrap()
        };
        let summaries: Vec<Value> = models
            .iter()
            .map(|name| json!({"name": name, "device": format!("of {name}")}))
            .collect();
        let settings = json!({"models": summaries});
        Run {
            paths: vec![path.into()],
            manifests: vec![json!({"settings": settings, "command": ["maskwright", "bench", "--limit", "8"]})],
            found: Found::Bench(RunRecords {
                settings_of_each: vec![settings.clone()],
                settings,
                records: models.iter().map(record).collect(),
                warnings: Vec::new(),
            }),
        }
    }

    #[test]
    fn each_model_has_a_directory_and_its_device() {
        let files = files(&[run("one", &["a/b", "a_b"])], ReadOptions::default()).unwrap();
        let results = files.iter().filter(|file| file.name == "results.json");
        let found: Vec<(&str, String)> = results
            .map(|file| {
                let content: Value = serde_json::from_str(&file.content).unwrap();
                assert_eq!(content["config"]["limit"], 8);
                (file.directory.as_str(), content["config"]["device"].to_string())
            })
            .collect();
        assert_eq!(
            found,
            [
                ("a_b__maskwright", "\"of a/b\"".to_owned()),
                ("a_b__maskwright-2", "\"of a_b\"".to_owned())
            ]
        );
    }

    #[test]
    fn runs_that_do_not_fit_together_are_not_mixed() {
        let runs = [run("one", &["m"]), run("two", &["m"])];
        let problem = files(&runs, ReadOptions::default()).unwrap_err().to_string();
        assert!(problem.contains("one and two"), "{problem}");
    }
}
