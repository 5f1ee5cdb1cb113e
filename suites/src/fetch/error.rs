//! [`FetchError`]: an error of fetching data, with its remedy.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::sources::SOURCES;

/// Error of fetching data, or of checking fetched data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No source has the name.
    #[error("there is no source {name}; {}known are {}", did_you_mean(nearest.as_deref()), known.join(", "))]
    UnknownSource {
        /// The name asked for.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// No directory for the cache is known.
    #[error("there is no home directory to keep data in: set MASKWRIGHT_CACHE, or give --cache DIR")]
    NoCacheDirectory,
    /// The data is not there, and nothing may be downloaded.
    #[error("{what} is not in the cache {cache}, and --offline forbids downloading: run `maskwright fetch` without it")]
    Offline {
        /// Source and revision.
        what: String,
        /// The cache.
        cache: PathBuf,
    },
    /// The server could not be reached, or the connection broke before it answered.
    #[error("{url} cannot be reached: {message}; what was fetched before can be used with --offline")]
    Unreachable {
        /// Address asked.
        url: String,
        /// The network error.
        message: String,
    },
    /// The server knows nothing there.
    #[error("{url} does not exist (HTTP {status}): {hint}")]
    NotFound {
        /// Address asked.
        url: String,
        /// Status of the answer.
        status: u16,
        /// The possible mistake.
        hint: String,
    },
    /// The server refuses to answer.
    #[error("{url} refuses to answer (HTTP {status}): {hint}")]
    Refused {
        /// Address asked.
        url: String,
        /// Status of the answer.
        status: u16,
        /// The remedy.
        hint: String,
    },
    /// The server answers with a failure.
    #[error("{url} answers HTTP {status}: try again later")]
    Failed {
        /// Address asked.
        url: String,
        /// Status of the answer.
        status: u16,
        /// Seconds that the server asks to wait.
        wait: Option<u64>,
    },
    /// The answer is not what the interface promises.
    #[error("{url} gives an answer that cannot be used: {message}")]
    OddAnswer {
        /// Address asked.
        url: String,
        /// The unexpected part of the answer.
        message: String,
    },
    /// The body ended before it was complete; the bytes received are kept.
    #[error("{url} ended early, after {}: run the command again, which continues from {partial}", progress(*got, *expected))]
    Truncated {
        /// Address of the file.
        url: String,
        /// Bytes received.
        got: u64,
        /// Bytes expected, where that is known.
        expected: Option<u64>,
        /// The partial file.
        partial: PathBuf,
    },
    /// The archive ends in the middle; it is kept, to be continued.
    #[error(
        "the archive {url} ends early ({message}): run the command again, which continues from {partial} or starts over"
    )]
    ArchiveEnds {
        /// Address of the archive.
        url: String,
        /// The error at the archive's end.
        message: String,
        /// The archive on disk.
        partial: PathBuf,
    },
    /// The archive cannot be read; it was removed.
    #[error("the archive {url} is damaged ({message}) and was removed: run the command again")]
    ArchiveDamaged {
        /// Address of the archive.
        url: String,
        /// The damage that was found.
        message: String,
    },
    /// The contents of a file differ from those that its home announces; the downloaded file was removed.
    #[error(
        "{path} from {url} has the wrong contents: expected {expected}, found {actual}; it was removed: run the command \
         again, and if it fails again, report it to the source's maintainers"
    )]
    Mismatch {
        /// The file, as its home calls it.
        path: String,
        /// Address it came from.
        url: String,
        /// Hash or size announced.
        expected: String,
        /// Hash or size found.
        actual: String,
    },
    /// The archive lacks files that its home lists.
    #[error("the archive {url} lacks {count} of the files wanted, among them {path}: try another --revision")]
    Missing {
        /// Address of the archive.
        url: String,
        /// One of the missing files.
        path: String,
        /// Number of missing files.
        count: usize,
    },
    /// None of the wanted files exists at the revision.
    #[error("{url} lists none of the files wanted: check --revision")]
    NothingWanted {
        /// Address of the list.
        url: String,
    },
    /// A path that leads out of its directory, or that not every system can hold.
    #[error("{url} names the path {path:?}, which is not safe to write: nothing was taken from it")]
    UnsafePath {
        /// Address of the list or archive.
        url: String,
        /// The path.
        path: String,
    },
    /// Something is larger than data of this kind can be.
    #[error("{what} from {url} is larger than the limit of {limit}")]
    TooLarge {
        /// The thing that is too large.
        what: String,
        /// Address it came from.
        url: String,
        /// The limit, with its unit.
        limit: String,
    },
    /// The list of files is cut off, even folder by folder.
    #[error("{url} lists only part of its files: the folder is too large for the interface")]
    ListTruncated {
        /// Address of the list.
        url: String,
    },
    /// The cache cannot be written or read.
    #[error("{path} cannot be {what}: {source}")]
    Io {
        /// `read` or `written`.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The user interrupted the download.
    #[error("interrupted; run the command again to continue")]
    Interrupted,
    /// The cache has no copy to verify.
    #[error("{source_name} is not in the cache {cache}: run `maskwright fetch {source_name}`")]
    NotFetched {
        /// Name of the source.
        source_name: String,
        /// The cache.
        cache: PathBuf,
    },
    /// Files on disk differ from the manifest of the fetch.
    #[error(
        "{source_name} in {path} is damaged: {}; run `maskwright fetch {source_name} --force`",
        some(problems)
    )]
    Damaged {
        /// Name of the source.
        source_name: String,
        /// Directory of the source.
        path: PathBuf,
        /// The problems, file by file.
        problems: Vec<String>,
    },
}

impl FetchError {
    /// The error that says there is no source by the name `name`.
    pub fn unknown_source(name: &str) -> Self {
        let similarity = |known: &str| strsim::jaro_winkler(known, name);
        let known = || SOURCES.iter().map(|source| source.name);
        let nearest = known().max_by(|left, right| similarity(left).total_cmp(&similarity(right)));
        Self::UnknownSource {
            name: name.to_owned(),
            nearest: nearest.filter(|known| similarity(known) > 0.7).map(str::to_owned),
            known: known().map(str::to_owned).collect(),
        }
    }

    /// Whether another attempt may succeed.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Failed { .. } | Self::Truncated { .. }
        )
    }

    pub(super) fn read(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            what: "read",
            path: path.into(),
            source,
        }
    }

    pub(super) fn write(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            what: "written",
            path: path.into(),
            source,
        }
    }

    pub(super) fn odd(url: &str, message: impl Into<String>) -> Self {
        Self::OddAnswer {
            url: url.to_owned(),
            message: message.into(),
        }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("did you mean {nearest}? "))
}

fn progress(got: u64, expected: Option<u64>) -> String {
    match expected {
        Some(expected) => format!("{got} of {expected} bytes"),
        None => format!("{got} bytes"),
    }
}

/// The first of many problems.
fn some(problems: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = problems[..problems.len().min(SHOWN)].join("; ");
    if problems.len() > SHOWN {
        // Writing to a string cannot fail.
        let _ = write!(text, "; and {} more", problems.len() - SHOWN);
    }
    text
}
