//! The overview: figure 1's three axes and IFStruct, constrained beside unconstrained.

use std::collections::HashSet;

use crate::bench::record::Record;
use crate::figures::bars::{Bar, Panel};
use crate::figures::overview::{Axes, axes, panels};
use crate::frameworks::{LM_ONLY, display_name};
use crate::ifstruct::record::Mode;
use crate::pages::block::{Block, Chart, Section};
use crate::quality::record::AnswerRecord;
use crate::report::part::Part;
use crate::report::table::{Style, Table, figure, table};
use crate::results::bench::ReadOptions;
use crate::results::run::{Found, Run};
use crate::results::{coverage, ifstruct, masks, testsuite};

/// The engine that constrains replies of IFStruct.
const OURS: &str = "maskwright";

/// Legend printed below the table.
const LEGEND: &str = "speed: how many times as fast a token comes, after the first, as from the model alone, over the schemas that both answer (geometric mean); TPOT: median \
time per output token after the first, over the schemas that all rows of the model have a time of; valid answers: of all \
schemas of the datasets of `bench`, and right answers: of the tasks of `quality`, that all rows of the model have answers to, or of a row's own where \
they share none; IFStruct: replies that pass, of the model alone in the row LM only and constrained in that of maskwright; Test Suite (cases of all \
drafts that have a run), MaskBench and true coverage judge the framework without a model. NA: no run has it; of several runs of the same, the first counts.";

/// One line of the overview.
pub struct Line {
    /// The figures of a model and framework; the model is empty where there is none.
    pub axes: Axes,
    /// Share of the replies of IFStruct that pass.
    pub replies: Option<f64>,
    /// Interval of the share of replies.
    pub replies_ci: Option<[f64; 2]>,
    /// Cases of the Test Suite that pass, and the number of all, summed over drafts.
    pub cases: Option<(usize, usize)>,
    /// Schemas of MaskBench that come out right, and the number of all.
    pub schemas: Option<(usize, usize)>,
    /// Share of the schemas of which no document shows a defect.
    pub truly: Option<f64>,
}

impl Line {
    fn new(axes: Axes) -> Self {
        Self {
            axes,
            replies: None,
            replies_ci: None,
            cases: None,
            schemas: None,
            truly: None,
        }
    }
}

/// The lines of the overview: every model with every framework, then frameworks without a model.
pub fn lines(runs: &[Run], reading: ReadOptions) -> Vec<Line> {
    let mut lines: Vec<Line> = all_axes(runs, reading).into_iter().map(Line::new).collect();
    for run in runs {
        if let Found::Ifstruct(records, samples) = &run.found {
            for row in ifstruct::report(records, samples) {
                let framework = match row.mode() {
                    Mode::Unconstrained => LM_ONLY,
                    Mode::Constrained => OURS,
                };
                let line = line_of(&mut lines, row.model(), framework);
                if let (Some((rate, interval)), None) = (row.pass_rate(), line.replies) {
                    (line.replies, line.replies_ci) = (Some(rate), Some(interval));
                }
            }
        }
    }
    let mut counted: HashSet<[String; 2]> = HashSet::new();
    for run in runs {
        match &run.found {
            Found::Suite(records) => {
                let sheet = testsuite::sheet(records);
                for one in sheet.frameworks {
                    // Of several runs of a draft, the first counts.
                    if !counted.insert([one.framework.clone(), sheet.draft.clone()]) {
                        continue;
                    }
                    of_framework(&mut lines, &one.framework, |line| {
                        let (passed, all) = line.cases.unwrap_or_default();
                        line.cases = Some((passed + one.passed(), all + one.cases.len()));
                    });
                }
            }
            Found::Masks(records) => {
                for row in masks::results(records, reading).rows {
                    let count = (row.passing, row.schemas);
                    of_framework(&mut lines, &row.framework, |line| {
                        line.schemas = line.schemas.or(Some(count))
                    });
                }
            }
            Found::Coverage(records) => {
                let frameworks = coverage::frameworks(records);
                let rows = coverage::report(records, &frameworks).rows;
                for row in rows.iter().filter(|row| row.dataset == crate::coverage::rows::ALL) {
                    of_framework(&mut lines, &row.framework, |line| line.truly = line.truly.or(row.truly));
                }
            }
            _ => {}
        }
    }
    lines
}

