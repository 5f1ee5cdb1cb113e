//! [`Report`]: the tables of [`BenchRow`]s for terminals, as Markdown, CSV, JSON.

use comfy_table::Table;
use maskwright_suites::validate::Scoring;
use serde_json::json;

use crate::bench::comparison::{self, Comparison};
use crate::bench::rows::BenchRow;
use crate::bench::server_rows::{self, ServerRow, server_table};
use crate::report::statistics::Interval;
use crate::report::table::{Style, table};

/// The rows of a run and how they were made.
#[derive(Clone, Debug)]
pub struct Report {
    /// The rows, those of one model and dataset one after the other.
    pub rows: Vec<BenchRow>,
    /// Whose rules answers were judged by.
    pub scoring: Scoring,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// What became of the questions to servers, where there are any.
    pub servers: Vec<ServerRow>,
    /// Our figures beside the paper's, where they were asked for.
    pub paper: Option<Vec<Comparison>>,
}

/// A column of a table.
struct Column {
    title: &'static str,
    cell: fn(&BenchRow) -> String,
    best: Option<Best>,
}

/// Which value of a column is the best one of a model and dataset.
#[derive(Clone, Copy)]
enum Best {
    Smallest(fn(&BenchRow) -> Option<f64>),
    Largest(fn(&BenchRow) -> Option<f64>),
}

/// Table 4 of the paper.
const COVERAGE: &[Column] = &[
    Column::plain("schemas", |row| row.instances.to_string()),
    Column::largest("theoretical", |row| decimals(row.theoretical, 2), |row| row.theoretical),
    Column::largest(
        "declared",
        |row| share(row.declared, row.declared_ci),
        |row| row.declared,
    ),
    Column::largest(
        "empirical",
        |row| share(row.empirical, row.empirical_ci),
        |row| row.empirical,
    ),
    Column::largest(
        "compliance",
        |row| share(row.compliance, row.compliance_ci),
        |row| row.compliance,
    ),
];

/// Tables 2, 3, 12 and 13 of the paper, and the time of masks.
const EFFICIENCY: &[Column] = &[
    Column::plain("compared", |row| row.compared.to_string()),
    Column::smallest("GCT (s)", |row| decimals(row.medians.gct_s, 4), |row| row.medians.gct_s),
    Column::smallest(
        "TTFT (s)",
        |row| decimals(row.medians.ttft_s, 3),
        |row| row.medians.ttft_s,
    ),
    Column::smallest(
        "TPOT (ms)",
        |row| decimals(row.medians.tpot_ms, 2),
        |row| row.medians.tpot_ms,
    ),
    Column::smallest("TGT (s)", |row| decimals(row.medians.tgt_s, 3), |row| row.medians.tgt_s),
    Column::plain("tokens (FF)", tokens),
    Column::smallest(
        "mask (us)",
        |row| decimals(row.medians.mask_us, 1),
        |row| row.medians.mask_us,
    ),
    Column::smallest(
        "exposed (us)",
        |row| decimals(row.medians.exposed_mask_us, 1),
        |row| row.medians.exposed_mask_us,
    ),
];

/// What stands under the table of coverage.
const COVERAGE_LEGEND: &str = "Shares of the schemas. theoretical: uses only what the framework documents as supported; \
declared: taken without an error; empirical: the answer is valid; compliance: empirical / declared.";

/// What stands under the table of efficiency.
const EFFICIENCY_LEGEND: &str = "Medians over the schemas that every framework covers (compared). GCT: compilation; TTFT: to \
the first token; TPOT: per token after it; TGT: whole generation; FF: fast-forwarded, not sampled; mask: framework time per \
mask; exposed: the part the forward pass does not hide, accepting tokens included; likely tokens are prepared meanwhile, which \
counts in neither.";

/// What stands under it where there are servers.
const NETWORK_LEGEND: &str = " (server): measured over the network, by the arrival of the answer's pieces; compilation and \
waiting are part of TTFT.";

