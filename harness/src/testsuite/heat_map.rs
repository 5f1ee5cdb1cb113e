//! The heat map of figure 6 as SVG.

use plotters::backend::SVGBackend;
use plotters::drawing::IntoDrawingArea;
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle, WHITE};

use crate::testsuite::conformance::{Conformance, Standing, standings};

/// Width and height of a cell, in pixels.
const CELL: (i32, i32) = (110, 20);
/// Width of the column of categories, in pixels.
const NAMES: i32 = 260;
/// Height of the line of frameworks, in pixels.
const HEADER: i32 = 28;
const FONT: &str = "sans-serif";
const DARK_TEXT: RGBColor = RGBColor(30, 30, 30);

/// The picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the heat map cannot be drawn: {0}")]
pub struct HeatMapError(String);

/// One row for each category, one column for each framework; the darker the cell, the more cases pass. `*` marks the
/// highest coverage, tied, `**` the single highest.
///
/// # Errors
///
/// [`HeatMapError`].
pub fn svg(frameworks: &[Conformance]) -> Result<String, HeatMapError> {
    let failed = |error: &dyn std::fmt::Display| HeatMapError(error.to_string());
    let categories = frameworks.first().map_or(&[][..], |first| &first.categories);
    let width = NAMES + CELL.0 * frameworks.len() as i32;
    let height = HEADER + CELL.1 * categories.len() as i32;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| failed(&error))?;
        for (column, one) in frameworks.iter().enumerate() {
            let at = (NAMES + CELL.0 * column as i32 + CELL.0 / 2, HEADER / 2);
            let text = Text::new(one.framework.clone(), at, style(HPos::Center, DARK_TEXT));
            area.draw(&text).map_err(|error| failed(&error))?;
        }
        for (row, (category, _)) in categories.iter().enumerate() {
            let top = HEADER + CELL.1 * row as i32;
            let name = Text::new(
                category.clone(),
                (NAMES - 8, top + CELL.1 / 2),
                style(HPos::Right, DARK_TEXT),
            );
            area.draw(&name).map_err(|error| failed(&error))?;
            for (column, standing) in standings(frameworks, row).into_iter().enumerate() {
                let coverage = frameworks[column]
                    .categories
                    .get(row)
                    .map_or(0.0, |(_, one)| one.coverage());
                let left = NAMES + CELL.0 * column as i32;
                let corners = [(left + 1, top + 1), (left + CELL.0 - 1, top + CELL.1 - 1)];
                let cell = Rectangle::new(corners, ShapeStyle::from(shade(coverage)).filled());
                area.draw(&cell).map_err(|error| failed(&error))?;
                let mark = match standing {
                    Standing::Behind => "",
                    Standing::Tied => " *",
                    Standing::Single => " **",
                };
                let colour = if coverage > 0.5 { WHITE } else { DARK_TEXT };
                let label = format!("{:.0} %{mark}", 100.0 * coverage);
                let middle = (left + CELL.0 / 2, top + CELL.1 / 2);
                let label = Text::new(label, middle, style(HPos::Center, colour));
                area.draw(&label).map_err(|error| failed(&error))?;
            }
        }
        area.present().map_err(|error| failed(&error))?;
    }
    Ok(svg)
}

fn style(horizontal: HPos, colour: RGBColor) -> TextStyle<'static> {
    TextStyle {
        font: (FONT, 12).into_font(),
        color: colour.to_backend_color(),
        pos: Pos::new(horizontal, VPos::Center),
    }
}

/// From nearly white to dark blue.
fn shade(coverage: f64) -> RGBColor {
    let (light, dark) = ([238.0, 242.0, 248.0], [17.0, 54.0, 115.0]);
    let mix = |channel: usize| (light[channel] + (dark[channel] - light[channel]) * coverage) as u8;
    RGBColor(mix(0), mix(1), mix(2))
}
