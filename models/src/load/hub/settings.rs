//! [`HubSettings`]: where the hub is, and what may be asked of it.

use std::path::{Path, PathBuf};

/// Where the hub is, where its files are kept, and what may be asked of it.
#[derive(Clone, PartialEq, Eq)]
pub struct HubSettings {
    /// Address of the hub, without a slash at the end.
    pub endpoint: String,
    /// Directory of the cache.
    pub cache: PathBuf,
    /// Access token, for gated and private models.
    pub token: Option<String>,
    /// Whether only files in the cache are used.
    pub offline: bool,
}

impl std::fmt::Debug for HubSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubSettings")
            .field("endpoint", &self.endpoint)
            .field("cache", &self.cache)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("offline", &self.offline)
            .finish()
    }
}

impl Default for HubSettings {
    /// The settings that the environment has, see [`HubSettings::from_environment`].
    fn default() -> Self {
        Self::from_environment()
    }
}

impl HubSettings {
    /// Reads the environment variables `HF_ENDPOINT`, `HF_HUB_CACHE`, `HF_HOME`, `HF_TOKEN` and `HF_HUB_OFFLINE`, which have
    /// the meaning and the defaults that the hub's own client gives them.
    pub fn from_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = || match (variable("HF_HOME"), variable("XDG_CACHE_HOME")) {
            (Some(home), _) => PathBuf::from(home),
            (None, Some(cache)) => Path::new(&cache).join("huggingface"),
            (None, None) => {
                let home = std::env::home_dir().unwrap_or_default();
                home.join(".cache").join("huggingface")
            }
        };
        let is_true = |value: String| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on");
        Self {
            endpoint: variable("HF_ENDPOINT").map_or_else(
                || "https://huggingface.co".to_owned(),
                |endpoint| endpoint.trim_end_matches('/').to_owned(),
            ),
            cache: variable("HF_HUB_CACHE").map_or_else(|| home().join("hub"), PathBuf::from),
            token: variable("HF_TOKEN"),
            offline: variable("HF_HUB_OFFLINE").is_some_and(is_true),
        }
    }
}
