//! [`Report`]: the tables of [`BenchRow`]s for terminals, as Markdown, CSV, JSON.

use maskwright_suites::validate::Scoring;
use serde_json::json;

use crate::bench::comparison::{self, Comparison};
use crate::bench::rows::BenchRow;
use crate::bench::server_rows::{self, ServerRow, server_table};
use crate::report::part::Part;
use crate::report::statistics::{Interval, Ratio};
use crate::report::table::{CellText, Style, Table, figure, table};

/// The rows of a run, with the rules and the warnings that they are read by.
#[derive(Clone, Debug)]
pub struct Report {
    /// The rows, grouped by model and dataset.
    pub rows: Vec<BenchRow>,
    /// The rules by which answers were judged.
    pub scoring: Scoring,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Warnings about conditions that make the times unreliable.
    pub warnings: Vec<String>,
    /// Sentences that say how much faster one row is than another.
    pub speed: Vec<String>,
    /// Outcomes and costs of the questions to servers, where there are any.
    pub servers: Vec<ServerRow>,
    /// Our figures beside the paper's, where the comparison was requested.
    pub paper: Option<Vec<Comparison>>,
}

/// A column of a table.
struct Column {
    title: &'static str,
    cell: fn(&BenchRow) -> String,
    best: Option<Best>,
}

/// The figure of a column that decides which row of a model and dataset is the best one: the smallest or the largest.
#[derive(Clone, Copy)]
enum Best {
    Smallest(fn(&BenchRow) -> Option<f64>),
    Largest(fn(&BenchRow) -> Option<f64>),
}

/// Columns of the table of coverage: table 4 of the paper, and the compliance without our help to finish in time.
const COVERAGE: &[Column] = &[
    Column::plain("schemas", schemas),
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
    Column::largest("unaided", |row| decimals(row.unaided, 2), |row| row.unaided),
];

/// Columns of the table of efficiency: tables 2, 3, 12 and 13 of the paper, and the times of masks.
const EFFICIENCY: &[Column] = &[
    Column::plain("compared", |row| row.compared.to_string()),
    Column::smallest("GCT (s)", |row| figure(row.medians.gct_s), |row| row.medians.gct_s),
    Column::smallest("TTFT (s)", |row| figure(row.medians.ttft_s), |row| row.medians.ttft_s),
    Column::smallest(
        "TPOT (ms)",
        |row| figure(row.medians.tpot_ms),
        |row| row.medians.tpot_ms,
    ),
    Column::smallest("TGT (s)", |row| figure(row.medians.tgt_s), |row| row.medians.tgt_s),
    Column::plain("tokens (FF)", tokens),
    Column::largest(
        "tokens/s",
        |row| figure(row.medians.tokens_per_s),
        |row| row.medians.tokens_per_s,
    ),
    Column::smallest(
        "mask (us)",
        |row| figure(row.medians.mask_us),
        |row| row.medians.mask_us,
    ),
    Column::smallest(
        "exposed (us)",
        |row| figure(row.medians.exposed_mask_us),
        |row| row.medians.exposed_mask_us,
    ),
];

/// Columns of the table of the times' tails, printed on request.
const PERCENTILES: &[Column] = &[
    Column::plain("GCT p95 (s)", |row| figure(row.p95.gct_s)),
    Column::plain("p99", |row| figure(row.p99.gct_s)),
    Column::plain("TTFT p95 (s)", |row| figure(row.p95.ttft_s)),
    Column::plain("p99", |row| figure(row.p99.ttft_s)),
    Column::plain("TPOT p95 (ms)", |row| figure(row.p95.tpot_ms)),
    Column::plain("p99", |row| figure(row.p99.tpot_ms)),
    Column::plain("TGT p95 (s)", |row| figure(row.p95.tgt_s)),
    Column::plain("p99", |row| figure(row.p99.tgt_s)),
    Column::plain("exposed p95 (us)", |row| figure(row.p95.exposed_mask_us)),
    Column::plain("p99", |row| figure(row.p99.exposed_mask_us)),
];

/// Legend printed below the table of coverage.
const COVERAGE_LEGEND: &str = "Shares of the schemas. LM only: the model alone; theoretical: uses only what the framework \
documents as supported; declared: neither refused nor failed on; empirical: the answer is valid; compliance: empirical / declared; unaided: \
the same if no answer counted that its framework had to end early to stay within the limit on tokens.";

