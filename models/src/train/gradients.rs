//! Passes forward and back over batches of sequences.
//!
//! Two things bound the memory. Only the input of each layer is kept on the way forward; on the way back, a layer is computed again, with
//! its derivative. And logits, which are as many for each token as the vocabulary has, are made of a few tokens at a time.
//! Neighbours with the same prompt go through the layers together, and the prompt once.

use std::collections::BTreeMap;
use std::ops::Range;

use candle_core::{DType, Result, Tensor, Var};
use rayon::prelude::*;

use super::batch_attention::{BatchAttention, BatchShape};
use super::layer_pass::LayerPass;
use super::loss::{LossParts, TokenLoss};
use super::operations::{capped, log_probabilities, scaled};
use super::trainable_model::TrainableModel;
use crate::error::ModelError;

/// The most logits that are in memory at once: 32 MiB.
const LOGITS: usize = 8 << 20;

/// Bytes of derivatives that threads side by side may have in memory: 1 GiB.
const MEMORY: usize = 1 << 30;

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

    /// The tokens before the reply, without the sequence's last token.
    fn prompt(&self) -> &[u32] {
        &self.tokens[..self.from.min(self.tokens.len().saturating_sub(1))]
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

    /// Adds all of `others`.
    fn add_all(&mut self, others: Self) -> Result<()> {
        match self.0.is_empty() {
            true => *self = others,
            false => {
                for (name, gradient) in &others.0 {
                    self.add(name, gradient)?;
                }
            }
        }
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

/// The tokens that sequences read, and where in them tokens that count are predicted.
struct Batch {
    shape: BatchShape,
    /// All rows of the batch.
    inputs: Tensor,
    /// Rows behind which a token comes that counts.
    rows: Tensor,
    /// The tokens that count, one for each of `rows`.
    chosen: Vec<u32>,
}

impl TrainableModel {
    /// Returns the loss of `sequences` and its derivative by each weight. The lists of a [`PolicyLoss`](crate::PolicyLoss) have
    /// one number for each token that counts, of all sequences in order. Logits are divided by `temperature`.
    ///
    /// Sequences go through the layers together as long as they have at most `cells` tokens once filled up to the longest of them; a longer
    /// one goes alone. Neighbours with the same prompt have it once among these tokens, and go together with none that has another prompt.
    /// Sequences of similar length should be neighbours as well, as shorter ones are filled up.
    ///
    /// Where the environment variable `RAYON_NUM_THREADS` is 1, so that candle computes a product on one thread, each thread of rayon's
    /// current pool takes some of the sequences, unless their derivatives would take more than 1 GiB; `cells` is then divided among the threads.
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
        let failed = |error| ModelError::compute(&self.name, "gradients", &error);
        self.check_sequences(sequences)?;
        let add = |sum: &mut (LossParts, Gradients), part: (&[TokenSequence], usize), start: usize| {
            sum.0 += self.backward(part, temperature, loss, start, &mut sum.1)?;
            Ok(())
        };
        let sums = on_threads(sequences, cells, self.gradient_threads(), add).map_err(failed)?;
        let (mut parts, mut gradients) = (LossParts::default(), Gradients::default());
        for (more, others) in sums {
            parts += more;
            gradients.add_all(others).map_err(failed)?;
        }
        Ok((parts, gradients))
    }

    /// Number of threads that compute derivatives side by side: no more than have memory for derivatives of their own.
    fn gradient_threads(&self) -> usize {
        let own: usize = self.parameters.iter().map(|(_, var)| 4 * var.elem_count()).sum();
        self.threads().min((MEMORY / own.max(1)).max(1))
    }

    /// Number of threads that work side by side: those of rayon's current pool on the CPU, unless candle itself takes several for each product.
    fn threads(&self) -> usize {
        match self.device.is_cpu() && candle_core::utils::get_num_threads() == 1 {
            true => rayon::current_num_threads().max(1),
            false => 1,
        }
    }

    /// Returns the log-probabilities, in nats, of the tokens of `sequences` that count, in order. Logits are divided by `temperature`;
    /// sequences go through the layers together as in [`gradients`](Self::gradients).
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
        self.check_sequences(sequences)?;
        let add = |all: &mut Vec<f32>, part: (&[TokenSequence], usize), _: usize| self.forward(part, temperature, all);
        let all = on_threads(sequences, cells, self.threads(), add).map_err(failed)?;
        Ok(all.concat())
    }

    /// Errs where the model cannot read a sequence.
    fn check_sequences(&self, sequences: &[TokenSequence]) -> std::result::Result<(), ModelError> {
        for TokenSequence { tokens, from } in sequences {
            if tokens.len() < 2 || *from == 0 {
                return Err(ModelError::NothingToAppend);
            }
            self.check_tokens(tokens)?;
        }
        Ok(())
    }

    /// Errs where the model cannot read `tokens`.
    pub(super) fn check_tokens(&self, tokens: &[u32]) -> std::result::Result<(), ModelError> {
        if tokens.len() > self.config.max_positions {
            return Err(ModelError::ContextFull {
                position: 0,
                added: tokens.len(),
                max_positions: self.config.max_positions,
            });
        }
        let vocab_size = self.config.vocab_size;
        match tokens.iter().find(|token| **token as usize >= vocab_size) {
            Some(&token) => Err(ModelError::TokenOutOfRange { token, vocab_size }),
            None => Ok(()),
        }
    }

    /// Prepares sequences that begin with the same `shared` tokens.
    fn batch(&self, (sequences, shared): (&[TokenSequence], usize)) -> Result<Batch> {
        // The last token of a sequence predicts nothing.
        let width = sequences.iter().map(|one| one.tokens.len() - 1 - shared).max();
        let width = width.unwrap_or(0);
        let mut inputs = sequences
            .first()
            .map_or(Vec::new(), |one| one.tokens[..shared].to_vec());
        let (mut rows, mut chosen) = (Vec::new(), Vec::new());
        for TokenSequence { tokens, from } in sequences {
            let start = inputs.len();
            inputs.extend_from_slice(&tokens[shared..tokens.len() - 1]);
            inputs.resize(start + width, 0);
            rows.extend((*from..tokens.len()).map(|place| (start + place - 1 - shared) as u32));
            chosen.extend_from_slice(&tokens[(*from).min(tokens.len())..]);
        }
        Ok(Batch {
            shape: BatchShape {
                shared,
                sequences: sequences.len(),
                tokens: width,
            },
            inputs: Tensor::new(inputs, &self.device)?,
            rows: Tensor::new(rows, &self.device)?,
            chosen,
        })
    }

    /// The input of the first layer for the tokens `[rows]`: `[rows, hidden_size]`, without a derivative.
    pub(super) fn embedded(&self, tokens: &Tensor) -> Result<Tensor> {
        let embeddings = self.parameters.get(&self.config.embeddings().weight().0)?;
        let x = embeddings.as_detached_tensor().index_select(tokens, 0)?;
        scaled(x, self.config.multipliers.embeddings)
    }

    /// The logits, `[rows, vocab_size]`, of rows that the last layer gives.
    pub(super) fn logits(&self, rows: Tensor) -> Result<Tensor> {
        let normed = self.pass().norm(Some(&self.final_norm()), rows)?;
        let logits = normed.matmul(&self.parameters.get(&self.output())?.t()?)?;
        let logits = scaled(logits, self.config.multipliers.logits)?;
        capped(logits, self.config.soft_caps.logits)
    }

    /// Computes the input of each layer and the output of the last one, without derivatives.
    fn layers(&self, batch: &Batch, attention: &BatchAttention) -> Result<Vec<Tensor>> {
        let mut states = vec![self.embedded(&batch.inputs)?];
        for layer in 0..self.config.layers {
            let next = self
                .pass()
                .layer(layer, &states[layer], &mut |one| attention.attend(one))?
                .detach();
            states.push(next);
        }
        Ok(states)
    }

    /// The log-probabilities of the tokens in `range`, of the rows of the last layer that they come behind.
    fn chunk(&self, rows: &Tensor, (batch, range): (&Batch, Range<usize>), temperature: f64) -> Result<Tensor> {
        let logits = (self.logits(rows.clone())? / temperature)?;
        let chosen = Tensor::from_slice(&batch.chosen[range.clone()], range.len(), &self.device)?;
        log_probabilities(&logits, &chosen)
    }

    /// The parts of `tokens` tokens whose logits are made at once.
    pub(super) fn chunks(&self, tokens: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let size = (LOGITS / self.config.vocab_size).max(1);
        (0..tokens)
            .step_by(size)
            .map(move |start| start..tokens.min(start + size))
    }

    /// Adds the log-probabilities of the tokens that count to `all`.
    fn forward(&self, part: (&[TokenSequence], usize), temperature: f64, all: &mut Vec<f32>) -> Result<()> {
        let batch = self.batch(part)?;
        let Some(last) = self.layers(&batch, &self.attention(&batch)?)?.pop() else {
            return Ok(());
        };
        for range in self.chunks(batch.chosen.len()) {
            let rows = batch.rows.narrow(0, range.start, range.len())?;
            let rows = last.index_select(&rows, 0)?;
            let numbers = self.chunk(&rows, (&batch, range), temperature)?;
            all.extend(numbers.detach().to_vec1::<f32>()?);
        }
        Ok(())
    }

    /// The attention of the rows of `batch`.
    fn attention(&self, batch: &Batch) -> Result<BatchAttention> {
        BatchAttention::new(&self.rope, batch.shape, &self.device)
    }

    /// The layers with the present weights.
    pub(super) fn pass(&self) -> LayerPass<'_> {
        LayerPass {
            config: &self.config,
            parameters: &self.parameters,
        }
    }

    /// Adds the derivatives of the loss of the sequences of `part`, whose tokens' numbers begin at `start`.
    fn backward(
        &self,
        part: (&[TokenSequence], usize),
        temperature: f64,
        loss: &TokenLoss,
        start: usize,
        gradients: &mut Gradients,
    ) -> Result<LossParts> {
        let batch = self.batch(part)?;
        let attention = self.attention(&batch)?;
        let mut states = self.layers(&batch, &attention)?;
        let Some(last) = states.pop() else {
            return Ok(LossParts::default());
        };
        let mut parts = LossParts::default();
        let mut slope = last.zeros_like()?;
        for range in self.chunks(batch.chosen.len()) {
            let places = batch.rows.narrow(0, range.start, range.len())?.contiguous()?;
            let rows = Var::from_tensor(&last.index_select(&places, 0)?)?;
            let own = self.chunk(rows.as_tensor(), (&batch, range.clone()), temperature)?;
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
            let output = self
                .pass()
                .layer(layer, input.as_tensor(), &mut |one| attention.attend(one))?;
            let sum = (output * &slope)?.sum_all()?;
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

/// Adds up the parts of `sequences` that go through the layers together, as many threads at once as have `cells` tokens together: a sum for
/// each thread, in the order of the sequences. `add` gets a sum, the part with its number of shared tokens, and the number of tokens that count
/// before it.
fn on_threads<T: Default + Send>(
    sequences: &[TokenSequence],
    cells: usize,
    threads: usize,
    add: impl Fn(&mut T, (&[TokenSequence], usize), usize) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let mut counted = 0;
    let batches = micro_batches(sequences, cells / threads)
        .into_iter()
        .map(|(range, shared)| {
            let (part, start) = (&sequences[range], counted);
            counted += part.iter().map(TokenSequence::counted).sum::<usize>();
            (part, shared, start)
        });
    let batches: Vec<(&[TokenSequence], usize, usize)> = batches.collect();
    let shares = batches.par_chunks(batches.len().div_ceil(threads).max(1));
    let sums = shares.map(|share| {
        let mut sum = T::default();
        for (part, shared, start) in share {
            add(&mut sum, (*part, *shared), *start)?;
        }
        Ok(sum)
    });
    sums.collect()
}

/// Sequences in a row that go through the layers together, with the number of tokens that all of them begin with and that are computed once:
/// at most `cells` tokens, those counted that fill up, or one sequence. Neighbours with the same prompt share all of it but its last token,
/// which predicts the first one of each reply; a longer one of them begins a batch of its own where filling up would cost more than the prompt.
fn micro_batches(sequences: &[TokenSequence], cells: usize) -> Vec<(Range<usize>, usize)> {
    let mut batches: Vec<(Range<usize>, usize)> = Vec::new();
    let mut width = 0;
    for (number, sequence) in sequences.iter().enumerate() {
        let (prompt, length) = (sequence.prompt(), sequence.tokens.len());
        let is_alike = |other: &TokenSequence| other.prompt() == prompt;
        let follows = number > 0 && is_alike(&sequences[number - 1]);
        let shared = match follows || sequences.get(number + 1).is_some_and(is_alike) {
            true => prompt.len() - 1,
            false => 0,
        };
        let cost = |count: usize, width: usize| shared + count * (width - shared);
        if let Some((range, shared_before)) = batches.last_mut()
            && (follows || (shared, *shared_before) == (0, 0))
        {
            let joined = cost(range.len() + 1, width.max(length));
            if joined <= cells && (shared == 0 || joined <= cost(range.len(), width) + length) {
                range.end += 1;
                width = width.max(length);
                continue;
            }
        }
        batches.push((number..number + 1, shared));
        width = length;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_the_same_prompt_share_it() {
        let one = |prompt: u32, from: usize, length: usize| TokenSequence {
            tokens: (0..from + length)
                .map(|place| if place < from { prompt } else { place as u32 })
                .collect(),
            from,
        };
        let sequences = [
            // These share nothing, and the third would make more than 64 tokens.
            one(1, 10, 10),
            one(2, 10, 20),
            one(3, 10, 10),
            // 19 tokens of a prompt of 20, then at most 11 of each reply.
            one(4, 20, 5),
            one(4, 20, 8),
            one(4, 20, 10),
            // Beside this one the others would be filled up by more tokens than the prompt has.
            one(4, 20, 30),
            // A prompt of one token has nothing before the token that predicts.
            one(5, 1, 10),
            one(5, 1, 10),
        ];
        let batches = micro_batches(&sequences, 64);
        assert_eq!(batches, [(0..2, 0), (2..3, 0), (3..6, 19), (6..7, 19), (7..9, 0)]);
        assert_eq!(micro_batches(&sequences[3..6], 40), [(0..2, 19), (2..3, 19)]);
        assert_eq!(micro_batches(&sequences, 1).len(), sequences.len());
    }

    #[test]
    fn threads_take_sequences_in_a_row() {
        let sequences: Vec<TokenSequence> = (1..8)
            .map(|number| TokenSequence {
                tokens: vec![number; 4 + number as usize],
                from: 3,
            })
            .collect();
        let counted: Vec<usize> = sequences.iter().map(TokenSequence::counted).collect();
        for threads in [1, 2, 3, 20] {
            for cells in [1, 24, 1000] {
                let add = |all: &mut Vec<(u32, usize)>, (part, _): (&[TokenSequence], usize), mut start: usize| {
                    assert!(part.len() == 1 || part.len() * part[part.len() - 1].tokens.len() <= cells / threads);
                    for sequence in part {
                        all.push((sequence.tokens[0], start));
                        start += sequence.counted();
                    }
                    Ok(())
                };
                let sums = on_threads(&sequences, cells, threads, add).unwrap();
                assert!(sums.len() <= threads);
                let starts = (1..8).map(|number| (number, counted[..number as usize - 1].iter().sum()));
                assert_eq!(
                    sums.concat(),
                    starts.collect::<Vec<(u32, usize)>>(),
                    "{threads} {cells}"
                );
            }
        }
    }
}
