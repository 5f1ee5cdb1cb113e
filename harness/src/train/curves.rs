//! The curves of a training as an SVG picture: loss of supervised steps, reward of GRPO, and the pass rate on the test split.

use super::record::{Phase, StepMetrics, TrainRecord};
use super::report::TrainReport;
use crate::figures::canvas::{Anchor, Canvas};
use crate::report::statistics::wilson;

/// Width and height of a panel's plot, in pixels.
const PLOT: (f64, f64) = (640.0, 150.0);
/// Space around plots, in pixels: left, above, below.
const SPACE: (f64, f64, f64) = (64.0, 40.0, 36.0);
/// Approximate number of ticks on an axis.
const TICKS: f64 = 5.0;
/// Largest number of points of a curve; where there are more steps, each point is the mean of several.
const POINTS: usize = 200;

/// One plot of the picture: a figure over steps, which are numbered through both phases.
struct Panel {
    title: &'static str,
    /// Steps and figures of the curve's points.
    points: Vec<(f64, f64)>,
    /// Interval around each figure; empty where there are no intervals.
    intervals: Vec<[f64; 2]>,
}

/// Returns the picture of a training's curves as SVG.
pub fn svg(report: &TrainReport<'_>) -> String {
    let supervised = report.steps(Phase::Supervised).map(|(step, _)| step).max().unwrap_or(0);
    let place = |phase: Phase, step: usize| match phase {
        Phase::Supervised => step as f64,
        Phase::Grpo => (supervised + step) as f64,
    };
    let curve = |phase, title, value: &dyn Fn(&StepMetrics) -> Option<f64>| {
        let points = report.steps(phase);
        let points: Vec<(f64, f64)> = points
            .filter_map(|(step, metrics)| Some((place(phase, step), value(metrics)?)))
            .collect();
        Panel {
            title,
            points: thinned(&points),
            intervals: Vec::new(),
        }
    };
    let evaluated =
        |record: &&TrainRecord| Some((place(record.key.phase, record.key.step), record.evaluation.clone()?));
    let evaluated: Vec<_> = report.records.iter().filter_map(evaluated).collect();
    let panels = [
        curve(Phase::Supervised, "supervised: loss (nats per token)", &|one| {
            Some(one.loss)
        }),
        curve(Phase::Grpo, "GRPO: mean reward", &|one| one.reward),
        curve(
            Phase::Grpo,
            "GRPO: divergence from its start (nats per token)",
            &|one| one.kl,
        ),
        Panel {
            title: "test split: share of replies that pass, with 95 % intervals",
            points: evaluated.iter().map(|(step, one)| (*step, one.rate())).collect(),
            intervals: evaluated
                .iter()
                .map(|(_, one)| wilson(one.passed, one.replies).unwrap_or([0.0, 1.0]))
                .collect(),
        },
    ];
    let shown: Vec<&Panel> = panels.iter().filter(|panel| !panel.points.is_empty()).collect();
    let last = shown
        .iter()
        .flat_map(|panel| &panel.points)
        .map(|point| point.0)
        .fold(1.0, f64::max);
    let height = SPACE.1 + PLOT.1 + SPACE.2;
    let mut canvas = Canvas::new(SPACE.0 + PLOT.0 + 24.0, height * shown.len().max(1) as f64);
    for (number, panel) in shown.iter().enumerate() {
        panel.draw(&mut canvas, number as f64 * height, last);
    }
    canvas.finish()
}

/// Returns at least two round numbers from `low` or below to `high` or above, at least `least` apart.
fn ticks(low: f64, high: f64, least: f64) -> Vec<f64> {
    let range = if high > low { high - low } else { 1.0 };
    let power = 10_f64.powf((range / TICKS).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| range / step <= TICKS);
    let step = step.unwrap_or(10.0 * power).max(least);
    let first = (low / step).floor();
    let last = ((low + range) / step).ceil();
    (0..=(last - first) as usize)
        .map(|number| (first + number as f64) * step)
        .collect()
}

/// Returns the number of decimals that tells numbers apart whose distance is `step`.
fn decimals(step: f64) -> usize {
    (-step.log10().floor()).max(0.0) as usize
}

/// Returns at most [`POINTS`] points, each the mean of consecutive ones of `points`.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(POINTS).max(1);
    let mean = |part: &[(f64, f64)]| {
        let count = part.len() as f64;
        let sum = part
            .iter()
            .fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / count, sum.1 / count)
    };
    points.chunks(size).map(mean).collect()
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, top: f64, last: f64) {
        let (left, above) = (SPACE.0, top + SPACE.1);
        let figures = self.points.iter().map(|point| point.1);
        let figures = figures.chain(self.intervals.iter().flatten().copied());
        let (low, high) = figures.fold((0.0_f64, 0.0_f64), |(low, high), figure| {
            (low.min(figure), high.max(figure))
        });
        let figures = ticks(low, high, 0.0);
        let (low, high) = (figures[0], figures[figures.len() - 1]);
        let x = |step: f64| left + PLOT.0 * step / last;
        let y = |figure: f64| above + PLOT.1 * (1.0 - (figure - low) / (high - low));
        canvas.title(left, top + SPACE.1 - 14.0, self.title);
        let decimals = decimals(figures[1] - figures[0]);
        for figure in figures {
            canvas.line((left, y(figure)), (left + PLOT.0, y(figure)), "#ddd", 1.0);
            canvas.text(
                left - 8.0,
                y(figure) + 4.0,
                Anchor::End,
                &format!("{figure:.decimals$}"),
            );
        }
        for step in ticks(0.0, last, 1.0).into_iter().filter(|step| *step <= last) {
            canvas.text(x(step), above + PLOT.1 + 16.0, Anchor::Middle, &format!("{step:.0}"));
        }
        canvas.text(left + PLOT.0, above + PLOT.1 + 30.0, Anchor::End, "step");
        for pair in self.points.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|(step, figure)| (x(step), y(figure)));
            canvas.line(from, to, "#0072B2", 1.6);
        }
        for (point, [low, high]) in self.points.iter().zip(&self.intervals) {
            canvas.line((x(point.0), y(*low)), (x(point.0), y(*high)), "#D55E00", 1.4);
        }
        if !self.intervals.is_empty() || self.points.len() == 1 {
            for (step, figure) in &self.points {
                canvas.dot(x(*step), y(*figure), 3.0, "#0072B2");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers_that_hold_all_figures() {
        assert_eq!(ticks(0.0, 6.0, 1.0), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(0.0, 3.0, 1.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(0.0, 0.0, 0.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        let loss = ticks(-0.01, 10.9, 0.0);
        assert!(
            loss[0] <= -0.01 && loss[loss.len() - 1] >= 10.9 && loss.len() <= 8,
            "{loss:?}"
        );
        assert_eq!([0.02, 0.5, 1.0, 5.0, 20.0].map(decimals), [2, 1, 0, 0, 0]);
    }
}