/// The axes of runs that fit together; where runs of one model do not, the first counts.
fn all_axes(runs: &[Run], reading: ReadOptions) -> Vec<Axes> {
    let (none_of_bench, none_of_quality): (Vec<Record>, Vec<AnswerRecord>) = (Vec::new(), Vec::new());
    let mut all: Vec<Axes> = Vec::new();
    for run in runs {
        let found = match &run.found {
            Found::Bench(run) => axes(&run.records, &none_of_quality, reading.scoring),
            Found::Quality(run) => axes(&none_of_bench, &run.records, reading.scoring),
            _ => continue,
        };
        for one in found {
            let known = all
                .iter_mut()
                .find(|known| (&known.model, &known.framework) == (&one.model, &one.framework));
            let Some(known) = known else {
                all.push(one);
                continue;
            };
            if known.empirical.is_none() {
                (known.speed, known.speed_ci, known.tpot_ms) = (one.speed, one.speed_ci, one.tpot_ms);
                (known.empirical, known.empirical_ci) = (one.empirical, one.empirical_ci);
            }
            if known.accuracy.is_none() {
                (known.accuracy, known.accuracy_ci) = (one.accuracy, one.accuracy_ci);
            }
        }
    }
    all
}

fn line_of<'l>(lines: &'l mut Vec<Line>, model: &str, framework: &str) -> &'l mut Line {
    let is_own = |line: &Line| (line.axes.model.as_str(), line.axes.framework.as_str()) == (model, framework);
    let at = lines.iter().position(is_own).unwrap_or_else(|| {
        lines.push(Line::new(Axes {
            model: model.to_owned(),
            framework: framework.to_owned(),
            ..Axes::default()
        }));
        lines.len() - 1
    });
    &mut lines[at]
}

/// Puts a figure of a framework without a model into every line of that framework, or into a new line where it has none.
fn of_framework(lines: &mut Vec<Line>, framework: &str, put: impl Fn(&mut Line)) {
    if !lines.iter().any(|line| line.axes.framework == framework) {
        line_of(lines, "", framework);
    }
    let own = lines.iter_mut().filter(|line| line.axes.framework == framework);
    own.for_each(put);
}

