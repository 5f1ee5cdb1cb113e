//! The Test Suite: figure 6 as a heat map that is a table, and tables 5 and 6.

use crate::pages::block::{Block, Section};
use crate::pages::report::add_name;
use crate::report::table::Style;
use crate::results::run::{Found, Run};
use crate::results::testsuite::sheet;
use crate::testsuite::report::parts;

/// The section; none without a run.
pub fn section(runs: &[Run], style: Style) -> Option<Section> {
    let mut section = Section::new("testsuite", "JSON Schema Test Suite");
    let own = || runs.iter().filter(|run| matches!(run.found, Found::Suite(_)));
    for run in own() {
        let Found::Suite(records) = &run.found else { continue };
        add_name(&mut section, run, own().count() > 1);
        let mut parts = parts(&sheet(records), style).into_iter();
        section.blocks.extend(parts.next().map(Block::HeatMap));
        section.blocks.extend(parts.map(Block::Table));
    }
    (!section.blocks.is_empty()).then_some(section)
}
