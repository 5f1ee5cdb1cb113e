//! Passes forward and back over batches of sequences.
//!
//! Two things bound the memory. Only the input of each layer is kept on the way forward; on the way back, a layer is computed again, with
//! its derivative. And logits, which are as many for each token as the vocabulary has, are made of a few tokens at a time.

use std::collections::BTreeMap;
use std::ops::Range;

use candle_core::{DType, Result, Tensor, Var};

use super::layer_pass::LayerPass;
use super::loss::{LossParts, TokenLoss};
use super::operations::{capped, log_probabilities, scaled};
use super::trainable_model::TrainableModel;
use crate::error::ModelError;

/// The most logits that are in memory at once: 32 MiB.
const LOGITS: usize = 8 << 20;

/// A prompt, followed by the reply that the model is to write, or wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSequence {
    /// All tokens.
    pub tokens: Vec<u32>,
    /// Index of the first token of the reply; the tokens before it, at least one, are the prompt and do not count in losses.
    pub from: usize,
}

impl TokenSequence {
    /// Number of tokens that count in losses: those of the reply.
    pub fn counted(&self) -> usize {
        self.tokens.len().saturating_sub(self.from.max(1))
    }
}

/// The derivative of a loss by each weight.
#[derive(Debug, Default)]
pub struct Gradients(pub(super) BTreeMap<String, Tensor>);

impl Gradients {
    /// Adds to the derivative by the weights of that name.
    fn add(&mut self, name: &str, gradient: &Tensor) -> Result<()> {
        let sum = match self.0.get(name) {
            Some(sum) => (sum + gradient)?,
            None => gradient.clone(),
        };
        self.0.insert(name.to_owned(), sum.detach());
        Ok(())
    }

    /// The root of the sum of all derivatives' squares.
    ///
    /// # Errors
    ///
    /// [`ModelError::Compute`], where the device fails.
    pub fn norm(&self) -> std::result::Result<f64, ModelError> {
        let square = |tensor: &Tensor| tensor.sqr()?.sum_all()?.to_scalar::<f32>();
        let squares = self.0.values().map(|tensor| square(tensor).map(f64::from));
        let sum: Result<f64> = squares.sum();
        let sum = sum.map_err(|error| ModelError::compute("the model", "the norm of gradients", &error))?;
        Ok(sum.sqrt())
    }

    /// The derivatives by the names of the weights, as 32-bit floats, each tensor row by row.
    ///
    /// # Errors
    ///
    /// [`ModelError::Compute`], where the device fails.
    pub fn numbers(&self) -> std::result::Result<BTreeMap<String, Vec<f32>>, ModelError> {
        let failed = |error| ModelError::compute("the model", "reading gradients", &error);
        let all = self.0.iter().map(|(name, tensor)| {
            let numbers = tensor.flatten_all().and_then(|flat| flat.to_vec1::<f32>());
            Ok((name.clone(), numbers.map_err(failed)?))
        });
        all.collect()
    }
}

/// Sequences side by side, filled up to the length of the longest, and where in them tokens that count are predicted.
struct Batch {
    /// Number of sequences and of tokens in each.
    size: (usize, usize),
    /// `[sequences · tokens]`.
    inputs: Tensor,
    /// Rows behind which a token comes that counts.
    rows: Tensor,
    /// The tokens that count, one for each of `rows`.
    chosen: Vec<u32>,
}

impl TrainableModel {
    /// Returns the loss of `sequences` and its derivative by each weight. The lists of a [`PolicyLoss`](crate::PolicyLoss) have
    /// one number for each token that counts, of all sequences in order. Logits are divided by `temperature`. Sequences go through the
    /// layers together as long as they have at most `cells` tokens once filled up to the longest of them; a longer one goes alone.
    ///
    /// # Errors
    ///
    /// [`ModelError::ContextFull`], [`ModelError::TokenOutOfRange`], [`ModelError::NothingToAppend`] of a sequence that the model cannot
    /// read; [`ModelError::Compute`], where the device fails.
    pub fn gradients(
        &self,
        sequences: &[TokenSequence],
        temperature: f64,
        loss: &TokenLoss,
        cells: usize,
    ) -> std::result::Result<(LossParts, Gradients), ModelError> {
        let (mut parts, mut gradients, mut start) = (LossParts::default(), Gradients::default(), 0);
        for part in micro_batches(sequences, cells) {
            let part = &sequences[part];
            self.check_sequences(part)?;
            let counted: usize = part.iter().map(TokenSequence::counted).sum();
            let added = self.backward(part, temperature, loss, start, &mut gradients);
            parts += added.map_err(|error| ModelError::compute(&self.name, "gradients", &error))?;
            start += counted;
        }
        Ok((parts, gradients))
    }

