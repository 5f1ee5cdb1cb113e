//! The table of `maskwright shapes`.

use serde_json::json;

use super::rows::ShapeRow;
use crate::report::table::{Style, table};

/// Legend printed below the table.
const LEGEND: &str = "valid answers, and below them the valid documents of MaskBench, which Llama 3.1 70B Instruct wrote, of the same schemas; answers to schemas of which \
MaskBench has no document are left out of such pairs. Every schema counts once, by the median or share of its documents. Medians of bytes without whitespace, of values \
(texts, numbers, booleans, nulls, empty containers) and of depth (arrays and objects within one another). only required: no member of any object can be left out \
without making the document invalid; with 95 % Wilson intervals over schemas.";

/// The table as text.
pub fn text(rows: &[ShapeRow], style: Style) -> String {
    let header = [
        "dataset",
        "model",
        "written by",
        "schemas",
        "documents",
        "bytes",
        "values",
        "depth",
        "empty",
        "only required",
    ];
    let mut table = table(header, 3, style);
    let figure = |value: Option<f64>| value.map_or_else(|| "NA".to_owned(), |value| format!("{value:.1}"));
    let percent = |share: Option<f64>| share.map_or_else(|| "NA".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    for row in rows {
        let only_required = match row.only_required_ci {
            Some([low, high]) => format!(
                "{} ({:.1}–{:.1})",
                percent(row.only_required),
                100.0 * low,
                100.0 * high
            ),
            None => percent(row.only_required),
        };
        table.add_row([
            row.dataset.clone(),
            row.model.clone(),
            row.written_by.clone(),
            row.schemas.to_string(),
            row.documents.to_string(),
            figure(row.bytes),
            figure(row.values),
            figure(row.depth),
            percent(row.empty),
            only_required,
        ]);
    }
    format!("{table}\n\n{}\n", style.prose(LEGEND))
}

/// The figures as JSON.
pub fn json(rows: &[ShapeRow]) -> String {
    json!({ "rows": rows }).to_string()
}
