//! Files as EleutherAI's lm-evaluation-harness writes them (version 0.4), so that what reads its results reads ours: for each model and
//! framework a directory with `results.json` and, for each dataset or task, `samples_TASK.jsonl`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::bench::ReadOptions;
use super::run::{Found, Run};
use crate::frameworks::LM_ONLY;
use crate::quality::record::Mode;

/// A file below the directory that is written to.
#[derive(Debug, PartialEq)]
pub struct ExportedFile {
    /// Its directory, by model and framework.
    pub directory: String,
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// One answer.
struct ExportedSample {
    name: String,
    /// What was asked, as far as records tell.
    document: Value,
    /// The right answer, where there is one.
    target: String,
    text: String,
    /// Figures by metric.
    metrics: BTreeMap<&'static str, f64>,
}

/// Samples by model, framework and task.
type Tasks = BTreeMap<(String, String), BTreeMap<String, Vec<ExportedSample>>>;

/// The files of runs of `bench`, `quality` and `ifstruct run`; other runs ask no model.
pub fn files(runs: &[Run], reading: ReadOptions) -> Vec<ExportedFile> {
    let mut tasks = Tasks::new();
    let mut manifests: BTreeMap<(String, String), &Value> = BTreeMap::new();
    for run in runs {
        for (model, framework, task, sample) in samples(run, reading) {
            let row = (model, framework);
            manifests.entry(row.clone()).or_insert(&run.manifests[0]);
            tasks.entry(row).or_default().entry(task).or_default().push(sample);
        }
    }
    let mut files = Vec::new();
    for (row, tasks) in &tasks {
        let directory = format!("{}__{}", file_name(&row.0), file_name(&row.1));
        let manifest = manifests.get(row).copied().unwrap_or(&Value::Null);
        files.push(ExportedFile {
            directory: directory.clone(),
            name: "results.json".to_owned(),
            content: format!("{:#}\n", results(row, tasks, manifest)),
        });
        files.extend(tasks.iter().map(|(task, samples)| {
            ExportedFile {
                directory: directory.clone(),
                name: format!("samples_{}.jsonl", file_name(task)),
                content: samples
                    .iter()
                    .enumerate()
                    .map(|(number, sample)| line(number, sample))
                    .collect(),
            }
        }));
    }
    files
}

/// A name without what file systems take for more.
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
            let usable = run
                .records
                .iter()
                .filter(|record| record.unusable.is_none() && !record.lacked_room());
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
            let asked = run.records.iter().filter(|record| !record.lacked_room());
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
        Found::Ifstruct(run, samples) => {
            let asked = run.records.iter().filter(|record| !record.lacked_room());
            let each = asked.map(|record| {
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
fn results(
    (model, framework): &(String, String),
    tasks: &BTreeMap<String, Vec<ExportedSample>>,
    manifest: &Value,
) -> Value {
    let (mut results, mut configs, mut counts) = (json!({}), json!({}), json!({}));
    let (mut versions, mut shots, mut higher, mut groups) = (json!({}), json!({}), json!({}), json!({}));
    for (task, samples) in tasks {
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
            "device": manifest["settings"]["models"][0]["device"],
            "limit": Value::Null,
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
