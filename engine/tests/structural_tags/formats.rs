//! The replies that each format of structural tags admits.

use crate::{accepts, check, compiler, masker, vocabulary};
use maskwright::Masker;

const TOOLS: &str = r#"{"type": "triggered_tags", "triggers": ["<a"], "tags": [
    {"begin": "<a>", "content": {"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"type": "string"}},
        "required": ["a"], "additionalProperties": false}}, "end": "</a>"},
    {"begin": "<ab>", "content": {"type": "json_schema", "json_schema": {"enum": [1, 12]}}, "end": ["</ab>", "!"]}]"#;

fn tools(more: &str) -> Box<dyn Masker> {
    masker(&format!("{TOOLS}{more}}}"))
}

#[test]
fn free_text_ends_with_a_trigger() {
    let masker = tools("");
    for reply in [
        "",
        "text < a é",
        "<a>{\"a\":\"</a>\"}</a>",
        "x<a>{\"a\":\"\"}</a>y<ab>12!<ab>1</ab>",
        "<<a>{\"a\":\"x\"}</a><",
    ] {
        assert!(accepts(&*masker, reply), "{reply:?}");
    }
    for reply in [
        "<a",
        "<ac",
        "x<a>",
        "<a>{\"a\":1}</a>",
        "<a>{\"a\":\"\"}<a>",
        "<ab>2!",
        "<ab>1",
        "<ab>1<",
    ] {
        assert!(!accepts(&*masker, reply), "{reply:?}");
    }
    let mut text = masker.fork().unwrap();
    "é".bytes().take(1).for_each(|byte| text.advance(byte.into()).unwrap());
    assert!(!text.is_complete().unwrap(), "a character is not whole");
    assert!(text.advance(b'a'.into()).is_err());
}

#[test]
fn flags_say_how_many_tags_come() {
    let (first, second) = ("<ab>1!", "<ab>12!");
    let text = |parts: &[&str]| parts.concat();
    for (flags, accepted, refused) in [
        (
            r#","at_least_one": true"#,
            vec![text(&[first]), text(&[first, "x", second, "y"])],
            vec![text(&[]), text(&["x", first])],
        ),
        (
            r#","stop_after_first": true"#,
            vec![text(&[]), text(&["x", first]), text(&["x"])],
            vec![text(&[first, "x"]), text(&[first, second])],
        ),
        (
            r#","at_least_one": true, "stop_after_first": true"#,
            vec![text(&[first]), text(&[second])],
            vec![text(&[]), text(&["x", first]), text(&[first, "x"])],
        ),
        (
            r#","excludes": ["xx", "!"]"#,
            vec![text(&["x", first, "x", first]), text(&["x"])],
            vec![text(&["xx"]), text(&["a!"]), text(&[first, "!"])],
        ),
    ] {
        let masker = tools(flags);
        for reply in accepted {
            assert!(accepts(&*masker, &reply), "{flags}: {reply:?}");
        }
        for reply in refused {
            assert!(!accepts(&*masker, &reply), "{flags}: {reply:?}");
        }
    }
}

#[test]
fn text_in_a_tag_ends_with_the_tag() {
    let format = r#"{"type": "sequence", "elements": [
        {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": ["</a>", "<b"]},
        {"type": "optional", "content": {"type": "const_string", "value": "12"}}]}"#;
    let masker = masker(format);
    for reply in ["<a></a>", "<a>x</a</a>12", "<a><</</a><b12", "<a>é<a><b"] {
        assert_eq!(accepts(&*masker, reply), reply != "<a><</</a><b12", "{reply:?}");
    }
    for reply in ["<a>x", "<a></a>1", "<a></a></a>", "<a><b</a>"] {
        assert!(!accepts(&*masker, reply), "{reply:?}");
    }
}

