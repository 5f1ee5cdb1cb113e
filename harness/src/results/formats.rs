//! Reports of runs in further formats, from records alone.

use serde_json::{Value, json};

use super::bench::{self, ReadOptions};
use super::run::{Found, Run};
use super::{coverage, ifstruct, masks, quality, testsuite, tools};
use crate::masks::report::Layout;
use crate::report::csv_rows;
use crate::report::part::Part;
use crate::report::table::Style;
use crate::{ifstruct as ifstruct_room, masks as masks_room, testsuite as testsuite_room};

/// Defects of each framework in a report of `coverage`.
const DEFECTS: usize = 50;

/// Returns a sentence on a run that is not finished, where its own tables do not say so; `None` of a finished one.
fn unfinished(run: &Run) -> Option<String> {
    match run.found {
        Found::Suite(_) | Found::Masks(_) | Found::Coverage(_) => Some(format!("UNFINISHED: {}", run.unfinished()?)),
        // These say for each row how many questions are open.
        Found::Bench(_) | Found::Quality(_) | Found::Tools(_) | Found::Ifstruct(..) => None,
    }
}

/// The tables of a run, for a terminal or in Markdown.
pub fn parts(run: &Run, reading: ReadOptions, style: Style) -> Vec<Part> {
    let mut parts = match &run.found {
        Found::Bench(records) => bench::report(records, reading).parts(style),
        Found::Quality(records) => quality::report(records).parts(style),
        Found::Tools(records) => tools::report(records).parts(style),
        Found::Suite(records) => testsuite_room::report::parts(&testsuite::sheet(records), style),
        Found::Masks(records) => {
            let results = masks::results(records, reading);
            masks_room::report::parts(&results.rows, &results.sentences, style)
        }
        Found::Coverage(records) => {
            let frameworks = coverage::frameworks(records);
            coverage::report(records, &frameworks).parts(style)
        }
        Found::Ifstruct(records, samples) => {
            let rows = ifstruct::report(records, samples);
            let mut parts = ifstruct_room::report::parts(&rows, style);
            if let Some(first) = parts.first_mut() {
                let open = ifstruct_room::report::unfinished(&rows, samples.all().len());
                first
                    .notes
                    .extend(open.lines().filter(|line| !line.is_empty()).map(str::to_owned));
                first.notes.extend(records.warnings.iter().cloned());
            }
            parts
        }
    };
    if let Some(first) = parts.first_mut() {
        first.notes.extend(unfinished(run));
    }
    parts
}

/// The report in Markdown, as the run writes `report.md`.
pub fn markdown(run: &Run, reading: ReadOptions) -> String {
    let style = Style::Markdown;
    let text = match &run.found {
        Found::Bench(records) => bench::report(records, reading).markdown(),
        Found::Quality(records) => quality::report(records).text(style),
        Found::Tools(records) => tools::report(records).text(style),
        Found::Suite(records) => testsuite_room::report::markdown(&testsuite::sheet(records)),
        Found::Masks(records) => {
            let results = masks::results(records, reading);
            let layout = Layout {
                style,
                percentiles: true,
            };
            masks_room::report::text(&results.rows, &results.frameworks, &results.sentences, layout)
        }
        Found::Coverage(records) => {
            let frameworks = coverage::frameworks(records);
            coverage::report(records, &frameworks).text(style, DEFECTS)
        }
        Found::Ifstruct(records, samples) => {
            let rows = ifstruct::report(records, samples);
            ifstruct_room::report::markdown(&rows, samples.all().len(), &records.warnings)
        }
    };
    let unfinished = unfinished(run).map(|sentence| format!("\n{sentence}\n"));
    run.heading() + &text + &unfinished.unwrap_or_default()
}

/// The figures as one JSON object, as the run writes `report.json`.
pub fn json(run: &Run, reading: ReadOptions) -> String {
    match &run.found {
        Found::Bench(records) => bench::report(records, reading).json(),
        Found::Quality(records) => quality::report(records).json(),
        Found::Tools(records) => tools::report(records).json(),
        Found::Suite(records) => testsuite_room::report::json(&testsuite::sheet(records)),
        Found::Masks(records) => {
            let results = masks::results(records, reading);
            masks_room::report::json(&results.rows, &results.frameworks)
        }
        Found::Coverage(records) => {
            let frameworks = coverage::frameworks(records);
            coverage::report(records, &frameworks).json()
        }
        Found::Ifstruct(records, samples) => {
            ifstruct_room::report::json(&ifstruct::report(records, samples)).to_string()
        }
    }
}

/// The figures as CSV, unrounded: of `testsuite` a line for each framework and category.
pub fn csv(run: &Run, reading: ReadOptions) -> String {
    match &run.found {
        Found::Bench(records) => bench::report(records, reading).csv(),
        Found::Quality(records) => quality::report(records).csv(),
        Found::Tools(records) => tools::report(records).csv(),
        Found::Masks(records) => masks_room::report::csv(&masks::results(records, reading).rows),
        Found::Suite(records) => suite_csv(&testsuite_room::report::json(&testsuite::sheet(records))),
        Found::Coverage(_) => {
            let report: Value = serde_json::from_str(&json(run, reading)).unwrap_or_default();
            csv_rows::csv(report["rows"].as_array().into_iter().flatten())
        }
        Found::Ifstruct(records, samples) => ifstruct_room::report::csv(&ifstruct::report(records, samples)),
    }
}

/// The figures of `testsuite` as CSV, from its report as JSON.
fn suite_csv(report: &str) -> String {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let frameworks = report["frameworks"].as_object().into_iter().flatten();
    let rows = frameworks.flat_map(|(framework, figures)| {
        let categories = figures["by_category"].as_object().into_iter().flatten();
        categories.map(move |(category, figures_of_category)| {
            let mut row = json!({"framework": framework, "draft": figures["draft"], "category": category});
            if let (Some(row), Some(figures)) = (row.as_object_mut(), figures_of_category.as_object()) {
                row.extend(figures.clone());
            }
            row
        })
    });
    csv_rows::csv(&rows.collect::<Vec<_>>())
}

/// Returns the final records, one JSON object a line.
pub fn json_lines(run: &Run) -> String {
    fn lines<R: serde::Serialize>(records: &[R]) -> String {
        let line = |record| serde_json::to_string(record).unwrap_or_default() + "\n";
        records.iter().map(line).collect()
    }
    match &run.found {
        Found::Bench(run) => lines(&run.records),
        Found::Quality(run) => lines(&run.records),
        Found::Tools(run) => lines(&run.records),
        Found::Suite(run) => lines(&run.records),
        Found::Masks(run) => lines(&run.records),
        Found::Coverage(run) => lines(&run.records),
        Found::Ifstruct(run, _) => lines(&run.records),
    }
}
