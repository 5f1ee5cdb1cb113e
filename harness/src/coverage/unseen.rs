//! [`Unseen`]: estimate of the number of schemas with a defect that none of the documents tried has shown.
//!
//! Schemas with a defect are like animals in a wood, and documents like the nights on which traps stand there: the number of animals never caught is
//! estimated from those that were caught once and twice (A. Chao, "Estimating the population size for capture-recapture data with unequal
//! catchability", Biometrics 43, 1987). If a defect shows in a document of its schema with a probability that is the same for all documents of the
//! schema, and may differ between schemas, then by the inequality of Cauchy and Schwarz the expected number of schemas whose defect no document shows
//! is at least `(t − 1) / t · f₁² / (2 f₂)`, where `f₁` and `f₂` are the expected numbers of schemas of which one document and two documents show a
//! defect, and `t` is the smallest number of documents of a schema. Documents of a schema resemble one another, so that few defects show in just one
//! of them: also for that reason the figure is a lower bound.
//!
//! No estimate sees defects that show in hardly any document, such as one that a single number sets off. [`detection_limit`] gives the share of
//! documents in which a defect has to show to be found: it is the "rule of three".

use serde::Serialize;

use crate::report::statistics::{DEVIATIONS, Interval};

/// The probability with which a defect at the [`detection_limit`] shows in no document.
const MISSED: f64 = 0.05;

/// Verdicts on the documents of one schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Documents with a verdict.
    pub documents: usize,
    /// Documents on which the verdict is wrong.
    pub wrong: usize,
}

/// Estimate of the number of schemas with a defect that no document has shown, a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unseen {
    /// Schemas of which exactly one document shows a defect.
    pub shown_once: usize,
    /// Schemas of which exactly two documents show a defect.
    pub shown_twice: usize,
    /// The estimate: a number of schemas, at most those of which no document shows a defect. `None` where defects are shown once and none twice, from which
    /// nothing follows.
    pub schemas: Option<f64>,
    /// 95 % interval of the estimate; none where the estimate is zero, whose spread is not known.
    pub interval: Option<Interval>,
}

impl Unseen {
    /// The estimate over `schemas`. Those with fewer than two documents tell nothing and are left out; `None` where no others are there.
    pub fn of(schemas: &[Tried]) -> Option<Self> {
        let told: Vec<&Tried> = schemas.iter().filter(|one| one.documents >= 2).collect();
        let fewest = told.iter().map(|one| one.documents).min()?;
        let shown = |times: usize| told.iter().filter(|one| one.wrong == times).count();
        let (flawless, shown_once, shown_twice) = (shown(0) as f64, shown(1), shown(2));
        let unseen = |schemas: Option<f64>, interval: Option<Interval>| Self {
            shown_once,
            shown_twice,
            schemas: schemas.map(|schemas| schemas.min(flawless)),
            interval: interval.map(|ends| ends.map(|end| end.min(flawless))),
        };
        Some(match (shown_once, shown_twice) {
            (0, _) => unseen(Some(0.0), None),
            (_, 0) => unseen(None, None),
            (once, twice) => {
                let factor = (fewest - 1) as f64 / fewest as f64;
                let ratio = once as f64 / twice as f64;
                let estimate = factor * once as f64 * ratio / 2.0;
                let spread = factor * ratio.powi(2) / 2.0
                    + factor.powi(2) * ratio.powi(3)
                    + factor.powi(2) * ratio.powi(4) / 4.0;
                unseen(Some(estimate), Some(log_normal(estimate, twice as f64 * spread)))
            }
        })
    }

    /// The upper limit of [`Self::interval`], or the estimate where there is none.
    pub fn at_most(&self) -> Option<f64> {
        self.interval.map(|[_, high]| high).or(self.schemas)
    }
}

/// Chao's 95 % interval: the logarithm of the number of unseen schemas is taken to be normal, so that the number is never negative.
fn log_normal(estimate: f64, variance: f64) -> Interval {
    let spread = (1.0 + variance.max(0.0) / estimate.powi(2)).ln().sqrt();
    let times = (DEVIATIONS * spread).exp();
    [estimate / times, estimate * times]
}

