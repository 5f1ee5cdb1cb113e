//! Figure 5: an over-constrained and an under-constrained schema, out of the records of a run of `coverage --true`.

use super::canvas::{Anchor, Canvas, lines};
use crate::coverage::rows::{Defect, Finding};

/// Characters of a line of a column.
const WIDTH: usize = 62;
/// Lines of a schema or document, at most.
const MAX_LINES: usize = 40;
const LINE: f64 = 17.0;
const COLUMN: f64 = WIDTH as f64 * 7.3 + 30.0;
const MARGIN: f64 = 18.0;
const BLOCKED: &str = "#D55E00";

/// Content of one column.
struct Column {
    heading: &'static str,
    lines: Vec<(Kind, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Label,
    Code,
    Verdict,
}

/// Draws findings of each kind side by side: the schema, the document, the schema's verdict on the document, and the framework's.
pub fn svg(findings: &[Finding<'_>]) -> String {
    let columns: Vec<Column> = findings.iter().map(column).collect();
    let longest = columns.iter().map(|column| column.lines.len()).max().unwrap_or(0);
    let height = 2.0 * MARGIN + 36.0 + LINE * longest as f64;
    let mut canvas = Canvas::new(2.0 * MARGIN + COLUMN * columns.len().max(1) as f64, height);
    for (number, column) in columns.iter().enumerate() {
        let left = MARGIN + COLUMN * number as f64;
        canvas.title(left, MARGIN + 14.0, column.heading);
        if number > 0 {
            canvas.line((left - 16.0, MARGIN), (left - 16.0, height - MARGIN), "#bbb", 1.0);
        }
        let mut y = MARGIN + 40.0;
        for (kind, line) in &column.lines {
            match kind {
                Kind::Label => canvas.bold(left, y, Anchor::Start, line),
                Kind::Code => canvas.code(left + 8.0, y, line),
                Kind::Verdict => canvas.coloured(left, y, Anchor::Start, line, BLOCKED),
            }
            y += LINE;
        }
    }
    canvas.finish()
}

fn column(finding: &Finding<'_>) -> Column {
    let record = finding.record;
    let mut written = Vec::new();
    let mut add = |kind, text: &str| {
        let broken = lines(text, WIDTH);
        let shown = broken.iter().take(MAX_LINES).cloned();
        written.extend(shown.map(|line| (kind, line)));
        if broken.len() > MAX_LINES {
            written.push((kind, "…".to_owned()));
        }
    };
    add(Kind::Label, "Schema");
    let schema = record.schema.as_deref().unwrap_or("(too long to show)");
    let indented = serde_json::from_str::<serde_json::Value>(schema).ok();
    let indented = indented.and_then(|value| serde_json::to_string_pretty(&value).ok());
    add(Kind::Code, indented.as_deref().unwrap_or(schema));
    add(Kind::Label, "Document");
    add(Kind::Code, finding.text());
    let framework = &record.key.framework;
    let heading = match finding.defect {
        Defect::OverConstrained => {
            add(Kind::Verdict, &format!("valid, but {framework} blocks it"));
            "Over-constrained"
        }
        Defect::UnderConstrained => {
            add(Kind::Verdict, &format!("invalid, but {framework} lets it through"));
            add(Kind::Label, "Invalid because");
            add(Kind::Code, finding.problem());
            "Under-constrained"
        }
    };
    add(Kind::Label, "From");
    add(Kind::Code, &format!("{}/{}", record.key.dataset, record.key.schema));
    Column {
        heading,
        lines: written,
    }
}
