//! Medians, percentiles, and bootstrap confidence intervals.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution};
use serde::Serialize;

/// Lower and upper end of a confidence interval.
pub type Interval = [f64; 2];

/// Percentile bootstrap (Efron, 1979): the schemas are drawn anew with replacement, and the interval holds the middle [`Bootstrap::confidence`] of
/// the resulting figures.
///
/// Each interval starts from the seed, so it depends on its own figures only: neither on the order of records nor on
/// that of rows. A share of 0 or 1 has an interval without width, as every sample drawn from it is like it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// Probability that an interval is meant to hold the true figure, above 0 and below 1.
    pub confidence: f64,
    /// Seed of the samples.
    pub seed: u64,
    /// Number of samples for a median.
    pub resamples: usize,
}

impl Bootstrap {
    /// Samples for a median where nothing else is asked for.
    pub const RESAMPLES: usize = 10_000;

    /// The interval of the share `part` / `whole`; `None` of nothing.
    ///
    /// The number of hits in a sample is binomial, so the ends are its quantiles: what infinitely many samples tend to.
    pub fn share(&self, part: usize, whole: usize) -> Option<Interval> {
        if whole == 0 {
            return None;
        }
        let share = part as f64 / whole as f64;
        Some(
            self.tails()
                .map(|q| binomial_quantile(whole, share, q) as f64 / whole as f64),
        )
    }

    /// The interval of the median of `values`; `None` of nothing. Takes the same time for any number of values, once
    /// they are sorted.
    ///
    /// The median of a sample depends only on which values are in its middle. With values numbered in ascending order,
    /// a draw is the number `floor(n · u)` with `u` uniform, and the m-th smallest of n such `u` has a beta distribution:
    /// one is drawn in place of n.
    pub fn median(&self, values: impl IntoIterator<Item = f64>) -> Option<Interval> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len();
        // The lower of the two middle places, from 1; the only one where the number of values is odd.
        let lower = count.div_ceil(2);
        let position = Beta::new(lower as f64, (count + 1 - lower) as f64).ok()?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let value_at = |position: f64| values[((position * count as f64) as usize).min(count - 1)];
        let mut medians: Vec<f64> = (0..self.resamples.max(1))
            .map(|_| {
                let below: f64 = position.sample(&mut random);
                if count % 2 == 1 {
                    return value_at(below);
                }
                // The smallest of the draws above it, of which there are as many as below.
                let rest = random.random::<f64>().powf(1.0 / lower as f64);
                let above = 1.0 - (1.0 - below) * rest;
                f64::midpoint(value_at(below), value_at(above))
            })
            .collect();
        medians.sort_unstable_by(f64::total_cmp);
        let [low, high] = self.tails().map(|q| quantile(&medians, q));
        Some([low?, high?])
    }

    /// The probabilities of ending below the lower end and below the upper end.
    fn tails(&self) -> [f64; 2] {
        let tail = (1.0 - self.confidence) / 2.0;
        [tail, 1.0 - tail]
    }
}

/// The Wilson score interval (Wilson, 1927) of the share `part` / `whole`, for a confidence of 95 %; `None` of nothing. It
/// has width even at 0 and 1.
pub fn wilson(part: usize, whole: usize) -> Option<Interval> {
    wilson_of_share(part as f64 / whole as f64, whole)
}

/// The interval of [`wilson`] for another confidence, above 0 and below 1.
pub fn wilson_at(part: usize, whole: usize, confidence: f64) -> Option<Interval> {
    score_interval(part as f64 / whole as f64, whole, deviations(confidence))
}

/// The Wilson score interval of `share`, the mean of `whole` figures from 0 to 1: as wide as that of hits and misses, which spread most among such
/// figures.
pub fn wilson_of_share(share: f64, whole: usize) -> Option<Interval> {
    score_interval(share, whole, DEVIATIONS)
}