    /// Returns the log-probabilities, in nats, of the tokens of `sequences` that count, in order. Logits are divided by `temperature`;
    /// sequences of up to `cells` tokens, once filled up to the longest of them, go through the layers together.
    ///
    /// # Errors
    ///
    /// [`ModelError::ContextFull`], [`ModelError::TokenOutOfRange`], [`ModelError::NothingToAppend`] of a sequence that the model cannot
    /// read; [`ModelError::Compute`], where the device fails.
    pub fn log_probabilities(
        &self,
        sequences: &[TokenSequence],
        temperature: f64,
        cells: usize,
    ) -> std::result::Result<Vec<f32>, ModelError> {
        let failed = |error| ModelError::compute(&self.name, "log-probabilities", &error);
        let mut all = Vec::new();
        for part in micro_batches(sequences, cells) {
            let part = &sequences[part];
            self.check_sequences(part)?;
            self.forward(part, temperature, &mut all).map_err(failed)?;
        }
        Ok(all)
    }

    /// Errs where the model cannot read a sequence.
    fn check_sequences(&self, sequences: &[TokenSequence]) -> std::result::Result<(), ModelError> {
        for TokenSequence { tokens, from } in sequences {
            if tokens.len() < 2 || *from == 0 {
                return Err(ModelError::NothingToAppend);
            }
            if tokens.len() > self.config.max_positions {
                return Err(ModelError::ContextFull {
                    position: 0,
                    added: tokens.len(),
                    max_positions: self.config.max_positions,
                });
            }
            let vocab_size = self.config.vocab_size;
            if let Some(&token) = tokens.iter().find(|token| **token as usize >= vocab_size) {
                return Err(ModelError::TokenOutOfRange { token, vocab_size });
            }
        }
        Ok(())
    }

    fn batch(&self, sequences: &[TokenSequence]) -> Result<Batch> {
        // The last token of a sequence predicts nothing.
        let width = sequences.iter().map(|one| one.tokens.len() - 1).max().unwrap_or(0);
        let (mut inputs, mut rows, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
        for (number, TokenSequence { tokens, from }) in sequences.iter().enumerate() {
            let read = &tokens[..tokens.len() - 1];
            inputs.extend_from_slice(read);
            inputs.extend(std::iter::repeat_n(0, width - read.len()));
            rows.extend((*from..tokens.len()).map(|place| (number * width + place - 1) as u32));
            chosen.extend_from_slice(&tokens[(*from).min(tokens.len())..]);
        }
        Ok(Batch {
            size: (sequences.len(), width),
            inputs: Tensor::new(inputs, &self.device)?,
            rows: Tensor::new(rows, &self.device)?,
            chosen,
        })
    }

    /// Computes the input of each layer and the output of the last one, without derivatives.
    fn layers(&self, batch: &Batch, pass: &LayerPass<'_>) -> Result<Vec<Tensor>> {
        let embeddings = self.parameters.get(&self.config.embeddings().weight().0)?;
        let x = embeddings.as_detached_tensor().index_select(&batch.inputs, 0)?;
        let mut states = vec![scaled(x, self.config.multipliers.embeddings)?];
        for layer in 0..self.config.layers {
            let next = pass.layer(layer, &states[layer])?.detach();
            states.push(next);
        }
        Ok(states)
    }

    /// The log-probabilities of the tokens in `range`, of the rows of the last layer that they come behind.
    fn chunk(
        &self,
        pass: &LayerPass<'_>,
        rows: &Tensor,
        (batch, range): (&Batch, Range<usize>),
        temperature: f64,
    ) -> Result<Tensor> {
        let normed = pass.norm(Some(&self.final_norm()), rows.clone())?;
        let logits = normed.matmul(&self.parameters.get(&self.output())?.t()?)?;
        let logits = scaled(logits, self.config.multipliers.logits)?;
        let logits = (capped(logits, self.config.soft_caps.logits)? / temperature)?;
        let chosen = Tensor::from_slice(&batch.chosen[range.clone()], range.len(), &self.device)?;
        log_probabilities(&logits, &chosen)
    }

    /// The parts of `tokens` tokens whose logits are made at once.
    fn chunks(&self, tokens: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let size = (LOGITS / self.config.vocab_size).max(1);
        (0..tokens)
            .step_by(size)
            .map(move |start| start..tokens.min(start + size))
    }

    /// Adds the log-probabilities of the tokens that count to `all`.
    fn forward(&self, sequences: &[TokenSequence], temperature: f64, all: &mut Vec<f32>) -> Result<()> {
        let batch = self.batch(sequences)?;
        let pass = self.pass(&batch)?;
        let Some(last) = self.layers(&batch, &pass)?.pop() else {
            return Ok(());
        };
        for range in self.chunks(batch.chosen.len()) {
            let rows = batch.rows.narrow(0, range.start, range.len())?;
            let rows = last.index_select(&rows, 0)?;
            let numbers = self.chunk(&pass, &rows, (&batch, range), temperature)?;
            all.extend(numbers.detach().to_vec1::<f32>()?);
        }
        Ok(())
    }

    fn pass(&self, batch: &Batch) -> Result<LayerPass<'_>> {
        LayerPass::new((&self.config, &self.parameters), &self.rope, batch.size, &self.device)
    }

