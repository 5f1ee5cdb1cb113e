//! [`ModelError`]: an error of a model, with its place (file, tensor, field) and its remedy.

use std::path::{Path, PathBuf};

use candle_core::DType;

/// Error of finding, reading or running a model.
///
/// File names are as the user knows them: a path, `org/name@revision: file` for the hub, or `builtin: file`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file system refused a write (download cache, random checkpoint).
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The text that names a model is neither a directory, nor `org/name`, nor `builtin`.
    #[error("{name:?} names no model: {reason}")]
    BadSource {
        /// The text given.
        name: String,
        /// The reason why the name is refused, and the expected form.
        reason: String,
    },
    /// A model lacks a file that is needed.
    #[error("{model} has no {file}: {hint}")]
    MissingFile {
        /// The model's name.
        model: String,
        /// The file, relative to the model.
        file: String,
        /// The purpose of the file, or where to get it.
        hint: String,
    },
    /// A file is larger than such a file may be.
    #[error("{file} has {bytes} bytes, over the limit of {limit}")]
    FileTooLarge {
        /// The file.
        file: String,
        /// Size of the file in bytes.
        bytes: u64,
        /// The largest size that is read, in bytes.
        limit: u64,
    },
    /// A file is not the JSON it should be.
    #[error("{file} is not valid JSON for its purpose: {message}")]
    Json {
        /// The file.
        file: String,
        /// The parser's message, with line and column.
        message: String,
    },
    /// A field of a configuration file is missing, has the wrong type, or a value no model can have.
    #[error("{file}, field `{field}`: {message}")]
    Config {
        /// The file.
        file: String,
        /// The field, nested ones with dots.
        field: String,
        /// The problem, and the expected value.
        message: String,
    },
    /// The model is well formed, but of a kind this crate cannot run.
    #[error("{file}: {what} is not supported ({hint})")]
    Unsupported {
        /// The file that says so.
        file: String,
        /// The architecture, activation, position scaling … that is not supported.
        what: String,
        /// The supported alternative.
        hint: String,
    },
    /// A tensor that the model needs is in none of its weight files.
    #[error("there is no tensor `{tensor}` in {file}, and the model's sizes call for it")]
    TensorMissing {
        /// The weight file, or in words all of them.
        file: String,
        /// The tensor.
        tensor: String,
    },
    /// A tensor has another shape than the configuration says.
    #[error("{file}, tensor `{tensor}`: shape {found:?}, but the model's sizes call for {expected:?}")]
    TensorShape {
        /// The weight file.
        file: String,
        /// The tensor.
        tensor: String,
        /// The shape the configuration implies.
        expected: Vec<usize>,
        /// The shape found.
        found: Vec<usize>,
    },
    /// A tensor's elements are of a type that cannot be used.
    #[error("{file}, tensor `{tensor}`: elements are {found}; {expected} can be used")]
    TensorType {
        /// The weight file.
        file: String,
        /// The tensor.
        tensor: String,
        /// The element types that can be used.
        expected: Box<str>,
        /// The element type found.
        found: String,
    },
    /// A weight file is damaged: truncated, garbage, or with a header that contradicts itself.
    #[error("{file} is damaged: {message}; download or copy it again")]
    DamagedWeights {
        /// The weight file.
        file: String,
        /// The contradiction or damage that was found.
        message: String,
    },
    /// The index of a sharded checkpoint names a file that is not there.
    #[error("{index} puts tensors in {shard}, which is missing")]
    ShardMissing {
        /// The index file.
        index: String,
        /// The missing shard.
        shard: String,
    },
    /// A repository, revision or file is not on the hub (HTTP 404).
    #[error("{url} does not exist: {hint}")]
    HubNotFound {
        /// The address asked for.
        url: String,
        /// The possible mistake.
        hint: String,
    },
    /// The hub refused access (HTTP 401 or 403): the repository is gated or private.
    #[error("access to {repo} refused (HTTP {status}): {hint}")]
    HubRefused {
        /// The repository.
        repo: String,
        /// The HTTP status.
        status: u16,
        /// The remedy.
        hint: String,
    },
    /// The hub could not be reached, or answered something unexpected.
    #[error("cannot fetch {url}: {message}")]
    Hub {
        /// The address asked for.
        url: String,
        /// The failure, or the unexpected part of the answer.
        message: String,
    },
    /// A download ended early, or its content is not what the hub announced.
    #[error("{url}: the download is incomplete or damaged ({message}); run again to resume it")]
    HubDamaged {
        /// The address.
        url: String,
        /// Bytes or hash expected and found.
        message: String,
    },
    /// A file is not in the download cache, and downloads are off or the hub cannot be reached.
    #[error(
        "{file} of {repo} is not in the cache {}, and nothing is downloaded: downloads are off (--offline or HF_HUB_OFFLINE), \
         or the hub cannot be reached", cache.display()
    )]
    NotCached {
        /// The repository with its revision.
        repo: String,
        /// The file, or "the revision".
        file: String,
        /// The cache directory.
        cache: PathBuf,
    },
    /// tokenizer.json cannot be used.
    #[error("{file}: {message}")]
    Tokenizer {
        /// The file.
        file: String,
        /// The problem.
        message: String,
    },
    /// The tokenizer's data does not make a vocabulary for the model.
    #[error("{file}: {source}")]
    Vocabulary {
        /// The file.
        file: String,
        /// The vocabulary's error.
        source: maskwright::VocabularyError,
    },
    /// The chat template does not parse, fails, refuses the messages, or runs too long.
    #[error("chat template in {file}: {message}")]
    ChatTemplate {
        /// The file that holds the template.
        file: String,
        /// The template's error, with the line where known.
        message: String,
    },
    /// No end of the model's reasoning is known.
    #[error(
        "{model}: neither its chat template nor its tokenizer has an end of reasoning that is known ({known}); name it with --reasoning-end, or let it answer at once"
    )]
    NoReasoning {
        /// The model.
        model: String,
        /// The ends that are known.
        known: String,
    },
    /// The device does not exist, or the build has no support for it.
    #[error("device {device}: {message}")]
    Device {
        /// The device asked for.
        device: String,
        /// The problem and the remedy.
        message: String,
    },
    /// The device failed while computing, for instance for lack of memory.
    #[error("{model}: computing {what} failed: {message}")]
    Compute {
        /// The model.
        model: String,
        /// The step.
        what: &'static str,
        /// The reason.
        message: String,
    },
    /// The sequence would be longer than the model's context.
    #[error("{position} tokens and {added} more do not fit the model's context of {max_positions} tokens")]
    ContextFull {
        /// Tokens in the cache.
        position: usize,
        /// Tokens that were to be appended.
        added: usize,
        /// The model's limit.
        max_positions: usize,
    },
    /// A token id outside the model's vocabulary was appended.
    #[error("token id {token} is outside the model's vocabulary of {vocab_size}")]
    TokenOutOfRange {
        /// The id.
        token: u32,
        /// Number of the model's outputs.
        vocab_size: usize,
    },
    /// No token was appended; there is nothing to compute logits after.
    #[error("no tokens to append: a prompt needs at least one token")]
    NothingToAppend,
    /// The model computed infinities or NaN: damaged weights, or a number format too narrow for the model.
    #[error("{model}: the logit of token {token} is {value}; the weights are damaged or overflow their number format{}", wider_format(*dtype))]
    NonFiniteLogits {
        /// The model.
        model: String,
        /// The number format of the model's weights or logits.
        dtype: DType,
        /// First token whose logit is not finite.
        token: usize,
        /// Its logit.
        value: f32,
    },
    /// A snapshot was restored that is not part of the current sequence any more.
    #[error(
        "the snapshot at {position} tokens does not belong to the current sequence: it was rolled back past or reset"
    )]
    StaleSnapshot {
        /// Number of tokens at the snapshot.
        position: usize,
    },
}

