//! `maskwright shapes`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use maskwright_suites::dataset::Subsample;
use maskwright_suites::locate::locate;
use maskwright_suites::mask_bench::MaskBench;
use maskwright_suites::validate::{Scoring, Validator};

use crate::bench::record::Record;
use crate::bench::settings::HELD_OUT;
use crate::error::CommandError;
use crate::report::table::Style;
use crate::run::progress;
use crate::run::reading::{command_of_run, records_of_runs};
use crate::shapes::report;
use crate::shapes::rows::{BySchema, ShapeKey, Shapes, rows};
use crate::shapes::shape::Shape;

/// Arguments of `maskwright shapes`.
#[derive(Debug, Args)]
pub struct ShapeArguments {
    /// Directories of runs of `bench`
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Directory of the schemas that the runs are about, with MaskBench beside them [default: what `maskwright fetch
    /// jsonschemabench` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Prints the length and depth of the valid answers of runs, beside those of the documents of MaskBench under the same schemas.
///
/// # Errors
///
/// [`CommandError`], where runs or schemas cannot be read.
pub fn run(arguments: &ShapeArguments) -> Result<(), CommandError> {
    for path in &arguments.runs {
        let command = command_of_run(path)?;
        if command != "bench" {
            let message = format!(
                "{} holds a run of `maskwright {command}`: give runs of bench",
                path.display()
            );
            return Err(CommandError::Arguments(message));
        }
    }
    let records: Vec<Record> = records_of_runs(&arguments.runs)?;
    let is_generated = |record: &&Record| record.key.dataset == HELD_OUT;
    let read = records.iter().filter(|record| !is_generated(record));
    let names: BTreeSet<&str> = read.map(|record| record.key.dataset.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let datasets = match names.is_empty() {
        // Without a name, `select` returns all datasets.
        true => Vec::new(),
        false => super::catalog(arguments.data.as_deref())?.select(&names, Subsample::default())?,
    };
    let mut shapes = Shapes::default();
    let mut left_out = records.iter().filter(is_generated).count();
    let bench = mask_bench(arguments);
    for dataset in &datasets {
        let schemas: BTreeMap<&str, &str> = dataset
            .instances
            .iter()
            .filter_map(|instance| Some((instance.id.as_str(), instance.schema.as_deref().ok()?)))
            .collect();
        let mut asked: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in records.iter().filter(|record| record.key.dataset == dataset.name) {
            asked.entry(&record.key.instance).or_default().push(record);
        }
        for (instance, answers) in asked {
            let Some(judge) = schemas.get(instance).and_then(|schema| Validator::new(schema).ok()) else {
                left_out += answers.len();
                continue;
            };
            for record in answers.into_iter().filter(|record| record.is_valid(Scoring::Strict)) {
                let key = ShapeKey {
                    dataset: dataset.name.clone(),
                    model: record.key.model.clone(),
                    framework: record.key.framework.clone(),
                };
                let text = record.generation.as_ref().map_or("", |generation| &generation.text);
                add(shapes.answers.entry(key).or_default(), instance, text, &judge);
            }
            let file = bench
                .as_ref()
                .and_then(|bench| bench.read(&format!("{}---{instance}", dataset.name)).ok());
            let written = file.into_iter().flat_map(|file| file.instances).filter(|one| one.valid);
            let of_dataset = shapes.mask_bench.entry(dataset.name.clone()).or_default();
            for one in written {
                add(of_dataset, instance, &one.text, &judge);
            }
        }
    }
    if left_out > 0 {
        progress::say(&format!(
            "{left_out} answers are left out: their schemas are not in the data, or cannot be judged by"
        ));
    }
    let rows = rows(&shapes);
    if rows.is_empty() {
        return Err(CommandError::NothingMeasured(
            "there is no valid answer whose schema is in the data".to_owned(),
        ));
    }
    match arguments.json {
        true => crate::print(&(report::json(&rows) + "\n")),
        false => crate::print_text(&report::text(&rows, Style::Terminal)),
    }
}

/// Opens MaskBench; `None` where its data are missing, and answers are shown alone.
fn mask_bench(arguments: &ShapeArguments) -> Option<MaskBench> {
    let directory = match &arguments.data {
        Some(directory) => Some(directory.clone()),
        None => locate("jsonschemabench", None).ok(),
    };
    directory.and_then(|directory| MaskBench::open(&directory).ok())
}

/// Returns the document in a valid answer, without the code fence around it if there is one.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|text| text.split_once('\n'));
    match inside {
        Some((_, block)) => block.trim_end_matches('`').trim(),
        None => text,
    }
}

fn add(shapes: &mut BySchema, instance: &str, text: &str, judge: &Validator) {
    if let Some(shape) = Shape::of(without_fence(text), judge) {
        shapes.entry(instance.to_owned()).or_default().push(shape);
    }
}
