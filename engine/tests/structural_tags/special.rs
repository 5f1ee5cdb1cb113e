//! Special tokens, and tokens that tags name by their ids.

use crate::{CALL, END, LONGER, SPECIAL, TOKENS, UNNAMED, accepts, accepts_tokens, check, masker, vocabulary};
use maskwright::TokenId;

fn tokens(parts: &[(&str, Option<TokenId>)]) -> Vec<TokenId> {
    let bytes =
        |(text, token): &(&str, Option<TokenId>)| text.bytes().map(TokenId::from).chain(*token).collect::<Vec<_>>();
    parts.iter().flat_map(bytes).collect()
}

#[test]
fn names_in_fixed_texts_are_tokens() {
    let format = r#"{"type": "tag", "begin": "a<|t|>b", "content": {"type": "json_schema", "json_schema": {"type": "string"}}, "end": "<|t|>>"}"#;
    let mut masker = masker(format);
    let reply = tokens(&[("a", Some(SPECIAL)), ("b\"<|t|>\"", Some(LONGER))]);
    assert!(accepts_tokens(&*masker, &reply));
    assert!(!accepts(&*masker, "a<|t|>b\"\"<|t|>>"), "spelled out, they are not");
    let mut forced = Vec::new();
    masker.forced_tokens(&mut forced).unwrap();
    // Longer tokens begin with the quote.
    assert_eq!(forced, tokens(&[("a", Some(SPECIAL)), ("b", None)]));
    for token in reply {
        check(&mut *masker, &vocabulary(), format);
        masker.advance(token).unwrap();
    }
    check(&mut *masker, &vocabulary(), format);
    assert_eq!(masker.mask().unwrap().iter().collect::<Vec<_>>(), [CALL, END]);
}

#[test]
fn triggers_may_be_special_tokens() {
    let format = r#"{"type": "triggered_tags", "triggers": ["<|t|>"], "tags": [
        {"begin": "<|t|>a", "content": {"type": "json_schema", "json_schema": {"const": 1}}, "end": "<|call|>"}]}"#;
    let mut masker = masker(format);
    check(&mut *masker, &vocabulary(), format);
    let mask = masker.mask().unwrap();
    assert!(mask.allows(SPECIAL) && mask.allows(UNNAMED) && mask.allows(END) && mask.allows(CALL));
    let reply = tokens(&[
        ("x", Some(UNNAMED)),
        ("", Some(SPECIAL)),
        ("a1", Some(CALL)),
        ("y", None),
    ]);
    assert!(
        accepts_tokens(&*masker, &reply),
        "an end of sequence that a tag names stands for itself"
    );
    assert!(!accepts(&*masker, "x<|t|>a1"), "spelled out, it is no free text either");
    assert!(accepts(&*masker, "x<|t"));
    assert!(!accepts_tokens(&*masker, &tokens(&[("", Some(SPECIAL)), ("b", None)])));
    // The text of a token is that of the special token's name.
    let spelled = 256 + TOKENS.iter().position(|text| *text == "<|t|>").unwrap() as TokenId;
    assert!(!masker.mask().unwrap().allows(spelled));
    masker.advance(END).unwrap();
    assert!(masker.advance(b'x'.into()).is_err());
}

#[test]
fn formats_of_whole_tokens() {
    let ab = 256 + TOKENS.iter().position(|text| *text == "ab").unwrap() as TokenId;
    let format = format!(
        r#"{{"type": "sequence", "elements": [{{"type": "token", "token": "<|t|>"}}, {{"type": "exclude_token", "exclude_tokens": ["ab", 97]}},
            {{"type": "tag", "begin": {{"type": "token", "token": {ab}}}, "content": {{"type": "any_tokens"}}, "end": {{"type": "token", "token": "<|t|>"}}}}]}}"#
    );
    let mut first = masker(&format);
    let accepted = [
        vec![SPECIAL, u32::from(b'b'), ab, SPECIAL],
        vec![SPECIAL, UNNAMED, ab, ab, 97, 0xE2, LONGER, SPECIAL],
    ];
    let refused = [
        vec![SPECIAL, ab, ab, SPECIAL],
        vec![SPECIAL, 97, ab, SPECIAL],
        vec![SPECIAL, 98, 97, 98, SPECIAL],
        vec![SPECIAL, END, ab, SPECIAL],
        vec![SPECIAL, 98, ab, SPECIAL, SPECIAL],
    ];
    assert!(accepted.iter().all(|reply| accepts_tokens(&*first, reply)));
    assert!(refused.iter().all(|reply| !accepts_tokens(&*first, reply)));
    for token in &accepted[1] {
        check(&mut *first, &vocabulary(), &format);
        first.advance(*token).unwrap();
    }
    check(&mut *first, &vocabulary(), &format);
}

#[test]
fn tokens_trigger_tags_and_rules() {
    let json = r#"{"type": "json_schema", "json_schema": {"const": 1}}"#;
    let tags = format!(
        r#"{{"type": "token_triggered_tags", "trigger_tokens": ["<|t|>"], "exclude_tokens": ["x<"], "tags": [
            {{"begin": {{"type": "token", "token": "<|t|>"}}, "content": {json}, "end": {{"type": "token", "token": "<|t|>>"}}}}]}}"#
    );
    let rules = format!(r#"{{"type": "token_dispatch", "rules": [["<|t|>", {json}]], "exclude_tokens": ["x<"]}}"#);
    for (format, end) in [(tags, Some(LONGER)), (rules, None)] {
        let mut masker = masker(&format);
        let reply: Vec<TokenId> = tokens(&[("ab", Some(SPECIAL)), ("1", end), ("c", None)]);
        assert!(accepts_tokens(&*masker, &reply), "{format}");
        assert!(
            !accepts_tokens(&*masker, &tokens(&[("", Some(SPECIAL)), ("2", end)])),
            "{format}"
        );
        let excluded = 256 + TOKENS.iter().position(|text| *text == "x<").unwrap() as TokenId;
        assert!(
            !masker.mask().unwrap().allows(excluded) && accepts(&*masker, "x<"),
            "{format}"
        );
        for token in reply {
            check(&mut *masker, &vocabulary(), &format);
            masker.advance(token).unwrap();
        }
    }
}

/// A limit on tokens holds behind an end of sequence that the tag names.
#[test]
fn a_named_end_of_sequence_leaves_room_for_the_rest() {
    let format = r#"{"type": "or", "elements": [{"type": "const_string", "value": "a"},
        {"type": "const_string", "value": "<|call|>xxxxxx"}]}"#;
    let mut masker = masker(format);
    assert!(masker.mask_within(8).unwrap().allows(CALL));
    let mask = masker.mask_within(7).unwrap();
    assert!(!mask.allows(CALL) && mask.allows(b'a'.into()));
}
