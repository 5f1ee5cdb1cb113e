//! [`Difference`]: the change of a figure between two sets of runs.

use serde::Serialize;

use super::pairs::{Group, Pair, PairedGroup};
use super::resampling::{holm, interval, sign_flip_p_value};
use crate::report::mcnemar::Comparison;
use crate::report::statistics::Interval;

/// Probability with which two equal runs may look different in anything.
pub const LEVEL: f64 = 0.05;

/// Options of the statistics by which differences are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonMethod {
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Seed of the samples.
    pub seed: u64,
    /// Whether times are compared.
    pub times: bool,
    /// Share by which a time has to grow or shrink to be a finding.
    pub tolerance: f64,
}

/// Change of a figure of a group between the first and the second runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The command of the runs.
    pub run_of: &'static str,
    /// The model; empty where there is none.
    pub model: String,
    /// The framework.
    pub framework: String,
    /// The dataset.
    pub dataset: String,
    /// The figure: `right`, the share of questions that come out right, or the name of a time.
    pub figure: &'static str,
    /// Number of pairs.
    pub pairs: usize,
    /// The share in the first runs; the geometric mean of times.
    pub before: f64,
    /// The share in the second runs; the geometric mean of times.
    pub after: f64,
    /// Difference of two shares, or ratio of the geometric means of times.
    pub change: f64,
    /// Confidence interval of the change.
    pub interval: Interval,
    /// Probability of a change at least as large if the runs did not differ, adjusted for the number of figures.
    pub p_value: f64,
    /// Judgement on the change: better, worse, or no finding.
    pub finding: Change,
    /// Questions that became right.
    pub became_right: Vec<String>,
    /// Questions that became wrong.
    pub became_wrong: Vec<String>,
}

/// Judgement on a difference between two sets of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Chance is enough to explain the difference.
    None,
    /// The second runs are better.
    Better,
    /// The second runs are worse.
    Worse,
}

impl Difference {
    /// Whether the figure is a time, of which less is better.
    pub fn is_time(&self) -> bool {
        self.figure != RIGHT
    }
}

/// Name of the figure "share of questions that come out right".
pub const RIGHT: &str = "right";

/// Returns the differences of all groups. A finding allows for the number of comparisons: its p-value is adjusted by Holm's method, and its interval
/// does not contain the change of none.
pub fn differences(groups: &[PairedGroup<'_>], method: ComparisonMethod) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for (group, pairs) in groups {
        found.push(of_right(group, pairs, method));
        if method.times {
            found.extend(of_times(group, pairs, method));
        }
    }
    let adjusted = holm(&found.iter().map(|one| one.p_value).collect::<Vec<_>>());
    for (difference, p_value) in found.iter_mut().zip(adjusted) {
        difference.p_value = p_value;
        difference.finding = finding(difference, method);
    }
    found
}

fn finding(difference: &Difference, method: ComparisonMethod) -> Change {
    let (change, [low, high]) = (difference.change, difference.interval);
    let none = if difference.is_time() { 1.0 } else { 0.0 };
    let is_outside = low > none || high < none;
    let is_large = !difference.is_time() || change > 1.0 + method.tolerance || change < 1.0 / (1.0 + method.tolerance);
    match difference.p_value <= LEVEL && is_outside && is_large {
        false => Change::None,
        true if (change > none) == difference.is_time() => Change::Worse,
        true => Change::Better,
    }
}

fn of_right(group: &Group, pairs: &[Pair<'_>], method: ComparisonMethod) -> Difference {
    let named = |wanted: (bool, bool)| -> Vec<String> {
        let changed = pairs
            .iter()
            .filter(|(_, one, other)| (one.right, other.right) == wanted);
        changed.map(|(name, ..)| (*name).to_owned()).collect()
    };
    let share = |right: fn(&Pair<'_>) -> bool| {
        pairs.iter().filter(|pair| right(pair)).count() as f64 / pairs.len().max(1) as f64
    };
    let each: Vec<f64> = pairs
        .iter()
        .map(|(_, one, other)| f64::from(u8::from(other.right)) - f64::from(u8::from(one.right)))
        .collect();
    let (before, after) = (share(|pair| pair.1.right), share(|pair| pair.2.right));
    let test = Comparison::of(pairs.iter().map(|(_, one, other)| (one.right, other.right)));
    Difference {
        figure: RIGHT,
        pairs: pairs.len(),
        before,
        after,
        change: after - before,
        interval: interval(&each, method.confidence, method.seed).unwrap_or([0.0; 2]),
        p_value: test.p_value,
        became_right: named((false, true)),
        became_wrong: named((true, false)),
        ..Difference::of_group(group)
    }
}

fn of_times(group: &Group, pairs: &[Pair<'_>], method: ComparisonMethod) -> Vec<Difference> {
    let mut names: Vec<&'static str> = pairs.iter().flat_map(|(_, one, _)| one.times.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    let of_time = |name: &'static str| {
        let both = pairs.iter().filter_map(|(_, one, other)| {
            let (one, other) = (*one.times.get(name)?, *other.times.get(name)?);
            (one > 0.0 && other > 0.0).then(|| (one.ln(), other.ln()))
        });
        let both: Vec<(f64, f64)> = both.collect();
        let each: Vec<f64> = both.iter().map(|(one, other)| other - one).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| (values.sum::<f64>() / both.len() as f64).exp();
        let interval = interval(&each, method.confidence, method.seed)?;
        Some(Difference {
            figure: name,
            pairs: both.len(),
            before: mean(&mut both.iter().map(|(one, _)| *one)),
            after: mean(&mut both.iter().map(|(_, other)| *other)),
            change: mean(&mut each.iter().copied()),
            interval: interval.map(f64::exp),
            p_value: sign_flip_p_value(&each, method.seed),
            ..Difference::of_group(group)
        })
    };
    names.into_iter().filter_map(of_time).collect()
}

impl Difference {
    fn of_group(group: &Group) -> Self {
        Self {
            run_of: group.run_of,
            model: group.model.clone(),
            framework: group.framework.clone(),
            dataset: group.dataset.clone(),
            figure: RIGHT,
            pairs: 0,
            before: 0.0,
            after: 0.0,
            change: 0.0,
            interval: [0.0; 2],
            p_value: 1.0,
            finding: Change::None,
            became_right: Vec::new(),
            became_wrong: Vec::new(),
        }
    }
}
