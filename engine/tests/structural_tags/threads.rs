//! Structural tags whose replies can have too many threads are refused when they are compiled; replies under other tags are never refused later.

use crate::{accepts, check, compile, masker, vocabulary};
use maskwright::CompileErrorKind::{self, LimitExceeded, Unsupported};

const ANY: &str = r#"{"type": "json_schema", "json_schema": true}"#;

fn sequence(parts: &[&str]) -> String {
    format!(r#"{{"type": "sequence", "elements": [{}]}}"#, parts.join(","))
}

fn regex(pattern: &str) -> String {
    format!(r#"{{"type": "regex", "pattern": "{pattern}"}}"#)
}

fn text(text: &str) -> String {
    format!(r#"{{"type": "const_string", "value": "{text}"}}"#)
}

fn refusal(format: &str) -> CompileErrorKind {
    compile(format).err().unwrap_or_else(|| panic!("{format}")).kind()
}

/// Texts between a content and the free text before it may make clear that the free text has ended.
#[test]
fn contents_behind_free_text_need_a_sign() {
    let free = r#"{"type": "any_text", "excludes": ["=="]}"#;
    for between in ["a==", "==b"] {
        assert!(compile(&sequence(&[free, &text(between), ANY])).is_ok(), "{between}");
    }
    assert_eq!(refusal(&sequence(&[free, &text("="), ANY])), Unsupported);
    assert_eq!(
        refusal(&sequence(&[r#"{"type": "any_text"}"#, &text("=="), ANY])),
        Unsupported
    );
    assert_eq!(refusal(&sequence(&[r#"{"type": "any_tokens"}"#, ANY])), Unsupported);
    // The first free text ends with "x", or before it: then the rule's content is read while the second free text may come to it again.
    let rules = format!(r#"{{"type": "dispatch", "rules": [["x=", {ANY}]]}}"#);
    let twice = sequence(&[r#"{"type": "any_text", "excludes": ["x="]}"#, &rules]);
    assert_eq!(refusal(&twice), Unsupported);
    assert!(compile(&sequence(&[r#"{"type": "any_text", "excludes": ["x"]}"#, &rules])).is_ok());
    // A content of few states does without.
    let one = r#"{"type": "json_schema", "json_schema": {"const": "=1"}}"#;
    let mut masker = masker(&sequence(&[free, one]));
    assert!(accepts(&*masker, "a=\"\"=1\"") && !accepts(&*masker, "\"=1\"x\"=1"));
    for byte in b"a\"\"=1" {
        check(&mut *masker, &vocabulary(), "a short content behind free text");
        masker.advance((*byte).into()).unwrap();
    }
}

/// An expression may go on where the content behind it begins.
#[test]
fn contents_behind_expressions_need_a_sign() {
    for pattern in [r"\\[*", ".*", r"(\\[|a)+", r#"\\{?(\\\"a\\\":\\[)*"#] {
        assert_eq!(refusal(&sequence(&[&regex(pattern), ANY])), Unsupported, "{pattern}");
    }
    let number = r#"{"type": "json_schema", "json_schema": {"type": "object"}}"#;
    for (parts, reply) in [
        (sequence(&[&regex("[0-9]+"), &text(":"), ANY]), "120:[[]]"),
        (sequence(&[&regex("[0-9]+"), number]), "120{}"),
        (sequence(&[&regex("a*|b+"), &text("ab"), ANY]), "aaab1"),
        (sequence(&[&regex(r"\\[{0,3}"), &text("="), ANY]), "[[=[1]"),
        (sequence(&[ANY, &text(","), ANY]), "1,2"),
    ] {
        let mut masker = masker(&parts);
        for byte in reply.bytes() {
            check(&mut *masker, &vocabulary(), &parts);
            masker.advance(byte.into()).unwrap();
        }
        assert!(masker.is_complete().unwrap(), "{parts}");
    }
}

#[test]
fn contents_may_not_begin_between_repeated_texts() {
    let ones = |most: i32| {
        format!(
            r#"{{"type": "repeat", "min": 0, "max": {most}, "content": {{"type": "choice", "choices": ["1", "11"]}}}}"#
        )
    };
    assert_eq!(refusal(&sequence(&[&ones(-1), ANY])), Unsupported);
    assert_eq!(refusal(&sequence(&[&ones(2), ANY])), Unsupported);
    let object = r#"{"type": "json_schema", "json_schema": {"type": "object"}}"#;
    assert!(accepts(&*masker(&sequence(&[&ones(-1), object])), "1111{}"));
    assert_eq!(
        refusal(&format!(r#"{{"type": "star", "content": {ANY}}}"#)),
        Unsupported
    );
}

/// A choice among 250 documents is below the limit of 256 ways to read a reply.
#[test]
fn a_reply_may_be_one_of_many_documents() {
    let documents: Vec<String> = (0..250)
        .map(|number| {
            let schema = format!(r#"{{"type": "object", "required": ["a{number}"]}}"#);
            format!(r#"{{"type": "json_schema", "json_schema": {schema}}}"#)
        })
        .collect();
    let masker = masker(&format!(r#"{{"type": "or", "elements": [{}]}}"#, documents.join(",")));
    assert!(accepts(&*masker, r#"{"a249":[1]}"#) && !accepts(&*masker, r#"{"a250":1}"#));
}

/// A text that begins with many of its own ends can be begun as often.
#[test]
fn long_texts_behind_free_text_may_not_overlap_themselves() {
    for before in [r#"{"type": "any_text"}"#.to_owned(), regex("a*"), regex("[ab]*")] {
        assert_eq!(
            refusal(&sequence(&[&before, &text(&"a".repeat(300))])),
            LimitExceeded,
            "{before}"
        );
        let mut masker = masker(&sequence(&[&before, &text(&"a".repeat(200))]));
        for read in 0..400 {
            assert_eq!(masker.is_complete().unwrap(), read >= 200, "{before}: {read}");
            masker.mask().unwrap();
            masker.advance(b'a'.into()).unwrap();
        }
    }
    let long: String = (0..300).map(|number| format!("<{number}>")).collect();
    assert!(compile(&sequence(&[r#"{"type": "any_text"}"#, &text(&long)])).is_ok());
}

/// Free tokens do not see that the text of a tag's end is read.
#[test]
fn contents_behind_free_tokens_need_a_token() {
    let tag =
        |end: &str| format!(r#"{{"type": "tag", "begin": "<a>", "content": {{"type": "any_tokens"}}, "end": {end}}}"#);
    assert_eq!(refusal(&sequence(&[&tag(r#""</a>""#), ANY])), Unsupported);
    let mut alone = masker(&tag(r#""</a>""#));
    assert!(accepts(&*alone, "<a>x</a>") && accepts(&*alone, "<a></a></a>"));
    for byte in b"<a></a></" {
        check(&mut *alone, &vocabulary(), "tokens up to a text");
        alone.advance((*byte).into()).unwrap();
    }
    assert!(compile(&sequence(&[&tag(r#"{"type": "token", "token": "<|t|>"}"#), ANY])).is_ok());
    let by_id = sequence(&[
        r#"{"type": "star", "content": {"type": "exclude_token", "exclude_tokens": []}}"#,
        ANY,
    ]);
    assert_eq!(refusal(&by_id), Unsupported);
}

/// A text between two tags may have characters beyond ASCII and many states: what follows it is told by its characters all the same.
#[test]
fn texts_of_many_states_may_come_again() {
    let tag = |format: &str, text: &str| {
        format!(r#"{{"type": "tag", "begin": "<{text}>", "content": {format}, "end": "</{text}>"}}"#)
    };
    let ebnf = r#"{"type": "grammar", "grammar": "root ::= [^<]*"}"#.to_owned();
    for format in [
        regex("[^<]*"),
        regex(r"\\p{L}+"),
        regex("[a-zé]{0,2000}"),
        regex(".*"),
        ebnf,
    ] {
        let again = format!(
            r#"{{"type": "triggered_tags", "triggers": ["<a>"], "tags": [{}]}}"#,
            tag(&format, "a")
        );
        let two = sequence(&[&tag(&format, "think"), &tag(&format, "answer")]);
        for (tags, reply) in [
            (again, "x<a>éa</a>y<a>b</a>"),
            (two, "<think>é</think><answer>bc</answer>"),
        ] {
            assert!(accepts(&*masker(&tags), reply), "{tags}");
            assert!(
                !accepts(&*masker(&tags), &reply.replace("b", "<")) || format.contains(".*"),
                "{tags}"
            );
        }
    }
    // Where a text has too many states to tell, the limit is named with the text's place.
    let long = regex(r"\\p{L}{0,2000}");
    let error = compile(&format!(r#"{{"type": "star", "content": {}}}"#, tag(&long, "a")))
        .err()
        .unwrap();
    assert_eq!(
        (error.kind(), error.pointer()),
        (LimitExceeded, Some("/format/content/content/pattern")),
        "{error}"
    );
}
