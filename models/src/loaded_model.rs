//! [`load`]: a model with everything that belongs to it, from any [`ModelSource`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use candle_core::{DType, Device};
use indicatif::ProgressBar;
use maskwright::{TokenId, Vocabulary};
use sha2::{Digest, Sha256};

use crate::error::ModelError;
use crate::language_model::LanguageModel;
use crate::load::config::ModelConfig;
use crate::load::files::ModelFiles;
use crate::load::generation_config::GenerationDefaults;
use crate::load::gguf::BlockFormat;
use crate::load::hub::settings::HubSettings;
use crate::load::source::ModelSource;
use crate::load::tokenizer_config::TokenizerConfig;
use crate::load::weight_format::WeightFormat;
use crate::load::weights::Weights;
use crate::network::device::{GpuSummary, ModelDevice};
use crate::network::matrices::format::MatrixFormat;
use crate::network::transformer::Transformer;
use crate::prompt::chat_template::{ChatTemplate, Message, TOOLS};
use crate::prompt::reasoning::{Reasoning, ReasoningOptions, answer_at_once};
use crate::prompt::tokenizer::ModelTokenizer;
use crate::prompt::vocabulary::{ConfigurationFiles, ModelVocabulary};

/// Number of weights below which F16 weights are kept as F32 on the CPU unless asked otherwise: while they fit the
/// processor's caches, widening them each time costs more than reading twice as many bytes.
const WIDENED_BELOW: u64 = 16 << 20;

/// Options for loading a model.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Device that computes the model.
    pub device: ModelDevice,
    /// The number format that the model's weights are kept in.
    pub dtype: WeightFormat,
    /// Threads of a forward pass on the CPU; by default as many as rayon's global pool has.
    pub threads: Option<usize>,
    /// The time that chat templates see (some write the date into the prompt); by default, the local time when
    /// a prompt is rendered. Runs that are to be compared need the same.
    pub clock: Option<jiff::civil::DateTime>,
    /// Options for prompts.
    pub prompt: PromptOptions,
    /// Hub address, cache and credentials; by default from the environment (`HF_HOME`, `HF_TOKEN` …).
    pub hub: HubSettings,
    /// The bar that shows the progress of downloads; `None` shows nothing.
    pub progress: Option<ProgressBar>,
}

/// Options for prompts: chat template, thinking and reasoning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptOptions {
    /// A file with a chat template in place of the model's own.
    pub chat_template: Option<PathBuf>,
    /// Whether the model is to think before it answers, where its chat template has a switch for that; an error where it has
    /// none. `None`: it thinks where it may reason.
    pub thinking: Option<bool>,
    /// Limits and end of the reasoning before an answer; `None` where the answer is to begin at once.
    pub reasoning: Option<ReasoningOptions>,
}

/// Name, shape, number format and hashes of a loaded model, by which the record of a run identifies it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ModelSummary {
    /// The name the user gave.
    pub name: String,
    /// Name of the family: `llama`, `qwen2` …
    pub family: &'static str,
    /// Number of weights.
    pub parameters: u64,
    /// Bytes of weights that a forward pass over one token reads.
    pub bytes_per_token: u64,
    /// Number of logits.
    pub vocab_size: usize,
    /// Longest sequence, in tokens.
    pub max_positions: usize,
    /// Format the weights are kept in; that of the matrices of a GGUF file, joined by `+` where there are several.
    pub dtype: String,
    /// Device that computes the model.
    pub device: String,
    /// The GPU; `None` where the model is computed on the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuSummary>,
    /// Threads of a forward pass on the CPU.
    pub threads: usize,
    /// Commit on the hub.
    pub commit: Option<String>,
    /// SHA-256 of the configuration files, the headers of the weight files (names, shapes and places of all tensors)
    /// and up to 4 MiB of each weight file's data, sampled evenly, in hexadecimal digits.
    pub hash: String,
    /// SHA-256 of each configuration file, in hexadecimal digits.
    pub files: BTreeMap<String, String>,
}

/// A model with its tokenizer, vocabulary, chat template and defaults.
pub struct LoadedModel {
    /// The model itself.
    pub model: Box<dyn LanguageModel>,
    vocabulary: ModelVocabulary,
    template: Option<ChatTemplate>,
    /// The chat template's variables in prompts of [`LoadedModel::render_prompt`].
    variables: BTreeMap<String, serde_json::Value>,
    /// The chat template's variables in prompts of [`LoadedModel::render_prompt_at_once`].
    variables_at_once: BTreeMap<String, serde_json::Value>,
    reasoning: Option<Reasoning>,
    tokenizer_config: TokenizerConfig,
    /// Whether the tokenizer's special tokens stand around the text of a chat template, too, as llama.cpp puts them there.
    is_gguf: bool,
    generation_defaults: GenerationDefaults,
    /// Whether the output matrix is one of its own although config.json says that it is that of the embeddings.
    has_untied_output: bool,
    summary: ModelSummary,
}

