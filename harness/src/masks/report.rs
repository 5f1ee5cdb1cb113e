//! The tables of a run of `maskwright masks`: terminal, Markdown, CSV, JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::Table;
use serde_json::{Value, json};

use crate::frameworks::FrameworkSettings;
use crate::masks::rows::{MaskRow, TimeQuantiles, Times};
use crate::report::table::{Style, table};

/// What the tables mean.
const LEGEND: &str = "TBM: mask and advance per token; TTFM: compilation and first mask; us of processor time of the \
framework's process, all threads (elapsed time in the second table of each kind); TBM without what reading the clocks \
takes at the least. own: schemas that the framework \
compiles and replays to the end; shared: those that every framework does.";

/// Number of reasons for refusals that are listed for each framework.
const REASONS: usize = 8;

/// A figure of a row's times.
type Pick = fn(&Times) -> &TimeQuantiles;

/// The times of a table: a title, and where they are.
const TIMES: [(&str, Pick); 4] = [
    ("TBM (us, CPU)", |times| &times.tbm_us),
    ("TTFM (us, CPU)", |times| &times.ttfm_us),
    ("TBM (us, elapsed)", |times| &times.tbm_wall_us),
    ("TTFM (us, elapsed)", |times| &times.ttfm_wall_us),
];

/// All tables, for a terminal or in Markdown.
pub fn text(rows: &[MaskRow], frameworks: &[FrameworkSettings], style: Style) -> String {
    let mut text = format!("{}\n\n", outcomes(rows, style));
    for (title, pick) in TIMES {
        let _ = write!(text, "{}\n\n", spreads(rows, title, pick, style));
    }
    let _ = writeln!(text, "{LEGEND}");
    for FrameworkSettings { name, version, options } in frameworks {
        let _ = writeln!(text, "{name} {version}: {options}");
    }
    for row in rows {
        for (reason, count) in row.compile_error_reasons.iter().take(REASONS) {
            let _ = writeln!(text, "{} refused {count}: {reason}", row.framework);
        }
    }
    text
}

fn outcomes(rows: &[MaskRow], style: Style) -> Table {
    let header = [
        "framework",
        "schemas",
        "passing",
        "compile errors",
        "valid rejected",
        "invalid accepted",
        "timeouts",
        "crashes",
        "out of memory",
        "tokens",
        "forced",
        "a schema's memory p50 / p99 / max (KiB)",
        "peak memory (MiB)",
    ];
    let mut table = table(header, 1, style);
    for row in rows {
        let forced = row.forced_share.map(|share| format!("{:.1} %", 100.0 * share));
        let memory = row.schema_kib.as_ref();
        let memory = memory.map(|memory| format!("{:.0} / {:.0} / {:.0}", memory.p50, memory.p99, memory.max));
        table.add_row([
            row.framework.clone(),
            row.schemas.to_string(),
            row.passing.to_string(),
            row.compile_errors.to_string(),
            row.validation_errors.to_string(),
            row.invalidation_errors.to_string(),
            row.timeouts.to_string(),
            row.crashes.to_string(),
            row.out_of_memory.to_string(),
            row.own.tokens.to_string(),
            forced.unwrap_or_else(|| "NA".to_owned()),
            memory.unwrap_or_else(|| "NA".to_owned()),
            row.peak_rss_mib.to_string(),
        ]);
    }
    table
}

fn spreads(rows: &[MaskRow], title: &str, pick: Pick, style: Style) -> Table {
    let names = quantiles(&TimeQuantiles::default()).map(|(name, _)| name);
    let mut table = table([title, "set", "schemas"].into_iter().chain(names), 2, style);
    // Of one framework the two sets are the same.
    let sets = if rows.len() > 1 { 2 } else { 1 };
    for row in rows {
        for (set, times) in [("own", &row.own), ("shared", &row.shared)].into_iter().take(sets) {
            let cells = quantiles(pick(times)).map(|(_, value)| microseconds(value));
            let first = [row.framework.clone(), set.to_owned(), times.measured.to_string()];
            table.add_row(first.into_iter().chain(cells));
        }
    }
    table
}

fn quantiles(spread: &TimeQuantiles) -> [(&'static str, Option<f64>); 9] {
    [
        ("mean", spread.mean),
        ("p25", spread.p25),
        ("p50", spread.p50),
        ("p75", spread.p75),
        ("p90", spread.p90),
        ("p95", spread.p95),
        ("p99", spread.p99),
        ("p99.9", spread.p999),
        ("max", spread.max),
    ]
}

fn microseconds(value: Option<f64>) -> String {
    value.map_or_else(
        || "NA".to_owned(),
        |value| format!("{value:.*}", usize::from(value < 1000.0)),
    )
}

/// The figures as CSV, unrounded: one line for each framework, set and kind of time.
pub fn csv(rows: &[MaskRow]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = quantiles(&TimeQuantiles::default()).map(|(name, _)| name);
    // Lines are of equal length and written to memory: this cannot fail.
    let _ = writer.write_record(
        ["framework", "time", "set", "schemas", "tokens"]
            .into_iter()
            .chain(names),
    );
    for row in rows {
        for (title, pick) in TIMES {
            for (set, times) in [("own", &row.own), ("shared", &row.shared)] {
                let first = [
                    row.framework.clone(),
                    title.to_owned(),
                    set.to_owned(),
                    times.measured.to_string(),
                    times.tokens.to_string(),
                ];
                let cells = quantiles(pick(times)).map(|(_, value)| value.map(|value| value.to_string()));
                let _ = writer.write_record(first.into_iter().chain(cells.map(Option::unwrap_or_default)));
            }
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// One JSON object: `{"frameworks": {NAME: {…}}}`.
pub fn json(rows: &[MaskRow], frameworks: &[FrameworkSettings]) -> String {
    let rows: BTreeMap<&str, Value> = rows
        .iter()
        .map(|row| {
            let mut value = json!(row);
            if let Some(settings) = frameworks.iter().find(|settings| settings.name == row.framework) {
                value["version"] = json!(settings.version);
                value["options"] = json!(settings.options);
            }
            (row.framework.as_str(), value)
        })
        .collect();
    json!({ "frameworks": rows }).to_string()
}
