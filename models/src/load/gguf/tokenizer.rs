//! [`tokenizer_json`]: a GGUF file's tokenizer as the tokenizer.json that says the same.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::error::ModelError;
use crate::load::gguf::metadata::Metadata;
use crate::load::gguf::pre_tokenizers::WordSplit;

/// The most tokens, as many as a model may have.
const MAX_TOKENS: usize = 1 << 24;
/// The character that SentencePiece writes for a space.
const SPACE: &str = "\u{2581}";

/// llama.cpp's kinds of tokens (`llama_token_type`) that are not ordinary ones.
const UNKNOWN: f64 = 2.0;
const CONTROL: f64 = 3.0;
const USER_DEFINED: f64 = 4.0;
const UNUSED: f64 = 5.0;

/// Tokens that end a turn in the chat formats of the models that are read, a text, or an answer that fills in a middle; a file need not name them,
/// nor call them control tokens. llama.cpp knows these texts, too.
const ENDS_OF_TURNS: [&str; 26] = [
    END_OF_TEXT,
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<end_of_utterance>",
    "<eos>",
    "<｜end▁of▁sentence｜>",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<fim-repo>",
    "<REPO>",
    "<|repo_name|>",
    "<reponame>",
    "<|file_sep|>",
];

/// The end of a text in the vocabularies of Llama and Mistral, where it is a control token; in Gemma's the text is one of HTML.
const END_OF_TEXT: &str = "</s>";

/// The tokens of a file with their kinds.
pub(crate) struct Tokens<'a> {
    pub(crate) texts: Vec<&'a str>,
    /// `llama_token_type` of each token; ordinary ones where the file has no kinds. Ends of turns are control tokens, whatever the file says.
    kinds: Vec<f64>,
}

impl<'a> Tokens<'a> {
    /// Reads the tokens of `metadata`.
    pub(crate) fn read(metadata: &Metadata<'a>) -> Result<Self, ModelError> {
        let key = "tokenizer.ggml.tokens";
        let texts = metadata.required(key, metadata.texts(key)?)?;
        if texts.len() > MAX_TOKENS {
            return Err(metadata.error(key, format!("{} tokens; at most {MAX_TOKENS} are read", texts.len())));
        }
        let key = "tokenizer.ggml.token_type";
        let mut kinds = metadata.numbers(key)?.unwrap_or_else(|| vec![1.0; texts.len()]);
        if kinds.len() != texts.len() {
            return Err(metadata.error(key, format!("{} kinds for {} tokens", kinds.len(), texts.len())));
        }
        // Files of models that were trained further name them as any other token; llama.cpp knows them by their texts, too.
        for (text, kind) in texts.iter().zip(&mut kinds) {
            if ENDS_OF_TURNS.contains(text) && *text != END_OF_TEXT {
                *kind = CONTROL;
            }
        }
        Ok(Self { texts, kinds })
    }

    /// The special token of that name (`bos`, `eos` …): its id and text.
    pub(crate) fn special(&self, metadata: &Metadata<'a>, name: &str) -> Result<Option<(usize, &'a str)>, ModelError> {
        let key = format!("tokenizer.ggml.{name}_token_id");
        let Some(id) = metadata.number(&key)? else {
            return Ok(None);
        };
        // Some files write -1, or the largest number, for none.
        if id == -1.0 || id == f64::from(u32::MAX) {
            return Ok(None);
        }
        match self.texts.get(id as usize) {
            Some(text) if id >= 0.0 && id.fract() == 0.0 => Ok(Some((id as usize, text))),
            // Nothing but templates would see it.
            _ if name == "padding" => Ok(None),
            _ => Err(metadata.error(&key, format!("{id} is none of the {} tokens", self.texts.len()))),
        }
    }

