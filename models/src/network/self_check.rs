//! [`self_check`]: whether a model computes the same however its tokens are handed to it.

use crate::error::ModelError;
use crate::language_model::{LanguageModel, logits_to_host};

/// The result of [`self_check`].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SelfCheck {
    /// Number of tokens the check ran over.
    pub tokens: usize,
    /// Largest absolute difference (nats) between the logits after appending all tokens in one pass and after
    /// appending them one by one.
    pub append_difference: f32,
    /// Largest absolute difference (nats) between the logits before and after rolling back to a snapshot and
    /// appending the same tokens again.
    pub restore_difference: f32,
    /// Largest minus smallest logit, which the differences are measured by.
    pub spread: f32,
    /// Whether both differences are within the tolerance.
    pub passed: bool,
}

/// Compares one pass over `tokens` with single steps, and a sequence with itself after a rollback.
///
/// `tolerance` is the largest difference allowed, as a part of the spread of the logits: 1e-4 suits 32-bit
/// floats, 0.05 16-bit ones. `tokens` are any tokens of the vocabulary, at least two; more find more. The model's
/// sequence is empty afterwards.
///
/// # Errors
///
/// [`ModelError`], where a forward pass fails.
pub fn self_check(model: &mut dyn LanguageModel, tokens: &[u32], tolerance: f32) -> Result<SelfCheck, ModelError> {
    let logits_after = |model: &mut dyn LanguageModel, tokens: &[u32]| -> Result<Vec<f32>, ModelError> {
        let mut host = Vec::new();
        logits_to_host(&model.append(tokens)?, &mut host)?;
        Ok(host)
    };
    model.reset();
    let at_once = logits_after(model, tokens)?;

    model.reset();
    let mut one_by_one = Vec::new();
    for token in tokens {
        one_by_one = logits_after(model, &[*token])?;
    }

    model.reset();
    let (first, second) = tokens.split_at(tokens.len() / 2);
    if !first.is_empty() {
        model.append(first)?;
    }
    let middle = model.snapshot();
    let before = logits_after(model, second)?;
    model.restore(&middle)?;
    // Other tokens in between: what they leave behind must not show.
    let others: Vec<u32> = tokens.iter().rev().take(second.len()).copied().collect();
    model.append(&others)?;
    model.restore(&middle)?;
    let after = logits_after(model, second)?;
    model.reset();

    let largest = at_once.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let smallest = at_once.iter().copied().fold(f32::INFINITY, f32::min);
    let (append_difference, restore_difference) = (
        largest_difference(&at_once, &one_by_one),
        largest_difference(&before, &after),
    );
    let allowed = tolerance * (largest - smallest);
    Ok(SelfCheck {
        tokens: tokens.len(),
        append_difference,
        restore_difference,
        spread: largest - smallest,
        passed: append_difference <= allowed && restore_difference <= allowed,
    })
}

/// The largest difference between two lists of logits.
fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
