//! Figure 8 as an UpSet plot (Lex et al., 2014): the questions on which several rows are right.

use super::canvas::{Anchor, Canvas, width};
use crate::frameworks::display_name;
use crate::quality::overlap::Overlap;

/// Distance of the columns and rows of the matrix, in pixels.
const COLUMN: f64 = 34.0;
const ROW: f64 = 24.0;
/// Height of the highest column of questions, in pixels.
const HEIGHT: f64 = 170.0;
/// Length of the longest bar of a row, in pixels.
const LENGTH: f64 = 110.0;
const MARGIN: f64 = 16.0;
/// Height of titles, in pixels.
const HEADING: f64 = 58.0;
/// Sets of rows that are drawn, at most: the largest.
const MAX_SETS: usize = 30;
const ABSENT: &str = "#cfcfcf";
const PRESENT: &str = "#222222";

/// Draws a column for each set of rows that are right together while all others are wrong, with the number of questions; and a line of dots for each
/// row, with the number of questions on which it is right and, in parentheses, on which it alone is.
pub fn svg(overlap: &Overlap) -> String {
    let sets = &overlap.intersections[..overlap.intersections.len().min(MAX_SETS)];
    let labels: Vec<String> = overlap
        .right
        .iter()
        .zip(&overlap.exclusive)
        .map(|(right, exclusive)| format!("{right} ({exclusive})"))
        .collect();
    let widest = |texts: &[String]| texts.iter().map(|text| width(text)).fold(0.0, f64::max);
    let (names, figures) = (widest(&overlap.rows), widest(&labels));
    let title = format!(
        "{}: questions that rows get right together, and no other row",
        overlap.task.name()
    );
    let subtitle = format!(
        "{}, {} questions, {} of them right for no row; at the left: right (only this row)",
        overlap.model, overlap.questions, overlap.nobody
    );
    let matrix = MARGIN + figures + LENGTH + names + 24.0;
    let total = (matrix + COLUMN * sets.len() as f64)
        .max(width(&title) * 1.3)
        .max(width(&subtitle))
        + MARGIN;
    let base = MARGIN + HEADING + HEIGHT;
    let mut canvas = Canvas::new(total, base + 24.0 + ROW * overlap.rows.len() as f64 + MARGIN);
    canvas.title(MARGIN, MARGIN + 14.0, &title);
    canvas.coloured(MARGIN, MARGIN + 32.0, Anchor::Start, &subtitle, "#555");
    let most_right = overlap.right.iter().copied().max().unwrap_or(0).max(1) as f64;
    let most = sets.iter().map(|set| set.questions).max().unwrap_or(0).max(1) as f64;
    for (row, name) in overlap.rows.iter().enumerate() {
        let middle = base + 24.0 + ROW * row as f64 + ROW / 2.0;
        let length = LENGTH * overlap.right[row] as f64 / most_right;
        let end = MARGIN + figures + 6.0 + LENGTH;
        canvas.bar(end - length, middle - 7.0, length, 14.0, row);
        canvas.text(end - length - 6.0, middle + 4.0, Anchor::End, &labels[row]);
        canvas.text(end + 8.0, middle + 4.0, Anchor::Start, &display_name(name));
    }
    for (column, set) in sets.iter().enumerate() {
        let middle = matrix + COLUMN * column as f64 + COLUMN / 2.0;
        let height = HEIGHT * set.questions as f64 / most;
        // A set of one row has that row's fill.
        match set.rows[..] {
            [row] => canvas.bar(middle - 10.0, base - height, 20.0, height, row),
            _ => canvas.rectangle(middle - 10.0, base - height, 20.0, height, "#4d4d4d"),
        }
        canvas.text(middle, base - height - 5.0, Anchor::Middle, &set.questions.to_string());
        let place = |row: usize| base + 24.0 + ROW * row as f64 + ROW / 2.0;
        if let (Some(first), Some(last)) = (set.rows.first(), set.rows.last()) {
            canvas.line((middle, place(*first)), (middle, place(*last)), PRESENT, 2.5);
        }
        for row in 0..overlap.rows.len() {
            let colour = if set.rows.contains(&row) { PRESENT } else { ABSENT };
            canvas.dot(middle, place(row), 6.0, colour);
        }
    }
    canvas.line(
        (matrix, base),
        (matrix + COLUMN * sets.len() as f64, base),
        PRESENT,
        1.0,
    );
    canvas.finish()
}