    /// The ids of tokens that are known to end a turn.
    pub(crate) fn ends_of_turns(&self) -> impl Iterator<Item = usize> + '_ {
        let tokens = self.texts.iter().enumerate();
        tokens
            .filter(|(id, text)| ENDS_OF_TURNS.contains(text) && (**text != END_OF_TEXT || self.kinds[*id] == CONTROL))
            .map(|(id, _)| id)
    }

    /// Tokens that are recognised before a text is cut into words.
    fn added(&self) -> Vec<Value> {
        let tokens = self.texts.iter().zip(&self.kinds).enumerate();
        let added =
            tokens.filter(|(_, (text, kind))| !text.is_empty() && [UNKNOWN, CONTROL, USER_DEFINED].contains(*kind));
        added
            .map(|(id, (text, kind))| {
                json!({
                    "id": id, "content": text, "special": *kind != USER_DEFINED, "normalized": false,
                    "single_word": false, "lstrip": false, "rstrip": false,
                })
            })
            .collect()
    }

    /// The ids by text; where two tokens have one text, the later one's. Unused tokens, which fill the vocabulary up, are left out.
    fn vocabulary(&self) -> Map<String, Value> {
        let tokens = self.texts.iter().zip(&self.kinds).enumerate();
        let used = tokens.filter(|(_, (_, kind))| **kind != UNUSED);
        used.map(|(id, (text, _))| ((*text).to_owned(), id.into())).collect()
    }
}

/// Makes a tokenizer.json from `metadata`.
///
/// # Errors
///
/// [`ModelError::Unsupported`] for tokenizers other than byte-level BPE and SentencePiece's BPE, and for unknown ways to cut texts
/// into words; [`ModelError::Config`], with the key.
pub(crate) fn tokenizer_json(metadata: &Metadata<'_>, tokens: &Tokens<'_>) -> Result<Value, ModelError> {
    let key = "tokenizer.ggml.model";
    let (mut json, adds_bos) = match metadata.required(key, metadata.text(key)?)? {
        "gpt2" => byte_level(metadata, tokens)?,
        "llama" => (sentence_piece(metadata, tokens)?, true),
        other => {
            return Err(metadata.unsupported(
                format!("a tokenizer of kind {other:?}"),
                "gpt2 (byte-level BPE) and llama (SentencePiece) are read",
            ));
        }
    };
    json["added_tokens"] = tokens.added().into();
    json["post_processor"] = around(metadata, tokens, adds_bos)?;
    Ok(json)
}

/// Byte-level BPE, and whether a beginning-of-sequence token is put in front where the file does not say.
fn byte_level(metadata: &Metadata<'_>, tokens: &Tokens<'_>) -> Result<(Value, bool), ModelError> {
    let name = metadata.text("tokenizer.ggml.pre")?.unwrap_or("default");
    let split = WordSplit::named(name).ok_or_else(|| {
        metadata.unsupported(
            format!("tokenizer.ggml.pre {name:?}"),
            "a way to cut texts into words that is known here, such as llama-bpe, qwen2, gpt-2, smollm or tekken",
        )
    })?;
    let key = "tokenizer.ggml.merges";
    let vocabulary = tokens.vocabulary();
    let merges = metadata.required(key, metadata.texts(key)?)?;
    let merges: Vec<Value> = merges
        .into_iter()
        .filter_map(|merge| {
            // A token may start with a space of its own, but has none within.
            let second = merge.chars().next()?.len_utf8();
            let space = second + merge[second..].find(' ')?;
            let (first, second) = (&merge[..space], &merge[space + 1..]);
            let known = [first, second, &format!("{first}{second}")].map(|text| vocabulary.contains_key(text));
            (known == [true; 3]).then(|| json!([first, second]))
        })
        .collect();
    let mut steps: Vec<Value> = split
        .expressions
        .iter()
        .map(|expression| json!({"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": false}))
        .collect();
    steps.push(json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}));
    let json = json!({
        "version": "1.0",
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
        "model": {
            "type": "BPE", "unk_token": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": split.ignore_merges, "vocab": vocabulary, "merges": merges,
        },
    });
    Ok((json, split.adds_bos))
}

