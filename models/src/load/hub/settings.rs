//! [`HubSettings`]: the hub's address, its cache, and access to it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::ModelError;
use crate::load::disk::read_file;

/// Largest file with an access token that is read, in bytes.
const MAX_TOKEN_BYTES: u64 = 1 << 16;

/// Address of the hub, directory of its cache, access token, and whether the network may be used.
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
    /// Reads the environment variables `HF_ENDPOINT`, `HF_HUB_CACHE`, `HF_HOME`, `HF_TOKEN`, `HF_TOKEN_PATH` and
    /// `HF_HUB_OFFLINE`, which have the meaning and the defaults that the hub's own client gives them. `HUGGINGFACE_HUB_CACHE` stands in for
    /// `HF_HUB_CACHE`, `HUGGING_FACE_HUB_TOKEN` for `HF_TOKEN`, and `TRANSFORMERS_OFFLINE` for `HF_HUB_OFFLINE`. A path may begin with `~/`. Without a token, the
    /// access token is that which `hf auth login` has stored.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The settings that the values of environment variables stand for, see [`HubSettings::from_environment`].
    pub fn from_variables(value: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| {
            value(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let path = |name: &str| variable(name).map(|path| of_user(&path));
        let home = match (path("HF_HOME"), path("XDG_CACHE_HOME")) {
            (Some(home), _) => home,
            (None, Some(cache)) => cache.join("huggingface"),
            (None, None) => {
                let home = std::env::home_dir().unwrap_or_default();
                home.join(".cache").join("huggingface")
            }
        };
        let stored_token = || {
            let path = path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
            read_token(&path)
        };
        let is_true = |value: String| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on");
        Self {
            endpoint: variable("HF_ENDPOINT").map_or_else(
                || "https://huggingface.co".to_owned(),
                |endpoint| endpoint.trim_end_matches('/').to_owned(),
            ),
            cache: path("HF_HUB_CACHE")
                .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
                .unwrap_or_else(|| home.join("hub")),
            token: variable("HF_TOKEN")
                .or_else(|| variable("HUGGING_FACE_HUB_TOKEN"))
                .or_else(stored_token),
            offline: ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
                .into_iter()
                .find_map(variable)
                .is_some_and(is_true),
        }
    }
}

/// A path in which `~/` at the beginning stands for the user's directory, as where a shell has not replaced it.
fn of_user(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(within), Some(home)) => home.join(within),
        _ => PathBuf::from(path),
    }
}

/// The access token in a file; none where there is no such file, or none in it.
fn read_token(path: &Path) -> Option<String> {
    let token = match read_file(path, MAX_TOKEN_BYTES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).trim().to_owned(),
        Err(ModelError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(%error, "no access token for the hub");
            return None;
        }
    };
    // What is no header's value would be refused with each request.
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then_some(token)
}
