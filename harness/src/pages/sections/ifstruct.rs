//! The section of IFStruct: constrained beside unconstrained, by property of the samples.

use crate::figures::bars::{Bar, Panel};
use crate::ifstruct::record::Mode;
use crate::ifstruct::report::{Row, parts, published_scores, split_rates};
use crate::pages::block::{Block, Chart, Section};
use crate::pages::html::Pictures;
use crate::pages::page::Page;
use crate::pages::report::add_name;
use crate::report::table::Style;
use crate::results::ifstruct::report;
use crate::results::run::{Found, Run};

/// The section; none without a run.
pub fn section(runs: &[Run], style: Style) -> Option<Section> {
    let mut section = Section::new("ifstruct", "IFStruct");
    let own = || runs.iter().filter(|run| matches!(run.found, Found::Ifstruct(..)));
    for run in own() {
        let Found::Ifstruct(records, samples) = &run.found else {
            continue;
        };
        add_name(&mut section, run, own().count() > 1);
        let rows = report(records, samples);
        add_rows(&mut section, &rows, style);
    }
    (!section.blocks.is_empty()).then_some(section)
}

/// Charts and tables of models and modes.
fn add_rows(section: &mut Section, rows: &[Row], style: Style) {
    let several_models = rows.iter().any(|row| row.model() != rows[0].model());
    let rates = split_rates(rows);
    // A chart of a hundred entities would be as long as the table.
    for by in ["format", "structure", "presentation", "voice"] {
        let bars = rates.iter().filter(|rate| rate.by == by).filter_map(|rate| {
            let mut name = format!("{}, {}", rate.part, rate.mode.name());
            if several_models {
                name = format!("{}, {name}", rate.model);
            }
            Some(Bar {
                name,
                value: rate.rate?,
                label: format!("{:.1} %", 100.0 * rate.rate?),
                fill: usize::from(rate.mode == Mode::Unconstrained),
                interval: rate.interval,
            })
        });
        let panel = Panel {
            title: format!("Replies that pass, by {by}"),
            subtitle: "constrained beside unconstrained".to_owned(),
            bars: bars.collect(),
            full: Some(1.0),
        };
        let chart = Chart::of_bars(panel);
        match (section.blocks.last_mut(), chart) {
            (Some(Block::Charts(charts)), Some(chart)) => charts.push(chart),
            (_, chart) => section.add_charts(chart.into_iter().collect()),
        }
    }
    section.blocks.extend(parts(rows, style).into_iter().map(Block::Table));
}

/// The leaderboard as a page of its own.
pub fn leaderboard_page(rows: &[Row]) -> String {
    let mut section = Section::new("ifstruct", "Leaderboard");
    add_rows(&mut section, rows, Style::Markdown);
    section.add(Block::Table(published_scores(Style::Markdown)));
    Page {
        title: "IFStruct",
        lead: String::new(),
        contents: vec![(section.id, section.title)],
        body: Pictures::default().sections(&[section]),
        failures: None,
    }
    .html()
}
