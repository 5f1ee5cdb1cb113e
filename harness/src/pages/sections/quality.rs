//! Quality of answers, with the questions that one row alone gets right.

use crate::figures::bars::{Bar, Panel};
use crate::figures::upset;
use crate::frameworks::display_name;
use crate::pages::block::{Block, Chart, Section};
use crate::pages::report::add_name;
use crate::quality::record::Mode;
use crate::quality::report::QualityReport;
use crate::report::table::Style;
use crate::results::quality::report;
use crate::results::run::{Found, Run};

/// The section; none without a run.
pub fn section(runs: &[Run], style: Style) -> Option<Section> {
    let mut section = Section::new("quality", "Quality");
    let own = || runs.iter().filter(|run| matches!(run.found, Found::Quality(_)));
    for run in own() {
        let Found::Quality(records) = &run.found else { continue };
        add_name(&mut section, run, own().count() > 1);
        let report = report(records);
        section.add_charts(charts(&report));
        section.blocks.extend(report.parts(style).into_iter().map(Block::Table));
    }
    (!section.blocks.is_empty()).then_some(section)
}

fn charts(report: &QualityReport) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for rows in report.rows.chunk_by(|one, other| one.task == other.task) {
        let several_models = rows.iter().any(|row| row.model != rows[0].model);
        let bars = rows.iter().enumerate().filter_map(|(fill, row)| {
            let mut name = display_name(&row.framework);
            if row.mode != Mode::Direct {
                name = format!("{name}, {}", row.mode.name());
            }
            if several_models {
                name = format!("{}, {name}", row.model);
            }
            Some(Bar {
                name,
                value: row.accuracy?,
                label: format!("{:.1} %", 100.0 * row.accuracy?),
                fill,
                interval: row.accuracy_ci,
            })
        });
        charts.extend(Chart::of_bars(Panel {
            title: rows[0].task.name().to_owned(),
            subtitle: "right answers".to_owned(),
            bars: bars.collect(),
            full: Some(1.0),
        }));
    }
    let overlaps = report
        .overlaps
        .iter()
        .filter(|overlap| overlap.rows.len() > 1 && !overlap.intersections.is_empty());
    charts.extend(overlaps.map(|overlap| Chart {
        title: format!(
            "{}: which rows get the same questions right, {}",
            overlap.task.name(),
            overlap.model
        ),
        svg: upset::svg(overlap),
    }));
    charts
}
