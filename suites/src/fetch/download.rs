//! Downloads into `.partial` files, which a later attempt, in this run or the next, continues.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use ureq::Body;
use ureq::http::Response;

use super::cache::create_parent;
use super::error::FetchError;
use super::http::{Client, refuse_failure};
use super::manifest::Hash;

/// A file to be downloaded.
pub(super) struct Download<'a> {
    /// Address of the file.
    pub(super) url: &'a str,
    /// Name of the file in messages to the user.
    pub(super) name: &'a str,
    /// Path of the partial file, to which the download is written.
    pub(super) partial: PathBuf,
    /// Size and hash of the file, where its home announces them.
    pub(super) announced: Option<(u64, &'a Hash)>,
    /// Largest size in bytes, where the size is not announced.
    pub(super) limit: u64,
}

/// File that a body is written to, with the offset at which it starts and its total size in bytes.
struct Target {
    file: File,
    start: u64,
    total: Option<u64>,
}

impl Download<'_> {
    /// Downloads the file to its partial path, and checks it against the announced size and hash.
    pub(super) fn run(&self, client: &Client) -> Result<(), FetchError> {
        let resumed = self.kept() > 0;
        client.attempts(|| self.attempt(client))?;
        match self.check() {
            // The part kept from an earlier run may have been the wrong one.
            Err(FetchError::Mismatch { .. }) if resumed => {
                client.attempts(|| self.attempt(client))?;
                self.check()
            }
            other => other,
        }
    }

    /// Removes the downloaded file.
    pub(super) fn discard(&self) {
        // What cannot be removed is overwritten or refused later on.
        let _ = fs::remove_file(&self.partial);
        let _ = fs::remove_file(self.tag_path());
    }

    /// Bytes of the file that are there.
    fn kept(&self) -> u64 {
        fs::metadata(&self.partial).map_or(0, |metadata| metadata.len())
    }

    /// Returns the path of the file with the server's entity tag (ETag) for these contents.
    fn tag_path(&self) -> PathBuf {
        self.partial.with_extension("etag")
    }

    fn attempt(&self, client: &Client) -> Result<(), FetchError> {
        client.check_stop()?;
        create_parent(&self.partial)?;
        let tag = fs::read_to_string(self.tag_path()).ok().filter(|tag| is_strong(tag));
        let kept = self.kept();
        let start = match self.announced {
            Some((bytes, _)) if kept == bytes && bytes > 0 => return Ok(()),
            Some((bytes, _)) if kept < bytes => kept,
            // Without a hash to check against, only the server can say that the rest is of the same contents.
            None if tag.is_some() => kept,
            _ => 0,
        };
        let mut answer = self.request(client, start, tag.as_deref())?;
        if start > 0 && !continues(&answer, start) {
            if answer.status().as_u16() != 200 {
                refuse_failure_but_range(self.url, &answer)?;
                answer = self.request(client, 0, None)?;
            }
            return self.receive(client, answer, 0);
        }
        self.receive(client, answer, start)
    }

    fn request(&self, client: &Client, start: u64, tag: Option<&str>) -> Result<Response<Body>, FetchError> {
        // Compressed on the way, sizes and places would be others.
        let mut headers = vec![("accept-encoding", "identity")];
        let range = format!("bytes={start}-");
        if start > 0 {
            headers.push(("range", &range));
            headers.extend(tag.map(|tag| ("if-range", tag)));
        }
        client.get(self.url, &headers)
    }

    /// Writes a body to the file, from `start` on.
    fn receive(&self, client: &Client, answer: Response<Body>, start: u64) -> Result<(), FetchError> {
        refuse_failure(self.url, &answer)?;
        let body_bytes = header(&answer, "content-length").and_then(|bytes| bytes.parse::<u64>().ok());
        let total = body_bytes.map(|bytes| bytes.saturating_add(start));
        self.check_size(total.unwrap_or(0), total)?;
        let target = Target {
            file: self.open(start, &answer)?,
            start,
            total: self.announced.map(|(bytes, _)| bytes).or(total),
        };
        client.progress.start(self.name, target.total);
        self.copy(client, answer, target)
    }

    fn open(&self, start: u64, answer: &Response<Body>) -> Result<File, FetchError> {
        let failed = |error| FetchError::write(&self.partial, error);
        if start > 0 {
            return OpenOptions::new().append(true).open(&self.partial).map_err(failed);
        }
        let file = File::create(&self.partial).map_err(failed)?;
        let tag_path = self.tag_path();
        match header(answer, "etag").filter(|tag| is_strong(tag)) {
            Some(tag) => fs::write(&tag_path, tag).map_err(|error| FetchError::write(&tag_path, error))?,
            None => drop(fs::remove_file(&tag_path)),
        }
        Ok(file)
    }

    fn copy(&self, client: &Client, answer: Response<Body>, mut target: Target) -> Result<(), FetchError> {
        let truncated = |got| FetchError::Truncated {
            url: self.url.to_owned(),
            got,
            expected: target.total,
            partial: self.partial.clone(),
        };
        let mut got = target.start;
        let mut body = answer.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            client.check_stop()?;
            let count = body.read(&mut buffer).map_err(|_| truncated(got))?;
            if count == 0 {
                break;
            }
            self.check_size(got + count as u64, None)?;
            let written = target.file.write_all(&buffer[..count]);
            written.map_err(|error| FetchError::write(&self.partial, error))?;
            got += count as u64;
            client.progress.position(got);
        }
        match target.total {
            Some(total) if got < total => Err(truncated(got)),
            _ => Ok(()),
        }
    }

    /// Errs where the file has more than it can have: `got` bytes so far, `total` in all, if the server says so.
    fn check_size(&self, got: u64, total: Option<u64>) -> Result<(), FetchError> {
        let error = match self.announced {
            Some((bytes, _)) if got > bytes || total.is_some_and(|total| total != bytes) => {
                self.mismatch(format!("{bytes} bytes"), format!("{} bytes", total.unwrap_or(got)))
            }
            None if got > self.limit => FetchError::TooLarge {
                what: self.name.to_owned(),
                url: self.url.to_owned(),
                limit: format!("{} bytes", self.limit),
            },
            _ => return Ok(()),
        };
        self.discard();
        Err(error)
    }

    /// Compares the file with its hash; removes it if it differs.
    fn check(&self) -> Result<(), FetchError> {
        let Some((bytes, hash)) = self.announced else {
            return Ok(());
        };
        let found = File::open(&self.partial).and_then(|file| hash.of_same_kind(bytes, file));
        let found = found.map_err(|error| FetchError::read(&self.partial, error))?;
        if found == *hash {
            return Ok(());
        }
        self.discard();
        Err(self.mismatch(hash.to_string(), found.to_string()))
    }

    fn mismatch(&self, expected: String, actual: String) -> FetchError {
        FetchError::Mismatch {
            path: self.name.to_owned(),
            url: self.url.to_owned(),
            expected,
            actual,
        }
    }

    /// Gives the complete file its name.
    pub(super) fn keep_as(&self, path: &Path) -> Result<(), FetchError> {
        create_parent(path)?;
        fs::rename(&self.partial, path).map_err(|error| FetchError::write(path, error))?;
        self.discard();
        Ok(())
    }
}

fn header<'a>(answer: &'a Response<Body>, name: &str) -> Option<&'a str> {
    answer.headers().get(name).and_then(|value| value.to_str().ok())
}

/// Whether an answer holds the bytes from `start` on: `content-range: bytes START-END/TOTAL`.
fn continues(answer: &Response<Body>, start: u64) -> bool {
    let from = header(answer, "content-range")
        .and_then(|range| range.strip_prefix("bytes ")?.split_once('-'))
        .and_then(|(from, _)| from.trim().parse::<u64>().ok());
    answer.status().as_u16() == 206 && from == Some(start)
}

/// Errs for a failure that is not about the range: then the whole file is asked for.
fn refuse_failure_but_range(url: &str, answer: &Response<Body>) -> Result<(), FetchError> {
    match answer.status().as_u16() {
        416 => Ok(()),
        _ => refuse_failure(url, answer),
    }
}

/// Whether an etag names bytes exactly, which `if-range` needs.
fn is_strong(tag: &str) -> bool {
    tag.len() > 2 && tag.len() <= 256 && tag.starts_with('"') && tag.ends_with('"') && tag.is_ascii()
}
