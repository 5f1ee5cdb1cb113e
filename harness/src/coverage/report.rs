//! The tables of `maskwright coverage --true`.

use serde_json::{Value, json};

use super::record::CoverageRecord;
use super::rows::{CoverageRow, Defect, Finding, findings, unequal};
use super::subject::Source;
use crate::report::part::Part;
use crate::report::statistics::Interval;
use crate::report::table::{CellText, Style, Table, table};
use crate::terminal::shortened;

/// Report of a run of coverage: rows, frameworks and records.
pub struct CoverageReport<'a> {
    /// The rows.
    pub rows: Vec<CoverageRow>,
    /// The frameworks, in the order of rows.
    pub frameworks: &'a [String],
    /// The records.
    pub records: &'a [CoverageRecord],
}

/// Legend printed below the table.
const LEGEND: &str = "true: schemas of which no document shows a defect, with 95 % Wilson intervals; an upper bound of true coverage (definition 5.3), since \
documents that were not tried may show more. From one side: blocks nothing valid (a refused schema blocks all); from the other: lets nothing invalid through. A \
framework that failed on a schema, or gave no verdict on it, counts on neither side. \
over, under: schemas taken of which a valid document is blocked, an invalid one let through. documents: valid + invalid. Sampled documents are drawn from \
maskwright's own language, so that they cannot show what maskwright blocks wrongly; whether they are valid says the judge, so that they can show what it lets \
through wrongly.";

/// Legend printed below the table of estimates.
const ESTIMATE_LEGEND: &str = "unseen: schemas with a defect that no document tried has shown, at least, with the 95 % interval of Chao's estimator; it goes by the \
schemas of which one document and two documents show a defect, as if the documents of a schema showed it independently and alike, and is not known where there are some of the former and none of the latter. estimate: true less their share; its interval reaches from \
the lower limit of true less the upper limit of unseen to the upper limit of true, and holds with 92.5 % at least. Of defects that show in fewer documents than detects from, nothing is known: so \
large must the share be of a schema's documents, made as these, in which a defect shows, for it to be found with a probability of 95 % (about 3 over the number of documents; median over \
the schemas without a defect shown).";

/// Characters of a schema or document that are shown.
const SHOWN: usize = 160;
/// Characters of a schema or document in Markdown.
const SHOWN_MARKDOWN: usize = 2_000;

