//! [`TokenLoss`]: the loss that training minimises, a sum over tokens.

use std::ops::{AddAssign, Range};

use candle_core::{Result, Tensor};

/// Loss that training minimises: a sum over the tokens that a model is to write, of all sequences in their order.
#[derive(Clone, Debug)]
pub enum TokenLoss {
    /// The mean of the tokens' negative log-probabilities, in nats.
    Likelihood {
        /// Number of the tokens that count, of all sequences together, by which the sum of their negative log-probabilities is divided.
        tokens: usize,
    },
    /// GRPO's objective.
    Policy(PolicyLoss),
}

/// GRPO's objective (arXiv 2402.03300, section 4.1), its mean taken over tokens: each token counts alike, however long its reply is.
/// Lists have a number for each token.
#[derive(Clone, Debug)]
pub struct PolicyLoss {
    /// Number of tokens that means are taken over; more than the lists have where replies are left out that change nothing.
    pub tokens: usize,
    /// Advantage of each token: how much better its reply was than the mean of its group.
    pub advantages: Vec<f64>,
    /// Log-probabilities under the weights that wrote the replies; `None` where these are the weights that gradients are taken at.
    pub old: Option<Vec<f32>>,
    /// Log-probabilities under the weights that training started from, where it is kept near them.
    pub reference: Option<Vec<f32>>,
    /// Clipping range of the ratio of new to old probability, around 1.
    pub clip: f64,
    /// Weight of the divergence from the start.
    pub kl: f64,
}

/// Value of a loss, with its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossParts {
    /// The loss itself.
    pub loss: f64,
    /// Mean over tokens of the divergence from the start, by the estimator `exp(d) - d - 1` of `d = log(start / now)`, in nats
    /// (Schulman, <http://joschu.net/blog/kl-approx.html>); 0 where there is no start to compare with.
    pub kl: f64,
    /// Share of the tokens whose ratio was clipped.
    pub clipped: f64,
}

impl AddAssign for LossParts {
    fn add_assign(&mut self, other: Self) {
        self.loss += other.loss;
        self.kl += other.kl;
        self.clipped += other.clipped;
    }
}

impl TokenLoss {
    /// Computes the part of the loss of the tokens in `range`, whose log-probabilities are given, and a tensor that has the same
    /// derivative.
    pub(super) fn part(&self, own: &Tensor, range: Range<usize>) -> Result<(Tensor, LossParts)> {
        let numbers = own.detach().to_vec1::<f32>()?;
        match self {
            Self::Likelihood { tokens } => {
                let share = 1.0 / (*tokens).max(1) as f64;
                let sum: f64 = numbers.iter().map(|number| f64::from(*number)).sum();
                let parts = LossParts {
                    loss: -sum * share,
                    ..LossParts::default()
                };
                Ok(((own.sum_all()? * -share)?, parts))
            }
            Self::Policy(policy) => policy.part(own, &numbers, range),
        }
    }
}

impl PolicyLoss {
    fn part(&self, own: &Tensor, numbers: &[f32], range: Range<usize>) -> Result<(Tensor, LossParts)> {
        let share = 1.0 / self.tokens.max(1) as f64;
        let old = match &self.old {
            Some(old) => &old[range.clone()],
            None => numbers,
        };
        let advantages = &self.advantages[range.clone()];
        let mut parts = LossParts::default();
        // Where the clipped objective is flat, its derivative is nothing.
        let mut counted = Vec::with_capacity(numbers.len());
        for ((now, old), advantage) in numbers.iter().zip(old).zip(advantages) {
            let ratio = f64::from(now - old).exp();
            let within = ratio.clamp(1.0 - self.clip, 1.0 + self.clip);
            let is_clipped = within * advantage < ratio * advantage;
            parts.loss -= (ratio * advantage).min(within * advantage) * share;
            parts.clipped += if is_clipped { share } else { 0.0 };
            counted.push(if is_clipped { 0.0 } else { (-advantage * share) as f32 });
        }
        let list = |numbers: &[f32]| Tensor::from_slice(numbers, numbers.len(), own.device());
        let ratio = (own - list(old)?)?.exp()?;
        let mut sum = (ratio * list(&counted)?)?.sum_all()?;
        if let Some(reference) = &self.reference {
            let reference = &reference[range];
            for (now, start) in numbers.iter().zip(reference) {
                let apart = f64::from(start - now);
                parts.kl += (apart.exp() - apart - 1.0) * share;
            }
            parts.loss += self.kl * parts.kl;
            let apart = (list(reference)? - own)?;
            let divergence = (apart.exp()? - apart)?.sum_all()?;
            sum = (sum + (divergence * (self.kl * share))?)?;
        }
        Ok((sum, parts))
    }
}

/// Least standard deviation of a group's rewards that advantages are divided by. Without it the small differences between partial rewards
/// of replies that all fail would count as much as that between a reply that passes and one that fails.
const LEAST_DEVIATION: f64 = 0.25;

/// Computes the advantage of each reply: its difference from the mean of its group, in standard deviations of the group, or in quarters where
/// these are larger; 0 where a group's rewards are all alike. Groups are `group` replies in a row.
pub fn group_advantages(rewards: &[f64], group: usize) -> Vec<f64> {
    let advantages = rewards.chunks(group.max(1)).flat_map(|rewards| {
        let count = rewards.len() as f64;
        let mean = rewards.iter().sum::<f64>() / count;
        let variance = rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / count;
        let deviation = variance.sqrt();
        rewards.iter().map(move |reward| match deviation > 1e-9 {
            true => (reward - mean) / deviation.max(LEAST_DEVIATION),
            false => 0.0,
        })
    });
    advantages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_spread_give_no_advantage() {
        let advantages = group_advantages(&[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 2);
        assert_eq!(advantages, [0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, -1.0]);
        assert_eq!(group_advantages(&[0.1; 3], 3), [0.0; 3]);
        // Partial rewards of replies that fail count less than a pass among failures.
        assert_eq!(group_advantages(&[0.125, 0.0], 2), [0.25, -0.25]);
    }
}
