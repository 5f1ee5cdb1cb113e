//! [`MaskEffect`]: the effect of a mask on one choice of the model.

use maskwright::TokenMask;

/// Effect of a mask on one choice of the model: how far the mask interferes with what the model would write by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaskEffect {
    /// Probability that the model gives to the tokens that the mask forbids, from 0 to 1, at temperature 1.
    pub removed: f64,
    /// Whether the most likely token is among the forbidden ones.
    pub first_choice_forbidden: bool,
}

impl MaskEffect {
    /// The effect of `mask` on the choice by `logits`. Where two tokens are equally likely, the first of them is the model's choice.
    pub(crate) fn of(logits: &[f32], mask: &TokenMask) -> Self {
        let mut first_choice = 0;
        for (token, logit) in logits.iter().enumerate() {
            if *logit > logits[first_choice] {
                first_choice = token;
            }
        }
        let largest = logits.get(first_choice).copied().unwrap_or_default();
        let (mut allowed, mut all) = (0.0_f64, 0.0_f64);
        for (token, logit) in logits.iter().enumerate() {
            let weight = f64::from(logit - largest).exp();
            all += weight;
            if mask.allows(token as u32) {
                allowed += weight;
            }
        }
        Self {
            removed: if all > 0.0 {
                (1.0 - allowed / all).clamp(0.0, 1.0)
            } else {
                0.0
            },
            first_choice_forbidden: !mask.allows(first_choice as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(allowed: &[u32]) -> TokenMask {
        let mut mask = TokenMask::none(4);
        for token in allowed {
            mask.allow(*token);
        }
        mask
    }

    #[test]
    fn probabilities_are_those_of_the_forbidden_tokens() {
        // Probabilities 1/2, 1/4, 1/8 and 1/8.
        let logits = [4.0_f32.ln(), 2.0_f32.ln(), 0.0, 0.0];
        for (allowed, removed, forbidden) in [
            (&[0, 1, 2, 3][..], 0.0, false),
            (&[0], 0.5, false),
            (&[1, 2], 0.625, true),
            (&[3], 0.875, true),
        ] {
            let effect = MaskEffect::of(&logits, &mask(allowed));
            assert!((effect.removed - removed).abs() < 1e-6, "{allowed:?}: {effect:?}");
            assert_eq!(effect.first_choice_forbidden, forbidden, "{allowed:?}");
        }
        let impossible = [f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY, 0.0];
        let effect = MaskEffect::of(&impossible, &mask(&[0, 1]));
        assert!((effect.removed - 0.5).abs() < 1e-9 && !effect.first_choice_forbidden);
    }
}
