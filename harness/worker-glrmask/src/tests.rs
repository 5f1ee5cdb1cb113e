//! Tests of glrmask: the contract of all frameworks, and behaviour of its own.

#[path = "../../frameworks/src/contract.rs"]
mod contract;

use std::sync::Arc;

use contract::Subject;
use maskwright::{CompileErrorKind, Compiler, Vocabulary};

use crate::compiler::GlrmaskCompiler;

fn subjects() -> [Subject; 1] {
    [Subject {
        name: "glrmask",
        prepare: Box::new(|vocabulary| Box::new(GlrmaskCompiler::new(vocabulary).unwrap())),
    }]
}

/// Compiler with one token per byte, and an end of sequence.
fn compiler() -> GlrmaskCompiler {
    let bytes = (0..=255_u8).map(|byte| (u32::from(byte), vec![byte]));
    let vocabulary = bytes
        .fold(Vocabulary::builder(), |builder, (id, bytes)| {
            builder.text(id, bytes).unwrap()
        })
        .special(256, "<eos>")
        .and_then(|builder| builder.eos([256]).build())
        .unwrap();
    GlrmaskCompiler::new(Arc::new(vocabulary)).unwrap()
}

#[test]
fn errors_are_sorted_and_say_where() {
    let compiler = compiler();
    let refused = |schema: &str| compiler.compile(schema).map(|_| ()).unwrap_err();
    let unsupported = refused(r#"{"properties": {"a/b": {"uniqueItems": true, "type": "array"}}}"#);
    assert_eq!(unsupported.kind(), CompileErrorKind::Unsupported, "{unsupported}");
    assert_eq!(
        unsupported.pointer(),
        Some("/properties/a~1b/uniqueItems"),
        "{unsupported}"
    );
    let malformed = refused(r#"{"type": 7}"#);
    assert_eq!(malformed.kind(), CompileErrorKind::Malformed, "{malformed}");
    assert_eq!(malformed.pointer(), Some("/type"), "{malformed}");
}

#[test]
fn strings_are_spelt_as_documented() {
    // In the mode that glrmask takes on for tests of its own, every character may be written as an escape.
    let mut masker = compiler().compile(r#"{"const": "a"}"#).unwrap();
    for byte in br#"""# {
        masker.advance(u32::from(*byte)).unwrap();
    }
    assert_eq!(masker.mask().unwrap().single(), Some(u32::from(b'a')));
}

#[test]
fn the_version_is_the_locked_one() {
    let line = format!("name = \"glrmask\"\nversion = \"{}\"", crate::VERSION);
    assert!(include_str!("../Cargo.lock").contains(&line));
}
