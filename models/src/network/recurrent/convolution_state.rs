//! [`ConvolutionState`]: the inputs of short convolutions that are kept, and how they come back after a rollback.
//!
//! A convolution sees the inputs of the last few tokens. Keeping those of all tokens, as a key-value cache does, would take
//! more memory than the keys and values of the attention layers beside them. So the inputs of the last tokens are kept, far
//! enough back for most rollbacks, and beside them those at the ends of long appends, where prompts end. After a rollback to any
//! other place, [`resume`](ConvolutionState::resume) says from where tokens have to be appended again.

use candle_core::{DType, Device, Error, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::network::recurrent::rollback::Rollback;
use crate::network::transformer::PROMPT_CHUNK;

/// Number of tokens that the state has room for. When it is full, half of that number are kept; at most as many are appended at
/// once.
const WINDOW: usize = 2 * PROMPT_CHUNK;
/// The most checkpoints; the first one, which is mostly the end of the prompt, is never given up for a later one.
const MAX_CHECKPOINTS: usize = 16;

/// Number of elements that are kept for a layer with a convolution, checkpoints included.
#[cfg(any(feature = "cuda", test))]
pub(crate) fn elements_of_layer(config: &ModelConfig) -> usize {
    let before = config.convolution_taps - 1;
    (before + WINDOW + MAX_CHECKPOINTS * before) * config.hidden_size
}

/// The inputs of consecutive tokens to one convolution, `[tokens, hidden_size]`.
#[derive(Debug, Clone)]
enum Rows {
    Slice(Vec<f32>),
    Tensor(Tensor),
}

/// The inputs of the tokens right before `position`, as many as a convolution sees, for each layer that has one.
#[derive(Debug)]
struct Checkpoint {
    position: usize,
    layers: Vec<Option<Rows>>,
}

/// The inputs of the last tokens to the convolutions of all layers.
#[derive(Debug)]
pub(crate) struct ConvolutionState {
    /// Number of tokens before a token that a convolution sees.
    before: usize,
    hidden_size: usize,
    /// The position of row `before`; the rows up to there are of the tokens before it, zero where there are none.
    base: usize,
    /// Number of tokens whose inputs are known, or are about to be.
    end: usize,
    /// `[before + WINDOW, hidden_size]` for each layer that has a convolution.
    layers: Vec<Option<Rows>>,
    checkpoints: Vec<Checkpoint>,
}

impl ConvolutionState {
    /// An empty state for the model that `config` describes, where it has convolutions: as slices on the CPU where `tensors` is
    /// `None`, otherwise as tensors of that format on that device.
    pub(crate) fn new(config: &ModelConfig, tensors: Option<(DType, &Device)>) -> Result<Option<Self>> {
        if !(0..config.layers).any(|layer| config.has_convolution(layer)) {
            return Ok(None);
        }
        let (before, hidden_size) = (config.convolution_taps - 1, config.hidden_size);
        let layers = (0..config.layers).map(|layer| {
            let shape = (before + WINDOW, hidden_size);
            Ok(match (config.has_convolution(layer), tensors) {
                (false, _) => None,
                (true, None) => Some(Rows::Slice(vec![0.0; shape.0 * shape.1])),
                (true, Some((dtype, device))) => Some(Rows::Tensor(Tensor::zeros(shape, dtype, device)?)),
            })
        });
        Ok(Some(Self {
            before,
            hidden_size,
            base: 0,
            end: 0,
            layers: layers.collect::<Result<_>>()?,
            checkpoints: Vec::new(),
        }))
    }

    /// Makes room for the inputs of `count` tokens, at most half of [`WINDOW`], from `position` on.
    pub(crate) fn reserve(&mut self, position: usize, count: usize) -> Result<()> {
        if count > WINDOW / 2 || position < self.base || position > self.end {
            return Err(Error::Msg(format!(
                "{count} tokens at {position} do not fit the convolutions"
            )));
        }
        self.end = position + count;
        if self.end - self.base <= WINDOW {
            return Ok(());
        }
        let base = position - (position - self.base).min(WINDOW / 2);
        let (from, rows) = (base - self.base, self.before + position - base);
        for layer in self.layers.iter_mut().flatten() {
            let kept = part(layer, from, rows, self.hidden_size)?;
            put(layer, &kept, 0, self.hidden_size)?;
        }
        self.base = base;
        Ok(())
    }

    /// Stores the inputs of tokens from `position` on, `[tokens, hidden_size]`, in a state of slices.
    pub(crate) fn store(&mut self, layer: usize, position: usize, inputs: &[f32]) -> Result<()> {
        let start = (self.before + position - self.base) * self.hidden_size;
        match &mut self.layers[layer] {
            Some(Rows::Slice(rows)) => {
                rows[start..][..inputs.len()].copy_from_slice(inputs);
                Ok(())
            }
            _ => Err(wrong_rows()),
        }
    }

    /// Stores the inputs of tokens from `position` on, `[tokens, hidden_size]`, in a state of tensors.
    pub(crate) fn store_tensor(&self, layer: usize, position: usize, inputs: &Tensor) -> Result<()> {
        match &self.layers[layer] {
            Some(Rows::Tensor(rows)) => rows.slice_set(&inputs.contiguous()?, 0, self.before + position - self.base),
            _ => Err(wrong_rows()),
        }
    }

    /// The inputs of `count` tokens from `position` on with those before them that the first one sees:
    /// `[before + count, hidden_size]`.
    pub(crate) fn inputs(&self, layer: usize, position: usize, count: usize) -> Result<&[f32]> {
        let start = (position - self.base) * self.hidden_size;
        match &self.layers[layer] {
            Some(Rows::Slice(rows)) => Ok(&rows[start..][..(self.before + count) * self.hidden_size]),
            _ => Err(wrong_rows()),
        }
    }

    /// Returns the inputs of `count` tokens from `position` on with those before them that the first one sees, as
    /// [`inputs`](Self::inputs) does, from a state of tensors: `[before + count, hidden_size]`.
    pub(crate) fn inputs_tensor(&self, layer: usize, position: usize, count: usize) -> Result<Tensor> {
        match &self.layers[layer] {
            Some(Rows::Tensor(rows)) => rows.narrow(0, position - self.base, self.before + count),
            _ => Err(wrong_rows()),
        }
    }
}

impl Rollback for ConvolutionState {
    fn remember(&mut self, position: usize) -> Result<()> {
        let from = position - self.base;
        let rows = |layer: &Option<Rows>| {
            let rows = layer.as_ref();
            rows.map(|rows| part(rows, from, self.before, self.hidden_size))
                .transpose()
        };
        let layers = self.layers.iter().map(rows).collect::<Result<_>>()?;
        if self.checkpoints.len() == MAX_CHECKPOINTS {
            self.checkpoints.remove(1);
        }
        self.checkpoints.push(Checkpoint { position, layers });
        Ok(())
    }

    fn forget_after(&mut self, position: usize) {
        self.checkpoints.retain(|checkpoint| checkpoint.position <= position);
    }

    fn resume(&mut self, position: usize) -> Result<usize> {
        if position >= self.base && position <= self.end {
            return Ok(position);
        }
        let known = self.checkpoints.iter().rev().find(|known| known.position <= position);
        self.base = known.map_or(0, |known| known.position);
        self.end = self.base;
        for (index, layer) in self.layers.iter_mut().enumerate() {
            let Some(layer) = layer else { continue };
            match known.and_then(|known| known.layers[index].as_ref()) {
                Some(rows) => put(layer, rows, 0, self.hidden_size)?,
                None => clear(layer, self.before, self.hidden_size)?,
            }
        }
        Ok(self.base)
    }
}

/// A copy of `count` rows.
fn part(rows: &Rows, from: usize, count: usize, hidden_size: usize) -> Result<Rows> {
    Ok(match rows {
        Rows::Slice(rows) => Rows::Slice(rows[from * hidden_size..][..count * hidden_size].to_vec()),
        Rows::Tensor(rows) => Rows::Tensor(rows.narrow(0, from, count)?.force_contiguous()?),
    })
}

/// Overwrites rows from number `at` on.
fn put(rows: &mut Rows, new: &Rows, at: usize, hidden_size: usize) -> Result<()> {
    match (rows, new) {
        (Rows::Slice(rows), Rows::Slice(new)) => {
            rows[at * hidden_size..][..new.len()].copy_from_slice(new);
            Ok(())
        }
        (Rows::Tensor(rows), Rows::Tensor(new)) => rows.slice_set(new, 0, at),
        _ => Err(wrong_rows()),
    }
}

/// Sets the first `count` rows to zero.
fn clear(rows: &mut Rows, count: usize, hidden_size: usize) -> Result<()> {
    match rows {
        Rows::Slice(rows) => {
            rows[..count * hidden_size].fill(0.0);
            Ok(())
        }
        Rows::Tensor(rows) => rows.slice_set(&rows.narrow(0, 0, count)?.zeros_like()?, 0, 0),
    }
}

/// Returns the error for inputs of a kind that the layer does not have.
fn wrong_rows() -> Error {
    Error::Msg("the layer has no convolution on this device".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{CpuStorage, Storage};

    #[test]
    fn checkpoints_are_as_large_as_their_shape() {
        let rows = Rows::Tensor(Tensor::zeros((100, 3), DType::F32, &Device::Cpu).unwrap());
        let Rows::Tensor(part) = part(&rows, 10, 2, 3).unwrap() else {
            unreachable!("a part of a tensor is one")
        };
        let (storage, _) = part.storage_and_layout();
        match &*storage {
            Storage::Cpu(CpuStorage::F32(numbers)) => assert_eq!(numbers.len(), 6),
            _ => unreachable!("tensors of 32-bit floats on the CPU"),
        }
    }
}