impl fmt::Debug for LoadedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedModel")
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

/// Finds, downloads where necessary, and reads a model.
///
/// # Errors
///
/// [`ModelError`], naming the file, tensor or field at fault. Damaged and hostile files end in an error too,
/// never in a panic.
pub fn load(source: &ModelSource, options: &LoadOptions) -> Result<LoadedModel, ModelError> {
    let is_gguf = matches!(source, ModelSource::Gguf(_) | ModelSource::HubGguf { .. });
    let mut files = ModelFiles::open(source, &options.hub, options.progress.as_ref())?;
    let ConfigurationFiles {
        config,
        generation_defaults,
        tokenizer_config,
        vocabulary,
    } = ConfigurationFiles::read(&files)?;
    let template = match &options.prompt.chat_template {
        Some(path) => Some(ChatTemplate::read_file(path, &tokenizer_config, options.clock)?),
        None => ChatTemplate::read(&files, &tokenizer_config, options.clock)?,
    };
    let variables = prompt_variables(&options.prompt, &files.name, template.as_ref())?;
    let variables_at_once = prompt_variables(&PromptOptions::default(), &files.name, template.as_ref())?;
    let reasoning = options.prompt.reasoning.as_ref();
    let source = template.as_ref().map(ChatTemplate::source);
    let reasoning = reasoning.map(|options| Reasoning::new(options, &files.name, &vocabulary, source));
    let reasoning = reasoning.transpose()?;

    let weights = Weights::new(std::mem::take(&mut files.weights))?;
    let is_tied = config.tied_embeddings;
    let config = config.with_output_as_in(&weights);
    let has_untied_output = is_tied && !config.tied_embeddings;
    let device = options.device.open()?;
    let dtype = match (options.dtype, options.dtype.or_that_of(&config, &weights)) {
        (WeightFormat::Auto, DType::F16) if device.is_cpu() && config.parameters() < WIDENED_BELOW => DType::F32,
        (WeightFormat::Auto, DType::F16) if !device.is_cpu() && config.family.has_large_activations() => DType::BF16,
        (_, dtype) => dtype,
    };
    let kept = Kept::new(&config, &weights, options.dtype, dtype, &device)
        .map_err(|error| ModelError::compute(&files.name, "loading kernels", &error))?;
    let threads = options.threads.map(thread_pool).transpose()?;
    let summary = ModelSummary {
        name: files.name.clone(),
        family: config.family.name(),
        parameters: config.parameters(),
        bytes_per_token: kept.bytes_per_token,
        vocab_size: config.vocab_size,
        max_positions: config.max_positions,
        dtype: kept.name,
        device: options.device.to_string(),
        gpu: options.device.describe(),
        threads: threads
            .as_ref()
            .map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads()),
        commit: files.commit.clone(),
        hash: fingerprint(&files, &weights),
        files: files
            .configuration()
            .map(|(name, bytes)| (name.to_owned(), hex::encode(Sha256::digest(bytes))))
            .collect(),
    };
    options
        .device
        .check_memory(&device, &config, dtype, kept.packed_bytes)?;
    let model = Transformer::new(&files.name, config, &weights, &kept.format, &device, threads)?;
    Ok(LoadedModel {
        model: Box::new(model),
        vocabulary,
        template,
        variables,
        variables_at_once,
        reasoning,
        tokenizer_config,
        is_gguf,
        generation_defaults,
        has_untied_output,
        summary,
    })
}

/// The variables of the chat template of the model called `model`.
fn prompt_variables(
    options: &PromptOptions,
    model: &str,
    template: Option<&ChatTemplate>,
) -> Result<BTreeMap<String, serde_json::Value>, ModelError> {
    match (options.thinking, template) {
        (Some(is_on), Some(template)) => template.thinking_variables(is_on),
        (Some(_), None) => Err(ModelError::ChatTemplate {
            file: model.to_owned(),
            message: "there is none, and so no switch for thinking: leave --thinking out".to_owned(),
        }),
        (None, Some(template)) => Ok(template
            .thinking_variables(options.reasoning.is_some())
            .unwrap_or_default()),
        (None, None) => Ok(BTreeMap::new()),
    }
}

