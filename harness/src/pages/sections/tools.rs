//! The page's section on function calling: shares of right calls, constrained and unconstrained.

use crate::figures::bars::{Bar, Panel};
use crate::frameworks::display_name;
use crate::pages::block::{Block, Chart, Section};
use crate::pages::report::add_name;
use crate::report::table::Style;
use crate::results::run::{Found, Run};
use crate::results::tools::report;
use crate::tools::report::ToolReport;

/// Returns the section; `None` without a run of `bench --tools`.
pub fn section(runs: &[Run], style: Style) -> Option<Section> {
    let mut section = Section::new("tools", "Calls of functions");
    let own = || runs.iter().filter(|run| matches!(run.found, Found::Tools(_)));
    for run in own() {
        let Found::Tools(records) = &run.found else { continue };
        add_name(&mut section, run, own().count() > 1);
        let report = report(records);
        section.add_charts(charts(&report));
        section.blocks.extend(report.parts(style).into_iter().map(Block::Table));
    }
    (!section.blocks.is_empty()).then_some(section)
}

fn charts(report: &ToolReport) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for rows in report.rows.chunk_by(|one, other| one.dataset == other.dataset) {
        let several_models = rows.iter().any(|row| row.model != rows[0].model);
        let bars = rows.iter().enumerate().filter_map(|(fill, row)| {
            let name = display_name(&row.framework);
            let rate = row.accepted.rate()?;
            Some(Bar {
                name: match several_models {
                    true => format!("{}, {name}", row.model),
                    false => name,
                },
                value: rate,
                label: format!("{:.1} %", 100.0 * rate),
                fill,
                interval: row.accepted.ci,
            })
        });
        charts.extend(Chart::of_bars(Panel {
            title: rows[0].dataset.clone(),
            subtitle: "accepted calls".to_owned(),
            bars: bars.collect(),
            full: Some(1.0),
        }));
    }
    charts
}
