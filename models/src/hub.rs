//! [`Hub`]: files of models on the Hugging Face hub, downloaded into the cache that its other clients share.
//!
//! The cache's layout is huggingface_hub's: `models--ORG--NAME/` with `refs/REVISION` (the commit), `blobs/ETAG`
//! (contents) and `snapshots/COMMIT/FILE` (links to blobs).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde_json::Value;

use crate::ModelError;
use crate::hub_download::{Client, Fetched};
use crate::source::read_file;

/// Where the hub is, where its files are kept, and what may be asked of it.
#[derive(Clone, PartialEq, Eq)]
pub struct HubSettings {
    /// Address of the hub, without a slash at the end.
    pub endpoint: String,
    /// Directory of the cache.
    pub cache: PathBuf,
    /// Access token, for gated and private models.
    pub token: Option<String>,
    /// Use only what is in the cache.
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
    /// As [`HubSettings::from_environment`].
    fn default() -> Self {
        Self::from_environment()
    }
}

impl HubSettings {
    /// Reads `HF_ENDPOINT`, `HF_HUB_CACHE`, `HF_HOME`, `HF_TOKEN` and `HF_HUB_OFFLINE`, which have the meaning
    /// and the defaults of the hub's own client.
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

/// The hub, as far as models are fetched from it.
pub(crate) struct Hub<'a> {
    settings: &'a HubSettings,
    client: Client<'a>,
}

impl<'a> Hub<'a> {
    pub(crate) fn new(settings: &'a HubSettings, progress: Option<&'a ProgressBar>) -> Self {
        Self {
            settings,
            client: Client::new(settings, progress),
        }
    }

    /// The model `id` (`organisation/name`) at `revision`, or at `main`.
    ///
    /// Its commit is asked from the hub; where the hub cannot be reached, or may not, the one in the cache counts.
    pub(crate) fn repository(self, id: &str, revision: Option<&str>) -> Result<Repository<'a>, ModelError> {
        let revision = revision.unwrap_or("main");
        let directory = self.settings.cache.join(format!("models--{}", id.replace('/', "--")));
        let mut repository = Repository {
            name: format!("{id}@{revision}"),
            id: id.to_owned(),
            revision: revision.to_owned(),
            commit: String::new(),
            directory,
            files: None,
            hub: self,
        };
        if let Some(commit) = repository.cached_commit() {
            // A commit never changes, so one that is in the cache need not be asked for.
            if repository.hub.settings.offline || commit == revision {
                repository.commit = commit;
                return Ok(repository);
            }
        } else if repository.hub.settings.offline {
            return Err(repository.not_cached("the revision"));
        }
        match repository.ask_commit() {
            Ok(()) => Ok(repository),
            Err(error @ ModelError::Hub { .. }) => match repository.cached_commit() {
                Some(commit) => {
                    tracing::warn!(model = repository.name, %error, "the hub cannot be reached: using the cached commit {commit}");
                    repository.commit = commit;
                    Ok(repository)
                }
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }
}

/// One model on the hub, at one commit.
pub(crate) struct Repository<'a> {
    /// `organisation/name@revision`.
    name: String,
    id: String,
    revision: String,
    commit: String,
    /// The model's directory in the cache.
    directory: PathBuf,
    /// The names of its files, where the hub was asked.
    files: Option<BTreeSet<String>>,
    hub: Hub<'a>,
}

