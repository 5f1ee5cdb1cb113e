//! Vocabularies from every source, the odd ones included.

use std::sync::Arc;

use maskwright::{
    Compiler, DataFormat, Envelope, ExactCompiler, ExactOptions, ReplyCompiler, ReplyForm, TokenKind, Vocabulary,
    VocabularyError,
};
use serde_json::json;

fn byte_level(vocab: serde_json::Value, added: serde_json::Value) -> Vec<u8> {
    json!({
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": added,
    })
    .to_string()
    .into_bytes()
}

#[test]
fn byte_level_tokens_spell_bytes() {
    let json = byte_level(
        json!({"a": 0, "Ġb": 1, "Ċ": 2, "Ã": 3, "<|end|>": 4, "<note>": 5}),
        json!([
            {"id": 4, "content": "<|end|>", "special": true},
            {"id": 5, "content": "<note>", "special": false},
            {"id": 6, "content": "naïve ", "special": false},
            {"id": 7, "content": "õ", "special": false},
        ]),
    );
    let vocabulary = Vocabulary::from_tokenizer_json(&json)
        .and_then(|builder| builder.eos([4]).size(10).build())
        .unwrap();
    assert_eq!(vocabulary.len(), 10);
    let bytes: Vec<&[u8]> = (0..10).map(|id| vocabulary.token_bytes(id)).collect();
    assert_eq!(bytes[..4], [b"a" as &[u8], b" b", b"\n", b"\xC3"]);
    assert_eq!(bytes[5], b"<note>");
    assert_eq!(bytes[6], "naïve ".as_bytes(), "a blank is in no token of bytes");
    assert_eq!(
        bytes[7], b"\xF5",
        "the decoder reads added tokens too: DeepSeek-Coder has such ones"
    );
    assert_eq!(vocabulary.kind(4), TokenKind::Special);
    assert_eq!(vocabulary.kind(5), TokenKind::Text);
    assert_eq!(vocabulary.kind(9), TokenKind::Unused, "padding past the tokenizer");
    assert_eq!(vocabulary.text_bytes(&[0, 4, 1, 9]), b"a b");
    assert_eq!(vocabulary.token_of(b" b"), Some(1));
}

#[test]
fn sentence_piece_tokens_spell_bytes() {
    let json = json!({
        "model": {"type": "BPE", "vocab": {"</s>": 0, "<0x0A>": 1, "▁the": 2, "é": 3}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
        ]},
        "added_tokens": [
            {"id": 0, "content": "</s>", "special": true},
            {"id": 4, "content": "▁▁", "special": false},
        ],
    });
    let vocabulary = Vocabulary::from_tokenizer_json(json.to_string().as_bytes())
        .and_then(|builder| builder.eos([0]).build())
        .unwrap();
    assert_eq!(vocabulary.token_bytes(1), b"\n");
    assert_eq!(vocabulary.token_bytes(2), b" the");
    assert_eq!(vocabulary.token_bytes(3), "é".as_bytes());
    assert_eq!(vocabulary.token_bytes(4), b"  ", "the decoder reads added tokens too");
}

