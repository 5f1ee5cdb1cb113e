//! [`Announced`]: the size and the hash that the hub announces of a file, and whether a file on disk has them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::error::ModelError;

/// Metadata of a file on the hub, its size and hash, read before the file is downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Announced {
    /// Number of bytes; mirrors of the hub may leave it out.
    pub(super) bytes: Option<u64>,
    /// Hash of the file's contents; mirrors of the hub may leave it out.
    pub(super) hash: Option<ContentHash>,
}

/// The hash of a file's contents, in small hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ContentHash {
    /// SHA-256 of the bytes: files of Git LFS.
    Sha256(String),
    /// Git's hash of a blob, SHA-1 of a header and the bytes: all other files.
    GitBlob(String),
}

impl ContentHash {
    /// The SHA-256 in `text`, if it is one.
    pub(super) fn sha256(text: &str) -> Option<Self> {
        is_hex(text, 64).then(|| Self::Sha256(text.to_ascii_lowercase()))
    }

    /// Git's hash in `text`, if it is one.
    pub(super) fn git_blob(text: &str) -> Option<Self> {
        is_hex(text, 40).then(|| Self::GitBlob(text.to_ascii_lowercase()))
    }

    /// The hash itself, by which the cache names the file.
    pub(super) fn hex(&self) -> &str {
        match self {
            Self::Sha256(hex) | Self::GitBlob(hex) => hex,
        }
    }

    /// The hash of the same kind of a file of `bytes` bytes.
    fn of(&self, file: &mut File, bytes: u64) -> std::io::Result<(&'static str, String)> {
        match self {
            Self::Sha256(_) => Ok(("SHA-256", digest(Sha256::new(), file)?)),
            Self::GitBlob(_) => {
                let mut hash = Sha1::new();
                hash.update(format!("blob {bytes}\0"));
                Ok(("git hash", digest(hash, file)?))
            }
        }
    }
}

impl Announced {
    /// Compares the file at `path` with the announced size and hash; returns the difference.
    ///
    /// # Errors
    ///
    /// [`ModelError::Io`], where it cannot be read.
    pub(super) fn difference(&self, path: &Path) -> Result<Option<String>, ModelError> {
        let failed = |source| ModelError::cannot_read(path, source);
        let mut file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        if let Some(expected) = self.bytes
            && expected != bytes
        {
            return Ok(Some(format!("{bytes} of {expected} bytes")));
        }
        // The cache names large files by the SHA-256 of their contents.
        let name = || ContentHash::sha256(path.canonicalize().ok()?.file_name()?.to_str()?);
        let Some(hash) = self.hash.clone().or_else(name) else {
            return Ok(None);
        };
        let (kind, found) = hash.of(&mut file, bytes).map_err(failed)?;
        Ok((found != hash.hex()).then(|| format!("{kind} {found}, announced {}", hash.hex())))
    }
}

/// Whether `text` is that many hexadecimal digits.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The digest of what `hash` has seen and all that can be read from `file`.
fn digest(mut hash: impl Digest, file: &mut File) -> std::io::Result<String> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex::encode(hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_held_against_size_and_hash() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "hello\n").unwrap();
        // As `git hash-object` and `sha256sum` print them.
        let git = ContentHash::git_blob("ce013625030ba8dba906f756967f9e9ca394464a");
        let sha = ContentHash::sha256("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
        assert!(git.is_some() && sha.is_some());
        assert_eq!(ContentHash::sha256("5891"), None);
        let difference = |bytes, hash: &Option<ContentHash>| {
            let hash = hash.clone();
            Announced { bytes, hash }.difference(&path).unwrap()
        };
        for hash in [&None, &git, &sha] {
            assert_eq!(difference(Some(6), hash), None);
            assert_eq!(difference(Some(7), hash).as_deref(), Some("6 of 7 bytes"));
        }
        std::fs::write(&path, "hellO\n").unwrap();
        for hash in [&git, &sha] {
            assert!(difference(Some(6), hash).unwrap().contains("announced"));
        }
        let name = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        let blob = directory.path().join(name);
        std::fs::write(&blob, "hellO\n").unwrap();
        let by_name = Announced::default().difference(&blob).unwrap();
        assert!(by_name.unwrap().contains("SHA-256"), "the cache's name is a hash, too");
    }
}