/// Legend printed below the table of efficiency.
const EFFICIENCY_LEGEND: &str = "Medians over the schemas that every framework covers (compared). GCT: compilation; TTFT: to \
the first token; TPOT: per token after it; TGT: whole generation; FF: of them forced (fast-forwarded), not sampled; tokens/s: tokens of the \
answer over TGT; mask: framework time per mask, accepting tokens included; exposed: the time per mask that the model waits, which is what \
the forward pass does not hide, and the handing over between two threads, which on a busy machine takes longer than the mask; likely tokens \
are prepared meanwhile, which counts in neither.";

/// Addition to the legend of the efficiency where there are servers.
const NETWORK_LEGEND: &str = " (server): measured over the network, by the arrival of the answer's pieces; compilation and \
waiting are part of TTFT.";

impl Report {
    /// Returns the tables for a terminal; with `percentiles`, the tails of the times, too.
    pub fn terminal(&self, percentiles: bool) -> String {
        self.text(Style::Terminal, percentiles)
    }

    /// Returns the tables in Markdown, the best value of each model and dataset bold where there are several.
    pub fn markdown(&self) -> String {
        self.text(Style::Markdown, true)
    }

    fn text(&self, style: Style, percentiles: bool) -> String {
        let heading = |title: &str| match style {
            Style::Terminal => format!("{title}\n"),
            Style::Markdown => format!("**{title}**\n\n"),
        };
        let legend = |text: &str| match style {
            Style::Terminal => format!("{}\n", crate::terminal::wrapped(text)),
            Style::Markdown => format!("\n{text}\n"),
        };
        let best = match style {
            Style::Terminal => "",
            Style::Markdown => " Bold: the best.",
        };
        let mut text = format!("{}{}\n", heading(&self.coverage_title()), self.table(COVERAGE, style));
        text += &legend(&format!("{COVERAGE_LEGEND}{best}"));
        for sentence in self.coverage_sentences() {
            text += &legend(&sentence);
        }
        text += &format!("\n{}{}\n", heading("Efficiency"), self.table(EFFICIENCY, style));
        text += &legend(&format!("{EFFICIENCY_LEGEND}{}", self.network_legend()));
        if percentiles {
            text += &format!("\n{}{}\n", heading("Tails"), self.table(PERCENTILES, style));
        }
        for sentence in self.efficiency_sentences() {
            text += &legend(&sentence);
        }
        if !self.servers.is_empty() {
            text += &format!("\n{}{}\n", heading("Servers"), server_table(&self.servers, style));
            text += &legend(server_rows::LEGEND);
        }
        if let Some(comparisons) = &self.paper {
            text += &format!("\n{}", comparison::text(comparisons, style));
        }
        text
    }

    /// Returns the tables of coverage, efficiency, tails and servers.
    pub fn parts(&self, style: Style) -> Vec<Part> {
        let mut parts = vec![
            Part::new(self.coverage_title(), self.table(COVERAGE, style), COVERAGE_LEGEND)
                .with_notes(self.coverage_sentences()),
            Part::new(
                "Efficiency",
                self.table(EFFICIENCY, style),
                format!("{EFFICIENCY_LEGEND}{}", self.network_legend()),
            ),
            Part::new("Tails of the times", self.table(PERCENTILES, style), "").with_notes(self.efficiency_sentences()),
        ];
        if !self.servers.is_empty() {
            let table = server_table(&self.servers, style);
            parts.push(Part::new("Servers", table, server_rows::LEGEND));
        }
        parts
    }

