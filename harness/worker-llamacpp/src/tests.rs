//! Tests of llama.cpp: the contract of all frameworks, and behaviour of its own.

#[path = "../../frameworks/src/contract.rs"]
mod contract;

use std::sync::Arc;

use contract::Subject;
use maskwright::{CompileErrorKind, Compiler, Vocabulary};

use crate::compiler::LlamaCppCompiler;

fn subjects() -> [Subject; 1] {
    [Subject {
        name: "llamacpp",
        prepare: Box::new(|vocabulary| Box::new(LlamaCppCompiler::new(vocabulary).unwrap())),
    }]
}

/// Compiler with one token per byte, a second token `a`, a token that llama.cpp would take for an end, and two that are ends.
fn compiler() -> LlamaCppCompiler {
    let bytes = (0..=255_u8).map(|byte| (u32::from(byte), vec![byte]));
    let vocabulary = bytes
        .fold(Vocabulary::builder(), |builder, (id, bytes)| {
            builder.text(id, bytes).unwrap()
        })
        .text(256, "a")
        .and_then(|builder| builder.special(257, "<|im_end|>"))
        .and_then(|builder| builder.special(258, "<one end>"))
        .and_then(|builder| builder.special(259, "<another end>"))
        .and_then(|builder| builder.eos([258, 259]).build())
        .unwrap();
    LlamaCppCompiler::new(Arc::new(vocabulary)).unwrap()
}

#[test]
fn tokens_that_stand_for_the_same_are_allowed_alike() {
    let mut masker = compiler().compile(r#"{"const": "a"}"#).unwrap();
    masker.advance(u32::from(b'"')).unwrap();
    assert!(masker.mask().unwrap().iter().eq([u32::from(b'a'), 256]));
    masker.advance(256).unwrap();
    masker.advance(u32::from(b'"')).unwrap();
    let mask = masker.mask().unwrap();
    assert!(
        mask.allows(258) && mask.allows(259) && !mask.allows(257),
        "{:?}",
        mask.iter().collect::<Vec<_>>()
    );
    masker.advance(259).unwrap();
    assert!(masker.is_complete().unwrap());
}

#[test]
fn what_the_converter_refuses_is_an_error() {
    let kind = |schema: &str| compiler().compile(schema).map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(r##"{"$ref": "#/$defs/nowhere"}"##), CompileErrorKind::Refused);
    assert_eq!(kind(r#"{"type": "string", "#), CompileErrorKind::Malformed);
}

#[test]
fn the_version_is_the_locked_one() {
    let line = format!("name = \"llama-cpp-2\"\nversion = \"{}\"", crate::VERSION);
    assert!(include_str!("../Cargo.lock").contains(&line));
}
