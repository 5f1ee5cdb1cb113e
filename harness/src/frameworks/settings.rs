//! [`FrameworkSettings`]: the entry of a framework in a run's manifest.

use serde::{Deserialize, Serialize};

use super::{Framework, LM_ONLY};

/// The name, version and options of a framework, as manifests and reports have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameworkSettings {
    /// Name; `none` for the model alone.
    pub name: String,
    /// Version of its package; empty for the model alone.
    pub version: String,
    /// Options that the framework runs with.
    pub options: String,
}

impl FrameworkSettings {
    /// Returns the settings recorded for the model alone.
    pub fn alone() -> Self {
        Self {
            name: LM_ONLY.to_owned(),
            version: String::new(),
            options: String::new(),
        }
    }
}

impl From<&Framework> for FrameworkSettings {
    fn from(framework: &Framework) -> Self {
        Self {
            name: framework.name.clone(),
            version: framework.description.version.clone(),
            options: framework.description.options.clone(),
        }
    }
}
