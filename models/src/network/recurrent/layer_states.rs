//! [`LayerStates`]: the states that the layers of a model keep beside keys and values.

use candle_core::{DType, Device, Error, Result};

use crate::load::config::ModelConfig;
use crate::network::recurrent::convolution_state::ConvolutionState;
use crate::network::recurrent::recurrent_state::{LayerState, RecurrentState};
use crate::network::recurrent::rollback::Rollback;

/// States that the layers of a model keep beside keys and values. No model has both short convolutions and recurrent layers.
#[derive(Debug, Default)]
pub(crate) struct LayerStates {
    convolutions: Option<ConvolutionState>,
    recurrent: Option<RecurrentState>,
}

impl LayerStates {
    /// The states of an empty sequence for the model that `config` describes: as slices on the CPU where `tensors` is `None`,
    /// otherwise as tensors of that format on that device.
    pub(crate) fn new(config: &ModelConfig, tensors: Option<(DType, &Device)>) -> Result<Self> {
        Ok(Self {
            convolutions: ConvolutionState::new(config, tensors)?,
            recurrent: RecurrentState::new(config, tensors)?,
        })
    }

    /// Begins a forward pass over `count` tokens from `position` on, the end of the sequence.
    pub(crate) fn begin(&mut self, position: usize, count: usize) -> Result<()> {
        if let Some(state) = &mut self.convolutions {
            state.reserve(position, count)?;
        }
        if let Some(state) = &mut self.recurrent {
            state.begin(position)?;
        }
        Ok(())
    }

    /// Ends a forward pass; `position` is the end of the sequence.
    pub(crate) fn finish(&mut self, position: usize) {
        if let Some(state) = &mut self.recurrent {
            state.finish(position);
        }
    }

    /// Returns the state of the short convolutions; an error where the model has none.
    pub(crate) fn convolutions(&mut self) -> Result<&mut ConvolutionState> {
        let missing = || Error::Msg("the cache is of a model without convolutions".to_owned());
        self.convolutions.as_mut().ok_or_else(missing)
    }

    /// Returns the state of the recurrent layer of that number; an error where the model has no recurrent layers.
    pub(crate) fn recurrent(&mut self, layer: usize) -> Result<&mut LayerState> {
        match &mut self.recurrent {
            Some(state) => state.layer(layer),
            None => Err(Error::Msg(
                "the cache is of a model without recurrent layers".to_owned(),
            )),
        }
    }

    /// Returns the state that a rollback restores, where the model has layers with one.
    pub(crate) fn rollback(&mut self) -> Option<&mut dyn Rollback> {
        match (&mut self.convolutions, &mut self.recurrent) {
            (Some(state), _) => Some(state),
            (None, Some(state)) => Some(state),
            (None, None) => None,
        }
    }
}
