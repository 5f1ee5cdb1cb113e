//! [`Comparison`]s: our figures beside those that the JSONSchemaBench paper prints for the same dataset and framework.

use serde_json::{Value, json};

use crate::bench::rows::{BenchRow, RowKey};
use crate::report::paper::{self, PaperRow, Source};
use crate::report::table::{self, Style, Table};

/// Figures of a row of ours beside those of the paper's row for the same dataset and framework.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The dataset.
    pub dataset: String,
    /// The model; the paper's is another.
    pub model: String,
    /// The framework.
    pub framework: String,
    /// The paper's row.
    pub paper_row: PaperRow,
    /// The paper's table.
    pub source: Source,
    /// The figures that both tables have.
    pub figures: Vec<ComparedFigure>,
}

/// A figure by us and by the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedFigure {
    /// The figure's name, as in our JSON.
    pub name: &'static str,
    /// Our figure; `None` where nothing was measured.
    pub ours: Option<f64>,
    /// The paper's figure; `None` where the paper has none.
    pub paper: Option<f64>,
}

/// Legend printed below the tables of comparisons.
const LEGEND: &str = "ours / the paper's (JSONSchemaBench, 2025). Its coverage: Llama-3.2-1B-Instruct, the providers' own models for \
OpenAI and Gemini; its efficiency: Llama-3.1-8B-Instruct on an NVIDIA A100, medians over the schemas that its engines share. Its TTFT \
and TGT contain the compilation, and so do ours here. Answers are judged by the paper's rules. Its XGrammar ran with strict mode off, which is our \
xgrammar-standard. Ratios of one side compare with ratios of the other, times do not.";

/// Returns the comparisons of `rows`, those of the coverage first.
pub fn comparisons(rows: &[BenchRow], keys: &[RowKey]) -> Vec<Comparison> {
    let with_engine = rows.iter().filter_map(|row| {
        let own = |key: &&RowKey| (&key.model, &key.framework) == (&row.model, &row.framework);
        Some((row, keys.iter().find(own)?.paper?))
    });
    let of_coverage = with_engine
        .clone()
        .filter_map(|(row, paper_row)| coverage(row, paper_row));
    let of_efficiency = with_engine.flat_map(|(row, paper_row)| efficiency(row, paper_row));
    of_coverage.chain(of_efficiency).collect()
}

fn coverage(row: &BenchRow, paper_row: PaperRow) -> Option<Comparison> {
    let theoretical = paper::theoretical(&row.dataset, paper_row);
    let measured = paper::coverage(&row.dataset, paper_row);
    if theoretical.is_none() && measured.is_none() {
        return None;
    }
    let figure = |name, ours, paper| ComparedFigure { name, ours, paper };
    let figures = vec![
        figure("theoretical", row.theoretical, theoretical),
        figure("declared", row.declared, measured.map(|paper| paper.declared)),
        figure("empirical", row.empirical, measured.map(|paper| paper.empirical)),
        figure("compliance", row.compliance, measured.map(|paper| paper.compliance)),
    ];
    Some(Comparison::new(row, paper_row, Source::Table4, figures))
}

fn efficiency(row: &BenchRow, paper_row: PaperRow) -> impl Iterator<Item = Comparison> {
    let found = paper::efficiency(&row.dataset, paper_row).into_iter();
    found.map(move |(source, paper)| {
        let figure = |name, ours, paper| ComparedFigure {
            name,
            ours,
            paper: Some(paper),
        };
        let ours = &row.medians;
        let figures = vec![
            ComparedFigure {
                name: "gct_s",
                ours: ours.gct_s,
                paper: paper.gct_s,
            },
            figure("ttft_with_gct_s", ours.ttft_with_gct_s, paper.ttft_s),
            figure("tpot_ms", ours.tpot_ms, paper.tpot_ms),
            figure("tgt_with_gct_s", ours.tgt_with_gct_s, paper.tgt_s),
            figure("output_tokens", ours.output_tokens, paper.output_tokens),
            figure("forced_tokens", ours.forced_tokens, paper.forced_tokens),
        ];
        Comparison::new(row, paper_row, source, figures)
    })
}

impl Comparison {
    fn new(row: &BenchRow, paper_row: PaperRow, source: Source, figures: Vec<ComparedFigure>) -> Self {
        Self {
            dataset: row.dataset.clone(),
            model: row.model.clone(),
            framework: row.framework.clone(),
            paper_row,
            source,
            figures,
        }
    }

    /// Returns `{"dataset", "model", "framework", "row", "source", "figures": {NAME: {"ours", "paper"}}}`.
    pub fn json(&self) -> Value {
        let mut figures = json!({});
        for figure in &self.figures {
            figures[figure.name] = json!({"ours": figure.ours, "paper": figure.paper});
        }
        json!({
            "dataset": self.dataset, "model": self.model, "framework": self.framework,
            "row": self.paper_row, "source": self.source, "figures": figures,
        })
    }
}

