//! A table in ASCII.

use super::notation::Notation;
use super::rows;
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase;
use crate::ifstruct::generate::spec::Spec;

/// Characters that the table is drawn with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableLayout {
    /// `+----+` around every cell.
    Grid,
    /// Cells between bars, as in Markdown.
    Pipes,
    /// Columns apart by spaces, a line of dashes below the header.
    Ruled,
}

pub(super) fn render(spec: &Spec<'_>, notation: Notation, draw: &mut Draw) -> String {
    let layout = draw.pick(&[TableLayout::Grid, TableLayout::Pipes, TableLayout::Ruled]);
    let (yes, no) = draw.pick(&[("yes", "no"), ("required", "optional"), ("Y", "N")]);
    let header = [
        draw.pick(&["Field", "Path", "Name"]),
        "Type",
        if yes == "required" { "Presence" } else { "Required" },
        draw.pick(&["Constraints", "Limits"]),
        draw.pick(&["Description", "Meaning"]),
    ];
    let rows = rows(&spec.fields, ".", "[]");
    let described = rows.iter().any(|row| row.field.about.is_some());
    let limited = rows.iter().any(|row| notation.limits(row.field).is_some());
    let shown = [true, true, true, limited, described];
    let mut table: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(|row| {
        vec![
            row.path.clone(),
            // Bars would end the cell.
            notation.type_of(row.field).replace(" | ", " / "),
            if row.field.required { yes } else { no }.to_owned(),
            notation.limits(row.field).unwrap_or_else(|| "-".to_owned()),
            row.field.about.as_deref().map_or_else(|| "-".to_owned(), phrase::label),
        ]
    }));
    for cells in &mut table {
        let mut shown = shown.iter();
        cells.retain(|_| *shown.next().unwrap_or(&true));
    }
    draw_table(&table, layout)
}

fn draw_table(table: &[Vec<String>], layout: TableLayout) -> String {
    let columns = table.first().map_or(0, Vec::len);
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &[String], between: &str| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells.map(|(cell, &width)| format!("{cell:width$}")).collect();
        cells.join(between)
    };
    let rule = |fill: &str, between: &str| {
        let parts: Vec<String> = widths.iter().map(|&width| fill.repeat(width)).collect();
        parts.join(between)
    };
    let mut lines = Vec::new();
    for (number, row) in table.iter().enumerate() {
        match layout {
            TableLayout::Grid => {
                lines.push(format!("+-{}-+", rule("-", "-+-")));
                lines.push(format!("| {} |", line(row, " | ")));
            }
            TableLayout::Pipes => lines.push(format!("| {} |", line(row, " | "))),
            TableLayout::Ruled => lines.push(line(row, "   ").trim_end().to_owned()),
        }
        if number == 0 {
            match layout {
                TableLayout::Grid => {}
                TableLayout::Pipes => lines.push(format!("|-{}-|", rule("-", "-|-"))),
                TableLayout::Ruled => lines.push(rule("-", "   ")),
            }
        }
    }
    if layout == TableLayout::Grid {
        lines.push(format!("+-{}-+", rule("-", "-+-")));
    }
    lines.join("\n")
}
