//! [`AdamW`]: Adam with decoupled weight decay (arXiv 1711.05101), whose state can be written and read.

use std::collections::BTreeMap;
use std::path::Path;

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use super::checkpoint::{read_safetensors, safetensors_of};
use super::gradients::Gradients;
use super::trainable_model::TrainableModel;
use crate::error::ModelError;
use crate::load::disk::write_file;

/// Name of the file with the moments, within a checkpoint.
const MOMENTS: &str = "optimizer.safetensors";
/// Prefixes of the moments' names in that file.
const KINDS: [&str; 2] = ["first", "second"];

/// Settings of [`AdamW`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamWOptions {
    /// Decay of the first moment: the share of it that a step keeps.
    pub beta1: f64,
    /// Decay of the second moment: the share of it that a step keeps.
    pub beta2: f64,
    /// Number added to the root of the second moment.
    pub epsilon: f64,
    /// Share of a matrix, times the learning rate, that a step takes away; norms and biases do not decay.
    pub weight_decay: f64,
    /// The largest norm of the gradients of all weights together (the root of the sum of all squares); larger gradients are scaled down
    /// to it.
    pub longest_gradient: f64,
}

impl Default for AdamWOptions {
    fn default() -> Self {
        Self {
            beta1: 0.9,
            beta2: 0.95,
            epsilon: 1e-8,
            weight_decay: 0.01,
            longest_gradient: 1.0,
        }
    }
}

/// The optimiser, with a first and a second moment of each weight.
#[derive(Debug)]
pub struct AdamW {
    options: AdamWOptions,
    /// Number of steps made.
    steps: u64,
    moments: BTreeMap<String, [Tensor; 2]>,
}

impl AdamW {
    /// An optimiser that has made no step.
    pub fn new(options: AdamWOptions) -> Self {
        Self {
            options,
            steps: 0,
            moments: BTreeMap::new(),
        }
    }

    /// Changes the weights of `model` against `gradients`, at the learning rate `rate`. Returns the norm that the gradients had before
    /// they were shortened.
    ///
    /// # Errors
    ///
    /// [`ModelError::Compute`], where the device fails, or where gradients are no finite numbers: then nothing has been changed.
    pub fn step(
        &mut self,
        model: &mut TrainableModel,
        gradients: &Gradients,
        rate: f64,
    ) -> std::result::Result<f64, ModelError> {
        let norm = gradients.norm()?;
        if !norm.is_finite() {
            return Err(ModelError::Compute {
                model: model.name.clone(),
                what: "gradients",
                message: "they are no finite numbers; a lower learning rate may help".to_owned(),
            });
        }
        let shortened = (self.options.longest_gradient / norm.max(1e-12)).min(1.0);
        self.steps += 1;
        for (name, gradient) in &gradients.0 {
            let changed = self.change(model, name, gradient, (shortened, rate));
            changed.map_err(|error| ModelError::compute(&model.name, "a step of the optimiser", &error))?;
        }
        Ok(norm)
    }

    fn change(
        &mut self,
        model: &TrainableModel,
        name: &str,
        gradient: &Tensor,
        (shortened, rate): (f64, f64),
    ) -> Result<()> {
        let options = self.options;
        let gradient = (gradient * shortened)?;
        let [first, second] = match self.moments.get(name) {
            Some(moments) => moments.clone(),
            None => [gradient.zeros_like()?, gradient.zeros_like()?],
        };
        let first = ((first * options.beta1)? + (&gradient * (1.0 - options.beta1))?)?;
        let second = ((second * options.beta2)? + (gradient.sqr()? * (1.0 - options.beta2))?)?;
        // Moments begin at nothing: the first steps' are too small by these factors.
        let steps = self.steps as f64;
        let grown = [options.beta1, options.beta2].map(|beta| 1.0 - beta.powf(steps));
        let root = ((&second / grown[1])?.sqrt()? + options.epsilon)?;
        let change = ((&first / grown[0])? / root)?;
        let weights = model.parameters.get(name)?.as_detached_tensor();
        let kept = match weights.dims().len() {
            1 => weights,
            _ => (weights * (1.0 - rate * options.weight_decay))?,
        };
        model.set(name, &(kept - (change * rate)?)?)?;
        self.moments.insert(name.to_owned(), [first.detach(), second.detach()]);
        Ok(())
    }

    /// Number of steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Writes the moments into the directory of a checkpoint.
    ///
    /// # Errors
    ///
    /// [`ModelError::Write`].
    pub fn write(&self, directory: &Path) -> std::result::Result<(), ModelError> {
        let all = self.moments.iter().flat_map(|(name, moments)| {
            let named = KINDS.iter().zip(moments);
            named.map(move |(kind, moment)| (format!("{kind}.{name}"), moment.clone()))
        });
        write_file(&directory.join(MOMENTS), &safetensors_of("the optimiser", all)?)
    }

    /// Reads the moments that [`write`](Self::write) wrote into the checkpoint in `directory`. `steps` is the number of steps made until
    /// then, which the file does not hold.
    ///
    /// # Errors
    ///
    /// [`ModelError::Io`], where the file cannot be read; [`ModelError::DamagedWeights`], where it does not hold the moments of `model`.
    pub fn read(
        options: AdamWOptions,
        steps: u64,
        directory: &Path,
        model: &TrainableModel,
    ) -> std::result::Result<Self, ModelError> {
        let path = directory.join(MOMENTS);
        let mut tensors = read_safetensors(&path, &model.device)?;
        let mut moments = BTreeMap::new();
        for (name, var) in model.parameters.iter() {
            let mut take = |kind: &str| {
                let found = tensors.remove(&format!("{kind}.{name}"));
                found.filter(|moment| moment.dims() == var.dims())
            };
            match KINDS.map(&mut take) {
                [Some(first), Some(second)] => {
                    moments.insert(name.clone(), [first, second]);
                }
                [None, None] if steps == 0 => {}
                _ => {
                    return Err(ModelError::DamagedWeights {
                        file: path.display().to_string(),
                        message: format!("there are no moments of {name} in its shape"),
                    });
                }
            }
        }
        Ok(Self {
            options,
            steps,
            moments,
        })
    }
}