impl CoverageReport<'_> {
    /// The tables as text, with up to `shown` defects of each framework.
    pub fn text(&self, style: Style, shown: usize) -> String {
        let mut parts = vec![
            self.table(style).to_string(),
            style.prose(LEGEND),
            self.estimates(style).to_string(),
            style.prose(ESTIMATE_LEGEND),
        ];
        for framework in self.frameworks {
            let found = findings(self.records, framework);
            if !found.is_empty() {
                parts.push(defects(framework, &found, style, shown));
            }
        }
        parts.extend(self.notes().iter().map(|note| style.prose(note)));
        parts.join("\n\n") + "\n"
    }

    /// The tables of coverage and of the estimates from it.
    pub fn parts(&self, style: Style) -> Vec<Part> {
        vec![
            Part::new("True coverage, from both sides", self.table(style), LEGEND).with_notes(self.notes()),
            Part::new("Estimates", self.estimates(style), ESTIMATE_LEGEND),
        ]
    }

    /// Returns notes on the documents and schemas that are left out of all counts.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let first = self.frameworks.first();
        for source in Source::ALL {
            let own = self
                .records
                .iter()
                .filter(|record| Some(&record.key.framework) == first && record.source == source);
            let disputed: usize = own.map(|record| record.disputed).sum();
            if disputed > 0 {
                notes.push(format!(
                    "{disputed} documents of {} were left out: the judge does not agree with their labels.",
                    source.name()
                ));
            }
        }
        let unequal = unequal(self.records).len();
        if unequal > 0 {
            notes.push(format!(
                "{unequal} schemas count nowhere: frameworks were tested on them with different documents."
            ));
        }
        notes
    }

    fn table(&self, style: Style) -> Table {
        let header = [
            "dataset",
            "framework",
            "schemas",
            "documents",
            "declared",
            "blocks nothing valid",
            "lets nothing invalid through",
            "over",
            "under",
            "refused",
            "failed",
            "true",
        ];
        let mut table = table(header, 2, style);
        for row in self.rows.iter().filter(|row| row.schemas > 0) {
            let rivals = self.rows.iter().filter(|other| other.dataset == row.dataset);
            let best = rivals.filter_map(|rival| rival.truly).fold(0.0, f64::max);
            let truly = with_interval(row.truly, row.truly_ci);
            let cells: [CellText; 12] = [
                row.dataset.clone().into(),
                row.framework.clone().into(),
                row.schemas.to_string().into(),
                format!("{} + {}", row.documents[0], row.documents[1]).into(),
                share(row.declared).into(),
                with_interval(row.nothing_blocked, row.nothing_blocked_ci).into(),
                with_interval(row.nothing_let_through, row.nothing_let_through_ci).into(),
                row.over_constrained.to_string().into(),
                row.under_constrained.to_string().into(),
                row.refused.to_string().into(),
                row.failed.to_string().into(),
                match row.truly == Some(best) {
                    true => CellText::best(truly),
                    false => truly.into(),
                },
            ];
            table.add_row(cells);
        }
        table
    }

    /// True coverage from both sides.
    fn estimates(&self, style: Style) -> Table {
        let header = [
            "dataset",
            "framework",
            "defects in 1, 2 documents",
            "unseen",
            "estimate",
            "detects from",
        ];
        let mut table = table(header, 2, style);
        for row in self.rows.iter().filter(|row| row.schemas > 0) {
            let unseen = row.unseen.as_ref();
            let not_known = || "NA".to_owned();
            table.add_row([
                row.dataset.clone(),
                row.framework.clone(),
                unseen.map_or_else(not_known, |unseen| {
                    format!("{}, {}", unseen.shown_once, unseen.shown_twice)
                }),
                match unseen.and_then(|unseen| Some((unseen.schemas?, unseen.interval))) {
                    Some((schemas, Some([low, high]))) => format!("{schemas:.1} ({low:.1}–{high:.1})"),
                    Some((schemas, None)) => format!("{schemas:.1}"),
                    None => not_known(),
                },
                with_interval(row.estimate, row.estimate_ci),
                row.detection_limit
                    .map_or_else(not_known, |limit| format!("{:.1} %", 100.0 * limit)),
            ]);
        }
        table
    }

    /// The figures and all defects as JSON.
    pub fn json(&self) -> String {
        let found: Vec<Value> = self
            .frameworks
            .iter()
            .flat_map(|framework| findings(self.records, framework))
            .map(|finding| {
                json!({
                    "framework": finding.record.key.framework,
                    "dataset": finding.record.key.dataset,
                    "schema_name": finding.record.key.schema,
                    "defect": finding.defect,
                    "document": finding.text(),
                    "problem": finding.problem(),
                    "schema": finding.record.schema,
                })
            })
            .collect();
        json!({ "rows": self.rows, "defects": found }).to_string()
    }
}

/// The smallest defects of a framework.
fn defects(framework: &str, found: &[Finding<'_>], style: Style, shown: usize) -> String {
    let count = |defect| found.iter().filter(|finding| finding.defect == defect).count();
    let (over, under) = (count(Defect::OverConstrained), count(Defect::UnderConstrained));
    let mut lines = vec![format!(
        "{framework}: {over} {} with a valid document that is blocked, {under} with an invalid one that is let through; the smallest:",
        if over == 1 { "schema" } else { "schemas" },
    )];
    let most = match style {
        Style::Terminal => SHOWN,
        Style::Markdown => SHOWN_MARKDOWN,
    };
    let code = |text: &str| match style {
        Style::Terminal => shortened(text, most),
        Style::Markdown => format!("`{}`", shortened(text, most).replace('`', "'")),
    };
    for (number, finding) in found.iter().take(shown).enumerate() {
        let what = match finding.defect {
            Defect::OverConstrained => "blocks, valid:   ",
            Defect::UnderConstrained => "lets through:    ",
        };
        let place = format!("{}/{}", finding.record.key.dataset, finding.record.key.schema);
        let gap = if number == 0 && style == Style::Markdown {
            "\n"
        } else {
            ""
        };
        lines.push(format!("{gap}- {what} {}", code(finding.text())));
        if !finding.problem().is_empty() {
            lines.push(format!("  invalid because:  {}", shortened(finding.problem(), most)));
        }
        if let Some(schema) = &finding.record.schema {
            lines.push(format!("  schema:           {}", code(schema)));
        }
        lines.push(format!("  of                {}", shortened(&place, most)));
    }
    lines.join("\n")
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "NA".to_owned(), |share| format!("{share:.3}"))
}

fn with_interval(of: Option<f64>, interval: Option<Interval>) -> String {
    match interval {
        Some([low, high]) => format!("{} ({low:.3}–{high:.3})", share(of)),
        None => share(of),
    }
}
