//! [`Repository`]: one model on the hub, its files fetched into the cache when they are asked for.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hf_hub::{Cache, CacheRepo, Repo, RepoType};
use indicatif::ProgressBar;

use crate::error::ModelError;
use crate::load::disk::{create_file, create_parent, read_file, write_file};
use crate::load::file_names::{CONFIG, TOKENIZER, WEIGHT_INDEX, WEIGHTS};
use crate::load::gguf::choice::choose;
use crate::load::hub::contents::Announced;
use crate::load::hub::downloader::{Downloader, Wanted};
use crate::load::hub::listing::{Listing, is_commit};
use crate::load::hub::settings::HubSettings;

/// Attempts at asking for a commit.
const ATTEMPTS: u32 = 4;
/// Pause after the first failed attempt; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// One model on the hub, at one commit.
pub(crate) struct Repository<'a> {
    /// `organisation/name@revision`.
    name: String,
    /// The model at the revision that was asked for.
    repository: Repo,
    commit: String,
    /// The hub's list of files; `None` if the hub was not asked.
    listing: Option<Listing>,
    /// Whether the hub was asked and gave no list of files.
    is_unreachable: bool,
    /// The hub's refusal, where that is the reason.
    refusal: Option<ModelError>,
    settings: &'a HubSettings,
    downloader: Downloader<'a>,
}

