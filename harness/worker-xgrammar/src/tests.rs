//! Tests of XGrammar: the contract of all frameworks, and behaviour of its own.

#[path = "../../frameworks/src/contract.rs"]
mod contract;

use std::sync::Arc;

use contract::Subject;
use maskwright::{CompileErrorKind, Compiler, Masker, TokenId, Tokenize, Vocabulary};
use maskwright_worker::Grammar;

use crate::compiler::{Mode, XgrammarCompiler};

fn subjects() -> [Subject; 2] {
    [Mode::Strict, Mode::Standard].map(|mode| Subject {
        name: mode.name(),
        prepare: Box::new(move |vocabulary| {
            Box::new(XgrammarCompiler::new(vocabulary, mode, Grammar::JsonSchema).unwrap())
        }),
    })
}

/// Tokenizer in which each byte is the token of the same number.
struct Bytes;

impl Tokenize for Bytes {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        text.iter().map(|&byte| TokenId::from(byte)).collect()
    }
}

/// Compiler of JSON Schemas with one token per byte, a second token `a`, and an end of sequence.
fn compiler(mode: Mode) -> XgrammarCompiler {
    compiler_of(mode, Grammar::JsonSchema)
}

/// Compiler of texts of a kind, with the vocabulary of [`compiler`].
fn compiler_of(mode: Mode, source: Grammar) -> XgrammarCompiler {
    let bytes = (0..=255_u8).map(|byte| (u32::from(byte), vec![byte]));
    let vocabulary = bytes
        .fold(Vocabulary::builder(), |builder, (id, bytes)| {
            builder.text(id, bytes).unwrap()
        })
        .text(257, "a")
        .and_then(|builder| builder.special(256, "<eos>"))
        .and_then(|builder| builder.eos([256]).tokenizer(Arc::new(Bytes)).build())
        .unwrap();
    XgrammarCompiler::new(Arc::new(vocabulary), mode, source).unwrap()
}

/// Whether `text` is a whole document.
fn accepts(masker: &dyn Masker, text: &str) -> bool {
    let mut copy = masker.fork().unwrap();
    let taken = text.bytes().all(|byte| copy.advance(u32::from(byte)).is_ok());
    taken && copy.is_complete().unwrap()
}

#[test]
fn the_modes_differ_in_what_a_schema_does_not_name() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "null"}}}"#;
    for (mode, allowed) in [(Mode::Strict, false), (Mode::Standard, true)] {
        let masker = compiler(mode).compile(schema).unwrap();
        assert!(accepts(masker.as_ref(), r#"{"a": null}"#));
        assert_eq!(accepts(masker.as_ref(), r#"{"b": 1}"#), allowed, "{mode:?}");
    }
}

#[test]
fn structural_tags_are_compiled() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}"#;
    let content = format!(r#"{{"type": "json_schema", "json_schema": {schema}}}"#);
    let tag = format!(r#"{{"type": "tag", "begin": "<call>", "content": {content}, "end": "</call>"}}"#);
    let tag = format!(
        r#"{{"type": "structural_tag", "format": {{"type": "triggered_tags", "triggers": ["<call>"], "tags": [{tag}]}}}}"#
    );
    let masker = compiler_of(Mode::Strict, Grammar::StructuralTag).compile(&tag).unwrap();
    assert!(accepts(masker.as_ref(), r#"so: <call>{"a": null}</call> done"#));
    assert!(!accepts(masker.as_ref(), r#"so: <call>{"a": 1}</call>"#));
    assert!(compiler_of(Mode::Strict, Grammar::StructuralTag).compile("{").is_err());
}

#[test]
fn errors_are_sorted() {
    let compiler = compiler(Mode::Strict);
    let kind = |schema: &str| compiler.compile(schema).map(|_| ()).unwrap_err().kind();
    assert_eq!(
        kind(r#"{"minItems": 2, "maxItems": 1, "type": "array"}"#),
        CompileErrorKind::Unsatisfiable
    );
    assert_eq!(kind(r#"{"type": "array", "items": 7}"#), CompileErrorKind::Malformed);
}

#[test]
fn the_text_that_is_forced_comes_from_xgrammar() {
    let mut masker = compiler(Mode::Strict).compile(r#"{"const": "ab"}"#).unwrap();
    let mut forced = Vec::new();
    masker.forced_tokens(&mut forced).unwrap();
    assert_eq!(forced, Bytes.tokenize(br#""ab""#));
}

#[test]
fn tokens_with_the_same_bytes_are_allowed_alike() {
    let mut masker = compiler(Mode::Strict).compile(r#"{"const": "a"}"#).unwrap();
    masker.advance(u32::from(b'"')).unwrap();
    assert!(masker.mask().unwrap().iter().eq([u32::from(b'a'), 257]));
    masker.advance(257).unwrap();
    assert_eq!(masker.mask().unwrap().single(), Some(u32::from(b'"')));
}

#[test]
fn the_version_is_the_locked_one() {
    let (version, _) = crate::VERSION.split_once(' ').unwrap();
    let line = format!("name = \"xgrammar\"\nversion = \"{version}\"");
    assert!(include_str!("../Cargo.lock").contains(&line));
}
