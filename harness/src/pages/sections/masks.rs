//! The section of masks alone: the tails of their times, and the outcomes.

use crate::masks::plot::{PlotError, time_between_masks, time_to_first_mask};
use crate::masks::report::parts;
use crate::masks::rows::shared_times;
use crate::pages::block::{Block, Chart, Section};
use crate::pages::report::add_name;
use crate::report::table::Style;
use crate::results::bench::ReadOptions;
use crate::results::masks::results;
use crate::results::run::{Found, Run};

/// The section; none without a run.
///
/// # Errors
///
/// [`PlotError`].
pub fn section(runs: &[Run], reading: ReadOptions, style: Style) -> Result<Option<Section>, PlotError> {
    let mut section = Section::new("masks", "Masks");
    let own = || runs.iter().filter(|run| matches!(run.found, Found::Masks(_)));
    for run in own() {
        let Found::Masks(records) = &run.found else { continue };
        add_name(&mut section, run, own().count() > 1);
        let results = results(records, reading);
        let times = shared_times(&records.records, &results.names);
        if times.iter().any(|one| !one.tbm_ns.is_empty()) {
            let chart = |title: &str, svg| Chart {
                title: format!("{title}: percentiles, over the schemas that every framework takes"),
                svg,
            };
            section.add_charts(vec![
                chart("Time between masks", time_between_masks(&times)?),
                chart("Time to the first mask", time_to_first_mask(&times)?),
            ]);
        }
        let parts = parts(&results.rows, &results.sentences, style);
        section.blocks.extend(parts.into_iter().map(Block::Table));
    }
    Ok((!section.blocks.is_empty()).then_some(section))
}
