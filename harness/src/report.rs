//! Tables of [`Row`]s: terminal, Markdown, CSV, JSON.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde_json::json;

use crate::summary::{Figures, Row};

/// A column of the table: its title and the cell of a row.
type Column = (&'static str, fn(&Row) -> String);

/// The columns after framework and dataset.
const COLUMNS: &[Column] = &[
    ("schemas", |row| row.instances.to_string()),
    ("declared", |row| share(row.declared)),
    ("empirical", |row| share(row.empirical)),
    ("compliance", |row| share(row.compliance)),
    ("compared", |row| row.compared.to_string()),
    ("GCT (s)", |row| decimals(row.medians.gct_s, 4)),
    ("TTFT (s)", |row| decimals(row.medians.ttft_s, 3)),
    ("TPOT (ms)", |row| decimals(row.medians.tpot_ms, 2)),
    ("TGT (s)", |row| decimals(row.medians.tgt_s, 3)),
    ("tokens (forced)", tokens),
    ("mask (us)", |row| decimals(row.medians.mask_us, 1)),
    ("exposed (us)", |row| decimals(row.medians.exposed_mask_us, 1)),
];

/// What stands under every table.
pub const LEGEND: &str = "Medians over the schemas that every framework covers (compared). declared: compiles; \
empirical: the answer is valid; compliance: empirical / declared. GCT: compilation; TTFT: to the first token; TPOT: per \
token after it; TGT: whole generation; mask: framework time per mask; exposed: the part the forward pass does not hide.";

/// The table for a terminal.
pub fn terminal(rows: &[Row]) -> String {
    let mut table = table(rows);
    table.load_style(UTF8_FULL_CONDENSED);
    format!("{table}\n{LEGEND}\n")
}

/// The table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut table = table(rows);
    table.load_style(ASCII_MARKDOWN);
    format!("{table}\n\n{LEGEND}\n")
}

/// The figures as CSV, unrounded, one line per row; empty cells where a figure does not apply.
pub fn csv(rows: &[Row]) -> String {
    let names = [
        "framework",
        "dataset",
        "instances",
        "declared",
        "empirical",
        "compliance",
        "compared",
    ];
    let spreads = ["", "p95_", "p99_", "own_"];
    let mut header: Vec<String> = names.map(str::to_owned).to_vec();
    for spread in spreads {
        header.extend(figures(&Figures::default()).map(|(name, _)| format!("{spread}{name}")));
    }
    let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let lines = rows.iter().map(|row| {
        let mut cells = vec![row.framework.clone(), row.dataset.clone(), row.instances.to_string()];
        cells.extend([row.declared, row.empirical, row.compliance].map(cell));
        cells.push(row.compared.to_string());
        for spread in [&row.medians, &row.p95, &row.p99, &row.own] {
            cells.extend(figures(spread).map(|(_, value)| cell(value)));
        }
        cells
    });
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in std::iter::once(header).chain(lines) {
        // Lines are of equal length and written to memory: this cannot fail.
        let _ = writer.write_record(&line);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// One JSON object: `{"rows": […]}`.
pub fn json(rows: &[Row]) -> String {
    json!({ "rows": rows }).to_string()
}

fn figures(figures: &Figures) -> [(&'static str, Option<f64>); 9] {
    [
        ("gct_s", figures.gct_s),
        ("ttft_s", figures.ttft_s),
        ("ttft_with_gct_s", figures.ttft_with_gct_s),
        ("tpot_ms", figures.tpot_ms),
        ("tgt_s", figures.tgt_s),
        ("output_tokens", figures.output_tokens),
        ("forced_tokens", figures.forced_tokens),
        ("mask_us", figures.mask_us),
        ("exposed_mask_us", figures.exposed_mask_us),
    ]
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(
        ["dataset", "framework"]
            .into_iter()
            .chain(COLUMNS.iter().map(|column| column.0)),
    );
    for row in rows {
        let names = [row.dataset.clone(), display_name(&row.framework).to_owned()];
        table.add_row(names.into_iter().chain(COLUMNS.iter().map(|column| column.1(row))));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The name of a row in tables: the paper's for the model alone.
fn display_name(framework: &str) -> &str {
    match framework {
        crate::frameworks::LM_ONLY => "LM only",
        other => other,
    }
}

fn tokens(row: &Row) -> String {
    let all = decimals(row.medians.output_tokens, 0);
    match row.medians.forced_tokens {
        Some(forced) => format!("{all} ({forced:.0})"),
        None => all,
    }
}

fn share(value: Option<f64>) -> String {
    decimals(value, 2)
}

fn decimals(value: Option<f64>, places: usize) -> String {
    value.map_or_else(|| "NA".to_owned(), |value| format!("{value:.places$}"))
}