impl Repository<'_> {
    /// The commit, 40 hexadecimal digits.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    /// The path of `file` in the cache, downloaded if it is not there; `None` where the model has no such file.
    pub(crate) fn file(&mut self, file: &str) -> Result<Option<PathBuf>, ModelError> {
        let path = self.directory.join("snapshots").join(&self.commit).join(file);
        if path.is_file() {
            return Ok(Some(path));
        }
        if self.hub.settings.offline {
            return self.absent_offline(file);
        }
        if self.files.is_none() {
            // The commit came from the cache, and something is missing there.
            match self.ask_commit() {
                Err(ModelError::Hub { .. }) => return self.absent_offline(file),
                other => other?,
            }
        }
        if !self.files.as_ref().is_some_and(|files| files.contains(file)) {
            return Ok(None);
        }
        let url = format!(
            "{}/{}/resolve/{}/{file}",
            self.hub.settings.endpoint, self.id, self.commit
        );
        let locks = self
            .hub
            .settings
            .cache
            .join(".locks")
            .join(self.directory.file_name().unwrap_or_default());
        let fetched = self
            .hub
            .client
            .fetch(&self.name, &url, file, &self.directory.join("blobs"), &locks)?;
        self.link(&fetched, &path)?;
        Ok(Some(path))
    }

    /// What a missing file means without the hub: most are optional, so it is absent; but a snapshot without
    /// its configuration was never downloaded.
    fn absent_offline(&self, file: &str) -> Result<Option<PathBuf>, ModelError> {
        let needed = file == crate::source::CONFIG || file == crate::source::TOKENIZER || file.contains("-of-");
        if needed { Err(self.not_cached(file)) } else { Ok(None) }
    }

    fn not_cached(&self, file: &str) -> ModelError {
        ModelError::NotCached {
            repo: self.name.clone(),
            file: file.to_owned(),
            cache: self.hub.settings.cache.clone(),
        }
    }

    /// The commit that the cache has for the revision.
    fn cached_commit(&self) -> Option<String> {
        if is_commit(&self.revision) && self.directory.join("snapshots").join(&self.revision).is_dir() {
            return Some(self.revision.clone());
        }
        let text = read_file(&self.directory.join("refs").join(&self.revision), 1024).ok()?;
        let commit = String::from_utf8(text).ok()?.trim().to_owned();
        is_commit(&commit).then_some(commit)
    }

    /// Asks the hub for the commit and the list of files.
    fn ask_commit(&mut self) -> Result<(), ModelError> {
        let url = format!(
            "{}/api/models/{}/revision/{}",
            self.hub.settings.endpoint,
            self.id,
            self.revision.replace('/', "%2F")
        );
        let answer = self.hub.client.json(&self.name, &url)?;
        let odd = |message: &str| ModelError::Hub {
            url: url.clone(),
            message: message.to_owned(),
        };
        let commit = answer["sha"].as_str().filter(|commit| is_commit(commit));
        let commit = commit.ok_or_else(|| odd("the answer has no commit (`sha`)"))?;
        let files = answer["siblings"]
            .as_array()
            .ok_or_else(|| odd("the answer has no list of files (`siblings`)"))?;
        let names = files.iter().filter_map(|file| file["rfilename"].as_str());
        self.files = Some(names.map(str::to_owned).collect());
        self.commit = commit.to_owned();
        if self.commit != self.revision {
            write_file(&self.directory.join("refs").join(&self.revision), commit.as_bytes())?;
        }
        Ok(())
    }

    /// Makes `path` stand for the blob: a link, or a copy where the file system has no links.
    fn link(&self, blob: &Fetched, path: &Path) -> Result<(), ModelError> {
        let failed = |source| ModelError::Write {
            path: path.to_owned(),
            source,
        };
        create_parent(path)?;
        // Another process may have been quicker; what it made is the same.
        match link_or_copy(blob, path) {
            Err(_) if path.is_file() => Ok(()),
            other => other.map_err(failed),
        }
    }
}

#[cfg(unix)]
fn link_or_copy(blob: &Fetched, path: &Path) -> std::io::Result<()> {
    let relative = Path::new("..").join("..").join("blobs").join(&blob.etag);
    std::os::unix::fs::symlink(relative, path).or_else(|_| fs::copy(&blob.path, path).map(drop))
}

#[cfg(not(unix))]
fn link_or_copy(blob: &Fetched, path: &Path) -> std::io::Result<()> {
    fs::hard_link(&blob.path, path).or_else(|_| fs::copy(&blob.path, path).map(drop))
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Creates the directory that `path` is in.
pub(crate) fn create_parent(path: &Path) -> Result<(), ModelError> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(|source| ModelError::Write {
        path: directory.to_owned(),
        source,
    })
}

/// Creates `path` for writing, with its directory.
pub(crate) fn create_file(path: &Path) -> Result<File, ModelError> {
    create_parent(path)?;
    File::create(path).map_err(|source| ModelError::Write {
        path: path.to_owned(),
        source,
    })
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    create_parent(path)?;
    fs::write(path, bytes).map_err(|source| ModelError::Write {
        path: path.to_owned(),
        source,
    })
}

/// A JSON answer's text for error messages: the hub puts the reason in `error`.
pub(crate) fn reason(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value["error"].as_str().map(|text| text.chars().take(300).collect())
}
