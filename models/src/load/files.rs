//! [`ModelFiles`]: a model's configuration files, read, and its weight files, mapped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use crate::error::ModelError;
use crate::load::builtin;
use crate::load::disk::read_file;
use crate::load::file_names::{
    CONFIG, GENERATION_CONFIG, TEMPLATE_JINJA, TEMPLATE_JSON, TEMPLATE_TOOL_USE, TIKTOKEN, TOKENIZER, TOKENIZER_CONFIG,
    WEIGHT_INDEX, WEIGHTS,
};
use crate::load::gguf::configuration::configuration;
use crate::load::hub::repository::Repository;
use crate::load::hub::settings::HubSettings;
use crate::load::source::ModelSource;
use crate::load::weights::{WeightBytes, shards_of_index};

/// The files of one model, read or mapped.
pub(crate) struct ModelFiles {
    /// The name that the user gave the model.
    pub(crate) name: String,
    /// The commit, where the model came from the hub.
    pub(crate) commit: Option<String>,
    /// The configuration files there are, by name.
    configuration: BTreeMap<&'static str, Cow<'static, [u8]>>,
    /// Whether the model has a tokenizer in the format of tiktoken.
    has_tiktoken: bool,
    /// The weight files, with their names.
    pub(crate) weights: Vec<(String, WeightBytes)>,
}

/// The configuration files that a model may have, each with the largest size that is read, in bytes.
const CONFIGURATION_FILES: [(&str, u64); 7] = [
    (CONFIG, 16 << 20),
    (TOKENIZER, 512 << 20),
    (TOKENIZER_CONFIG, 64 << 20),
    (GENERATION_CONFIG, 16 << 20),
    (TEMPLATE_JINJA, 16 << 20),
    (TEMPLATE_JSON, 16 << 20),
    (TEMPLATE_TOOL_USE, 16 << 20),
];

/// Largest index of a sharded checkpoint that is read, in bytes.
const WEIGHT_INDEX_LIMIT: u64 = 64 << 20;

impl ModelFiles {
    /// Finds the model's files, downloading those that are not in the cache.
    pub(crate) fn open(
        source: &ModelSource,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
    ) -> Result<Self, ModelError> {
        Self::find(source, hub, progress, true)
    }

    /// Finds the model's configuration files only; the weights stay where they are.
    pub(crate) fn open_configuration(
        source: &ModelSource,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
    ) -> Result<Self, ModelError> {
        Self::find(source, hub, progress, false)
    }

    /// Finds the configuration files, and where they are asked for the weights.
    fn find(
        source: &ModelSource,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
        with_weights: bool,
    ) -> Result<Self, ModelError> {
        let mut location = match source {
            ModelSource::Builtin => return Ok(Self::builtin()),
            ModelSource::Gguf(path) => return Self::of_gguf(source.to_string(), path, None),
            ModelSource::Directory(path) => FileLocation::Directory(path.clone()),
            ModelSource::HubGguf {
                repository,
                file,
                revision,
            } => {
                let mut repository = Repository::open(hub, progress, repository, revision.as_deref())?;
                let path = repository.gguf_file(file)?;
                return Self::of_gguf(source.to_string(), &path, Some(repository.commit().to_owned()));
            }
            ModelSource::Hub { repository, revision } => {
                let repository = Repository::open(hub, progress, repository, revision.as_deref())?;
                FileLocation::Hub(Box::new(repository))
            }
        };
        let name = source.to_string();
        let mut configuration = BTreeMap::new();
        for (file, limit) in CONFIGURATION_FILES {
            if let Some(path) = location.file(file)? {
                configuration.insert(file, Cow::Owned(read_file(&path, limit)?));
            }
        }
        let weights = match with_weights {
            true => location.weights(&name)?,
            false => Vec::new(),
        };
        Ok(Self {
            name,
            commit: location.commit(),
            configuration,
            has_tiktoken: location.has(TIKTOKEN),
            weights,
        })
    }

