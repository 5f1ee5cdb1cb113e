//! Tokenizers made from the metadata of GGUF files.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::Value;
use maskwright_models::{HubSettings, ModelSource, ModelTokenizer, ModelVocabulary, WeightFormat, export_gguf};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

use crate::gguf_models::write_vocabulary;

const TEXTS: [&str; 8] = [
    "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}}}",
    "I'll say it's 12345 times, don't you?\r\n\n  Yes:\tof course…  ",
    "1234567 89, 3.14159 and ٣٤٥; x2y3",
    "naïve café — Straße, 日本語のテキスト, हिन्दी, emoji 👩‍🚀!",
    "   leading and trailing   ",
    "<|user|>hello<|end|><|assistant|>{\"a\":",
    "SHOUTING camelCase snake_case __init__ $x+=1; /* comment */",
    "",
];

/// Returns the pre-tokenizers of the families' own tokenizer.json, for each of llama.cpp's names.
fn own_ways() -> Vec<(&'static str, Json)> {
    let bytes =
        |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let split = |pattern: &str| {
        let split = json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
        json!({"type": "Sequence", "pretokenizers": [split, bytes(false)]})
    };
    vec![
        ("gpt-2", bytes(true)),
        (
            "smollm",
            json!({"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true}, bytes(true)]}),
        ),
        (
            "llama-bpe",
            split(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
        ),
        (
            "qwen2",
            split(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
        ),
    ]
}

#[test]
fn byte_level_tokenizers_cut_texts_as_the_families_own() {
    let directory = tempfile::tempdir().unwrap();
    let builtin = ModelVocabulary::load(&ModelSource::Builtin, &HubSettings::default(), None).unwrap();
    for (name, way) in own_ways() {
        let path = directory.path().join("model.gguf");
        export_gguf(
            &ModelSource::Builtin,
            &HubSettings::default(),
            WeightFormat::Auto,
            Some(name),
            &path,
        )
        .unwrap();
        let found = ModelVocabulary::load(&ModelSource::Gguf(path), &HubSettings::default(), None).unwrap();
        let mut json: Json = serde_json::from_str(&builtin.tokenizer_json).unwrap();
        json["pre_tokenizer"] = way;
        json["normalizer"] = Json::Null;
        json["model"]["ignore_merges"] = (name == "llama-bpe").into();
        let own = ModelTokenizer::from_bytes("own", json.to_string().as_bytes()).unwrap();
        for text in TEXTS {
            let tokens = found.tokenizer.encode(text, false).unwrap();
            assert_eq!(tokens, own.encode(text, false).unwrap(), "{name}: {text:?}");
        }
    }
}

/// A SentencePiece vocabulary: unknown, beginning, end, all bytes, and pieces with scores.
struct Pieces {
    texts: Vec<String>,
    scores: Vec<f32>,
    kinds: Vec<i32>,
}

impl Pieces {
    /// Pieces made by merging random neighbours, the earlier the higher their score.
    fn random(seed: u64) -> Self {
        let mut pieces = Self {
            texts: ["<unk>", "<s>", "</s>"].map(str::to_owned).into(),
            scores: vec![0.0; 3],
            kinds: vec![2, 3, 3],
        };
        let mut push = |text: String, score: f32, kind: i32| {
            if !pieces.texts.contains(&text) {
                pieces.texts.push(text);
                pieces.scores.push(score);
                pieces.kinds.push(kind);
            }
        };
        (0..=255u8).for_each(|byte| push(format!("<0x{byte:02X}>"), 0.0, 6));
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut known: Vec<String> = "▁abcdeé".chars().map(String::from).collect();
        for score in 1..120 {
            let [first, second] = [0, 1].map(|_| known[random.random_range(0..known.len())].clone());
            if first.len() + second.len() < 12 {
                push(format!("{first}{second}"), -(score as f32), 1);
                known.push(format!("{first}{second}"));
            }
        }
        "▁abcdeé"
            .chars()
            .enumerate()
            .for_each(|(at, letter)| push(letter.to_string(), -1000.0 - at as f32, 1));
        pieces
    }

    /// SentencePiece's way: of all neighbours that are a piece together, those with the highest score are joined, the leftmost first.
    fn tokens(&self, text: &str) -> Vec<u32> {
        let ids: HashMap<&str, usize> = self
            .texts
            .iter()
            .enumerate()
            .map(|(id, text)| (text.as_str(), id))
            .collect();
        let mut parts: Vec<String> = text.replace(' ', "▁").chars().map(String::from).collect();
        loop {
            let mut best: Option<(f32, usize)> = None;
            for at in 1..parts.len() {
                let joined = format!("{}{}", parts[at - 1], parts[at]);
                if let Some(id) = ids.get(joined.as_str())
                    && best.is_none_or(|(score, _)| self.scores[*id] > score)
                {
                    best = Some((self.scores[*id], at));
                }
            }
            let Some((_, at)) = best else { break };
            let second = parts.remove(at);
            parts[at - 1].push_str(&second);
        }
        let tokens = parts.iter().flat_map(|part| match ids.get(part.as_str()) {
            Some(id) => vec![*id as u32],
            None => part
                .bytes()
                .map(|byte| ids[format!("<0x{byte:02X}>").as_str()] as u32)
                .collect(),
        });
        tokens.collect()
    }
}

#[test]
fn sentence_piece_joins_the_highest_scores_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    for seed in 0..6 {
        let pieces = Pieces::random(seed);
        let prefix = seed % 2 == 0;
        let list = |values: Vec<Value>| Value::Array(values);
        let metadata = [
            ("tokenizer.ggml.model", Value::String("llama".to_owned())),
            (
                "tokenizer.ggml.tokens",
                list(pieces.texts.iter().cloned().map(Value::String).collect()),
            ),
            (
                "tokenizer.ggml.scores",
                list(pieces.scores.iter().copied().map(Value::F32).collect()),
            ),
            (
                "tokenizer.ggml.token_type",
                list(pieces.kinds.iter().copied().map(Value::I32).collect()),
            ),
            ("tokenizer.ggml.unknown_token_id", Value::U32(0)),
            ("tokenizer.ggml.bos_token_id", Value::U32(1)),
            ("tokenizer.ggml.eos_token_id", Value::U32(2)),
            ("tokenizer.ggml.add_space_prefix", Value::Bool(prefix)),
        ];
        write_vocabulary(&path, &metadata, pieces.texts.len());
        let found = ModelVocabulary::load(&ModelSource::Gguf(path.clone()), &HubSettings::default(), None).unwrap();
        assert_eq!(found.eos_ids, [2]);
        let mut random = ChaCha8Rng::seed_from_u64(100 + seed);
        let letters: Vec<char> = "    aaabbbcccdddeeéx日\n".chars().collect();
        for _ in 0..200 {
            let len = random.random_range(1..40);
            let text: String = (0..len)
                .map(|_| letters[random.random_range(0..letters.len())])
                .collect();
            let seen = if prefix { format!(" {text}") } else { text.clone() };
            let tokens = found.tokenizer.encode(&text, false).unwrap();
            assert_eq!(tokens, pieces.tokens(&seen), "{text:?}");
            assert_eq!(found.tokenizer.decode(&tokens).unwrap(), text);
            let with_bos = found.tokenizer.encode(&text, true).unwrap();
            assert_eq!((with_bos[0], &with_bos[1..]), (1, tokens.as_slice()));
            // What a mask believes that tokens spell is what they spell.
            assert_eq!(found.vocabulary.text_bytes(&tokens), seen.as_bytes(), "{text:?}");
        }
    }
}