fn score_interval(share: f64, whole: usize, deviations: f64) -> Option<Interval> {
    let (count, squared) = (whole as f64, deviations * deviations);
    let centre = share + squared / (2.0 * count);
    let width = deviations * (share * (1.0 - share) / count + squared / (4.0 * count * count)).sqrt();
    let [low, high] = [centre - width, centre + width].map(|end| (end / (1.0 + squared / count)).clamp(0.0, 1.0));
    // Rounding may leave a share of all or nothing beside its interval.
    (whole > 0).then_some([low.min(share), high.max(share)])
}

/// Ratio of two paired figures: its geometric mean over all pairs, with an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Geometric mean of the ratios of all pairs.
    pub mean: f64,
    /// The interval of that mean, by the normal distribution of logarithms.
    pub interval: Interval,
    /// Number of pairs.
    pub pairs: usize,
}

impl Ratio {
    /// The ratio of the first of each pair to the second, with a 95 % interval; `None` without a pair of figures above 0.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        Self::within(pairs, DEVIATIONS)
    }

    /// The ratio of [`Ratio::of`] with an interval of another confidence, above 0 and below 1.
    pub fn of_at(pairs: impl IntoIterator<Item = (f64, f64)>, confidence: f64) -> Option<Self> {
        Self::within(pairs, deviations(confidence))
    }

    fn within(pairs: impl IntoIterator<Item = (f64, f64)>, deviations: f64) -> Option<Self> {
        let above_zero = pairs.into_iter().filter(|(one, other)| *one > 0.0 && *other > 0.0);
        let logarithms: Vec<f64> = above_zero.map(|(one, other)| (one / other).ln()).collect();
        let count = logarithms.len() as f64;
        let mean = logarithms.iter().sum::<f64>() / count;
        let squares: f64 = logarithms.iter().map(|value| (value - mean).powi(2)).sum();
        let error = match logarithms.len() {
            0 => return None,
            1 => 0.0,
            _ => deviations * (squares / (count - 1.0) / count).sqrt(),
        };
        Some(Self {
            mean: mean.exp(),
            interval: [mean - error, mean + error].map(f64::exp),
            pairs: logarithms.len(),
        })
    }

    /// Returns the number of schemas that the pairs are of, as in "1 schema".
    pub fn schemas(&self) -> String {
        match self.pairs {
            1 => "1 schema".to_owned(),
            pairs => format!("{pairs} schemas"),
        }
    }

    /// Returns the ratio in words, as in "1.9 times (1.7 to 2.1)".
    pub fn describe(&self) -> String {
        let times = |value: f64| match value {
            ..10.0 => format!("{value:.2}"),
            ..100.0 => format!("{value:.1}"),
            _ => format!("{value:.0}"),
        };
        let [low, high] = self.interval.map(times);
        match self.pairs {
            // One pair tells nothing about how others would differ from it.
            1 => format!("{} times", times(self.mean)),
            _ => format!("{} times ({low} to {high})", times(self.mean)),
        }
    }
}

/// The normal distribution holds 95 % within this many standard deviations.
pub const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// The number of standard deviations within which the normal distribution holds `confidence`, above 0 and below 1.
fn deviations(confidence: f64) -> f64 {
    // Marsaglia's series (2004) of the probability within `x` deviations.
    let within = |x: f64| {
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > sum * f64::EPSILON {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        2.0 * sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
    };
    // Beyond nine deviations, the probability is 1 in this precision.
    let (mut low, mut high) = (0.0, 9.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match within(middle) < confidence {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// The smallest number of hits in `trials` that is exceeded with a probability of at most `1 - q`, where each trial hits
/// with probability `chance`.
fn binomial_quantile(trials: usize, chance: f64, q: f64) -> usize {
    if chance <= 0.0 || chance >= 1.0 {
        return if chance <= 0.0 { 0 } else { trials };
    }
    // Probabilities far from the mean underflow, their logarithms do not.
    let odds = (chance / (1.0 - chance)).ln();
    let mut log_probability = trials as f64 * (1.0 - chance).ln();
    let mut total = log_probability.exp();
    let mut hits = 0;
    while total < q && hits < trials {
        log_probability += ((trials - hits) as f64 / (hits + 1) as f64).ln() + odds;
        total += log_probability.exp();
        hits += 1;
    }
    hits
}

/// Median and tail of a set of figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Half are at most this.
    pub median: f64,
    /// 95 in 100 are at most this.
    pub p95: f64,
    /// 99 in 100 are at most this.
    pub p99: f64,
}

impl Spread {
    /// The spread of `values`; `None` where there are none. NaN counts as larger than everything.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            median: quantile(&values, 0.5)?,
            p95: quantile(&values, 0.95)?,
            p99: quantile(&values, 0.99)?,
        })
    }
}

