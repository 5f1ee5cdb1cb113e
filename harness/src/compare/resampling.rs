//! Intervals and tests of paired differences by resampling.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::report::statistics::{Interval, quantile};

/// Samples of a bootstrap, and of a test.
const SAMPLES: usize = 2_000;
/// Draws of one bootstrap or test, at most: of many pairs fewer samples are enough.
const MAX_DRAWS: usize = 20_000_000;

fn samples(pairs: usize) -> usize {
    (MAX_DRAWS / pairs.max(1)).clamp(200, SAMPLES)
}

/// The percentile bootstrap interval (Efron, 1979) of the mean of paired differences, which holds the middle `confidence` of the means
/// of pairs drawn anew; `None` without pairs.
pub fn interval(differences: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    if differences.is_empty() {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut mean = || {
        let drawn = (0..differences.len()).map(|_| differences[random.random_range(0..differences.len())]);
        drawn.sum::<f64>() / differences.len() as f64
    };
    let mut means: Vec<f64> = (0..samples(differences.len())).map(|_| mean()).collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some([quantile(&means, tail)?, quantile(&means, 1.0 - tail)?])
}

/// The p-value of a paired difference by the test of random signs (Fisher, 1935): how often the mean is at least as far from 0 when each
/// difference is as likely to have either sign, as it is where the two runs do not differ. 1 without pairs.
///
/// Samples cannot tell apart probabilities below one in their number. Where no sample is as far, the tail of the normal distribution that
/// the mean has for many pairs takes their place, so that one clear difference is found among hundreds of figures.
pub fn sign_flip_p_value(differences: &[f64], seed: u64) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let samples = samples(differences.len());
    let mut as_far = || {
        let mut sum = 0.0;
        let mut bits = 0_u64;
        for (number, difference) in differences.iter().enumerate() {
            if number % 64 == 0 {
                bits = random.random();
            }
            sum += if bits & 1 == 1 { *difference } else { -difference };
            bits >>= 1;
        }
        // Sums of the same differences differ in their last digits.
        sum.abs() >= observed * (1.0 - 1e-12)
    };
    let count = (0..samples).filter(|_| as_far()).count();
    // The observed signs are one of the possible ones, so that the test keeps its level (Phipson and Smyth, 2010).
    let sampled = (count + 1) as f64 / (samples + 1) as f64;
    match count {
        0 => sampled.min(normal_p_value(differences)),
        _ => sampled,
    }
}

/// The p-value of [`sign_flip_p_value`] where the sum of differences with random signs is taken to be normally distributed. It is never
/// below that of differences which all have one sign and one size, of which two assignments of signs are as far.
fn normal_p_value(differences: &[f64]) -> f64 {
    let deviation = differences.iter().map(|value| value * value).sum::<f64>().sqrt();
    let distance = differences.iter().sum::<f64>().abs() / deviation;
    if !distance.is_finite() {
        return 1.0;
    }
    let density = (-distance * distance / 2.0).exp() / std::f64::consts::TAU.sqrt();
    // Sampford's upper bound of Mills' ratio (1953): beyond two deviations it is less than a hundredth too large.
    let tail = density * 4.0 / (3.0 * distance + (distance * distance + 8.0).sqrt());
    let least = (1.0 - differences.len() as f64).exp2();
    (2.0 * tail).max(least).min(1.0)
}

/// Adjusts several p-values (Holm, 1979), so that the probability that any of them is small by chance is that of a single one.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, place) in order.into_iter().enumerate() {
        largest = largest.max(p_values[place] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[place] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_multiplies_the_smallest_most() {
        // R: p.adjust(c(0.01, 0.04, 0.03), "holm") = 0.03 0.06 0.06
        let adjusted = holm(&[0.01, 0.04, 0.03]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }

    #[test]
    fn signs_that_all_agree_are_rare_by_chance() {
        let same: Vec<f64> = (1..=12).map(f64::from).collect();
        let both: Vec<f64> = same
            .iter()
            .map(|value| if *value as i64 % 2 == 0 { *value } else { -value })
            .collect();
        // 2 of 4096 assignments of signs.
        assert!(sign_flip_p_value(&same, 1) < 0.01);
        assert!(sign_flip_p_value(&both, 1) > 0.3);
        assert_eq!(sign_flip_p_value(&[0.0; 5], 1), 1.0);
    }

    #[test]
    fn the_normal_tail_is_that_of_tables() {
        // Differences of one size and one sign are the root of their number of deviations away.
        for (pairs, expected) in [(9, 0.002_699_8), (16, 6.3342e-5), (36, 1.973e-9)] {
            let found = normal_p_value(&vec![0.5; pairs]);
            let expected = f64::max(expected, (1.0 - pairs as f64).exp2());
            assert!((found / expected - 1.0).abs() < 0.01, "{pairs}: {found} for {expected}");
        }
        assert!(sign_flip_p_value(&[0.1; 60], 1) < 1e-12);
        assert_eq!(normal_p_value(&[0.0; 4]), 1.0);
    }
}