/// The table of lines.
pub fn lines_table(lines: &[Line], style: Style) -> Table {
    let header = [
        "model",
        "framework",
        "speed (× alone)",
        "TPOT (ms)",
        "valid answers",
        "right answers",
        "IFStruct",
        "Test Suite",
        "MaskBench",
        "true coverage",
    ];
    let mut table = table(header, 2, style);
    let percent = |share: Option<f64>| share.map_or_else(|| "NA".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let count = |count: Option<(usize, usize)>| {
        count.map_or_else(|| "NA".to_owned(), |(part, whole)| format!("{part} of {whole}"))
    };
    for line in lines {
        let axes = &line.axes;
        table.add_row([
            if axes.model.is_empty() {
                "–".to_owned()
            } else {
                axes.model.clone()
            },
            display_name(&axes.framework),
            figure(axes.speed),
            figure(axes.tpot_ms),
            percent(axes.empirical),
            percent(axes.accuracy),
            percent(line.replies),
            count(line.cases),
            count(line.schemas),
            percent(line.truly),
        ]);
    }
    table
}

/// The section.
pub fn section(runs: &[Run], reading: ReadOptions, style: Style) -> Section {
    let mut section = Section::new("overview", "Overview");
    let lines = lines(runs, reading);
    // Frameworks that are judged without a model have no axes.
    let with_model = lines.iter().filter(|line| !line.axes.model.is_empty());
    let axes: Vec<Axes> = with_model.map(|line| line.axes.clone()).collect();
    let mut drawn = panels(&axes);
    drawn.push(replies_panel(&lines));
    section.add_charts(drawn.into_iter().filter_map(Chart::of_bars).collect());
    section.add(Block::Table(Part::new(
        "Models and frameworks",
        lines_table(&lines, style),
        LEGEND,
    )));
    section
}

/// The replies of IFStruct that pass, constrained beside unconstrained.
fn replies_panel(lines: &[Line]) -> Panel {
    let bars = lines.iter().filter_map(|line| {
        let rate = line.replies?;
        let mode = if line.axes.framework == LM_ONLY {
            "alone"
        } else {
            "constrained"
        };
        Some(Bar {
            name: format!("{}, {mode}", line.axes.model),
            value: rate,
            label: format!("{:.1} %", 100.0 * rate),
            fill: usize::from(line.axes.framework == LM_ONLY),
            interval: line.replies_ci,
        })
    });
    Panel {
        title: "IFStruct".to_owned(),
        subtitle: "replies that pass".to_owned(),
        bars: bars.collect(),
        full: Some(1.0),
    }
}

#[cfg(test)]
mod tests {
    use maskwright_suites::validate::Scoring;
    use serde_json::{Value, json};

    use super::*;
    use crate::results::run::RunRecords;
    use crate::run::directory::Recorded;

    fn records<R: Recorded>(settings: Value, records: Vec<Value>) -> RunRecords<R> {
        RunRecords {
            settings_of_each: vec![settings.clone()],
            settings,
            records: records
                .into_iter()
                .map(|one| serde_json::from_value(one).unwrap())
                .collect(),
            warnings: Vec::new(),
        }
    }

    fn run(found: Found) -> Run {
        Run {
            paths: Vec::new(),
            manifests: Vec::new(),
            found,
        }
    }

    #[test]
    fn answers_are_judged_by_the_rules_that_were_asked_for() {
        let verdict = |valid| json!({"parsed": true, "valid": valid, "fenced": false, "problems": []});
        let bench = json!({
            "model": "m", "framework": "none", "dataset": "d", "instance": "i",
            "generation": {"prompt_tokens": 1, "output_tokens": 5, "forced_tokens": 0, "forward_passes": 1, "finish": "end_of_sequence",
                "tgt_s": 1.0, "masks": 0, "token_times_us": [], "text": ""},
            "verdict": verdict(false), "paper_verdict": verdict(true),
        });
        let time = json!({"wall_ns": 1, "cpu_ns": 1});
        let masks = json!({
            "key": {"framework": "maskwright", "file": "f"}, "compile": time, "first_mask": time,
            "instances": [{"valid": true, "tokens": 1, "accepted": 1, "complete": false}],
        });
        let runs = [
            run(Found::Bench(records(json!({}), vec![bench]))),
            run(Found::Masks(records(json!({}), vec![masks]))),
        ];
        let of = |scoring| {
            let reading = ReadOptions {
                scoring,
                ..ReadOptions::default()
            };
            let lines = lines(&runs, reading);
            (lines[0].axes.empirical, lines[1].schemas)
        };
        assert_eq!(of(Scoring::Strict), (Some(0.0), Some((0, 1))));
        assert_eq!(of(Scoring::Paper), (Some(1.0), Some((1, 1))));
    }

    #[test]
    fn cases_of_the_test_suite_are_summed_over_drafts() {
        let suite = |draft: &str, fails: bool| {
            let failures = match fails {
                true => json!([{"kind": "over_constrained", "reason": "no"}]),
                false => json!([]),
            };
            let outcome = json!({"category": "type", "description": "case", "failures": failures});
            let record = json!({"framework": "maskwright", "number": 0, "outcome": outcome});
            run(Found::Suite(records(json!({"draft": draft}), vec![record])))
        };
        let runs = [suite("7", true), suite("2020-12", false), suite("7", false)];
        assert_eq!(lines(&runs, ReadOptions::default())[0].cases, Some((1, 2)));
    }
}