    /// Adds the derivatives of the loss of `sequences`, whose tokens' numbers begin at `start`.
    fn backward(
        &self,
        sequences: &[TokenSequence],
        temperature: f64,
        loss: &TokenLoss,
        start: usize,
        gradients: &mut Gradients,
    ) -> Result<LossParts> {
        let batch = self.batch(sequences)?;
        let pass = self.pass(&batch)?;
        let mut states = self.layers(&batch, &pass)?;
        let Some(last) = states.pop() else {
            return Ok(LossParts::default());
        };
        let mut parts = LossParts::default();
        let mut slope = last.zeros_like()?;
        for range in self.chunks(batch.chosen.len()) {
            let places = batch.rows.narrow(0, range.start, range.len())?.contiguous()?;
            let rows = Var::from_tensor(&last.index_select(&places, 0)?)?;
            let own = self.chunk(&pass, rows.as_tensor(), (&batch, range.clone()), temperature)?;
            let (sum, added) = loss.part(&own, start + range.start..start + range.end)?;
            parts += added;
            if let Some(of_rows) = self.add_gradients(&sum, &rows, gradients)? {
                slope = slope.index_add(&places, &of_rows, 0)?;
            }
        }
        drop(last);
        for layer in (0..self.config.layers).rev() {
            let Some(input) = states.pop() else {
                break;
            };
            let input = Var::from_tensor(&input)?;
            // The derivative of this sum is that of the loss.
            let sum = (pass.layer(layer, input.as_tensor())? * &slope)?.sum_all()?;
            slope = match self.add_gradients(&sum, &input, gradients)? {
                Some(slope) => slope,
                None => slope.zeros_like()?,
            };
        }
        let name = self.config.embeddings().weight().0;
        let slope = scaled(slope, self.config.multipliers.embeddings)?;
        let none = Tensor::zeros(self.parameters.get(&name)?.dims(), DType::F32, &self.device)?;
        gradients.add(&name, &none.index_add(&batch.inputs, &slope, 0)?)?;
        Ok(parts)
    }

    /// Adds the derivatives of `sum` by all weights, and returns that by `input`.
    fn add_gradients(&self, sum: &Tensor, input: &Var, gradients: &mut Gradients) -> Result<Option<Tensor>> {
        let mut found = sum.backward()?;
        for (name, var) in self.parameters.iter() {
            if let Some(gradient) = found.remove(var) {
                gradients.add(name, &gradient)?;
            }
        }
        Ok(found.remove(input))
    }
}

/// Sequences in a row that go through the layers together: at most `cells` tokens, those counted that fill up, or one sequence.
fn micro_batches(sequences: &[TokenSequence], cells: usize) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut width) = (0, 0);
    for (number, sequence) in sequences.iter().enumerate() {
        let wider = width.max(sequence.tokens.len());
        if number > start && wider * (number + 1 - start) > cells {
            batches.push(start..number);
            (start, width) = (number, sequence.tokens.len());
        } else {
            width = wider;
        }
    }
    if start < sequences.len() {
        batches.push(start..sequences.len());
    }
    batches
}
