//! The tokenizer as llama.cpp's metadata.

use candle_core::quantized::gguf_file::Value;
use serde_json::Value as Json;

use crate::error::ModelError;
use crate::load::file_names::TOKENIZER;
use crate::load::files::ModelFiles;
use crate::load::gguf::pre_tokenizers::{LLAMA_3, QWEN_2};
use crate::prompt::vocabulary::ConfigurationFiles;

/// llama.cpp's rule for cutting texts into words, within which it merges tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreTokenizer {
    /// The rule of the model's own tokenizer, under llama.cpp's name for it.
    Own(&'static str),
    /// The rule that the caller chose, by llama.cpp's name.
    Chosen(String),
    /// llama.cpp's default rule, since it has none like this model's: texts may be split into other tokens.
    Default,
}

impl PreTokenizer {
    /// llama.cpp's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(name) => name,
            Self::Chosen(name) => name,
            Self::Default => "default",
        }
    }
}

/// llama.cpp's kinds of tokens (`llama_token_type`).
#[derive(Clone, Copy)]
enum TokenType {
    Normal = 1,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
}

/// Tokens, merges and special ids of a model.
pub(super) fn metadata(
    files: &ModelFiles,
    parsed: &ConfigurationFiles,
    pre_tokenizer: Option<&str>,
) -> Result<(Vec<(String, Value)>, PreTokenizer), ModelError> {
    let file = files.label(TOKENIZER);
    let json: Json = serde_json::from_str(&parsed.vocabulary.tokenizer_json).map_err(|error| ModelError::Json {
        file: file.clone(),
        message: error.to_string(),
    })?;
    if json["model"]["type"] != "BPE" || !parts(&json["decoder"], "decoders").any(|part| part["type"] == "ByteLevel") {
        return Err(ModelError::Unsupported {
            file,
            what: "a tokenizer other than byte-level BPE".to_owned(),
            hint: "GPT-2's kind, which Llama 3, Qwen and SmolLM have".to_owned(),
        });
    }
    let pre_tokenizer = match pre_tokenizer {
        Some(name) => PreTokenizer::Chosen(name.to_owned()),
        None => recognise(&json).map_or(PreTokenizer::Default, PreTokenizer::Own),
    };
    let (names, types) = names_and_types(&json, parsed.config.vocab_size);
    let tokenizer = &parsed.vocabulary.tokenizer;
    let special = |wanted: &str| {
        let mut tokens = parsed.tokenizer_config.special_tokens.iter();
        let (_, name) = tokens.find(|(name, _)| name == wanted)?;
        tokenizer.id(name)
    };
    let bos = special("bos_token");
    let adds_bos = bos.is_some() && tokenizer.encode("", true)?.first().copied() == bos;
    let mut ends = parsed.vocabulary.eos_ids.iter().copied();
    let ids = [
        ("bos", bos),
        ("eos", ends.next()),
        // llama.cpp has places for two tokens that end an answer.
        ("eot", ends.next()),
        ("padding", special("pad_token")),
        ("unknown", special("unk_token")),
    ];
    let mut metadata = vec![
        ("model".to_owned(), Value::String("gpt2".to_owned())),
        ("pre".to_owned(), Value::String(pre_tokenizer.name().to_owned())),
        ("tokens".to_owned(), names),
        ("token_type".to_owned(), types),
        ("merges".to_owned(), merges(&json)),
        ("add_bos_token".to_owned(), Value::Bool(adds_bos)),
        ("add_space_prefix".to_owned(), Value::Bool(false)),
    ];
    let ids = ids.into_iter().filter_map(|(name, id)| Some((name, id?)));
    metadata.extend(ids.map(|(name, id)| (format!("{name}_token_id"), Value::U32(id))));
    let metadata = metadata
        .into_iter()
        .map(|(key, value)| (format!("tokenizer.ggml.{key}"), value));
    Ok((metadata.collect(), pre_tokenizer))
}

/// Names and types of `count` tokens, by id.
fn names_and_types(json: &Json, count: usize) -> (Value, Value) {
    let mut tokens: Vec<(String, TokenType)> = (0..count).map(|id| (format!("[PAD{id}]"), TokenType::Unused)).collect();
    let mut place = |id: Option<u64>, name: &str, kind: TokenType| {
        let token = id.and_then(|id| tokens.get_mut(usize::try_from(id).ok()?));
        if let Some(token) = token {
            *token = (name.to_owned(), kind);
        }
    };
    for (name, id) in json["model"]["vocab"].as_object().into_iter().flatten() {
        place(id.as_u64(), name, TokenType::Normal);
    }
    for token in json["added_tokens"].as_array().into_iter().flatten() {
        let kind = match token["special"] == true {
            true => TokenType::Control,
            false => TokenType::UserDefined,
        };
        place(
            token["id"].as_u64(),
            token["content"].as_str().unwrap_or_default(),
            kind,
        );
    }
    let types = tokens.iter().map(|(_, kind)| Value::I32(*kind as i32)).collect();
    let names = tokens.into_iter().map(|(name, _)| Value::String(name)).collect();
    (Value::Array(names), Value::Array(types))
}

/// Merges, the two parts separated by a space: a list of such texts, or in newer files of pairs.
fn merges(json: &Json) -> Value {
    let merges = json["model"]["merges"].as_array().into_iter().flatten();
    let mut merges: Vec<Value> = merges
        .filter_map(|merge| match merge {
            Json::String(text) => Some(text.clone()),
            pair => Some(format!("{} {}", pair[0].as_str()?, pair[1].as_str()?)),
        })
        .map(Value::String)
        .collect();
    if merges.is_empty() {
        // The writer does not know the type of an empty list, and llama.cpp insists on texts. This one merges nothing.
        merges.push(Value::String(" ".to_owned()));
    }
    Value::Array(merges)
}

/// llama.cpp's name for the way that a tokenizer.json cuts texts, where it has one.
fn recognise(json: &Json) -> Option<&'static str> {
    let parts: Vec<&Json> = parts(&json["pre_tokenizer"], "pretokenizers").collect();
    let splits = |part: &Json| part["type"] == "ByteLevel" && part["use_regex"] != false;
    match parts.as_slice() {
        [bytes] if splits(bytes) => Some("gpt-2"),
        [digits, bytes] if digits["type"] == "Digits" && digits["individual_digits"] == true && splits(bytes) => {
            Some("smollm")
        }
        [split, bytes] if split["type"] == "Split" && bytes["type"] == "ByteLevel" && !splits(bytes) => {
            match split["pattern"]["Regex"].as_str()? {
                LLAMA_3 => Some("llama-bpe"),
                QWEN_2 => Some("qwen2"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The parts of a sequence, which is under `list`, or the one part itself.
fn parts<'a>(part: &'a Json, list: &str) -> impl Iterator<Item = &'a Json> {
    let listed = part[list].as_array();
    let alone = listed.is_none().then_some(part);
    listed.into_iter().flatten().chain(alone)
}
