//! [`Comparison`]: two rows of answers to the same questions, by McNemar's test.

use serde::Serialize;

/// Comparison of two rows: the numbers of questions on which only one of them is right, and the p-value of McNemar's exact test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Questions that both answered.
    pub questions: usize,
    /// Questions on which only the first is right.
    pub only_this: usize,
    /// Questions on which only the other is right.
    pub only_other: usize,
    /// Probability of a split at least as uneven if both were equally good: the exact two-sided test of McNemar (1947), in which each
    /// question that tells them apart falls to either side like a fair coin.
    pub p_value: f64,
}

impl Comparison {
    /// Compares answers to the same questions: in each pair, whether the first and whether the other is right.
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let (mut questions, mut only_this, mut only_other) = (0, 0, 0);
        for pair in pairs {
            questions += 1;
            match pair {
                (true, false) => only_this += 1,
                (false, true) => only_other += 1,
                _ => {}
            }
        }
        Self {
            questions,
            only_this,
            only_other,
            p_value: two_sided(only_this, only_other),
        }
    }

    /// Returns the comparison in words, as in "+3 −1, p = 0.625".
    pub fn describe(&self) -> String {
        let p_value = match self.p_value {
            ..0.001 => "p < 0.001".to_owned(),
            p_value => format!("p = {p_value:.3}"),
        };
        format!("+{} −{}, {p_value}", self.only_this, self.only_other)
    }
}

/// The probability that of `one + other` fair coins the rarer side comes at most as often as the rarer of the two, on either side.
fn two_sided(one: usize, other: usize) -> f64 {
    let (rarer, tosses) = (one.min(other), one + other);
    // Probabilities of long rows of tosses underflow, their logarithms do not.
    let mut log_probability = -(tosses as f64) * std::f64::consts::LN_2;
    let mut total = log_probability.exp();
    for heads in 0..rarer {
        log_probability += ((tosses - heads) as f64 / (heads + 1) as f64).ln();
        total += log_probability.exp();
    }
    (2.0 * total).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_fair_coins() {
        // scipy.stats.binomtest(min, n, 0.5).pvalue; the first by hand: 2 · (1 + 10) / 2¹⁰.
        for (one, other, expected) in [
            (1, 9, 22.0 / 1024.0),
            (9, 1, 22.0 / 1024.0),
            (0, 0, 1.0),
            (5, 5, 1.0),
            (0, 5, 2.0 / 32.0),
            (2, 3, 1.0),
            (1000, 1100, 0.030_720_7),
        ] {
            let found = two_sided(one, other);
            assert!((found - expected).abs() < 1e-6, "{one} {other}: {found}");
        }
    }

    #[test]
    fn pairs_that_agree_say_nothing() {
        let pairs = [
            (true, true),
            (false, false),
            (true, false),
            (true, false),
            (false, true),
        ];
        let comparison = Comparison::of(pairs);
        assert_eq!(
            (comparison.questions, comparison.only_this, comparison.only_other),
            (5, 2, 1)
        );
        assert_eq!(comparison.describe(), "+2 −1, p = 1.000");
        assert_eq!(Comparison::of([(true, false); 20]).describe(), "+20 −0, p < 0.001");
    }
}
