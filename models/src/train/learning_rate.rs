//! [`LearningRate`]: a warm-up from nothing, then a straight line down to nothing, by the number of the step.

/// Schedule of the learning rate over a run. The rate depends on the step alone, so that a run that was killed goes on alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRate {
    /// The largest rate, at the end of the warm-up.
    pub peak: f64,
    /// Number of steps at the beginning over which the rate rises to its peak.
    pub warm_up: usize,
    /// Number of steps of the whole run, the warm-up included; the rate falls to nothing at its end.
    pub steps: usize,
}

impl LearningRate {
    /// The rate of the step of that number, the first of which is 0.
    pub fn at(&self, step: usize) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let falling = self.steps.saturating_sub(self.warm_up).max(1);
        let left = self.steps.saturating_sub(step);
        self.peak * left.min(falling) as f64 / falling as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_then_falls_to_nothing() {
        let rate = LearningRate {
            peak: 1.0,
            warm_up: 2,
            steps: 6,
        };
        let rates: Vec<f64> = (0..8).map(|step| rate.at(step)).collect();
        assert_eq!(rates, [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]);
        let without = LearningRate { warm_up: 0, ..rate };
        assert_eq!(without.at(0), 1.0);
        let only_warm_up = LearningRate { warm_up: 6, ..rate };
        assert_eq!(only_warm_up.at(5), 1.0);
    }
}
