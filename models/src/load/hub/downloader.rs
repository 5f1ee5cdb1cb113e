//! [`Downloader`]: downloads by hf-hub that are tried again after failures that may pass, and given up where nothing comes.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use hf_hub::api::Progress;
use hf_hub::api::sync::{Api, ApiBuilder, ApiError};
use hf_hub::{Cache, Repo};
use indicatif::ProgressBar;

use crate::error::ModelError;
use crate::load::hub::contents::Announced;
use crate::load::hub::settings::HubSettings;

/// Attempts at each file.
const ATTEMPTS: u32 = 4;
/// Pause after the first failed attempt; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longest time in which a download makes no progress.
const STALL_TIME: Duration = Duration::from_secs(90);
/// Interval between two checks of the progress.
const INTERVAL: Duration = Duration::from_millis(100);

/// Fetches files of the hub into its cache.
pub(super) struct Downloader<'a> {
    settings: &'a HubSettings,
    progress: Option<&'a ProgressBar>,
    /// Longest time in which a download makes no progress.
    patience: Duration,
}

/// One file to be fetched.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// `organisation/name@revision`, for errors.
    pub(super) name: &'a str,
    /// The repository at its commit.
    pub(super) repository: &'a Repo,
    /// The name of the file in the repository.
    pub(super) file: &'a str,
    /// Size and hash that the hub announces for the file.
    pub(super) announced: &'a Announced,
    /// Whether the hub gives the file only to clients with an access token.
    pub(super) needs_token: bool,
}

impl<'a> Downloader<'a> {
    pub(super) fn new(settings: &'a HubSettings, progress: Option<&'a ProgressBar>) -> Self {
        Self {
            settings,
            progress,
            patience: STALL_TIME,
        }
    }

    /// The interface of hf-hub, with the access token where `with_token`.
    pub(super) fn api(&self, with_token: bool) -> Result<Api, ModelError> {
        let builder = ApiBuilder::from_cache(Cache::new(self.settings.cache.clone()))
            .with_endpoint(self.settings.endpoint.clone())
            .with_token(self.settings.token.clone().filter(|_| with_token))
            .with_user_agent("maskwright", env!("CARGO_PKG_VERSION"))
            .with_progress(false)
            // hf-hub's own repetition appends to a part of a file at the wrong place where nothing came at all.
            .with_retries(0);
        builder.build().map_err(|error| ModelError::Hub {
            url: self.settings.endpoint.clone(),
            message: error.to_string(),
        })
    }

