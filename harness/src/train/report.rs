//! The tables of a training: evaluations with intervals, and means over steps.

use serde_json::{Value, json};

use super::record::{Measured, Phase, StepMetrics, TrainRecord};
use super::samples::SplitSamples;
use crate::report::statistics::wilson;
use crate::report::table::{Style, table};

/// Largest number of rows for a phase in the table of steps; each row has the means over a part of the phase.
const PARTS: usize = 10;

/// Records of a training and its samples, from which tables are made.
pub struct TrainReport<'a> {
    /// All records, in the order of the steps.
    pub records: Vec<&'a TrainRecord>,
    /// The samples of the train split.
    pub train: &'a SplitSamples,
    /// The samples of the test split.
    pub test: &'a SplitSamples,
}

/// Consecutive steps of a phase, with the means of their figures.
struct Part {
    phase: Phase,
    first: usize,
    last: usize,
    mean: StepMetrics,
}

fn per_cent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl<'a> TrainReport<'a> {
    /// Makes the report on `records`, which it sorts by step.
    pub fn new(records: &'a [TrainRecord], train: &'a SplitSamples, test: &'a SplitSamples) -> Self {
        let mut records: Vec<&TrainRecord> = records.iter().collect();
        records.sort_by_key(|record| {
            (
                record.key.phase,
                record.key.step,
                record.key.what == Measured::Evaluation,
            )
        });
        Self { records, train, test }
    }

    /// Returns the steps of a phase with their figures.
    pub fn steps(&self, phase: Phase) -> impl Iterator<Item = (usize, &'a StepMetrics)> {
        let of_phase = self.records.iter().filter(move |record| record.key.phase == phase);
        of_phase.filter_map(|record| Some((record.key.step, record.metrics.as_ref()?)))
    }

    /// Returns a sentence on the numbers of samples that fit the limits.
    pub fn room(&self) -> String {
        let of = |split: &SplitSamples, name: &str| {
            let (fitting, all) = (split.fitting.len(), split.generated);
            let share = per_cent(fitting as f64 / all.max(1) as f64);
            format!("{fitting} of {all} samples of the {name} split ({share})")
        };
        format!(
            "There was room for {} and {}; the others are left out. No schema is in both splits. Rates are of greedy, unconstrained replies, with 95 % Wilson intervals.\n",
            of(self.train, "train"),
            of(self.test, "test"),
        )
    }

    /// Returns the evaluations as a table.
    pub fn evaluations(&self, style: Style) -> String {
        let header = [
            "after", "replies", "passed", "rate", "interval", "cut off", "tokens", "seconds",
        ];
        let mut rows = table(header, 1, style);
        for record in &self.records {
            let Some(evaluation) = &record.evaluation else {
                continue;
            };
            let replies = evaluation.replies.max(1) as f64;
            let interval = wilson(evaluation.passed, evaluation.replies);
            rows.add_row([
                match record.key.step {
                    0 => "start".to_owned(),
                    step => format!("{} step {step}", record.key.phase.name()),
                },
                evaluation.replies.to_string(),
                evaluation.passed.to_string(),
                per_cent(evaluation.rate()),
                interval.map_or_else(String::new, |[low, high]| {
                    format!("{} to {}", per_cent(low), per_cent(high))
                }),
                per_cent(evaluation.truncated as f64 / replies),
                format!("{:.0}", evaluation.tokens),
                format!("{:.0}", evaluation.seconds),
            ]);
        }
        format!("{rows}\n")
    }

    /// Returns the table of means over parts of the steps.
    pub fn progress(&self, style: Style) -> String {
        let header = [
            "steps",
            "loss",
            "reward",
            "passed",
            "groups with spread",
            "KL",
            "cut off",
            "tokens",
            "gradient norm",
            "seconds a step",
        ];
        let mut rows = table(header, 1, style);
        let share = |value: Option<f64>| value.map_or_else(String::new, per_cent);
        let figure = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
        for Part {
            phase,
            first,
            last,
            mean,
        } in self.parts()
        {
            rows.add_row([
                match first == last {
                    true => format!("{} {first}", phase.name()),
                    false => format!("{} {first} to {last}", phase.name()),
                },
                format!("{:.4}", mean.loss),
                figure(mean.reward),
                share(mean.passed),
                share(mean.spread),
                figure(mean.kl),
                share(mean.truncated),
                format!("{:.0}", mean.tokens),
                format!("{:.2}", mean.gradient_norm),
                format!("{:.2}", mean.seconds),
            ]);
        }
        format!("{rows}\n")
    }

    /// Divides each phase into at most [`PARTS`] parts.
    fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for phase in [Phase::Supervised, Phase::Grpo] {
            let steps: Vec<(usize, &StepMetrics)> = self.steps(phase).collect();
            for part in steps.chunks(steps.len().div_ceil(PARTS).max(1)) {
                let mean = |value: &dyn Fn(&StepMetrics) -> f64| {
                    part.iter().map(|(_, metrics)| value(metrics)).sum::<f64>() / part.len() as f64
                };
                let mean_of = |value: &dyn Fn(&StepMetrics) -> Option<f64>| {
                    let all: Option<Vec<f64>> = part.iter().map(|(_, metrics)| value(metrics)).collect();
                    all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
                };
                parts.push(Part {
                    phase,
                    first: part[0].0,
                    last: part[part.len() - 1].0,
                    mean: StepMetrics {
                        loss: mean(&|one| one.loss),
                        reward: mean_of(&|one| one.reward),
                        passed: mean_of(&|one| one.passed),
                        spread: mean_of(&|one| one.spread),
                        kl: mean_of(&|one| one.kl),
                        clipped: mean_of(&|one| one.clipped),
                        truncated: mean_of(&|one| one.truncated),
                        tokens: mean(&|one| one.tokens),
                        gradient_norm: mean(&|one| one.gradient_norm),
                        learning_rate: mean(&|one| one.learning_rate),
                        seconds: mean(&|one| one.seconds),
                    },
                });
            }
        }
        parts
    }

    /// Returns numbers of samples, evaluations and means over steps as JSON.
    pub fn json(&self) -> Value {
        let evaluations = self.records.iter().filter_map(|record| {
            let evaluation = record.evaluation.as_ref()?;
            let mut row = serde_json::to_value(evaluation).unwrap_or_default();
            row["phase"] = json!(record.key.phase);
            row["step"] = json!(record.key.step);
            row["rate"] = json!(evaluation.rate());
            row["rate_ci"] = json!(wilson(evaluation.passed, evaluation.replies));
            Some(row)
        });
        let evaluations: Vec<Value> = evaluations.collect();
        let samples = |split: &SplitSamples| json!({ "generated": split.generated, "fitting": split.fitting.len() });
        let steps = self.parts().into_iter().map(|part| {
            let mut row = serde_json::to_value(&part.mean).unwrap_or_default();
            row["phase"] = json!(part.phase);
            row["steps"] = json!([part.first, part.last]);
            row
        });
        json!({
            "samples": { "train": samples(self.train), "test": samples(self.test) },
            "evaluations": evaluations,
            "steps": steps.collect::<Vec<Value>>(),
        })
    }
}
