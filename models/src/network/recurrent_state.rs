//! [`RecurrentState`]: what recurrent layers keep of all tokens so far, and how it comes back after a rollback.
//!
//! Such a layer keeps a few large matrices that every token changes, so that nothing can be cut off them. Beside what is kept
//! at the end of the sequence, that of before the last forward pass is kept, which most rollbacks lead to, and that at the
//! ends of long appends, where prompts end. After a rollback to any other place, tokens have to be appended again from the
//! last place before it that is known.

use candle_core::{DType, Device, Error, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::load::config::recurrence::KeptShape;
use crate::network::rollback::Rollback;

/// The most checkpoints; the first one, which is mostly the end of the prompt, is never given up for a later one.
const MOST_CHECKPOINTS: usize = 4;
/// The most copies of what is kept: the checkpoints, now, before the last pass, and empty.
#[cfg(any(feature = "cuda", test))]
pub(crate) const MOST_COPIES: usize = MOST_CHECKPOINTS + 3;

/// What one layer keeps.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    Slices {
        /// The last inputs of the convolution, the oldest first: `[taps - 1, channels]`.
        inputs: Vec<f32>,
        /// One for each head, `[heads, rows, columns]`.
        matrices: Vec<f32>,
    },
    Tensors {
        inputs: Tensor,
        matrices: Tensor,
    },
}

/// What each layer keeps that keeps anything.
type Layers = Vec<Option<Kept>>;

/// What all recurrent layers keep.
#[derive(Debug)]
pub(crate) struct RecurrentState {
    /// What is kept at `end`, or in part already of the tokens behind it where there is no end.
    now: Layers,
    end: Option<usize>,
    /// What was kept before the last forward pass began, and where that was.
    before: Layers,
    begin: usize,
    checkpoints: Vec<(usize, Layers)>,
    /// What is kept before the first token.
    empty: Layers,
}

impl RecurrentState {
    /// The state of an empty sequence for the model that `config` describes, where it has recurrent layers: as slices on the CPU
    /// where `tensors` is `None`, otherwise as tensors on that device, inputs in that format and matrices as 32-bit floats.
    pub(crate) fn new(config: &ModelConfig, tensors: Option<(DType, &Device)>) -> Result<Option<Self>> {
        let Some(shape) = config.recurrence.map(|recurrence| recurrence.kept()) else {
            return Ok(None);
        };
        let layers = (0..config.layers).map(|layer| match config.is_recurrent(layer) {
            true => Kept::new(&shape, tensors).map(Some),
            false => Ok(None),
        });
        let empty: Layers = layers.collect::<Result<_>>()?;
        Ok(Some(Self {
            now: empty.clone(),
            end: Some(0),
            before: empty.clone(),
            begin: 0,
            checkpoints: Vec::new(),
            empty,
        }))
    }

    /// Begins a forward pass over tokens from `position` on, the end of the sequence.
    pub(crate) fn begin(&mut self, position: usize) -> Result<()> {
        if self.end != Some(position) {
            return Err(Error::Msg(format!("recurrent layers are not at {position}")));
        }
        self.before.clone_from(&self.now);
        (self.begin, self.end) = (position, None);
        Ok(())
    }

    /// Ends a forward pass; `position` is the end of the sequence.
    pub(crate) fn finish(&mut self, position: usize) {
        self.end = Some(position);
    }

    /// What the layer of that number keeps.
    pub(crate) fn layer(&mut self, layer: usize) -> Result<&mut Kept> {
        self.now[layer]
            .as_mut()
            .ok_or_else(|| Error::Msg("the layer keeps nothing".to_owned()))
    }
}

impl Rollback for RecurrentState {
    fn remember(&mut self, position: usize) -> Result<()> {
        if self.checkpoints.len() == MOST_CHECKPOINTS {
            self.checkpoints.remove(1);
        }
        self.checkpoints.push((position, self.now.clone()));
        Ok(())
    }

    fn forget_after(&mut self, position: usize) {
        self.checkpoints.retain(|(known, _)| *known <= position);
    }

    fn resume(&mut self, position: usize) -> Result<usize> {
        if self.end == Some(position) {
            return Ok(position);
        }
        let known = self.checkpoints.iter().rev().find(|(known, _)| *known <= position);
        let (known, kept) = match known {
            _ if self.begin == position => (position, &self.before),
            Some((known, kept)) => (*known, kept),
            None => (0, &self.empty),
        };
        self.now.clone_from(kept);
        self.end = Some(known);
        Ok(known)
    }
}

impl Kept {
    /// What a layer keeps before the first token.
    fn new(shape: &KeptShape, tensors: Option<(DType, &Device)>) -> Result<Self> {
        let inputs = (shape.taps - 1, shape.channels);
        let matrices = shape.matrices;
        Ok(match tensors {
            None => Self::Slices {
                inputs: vec![0.0; inputs.0 * inputs.1],
                matrices: vec![0.0; matrices.0 * matrices.1 * matrices.2],
            },
            Some((dtype, device)) => Self::Tensors {
                inputs: Tensor::zeros(inputs, dtype, device)?,
                matrices: Tensor::zeros(matrices, DType::F32, device)?,
            },
        })
    }
}

/// The error of a layer that keeps what another kind of device computes with.
pub(crate) fn wrong_kind() -> Error {
    Error::Msg("the layer keeps nothing on this device".to_owned())
}
