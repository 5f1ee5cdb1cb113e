//! [`ModelSource`]: the kinds of places a model comes from, and how users name them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::ModelError;

/// Origin of a model's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSource {
    /// The small model that is part of this crate.
    Builtin,
    /// A directory with the files of a Hugging Face model.
    Directory(PathBuf),
    /// A GGUF file, as llama.cpp and its quantiser write them.
    Gguf(PathBuf),
    /// A repository on the Hugging Face hub.
    Hub {
        /// `organisation/name`.
        repository: String,
        /// Branch, tag or commit; the hub's `main` where none is given.
        revision: Option<String>,
    },
    /// A GGUF file of a repository on the Hugging Face hub.
    HubGguf {
        /// `organisation/name`.
        repository: String,
        /// The file's name, or the format that names of such files have in them: `Q8_0`, `Q4_K_M` …
        file: String,
        /// Branch, tag or commit; the hub's `main` where none is given.
        revision: Option<String>,
    },
}

/// Extensions of the files that a model's directory has.
const PARTS: [&str; 5] = ["safetensors", "bin", "pt", "pth", "json"];

impl FromStr for ModelSource {
    type Err = ModelError;

    /// Reads `builtin`, a directory, a GGUF file, or `organisation/name` with an optional `@revision`; `organisation/name:Q8_0` and
    /// `organisation/name/file.gguf` are GGUF files of a repository.
    ///
    /// A text that names an existing directory or GGUF file is that one. An existing file of another kind that models are made of is refused, and so
    /// is any other text with a leading `.`, `/` or `~`, since it was meant to be one.
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
        let is_gguf = text.to_ascii_lowercase().ends_with(".gguf");
        if is_gguf && path.is_file() {
            return Ok(Self::Gguf(path.to_owned()));
        }
        let is_part = path
            .extension()
            .is_some_and(|kind| PARTS.iter().any(|part| kind == *part));
        if is_part && path.is_file() {
            return Err(refused(
                "it is a file of weights or the like: name its directory, which has config.json and tokenizer.json beside it",
            ));
        }
        if path.is_absolute() || text.starts_with(['.', '~']) {
            return Err(refused(match is_gguf {
                true => "there is no such file",
                false => "there is no such directory",
            }));
        }
        let (repository, revision) = match text.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (text, None),
        };
        let (repository, file) = match gguf_file(repository) {
            Some((repository, file)) => (repository, Some(file)),
            None => (repository, None),
        };
        if is_gguf && file.is_none() {
            return Err(refused(
                "there is no such file; one of the hub is OWNER/NAME/FILE.gguf or OWNER/NAME:Q8_0",
            ));
        }
        if !is_repository(repository) {
            return Err(refused(
                "expected `builtin`, an existing directory or GGUF file, or a hub id such as Qwen/Qwen3-0.6B",
            ));
        }
        if revision.is_some_and(|revision| !is_revision(revision)) {
            return Err(refused("after `@`, expected a branch, tag or commit"));
        }
        let (repository, revision) = (repository.to_owned(), revision.map(str::to_owned));
        Ok(match file {
            None => Self::Hub { repository, revision },
            Some(file) => Self::HubGguf {
                repository,
                file: file.to_owned(),
                revision,
            },
        })
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("builtin"),
            Self::Directory(path) | Self::Gguf(path) => write!(f, "{}", path.display()),
            Self::Hub { repository, revision } => write!(f, "{repository}{}", Revision(revision)),
            Self::HubGguf {
                repository,
                file,
                revision,
            } => {
                let between = if file.contains('.') { '/' } else { ':' };
                write!(f, "{repository}{between}{file}{}", Revision(revision))
            }
        }
    }
}

/// A revision as it stands behind a repository's name.
struct Revision<'a>(&'a Option<String>);

impl fmt::Display for Revision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(revision) => write!(f, "@{revision}"),
            None => Ok(()),
        }
    }
}

/// The repository and the file, or the format, of `organisation/name:FORMAT` and `organisation/name/file.gguf`.
fn gguf_file(text: &str) -> Option<(&str, &str)> {
    let is_safe = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        (1..=200).contains(&part.len()) && part.chars().all(allowed) && !part.starts_with('.')
    };
    if let Some((repository, format)) = text.split_once(':') {
        return (is_safe(format) && !format.contains('.')).then_some((repository, format));
    }
    let (at, _) = text.match_indices('/').nth(1)?;
    let (repository, file) = (&text[..at], &text[at + 1..]);
    (file.to_ascii_lowercase().ends_with(".gguf") && file.split('/').all(is_safe)).then_some((repository, file))
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
        let gguf = |file: &str, revision: Option<&str>| ModelSource::HubGguf {
            repository: "a/b-GGUF".to_owned(),
            file: file.to_owned(),
            revision: revision.map(str::to_owned),
        };
        for (text, source) in [
            ("a/b-GGUF:Q8_0", gguf("Q8_0", None)),
            ("a/b-GGUF:Q4_K_M@v1", gguf("Q4_K_M", Some("v1"))),
            ("a/b-GGUF/b.Q8_0.gguf", gguf("b.Q8_0.gguf", None)),
            ("a/b-GGUF/BF16/b.gguf@v1", gguf("BF16/b.gguf", Some("v1"))),
        ] {
            assert_eq!(parse(text).unwrap(), source);
            assert_eq!(source.to_string(), text);
        }
        assert_eq!(parse("src/lib.rs").unwrap(), hub("src/lib.rs", None));
        let file = parse("builtin/model.safetensors").unwrap_err().to_string();
        assert!(file.contains("name its directory"), "{file}");
        for wrong in [
            "a/b:",
            "a/b:../x",
            "a/b/../x.gguf",
            "a/b/c.bin",
            "models/missing.gguf",
            "./missing.gguf",
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
