//! [`Sampler`]: one token from a row of logits, among those a mask allows.

use maskwright::{TokenId, TokenMask};
use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::choice::{Choice, for_each_allowed};

/// Temperatures below this are greedy: logits divided by them may be infinite, and of infinite ones none is the likeliest.
const LOWEST_TEMPERATURE: f32 = 1e-30;

/// Settings by which tokens are chosen. The default is greedy: the most likely token, ties to the lowest id.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SamplingOptions {
    /// Divides the logits; 0, like everything below 1e-30, is greedy, whatever the cut-offs below say.
    pub temperature: f32,
    /// Keeps the `k` most likely tokens; 0 keeps all.
    pub top_k: usize,
    /// Keeps the fewest most likely tokens whose probabilities add up to this; 1 keeps all.
    pub top_p: f32,
    /// Keeps tokens at least this many times as likely as the most likely one; 0 keeps all.
    pub min_p: f32,
    /// Divides positive and multiplies negative logits of the tokens seen so far, prompt included; 1 does nothing.
    pub repetition_penalty: f32,
    /// Seed of the random numbers. The same seed, prompt, model and options give the same tokens.
    pub seed: u64,
}

impl Default for SamplingOptions {
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            seed: 0,
        }
    }
}

/// A sampling option outside its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{option} is {value}, but must be {range}")]
pub struct SamplingOptionError {
    option: &'static str,
    value: f32,
    range: &'static str,
}

impl SamplingOptions {
    /// Checks every option's range.
    ///
    /// # Errors
    ///
    /// [`SamplingOptionError`] for the first option outside its range (NaN is outside every range).
    pub fn validate(&self) -> Result<(), SamplingOptionError> {
        let check = |option, value: f32, ok: bool, range| match ok {
            true => Ok(()),
            false => Err(SamplingOptionError { option, value, range }),
        };
        let finite = |value: f32| value.is_finite();
        check(
            "temperature",
            self.temperature,
            finite(self.temperature) && self.temperature >= 0.0,
            "0 or more",
        )?;
        check(
            "top-p",
            self.top_p,
            self.top_p > 0.0 && self.top_p <= 1.0,
            "above 0 and at most 1",
        )?;
        check(
            "min-p",
            self.min_p,
            self.min_p >= 0.0 && self.min_p <= 1.0,
            "between 0 and 1",
        )?;
        check(
            "repetition penalty",
            self.repetition_penalty,
            finite(self.repetition_penalty) && self.repetition_penalty > 0.0,
            "above 0",
        )
    }

    /// Whether the most likely token is chosen.
    fn is_greedy(&self) -> bool {
        self.temperature < LOWEST_TEMPERATURE
    }
}

/// Chooses tokens by [`SamplingOptions`]; keeps the random state and its buffers between tokens.
///
/// The order of the steps is Hugging Face's: repetition penalty, mask, temperature, top-k, top-p, min-p.
#[derive(Debug)]
pub struct Sampler {
    options: SamplingOptions,
    random: ChaCha8Rng,
    /// One bit per token id that occurred, where a repetition penalty needs to know.
    seen: Vec<u64>,
    candidates: Vec<(TokenId, f32)>,
}