    /// The model called `name` that is in the GGUF file at `path`, at a commit of the hub.
    fn of_gguf(name: String, path: &Path, commit: Option<String>) -> Result<Self, ModelError> {
        let bytes = WeightBytes::map(path)?;
        let configuration = configuration(&name, bytes.as_slice())?.into_iter();
        Ok(Self {
            configuration: configuration.map(|(file, bytes)| (file, Cow::Owned(bytes))).collect(),
            has_tiktoken: false,
            weights: vec![(name.clone(), bytes)],
            commit,
            name,
        })
    }

    /// The files of the model that is part of this crate.
    fn builtin() -> Self {
        let name = ModelSource::Builtin.to_string();
        let configuration = builtin::CONFIGURATION.into_iter();
        Self {
            weights: vec![(format!("{name}: {WEIGHTS}"), WeightBytes::Static(builtin::WEIGHTS))],
            configuration: configuration
                .map(|(file, bytes)| (file, Cow::Borrowed(bytes)))
                .collect(),
            has_tiktoken: false,
            commit: None,
            name,
        }
    }

    /// The bytes of a configuration file, where the model has it.
    pub(crate) fn get(&self, file: &str) -> Option<&[u8]> {
        self.configuration.get(file).map(|bytes| &**bytes)
    }

    /// The bytes of a configuration file that every model needs.
    pub(crate) fn require(&self, file: &str) -> Result<&[u8], ModelError> {
        self.get(file).ok_or_else(|| ModelError::MissingFile {
            model: self.name.clone(),
            file: file.to_owned(),
            hint: match file {
                TOKENIZER if self.has_tiktoken => {
                    "the tokenizer in tiktoken.model is not read; transformers' `convert_tiktoken_to_fast` writes a tokenizer.json of an encoding"
                }
                TOKENIZER => "save the tokenizer with transformers' `AutoTokenizer.from_pretrained(…).save_pretrained(…)`, which writes it",
                _ => "expected a model in Hugging Face layout",
            }
            .to_owned(),
        })
    }

    /// Returns the name of a file of this model for error messages.
    pub(crate) fn label(&self, file: &str) -> String {
        format!("{}: {file}", self.name)
    }

    /// The configuration files there are, by name.
    pub(crate) fn configuration(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.configuration.iter().map(|(name, bytes)| (*name, &**bytes))
    }
}

/// Place from which the files of a model are read.
enum FileLocation<'a> {
    Directory(PathBuf),
    Hub(Box<Repository<'a>>),
}

impl FileLocation<'_> {
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

    /// Whether the model has a file of that name, which is not fetched.
    fn has(&self, file: &str) -> bool {
        match self {
            Self::Directory(directory) => directory.join(file).is_file(),
            Self::Hub(repository) => repository.announces(file),
        }
    }

    /// The commit of a repository on the hub.
    fn commit(&self) -> Option<String> {
        match self {
            Self::Directory(_) => None,
            Self::Hub(repository) => Some(repository.commit().to_owned()),
        }
    }

    /// All weight files of the model called `name`: the only one, or those that the index of a sharded checkpoint names.
    fn weights(&mut self, name: &str) -> Result<Vec<(String, WeightBytes)>, ModelError> {
        if let Some(path) = self.file(WEIGHTS)? {
            return Ok(vec![(format!("{name}: {WEIGHTS}"), WeightBytes::map(&path)?)]);
        }
        let Some(index) = self.file(WEIGHT_INDEX)? else {
            if let Self::Hub(repository) = self
                && let Some(error) = repository.weights_not_cached()
            {
                return Err(error);
            }
            return Err(ModelError::MissingFile {
                model: name.to_owned(),
                file: format!("{WEIGHTS} or {WEIGHT_INDEX}"),
                hint:
                    "name a GGUF file by its path or as OWNER/NAME:Q8_0; weights in other formats (.bin, .pth) are not \
                       read, and transformers' `save_pretrained` writes safetensors"
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
