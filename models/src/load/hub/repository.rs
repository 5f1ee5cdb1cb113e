//! [`Repository`]: one model on the hub, its files fetched into the cache when they are asked for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use crate::error::ModelError;
use crate::load::disk::{create_parent, read_file, write_file};
use crate::load::file_names::{CONFIG, TOKENIZER};
use crate::load::hub::client::{Client, Fetched};
use crate::load::hub::settings::HubSettings;

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
    settings: &'a HubSettings,
    client: Client<'a>,
}

impl<'a> Repository<'a> {
    /// The model `id` (`organisation/name`) at `revision`, or at `main`.
    ///
    /// Its commit is asked from the hub; where the hub cannot be reached, or may not, the one in the cache counts.
    pub(crate) fn open(
        settings: &'a HubSettings,
        progress: Option<&'a ProgressBar>,
        id: &str,
        revision: Option<&str>,
    ) -> Result<Self, ModelError> {
        let revision = revision.unwrap_or("main");
        let mut repository = Self {
            name: format!("{id}@{revision}"),
            id: id.to_owned(),
            revision: revision.to_owned(),
            commit: String::new(),
            directory: settings.cache.join(format!("models--{}", id.replace('/', "--"))),
            files: None,
            settings,
            client: Client::new(settings, progress),
        };
        if let Some(commit) = repository.cached_commit() {
            // A commit never changes, so one that is in the cache need not be asked for.
            if settings.offline || commit == revision {
                repository.commit = commit;
                return Ok(repository);
            }
        } else if settings.offline {
            return Err(repository.not_cached("the revision"));
        }
        let endpoint = &settings.endpoint;
        if !endpoint.starts_with("https://") && !endpoint.starts_with("http://") {
            return Err(ModelError::Hub {
                url: endpoint.clone(),
                message: "HF_ENDPOINT has to be an address that starts with https:// or http://".to_owned(),
            });
        }
        match repository.fetch_commit() {
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
        if self.settings.offline {
            return self.missing_offline(file);
        }
        if self.files.is_none() {
            // The commit came from the cache, and something is missing there.
            match self.fetch_commit() {
                Err(ModelError::Hub { .. }) => return self.missing_offline(file),
                other => other?,
            }
        }
        if !self.files.as_ref().is_some_and(|files| files.contains(file)) {
            return Ok(None);
        }
        let url = format!("{}/{}/resolve/{}/{file}", self.settings.endpoint, self.id, self.commit);
        let directory = self.directory.file_name().unwrap_or_default();
        let locks = self.settings.cache.join(".locks").join(directory);
        let fetched = self
            .client
            .fetch(&self.name, &url, file, &self.directory.join("blobs"), &locks)?;
        self.link(&fetched, &path)?;
        Ok(Some(path))
    }

    /// Judges a file that is missing in the cache where the hub cannot be asked: most files are optional, so it is absent;
    /// but a snapshot without its configuration was never downloaded.
    fn missing_offline(&self, file: &str) -> Result<Option<PathBuf>, ModelError> {
        let needed = file == CONFIG || file == TOKENIZER || file.contains("-of-");
        if needed { Err(self.not_cached(file)) } else { Ok(None) }
    }

    /// The error of a file that is not in the cache.
    fn not_cached(&self, file: &str) -> ModelError {
        ModelError::NotCached {
            repo: self.name.clone(),
            file: file.to_owned(),
            cache: self.settings.cache.clone(),
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
    fn fetch_commit(&mut self) -> Result<(), ModelError> {
        let url = format!(
            "{}/api/models/{}/revision/{}",
            self.settings.endpoint,
            self.id,
            self.revision.replace('/', "%2F")
        );
        let answer = self.client.get_json(&self.name, &url)?;
        let unexpected = |message: &str| ModelError::Hub {
            url: url.clone(),
            message: message.to_owned(),
        };
        let commit = answer["sha"].as_str().filter(|commit| is_commit(commit));
        let commit = commit.ok_or_else(|| unexpected("the answer has no commit (`sha`)"))?;
        let files = answer["siblings"]
            .as_array()
            .ok_or_else(|| unexpected("the answer has no list of files (`siblings`)"))?;
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
        create_parent(path)?;
        // Another process may have been quicker; what it made is the same.
        match link_or_copy(blob, path) {
            Err(_) if path.is_file() => Ok(()),
            other => other.map_err(|source| ModelError::cannot_write(path, source)),
        }
    }
}

#[cfg(unix)]
fn link_or_copy(blob: &Fetched, path: &Path) -> std::io::Result<()> {
    let relative = Path::new("..").join("..").join("blobs").join(&blob.etag);
    std::os::unix::fs::symlink(relative, path).or_else(|_| std::fs::copy(&blob.path, path).map(drop))
}

#[cfg(not(unix))]
fn link_or_copy(blob: &Fetched, path: &Path) -> std::io::Result<()> {
    std::fs::hard_link(&blob.path, path).or_else(|_| std::fs::copy(&blob.path, path).map(drop))
}

/// Whether `text` is the name of a commit.
fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
