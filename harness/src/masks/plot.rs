//! The tails of the times of `maskwright masks` as SVG: the share of the masks that take at least a given time.

use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, SeriesLabelPosition};
use plotters::coord::combinators::IntoLogRange;
use plotters::drawing::IntoDrawingArea;
use plotters::element::PathElement;
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, WHITE};

use crate::masks::rows::SharedTimes;

/// Width and height, in pixels.
const SIZE: (u32, u32) = (860, 520);
const FONT: &str = "sans-serif";
/// Points of a curve, at most.
const POINTS: usize = 400;
/// Colours that colour-blind readers can tell apart too (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// The curves could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the curves of the times cannot be drawn: {0}")]
pub struct PlotError(String);

/// The curves of the time between masks.
///
/// # Errors
///
/// [`PlotError`].
pub fn time_between_masks(times: &[SharedTimes]) -> Result<String, PlotError> {
    svg(
        "Time between masks (mask and advance)",
        "tokens",
        times.iter().map(|one| (one.framework.as_str(), &one.tbm_ns[..])),
    )
}

/// The curves of the time to the first mask.
///
/// # Errors
///
/// [`PlotError`].
pub fn time_to_first_mask(times: &[SharedTimes]) -> Result<String, PlotError> {
    svg(
        "Time to first mask (compilation and first mask)",
        "schemas",
        times.iter().map(|one| (one.framework.as_str(), &one.ttfm_ns[..])),
    )
}

/// Draws one curve for each framework: times on a logarithmic axis over percentiles, of which each step of the axis is ten times rarer than the one
/// before.
fn svg<'a>(title: &str, of: &str, times: impl Iterator<Item = (&'a str, &'a [u64])>) -> Result<String, PlotError> {
    let curves: Vec<Curve> = times.map(|(name, times)| Curve::new(name, times)).collect();
    let mut svg = String::new();
    draw(&mut svg, title, of, &curves).map_err(|error| PlotError(error.to_string()))?;
    Ok(svg)
}

/// Curve of a framework: times over the rarity with which they are reached.
struct Curve {
    name: String,
    count: usize,
    /// Rarity, the negative decimal logarithm of the share of times that are at least as long, and time in microseconds.
    points: Vec<(f64, f64)>,
}

impl Curve {
    fn new(name: &str, nanoseconds: &[u64]) -> Self {
        let mut longest_first = nanoseconds.to_vec();
        longest_first.sort_unstable_by(|a, b| b.cmp(a));
        let count = longest_first.len();
        let point = |rank: usize| {
            let share = rank as f64 / count as f64;
            // A clock's zero is not on a logarithmic axis.
            (-share.log10(), longest_first[rank - 1].max(1) as f64 / 1e3)
        };
        Self {
            name: name.to_owned(),
            count,
            points: ranks(count).into_iter().map(point).collect(),
        }
    }
}

/// Returns the ranks from `count` down to 1, evenly spaced by their logarithm where there are too many.
fn ranks(count: usize) -> Vec<usize> {
    if count <= POINTS {
        return (1..=count).rev().collect();
    }
    let step = (count as f64).ln() / (POINTS - 1) as f64;
    let mut ranks: Vec<usize> = (0..POINTS)
        .map(|index| (step * index as f64).exp().round() as usize)
        .map(|rank| rank.clamp(1, count))
        .collect();
    ranks.dedup();
    ranks.reverse();
    ranks
}

fn draw(svg: &mut String, title: &str, of: &str, curves: &[Curve]) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let rarest = points().map(|point| point.0).fold(1.0, f64::max);
    let fastest = points().map(|point| point.1).fold(f64::INFINITY, f64::min).min(1e9);
    let slowest = points().map(|point| point.1).fold(fastest, f64::max);
    // Whole powers of ten, so that the axis begins and ends with a label.
    let floor = 10_f64.powf(fastest.log10().floor());
    let ceiling = 10_f64.powf(slowest.log10().ceil()).max(10.0 * floor);

    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, (FONT, 18))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..rarest, (floor..ceiling).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(format!("percentile of the {of} (processor time)"))
        .y_desc("time (µs)")
        .x_labels(rarest.ceil() as usize + 1)
        .x_max_light_lines(0)
        .x_label_formatter(&|rarity| percentile(*rarity))
        .y_label_formatter(&|time| format!("{time}"))
        .label_style((FONT, 13).into_font())
        .axis_desc_style((FONT, 14).into_font())
        .draw()?;
    for (index, curve) in curves.iter().enumerate() {
        let style = ShapeStyle::from(COLOURS[index % COLOURS.len()]).stroke_width(2);
        let label = format!("{} ({} {of})", curve.name, curve.count);
        chart
            .draw_series(std::iter::once(PathElement::new(curve.points.clone(), style)))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    if !curves.is_empty() {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.9))
            .border_style(RGBColor(160, 160, 160))
            .label_font((FONT, 13).into_font())
            .draw()?;
    }
    area.present()?;
    Ok(())
}

