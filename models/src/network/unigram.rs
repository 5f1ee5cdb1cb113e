//! [`Unigram`]: a model that has no memory.

use candle_core::{Device, Tensor};

use crate::error::ModelError;
use crate::language_model::{LanguageModel, Snapshot};

/// A model that gives a token the same probability at every position: a source of noise, not of language.
#[derive(Clone, Debug)]
pub struct Unigram {
    logits: Tensor,
    vocab_size: usize,
    position: usize,
    max_positions: usize,
}

impl Unigram {
    /// A model whose token `t` has probability `weights[t]`, up to a factor, and whose context has `max_positions` tokens.
    ///
    /// # Errors
    ///
    /// [`ModelError`], where there is no memory for the weights.
    pub fn new(weights: &[f32], max_positions: usize) -> Result<Self, ModelError> {
        let logits: Vec<f32> = weights.iter().map(|weight| weight.ln()).collect();
        let logits = Tensor::new(logits, &Device::Cpu)
            .map_err(|error| ModelError::compute("unigram", "keeping its weights", &error))?;
        Ok(Self {
            logits,
            vocab_size: weights.len(),
            position: 0,
            max_positions,
        })
    }
}

impl LanguageModel for Unigram {
    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn max_positions(&self) -> usize {
        self.max_positions
    }

    fn position(&self) -> usize {
        self.position
    }

    fn append(&mut self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        self.position += tokens.len();
        Ok(self.logits.clone())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.position, 0)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), ModelError> {
        self.position = snapshot.position();
        Ok(())
    }

    fn reset(&mut self) {
        self.position = 0;
    }
}