    /// Downloads a file into the cache, continuing an earlier partial download. Returns the file's path; its size and hash have
    /// not been checked yet.
    pub(super) fn download(&self, wanted: Wanted<'_>) -> Result<PathBuf, ModelError> {
        // hf-hub 0.5 shows the token to the storage that the hub redirects to, too: it gets none where none is needed.
        let api = self.api(wanted.needs_token)?;
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            let problem = match self.attempt(&api, wanted) {
                Ok(path) => return Ok(path),
                Err(problem) => problem,
            };
            if problem.is_of_partial() {
                self.remove_partial(wanted)?;
            } else if !problem.may_pass() {
                return Err(self.error(&api, wanted, problem));
            }
            tracing::debug!(?problem, file = wanted.file, "trying again");
            thread::sleep(pause);
            pause *= 2;
        }
        self.attempt(&api, wanted)
            .map_err(|problem| self.error(&api, wanted, problem))
    }

    /// One attempt, on a thread of its own: hf-hub sets no limit on the time, and panics at some answers. Where nothing comes,
    /// the thread is left behind.
    fn attempt(&self, api: &Api, wanted: Wanted<'_>) -> Result<PathBuf, Problem> {
        let received = Arc::new(AtomicU64::new(0));
        let counter = Counter(Arc::clone(&received));
        if let Some(progress) = self.progress {
            progress.set_length(wanted.announced.bytes.unwrap_or(0));
            progress.set_message(wanted.file.to_owned());
        }
        let (sender, receiver) = channel();
        let (repository, file) = (api.repo(wanted.repository.clone()), wanted.file.to_owned());
        let started = thread::Builder::new().name("download".to_owned()).spawn(move || {
            // Nobody receives any more where the download was given up.
            drop(sender.send(repository.download_with_progress(&file, counter)));
        });
        started.map_err(|error| Problem::Failed(ApiError::IoError(error)))?;
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            let result = receiver.recv_timeout(INTERVAL);
            let bytes = received.load(Ordering::Relaxed);
            if let Some(progress) = self.progress {
                progress.set_position(bytes);
            }
            match result {
                Ok(result) => return result.map_err(Problem::Failed),
                Err(RecvTimeoutError::Disconnected) => return Err(Problem::Panicked),
                Err(RecvTimeoutError::Timeout) if bytes != seen => (seen, since) = (bytes, Instant::now()),
                Err(RecvTimeoutError::Timeout) if since.elapsed() > self.patience => return Err(Problem::Stalled),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Removes the partial file of an earlier download.
    fn remove_partial(&self, wanted: Wanted<'_>) -> Result<(), ModelError> {
        let Some(hash) = &wanted.announced.hash else {
            return Ok(());
        };
        let cache = Cache::new(self.settings.cache.clone()).repo(wanted.repository.clone());
        let partial = cache.blob_path(hash.hex()).with_extension("part");
        match std::fs::remove_file(&partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(ModelError::cannot_write(&partial, error)),
            _ => Ok(()),
        }
    }

    /// Returns the error that the user sees.
    fn error(&self, api: &Api, wanted: Wanted<'_>, problem: Problem) -> ModelError {
        let url = api.repo(wanted.repository.clone()).url(wanted.file);
        let has_token = wanted.needs_token && self.settings.token.is_some();
        let damaged = |message: String| ModelError::HubDamaged {
            url: url.clone(),
            message,
        };
        let failed = |message: String| ModelError::Hub {
            url: url.clone(),
            message,
        };
        match (problem.status(), problem) {
            (Some(status @ (401 | 403)), _) => ModelError::refused(wanted.name, &url, status, has_token),
            (Some(404), _) => ModelError::HubNotFound {
                url,
                hint: "the hub lists this file but does not have it".to_owned(),
            },
            (_, Problem::Failed(ApiError::IoError(source))) if is_of_disk(&source) => {
                ModelError::cannot_write(&self.settings.cache, source)
            }
            (_, Problem::Failed(ApiError::IoError(source))) => damaged(source.to_string()),
            (_, Problem::Stalled) => damaged(format!("nothing came for {} s", self.patience.as_secs_f64())),
            (_, Problem::Failed(error)) => failed(error.to_string()),
            (_, Problem::Panicked) => failed("hf-hub cannot read the hub's answer".to_owned()),
        }
    }
}

/// Counts the bytes of a file that are there, those of an earlier download included.
struct Counter(Arc<AtomicU64>);

impl Progress for Counter {
    fn init(&mut self, _: usize, _: &str) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn update(&mut self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn finish(&mut self) {}
}

/// Reason for a failed attempt.
#[derive(Debug)]
enum Problem {
    /// hf-hub says why.
    Failed(ApiError),
    /// hf-hub panicked.
    Panicked,
    /// No data came for as long as the downloader waits.
    Stalled,
}

impl Problem {
    /// The HTTP status that the hub or its storage answered with.
    fn status(&self) -> Option<u16> {
        match self {
            Self::Failed(ApiError::RequestError(error)) => match **error {
                ureq::Error::StatusCode(status) => Some(status),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the attempt failed because the partial file of an earlier download is as long as the file, or longer.
    fn is_of_partial(&self) -> bool {
        self.status() == Some(416) || matches!(self, Self::Failed(ApiError::InvalidResume))
    }

    /// Whether another attempt may have more luck. None is made beside a thread that was left behind.
    fn may_pass(&self) -> bool {
        match (self, self.status()) {
            (_, Some(status)) => matches!(status, 408 | 429 | 500..),
            (Self::Failed(ApiError::IoError(source)), _) => !is_of_disk(source),
            (Self::Failed(ApiError::RequestError(_) | ApiError::LockAcquisition(_)), _) => true,
            _ => false,
        }
    }
}

/// Whether an error is of the disk rather than of the connection.
fn is_of_disk(error: &std::io::Error) -> bool {
    let kinds = [
        ErrorKind::NotFound,
        ErrorKind::PermissionDenied,
        ErrorKind::QuotaExceeded,
        ErrorKind::ReadOnlyFilesystem,
        ErrorKind::StorageFull,
        ErrorKind::FileTooLarge,
    ];
    kinds.contains(&error.kind())
}

/// The error of a request without an answer.
pub(super) fn unreachable(url: &str, error: &ureq::Error) -> ModelError {
    ModelError::Hub {
        url: url.to_owned(),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_that_falls_silent_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let settings = HubSettings {
            endpoint: format!("http://{}", listener.local_addr().unwrap()),
            cache: directory.path().to_owned(),
            token: None,
            offline: false,
        };
        let downloader = Downloader {
            patience: Duration::from_millis(200),
            ..Downloader::new(&settings, None)
        };
        let wanted = Wanted {
            name: "org/tiny@main",
            repository: &Repo::model("org/tiny".to_owned()),
            file: "config.json",
            announced: &Announced::default(),
            needs_token: false,
        };
        // It takes connections, by its backlog, and never answers.
        let error = downloader.download(wanted).unwrap_err().to_string();
        assert!(error.contains("nothing came for 0.2 s"), "{error}");
    }
}
