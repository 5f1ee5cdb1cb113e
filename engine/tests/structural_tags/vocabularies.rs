//! Structural tags over odd vocabularies: tokens that are partial characters, tokens without text, and vocabularies of ASCII alone.

use std::sync::Arc;

use crate::{accepts, check, compiler, masker, vocabulary};
use maskwright::{CompileErrorKind, ExactOptions, ReplyCompiler, TokenId, Vocabulary};

/// Excluded texts may leave no end to a character whose first byte is a token.
#[test]
fn free_text_leads_to_no_dead_end() {
    let all: Vec<String> = ('\u{80}'..='\u{BF}')
        .map(|character| format!("\"{character}\""))
        .collect();
    let free = |count: usize| format!(r#"{{"type": "any_text", "excludes": [{}]}}"#, all[..count].join(","));
    let allows = |format: &str, token: u8| masker(format).mask().unwrap().allows(token.into());
    assert!(allows(&free(63), 0xC2) && !allows(&free(64), 0xC2) && allows(&free(64), 0xC3));
    let mut cut = masker(&free(64));
    for byte in "aé".bytes() {
        check(&mut *cut, &vocabulary(), "no character of U+0080 to U+00BF");
        cut.advance(byte.into()).unwrap();
    }
    // Excluded texts may be two characters long, and the trigger of a rule is not excluded.
    let pairs: Vec<String> = ('\u{80}'..='\u{BF}')
        .map(|character| format!("\"<{character}\""))
        .collect();
    let mut second = masker(&format!(r#"{{"type": "any_text", "excludes": [{}]}}"#, pairs.join(",")));
    assert!(second.mask().unwrap().allows(0xC2));
    second.advance(b'<'.into()).unwrap();
    check(&mut *second, &vocabulary(), "none of them behind <");
    assert!(!second.mask().unwrap().allows(0xC2));
    let rule = format!(
        r#"{{"type": "dispatch", "rules": [["\u0080", {{"type": "const_string", "value": "!"}}]], "excludes": [{}]}}"#,
        all[1..].join(",")
    );
    let mut rule = masker(&rule);
    rule.advance(0xC2).unwrap();
    check(&mut *rule, &vocabulary(), "one of them has a rule");
    assert!(accepts(&*masker(&free(64)), "é") && rule.mask().unwrap().count() == 1);
}

/// A token may end free text before its last character, which could not be read on there.
#[test]
fn a_token_leaves_free_text_where_its_next_character_is_excluded() {
    let mut builder = Vocabulary::builder();
    for byte in 0..=0xFF_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let builder = builder.text(256, "b\u{85}").unwrap().special(257, "<|end|>").unwrap();
    let vocabulary: Arc<Vocabulary> = Arc::new(builder.eos([257]).build().unwrap());
    let compiler = ReplyCompiler::new(vocabulary.clone(), ExactOptions::default());
    let excluded: Vec<String> = ('\u{80}'..='\u{BF}').map(|last| format!("\"ab{last}\"")).collect();
    let format = format!(
        r#"{{"type": "sequence", "elements": [{{"type": "any_text", "excludes": [{}]}}, {{"type": "const_string", "value": "\u0085"}}]}}"#,
        excluded.join(",")
    );
    let tag = format!(r#"{{"type": "structural_tag", "format": {format}}}"#);
    let mut masker = compiler.compile_structural_tag(&tag).unwrap();
    check(&mut *masker, &vocabulary, "before ab");
    masker.advance(b'a'.into()).unwrap();
    check(&mut *masker, &vocabulary, "behind a");
    assert!(masker.mask().unwrap().allows(256));
    masker.advance(256).unwrap();
    assert!(masker.is_complete().unwrap());
}

/// A token whose bytes no text has can come by its id.
#[test]
fn tokens_that_are_no_text_come_by_their_ids() {
    for (format, reply) in [
        (r#"{"type": "token", "token": 255}"#, &[255][..]),
        (r#"{"type": "exclude_token", "exclude_tokens": [97]}"#, &[254]),
        (
            r#"{"type": "sequence", "elements": [{"type": "any_tokens", "exclude_tokens": [254]}, {"type": "token", "token": 254}]}"#,
            &[97, 255, 254],
        ),
    ] {
        let mut masker = masker(format);
        for &token in reply {
            check(&mut *masker, &vocabulary(), format);
            masker.advance(token).unwrap();
        }
        check(&mut *masker, &vocabulary(), format);
        assert!(masker.is_complete().unwrap(), "{format}");
    }
}

/// A fixed text that no tokens spell is refused with its place, and so is an expression for such texts alone.
#[test]
fn texts_beyond_ascii_need_tokens_beyond_ascii() {
    let mut builder = Vocabulary::builder();
    for byte in 0..0x80_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let vocabulary: Arc<Vocabulary> = Arc::new(builder.special(128, "<|end|>").unwrap().eos([128]).build().unwrap());
    let ascii = ReplyCompiler::new(vocabulary, ExactOptions::default());
    let compile =
        |format: &str| ascii.compile_structural_tag(&format!(r#"{{"type": "structural_tag", "format": {format}}}"#));
    let number = r#"{"type": "json_schema", "json_schema": {"type": "number"}}"#;
    for (format, kind, place) in [
        (
            r#"{"type": "const_string", "value": "é"}"#.to_owned(),
            CompileErrorKind::Unsupported,
            "/format/value",
        ),
        (
            r#"{"type": "choice", "choices": ["e", "é"]}"#.into(),
            CompileErrorKind::Unsupported,
            "/format/choices/1",
        ),
        (
            format!(r#"{{"type": "tag", "begin": "｜", "content": {number}, "end": ""}}"#),
            CompileErrorKind::Unsupported,
            "/format/begin",
        ),
        (
            format!(r#"{{"type": "tag", "begin": "<", "content": {number}, "end": ["｜"]}}"#),
            CompileErrorKind::Unsupported,
            "/format/end/0",
        ),
        (
            r#"{"type": "regex", "pattern": "é+"}"#.into(),
            CompileErrorKind::Unsatisfiable,
            "/format/pattern",
        ),
    ] {
        let error = compile(&format).err().unwrap_or_else(|| panic!("{format}"));
        assert_eq!((error.kind(), error.pointer()), (kind, Some(place)), "{error}");
        let format = format!(r#"{{"type": "structural_tag", "format": {format}}}"#);
        assert!(compiler().compile_structural_tag(&format).is_ok(), "{format}");
    }
    // An excluded text need not be spellable by tokens, and an expression may still allow ASCII texts.
    assert!(compile(r#"{"type": "any_text", "excludes": ["é"]}"#).is_ok());
    let mut masker = compile(r#"{"type": "regex", "pattern": "[aé]b"}"#).unwrap();
    let allowed: Vec<TokenId> = masker.mask().unwrap().iter().collect();
    assert_eq!(allowed, [TokenId::from(b'a')]);
}
