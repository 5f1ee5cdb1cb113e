//! [`ModelSource`]: the three places a model comes from, and the files each yields.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use indicatif::ProgressBar;

use crate::hub::{Hub, HubSettings, Repository};
use crate::weights::{WeightBytes, shards_of_index};
use crate::{ModelError, builtin};

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
    /// What exists as a directory is one; anything else with a leading `.`, `/` or `~` was meant to be.
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
pub(crate) fn is_repository(text: &str) -> bool {
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
pub(crate) fn is_revision(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    (1..=200).contains(&text.len())
        && text.chars().all(allowed)
        && text
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with(['.', '-']))
        && !text.contains("..")
}

/// The files of one model, read or mapped.
pub(crate) struct ModelFiles {
    /// What the user calls the model.
    pub(crate) name: String,
    /// The commit, where the model came from the hub.
    pub(crate) commit: Option<String>,
    /// The configuration files there are, by name.
    small: BTreeMap<&'static str, Cow<'static, [u8]>>,
    /// The weight files, with their names.
    pub(crate) weights: Vec<(String, WeightBytes)>,
}

/// A configuration file a model may have, and the largest size that is read, in bytes.
const SMALL_FILES: [(&str, u64); 6] = [
    (CONFIG, 16 << 20),
    (TOKENIZER, 512 << 20),
    (TOKENIZER_CONFIG, 64 << 20),
    (GENERATION_CONFIG, 16 << 20),
    (TEMPLATE_JINJA, 16 << 20),
    (TEMPLATE_JSON, 16 << 20),
];

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(crate) const GENERATION_CONFIG: &str = "generation_config.json";
pub(crate) const TEMPLATE_JINJA: &str = "chat_template.jinja";
pub(crate) const TEMPLATE_JSON: &str = "chat_template.json";
const WEIGHTS: &str = "model.safetensors";
const WEIGHT_INDEX: &str = "model.safetensors.index.json";
/// Largest index of a sharded checkpoint that is read, in bytes.
const WEIGHT_INDEX_LIMIT: u64 = 64 << 20;

impl ModelFiles {
    /// Finds the model's files, downloading those that are not in the cache.
    pub(crate) fn open(
        source: &ModelSource,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
    ) -> Result<Self, ModelError> {
        Self::find(source, hub, progress, |place, name| place.weights(name))
    }

    /// Finds the model's configuration files only; the weights stay where they are.
    pub(crate) fn open_configuration(
        source: &ModelSource,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
    ) -> Result<Self, ModelError> {
        Self::find(source, hub, progress, |_, _| Ok(Vec::new()))
    }

    fn find(
        source: &ModelSource,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
        weights: impl FnOnce(&mut Place<'_>, &str) -> Result<Vec<(String, WeightBytes)>, ModelError>,
    ) -> Result<Self, ModelError> {
        let (name, mut place) = match source {
            ModelSource::Builtin => return Ok(builtin::files()),
            ModelSource::Directory(path) => (path.display().to_string(), Place::Directory(path.clone())),
            ModelSource::Hub { repository, revision } => {
                let hub = Hub::new(hub, progress);
                let repository = hub.repository(repository, revision.as_deref())?;
                (source.to_string(), Place::Hub(Box::new(repository)))
            }
        };
        let mut small = BTreeMap::new();
        for (file, limit) in SMALL_FILES {
            if let Some(path) = place.file(file)? {
                small.insert(file, Cow::Owned(read_file(&path, limit)?));
            }
        }
        let weights = weights(&mut place, &name)?;
        Ok(Self {
            name,
            commit: place.commit(),
            small,
            weights,
        })
    }

    /// A model whose files are in memory.
    pub(crate) fn in_memory(
        name: &str,
        small: impl IntoIterator<Item = (&'static str, &'static [u8])>,
        weights: &'static [u8],
    ) -> Self {
        Self {
            name: name.to_owned(),
            commit: None,
            small: small
                .into_iter()
                .map(|(file, bytes)| (file, Cow::Borrowed(bytes)))
                .collect(),
            weights: vec![(format!("{name}: {WEIGHTS}"), WeightBytes::Static(weights))],
        }
    }

    /// The bytes of a configuration file, where the model has it.
    pub(crate) fn get(&self, file: &str) -> Option<&[u8]> {
        self.small.get(file).map(|bytes| &**bytes)
    }

    /// The bytes of a configuration file that every model needs.
    pub(crate) fn require(&self, file: &str) -> Result<&[u8], ModelError> {
        self.get(file).ok_or_else(|| ModelError::MissingFile {
            model: self.name.clone(),
            file: file.to_owned(),
            hint: match file {
                TOKENIZER => "save the tokenizer with transformers' `AutoTokenizer.from_pretrained(…).save_pretrained(…)`, which writes it",
                _ => "expected a model in Hugging Face layout",
            }
            .to_owned(),
        })
    }

    /// How error messages name a file of this model.
    pub(crate) fn label(&self, file: &str) -> String {
        format!("{}: {file}", self.name)
    }

    /// The configuration files there are, by name.
    pub(crate) fn configuration(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.small.iter().map(|(name, bytes)| (*name, &**bytes))
    }
}

enum Place<'a> {
    Directory(PathBuf),
    Hub(Box<Repository<'a>>),
}

impl Place<'_> {
    /// The path of a file, `None` where the model has none of that name.
    fn file(&mut self, file: &str) -> Result<Option<PathBuf>, ModelError> {
        match self {
            Self::Directory(directory) => {
                let path = directory.join(file);
                Ok(path.is_file().then_some(path))
            }
            Self::Hub(repository) => repository.file(file),
        }
    }

    fn commit(&self) -> Option<String> {
        match self {
            Self::Directory(_) => None,
            Self::Hub(repository) => Some(repository.commit().to_owned()),
        }
    }

    fn weights(&mut self, name: &str) -> Result<Vec<(String, WeightBytes)>, ModelError> {
        if let Some(path) = self.file(WEIGHTS)? {
            return Ok(vec![(format!("{name}: {WEIGHTS}"), WeightBytes::map(&path)?)]);
        }
        let Some(index) = self.file(WEIGHT_INDEX)? else {
            return Err(ModelError::MissingFile {
                model: name.to_owned(),
                file: format!("{WEIGHTS} or {WEIGHT_INDEX}"),
                hint: "weights in other formats (.bin, .pth, .gguf) are not read; \
                       transformers' `save_pretrained` writes safetensors"
                    .to_owned(),
            });
        };
        let label = format!("{name}: {WEIGHT_INDEX}");
        let shards = shards_of_index(&label, &read_file(&index, WEIGHT_INDEX_LIMIT)?)?;
        let mut files = Vec::with_capacity(shards.len());
        for shard in shards {
            let path = self.file(&shard)?.ok_or_else(|| ModelError::ShardMissing {
                index: label.clone(),
                shard: shard.clone(),
            })?;
            files.push((format!("{name}: {shard}"), WeightBytes::map(&path)?));
        }
        Ok(files)
    }
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ModelError> {
    let failed = |source| ModelError::Io {
        path: path.to_owned(),
        source,
    };
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > limit {
        return Err(ModelError::FileTooLarge {
            file: path.display().to_string(),
            bytes,
            limit,
        });
    }
    std::fs::read(path).map_err(failed)
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
