//! [`Checkpoints`]: weights, moments of the optimiser and step of a phase on disk, written whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use maskwright_models::{
    AdamW, AdamWOptions, HubSettings, ModelDevice, ModelError, ModelSource, TrainableModel, write_directory_whole,
};
use serde::{Deserialize, Serialize};

use super::TrainError;
use super::record::Phase;
use crate::error::CommandError;

/// Name of the directory of checkpoints within a run's directory.
const CHECKPOINTS: &str = "checkpoints";
/// Name of the file with a checkpoint's phase and steps.
const STATE: &str = "state.json";

/// Progress of the training at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    phase: Phase,
    /// Number of steps of the phase made.
    step: usize,
    /// Number of steps of the optimiser made; a step of GRPO may have several.
    optimiser_steps: u64,
}

/// The checkpoints of a run.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    run: PathBuf,
    device: ModelDevice,
}

impl Checkpoints {
    /// Creates a handle to the checkpoints of the run in `directory`.
    pub fn new(directory: &Path, device: ModelDevice) -> Self {
        Self {
            run: directory.to_owned(),
            device,
        }
    }

    /// Returns the directory of a model that a phase or the whole training produced, in Hugging Face layout.
    pub fn result(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }

    /// Reads the model in the directory that [`result`](Self::result) returns for `name`.
    ///
    /// # Errors
    ///
    /// [`ModelError`].
    pub fn read_result(&self, name: &str) -> Result<TrainableModel, ModelError> {
        self.model(&self.result(name))
    }

    fn model(&self, directory: &Path) -> Result<TrainableModel, ModelError> {
        let source = ModelSource::Directory(directory.to_owned());
        TrainableModel::load(&source, self.device, &HubSettings::from_environment(), None)
    }

    /// Writes a checkpoint after this number of steps of `phase`, and removes the earlier ones.
    ///
    /// # Errors
    ///
    /// [`ModelError::Write`].
    pub fn write(
        &self,
        (phase, step): (Phase, usize),
        model: &TrainableModel,
        optimiser: &AdamW,
    ) -> Result<(), CommandError> {
        let state = State {
            phase,
            step,
            optimiser_steps: optimiser.steps(),
        };
        let own = self.directory((phase, step));
        write_directory_whole(&own, |directory| {
            model.write(directory)?;
            optimiser.write(directory)?;
            let path = directory.join(STATE);
            let text = serde_json::to_string(&state).unwrap_or_default();
            fs::write(&path, text).map_err(|source| ModelError::Write { path, source })
        })?;
        for other in self.directories().into_iter().filter(|other| *other != own) {
            // Under a name that no reader looks for: a process that is killed leaves no half of a checkpoint.
            let is_partial = other.extension().is_some_and(|extension| extension == "partial");
            let gone = match is_partial {
                true => other,
                false => {
                    let gone = other.with_extension("removed.partial");
                    fs::rename(&other, &gone).map_err(|source| CommandError::write(&other, source))?;
                    gone
                }
            };
            fs::remove_dir_all(&gone).map_err(|source| CommandError::write(&gone, source))?;
        }
        Ok(())
    }

    /// Whether there is a checkpoint after this number of steps of `phase`.
    pub fn has(&self, after: (Phase, usize)) -> bool {
        self.directory(after).is_dir()
    }

    /// Reads model, optimiser and step of the last checkpoint of `phase`; `None` where there is no checkpoint.
    ///
    /// # Errors
    ///
    /// [`TrainError::Checkpoint`], where the checkpoint is damaged; [`ModelError`], where its weights cannot be read.
    pub fn last(
        &self,
        phase: Phase,
        options: AdamWOptions,
    ) -> Result<Option<(TrainableModel, AdamW, usize)>, CommandError> {
        let mut last: Option<(State, PathBuf)> = None;
        for path in self.directories() {
            if path.extension().is_some_and(|extension| extension == "partial") {
                continue;
            }
            let damaged = |message: String| TrainError::Checkpoint {
                path: path.clone(),
                message,
            };
            let text = fs::read_to_string(path.join(STATE)).map_err(|error| damaged(format!("{STATE}: {error}")))?;
            let state: State = serde_json::from_str(&text).map_err(|error| damaged(format!("{STATE}: {error}")))?;
            if state.phase == phase && last.as_ref().is_none_or(|(known, _)| known.step < state.step) {
                last = Some((state, path));
            }
        }
        let Some((state, path)) = last else {
            return Ok(None);
        };
        let read = self.model(&path).and_then(|model| {
            let optimiser = AdamW::read(options, state.optimiser_steps, &path, &model)?;
            Ok((model, optimiser, state.step))
        });
        read.map(Some).map_err(|error| damage(path, error))
    }

    /// Returns the directory of the checkpoint after this number of steps of a phase.
    pub fn directory(&self, (phase, step): (Phase, usize)) -> PathBuf {
        self.run.join(CHECKPOINTS).join(format!("{}-{step:06}", phase.name()))
    }

    /// Returns the directories within the directory of checkpoints.
    fn directories(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.run.join(CHECKPOINTS)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }

    /// Writes the model that a phase produced.
    ///
    /// # Errors
    ///
    /// [`ModelError::Write`].
    pub fn write_result(&self, name: &str, model: &TrainableModel) -> Result<(), ModelError> {
        write_directory_whole(&self.result(name), |directory| model.write(directory))
    }

    /// Removes all checkpoints, when training is over.
    ///
    /// # Errors
    ///
    /// [`CommandError::Write`].
    pub fn clear(&self) -> Result<(), CommandError> {
        let all = self.run.join(CHECKPOINTS);
        match fs::remove_dir_all(&all) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CommandError::write(&all, error)),
            _ => Ok(()),
        }
    }
}

/// Returns the error of the checkpoint in the directory `path` that could not be read. A device that fails is no defect of it.
fn damage(path: PathBuf, error: ModelError) -> CommandError {
    let message = match error {
        ModelError::Compute { .. } | ModelError::Device { .. } | ModelError::Io { .. } => return error.into(),
        // Its remedy, another download, is none for a checkpoint.
        ModelError::DamagedWeights { file, message } => format!("{file} is damaged: {message}"),
        error => error.to_string(),
    };
    TrainError::Checkpoint { path, message }.into()
}