#[test]
fn tiktoken_ranks() {
    let vocabulary = Vocabulary::from_tiktoken(b"IQ== 0\r\nIGE= 1\n\n/w== 3\n")
        .and_then(|builder| builder.special(4, "<|endoftext|>"))
        .and_then(|builder| builder.eos([4]).build())
        .unwrap();
    assert_eq!(vocabulary.token_bytes(0), b"!");
    assert_eq!(vocabulary.token_bytes(1), b" a");
    assert_eq!(vocabulary.kind(2), TokenKind::Unused, "a gap in the numbering");
    assert_eq!(vocabulary.token_bytes(3), b"\xFF");
    assert!(vocabulary.is_eos(4));
    for (text, line) in [("IQ== 0\nIQ==", 2), ("!! 0", 1), ("IQ== x", 1), ("IQ== 1 2", 1)] {
        match Vocabulary::from_tiktoken(text.as_bytes()) {
            Err(VocabularyError::TiktokenLine { line: found, .. }) => assert_eq!(found, line),
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

#[test]
fn odd_tokens_keep_their_meaning() {
    let giant = vec![b' '; 100_000];
    let vocabulary = Vocabulary::builder()
        .text(0, "a")
        .and_then(|builder| builder.text(1, "a"))
        .and_then(|builder| builder.text(2, ""))
        .and_then(|builder| builder.text(3, ""))
        .and_then(|builder| builder.text(4, b"\xFF\xFE".to_vec()))
        .and_then(|builder| builder.text(5, b"\xE2\x82".to_vec()))
        .and_then(|builder| builder.text(6, giant.clone()))
        .and_then(|builder| builder.text(20, "a"))
        .map(|builder| builder.eos([21, 0, 21]).size(64))
        .and_then(|builder| builder.build())
        .unwrap();
    assert_eq!(vocabulary.eos_tokens(), [21, 0], "several, without repeats");
    assert_eq!(
        vocabulary.kind(0),
        TokenKind::Special,
        "an end-of-sequence token is never text"
    );
    assert_eq!(
        vocabulary.kind(21),
        TokenKind::Special,
        "not even one the tokenizer lacks"
    );
    assert_eq!(vocabulary.duplicates(), [(1, 20)]);
    assert_eq!(vocabulary.token_bytes(6), giant);
    assert_eq!(vocabulary.token_of(b"a"), Some(1));
    assert_eq!(vocabulary.token_of(b"\xE2\x82"), Some(5), "half a character is text");
    assert_eq!(vocabulary.token_of(&giant), Some(6));
    assert_eq!(vocabulary.token_of(b""), None, "empty tokens spell nothing");
    assert_eq!(vocabulary.longest_prefix(b"ab"), Some((1, 1)));
    assert_eq!(vocabulary.longest_prefix(b"b"), None);
    assert_eq!(vocabulary.token_bytes(1_000), b"");
}

#[test]
fn what_is_no_vocabulary_is_refused() {
    let one = || Vocabulary::builder().text(5, "a").unwrap();
    assert!(matches!(one().build(), Err(VocabularyError::NoEos)));
    assert!(matches!(
        one().eos([6]).build(),
        Err(VocabularyError::EosOutOfRange { id: 6, len: 6 })
    ));
    assert!(matches!(
        one().eos([0]).size(5).build(),
        Err(VocabularyError::TooLarge { id: 5, len: 5 })
    ));
    let beyond = one().eos([0]).special(7, "<image>").unwrap().size(7).build().unwrap();
    assert_eq!((beyond.len(), beyond.token_bytes(7)), (7, &b""[..]));
    assert!(matches!(
        one().text(5, "b"),
        Err(VocabularyError::DuplicateId { id: 5, .. })
    ));
    assert!(matches!(one().text(u32::MAX, "b"), Err(VocabularyError::Limit { .. })));
    assert!(matches!(
        one().eos([5]).size(usize::MAX).build(),
        Err(VocabularyError::Limit { .. })
    ));

    let pointer = |json: serde_json::Value| match Vocabulary::from_tokenizer_json(json.to_string().as_bytes()) {
        Err(VocabularyError::TokenizerJson { pointer, .. }) => pointer,
        other => panic!("{other:?}"),
    };
    let decoder = json!({"type": "ByteLevel"});
    assert_eq!(pointer(json!({})), "/decoder");
    assert_eq!(pointer(json!([])), "/decoder");
    assert_eq!(pointer(json!({"decoder": {"type": "WordPiece"}})), "/decoder");
    assert_eq!(pointer(json!({"decoder": decoder})), "/model/vocab");
    assert_eq!(
        pointer(json!({"decoder": decoder, "model": {"vocab": {"a/b": -1}}})),
        "/model/vocab/a~1b"
    );
    assert_eq!(
        pointer(json!({"decoder": decoder, "model": {"vocab": {}}, "added_tokens": [{"id": 1}]})),
        "/added_tokens/0/content"
    );
    assert!(matches!(
        Vocabulary::from_tokenizer_json(b"{"),
        Err(VocabularyError::Json { .. })
    ));
}

/// The longest token is found by looking at few others, wherever the tokens around it differ from the text.
#[test]
fn texts_are_spelled_by_the_longest_tokens() {
    let words = ["a", "ab", "abcd", "abx", "b", "c", "cd", "d", "x"];
    let mut builder = Vocabulary::builder();
    for (id, word) in (0..).zip(words) {
        builder = builder.text(id, word).unwrap();
    }
    let vocabulary = builder.special(20, "<end>").unwrap().eos([20]).build().unwrap();
    let longest = |text: &str| {
        words
            .iter()
            .filter(|word| text.starts_with(**word))
            .max_by_key(|word| word.len())
    };
    for text in ["a", "abc", "abcd", "abcx", "abxa", "aby", "cdx", "cx", "y", ""] {
        let found = vocabulary.longest_prefix(text.as_bytes());
        let found = found.map(|(token, length)| (vocabulary.token_bytes(token), length));
        assert_eq!(
            found,
            longest(text).map(|word| (word.as_bytes(), word.len())),
            "{text:?}"
        );
    }
    assert_eq!(vocabulary.spell(b"abcabcd"), Some(vec![1, 5, 2]));
    assert_eq!(vocabulary.spell(b"aby"), None);
    assert!(vocabulary.has_extension(b"ab", |byte| byte == b'x'));
    assert!(!vocabulary.has_extension(b"ab", |byte| byte == b'y'));
    assert!(!vocabulary.has_extension(b"abcd", |_| true));
}

/// With tokens that spell ASCII alone, models write other characters as escapes, so that no document ends in an empty mask.
#[test]
fn vocabularies_of_ascii_escape_other_characters() {
    let document = |tokens: u8| {
        let mut builder = Vocabulary::builder();
        for byte in 0..tokens {
            builder = builder.text(byte.into(), [byte]).unwrap();
        }
        let vocabulary = builder.eos([256]).size(257).build().unwrap();
        let compiler = ExactCompiler::new(Arc::new(vocabulary), ExactOptions::default());
        let mut masker = compiler.compile(r#"{"const": "\u00e9 \ud83d\ude00"}"#).unwrap();
        let mut written = Vec::new();
        while !masker.is_complete().unwrap() {
            let token = (0..256).find(|token| masker.mask().unwrap().allows(*token));
            let token = token.expect("an empty mask before the end");
            masker.advance(token).unwrap();
            written.push(token as u8);
        }
        String::from_utf8(written).unwrap()
    };
    assert_eq!(document(128), r#""\u00E9 \uD83D\uDE00""#);
    assert_eq!(document(255), r#""é 😀""#);
}

/// Replies in JSON are written as documents are: with tokens that spell ASCII alone, other characters are escaped.
#[test]
fn replies_in_json_escape_what_ascii_does_not_spell() {
    let mut builder = Vocabulary::builder();
    for byte in 0..128_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let vocabulary = Arc::new(builder.eos([128]).size(129).build().unwrap());
    let compiler = ReplyCompiler::new(vocabulary.clone(), ExactOptions::default());
    let form = ReplyForm {
        data: DataFormat::Json,
        envelopes: vec![Envelope::bare()],
    };
    let mut masker = compiler.compile(r#"{"const": "\u00e9"}"#, &form).unwrap();
    let mut tokens = Vec::new();
    assert!(masker.completion(&mut tokens).unwrap());
    // Digits of escapes may be of either case.
    assert_eq!(vocabulary.text_bytes(&tokens).to_ascii_lowercase(), br#""\u00e9""#);
    for token in tokens {
        assert!(masker.mask().unwrap().allows(token));
        masker.advance(token).unwrap();
    }
    assert!(masker.is_complete().unwrap());
}