/// Returns the advice to choose a wider number format than `dtype`; none where there is none.
fn wider_format(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "",
        _ => " (try --dtype f32)",
    }
}

impl ModelError {
    /// The error of a file or directory at `path` that could not be read.
    pub(crate) fn cannot_read(path: &Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// The error of a file or directory at `path` that could not be written.
    pub(crate) fn cannot_write(path: &Path, source: std::io::Error) -> Self {
        Self::Write {
            path: path.to_owned(),
            source,
        }
    }

    /// The refusal of `repo` (`organisation/name@revision`) with an HTTP status, at the address `url` of the hub.
    pub(crate) fn refused(repo: &str, url: &str, status: u16, has_token: bool) -> Self {
        let host = url.find("://").map_or(0, |scheme| scheme + 3);
        let end = url[host..].find('/').map_or(url.len(), |path| host + path);
        let page = format!("{}/{}", &url[..end], repo.split('@').next().unwrap_or(repo));
        let token = match has_token {
            true => {
                "your access token may not read it; make one that may, and log in with it (`hf auth login`) or put it into HF_TOKEN"
            }
            false => "no access token was sent; log in with `hf auth login`, or put one into HF_TOKEN",
        };
        Self::HubRefused {
            repo: repo.to_owned(),
            status,
            hint: format!("accept its licence at {page}, if it is gated; {token}"),
        }
    }

    /// A failure of candle while computing `what`.
    pub(crate) fn compute(model: &str, what: &'static str, error: &candle_core::Error) -> Self {
        Self::Compute {
            model: model.to_owned(),
            what,
            message: error.to_string(),
        }
    }
}