/// The share of a schema's documents in which a defect has to show so that one of `documents`, made alike and independently, shows it with a
/// probability of 95 %: about three over their number. Nothing is known of defects that show more seldom.
pub fn detection_limit(documents: usize) -> f64 {
    1.0 - MISSED.powf(1.0 / documents.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(wrong: &[usize], documents: usize) -> Vec<Tried> {
        wrong.iter().map(|&wrong| Tried { documents, wrong }).collect()
    }

    #[test]
    fn the_estimate_is_worked_out_from_schemas_shown_once_and_twice() {
        // Four schemas shown once, two shown twice, one often, of five documents each: 4/5 · 4² / (2 · 2).
        let mut wrong = vec![1, 1, 1, 1, 2, 2, 5];
        wrong.extend([0; 40]);
        let unseen = Unseen::of(&tried(&wrong, 5)).unwrap();
        assert_eq!((unseen.shown_once, unseen.shown_twice), (4, 2));
        let estimate = unseen.schemas.unwrap();
        assert!((estimate - 3.2).abs() < 1e-12, "{unseen:?}");
        // Variance 2 · (0.8/2 · 4 + 0.64 · 8 + 0.64/4 · 16) = 18.56; e^(1.96 · √ln(1 + 18.56/10.24)) = 7.338.
        let [low, high] = unseen.interval.unwrap();
        assert!(
            (low - 3.2 / 7.338).abs() < 1e-3 && (high - 3.2 * 7.338).abs() < 1e-2,
            "{low} {high}"
        );
        assert_eq!(unseen.at_most(), Some(high));
        // No more schemas can have unseen defects than show none.
        let few = Unseen::of(&tried(&wrong[..9], 5)).unwrap();
        assert_eq!((few.schemas, few.at_most()), (Some(2.0), Some(2.0)));
    }

    #[test]
    fn nothing_follows_from_schemas_shown_once_where_none_is_shown_twice() {
        let unseen = Unseen::of(&tried(&[1, 1, 1, 7, 0, 0], 10)).unwrap();
        assert_eq!((unseen.shown_once, unseen.schemas, unseen.at_most()), (3, None, None));
        // Without any defect, there is no sign of unseen ones.
        let unseen = Unseen::of(&tried(&[0, 0, 0], 10)).unwrap();
        assert_eq!(
            (unseen.schemas, unseen.interval, unseen.at_most()),
            (Some(0.0), None, Some(0.0))
        );
    }

    #[test]
    fn the_schema_with_the_fewest_documents_bounds_the_estimate_and_single_documents_tell_nothing() {
        let mut schemas = tried(&[1, 1, 2, 0, 0], 100);
        schemas.extend(tried(&[0], 2));
        // 1/2 · 2² / (2 · 1).
        let estimate = Unseen::of(&schemas).unwrap().schemas.unwrap();
        assert!((estimate - 1.0).abs() < 1e-12, "{estimate}");
        let single = tried(&[1, 0, 1], 1);
        assert_eq!(Unseen::of(&single), None);
        schemas.extend(single);
        assert_eq!(Unseen::of(&schemas).unwrap().shown_once, 2);
        assert_eq!(Unseen::of(&[]), None);
    }

    #[test]
    fn the_estimate_is_below_what_is_unseen() {
        // Expected numbers for a hundred schemas of twenty documents each: in half of them a defect shows in one of ten documents, in half in one of fifty.
        let (documents, halves) = (20, [0.1_f64, 0.02]);
        let binomial = |p: f64, times: i32| {
            let ways = [1.0, 20.0, 190.0][times as usize];
            50.0 * ways * p.powi(times) * (1.0 - p).powi(documents - times)
        };
        let expected = |times| halves.iter().map(|&p| binomial(p, times)).sum::<f64>();
        let wrong = [0, 1, 2].map(|times| vec![times as usize; expected(times).round() as usize]);
        let unseen = Unseen::of(&tried(&wrong.concat(), documents as usize)).unwrap();
        let (estimate, truth) = (unseen.schemas.unwrap(), expected(0));
        assert!(estimate < truth && estimate > truth / 2.0, "{estimate} of {truth}");
    }

    #[test]
    fn the_limit_is_the_rule_of_three() {
        assert!((detection_limit(1) - 0.95).abs() < 1e-12);
        assert!((detection_limit(100) - 0.0295).abs() < 1e-4);
        assert!((1.0 - detection_limit(40)).powi(40) - 0.05 < 1e-12);
    }
}
