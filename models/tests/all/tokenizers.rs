//! Tokenizers of the kinds that models have: byte-level with Llama 3's and Qwen's splitting, SentencePiece, Unigram.

use maskwright::Tokenize;
use maskwright_models::{ModelError, ModelTokenizer};
use serde_json::{Map, Value, json};

/// The patterns by which Llama 3 and Qwen 2 split text before merging.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const MERGES: [(&str, &str); 9] = [
    ("1", "2"),
    ("12", "3"),
    ("123", "4"),
    ("Ġ", "a"),
    ("Ġ", "Ġ"),
    ("a", "b"),
    ("\"", ":"),
    ("Ċ", "Ċ"),
    ("Ã", "©"),
];

/// A byte-level tokenizer that splits by `pattern`; its special tokens are `<s>` and `<e>`, and `<tool>` is an added one.
fn byte_level(pattern: &str) -> ModelTokenizer {
    let mut shifted = 0x100u32..;
    let mut vocabulary = Map::new();
    for byte in 0..256u32 {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let code = if printable { byte } else { shifted.next().unwrap() };
        vocabulary.insert(char::from_u32(code).unwrap().to_string(), byte.into());
    }
    for (index, (left, right)) in MERGES.iter().enumerate() {
        vocabulary.insert(format!("{left}{right}"), (256 + index).into());
    }
    let added = |id: u32, content: &str, special: bool| json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": special});
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    let split = json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let json = json!({
        "version": "1.0",
        "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": null,
        "added_tokens": [added(265, "<s>", true), added(266, "<e>", true), added(267, "<tool>", false)],
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytes]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [265], "tokens": ["<s>"]}},
        },
        "decoder": bytes,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "fuse_unk": false, "byte_fallback": false, "ignore_merges": true, "vocab": vocabulary,
            "merges": MERGES.iter().map(|(left, right)| json!([left, right])).collect::<Vec<_>>(),
        },
    });
    ModelTokenizer::from_bytes("tokenizer.json", json.to_string().as_bytes()).unwrap()
}

#[test]
fn patterns_of_real_models_split_as_they_should() {
    let (llama, qwen) = (byte_level(LLAMA3), byte_level(QWEN2));
    assert_eq!(
        llama.encode("1234", false).unwrap(),
        [257, u32::from(b'4')],
        "three digits at most"
    );
    assert_eq!(
        qwen.encode("1234", false).unwrap(),
        [49, 50, 51, 52],
        "one digit at a time"
    );
    assert_eq!(
        llama.encode("   ab", false).unwrap(),
        [260, 259, 98],
        "the last space goes with the word"
    );
    assert_eq!(llama.encode("é\":", false).unwrap(), [264, 262]);
}

#[test]
fn prompts_know_special_tokens_and_documents_do_not() {
    let tokenizer = byte_level(LLAMA3);
    assert_eq!(tokenizer.encode("a<e>", true).unwrap(), [265, 97, 266]);
    assert_eq!(
        tokenizer.encode("aaaa", false).unwrap().len(),
        4,
        "truncation settings are for training"
    );
    assert_eq!(tokenizer.tokenize(b"a<e>"), [97, 60, 101, 62]);
    assert_eq!(tokenizer.tokenize(b"<tool>"), [267], "an added token that is text");
    assert_eq!(tokenizer.decode(&[265, 97, 261, 266]).unwrap(), "aab");
    assert_eq!(
        (tokenizer.len(), tokenizer.id("<e>"), tokenizer.id("none")),
        (268, Some(266), None)
    );
}

#[test]
fn added_tokens_keep_the_ids_of_the_file_or_are_refused() {
    let added = json!({"id": 9, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true});
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [added], "normalizer": null,
        "pre_tokenizer": null, "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
    });
    let error = ModelTokenizer::from_bytes("tokenizer.json", json.to_string().as_bytes()).unwrap_err();
    assert!(error.to_string().contains("<s>"), "{error}");
}