/// The `q`-quantile of sorted values, interpolated linearly between neighbours (NumPy's default).
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numpys() {
        // numpy.quantile([1, 2, 4, 8, 16], [0, .5, .95, .99, 1]) = [1, 4, 14.4, 15.68, 16]
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        for (q, expected) in [(0.0, 1.0), (0.5, 4.0), (0.95, 14.4), (0.99, 15.68), (1.0, 16.0)] {
            let found = quantile(&values, q).unwrap();
            assert!((found - expected).abs() < 1e-9, "{q}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(Spread::of([3.0, 1.0]).unwrap().median, 2.0);
        assert_eq!(Spread::of([]), None);
    }

    const BOOTSTRAP: Bootstrap = Bootstrap {
        confidence: 0.95,
        seed: 1,
        resamples: Bootstrap::RESAMPLES,
    };

    fn with_confidence(confidence: f64) -> Bootstrap {
        Bootstrap {
            confidence,
            ..BOOTSTRAP
        }
    }

    #[test]
    fn intervals_of_shares_are_binomial() {
        // Quantiles 0.025 and 0.975 of the binomial distribution, summed exactly with Python's fractions and decimal.
        let cases = [
            (33, 58, [26.0 / 58.0, 40.0 / 58.0]),
            (1, 4, [0.0 / 4.0, 3.0 / 4.0]),
            (0, 9, [0.0 / 9.0, 0.0 / 9.0]),
            (9, 9, [9.0 / 9.0, 9.0 / 9.0]),
            (29, 33, [25.0 / 33.0, 32.0 / 33.0]),
            (1500, 1943, [1464.0 / 1943.0, 1536.0 / 1943.0]),
            (5, 5000, [1.0 / 5000.0, 10.0 / 5000.0]),
        ];
        for (part, whole, expected) in cases {
            assert_eq!(BOOTSTRAP.share(part, whole), Some(expected), "{part} of {whole}");
        }
        assert_eq!(BOOTSTRAP.share(0, 0), None);
        let wide = BOOTSTRAP.share(33, 58).unwrap();
        let narrow = with_confidence(0.5).share(33, 58).unwrap();
        assert!(wide[0] < narrow[0] && narrow[1] < wide[1]);
    }

    #[test]
    fn wilson_intervals_are_those_of_the_formula() {
        // scipy.stats.binomtest(part, whole).proportion_ci(method="wilson")
        for (part, whole, expected) in [
            (0, 10, [0.0, 0.277_532_799_9]),
            (10, 10, [0.722_467_200_1, 1.0]),
            (422, 2000, [0.193_680_720_9, 0.229_427_332_5]),
        ] {
            let found = wilson(part, whole).unwrap();
            let close = found
                .iter()
                .zip(expected)
                .all(|(end, expected)| (end - expected).abs() < 1e-9);
            assert!(close, "{part} of {whole}: {found:?}");
        }
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn wilson_intervals_of_other_confidences_have_other_widths() {
        // scipy.stats.norm.ppf((1 + confidence) / 2)
        for (confidence, expected) in [
            (0.5, 0.674_489_750_2),
            (0.99, 2.575_829_303_5),
            (0.999_999, 4.891_638_475_7),
        ] {
            assert!((deviations(confidence) - expected).abs() < 1e-9, "{confidence}");
        }
        assert!((deviations(0.95) - DEVIATIONS).abs() < 1e-12);
        let [low, high] = wilson_at(58, 58, 0.95).unwrap();
        assert!((low - 0.937_882_1).abs() < 1e-6 && high == 1.0, "{low} {high}");
        assert_eq!(wilson_at(0, 0, 0.95), None);
    }

    #[test]
    fn ratios_are_means_of_logarithms() {
        let ratio = Ratio::of([(2.0, 1.0), (8.0, 1.0), (0.0, 1.0)]).unwrap();
        assert!((ratio.mean - 4.0).abs() < 1e-9 && ratio.pairs == 2, "{ratio:?}");
        // The logarithms are 2 ± 1 to the base 2, their mean's standard error 1.
        assert!(
            (ratio.interval[1] / 4.0 - 2_f64.powf(DEVIATIONS)).abs() < 1e-9,
            "{ratio:?}"
        );
        assert_eq!(Ratio::of([(3.0, 2.0)]).unwrap().describe(), "1.50 times");
        let pairs = [(3.0, 2.0), (3.0, 2.0)];
        assert_eq!(Ratio::of(pairs).unwrap().describe(), "1.50 times (1.50 to 1.50)");
        assert_eq!(Ratio::of([]), None);
    }

    #[test]
    fn intervals_of_medians_are_those_of_all_samples() {
        // All 3³ and 4⁴ samples counted: P(median = 2) = 7/27 for three values; for four see the ends given.
        let three = [9.0, 2.0, 5.0];
        assert_eq!(with_confidence(0.56).median(three), Some([2.0, 9.0]), "7/27 > 0.22");
        assert_eq!(with_confidence(0.40).median(three), Some([5.0, 5.0]), "7/27 < 0.30");
        let four = [1.0, 2.0, 4.0, 8.0];
        // P(median ≤ 1) = 0.05 and ≤ 1.5 = 0.17; ≤ 5 = 0.83 and ≤ 6 = 0.95
        assert_eq!(with_confidence(0.8).median(four), Some([1.5, 6.0]));
        assert_eq!(BOOTSTRAP.median([7.0]), Some([7.0, 7.0]));
        assert_eq!(BOOTSTRAP.median([]), None);
    }

    #[test]
    fn intervals_of_many_values_agree_with_plain_resampling() {
        // Percentiles 2.5 and 97.5 of the medians of samples drawn value by value, of i² / 100 for i in 0..n; computed in
        // Python with random.choices, 40,000 samples (8,000 of the largest).
        let squares = |count: u32| (0..count).map(|i| f64::from(i * i) / 100.0);
        for (count, [low, high]) in [(40, [1.825, 6.505]), (41, [1.960, 6.760]), (301, [176.890, 278.890])] {
            let [found_low, found_high] = BOOTSTRAP.median(squares(count)).unwrap();
            assert!((found_low / low - 1.0).abs() < 0.02, "{count}: {found_low}");
            assert!((found_high / high - 1.0).abs() < 0.02, "{count}: {found_high}");
        }
    }

    #[test]
    fn intervals_depend_on_figures_and_seed_only() {
        let values: Vec<f64> = (0..50).map(|i| f64::from(i).sqrt()).collect();
        let backwards = values.iter().rev().copied();
        assert_eq!(BOOTSTRAP.median(values.clone()), BOOTSTRAP.median(backwards));
        let other = Bootstrap {
            seed: 2,
            resamples: 7,
            ..BOOTSTRAP
        };
        assert_ne!(BOOTSTRAP.median(values.clone()), other.median(values));
    }
}