impl<'a> Repository<'a> {
    /// The model `id` (`organisation/name`) at `revision`, or at `main`.
    ///
    /// The hub is asked for the commit; where it cannot be reached, refuses the model, or must not be asked, the commit in the cache
    /// counts.
    pub(crate) fn open(
        settings: &'a HubSettings,
        progress: Option<&'a ProgressBar>,
        id: &str,
        revision: Option<&str>,
    ) -> Result<Self, ModelError> {
        let revision = revision.unwrap_or("main");
        let mut repository = Self {
            name: format!("{id}@{revision}"),
            repository: Repo::with_revision(id.to_owned(), RepoType::Model, revision.to_owned()),
            commit: String::new(),
            listing: None,
            is_unreachable: false,
            refusal: None,
            settings,
            downloader: Downloader::new(settings, progress),
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
        if let Err(error) = repository.fetch_listing() {
            let Some(commit) = repository.cached_commit() else {
                return Err(error);
            };
            repository.commit = commit;
            repository.use_cache_only(error)?;
        }
        Ok(repository)
    }

    /// The commit, 40 hexadecimal digits.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    /// The path of `file` in the cache, downloaded if it is not there; `None` where the model has no such file.
    pub(crate) fn file(&mut self, file: &str) -> Result<Option<PathBuf>, ModelError> {
        let path = self.cached().pointer_path(&self.commit).join(file);
        let unchecked = self.beside_cache(file, "unchecked");
        if path.is_file() && !unchecked.exists() {
            return Ok(Some(path));
        }
        if self.settings.offline || self.is_unreachable {
            return self.missing_offline(file);
        }
        if self.listing.is_none() {
            // The commit came from the cache, and something is missing there.
            if let Err(error) = self.fetch_listing() {
                self.use_cache_only(error)?;
                return self.missing_offline(file);
            }
        }
        let Some(listing) = &self.listing else {
            return Ok(None);
        };
        let Some(announced) = listing.files.get(file) else {
            return Ok(None);
        };
        let lock_path = self.beside_cache(file, "lock");
        let lock = create_file(&lock_path)?;
        // Released when dropped. On file systems without locks, two downloads may waste work.
        if let Err(error) = lock.lock() {
            tracing::debug!(%error, lock = %lock_path.display(), "no lock");
        }
        if path.is_file() && (!unchecked.exists() || announced.difference(&path)?.is_none()) {
            remove(&unchecked)?;
            return Ok(Some(path));
        }
        if !self.link_to_blob(announced, &path)? {
            // hf-hub puts a file into its place before anybody has looked at it: until then, it is marked.
            write_file(&unchecked, b"")?;
            self.download(file, announced, listing.needs_token, &path)?;
            remove(&unchecked)?;
        }
        Ok(Some(path))
    }

    /// Downloads `file` to `path` and compares it with the announced size and hash.
    fn download(&self, file: &str, announced: &Announced, needs_token: bool, path: &Path) -> Result<(), ModelError> {
        let at_commit = Repo::with_revision(self.repository.url(), RepoType::Model, self.commit.clone());
        let wanted = Wanted {
            name: &self.name,
            repository: &at_commit,
            file,
            announced,
            needs_token,
        };
        let downloaded = self.downloader.download(wanted)?;
        let url = format!(
            "{}/{}/resolve/{}/{file}",
            self.settings.endpoint,
            self.repository.url(),
            self.commit
        );
        if downloaded != path {
            let message = "the hub sent the file of another commit".to_owned();
            return Err(ModelError::Hub { url, message });
        }
        let Some(message) = announced.difference(path)? else {
            return Ok(());
        };
        // Nothing of it can be trusted.
        if let Ok(blob) = path.canonicalize() {
            remove(&blob)?;
        }
        remove(path)?;
        Err(ModelError::HubDamaged { url, message })
    }

    /// Makes `path` stand for contents that another commit had, too, if the cache has them. True if so.
    fn link_to_blob(&self, announced: &Announced, path: &Path) -> Result<bool, ModelError> {
        let Some(hash) = &announced.hash else {
            return Ok(false);
        };
        let blob = self.cached().blob_path(hash.hex());
        if !blob.is_file() || announced.difference(&blob)?.is_some() {
            return Ok(false);
        }
        create_parent(path)?;
        // A link may be left whose contents are gone.
        remove(path)?;
        // From the link's directory, within that of the commit, up to the model's.
        let from = path
            .parent()
            .and_then(|parent| parent.strip_prefix(self.directory()).ok());
        let up = from.map_or(0, |from| from.components().count());
        let relative: PathBuf = std::iter::repeat_n("..", up).chain(["blobs", hash.hex()]).collect();
        match link_or_copy(&blob, &relative, path) {
            // Another process may have been quicker; what it made is the same.
            Err(_) if path.is_file() => Ok(true),
            other => other
                .map(|()| true)
                .map_err(|source| ModelError::cannot_write(path, source)),
        }
    }

    /// The model's part of the cache.
    fn cached(&self) -> CacheRepo {
        Cache::new(self.settings.cache.clone()).repo(self.repository.clone())
    }

    /// The model's directory in the cache.
    fn directory(&self) -> PathBuf {
        self.settings.cache.join(self.repository.folder_name())
    }

    /// The path of a file of the given kind that says something about `file`, where other clients keep their locks.
    fn beside_cache(&self, file: &str, kind: &str) -> PathBuf {
        let locks = self.settings.cache.join(".locks").join(self.repository.folder_name());
        locks.join(&self.commit).join(format!("{file}.{kind}"))
    }

    /// The path of the GGUF file that `wanted` means, its name or its format, downloaded if it is not in the cache.
    ///
    /// The file of a format is chosen among those that the hub has; where the hub cannot be asked, among those in the cache.
    pub(crate) fn gguf_file(&mut self, wanted: &str) -> Result<PathBuf, ModelError> {
        let cached = cached_files(&self.cached().pointer_path(&self.commit));
        let chosen = choose(cached.iter().map(String::as_str), wanted).map(str::to_owned);
        let mut file = chosen.clone();
        let is_name = chosen.as_deref() == Some(wanted);
        let is_askable = !(self.settings.offline || self.is_unreachable && chosen.is_some());
        if !is_name && is_askable {
            let asked = match self.listing {
                Some(_) => Ok(()),
                None => self.fetch_listing(),
            };
            match asked {
                Err(error) if chosen.is_some() && gives_no_listing(&error) => {
                    tracing::warn!(model = self.name, %error, "no list of files from the hub: choosing among those in the cache");
                }
                asked => {
                    asked?;
                    file = choose(self.announced_names(), wanted).map(str::to_owned);
                }
            }
        }
        let path = match &file {
            Some(file) => self.file(file)?,
            None => None,
        };
        match path {
            Some(path) => Ok(path),
            None if self.settings.offline => Err(self.not_cached(wanted)),
            None => {
                let files = self.announced_names().filter(|file| file.ends_with(".gguf"));
                let files: Vec<&str> = files.take(30).collect();
                Err(ModelError::MissingFile {
                    model: self.name.clone(),
                    file: format!("GGUF file {wanted}"),
                    hint: format!("GGUF files there: {}", files.join(", ")),
                })
            }
        }
    }

    /// The names of the files that the hub has, where it was asked.
    fn announced_names(&self) -> impl Iterator<Item = &str> {
        let listing = self.listing.iter();
        listing.flat_map(|listing| listing.files.keys().map(String::as_str))
    }

    /// Whether the hub was asked and has a file of that name.
    pub(crate) fn announces(&self, file: &str) -> bool {
        self.announced_names().any(|name| name == file)
    }

    /// Goes on with what is in the cache, where the hub was asked in vain: it was not reached, refuses access, or does not know the model.
    /// Other errors are given back.
    fn use_cache_only(&mut self, error: ModelError) -> Result<(), ModelError> {
        if !gives_no_listing(&error) {
            return Err(error);
        }
        tracing::warn!(model = self.name, %error, "no list of files from the hub: using the cached commit {}", self.commit);
        self.is_unreachable = true;
        self.refusal = (!matches!(error, ModelError::Hub { .. })).then_some(error);
        Ok(())
    }

    /// Judges a file that is missing in the cache where the hub cannot be asked: most files are optional, so it is absent;
    /// but a snapshot without its configuration was never downloaded.
    fn missing_offline(&mut self, file: &str) -> Result<Option<PathBuf>, ModelError> {
        let needed = file == CONFIG || file == TOKENIZER || file.contains("-of-");
        if needed { Err(self.not_cached(file)) } else { Ok(None) }
    }

    /// The error of a model without weights in the cache; `None` where the hub said that it has none.
    pub(crate) fn weights_not_cached(&mut self) -> Option<ModelError> {
        let is_asked = !self.settings.offline && !self.is_unreachable;
        (!is_asked).then(|| self.not_cached(&format!("{WEIGHTS} or {WEIGHT_INDEX}")))
    }

    /// The error of a file that is not in the cache: the hub's refusal, if it refused the model.
    fn not_cached(&mut self, file: &str) -> ModelError {
        self.refusal.take().unwrap_or_else(|| ModelError::NotCached {
            repo: self.name.clone(),
            file: file.to_owned(),
            cache: self.settings.cache.clone(),
        })
    }

    /// The commit that the cache has for the revision.
    fn cached_commit(&self) -> Option<String> {
        let revision = self.repository.revision();
        if is_commit(revision) && self.cached().pointer_path(revision).is_dir() {
            return Some(revision.to_owned());
        }
        let text = read_file(&self.directory().join("refs").join(revision), 1024).ok()?;
        let commit = String::from_utf8(text).ok()?.trim().to_owned();
        is_commit(&commit).then_some(commit)
    }

    /// Asks the hub for the commit and the list of files.
    fn fetch_listing(&mut self) -> Result<(), ModelError> {
        let url = format!("{}/api/{}", self.settings.endpoint, self.repository.api_url());
        let api = self.downloader.api(true)?.repo(self.repository.clone());
        let has_token = self.settings.token.is_some();
        let mut pause = FIRST_PAUSE;
        let mut listing = Listing::fetch(&api, &self.name, &url, has_token);
        for _ in 1..ATTEMPTS {
            let Err(error @ ModelError::Hub { .. }) = &listing else {
                break;
            };
            tracing::debug!(%error, "trying again");
            std::thread::sleep(pause);
            pause *= 2;
            listing = Listing::fetch(&api, &self.name, &url, has_token);
        }
        let listing = listing?;
        self.commit = listing.commit.clone();
        self.listing = Some(listing);
        let is_known = self.commit == self.repository.revision() || self.cached_commit().as_ref() == Some(&self.commit);
        if !is_known && let Err(error) = self.write_commit() {
            tracing::warn!(model = self.name, %error, "the cache does not keep the revision's commit {}", self.commit);
        }
        Ok(())
    }

    /// Writes the commit of the revision into the cache, whole or not at all: other processes may read it meanwhile.
    fn write_commit(&self) -> Result<(), ModelError> {
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        let path = self.directory().join("refs").join(self.repository.revision());
        let (process, number) = (std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
        let partial = self.directory().join(format!("ref-{process}-{number}.partial"));
        create_parent(&path)?;
        write_file(&partial, self.commit.as_bytes())?;
        fs::rename(&partial, &path).or_else(|source| {
            remove(&partial)?;
            Err(ModelError::cannot_write(&path, source))
        })
    }
}

/// Whether an error of asking the hub leaves the files in the cache to go on with: it was not reached, refuses access, or does not know
/// the model.
fn gives_no_listing(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::Hub { .. } | ModelError::HubRefused { .. } | ModelError::HubNotFound { .. }
    )
}

/// Removes a file or a link, if there is one.
fn remove(path: &Path) -> Result<(), ModelError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(ModelError::cannot_write(path, error)),
        _ => Ok(()),
    }
}

/// Makes `path` stand for `blob`: a link to `relative`, or a copy where the file system has no links.
#[cfg(unix)]
fn link_or_copy(blob: &Path, relative: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(relative, path).or_else(|_| fs::copy(blob, path).map(drop))
}

/// Makes `path` stand for `blob`: a hard link to it, or a copy where the file system has no links.
#[cfg(not(unix))]
fn link_or_copy(blob: &Path, _: &Path, path: &Path) -> std::io::Result<()> {
    fs::hard_link(blob, path).or_else(|_| fs::copy(blob, path).map(drop))
}

/// The names of the files of a snapshot in the cache, with those of folders in it.
fn cached_files(snapshot: &Path) -> Vec<String> {
    let entries = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files = Vec::new();
    for entry in entries(snapshot) {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => files
                .extend(entries(&entry.path()).map(|file| format!("{name}/{}", file.file_name().to_string_lossy()))),
            false => files.push(name),
        }
    }
    files
}