#[test]
fn a_text_on_which_the_library_panics_is_an_error() {
    // 512, the length of the trie in bytes, in four bytes, and its 128 words, all zero: base64 of 516 bytes.
    let charsmap = format!("AAIA{}", "A".repeat(684));
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": null, "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
    });
    let tokenizer = ModelTokenizer::from_bytes("tokenizer.json", json.to_string().as_bytes()).unwrap();
    assert_eq!(tokenizer.encode("ab", false).unwrap(), [0, 1]);
    // The byte 0xC3 leads out of the trie.
    let error = tokenizer.encode("é", false).unwrap_err();
    assert!(matches!(error, ModelError::Tokenizer { .. }), "{error}");
    assert!(tokenizer.tokenize("é".as_bytes()).is_empty());
    assert_eq!(tokenizer.tokenize(b"ab"), [0, 1]);
}

#[test]
fn bytes_that_are_not_utf8_have_their_own_tokens() {
    let tokenizer = byte_level(LLAMA3);
    assert_eq!(tokenizer.tokenize(b"a\xff\xc3"), [97, 255, 195]);
    assert!(tokenizer.tokenize(b"").is_empty());
}

/// SentencePiece as Llama 2 has it: a space in front of every text, `<0xXX>` for bytes.
fn sentence_piece(normalizer: Value, pre_tokenizer: Value) -> ModelTokenizer {
    let mut vocabulary: Map<String, Value> = Map::new();
    for name in ["<unk>", "<s>", "</s>"]
        .map(str::to_owned)
        .into_iter()
        .chain((0..256).map(|byte| format!("<0x{byte:02X}>")))
    {
        vocabulary.insert(name, vocabulary.len().into());
    }
    for name in ["▁", "a", "b", "▁a"] {
        vocabulary.insert(name.to_owned(), vocabulary.len().into());
    }
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": null,
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        ]},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "fuse_unk": true, "byte_fallback": true, "ignore_merges": false, "vocab": vocabulary, "merges": ["▁ a"],
        },
    });
    ModelTokenizer::from_bytes("tokenizer.json", json.to_string().as_bytes()).unwrap()
}

#[test]
fn no_space_is_put_in_front_of_text_within_a_document() {
    let prepend = json!({"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]});
    let metaspace = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false});
    for tokenizer in [
        sentence_piece(prepend, Value::Null),
        sentence_piece(Value::Null, metaspace),
    ] {
        assert_eq!(
            tokenizer.encode("a", false).unwrap(),
            [262],
            "a prompt begins with a space"
        );
        assert_eq!(tokenizer.tokenize(b"a"), [260]);
        assert_eq!(tokenizer.tokenize(b" a"), [262]);
        assert_eq!(tokenizer.tokenize("aé".as_bytes()), [260, 3 + 0xc3, 3 + 0xa9]);
        assert_eq!(tokenizer.tokenize(b"\xff"), [3 + 0xff]);
    }
}

#[test]
fn unigram_scores_are_read() {
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "post_processor": null, "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
            "vocab": [["<unk>", 0.0], ["▁", -2.0], ["a", -2.5], ["b", -3.0], ["ab", -4.25], ["▁ab", -6]]},
    });
    let tokenizer = ModelTokenizer::from_bytes("tokenizer.json", json.to_string().as_bytes()).unwrap();
    assert_eq!(tokenizer.encode("ab", false).unwrap(), [5]);
    assert_eq!(tokenizer.tokenize(b"ab"), [4]);
}

#[test]
fn a_vocabulary_is_read_from_a_tokenizer() {
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "post_processor": null, "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
            "vocab": [["<unk>", 0.0], ["▁", -2.0], ["a", -2.5], ["b", -3.0], ["ab", -4.25], ["▁ab", -6]]},
    });
    let tokenizer = tokenizers::Tokenizer::from_bytes(json.to_string().as_bytes()).unwrap();
    let vocabulary = maskwright::Vocabulary::from_tokenizer(&tokenizer)
        .unwrap()
        .eos([0])
        .build()
        .unwrap();
    assert_eq!(vocabulary.token_bytes(5), b" ab");
    assert_eq!(vocabulary.tokenizer().unwrap().tokenize(b"ab"), [4]);
}