impl LoadedModel {
    /// The name the user gave: `builtin`, a path, or a hub id with its revision.
    pub fn name(&self) -> &str {
        &self.summary.name
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Arc<ModelTokenizer> {
        &self.vocabulary.tokenizer
    }

    /// The bytes of each token, as many tokens as the model has logits.
    pub fn vocabulary(&self) -> Arc<Vocabulary> {
        Arc::clone(&self.vocabulary.vocabulary)
    }

    /// The tokens that end an answer: those of generation_config.json, or without it of config.json, and the
    /// tokenizer's own end-of-sequence token.
    pub fn eos_ids(&self) -> &[TokenId] {
        &self.vocabulary.eos_ids
    }

    /// The text of the model's tokenizer.json.
    pub fn tokenizer_json(&self) -> &Arc<str> {
        &self.vocabulary.tokenizer_json
    }

    /// Whether the model has a chat template.
    pub fn has_chat_template(&self) -> bool {
        self.template.is_some()
    }

    /// Sampling settings that the model's authors recommend.
    pub fn generation_defaults(&self) -> GenerationDefaults {
        self.generation_defaults
    }

    /// Name, shape, number format and hashes of the model.
    pub fn summary(&self) -> &ModelSummary {
        &self.summary
    }

    /// Returns sentences on what a user may not expect of this model.
    pub fn notices(&self) -> Vec<String> {
        let name = self.name();
        let untied = self.has_untied_output.then(|| {
            format!(
                "{name}: config.json says that the output matrix is that of the embeddings, but the weights have an lm_head.weight that differs; \
                 it is used, as by transformers"
            )
        });
        let folds = self.template.as_ref().is_some_and(ChatTemplate::folds_system_messages).then(|| {
            format!(
                "{name}: its chat template refuses system messages: their text is put before that of the first message of the user"
            )
        });
        let lacks = self.template.is_none().then(|| {
            format!(
                "{name} has no chat template: a prompt is the texts of its messages, each with an empty line behind it, unless --chat-template \
                 names one"
            )
        });
        untied.into_iter().chain(folds).chain(lacks).collect()
    }

    /// Returns the reasoning that the model writes before its answer; `None` where it may not reason
    /// ([`PromptOptions::reasoning`]).
    pub fn reasoning(&self) -> Option<&Reasoning> {
        self.reasoning.as_ref()
    }

    /// Renders `messages` as the text of a prompt that asks for the model's answer.
    ///
    /// The model's chat template does that, with its thinking switched on or off as [`PromptOptions`] say. Where the model is to
    /// answer at once and its template lets it reason first, the marks follow behind which an answer begins. A template that refuses system
    /// messages gets their text in the first message of the user. Without a template the text is the contents, each with an empty line behind it.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], where the template fails or refuses the messages.
    pub fn render_prompt(&self, messages: &[Message]) -> Result<String, ModelError> {
        match self.reasoning {
            Some(_) => self.render_or_fold(messages, &self.variables),
            None => self.render_for_answer(messages, &self.variables),
        }
    }

    /// Renders `messages` as the text of a prompt behind which the answer begins at once, also of a model that may reason
    /// ([`PromptOptions::reasoning`]): its thinking is switched off, as it is where the options say nothing. With it, one loaded model can be asked
    /// both ways.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], where the template fails or refuses the messages.
    pub fn render_prompt_at_once(&self, messages: &[Message]) -> Result<String, ModelError> {
        match self.reasoning {
            Some(_) => self.render_for_answer(messages, &self.variables_at_once),
            None => self.render_prompt(messages),
        }
    }

    /// The text of the chat template, where there is one.
    pub fn chat_template(&self) -> Option<&str> {
        self.template.as_ref().map(ChatTemplate::source)
    }

    /// The text of the chat template that writes prompts with tools: the one called `tool_use`, if the model has several.
    pub fn tool_template(&self) -> Option<&str> {
        self.template.as_ref().map(ChatTemplate::source_for_tools)
    }

    /// Whether the chat template writes tools into prompts.
    pub fn takes_tools(&self) -> bool {
        self.template.as_ref().is_some_and(ChatTemplate::takes_tools)
    }

    /// Renders `messages` as [`LoadedModel::render_prompt`] does, with `tools`, a list in the form of OpenAI's chat completions, for the chat template to
    /// write into the prompt.
    ///
    /// In a format of calls whose replies have channels of their own (`in_channels`), reasoning is a part of the reply: nothing is put behind the
    /// prompt by which the model would begin its last message.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], where the template fails or refuses the messages.
    pub fn render_prompt_with_tools(
        &self,
        messages: &[Message],
        tools: &serde_json::Value,
        in_channels: bool,
    ) -> Result<String, ModelError> {
        let mut variables = self.variables.clone();
        variables.insert(TOOLS.to_owned(), tools.clone());
        match in_channels || self.reasoning.is_some() {
            true => self.render_or_fold(messages, &variables),
            false => self.render_for_answer(messages, &variables),
        }
    }

    /// Renders `messages` and puts the marks behind which an answer begins where the template lets the model reason first.
    fn render_for_answer(
        &self,
        messages: &[Message],
        variables: &BTreeMap<String, serde_json::Value>,
    ) -> Result<String, ModelError> {
        let mut prompt = self.render_or_fold(messages, variables)?;
        let template = self.template.as_ref().map(ChatTemplate::source);
        prompt.push_str(answer_at_once(&prompt, template, &self.vocabulary.tokenizer));
        Ok(prompt)
    }

    /// Renders `messages`, with the text of a system message that the template refuses in the first message of the user.
    fn render_or_fold(
        &self,
        messages: &[Message],
        variables: &BTreeMap<String, serde_json::Value>,
    ) -> Result<String, ModelError> {
        match &self.template {
            Some(template) => template.render_or_fold(messages, variables),
            None => self.render_prompt_with(messages, variables),
        }
    }

    /// Renders `messages` by the chat template alone, as [`LoadedModel::render_prompt`] begins, with the template's variables given
    /// by the caller.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], where the template fails or refuses the messages.
    pub fn render_prompt_with(
        &self,
        messages: &[Message],
        variables: &BTreeMap<String, serde_json::Value>,
    ) -> Result<String, ModelError> {
        match &self.template {
            Some(template) => template.render(messages, variables),
            None => Ok(messages
                .iter()
                .map(|message| format!("{}\n\n", message.content))
                .collect()),
        }
    }

    /// The tokens of a prompt from [`LoadedModel::render_prompt`].
    ///
    /// A chat template writes the beginning-of-sequence token where the model wants one, so nothing is added to
    /// its text. Without a template, the special tokens are added that the tokenizer puts around a text. So they are with a template of
    /// a GGUF file, as in llama.cpp. A prompt that has the beginning-of-sequence token already is left as it is.
    ///
    /// # Errors
    ///
    /// [`ModelError::Tokenizer`].
    pub fn encode_prompt(&self, prompt: &str) -> Result<Vec<TokenId>, ModelError> {
        let bos = self.tokenizer_config.bos_token.as_deref();
        let has_bos = bos.is_some_and(|bos| !bos.is_empty() && prompt.starts_with(bos));
        self.vocabulary
            .tokenizer
            .encode(prompt, (self.template.is_none() || self.is_gguf) && !has_bos)
    }
}

/// Number format and size of a model's weights in memory.
struct Kept {
    format: MatrixFormat,
    /// Name of the format in the record of a run: `f32`, `q8_0`, `q4_k+q6_k` …
    name: String,
    bytes_per_token: u64,
    /// Bytes of all tensors, where they stay as in a GGUF file.
    packed_bytes: Option<u64>,
}

impl Kept {
    /// Chooses the format. Unless another one is `asked` for, the matrices of a GGUF file stay as they are on the CPU, and on a
    /// GPU if its kernels can multiply with them; otherwise all become `dtype`.
    fn new(
        config: &ModelConfig,
        weights: &Weights,
        asked: WeightFormat,
        dtype: DType,
        device: &Device,
    ) -> candle_core::Result<Self> {
        let as_stored = match asked {
            WeightFormat::Auto => MatrixFormat::of_file(config, weights, dtype, device)?,
            WeightFormat::F32 | WeightFormat::Bf16 | WeightFormat::F16 => None,
        };
        let Some((format, tensors)) = as_stored.zip(weights.gguf()) else {
            return Ok(Self {
                format: MatrixFormat::Converted(dtype),
                name: dtype.as_str().to_owned(),
                bytes_per_token: config.weight_bytes_per_token(dtype),
                packed_bytes: None,
            });
        };
        let (formats, bytes) = tensors.formats_and_bytes();
        let names: Vec<&str> = formats.into_iter().map(BlockFormat::name).collect();
        let unread = match config.tied_embeddings {
            true => 0,
            false => tensors.bytes_of("model.embed_tokens.weight"),
        };
        Ok(Self {
            format,
            name: names.join("+"),
            bytes_per_token: bytes - unread,
            packed_bytes: Some(bytes),
        })
    }
}

/// Starts a pool of `threads` threads for forward passes.
fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>, ModelError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("model-{index}"));
    pool.build().map(Arc::new).map_err(|error| ModelError::Device {
        device: "cpu".to_owned(),
        message: format!("cannot start {threads} threads: {error}"),
    })
}

/// A hash that tells two models apart without reading all weights, see [`ModelSummary::hash`].
fn fingerprint(files: &ModelFiles, weights: &Weights) -> String {
    let mut hash = Sha256::new();
    let weights = weights.fingerprint().map(|bytes| ("weights", bytes));
    for (name, bytes) in files.configuration().chain(weights) {
        for part in [name.as_bytes(), bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hex::encode(hash.finalize())
}