    /// Returns sentences on the coverage: numbers of valid answers, schemas that count nowhere, and unfinished rows.
    fn coverage_sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let several = self
            .rows
            .iter()
            .any(|row| (&row.model, &row.dataset) != (&self.rows[0].model, &self.rows[0].dataset));
        for group in self
            .rows
            .chunk_by(|one, other| (&one.model, &one.dataset) == (&other.model, &other.dataset))
        {
            let place = match several {
                true => format!("{}, {}: ", group[0].model, group[0].dataset),
                false => String::new(),
            };
            let mut sorted: Vec<&BenchRow> = group.iter().collect();
            sorted.sort_by_key(|row| std::cmp::Reverse(row.valid));
            let counts = sorted.iter().map(|row| {
                format!(
                    "{} {} of {}{}",
                    display_name(row),
                    row.valid,
                    row.instances,
                    row.failures.counts()
                )
            });
            sentences.push(format!(
                "{place}valid answers: {}.",
                counts.collect::<Vec<_>>().join(", ")
            ));
            let failures = group
                .iter()
                .flat_map(|row| row.failures.sentences(&display_name(row), row.instances));
            sentences.extend(failures.map(|sentence| format!("{place}{sentence}")));
            if group[0].no_room > 0 {
                sentences.push(format!(
                    "{place}{} of {} schemas count nowhere: their prompt, or the answer of some row, did not fit into the model's context \
                     (fewer --shots, a smaller --max-tokens or another model leave more room).",
                    group[0].no_room, group[0].planned
                ));
            }
            if group[0].unusable > 0 {
                sentences.push(format!(
                    "{place}{} of {} schemas count nowhere: no answer can be judged by them, for the reasons in records.jsonl (`unusable`).",
                    group[0].unusable, group[0].planned
                ));
            }
            for row in group.iter().filter(|row| row.unanswered > 0) {
                let (name, answered) = (display_name(row), schemas(row));
                sentences.push(format!("{place}UNFINISHED: {name}: {answered} answered."));
            }
        }
        sentences
    }

    /// Returns sentences on the times: datasets without a schema to compare by, how fast rows are, and warnings.
    fn efficiency_sentences(&self) -> Vec<String> {
        let groups = self
            .rows
            .chunk_by(|one, other| (&one.model, &one.dataset) == (&other.model, &other.dataset));
        let nothing_compared = groups.filter_map(|group| {
            let asked: Vec<&BenchRow> = group.iter().filter(|row| row.instances > 0).collect();
            if asked.len() < 2 || asked.iter().any(|row| row.compared > 0) {
                return None;
            }
            let without = asked.iter().filter(|row| row.own.tgt_s.is_none());
            let without: Vec<String> = without.map(|row| display_name(row)).collect();
            let remedy = match without.len() == asked.len() || without.is_empty() {
                true => String::new(),
                false => format!(": leave out {} to compare the others", without.join(" and ")),
            };
            let (model, dataset) = (&group[0].model, &group[0].dataset);
            let place = match self.rows.len() > group.len() {
                true => format!("{model}, {dataset}: "),
                false => String::new(),
            };
            Some(format!("{place}No schema is covered by every framework{remedy}."))
        });
        nothing_compared
            .chain(self.speed.iter().chain(&self.warnings).cloned())
            .collect()
    }

    fn network_legend(&self) -> &'static str {
        match self.rows.iter().any(|row| row.server) {
            true => NETWORK_LEGEND,
            false => "",
        }
    }

    /// Returns the figures as CSV, unrounded, one line per row; cells are empty where a figure does not apply.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for (number, row) in self.rows.iter().enumerate() {
            let (names, cells): (Vec<String>, Vec<String>) = csv_cells(row).into_iter().unzip();
            // All lines have the same number of cells and are written to memory: this cannot fail.
            if number == 0 {
                let _ = writer.write_record(&names);
            }
            let _ = writer.write_record(&cells);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// Returns one JSON object: `{"rows": […], "scoring": "strict", "confidence": 0.95}`, with `"servers": […]` where there are any and
    /// `"paper": […]` where the comparison was requested.
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
        format!(
            "Coverage ({} scoring, {} % confidence intervals)",
            self.scoring,
            percent(self.confidence)
        )
    }

    /// Returns a table in which the best value of each model and dataset is marked.
    fn table(&self, columns: &[Column], style: Style) -> Table {
        let several_models = self.rows.iter().any(|row| row.model != self.rows[0].model);
        let model = several_models.then_some("model");
        let header = model.into_iter().chain(["dataset", "framework"]);
        let header = header.chain(columns.iter().map(|column| column.title));
        let mut table = table(header, 2 + usize::from(several_models), style);
        for row in &self.rows {
            let model = several_models.then(|| row.model.clone());
            let names = model.into_iter().chain([row.dataset.clone(), display_name(row)]);
            table.add_row(names.map(CellText::from).chain(columns.iter().map(|column| {
                let cell = (column.cell)(row);
                match self.is_best(row, column) {
                    true => CellText::best(cell),
                    false => cell.into(),
                }
            })));
        }
        table
    }

    /// Whether the cell of `row` reads like the best one of its model and dataset, and other cells read otherwise. Values that differ
    /// only in digits that are not shown are equally good.
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

