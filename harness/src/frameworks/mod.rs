//! The frameworks that can be compared, one file each.

mod documented;
mod llguidance;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use documented::{Documented, Keyword, Restriction};
use maskwright::{Compiler, Vocabulary};

/// Name of the row without a framework: the model alone ("LM only" in the paper).
pub const LM_ONLY: &str = "none";

/// A constrained-decoding framework: what it is called, and how it is made ready for a vocabulary.
pub struct Framework {
    /// Name in commands, records and tables.
    pub name: &'static str,
    /// One line for `maskwright list`.
    pub description: &'static str,
    /// Version of the framework's package.
    pub version: &'static str,
    /// The options it runs with, as its own documentation calls them.
    pub options: &'static str,
    /// What its documentation says it supports, for theoretical coverage.
    pub documented: &'static Documented,
    /// Prepares the framework for a vocabulary.
    pub compiler: Prepare,
}

/// Makes a framework ready for a vocabulary.
pub type Prepare = fn(Arc<Vocabulary>) -> Result<Box<dyn Compiler>, FrameworkError>;

/// A framework could not be made ready for a vocabulary, or there is no such framework.
#[derive(Debug, thiserror::Error)]
pub enum FrameworkError {
    /// The name is none of the known ones.
    #[error("there is no framework {name:?}; known are {}, and {LM_ONLY} for the model alone", known.join(", "))]
    Unknown {
        /// The name given.
        name: String,
        /// All names.
        known: Vec<&'static str>,
    },
    /// The framework refused the vocabulary.
    #[error("framework {framework} cannot work with this vocabulary: {message}")]
    Vocabulary {
        /// The framework.
        framework: &'static str,
        /// What it said.
        message: String,
    },
}

/// Every framework of this build, in the order of tables.
pub static FRAMEWORKS: &[Framework] = &[llguidance::FRAMEWORK];

/// The framework called `name`.
///
/// # Errors
///
/// [`FrameworkError::Unknown`].
pub fn find(name: &str) -> Result<&'static Framework, FrameworkError> {
    FRAMEWORKS
        .iter()
        .find(|framework| framework.name == name)
        .ok_or_else(|| FrameworkError::Unknown {
            name: name.to_owned(),
            known: FRAMEWORKS.iter().map(|framework| framework.name).collect(),
        })
}
