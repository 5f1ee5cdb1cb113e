//! [`Panel`]: named bars below one another.

use super::canvas::{Anchor, CHARACTER, Canvas, width};

/// Height of a bar with the space below it, in pixels.
const STEP: f64 = 22.0;
/// Height of a bar, in pixels.
const THICKNESS: f64 = 15.0;
/// Length of the longest bar, in pixels.
const LENGTH: f64 = 260.0;
/// Height of a panel's title, in pixels.
const HEADING: f64 = 44.0;
/// Space around everything, in pixels.
const MARGIN: f64 = 16.0;

/// Bars with names and figures.
pub struct Panel {
    /// Title of the panel.
    pub title: String,
    /// Subtitle of the panel.
    pub subtitle: String,
    /// The bars.
    pub bars: Vec<Bar>,
    /// The figure of a bar of full length; the largest of the bars where there is none.
    pub full: Option<f64>,
}

/// A bar.
pub struct Bar {
    /// Name of the bar.
    pub name: String,
    /// Figure that the bar's length shows.
    pub value: f64,
    /// Label at the end of the bar.
    pub label: String,
    /// The number of its fill.
    pub fill: usize,
    /// Ends of an interval around the bar's figure.
    pub interval: Option<[f64; 2]>,
}

impl Panel {
    /// The longest bar's figure.
    fn scale(&self) -> f64 {
        let ends = self
            .bars
            .iter()
            .map(|bar| bar.interval.map_or(bar.value, |[_, high]| high.max(bar.value)));
        let most = self.full.unwrap_or_else(|| ends.fold(0.0, f64::max));
        if most > 0.0 { LENGTH / most } else { 0.0 }
    }

    fn name_width(&self) -> f64 {
        self.bars.iter().map(|bar| width(&bar.name)).fold(0.0, f64::max) + 8.0
    }

    fn size(&self) -> (f64, f64) {
        let labels = self.bars.iter().map(|bar| width(&bar.label)).fold(0.0, f64::max);
        let bars = self.name_width() + LENGTH + labels + 16.0;
        let titles = width(&self.title) * 1.3;
        let subtitle = width(&self.subtitle);
        (bars.max(titles).max(subtitle), HEADING + STEP * self.bars.len() as f64)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        canvas.title(left, top + 14.0, &self.title);
        canvas.coloured(left, top + 31.0, Anchor::Start, &self.subtitle, "#555");
        let (start, scale) = (left + self.name_width(), self.scale());
        for (number, bar) in self.bars.iter().enumerate() {
            let y = top + HEADING + STEP * number as f64;
            let base = y + THICKNESS - 3.5;
            canvas.text(start - 6.0, base, Anchor::End, &bar.name);
            canvas.bar(start, y, bar.value * scale, THICKNESS, bar.fill);
            let mut end = start + bar.value * scale;
            if let Some([low, high]) = bar.interval {
                let [low, high] = [low, high].map(|value| start + value * scale);
                let middle = y + THICKNESS / 2.0;
                canvas.line((low, middle), (high, middle), "#000", 1.4);
                for place in [low, high] {
                    canvas.line((place, middle - 4.0), (place, middle + 4.0), "#000", 1.4);
                }
                end = end.max(high);
            }
            canvas.text(end + 6.0, base, Anchor::Start, &bar.label);
        }
        let bottom = top + HEADING + STEP * self.bars.len() as f64 - 4.0;
        canvas.line((start, top + HEADING - 3.0), (start, bottom), "#222", 1.0);
    }
}

/// Panels below one another.
pub fn stacked(panels: &[Panel]) -> String {
    arranged(panels, 1)
}

/// Panels in so many columns.
pub fn arranged(panels: &[Panel], columns: usize) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let sizes: Vec<(f64, f64)> = panels.iter().map(Panel::size).collect();
    let column_width = sizes.iter().map(|size| size.0).fold(0.0, f64::max) + 2.0 * CHARACTER;
    let rows: Vec<f64> = sizes
        .chunks(columns)
        .map(|row| row.iter().map(|size| size.1).fold(0.0, f64::max) + MARGIN)
        .collect();
    let mut canvas = Canvas::new(
        2.0 * MARGIN + column_width * columns as f64,
        2.0 * MARGIN + rows.iter().sum::<f64>(),
    );
    let mut top = MARGIN;
    for (row, height) in panels.chunks(columns).zip(&rows) {
        for (column, panel) in row.iter().enumerate() {
            panel.draw(&mut canvas, MARGIN + column_width * column as f64, top);
        }
        top += height;
    }
    canvas.finish()
}
