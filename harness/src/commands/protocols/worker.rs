//! `maskwright worker`: one framework of this program, as a worker.

use clap::Args;

use crate::error::CommandError;
use crate::frameworks::{BUILT_IN_FRAMEWORKS, FrameworkError};
use crate::vocabularies;

/// Arguments of `maskwright worker`.
#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// The framework
    framework: String,
}

/// Answers requests on standard input until it ends.
///
/// # Errors
///
/// [`FrameworkError::Unknown`], or a failure to write replies.
pub fn run(arguments: &WorkerArguments) -> Result<(), CommandError> {
    let framework = BUILT_IN_FRAMEWORKS
        .iter()
        .find(|framework| framework.name == arguments.framework)
        .ok_or_else(|| FrameworkError::Unknown {
            name: arguments.framework.clone(),
            known: BUILT_IN_FRAMEWORKS
                .iter()
                .map(|framework| framework.name.to_owned())
                .collect(),
        })?;
    maskwright_worker::serve(&framework.describe(), &vocabularies::tokenizer, &framework.prepare)?;
    Ok(())
}