impl Report {
    /// The tables for a terminal.
    pub fn terminal(&self) -> String {
        let table = |columns| self.table(columns, Style::Terminal);
        let mut text = format!(
            "{}\n{}\n{COVERAGE_LEGEND}\n\nEfficiency\n{}\n{EFFICIENCY_LEGEND}{}\n",
            self.coverage_title(),
            table(COVERAGE),
            table(EFFICIENCY),
            self.network_legend(),
        );
        if !self.servers.is_empty() {
            let servers = server_table(&self.servers, Style::Terminal);
            text += &format!("\nServers\n{servers}\n{}\n", server_rows::LEGEND);
        }
        if let Some(comparisons) = &self.paper {
            text += &format!("\n{}", comparison::text(comparisons, Style::Terminal));
        }
        text
    }

    fn network_legend(&self) -> &'static str {
        match self.rows.iter().any(|row| row.server) {
            true => NETWORK_LEGEND,
            false => "",
        }
    }

    /// The tables in Markdown, the best value of each model and dataset bold where there are several.
    pub fn markdown(&self) -> String {
        let table = |columns| self.table(columns, Style::Markdown);
        let mut text = format!(
            "**{}**\n\n{}\n\n{COVERAGE_LEGEND} Bold: the best.\n\n**Efficiency**\n\n{}\n\n{EFFICIENCY_LEGEND}{}\n",
            self.coverage_title(),
            table(COVERAGE),
            table(EFFICIENCY),
            self.network_legend(),
        );
        if !self.servers.is_empty() {
            let servers = server_table(&self.servers, Style::Markdown);
            text += &format!("\n**Servers**\n\n{servers}\n\n{}\n", server_rows::LEGEND);
        }
        if let Some(comparisons) = &self.paper {
            text += &format!("\n{}", comparison::text(comparisons, Style::Markdown));
        }
        text
    }

    /// The figures as CSV, unrounded, one line per row; empty cells where a figure does not apply.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for (number, row) in self.rows.iter().enumerate() {
            let (names, cells): (Vec<String>, Vec<String>) = csv_cells(row).into_iter().unzip();
            // Lines are of equal length and written to memory: this cannot fail.
            if number == 0 {
                let _ = writer.write_record(&names);
            }
            let _ = writer.write_record(&cells);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// One JSON object: `{"rows": […], "scoring": "strict", "confidence": 0.95}`, with `"servers": […]` where there are any and
    /// `"paper": […]` where it was asked for.
    pub fn json(&self) -> String {
        let mut report = json!({ "rows": self.rows, "scoring": self.scoring, "confidence": self.confidence });
        if !self.servers.is_empty() {
            report["servers"] = json!(self.servers);
        }
        if let Some(comparisons) = &self.paper {
            report["paper"] = comparisons.iter().map(Comparison::json).collect();
        }
        report.to_string()
    }

    fn coverage_title(&self) -> String {
        let percent = (self.confidence * 1e6).round() / 1e4;
        format!("Coverage ({} scoring, {percent} % confidence intervals)", self.scoring)
    }

    /// The best value of each model and dataset is bold in Markdown.
    fn table(&self, columns: &[Column], style: Style) -> Table {
        let several_models = self.rows.iter().any(|row| row.model != self.rows[0].model);
        let model = several_models.then_some("model");
        let header = model.into_iter().chain(["dataset", "framework"]);
        let header = header.chain(columns.iter().map(|column| column.title));
        let mut table = table(header, 2 + usize::from(several_models), style);
        for row in &self.rows {
            let model = several_models.then(|| row.model.clone());
            let names = model.into_iter().chain([row.dataset.clone(), display_name(row)]);
            table.add_row(names.chain(columns.iter().map(|column| {
                let cell = (column.cell)(row);
                match style == Style::Markdown && self.is_best(row, column) {
                    true => format!("**{cell}**"),
                    false => cell,
                }
            })));
        }
        table
    }

    /// Whether the cell of `row` reads like the best one of its model and dataset, and others read otherwise. What differs
    /// only in digits that are not shown is equally good.
    fn is_best(&self, row: &BenchRow, column: &Column) -> bool {
        let (value, sign): (fn(&BenchRow) -> Option<f64>, f64) = match column.best {
            Some(Best::Smallest(value)) => (value, 1.0),
            Some(Best::Largest(value)) => (value, -1.0),
            None => return false,
        };
        let group = self
            .rows
            .iter()
            .filter(|other| (&other.model, &other.dataset) == (&row.model, &row.dataset));
        let cells: Vec<(f64, String)> = group
            .filter_map(|other| Some((sign * value(other)?, (column.cell)(other))))
            .collect();
        let best = cells.iter().min_by(|left, right| left.0.total_cmp(&right.0));
        let own = (column.cell)(row);
        best.is_some_and(|(_, cell)| *cell == own) && cells.iter().any(|(_, cell)| *cell != own)
    }
}