/// Returns the names of the columns with the cells of a row.
fn csv_cells(row: &BenchRow) -> Vec<(String, String)> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut cells: Vec<(String, String)> = [
        ("model", row.model.clone()),
        ("framework", row.framework.clone()),
        ("dataset", row.dataset.clone()),
        ("server", row.server.to_string()),
        ("instances", row.instances.to_string()),
        ("planned", row.planned.to_string()),
        ("no_room", row.no_room.to_string()),
        ("unusable", row.unusable.to_string()),
        ("unanswered", row.unanswered.to_string()),
        ("theoretical", number(row.theoretical)),
        ("declared", number(row.declared)),
        ("empirical", number(row.empirical)),
        ("compliance", number(row.compliance)),
        ("unaided", number(row.unaided)),
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

/// Returns the name of a row in tables: the paper's for the model alone, servers marked.
pub fn display_name(row: &BenchRow) -> String {
    match row.framework.as_str() {
        name if row.server => format!("{name} (server)"),
        crate::frameworks::LM_ONLY => "LM only".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the number of schemas; where some questions found no answer, also the number that there should be, without the schemas that
/// count nowhere.
fn schemas(row: &BenchRow) -> String {
    match row.unanswered {
        0 => row.instances.to_string(),
        open => format!("{} of {}", row.instances, row.instances + open),
    }
}

/// Returns sentences that say how many times as fast, for each token, the fastest constrained row of each model is as the other rows, over
/// the schemas that they share in all datasets, with intervals of `confidence`. `pairs` returns, for two rows of a model, their times for each token in pairs.
pub fn speed(
    rows: &[BenchRow],
    confidence: f64,
    pairs: impl Fn(&BenchRow, &BenchRow) -> Vec<(f64, f64)>,
) -> Vec<String> {
    let mut sentences = Vec::new();
    let several = rows.iter().any(|row| row.model != rows[0].model);
    for of_model in rows.chunk_by(|one, other| one.model == other.model) {
        let mut distinct: Vec<&BenchRow> = Vec::new();
        for row in of_model {
            if distinct.iter().all(|known| known.framework != row.framework) {
                distinct.push(row);
            }
        }
        let ratio = |one: &BenchRow, other: &BenchRow| Ratio::of_at(pairs(one, other), confidence);
        let is_alone = |row: &BenchRow| row.framework == crate::frameworks::LM_ONLY;
        let is_fastest = |row: &&&BenchRow| {
            let mut others = distinct
                .iter()
                .filter(|other| other.framework != row.framework && !is_alone(other));
            others.all(|other| ratio(other, row).is_some_and(|ratio| ratio.mean >= 1.0))
        };
        let constrained = distinct.iter().filter(|row| !is_alone(row));
        let Some(fastest) = constrained.clone().find(is_fastest).filter(|_| distinct.len() > 1) else {
            continue;
        };
        let compared = distinct.iter().filter(|other| other.framework != fastest.framework);
        let compared = compared.filter_map(|other| {
            let ratio = ratio(other, fastest)?;
            let (times, name) = (ratio.describe(), display_name(other));
            Some(format!("{times} as fast as {name} over {}", ratio.schemas()))
        });
        let compared: Vec<String> = compared.collect();
        if compared.is_empty() {
            continue;
        }
        let confidence = percent(confidence);
        let place = if several {
            format!("{}: ", fastest.model)
        } else {
            String::new()
        };
        sentences.push(format!(
            "{place}{}, for each token: {} (geometric means, {confidence} % intervals).",
            display_name(fastest),
            compared.join(", ")
        ));
    }
    sentences
}

/// Returns a confidence in percent, without the digits that are only rounding.
fn percent(confidence: f64) -> f64 {
    (confidence * 1e6).round() / 1e4
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
mod tests;
