//! True coverage, bounded from both sides.

use crate::coverage::rows::ALL;
use crate::figures::bars::{Bar, Panel};
use crate::pages::block::{Block, Chart, Section};
use crate::pages::report::add_name;
use crate::report::table::Style;
use crate::results::coverage::{frameworks, report};
use crate::results::run::{Found, Run};

/// The section; none without a run.
pub fn section(runs: &[Run], style: Style) -> Option<Section> {
    let mut section = Section::new("true-coverage", "True coverage");
    let own = || runs.iter().filter(|run| matches!(run.found, Found::Coverage(_)));
    for run in own() {
        let Found::Coverage(records) = &run.found else { continue };
        add_name(&mut section, run, own().count() > 1);
        let frameworks = frameworks(records);
        let report = report(records, &frameworks);
        let rows = report.rows.iter().filter(|row| row.dataset == ALL).enumerate();
        let bars = rows.filter_map(|(fill, row)| {
            Some(Bar {
                name: row.framework.clone(),
                value: row.truly?,
                label: format!("{:.1} %", 100.0 * row.truly?),
                fill,
                interval: row.truly_ci,
            })
        });
        let panel = Panel {
            title: "True coverage".to_owned(),
            subtitle: "schemas of which no document shows a defect".to_owned(),
            bars: bars.collect(),
            full: Some(1.0),
        };
        section.add_charts(Chart::of_bars(panel).into_iter().collect());
        section.blocks.extend(report.parts(style).into_iter().map(Block::Table));
    }
    (!section.blocks.is_empty()).then_some(section)
}