impl Column {
    const fn plain(title: &'static str, cell: fn(&BenchRow) -> String) -> Self {
        Self {
            title,
            cell,
            best: None,
        }
    }

    const fn smallest(title: &'static str, cell: fn(&BenchRow) -> String, value: fn(&BenchRow) -> Option<f64>) -> Self {
        Self {
            title,
            cell,
            best: Some(Best::Smallest(value)),
        }
    }

    const fn largest(title: &'static str, cell: fn(&BenchRow) -> String, value: fn(&BenchRow) -> Option<f64>) -> Self {
        Self {
            title,
            cell,
            best: Some(Best::Largest(value)),
        }
    }
}

/// Names of columns with the cells of a row.
fn csv_cells(row: &BenchRow) -> Vec<(String, String)> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut cells: Vec<(String, String)> = [
        ("model", row.model.clone()),
        ("framework", row.framework.clone()),
        ("dataset", row.dataset.clone()),
        ("server", row.server.to_string()),
        ("instances", row.instances.to_string()),
        ("theoretical", number(row.theoretical)),
        ("declared", number(row.declared)),
        ("empirical", number(row.empirical)),
        ("compliance", number(row.compliance)),
        ("compared", row.compared.to_string()),
    ]
    .map(|(name, cell)| (name.to_owned(), cell))
    .to_vec();
    let spreads = [
        ("", &row.medians),
        ("p95_", &row.p95),
        ("p99_", &row.p99),
        ("own_", &row.own),
    ];
    for (prefix, figures) in spreads {
        let named = figures.named().into_iter();
        cells.extend(named.map(|(name, value)| (format!("{prefix}{name}"), number(value))));
    }
    let shares = [
        ("declared", row.declared_ci),
        ("empirical", row.empirical_ci),
        ("compliance", row.compliance_ci),
    ];
    for (name, interval) in shares.into_iter().chain(row.median_cis.named()) {
        cells.push((format!("{name}_low"), number(interval.map(|[low, _]| low))));
        cells.push((format!("{name}_high"), number(interval.map(|[_, high]| high))));
    }
    cells
}

/// The name of a row in tables: the paper's for the model alone, servers marked.
fn display_name(row: &BenchRow) -> String {
    match row.framework.as_str() {
        name if row.server => format!("{name} (server)"),
        crate::frameworks::LM_ONLY => "LM only".to_owned(),
        name => name.to_owned(),
    }
}

fn tokens(row: &BenchRow) -> String {
    let all = decimals(row.medians.output_tokens, 0);
    match row.medians.forced_tokens {
        Some(forced) => format!("{all} ({forced:.0})"),
        None => all,
    }
}