/// Returns the tables of comparisons with their headings and the legend.
pub fn text(comparisons: &[Comparison], style: Style) -> String {
    if comparisons.is_empty() {
        return "The paper has none of these rows.\n".to_owned();
    }
    let heading = |title: &str| match style {
        Style::Terminal => format!("{title}\n"),
        Style::Markdown => format!("**{title}**\n\n"),
    };
    let parts = [
        (
            "Coverage beside the paper's",
            ["theoretical", "declared", "empirical", "compliance"].as_slice(),
            true,
        ),
        (
            "Efficiency beside the paper's",
            &[
                "GCT (s)",
                "TTFT + GCT (s)",
                "TPOT (ms)",
                "TGT + GCT (s)",
                "tokens",
                "FF",
            ],
            false,
        ),
    ];
    let mut text = String::new();
    for (title, columns, of_coverage) in parts {
        let of_part = |one: &&Comparison| (one.source == Source::Table4) == of_coverage;
        let part: Vec<&Comparison> = comparisons.iter().filter(of_part).collect();
        if !part.is_empty() {
            text += &format!("{}{}\n\n", heading(title), table(&part, columns, style));
        }
    }
    match style {
        Style::Terminal => text + &crate::terminal::wrapped(LEGEND) + "\n",
        Style::Markdown => text + LEGEND + "\n",
    }
}

fn table(comparisons: &[&Comparison], columns: &[&str], style: Style) -> Table {
    let several_models = comparisons.iter().any(|one| one.model != comparisons[0].model);
    let names = several_models.then_some("model").into_iter();
    let names = names.chain(["dataset", "framework", "paper's row", "tables"]);
    let header: Vec<&str> = names.chain(columns.iter().copied()).collect();
    let mut table = table::table(header.iter().copied(), header.len() - columns.len(), style);
    for one in comparisons {
        let cells = one.figures.iter().map(|figure| {
            let number = |value: Option<f64>| value.map_or_else(|| "NA".to_owned(), |value| format!("{value:.2}"));
            format!("{} / {}", number(figure.ours), number(figure.paper))
        });
        let model = several_models.then(|| one.model.clone());
        let names = [
            one.dataset.clone(),
            one.framework.clone(),
            one.paper_row.name().to_owned(),
            one.source.describe().to_owned(),
        ];
        table.add_row(model.into_iter().chain(names).chain(cells));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::Figures;

    fn row(dataset: &str, framework: &str) -> BenchRow {
        let figures = Figures {
            ttft_s: Some(0.025),
            ttft_with_gct_s: Some(0.125),
            ..Figures::default()
        };
        BenchRow {
            model: "m".to_owned(),
            framework: framework.to_owned(),
            dataset: dataset.to_owned(),
            server: false,
            instances: 4,
            planned: 4,
            no_room: 0,
            unusable: 0,
            unanswered: 0,
            theoretical: None,
            declared: Some(0.5),
            declared_ci: None,
            empirical: Some(0.25),
            empirical_ci: None,
            compliance: Some(0.5),
            compliance_ci: None,
            unaided: None,
            valid: 1,
            failures: crate::bench::failures::Failures::default(),
            compared: 2,
            medians: figures,
            median_cis: Figures::default(),
            p95: figures,
            p99: figures,
            own: figures,
        }
    }

    fn key(framework: &str) -> RowKey {
        RowKey {
            model: "m".to_owned(),
            framework: framework.to_owned(),
            server: false,
            paper: PaperRow::of_framework(framework),
        }
    }

    #[test]
    fn the_papers_figures_stand_beside_ours_where_it_has_the_cell() {
        let rows = [
            row("Kubernetes", "llguidance"),
            row("Kubernetes", "maskwright"),
            row("builtin", "llguidance"),
        ];
        let keys = [key("llguidance"), key("maskwright")];
        let found = comparisons(&rows, &keys);
        let sources: Vec<Source> = found.iter().map(|one| one.source).collect();
        assert_eq!(sources, [Source::Table4, Source::Table12]);
        let json = found[0].json();
        assert_eq!((&json["row"], &json["source"]), (&json!("Guidance"), &json!("table 4")));
        assert_eq!(json["figures"]["declared"], json!({"ours": 0.5, "paper": 0.98}));
        let text = text(&found, Style::Markdown);
        let cells = |first: &str| -> Vec<String> {
            let mut lines = text.lines().filter(|line| line.contains(first));
            let line = lines.next().unwrap();
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        };
        assert_eq!(cells("4, 11")[2..6], ["Guidance", "4, 11", "NA / 0.58", "0.50 / 0.98"]);
        assert_eq!(cells("(llama.cpp)")[4..6], ["NA / 0.01", "0.12 / 0.45"]);
        assert!(super::text(&[], Style::Terminal).contains("none"));
    }
}
