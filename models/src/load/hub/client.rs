//! [`Client`]: requests to the hub, and downloads that resume, are tried again, and are checked.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use serde_json::Value;
use sha2::{Digest, Sha256};
use ureq::config::RedirectAuthHeaders;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::error::ModelError;
use crate::load::disk::{create_file, create_parent};
use crate::load::hub::settings::HubSettings;

/// Attempts at each request.
const ATTEMPTS: u32 = 4;
/// Pause after the first failed attempt; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Bytes that are fetched in one request, so that a stalled server is noticed.
const PART_BYTES: u64 = 64 << 20;
/// Longest time for one part of a file.
const PART_TIME: Duration = Duration::from_secs(600);
/// Longest time for a connection to be made.
const CONNECT_TIME: Duration = Duration::from_secs(20);
/// Longest time until an answer begins.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Largest JSON answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 32 << 20;
/// Relative redirects (renamed repositories) that are followed while asking about a file.
const MAX_REDIRECTS: usize = 5;

/// A client of the hub, with its credentials.
pub(crate) struct Client<'a> {
    settings: &'a HubSettings,
    progress: Option<&'a ProgressBar>,
    /// The agent that follows redirects; the token goes along on the same host only.
    agent: Agent,
    /// The agent that does not follow redirects.
    direct: Agent,
}

/// A file in the cache.
pub(crate) struct Fetched {
    /// The path of its blob.
    pub(crate) path: PathBuf,
    /// The name of its blob.
    pub(crate) etag: String,
}

/// The hash and the size of a file, as the hub announces them before the file is fetched.
struct Announced {
    etag: String,
    bytes: u64,
}

impl<'a> Client<'a> {
    pub(crate) fn new(settings: &'a HubSettings, progress: Option<&'a ProgressBar>) -> Self {
        let agent = |redirects: u32| -> Agent {
            let config = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(redirects)
                .max_redirects_will_error(false)
                .redirect_auth_headers(RedirectAuthHeaders::SameHost)
                .timeout_connect(Some(CONNECT_TIME))
                .timeout_recv_response(Some(ANSWER_TIME))
                .timeout_recv_body(Some(PART_TIME))
                .user_agent(concat!("maskwright/", env!("CARGO_PKG_VERSION")));
            config.build().into()
        };
        Self {
            settings,
            progress,
            agent: agent(10),
            direct: agent(0),
        }
    }

    /// Gets the JSON at `url`. Errors name the repository `repo`.
    pub(crate) fn get_json(&self, repo: &str, url: &str) -> Result<Value, ModelError> {
        self.retry(|| {
            let mut answer = self.send(self.agent.get(url), url)?;
            let body = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
            let body = body.map_err(|error| unreachable(url, &error))?;
            self.check_status(repo, url, &answer, &body)?;
            serde_json::from_slice(&body).map_err(|error| ModelError::Hub {
                url: url.to_owned(),
                message: format!("the answer is not JSON: {error}"),
            })
        })
    }

    /// Downloads the file at `url` into the directory `blobs`, unless it is there. Errors name the repository `repo`, and
    /// progress the `file`; `locks` is the directory of the files that keep processes from downloading the same one.
    pub(crate) fn fetch(
        &self,
        repo: &str,
        url: &str,
        file: &str,
        blobs: &Path,
        locks: &Path,
    ) -> Result<Fetched, ModelError> {
        let announced = self.retry(|| self.announced(repo, url))?;
        let blob = blobs.join(&announced.etag);
        let lock_path = locks.join(format!("{}.lock", announced.etag));
        let lock = create_file(&lock_path)?;
        // Released when dropped. On file systems without locks, two downloads may waste work, not spoil it: a
        // blob is checked before it gets its name.
        if let Err(error) = lock.lock() {
            tracing::debug!(%error, lock = %lock_path.display(), "no lock");
        }
        if !blob.is_file() {
            self.download(repo, url, file, &announced, &blob)?;
        }
        Ok(Fetched {
            path: blob,
            etag: announced.etag,
        })
    }