/// SentencePiece's BPE: pairs whose joined text is a token of a higher score are merged earlier.
fn sentence_piece(metadata: &Metadata<'_>, tokens: &Tokens<'_>) -> Result<Value, ModelError> {
    let key = "tokenizer.ggml.scores";
    let scores = metadata.required(key, metadata.numbers(key)?)?;
    if scores.len() != tokens.texts.len() {
        return Err(metadata.error(
            key,
            format!("{} scores for {} tokens", scores.len(), tokens.texts.len()),
        ));
    }
    let unknown = tokens.special(metadata, "unknown")?.map(|(_, text)| text);
    let prefix = metadata.flag("tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
    let mut normalizers = vec![json!({"type": "Replace", "pattern": {"String": " "}, "content": SPACE})];
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": SPACE}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if prefix {
        normalizers.insert(0, json!({"type": "Prepend", "prepend": SPACE}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    Ok(json!({
        "version": "1.0",
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": null,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE", "unk_token": unknown, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
            "vocab": tokens.vocabulary(), "merges": merges_by_score(metadata, tokens, &scores)?,
        },
    }))
}

/// Returns all pairs of tokens whose joined text is a token, those of higher scores first; an error where the pairs are far more
/// text than any published vocabulary has.
fn merges_by_score(metadata: &Metadata<'_>, tokens: &Tokens<'_>, scores: &[f64]) -> Result<Vec<Value>, ModelError> {
    /// The most bytes of all pairs together; a vocabulary of 256,000 tokens has a tenth.
    const MAX_BYTES: usize = 1 << 28;
    /// A longer token has no part in any merge: all its splits would take time by the square of its length.
    const LONGEST: usize = 1 << 10;
    let is_used = |id: &usize| tokens.kinds[*id] != UNUSED;
    let mut by_score: Vec<usize> = (0..tokens.texts.len()).filter(is_used).collect();
    let ids: HashMap<&str, usize> = by_score.iter().map(|id| (tokens.texts[*id], *id)).collect();
    by_score.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let (mut merges, mut bytes) = (Vec::new(), 0);
    for id in by_score {
        let text = tokens.texts[id];
        if text.len() > LONGEST || ids[text] != id {
            continue;
        }
        let splits = text.char_indices().skip(1).map(|(at, _)| text.split_at(at));
        let known = splits.filter(|(first, second)| ids.contains_key(first) && ids.contains_key(second));
        let before = merges.len();
        merges.extend(known.map(|(first, second)| json!([first, second])));
        bytes += (merges.len() - before) * text.len();
        if bytes > MAX_BYTES {
            let message = format!("the pairs that tokens are made of have over {MAX_BYTES} bytes");
            return Err(metadata.error("tokenizer.ggml.tokens", message));
        }
    }
    Ok(merges)
}

/// Builds the tokenizer's post-processor: the special tokens that the file asks for at the beginning and end of a text.
fn around(metadata: &Metadata<'_>, tokens: &Tokens<'_>, adds_bos: bool) -> Result<Value, ModelError> {
    let mut template = vec![json!({"Sequence": {"id": "A", "type_id": 0}})];
    let mut special = Map::new();
    for (name, default) in [("bos", adds_bos), ("eos", false)] {
        let adds = metadata
            .flag(&format!("tokenizer.ggml.add_{name}_token"))?
            .unwrap_or(default);
        if let (true, Some((id, text))) = (adds, tokens.special(metadata, name)?) {
            let token = json!({"SpecialToken": {"id": text, "type_id": 0}});
            template.insert(if name == "bos" { 0 } else { template.len() }, token);
            special.insert(text.to_owned(), json!({"id": text, "ids": [id], "tokens": [text]}));
        }
    }
    let pair = [template.as_slice(), &[json!({"Sequence": {"id": "B", "type_id": 1}})]].concat();
    Ok(json!({"type": "TemplateProcessing", "single": template, "pair": pair, "special_tokens": special}))
}
