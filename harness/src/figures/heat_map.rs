//! Figure 6: the share of the JSON Schema Test Suite's cases that each framework passes, category by category.

use super::canvas::{Anchor, Canvas, width};
use crate::testsuite::conformance::{CategoryOutcome, Conformance, Standing, categories, standings};

/// Height of a category's row, in pixels.
const ROW: f64 = 21.0;
/// Least width of a framework's column, in pixels.
const COLUMN: f64 = 94.0;
const MARGIN: f64 = 16.0;
const TITLE: &str = "Cases of the JSON Schema Test Suite that frameworks pass";
const SUBTITLE: &str = "* highest coverage of the category, tied; ** alone";

/// Draws the heat map, with one row for each category and one column for each framework; the darker the cell, the more cases pass. A cell is empty where
/// no case was run.
pub fn svg(frameworks: &[Conformance]) -> String {
    let categories = categories(frameworks);
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(width).fold(0.0, f64::max) + 16.0;
    let names = widest(&mut categories.iter().copied());
    let column = widest(&mut frameworks.iter().map(|one| one.framework.as_str())).max(COLUMN);
    let total = (names + column * frameworks.len() as f64)
        .max(width(TITLE) * 1.3)
        .max(width(SUBTITLE));
    let header = MARGIN + 58.0;
    let height = header + 8.0 + ROW * categories.len() as f64 + MARGIN;
    let mut canvas = Canvas::new(total + 2.0 * MARGIN, height);
    canvas.title(MARGIN, MARGIN + 14.0, TITLE);
    canvas.coloured(MARGIN, MARGIN + 32.0, Anchor::Start, SUBTITLE, "#555");
    let place = |at: usize| MARGIN + names + column * at as f64;
    for (at, one) in frameworks.iter().enumerate() {
        canvas.bold(place(at) + column / 2.0, header, Anchor::Middle, &one.framework);
    }
    for (row, category) in categories.into_iter().enumerate() {
        let top = header + 8.0 + ROW * row as f64;
        canvas.text(MARGIN, top + 15.0, Anchor::Start, category);
        for (at, standing) in standings(frameworks, category).into_iter().enumerate() {
            let Some(coverage) = frameworks[at].of(category).map(CategoryOutcome::coverage) else {
                continue;
            };
            canvas.rectangle(place(at) + 1.0, top + 1.0, column - 2.0, ROW - 2.0, &shade(coverage));
            let mark = match standing {
                Standing::Behind => "",
                Standing::Tied => " *",
                Standing::Single => " **",
            };
            let colour = if coverage > 0.5 { "#ffffff" } else { "#222222" };
            let label = format!("{:.0} %{mark}", 100.0 * coverage);
            canvas.coloured(place(at) + column / 2.0, top + 15.0, Anchor::Middle, &label, colour);
        }
    }
    canvas.finish()
}

/// A colour from nearly white to the dark blue of figure 4.
fn shade(coverage: f64) -> String {
    let (light, dark) = ([244.0, 244.0, 244.0], [11.0, 83.0, 148.0]);
    let [red, green, blue] = [0, 1, 2].map(|at| (light[at] + (dark[at] - light[at]) * coverage).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}