#[test]
fn parts_are_repeated_chosen_and_separated() {
    let number = r#"{"type": "json_schema", "json_schema": {"enum": [1, 12, 2]}}"#;
    let text = r#"{"type": "choice", "choices": ["a", "ab", "b"]}"#;
    for (format, accepted, refused) in [
        (format!(r#"{{"type": "repeat", "min": 2, "max": 3, "content": {text}}}"#), ["aa", "abab", "aab"], ["a", "", "aaaa"]),
        (format!(r#"{{"type": "repeat", "min": 1, "max": -1, "content": {text}}}"#), ["a", "abab", "bbbb"], ["", "c", "abc"]),
        (format!(r#"{{"type": "plus", "content": {number}}}"#), ["1", "1212", "121"], ["", "13", "x"]),
        (format!(r#"{{"type": "star", "content": {{"type": "star", "content": {text}}}}}"#), ["", "a", "abab"], ["c", "ac", " "]),
        (format!(r#"{{"type": "or", "elements": [{number}, {text}]}}"#), ["12", "ab", "b"], ["", "1a", "aa"]),
        (
            r#"{"type": "sequence", "elements": [{"type": "regex", "pattern": "a*|b+"}, {"type": "const_string", "value": "ab"}]}"#.into(),
            ["ab", "aaab", "bbab"],
            ["a", "b", "abab"],
        ),
        (
            r#"{"type": "tag", "begin": "<", "content": {"type": "grammar", "grammar": "root ::= [ab]+ (\",\" root)?"}, "end": ">"}"#.into(),
            ["<a>", "<ab,b>", "<b,a,ab>"],
            ["<>", "<a,>", "<a"],
        ),
        (
            r#"{"type": "tag", "begin": "<", "content": {"type": "grammar", "syntax": "lark", "grammar": "start: /[ab]+/"}, "end": ">"}"#.into(),
            ["<a>", "<ab>", "<bba>"],
            ["<>", "<c>", "<a"],
        ),
        (
            format!(
                r#"{{"type": "tags_with_separator", "separator": ",", "tags": [{{"begin": "<", "content": {number}, "end": ">"}}]}}"#
            ),
            ["", "<1>", "<1>,<12>"],
            ["<1>,", ",<1>", "<1><2>"],
        ),
        (
            format!(
                r#"{{"type": "dispatch", "rules": [["x=", {number}], ["y=", {text}]], "excludes": ["z"], "loop": true}}"#
            ),
            ["", "x=1 y=ab", "x=12y=a"],
            ["x=", "z", "y=c"],
        ),
        (
            format!(r#"{{"type": "dispatch", "rules": [["xy", {number}], ["x", {text}], ["xyx", {text}]]}}"#),
            ["xa", "xy1", "xyxab"],
            ["x1", "xyxy1", "xyb"],
        ),
        (
            format!(r#"{{"type": "dispatch", "rules": [["x=", {number}]], "loop": false}}"#),
            ["", "ax=1", "x=12"],
            ["x=1 ", "x=1x=1", "x"].map(|reply| if reply == "x" { "x=" } else { reply }),
        ),
    ] {
        let masker = masker(&format);
        for reply in accepted {
            assert!(accepts(&*masker, reply), "{format}: {reply:?}");
        }
        for reply in refused {
            assert!(!accepts(&*masker, reply), "{format}: {reply:?}");
        }
    }
}

#[test]
fn the_older_form_is_read_too() {
    let tag = r#"{"type": "structural_tag", "triggers": ["<a"], "structures": [
        {"begin": "<a>", "schema": {"type": "boolean"}, "end": "</a>"}, {"begin": "<ab>", "schema": "{\"const\": 1}", "end": ""}]}"#;
    let masker = compiler().compile_structural_tag(tag).unwrap();
    assert!(accepts(&*masker, "x<a>true</a><ab>1y") && !accepts(&*masker, "<a>1</a>"));

    // SGLang writes `at_least_one` always, and null where a tool has no schema.
    let tag = r#"{"type": "structural_tag", "triggers": ["<a"], "at_least_one": true, "structures": [
        {"begin": "<a>", "schema": null, "end": "</a>"}, {"begin": "<ab>", "end": "!"}]}"#;
    let masker = compiler().compile_structural_tag(tag).unwrap();
    assert!(accepts(&*masker, "<a>[1]</a>x") && accepts(&*masker, "<ab>{}!") && !accepts(&*masker, "x"));
}

/// Masks are right wherever a reply stands, and tokens are taken back.
#[test]
fn masks_say_what_accepting_says() {
    let vocabulary = vocabulary();
    let mut masker = tools(r#","excludes": ["bb"]"#);
    let reply = "é<<a>{\"a\":\"x</a>\"}</a>ab<ab>12!b";
    for (read, byte) in reply.bytes().enumerate() {
        check(&mut *masker, &vocabulary, &format!("{reply:?} after {read} bytes"));
        let mask = masker.mask().unwrap().clone();
        masker.advance(byte.into()).unwrap();
        masker.rollback(1).unwrap();
        assert_eq!(*masker.mask().unwrap(), mask);
        masker.advance(byte.into()).unwrap();
    }
    assert!(masker.is_complete().unwrap());
}

#[test]
fn a_reply_ends_within_its_tokens() {
    let vocabulary = vocabulary();
    for limit in [12, 20, 40] {
        let mut masker = tools(r#","at_least_one": true"#);
        for left in (1..=limit).rev() {
            let mask = masker.mask_within(left).unwrap().clone();
            // The least likely to end soon: bytes within strings and free text.
            let token = mask.iter().find(|token| !vocabulary.is_eos(*token));
            match token {
                Some(token) if left > 1 => masker.advance(token).unwrap(),
                _ => break,
            }
        }
        assert!(masker.is_complete().unwrap(), "{limit}");
    }
}

#[test]
fn begins_that_differ_late_are_one_way_to_read() {
    let tags: Vec<String> = (0..500)
        .map(|number| format!(r#"{{"begin": "<f={number}>", "content": {{"type": "json_schema", "json_schema": {{"const": {number}}}}}, "end": "</f>"}}"#))
        .collect();
    let format = format!(
        r#"{{"type": "triggered_tags", "triggers": ["<f="], "tags": [{}]}}"#,
        tags.join(",")
    );
    let mut masker = masker(&format);
    "a<f=49".bytes().for_each(|byte| masker.advance(byte.into()).unwrap());
    check(&mut *masker, &vocabulary(), "500 tags");
    assert!(accepts(&*masker, ">49</f>") && accepts(&*masker, "7>497</f>") && !accepts(&*masker, ">4</f>"));
}
