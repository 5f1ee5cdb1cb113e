//! [`Fetched`]: the file `fetched.json`, the manifest of a fetch: its files and their origin.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::error::FetchError;

/// Manifest of a fetch. It is written when all files are there, so a directory that has one is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// Name of the source.
    pub source: String,
    /// Address of its home.
    pub url: String,
    /// Licence of the source.
    pub licence: String,
    /// The revision that was asked for.
    pub requested: String,
    /// The commit that it was.
    pub revision: String,
    /// When it was fetched, RFC 3339.
    pub fetched_at: String,
    /// Size of all files together, in bytes.
    pub bytes: u64,
    /// The files.
    pub files: Vec<FetchedFile>,
}

/// One file that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedFile {
    /// Path of the file, with `/` between names.
    pub path: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Hash of the file's contents.
    pub hash: Hash,
}

/// A hash that a home announces for a file. Written `git-blob:HEX` or `sha256:HEX`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Hash {
    /// Git's name of the contents: SHA-1 over `blob SIZE\0` and the bytes.
    GitBlob(String),
    /// SHA-256 of the bytes.
    Sha256(String),
}

impl Hash {
    /// A hash in lower case hexadecimal digits; `None` where it is not one.
    pub(super) fn git_blob(hex: &str) -> Option<Self> {
        is_hex(hex, 40).then(|| Self::GitBlob(hex.to_ascii_lowercase()))
    }

    /// Returns an SHA-256 hash in lower case hexadecimal digits; `None` where `hex` is not one.
    pub(super) fn sha256(hex: &str) -> Option<Self> {
        is_hex(hex, 64).then(|| Self::Sha256(hex.to_ascii_lowercase()))
    }

    /// The digits.
    pub(super) fn hex(&self) -> &str {
        match self {
            Self::GitBlob(hex) | Self::Sha256(hex) => hex,
        }
    }

    /// The hash of the same kind of `bytes` bytes that `contents` yields.
    pub(super) fn of_same_kind(&self, bytes: u64, mut contents: impl Read) -> std::io::Result<Self> {
        let mut hasher = match self {
            Self::GitBlob(_) => Hasher::GitBlob(Sha1::new_with_prefix(format!("blob {bytes}\0"))),
            Self::Sha256(_) => Hasher::Sha256(Sha256::new()),
        };
        let mut buffer = vec![0; 1 << 16];
        loop {
            match contents.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

enum Hasher {
    GitBlob(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::GitBlob(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Hash {
        match self {
            Self::GitBlob(hasher) => Hash::GitBlob(hex::encode(hasher.finalize())),
            Self::Sha256(hasher) => Hash::Sha256(hex::encode(hasher.finalize())),
        }
    }
}

pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GitBlob(hex) => write!(f, "git-blob:{hex}"),
            Self::Sha256(hex) => write!(f, "sha256:{hex}"),
        }
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hash = match text.split_once(':') {
            Some(("git-blob", hex)) => Self::git_blob(hex),
            Some(("sha256", hex)) => Self::sha256(hex),
            _ => None,
        };
        hash.ok_or_else(|| format!("{text:?} is not a hash"))
    }
}

impl TryFrom<String> for Hash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

/// Returns the problem with the file at `path`, if the file differs from `expected`.
pub(super) fn problem(path: &Path, expected: &FetchedFile) -> Option<String> {
    let name = &expected.path;
    let found = File::open(path).and_then(|file| {
        let bytes = file.metadata()?.len();
        if bytes != expected.bytes {
            return Ok(Err(bytes));
        }
        expected.hash.of_same_kind(bytes, file).map(Ok)
    });
    match found {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(format!("{name} is missing")),
        Err(error) => Some(format!("{name} cannot be read: {error}")),
        Ok(Err(bytes)) => Some(format!("{name} has {bytes} bytes, not {}", expected.bytes)),
        Ok(Ok(hash)) if hash != expected.hash => Some(format!("{name} has {hash}, not {}", expected.hash)),
        Ok(Ok(_)) => None,
    }
}

impl Fetched {
    /// Compares the files in `directory` with the manifest.
    ///
    /// # Errors
    ///
    /// [`FetchError::Damaged`], naming the files that are missing or differ.
    pub fn verify(&self, directory: &Path) -> Result<(), FetchError> {
        let problems: Vec<String> = self
            .files
            .iter()
            .filter_map(|file| match is_safe(&file.path) {
                true => problem(&directory.join(&file.path), file),
                false => Some(format!("{:?} is not a path of it", file.path)),
            })
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(FetchError::Damaged {
            source_name: self.source.clone(),
            path: directory.to_owned(),
            problems,
        })
    }
}

/// Whether a path given by a server stays below the directory it is joined to, on every system.
pub(super) fn is_safe(path: &str) -> bool {
    let name_is_safe = |name: &str| {
        !name.is_empty()
            && name != "."
            && name != ".."
            && !name.contains(['\\', ':', '\0'])
            && !name.chars().any(char::is_control)
    };
    path.len() <= 1024 && path.split('/').all(name_is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_git_and_sha256sum() {
        let hash = |kind: &str| {
            let kind: Hash = kind.parse().unwrap();
            kind.of_same_kind(6, &b"hello\n"[..]).unwrap().to_string()
        };
        let zeros = "0".repeat(40);
        // As `echo hello | git hash-object --stdin` prints it.
        assert_eq!(
            hash(&format!("git-blob:{zeros}")),
            "git-blob:ce013625030ba8dba906f756967f9e9ca394464a"
        );
        assert_eq!(
            hash(&format!("sha256:{zeros}{}", "0".repeat(24))),
            "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
        );
        for odd in [
            "",
            "md5:00",
            "sha256:00",
            "git-blob:zz",
            "ce013625030ba8dba906f756967f9e9ca394464a",
        ] {
            assert!(odd.parse::<Hash>().is_err(), "{odd}");
        }
    }

    #[test]
    fn paths_out_of_the_directory_are_not_safe() {
        assert!(is_safe("a/b c/d.json") && is_safe("..a/b.."));
        for path in [
            "", "/a", "a/", "a//b", "../a", "a/../b", "a/..", "./a", "a\\b", "C:a", "a\0b", "a\nb",
        ] {
            assert!(!is_safe(path), "{path:?}");
        }
    }
}