impl Sampler {
    /// A sampler at the start of its random sequence.
    pub fn new(options: SamplingOptions) -> Self {
        let random = ChaCha8Rng::seed_from_u64(options.seed);
        Self {
            options,
            random,
            seen: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Notes tokens of the prompt or the answer for the repetition penalty.
    pub fn observe(&mut self, tokens: &[TokenId]) {
        if self.options.repetition_penalty == 1.0 {
            return;
        }
        for &token in tokens {
            let word = token as usize / 64;
            if self.seen.len() <= word {
                self.seen.resize(word + 1, 0);
            }
            self.seen[word] |= 1 << (token % 64);
        }
    }

    /// Returns the method by which the next token is chosen, if that needs no more than the token's logits: no repetition
    /// penalty, and no cut-off that needs them sorted. Draws the next random number where one is needed, so the result must be
    /// used.
    pub(crate) fn choice(&mut self) -> Option<Choice> {
        let options = &self.options;
        if options.repetition_penalty != 1.0 {
            return None;
        }
        if options.is_greedy() {
            return Some(Choice::Likeliest);
        }
        (options.top_k == 0 && options.top_p == 1.0).then(|| Choice::Draw {
            inverse_temperature: options.temperature.recip(),
            min_p: options.min_p,
            random: self.random.random(),
        })
    }

    /// A token among those `mask` allows (all where there is no mask), by its logit (nats, one per token id).
    ///
    /// `None` where no token with a logit is allowed. Logits must be finite, which models make sure of.
    pub fn sample(&mut self, logits: &[f32], mask: Option<&TokenMask>) -> Option<TokenId> {
        if let Some(choice) = self.choice() {
            return choice.among(logits, mask);
        }
        if self.options.is_greedy() {
            return self.greedy(logits, mask);
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let inverse_temperature = self.options.temperature.recip();
        for_each_allowed(logits.len(), mask, |token| {
            candidates.push((token, self.penalised(logits, token) * inverse_temperature));
            true
        });
        let chosen = self.draw(&mut candidates);
        self.candidates = candidates;
        chosen
    }

    /// The most likely token, ties to the lowest id.
    fn greedy(&self, logits: &[f32], mask: Option<&TokenMask>) -> Option<TokenId> {
        let mut best: Option<(TokenId, f32)> = None;
        for_each_allowed(logits.len(), mask, |token| {
            let logit = self.penalised(logits, token);
            if best.is_none_or(|(_, highest)| logit > highest) {
                best = Some((token, logit));
            }
            true
        });
        best.map(|(token, _)| token)
    }

    /// Draws from `candidates` (token, logit over temperature) after the cut-offs.
    fn draw(&mut self, candidates: &mut Vec<(TokenId, f32)>) -> Option<TokenId> {
        let by_logit = |a: &(TokenId, f32), b: &(TokenId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        let keep = match self.options.top_k {
            0 => candidates.len(),
            k => k.min(candidates.len()),
        };
        if keep < candidates.len() {
            candidates.select_nth_unstable_by(keep, by_logit);
            candidates.truncate(keep);
        }
        candidates.sort_unstable_by(by_logit);
        let highest = candidates.first()?.1;
        let mut total = 0.0_f64;
        for candidate in candidates.iter_mut() {
            candidate.1 = (candidate.1 - highest).exp();
            total += f64::from(candidate.1);
        }
        if self.options.top_p < 1.0 {
            let enough = total * f64::from(self.options.top_p);
            total = 0.0;
            let kept = candidates
                .iter()
                .position(|candidate| {
                    total += f64::from(candidate.1);
                    total >= enough
                })
                .map_or(candidates.len(), |last| last + 1);
            candidates.truncate(kept);
        }
        if self.options.min_p > 0.0 {
            // The most likely candidate has the weight 1.
            let kept = candidates.partition_point(|candidate| candidate.1 >= self.options.min_p);
            candidates.truncate(kept.max(1));
            total = candidates.iter().map(|candidate| f64::from(candidate.1)).sum();
        }
        let mut rest = self.random.random::<f64>() * total;
        let chosen = candidates.iter().find(|candidate| {
            rest -= f64::from(candidate.1);
            rest < 0.0
        });
        chosen.or(candidates.last()).map(|&(token, _)| token)
    }

    /// A token's logit after the repetition penalty.
    fn penalised(&self, logits: &[f32], token: TokenId) -> f32 {
        let logit = logits[token as usize];
        let penalty = self.options.repetition_penalty;
        if penalty == 1.0 || !self.has_seen(token) {
            logit
        } else if logit > 0.0 {
            logit / penalty
        } else {
            logit * penalty
        }
    }

    /// Whether a token occurred.
    fn has_seen(&self, token: TokenId) -> bool {
        self.seen
            .get(token as usize / 64)
            .is_some_and(|word| word >> (token % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 6] = [1.0, 3.0, 3.0, -2.0, 2.0, 0.0];

    fn sampler(options: SamplingOptions) -> Sampler {
        options.validate().unwrap();
        Sampler::new(options)
    }

    fn mask(tokens: &[TokenId]) -> TokenMask {
        let mut mask = TokenMask::none(100);
        tokens.iter().for_each(|&token| assert!(mask.allow(token)));
        mask
    }

    /// Returns the share of each token in 20,000 draws.
    fn shares(options: SamplingOptions, mask: Option<&TokenMask>) -> Vec<f64> {
        let mut sampler = sampler(SamplingOptions {
            temperature: 1.0,
            seed: 7,
            ..options
        });
        let mut counts = vec![0_u32; LOGITS.len()];
        for _ in 0..20_000 {
            counts[sampler.sample(&LOGITS, mask).unwrap() as usize] += 1;
        }
        counts.iter().map(|&count| f64::from(count) / 20_000.0).collect()
    }

    fn softmax(kept: &[usize]) -> Vec<f64> {
        let total: f64 = kept.iter().map(|&token| f64::from(LOGITS[token]).exp()).sum();
        (0..LOGITS.len())
            .map(|token| {
                if kept.contains(&token) {
                    f64::from(LOGITS[token]).exp() / total
                } else {
                    0.0
                }
            })
            .collect()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (token, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!(
                (found - expected).abs() < 0.015,
                "token {token}: {found} for {expected}"
            );
            assert!(*expected > 0.0 || *found == 0.0, "token {token} was cut off");
        }
    }

    #[test]
    fn greedy_takes_the_highest_allowed() {
        let mut greedy = sampler(SamplingOptions::default());
        assert_eq!(greedy.sample(&LOGITS, None), Some(1), "ties go to the lowest id");
        assert_eq!(greedy.sample(&LOGITS, Some(&mask(&[0, 3, 5]))), Some(0));
        assert_eq!(
            greedy.sample(&LOGITS, Some(&mask(&[3, 99]))),
            Some(3),
            "99 has no logit"
        );
        assert_eq!(greedy.sample(&LOGITS, Some(&mask(&[]))), None);
        assert_eq!(greedy.sample(&LOGITS, Some(&mask(&[64]))), None);
    }

    #[test]
    fn temperatures_that_overflow_are_greedy() {
        for temperature in [1e-45, 1e-38, 1e-37, 9e-31] {
            for (top_k, repetition_penalty) in [(0, 1.0), (3, 1.0), (0, 2.0), (3, 2.0)] {
                let mut cold = sampler(SamplingOptions {
                    temperature,
                    top_k,
                    repetition_penalty,
                    ..Default::default()
                });
                for _ in 0..10 {
                    assert_eq!(cold.sample(&[10.0, 30.0, 30.0, -20.0, 29.0], None), Some(1));
                }
            }
        }
    }

    #[test]
    fn sampling_follows_the_softmax_of_what_is_left() {
        let default = SamplingOptions::default;
        assert_close(&shares(default(), None), &softmax(&[0, 1, 2, 3, 4, 5]));
        assert_close(&shares(default(), Some(&mask(&[0, 4, 5, 70]))), &softmax(&[0, 4, 5]));
        assert_close(
            &shares(SamplingOptions { top_k: 3, ..default() }, None),
            &softmax(&[1, 2, 4]),
        );
        // 0.39 and 0.39 are enough for 0.7.
        assert_close(
            &shares(
                SamplingOptions {
                    top_p: 0.7,
                    ..default()
                },
                None,
            ),
            &softmax(&[1, 2]),
        );
        // e^-1 = 0.37 is kept, e^-2 = 0.14 is not.
        assert_close(
            &shares(
                SamplingOptions {
                    min_p: 0.2,
                    ..default()
                },
                None,
            ),
            &softmax(&[1, 2, 4]),
        );
        assert_close(
            &shares(
                SamplingOptions {
                    min_p: 1.0,
                    top_p: 0.01,
                    ..default()
                },
                None,
            ),
            &softmax(&[1]),
        );
    }

    #[test]
    fn a_seed_fixes_the_tokens() {
        let draw = |seed| {
            let mut sampler = sampler(SamplingOptions {
                temperature: 1.5,
                seed,
                ..Default::default()
            });
            (0..50)
                .map(|_| sampler.sample(&LOGITS, None).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn repetition_penalty_divides_positive_and_multiplies_negative_logits() {
        let mut greedy = sampler(SamplingOptions {
            repetition_penalty: 2.0,
            ..Default::default()
        });
        greedy.observe(&[1, 3]);
        assert_eq!(greedy.sample(&LOGITS, None), Some(2));
        greedy.observe(&[2]);
        assert_eq!(greedy.sample(&LOGITS, None), Some(4));
        assert_eq!(greedy.sample(&[-3.0, -1.0], None), Some(1), "-1 * 2 is above -3");
        assert_eq!(greedy.sample(&[-1.5, -1.0], None), Some(0), "-1 * 2 is below -1.5");
    }

    #[test]
    fn options_outside_their_range_are_refused() {
        let bad = [
            SamplingOptions {
                temperature: -1.0,
                ..Default::default()
            },
            SamplingOptions {
                temperature: f32::NAN,
                ..Default::default()
            },
            SamplingOptions {
                top_p: 0.0,
                ..Default::default()
            },
            SamplingOptions {
                min_p: 1.5,
                ..Default::default()
            },
            SamplingOptions {
                repetition_penalty: 0.0,
                ..Default::default()
            },
        ];
        for options in bad {
            assert!(options.validate().is_err(), "{options:?}");
        }
    }
}
