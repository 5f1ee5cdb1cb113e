//! Efficiency and coverage: the tables of `bench` under their pictures.

use crate::bench::report::{Report, display_name};
use crate::bench::rows::BenchRow;
use crate::figures::bars::{Bar, Panel};
use crate::pages::block::{Block, Chart, Section};
use crate::pages::report::add_name;
use crate::report::statistics::Interval;
use crate::report::table::{Style, figure};
use crate::results::bench::{ReadOptions, report};
use crate::results::run::{Found, Run};

/// The sections of efficiency and of coverage.
pub fn sections(runs: &[Run], reading: ReadOptions, style: Style) -> Vec<Section> {
    let mut efficiency = Section::new("efficiency", "Efficiency");
    let mut coverage = Section::new("coverage", "Coverage");
    let of_bench = || {
        runs.iter().filter_map(|run| match &run.found {
            Found::Bench(records) => Some((run, records)),
            _ => None,
        })
    };
    let several = of_bench().count() > 1;
    for (run, records) in of_bench() {
        let report = report(records, reading);
        add_name(&mut efficiency, run, several);
        add_name(&mut coverage, run, several);
        efficiency.add_charts(time_charts(&report));
        coverage.add_charts(coverage_charts(&report));
        let mut parts = report.parts(style).into_iter();
        coverage.blocks.extend(parts.next().map(Block::Table));
        efficiency.blocks.extend(parts.map(Block::Table));
    }
    let both = [efficiency, coverage];
    both.into_iter().filter(|section| !section.blocks.is_empty()).collect()
}

/// A figure of a row with its interval.
type Value = fn(&BenchRow) -> (Option<f64>, Option<Interval>);

/// Pictures of times: title, subtitle and figure of each.
const TIMES: [(&str, &str, Value); 4] = [
    ("TPOT", "median time per output token (ms)", |row| {
        (row.medians.tpot_ms, row.median_cis.tpot_ms)
    }),
    ("TTFT", "median time to the first token (s)", |row| {
        (row.medians.ttft_s, row.median_cis.ttft_s)
    }),
    ("GCT", "median time of the compilation (s)", |row| {
        (row.medians.gct_s, row.median_cis.gct_s)
    }),
    ("Masks", "median time of a mask (us)", |row| {
        (row.medians.mask_us, row.median_cis.mask_us)
    }),
];

fn time_charts(report: &Report) -> Vec<Chart> {
    let panels = TIMES.iter().map(|(title, subtitle, value)| {
        let label = |value: f64| figure(Some(value));
        panel(report, title, subtitle, None, *value, &label)
    });
    panels.filter_map(Chart::of_bars).collect()
}

fn coverage_charts(report: &Report) -> Vec<Chart> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let panels = [
        panel(
            report,
            "Empirical coverage",
            "schemas with a valid answer",
            Some(1.0),
            |row| (row.empirical, row.empirical_ci),
            &percent,
        ),
        panel(
            report,
            "Compliance",
            "valid answers of the schemas taken",
            Some(1.0),
            |row| (row.compliance, row.compliance_ci),
            &percent,
        ),
    ];
    panels.into_iter().filter_map(Chart::of_bars).collect()
}

/// A bar for each row that has the figure.
fn panel(
    report: &Report,
    title: &str,
    subtitle: &str,
    full: Option<f64>,
    value: Value,
    label: &dyn Fn(f64) -> String,
) -> Panel {
    let rows = &report.rows;
    let mut frameworks: Vec<&str> = Vec::new();
    for row in rows {
        if !frameworks.contains(&row.framework.as_str()) {
            frameworks.push(&row.framework);
        }
    }
    let several_models = rows.iter().any(|row| row.model != rows[0].model);
    let several_datasets = rows.iter().any(|row| row.dataset != rows[0].dataset);
    let bars = rows.iter().filter_map(|row| {
        let (value, interval) = value(row);
        let mut name = vec![display_name(row)];
        if several_datasets {
            name.insert(0, row.dataset.clone());
        }
        if several_models {
            name.insert(0, row.model.clone());
        }
        Some(Bar {
            name: name.join(", "),
            value: value?,
            label: label(value?),
            fill: frameworks.iter().position(|known| *known == row.framework).unwrap_or(0),
            interval,
        })
    });
    Panel {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        bars: bars.collect(),
        full,
    }
}
