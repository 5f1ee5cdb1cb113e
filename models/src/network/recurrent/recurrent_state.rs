//! [`RecurrentState`]: the state of recurrent layers after all tokens so far, and how it comes back after a rollback.
//!
//! Such a layer keeps a few large matrices that every token changes, so that no tokens can be cut off from them. Beside the state
//! at the end of the sequence, copies are kept: of the state before the last forward pass, to which most rollbacks lead, and of
//! those at the ends of long appends, where prompts end. After a rollback to any other place, tokens have to be appended again
//! from the last place before it whose state is known.

use candle_core::{DType, Device, Error, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::load::config::recurrence::LayerStateShape;
use crate::network::recurrent::rollback::Rollback;

/// The most checkpoints; the first one, which is mostly the end of the prompt, is never given up for a later one.
const MAX_CHECKPOINTS: usize = 4;
/// Largest number of copies of the state: the checkpoints, the present state, and that before the last pass.
#[cfg(any(feature = "cuda", test))]
pub(crate) const MAX_COPIES: usize = MAX_CHECKPOINTS + 2;

/// State of one recurrent layer after all tokens so far.
#[derive(Debug, Clone)]
pub(crate) enum LayerState {
    Slices {
        /// The last inputs of the convolution, the oldest first: `[taps - 1, channels]`.
        inputs: Vec<f32>,
        /// A matrix for each head: `[heads, rows, columns]`.
        matrices: Vec<f32>,
    },
    Tensors {
        inputs: Tensor,
        matrices: Tensor,
    },
}

/// The states of all layers, `None` for layers that are not recurrent.
type Layers = Vec<Option<LayerState>>;

/// States of all recurrent layers, with the copies that rollbacks need.
#[derive(Debug)]
pub(crate) struct RecurrentState {
    /// The states at position `end`; while a forward pass runs, `end` is `None`, and some layers have taken its tokens already.
    now: Layers,
    end: Option<usize>,
    /// Start position of the last forward pass, and the states there; `None` before the first pass.
    before: Option<(usize, Layers)>,
    checkpoints: Vec<(usize, Layers)>,
}

impl RecurrentState {
    /// The state of an empty sequence for the model that `config` describes, where it has recurrent layers: as slices on the CPU
    /// where `tensors` is `None`, otherwise as tensors on that device, inputs in that format and matrices as 32-bit floats.
    pub(crate) fn new(config: &ModelConfig, tensors: Option<(DType, &Device)>) -> Result<Option<Self>> {
        let Some(shape) = config.recurrence.map(|recurrence| recurrence.state_shape()) else {
            return Ok(None);
        };
        if !(0..config.layers).any(|layer| config.is_recurrent(layer)) {
            return Ok(None);
        }
        let layers = (0..config.layers).map(|layer| match config.is_recurrent(layer) {
            true => LayerState::new(&shape, tensors).map(Some),
            false => Ok(None),
        });
        Ok(Some(Self {
            now: layers.collect::<Result<_>>()?,
            end: Some(0),
            before: None,
            checkpoints: Vec::new(),
        }))
    }

    /// Begins a forward pass over tokens from `position` on, the end of the sequence.
    pub(crate) fn begin(&mut self, position: usize) -> Result<()> {
        if self.end != Some(position) {
            return Err(Error::Msg(format!("recurrent layers are not at {position}")));
        }
        match &mut self.before {
            Some((begin, layers)) => {
                *begin = position;
                layers.clone_from(&self.now);
            }
            None => self.before = Some((position, self.now.clone())),
        }
        self.end = None;
        Ok(())
    }

    /// Ends a forward pass; `position` is the end of the sequence.
    pub(crate) fn finish(&mut self, position: usize) {
        self.end = Some(position);
    }

    /// Returns the state of the layer of that number; an error where the layer is not recurrent.
    pub(crate) fn layer(&mut self, layer: usize) -> Result<&mut LayerState> {
        self.now[layer]
            .as_mut()
            .ok_or_else(|| Error::Msg("the layer keeps nothing".to_owned()))
    }
}

impl Rollback for RecurrentState {
    fn remember(&mut self, position: usize) -> Result<()> {
        if self.checkpoints.len() == MAX_CHECKPOINTS {
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
        let before = self.before.iter().filter(|(begin, _)| *begin == position);
        let checkpoints = self.checkpoints.iter().rev().filter(|(known, _)| *known <= position);
        let known = match before.chain(checkpoints).next() {
            Some((known, kept)) => {
                self.now.clone_from(kept);
                *known
            }
            None => {
                self.now.iter_mut().flatten().try_for_each(LayerState::clear)?;
                0
            }
        };
        self.end = Some(known);
        Ok(known)
    }
}

impl LayerState {
    /// Creates the state of a layer before the first token.
    fn new(shape: &LayerStateShape, tensors: Option<(DType, &Device)>) -> Result<Self> {
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

    /// The convolution's inputs and the matrices, where they are kept as slices.
    pub(crate) fn slices(&mut self) -> Result<(&mut Vec<f32>, &mut Vec<f32>)> {
        match self {
            Self::Slices { inputs, matrices } => Ok((inputs, matrices)),
            Self::Tensors { .. } => Err(wrong_kind()),
        }
    }

    /// The convolution's inputs and the matrices, where they are kept as tensors.
    pub(crate) fn tensors(&mut self) -> Result<(&mut Tensor, &mut Tensor)> {
        match self {
            Self::Tensors { inputs, matrices } => Ok((inputs, matrices)),
            Self::Slices { .. } => Err(wrong_kind()),
        }
    }

    /// Resets the layer's state to that before the first token.
    fn clear(&mut self) -> Result<()> {
        match self {
            Self::Slices { inputs, matrices } => {
                inputs.fill(0.0);
                matrices.fill(0.0);
            }
            Self::Tensors { inputs, matrices } => {
                *inputs = inputs.zeros_like()?;
                *matrices = matrices.zeros_like()?;
            }
        }
        Ok(())
    }
}

/// Returns the error for a layer state of another kind of device.
fn wrong_kind() -> Error {
    Error::Msg("the layer keeps nothing on this device".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, RandomCheckpoint};

    #[test]
    fn models_without_recurrent_layers_have_no_state() {
        let state = |types: [&str; 4]| {
            let mut config = RandomCheckpoint::preset(Family::GraniteHybrid, "tiny").unwrap().config;
            config["layer_types"] = types.as_slice().into();
            let config = ModelConfig::from_json("config.json", config.to_string().as_bytes()).unwrap();
            RecurrentState::new(&config, None).unwrap()
        };
        assert!(state(["attention", "attention", "mamba", "attention"]).is_some());
        assert!(state(["attention"; 4]).is_none());
    }
}