/// Returns the percentile of a whole rarity: the 90th for 1, the 99th for 2, the 99.9th for 3.
fn percentile(rarity: f64) -> String {
    let decimals = (rarity.round() as usize).saturating_sub(2);
    format!("{:.decimals$}", 100.0 * (1.0 - 10_f64.powf(-rarity)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coordinates of every line of a colour: the curve, then the one of the legend.
    fn lines(svg: &str, colour: RGBColor) -> Vec<Vec<(i32, i32)>> {
        let colour = format!("stroke=\"#{:02X}{:02X}{:02X}\"", colour.0, colour.1, colour.2);
        let lines = svg
            .lines()
            .filter(|line| line.starts_with("<polyline") && line.contains(&colour));
        lines
            .map(|line| {
                let points = line.split_once("points=\"").unwrap().1.split('"').next().unwrap();
                let number = |text: &str| text.parse().unwrap();
                let pair = |point: &str| point.split_once(',').map(|(x, y)| (number(x), number(y))).unwrap();
                points.split_whitespace().map(pair).collect()
            })
            .collect()
    }

    fn times(framework: &str, tbm_ns: Vec<u64>) -> SharedTimes {
        SharedTimes {
            framework: framework.to_owned(),
            ttfm_ns: tbm_ns.iter().map(|time| 1_000 * time).collect(),
            tbm_ns,
        }
    }

    #[test]
    fn curves_are_where_the_axes_say() {
        // Of 100 times 1 is 100 µs, 9 are 10 µs, 90 are 1 µs: on these axes a stair whose steps are equal.
        let stair = [vec![1_000; 90], vec![10_000; 9], vec![100_000]].concat();
        let svg = time_between_masks(&[times("quick <&>", stair), times("even", vec![10_000; 100])]).unwrap();
        for text in [
            "quick &lt;&amp;&gt; (100 tokens)",
            "even (100 tokens)",
            "time (µs)",
            "\n99\n",
            "\n90\n",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let stair = &lines(&svg, COLOURS[0])[0];
        let even = &lines(&svg, COLOURS[1])[0];
        assert_eq!((stair.len(), even.len()), (100, 100));
        let at = |rank: usize| stair[100 - rank];
        let (bottom, middle, top) = (at(100), at(10), at(1));
        assert!((bottom.1 - middle.1).abs_diff(middle.1 - top.1) <= 1, "{stair:?}");
        assert!((middle.0 - bottom.0).abs_diff(top.0 - middle.0) <= 1, "{stair:?}");
        assert!(bottom.0 < top.0 && bottom.1 > top.1, "right is rarer, up is longer");
        assert_eq!(at(11).1, bottom.1);
        assert!(even.iter().all(|point| point.1 == middle.1), "{even:?}");
    }

    #[test]
    fn many_times_are_few_points_and_none_are_no_curve() {
        let many: Vec<u64> = (0..1_000_000).collect();
        let svg = time_to_first_mask(&[times("a", many), times("b", Vec::new())]).unwrap();
        let curve = &lines(&svg, COLOURS[0])[0];
        assert!((200..=POINTS).contains(&curve.len()), "{}", curve.len());
        let (last, height) = (curve[curve.len() - 1], SIZE.1 as i32);
        assert!(curve.iter().all(|point| point.1 >= last.1 && point.1 < height));
        assert!(svg.contains("b (0 schemas)"));
        assert!(time_to_first_mask(&[]).unwrap().ends_with("</svg>\n"));
    }
}