    /// Asks for the hash and the size of a file, without its contents.
    fn announced(&self, repo: &str, url: &str) -> Result<Announced, ModelError> {
        let unexpected = |message: String| ModelError::Hub {
            url: url.to_owned(),
            message,
        };
        let mut at = url.to_owned();
        for _ in 0..MAX_REDIRECTS {
            // Compressed, the length would be another one.
            let answer = self.send(self.direct.head(&at).header("accept-encoding", "identity"), &at)?;
            let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
            let linked = header("x-linked-etag");
            if answer.status().is_redirection() && linked.is_none() {
                let place = header("location").filter(|place| place.starts_with('/') && !place.starts_with("//"));
                let place = place.ok_or_else(|| unexpected("redirected without saying what to".to_owned()))?;
                at = format!("{}{place}", origin(&at));
                continue;
            }
            if !answer.status().is_redirection() {
                self.check_status(repo, url, &answer, &[])?;
            }
            let etag = linked.or_else(|| header("etag")).unwrap_or_default();
            let etag = etag.trim_start_matches("W/").trim_matches('"').to_owned();
            if !(1..=128).contains(&etag.len())
                || !etag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            {
                return Err(unexpected(format!("the hub names the contents {etag:?}")));
            }
            let bytes = header("x-linked-size")
                .or_else(|| header("content-length"))
                .and_then(|size| size.parse().ok());
            let bytes = bytes.ok_or_else(|| unexpected("the hub does not say how large the file is".to_owned()))?;
            return Ok(Announced { etag, bytes });
        }
        Err(unexpected("too many redirects".to_owned()))
    }

