//! Unpacks the files wanted of a gzipped tar archive, each checked before it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::cache::create_parent;
use super::error::FetchError;
use super::http::Client;
use super::{Listed, SOURCE_BYTES_LIMIT};

/// The limit on the bytes that an archive may unpack to, unwanted files included.
const UNPACKED_BYTES_LIMIT: u64 = 2 * SOURCE_BYTES_LIMIT;

/// An archive to be unpacked, with the files wanted from it.
pub(super) struct Unpacking<'a> {
    pub(super) client: &'a Client<'a>,
    /// Address that the archive came from.
    pub(super) url: &'a str,
    /// Path of the archive.
    pub(super) archive: &'a Path,
    /// The files wanted, by their paths below the archive's one folder.
    pub(super) wanted: &'a BTreeMap<String, Listed>,
    /// Directory that the files are written to.
    pub(super) directory: &'a Path,
}

impl Unpacking<'_> {
    /// Unpacks all files wanted.
    pub(super) fn run(&self) -> Result<(), FetchError> {
        let file = File::open(self.archive).map_err(|error| FetchError::read(self.archive, error))?;
        let mut unpacked = GzDecoder::new(BufReader::new(file)).take(UNPACKED_BYTES_LIMIT);
        self.client.progress.start("unpacking", None);
        let found = self.entries(&mut unpacked)?;
        // What follows the last entry is read for the checksum at the end of the stream.
        io::copy(&mut unpacked, &mut io::sink()).map_err(|error| self.unreadable(&error))?;
        if unpacked.limit() == 0 {
            return Err(self.too_large("the archive, unpacked,", UNPACKED_BYTES_LIMIT));
        }
        let mut missing = self.wanted.keys().filter(|path| !found.contains(path.as_str()));
        match missing.next() {
            None => Ok(()),
            Some(path) => Err(FetchError::Missing {
                url: self.url.to_owned(),
                path: path.clone(),
                count: 1 + missing.count(),
            }),
        }
    }

    /// Unpacks the entries wanted; returns which they were.
    fn entries(&self, unpacked: impl Read) -> Result<BTreeSet<&str>, FetchError> {
        let mut found = BTreeSet::new();
        let mut archive = Archive::new(unpacked);
        for entry in archive.entries().map_err(|error| self.unreadable(&error))? {
            self.client.check_stop()?;
            let entry = entry.map_err(|error| self.unreadable(&error))?;
            if !matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous) {
                continue;
            }
            let bytes = entry.path_bytes();
            let path = String::from_utf8_lossy(&bytes);
            if leads_out(&path) {
                return Err(FetchError::UnsafePath {
                    url: self.url.to_owned(),
                    path: path.into_owned(),
                });
            }
            let below = path.split_once('/').map_or("", |(_, below)| below);
            if let Some((path, listed)) = self.wanted.get_key_value(below) {
                drop(bytes);
                self.entry(path, listed, entry)?;
                found.insert(path.as_str());
            }
        }
        Ok(found)
    }

    fn entry(&self, path: &str, listed: &Listed, entry: impl Read) -> Result<(), FetchError> {
        let mut bytes = Vec::new();
        let mut entry = entry.take(listed.bytes + 1);
        entry.read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        let found = listed.hash.of_same_kind(bytes.len() as u64, bytes.as_slice());
        let found = found.map_err(|error| FetchError::read(self.archive, error))?;
        let mismatch = |expected: String, actual: String| FetchError::Mismatch {
            path: path.to_owned(),
            url: self.url.to_owned(),
            expected,
            actual,
        };
        if bytes.len() as u64 > listed.bytes {
            let expected = format!("{} bytes", listed.bytes);
            return Err(mismatch(expected, "more".to_owned()));
        }
        if found != listed.hash {
            return Err(mismatch(listed.hash.to_string(), found.to_string()));
        }
        let target = self.directory.join(path);
        create_parent(&target)?;
        fs::write(&target, bytes).map_err(|error| FetchError::write(&target, error))
    }

    /// An archive that ends early may be continued; one that is damaged otherwise is not worth keeping.
    fn unreadable(&self, error: &io::Error) -> FetchError {
        let (url, message) = (self.url.to_owned(), error.to_string());
        match error.kind() {
            io::ErrorKind::UnexpectedEof => FetchError::ArchiveEnds {
                url,
                message,
                partial: self.archive.to_owned(),
            },
            _ => FetchError::ArchiveDamaged { url, message },
        }
    }

    fn too_large(&self, what: &str, limit: u64) -> FetchError {
        FetchError::TooLarge {
            what: what.to_owned(),
            url: self.url.to_owned(),
            limit: format!("{limit} bytes"),
        }
    }
}

/// Whether a path would leave the directory that it is unpacked in.
fn leads_out(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.split(['/', '\\']).any(|name| name == "..")
}