fn share(value: Option<f64>, interval: Option<Interval>) -> String {
    let value = decimals(value, 2);
    match interval {
        Some([low, high]) => format!("{value} [{low:.2}, {high:.2}]"),
        None => value,
    }
}

fn decimals(value: Option<f64>, places: usize) -> String {
    value.map_or_else(|| "NA".to_owned(), |value| format!("{value:.places$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::Figures;

    fn row(model: &str, framework: &str, declared: Option<f64>, tgt_s: f64) -> BenchRow {
        let figures = Figures {
            tgt_s: Some(tgt_s),
            ..Figures::default()
        };
        BenchRow {
            model: model.to_owned(),
            framework: framework.to_owned(),
            dataset: "d".to_owned(),
            server: false,
            instances: 4,
            theoretical: None,
            declared,
            declared_ci: declared.map(|share| [share - 0.2, share + 0.2]),
            empirical: Some(0.5),
            empirical_ci: Some([0.25, 0.75]),
            compliance: None,
            compliance_ci: None,
            compared: 2,
            medians: figures,
            median_cis: Figures::default(),
            p95: figures,
            p99: figures,
            own: figures,
        }
    }

    fn report(rows: Vec<BenchRow>) -> Report {
        Report {
            rows,
            scoring: Scoring::Paper,
            confidence: 0.9,
            servers: vec![],
            paper: None,
        }
    }

    /// The cells of the table's lines that start with `first`.
    fn cells(markdown: &str, first: &str) -> Vec<Vec<String>> {
        let lines = markdown.lines().filter(|line| line.starts_with(&format!("| {first}")));
        lines
            .map(|line| {
                line.trim_matches('|')
                    .split('|')
                    .map(|cell| cell.trim().to_owned())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn the_best_of_a_model_and_dataset_is_bold() {
        let rows = vec![
            row("m", "a", Some(0.5), 2.0),
            row("m", "b", Some(0.25), 1.0),
            row("m", "none", None, 1.000_01),
            row("n", "a", Some(0.75), 0.5),
        ];
        let markdown = report(rows).markdown();
        assert!(markdown.contains("**Coverage (paper scoring, 90 % confidence intervals)**"));
        let lines = cells(&markdown, "m ");
        assert_eq!(
            lines[0][3..],
            ["4", "NA", "**0.50 [0.30, 0.70]**", "0.50 [0.25, 0.75]", "NA"]
        );
        assert_eq!(lines[1][5], "0.25 [0.05, 0.45]");
        assert_eq!((lines[2][2].as_str(), lines[2][5].as_str()), ("LM only", "NA"));
        let times: Vec<&str> = lines[3..].iter().map(|line| line[7].as_str()).collect();
        assert_eq!(times, ["2.000", "**1.000**", "**1.000**"]);
        let alone = cells(&markdown, "n ");
        assert_eq!(
            (alone[0][5].as_str(), alone[1][7].as_str()),
            ("0.75 [0.55, 0.95]", "0.500")
        );
    }

    #[test]
    fn one_model_needs_no_column_and_every_format_has_every_row() {
        let report = report(vec![row("m", "a", Some(0.5), 2.0), row("m", "none", None, 1.0)]);
        assert_eq!(
            cells(&report.markdown(), "dataset")[0][..3],
            ["dataset", "framework", "schemas"]
        );
        assert!(!report.terminal().contains("**"));
        let csv = report.csv();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header = reader.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let cell = |row: usize, name: &str| {
            let at = header.iter().position(|column| column == name).unwrap();
            records[row][at].to_owned()
        };
        assert_eq!(
            (cell(0, "declared_low"), cell(1, "declared_low")),
            ("0.3".to_owned(), String::new())
        );
        assert_eq!((cell(0, "model"), cell(1, "tgt_s")), ("m".to_owned(), "1".to_owned()));
        let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(json["rows"][0]["declared_ci"], json!([0.3, 0.7]));
        assert_eq!(json["scoring"], "paper");
    }
}
