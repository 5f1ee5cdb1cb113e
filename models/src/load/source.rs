//! [`ModelSource`]: the three kinds of places a model comes from, and how users name them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::ModelError;

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSource {
    /// The small model that is part of this crate.
    Builtin,
    /// A directory with the files of a Hugging Face model.
    Directory(PathBuf),
    /// A repository on the Hugging Face hub.
    Hub {
        /// `organisation/name`.
        repository: String,
        /// Branch, tag or commit; the hub's `main` where none is given.
        revision: Option<String>,
    },
}

impl FromStr for ModelSource {
    type Err = ModelError;

    /// Reads `builtin`, a directory, or `organisation/name` with an optional `@revision`.
    ///
    /// A text that names an existing directory is that directory. Any other text with a leading `.`, `/` or `~` is refused,
    /// since it was meant to be one.
    fn from_str(text: &str) -> Result<Self, ModelError> {
        let refused = |reason: &str| ModelError::BadSource {
            name: text.to_owned(),
            reason: reason.to_owned(),
        };
        if text == "builtin" {
            return Ok(Self::Builtin);
        }
        let path = Path::new(text);
        if path.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        if path.is_absolute() || text.starts_with(['.', '~']) {
            return Err(refused("there is no such directory"));
        }
        let (repository, revision) = match text.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (text, None),
        };
        if !is_repository(repository) {
            return Err(refused(
                "expected `builtin`, an existing directory, or a hub id such as Qwen/Qwen3-0.6B",
            ));
        }
        if revision.is_some_and(|revision| !is_revision(revision)) {
            return Err(refused("after `@`, expected a branch, tag or commit"));
        }
        Ok(Self::Hub {
            repository: repository.to_owned(),
            revision: revision.map(str::to_owned),
        })
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("builtin"),
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Hub {
                repository,
                revision: None,
            } => f.write_str(repository),
            Self::Hub {
                repository,
                revision: Some(revision),
            } => write!(f, "{repository}@{revision}"),
        }
    }
}

/// Whether `text` has the form `organisation/name` that the hub allows.
fn is_repository(text: &str) -> bool {
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        (1..=96).contains(&part.len())
            && part.chars().all(allowed)
            && !part.starts_with(['.', '-'])
            && !part.contains("..")
    };
    text.split_once('/')
        .is_some_and(|(organisation, name)| is_part(organisation) && is_part(name))
}

/// Whether `text` can name a branch, tag or commit, and is safe in an address and as a path.
fn is_revision(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    (1..=200).contains(&text.len())
        && text.chars().all(allowed)
        && text
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with(['.', '-']))
        && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models() {
        let hub = |repository: &str, revision: Option<&str>| ModelSource::Hub {
            repository: repository.to_owned(),
            revision: revision.map(str::to_owned),
        };
        let parse = |text: &str| text.parse::<ModelSource>();
        assert_eq!(parse("builtin").unwrap(), ModelSource::Builtin);
        assert_eq!(parse("Qwen/Qwen3-0.6B").unwrap(), hub("Qwen/Qwen3-0.6B", None));
        assert_eq!(parse("a/b@refs/pr/1").unwrap(), hub("a/b", Some("refs/pr/1")));
        assert_eq!(parse("src").unwrap(), ModelSource::Directory("src".into()));
        for wrong in [
            "",
            "gpt2",
            "./missing",
            "/missing/model",
            "a/b/c",
            "a/../b",
            "a/b@",
            "a/b@../x",
            "a/b?x",
            "-a/b",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