    /// Downloads a file to `blob`, going on with what an earlier download left.
    fn download(
        &self,
        repo: &str,
        url: &str,
        file: &str,
        announced: &Announced,
        blob: &Path,
    ) -> Result<(), ModelError> {
        let partial = blob.with_file_name(format!("{}.incomplete", announced.etag));
        let failed = |source| ModelError::cannot_write(&partial, source);
        create_parent(blob)?;
        let mut out = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&partial)
            .map_err(failed)?;
        let mut done = out.metadata().map_err(failed)?.len();
        if done > announced.bytes {
            out.set_len(0).map_err(failed)?;
            done = 0;
        }
        if let Some(progress) = self.progress {
            progress.set_length(announced.bytes);
            progress.set_position(done);
            progress.set_message(file.to_owned());
        }
        while done < announced.bytes {
            // What an attempt got before it failed is kept.
            done = self.retry(|| {
                let start = out.seek(SeekFrom::End(0)).map_err(failed)?;
                self.download_part(repo, url, start, announced.bytes, &mut out, &partial)
            })?;
        }
        check_contents(url, announced, &mut out, &partial)?;
        drop(out);
        std::fs::rename(&partial, blob).map_err(failed)
    }

    /// Appends the bytes from `start` on, a part's worth, to `out`; returns how many there are then.
    fn download_part(
        &self,
        repo: &str,
        url: &str,
        start: u64,
        total: u64,
        out: &mut File,
        path: &Path,
    ) -> Result<u64, ModelError> {
        let failed = |source| ModelError::cannot_write(path, source);
        let end = total.min(start + PART_BYTES);
        let request = self
            .agent
            .get(url)
            .header("range", format!("bytes={start}-{}", end - 1));
        let answer = self.send(request.header("accept-encoding", "identity"), url)?;
        self.check_status(repo, url, &answer, &[])?;
        let (mut done, end) = match answer.status().as_u16() {
            206 => (start, end),
            // The server sends all of the file, whatever was asked.
            _ => {
                out.set_len(0)
                    .and_then(|()| out.seek(SeekFrom::Start(0)))
                    .map_err(failed)?;
                (0, total)
            }
        };
        let mut body = answer.into_body().into_reader().take(end - done);
        let mut buffer = vec![0; 1 << 16];
        while done < end {
            let count = body
                .read(&mut buffer)
                .map_err(|error| damaged(url, format!("{done} of {total} bytes, then {error}")))?;
            if count == 0 {
                return Err(damaged(url, format!("{done} of {total} bytes")));
            }
            out.write_all(&buffer[..count]).map_err(failed)?;
            done += count as u64;
            if let Some(progress) = self.progress {
                progress.set_position(done);
            }
        }
        Ok(done)
    }

    /// Sends `request` with the access token, where there is one.
    fn send(
        &self,
        request: ureq::RequestBuilder<ureq::typestate::WithoutBody>,
        url: &str,
    ) -> Result<Response<Body>, ModelError> {
        let request = match &self.settings.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        request.call().map_err(|error| unreachable(url, &error))
    }

    /// Errs unless the status is a success.
    fn check_status(&self, repo: &str, url: &str, answer: &Response<Body>, body: &[u8]) -> Result<(), ModelError> {
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let said = reason(body).or_else(|| header("x-error-message").map(str::to_owned));
        let code = header("x-error-code").unwrap_or_default();
        match (status.as_u16(), code) {
            (_, "RepoNotFound") | (404, _) => Err(ModelError::HubNotFound {
                url: url.to_owned(),
                hint: match (code, &self.settings.token) {
                    ("RevisionNotFound", _) => "the repository has no such revision".to_owned(),
                    ("EntryNotFound", _) => "the repository has no such file".to_owned(),
                    (_, None) => "check the name; a private repository needs HF_TOKEN".to_owned(),
                    (_, Some(_)) => "check the name, and whether HF_TOKEN may read it".to_owned(),
                },
            }),
            (401 | 403, _) => Err(ModelError::HubRefused {
                repo: repo.to_owned(),
                status: status.as_u16(),
            }),
            _ => Err(ModelError::Hub {
                url: url.to_owned(),
                message: format!(
                    "HTTP {status}{}",
                    said.map_or_else(String::new, |said| format!(": {said}"))
                ),
            }),
        }
    }

    /// Calls `attempt`, and calls it again after failures that may pass.
    fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T, ModelError>) -> Result<T, ModelError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match attempt() {
                Err(error @ (ModelError::Hub { .. } | ModelError::HubDamaged { .. })) => {
                    tracing::debug!(%error, "trying again");
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                other => return other,
            }
        }
        attempt()
    }
}

/// Compares a complete download with what the hub announced; removes it if it differs.
fn check_contents(url: &str, announced: &Announced, out: &mut File, path: &Path) -> Result<(), ModelError> {
    let failed = |source| ModelError::cannot_read(path, source);
    out.sync_all().map_err(failed)?;
    // Large files are named by the SHA-256 of their contents; small ones by git's hash, which is not checked.
    if announced.etag.len() != 64 {
        return Ok(());
    }
    out.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match out.read(&mut buffer).map_err(failed)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    let found = hex::encode(hash.finalize());
    if found == announced.etag.to_ascii_lowercase() {
        return Ok(());
    }
    // Nothing of it can be trusted; the error counts, not whether it could be removed.
    let _ = std::fs::remove_file(path);
    Err(damaged(url, format!("SHA-256 {found}, announced {}", announced.etag)))
}

/// The error of a download that is not what was announced.
fn damaged(url: &str, message: String) -> ModelError {
    ModelError::HubDamaged {
        url: url.to_owned(),
        message,
    }
}

/// The error of a request without an answer.
fn unreachable(url: &str, error: &ureq::Error) -> ModelError {
    ModelError::Hub {
        url: url.to_owned(),
        message: error.to_string(),
    }
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |scheme| scheme + 3);
    let end = url[host..].find('/').map_or(url.len(), |path| host + path);
    &url[..end]
}

/// The reason that the hub gives for an error, in `error` of its JSON answer; for error messages, so of limited length.
fn reason(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value["error"].as_str().map(|text| text.chars().take(300).collect())
}
