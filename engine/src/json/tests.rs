//! Tests of JSON texts: the values that are read, the texts that are refused, and the places of errors.

use super::*;
use crate::Limits;

fn parse(text: &str) -> Document {
    Document::parse(text, &Limits::default()).unwrap()
}

fn error(text: &str) -> ParseError {
    Document::parse(text, &Limits::default()).unwrap_err()
}

fn value(text: &str) -> Value {
    Value::new(&parse(text), 0).unwrap()
}

#[test]
fn order_spelling_and_escapes_are_kept() {
    let document =
        parse("\r\n\t {\"b\": [1.50, -0, 1e400], \"\\u0061\\ud83d\\ude00\\n\\/\": null, \"\": {\"x\": true}} ");
    let names: Vec<&str> = document.members(0).map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a😀\n/", ""]);
    let numbers: Vec<Content<'_>> = document.items(2).map(|item| document.content(item)).collect();
    assert_eq!(numbers, ["1.50", "-0", "1e400"].map(Content::Number));
    let empty = document.member(0, "").unwrap();
    let inner = document.member(empty, "x").unwrap();
    assert_eq!(document.content(inner), Content::Bool(true));
    assert_eq!(document.pointer(inner), "//x");
    assert_eq!(document.pointer(4), "/b/1");
    assert_eq!(document.pointer(0), "");
}

#[test]
fn large_containers_are_searched() {
    let members: Vec<String> = (0..100).map(|i| format!("\"k/{i}\": [{i}]")).collect();
    let document = parse(&format!("{{{}}}", members.join(",")));
    for i in 0..100 {
        let index = document.member(0, &format!("k/{i}")).unwrap();
        assert_eq!(document.content(index + 1), Content::Number(&i.to_string()));
        assert_eq!(document.pointer(index + 1), format!("/k~1{i}/0"));
    }
    assert_eq!(document.member(0, "k/100"), None);

    let items: Vec<String> = (0..100).map(|i| format!("[{i}]")).collect();
    let document = parse(&format!("[{}]", items.join(",")));
    for i in 0..100 {
        let index = document.item(0, i).unwrap();
        assert_eq!(document.content(index + 1), Content::Number(&i.to_string()));
        assert_eq!(document.pointer(index), format!("/{i}"));
        assert_eq!(document.pointer(index + 1), format!("/{i}/0"));
    }
    assert_eq!(document.item(0, 100), None);
}

#[test]
fn defects_are_placed() {
    for (text, characters, pointer) in [
        ("", 0, ""),
        ("\u{FEFF}{}", 0, ""),
        ("{\"a\": [1, 2,]}", 12, "/a/2"),
        ("{\"a\": 1,}", 8, "/a"),
        ("{\"a\" 1}", 5, "/a"),
        ("{a: 1}", 1, ""),
        ("[1 2]", 3, "/0"),
        ("[1}", 2, "/0"),
        ("[01]", 2, "/0"),
        ("[1.]", 1, "/0"),
        ("[+1]", 1, "/0"),
        ("[tru]", 1, "/0"),
        ("[\"\u{1}\"]", 2, "/0"),
        ("[\"\\x\"]", 2, "/0"),
        ("[\"\\u12g4\"]", 2, "/0"),
        ("[\"\\u00\"]", 2, "/0"),
        ("[\"\\ud800\"]", 2, "/0"),
        ("[\"\\udc00\\ud800\"]", 2, "/0"),
        ("[\"\\ud800\\u0041\"]", 2, "/0"),
        ("[\"abc", 5, "/0"),
        ("[1] 2", 4, ""),
        ("/* no */ 1", 0, ""),
        ("NaN", 0, ""),
        ("\u{A0}1", 0, ""),
    ] {
        let error = error(text);
        assert_eq!(error.kind, ParseErrorKind::Syntax, "{text}: {error}");
        assert_eq!(
            (error.line, error.column, &*error.pointer),
            (1, characters + 1, pointer),
            "{text}: {error}"
        );
    }
}

#[test]
fn defects_are_told_with_their_line_and_column() {
    let message = |text: &str| error(text).to_string();
    assert_eq!(
        message("{\n  \"ü\": {}\n  \"b\": 1\n}"),
        "line 3, column 3: expected `,` or `}`, found `\"b\"`"
    );
    assert_eq!(
        message("[\"ü\" \"no end"),
        "line 1, column 6: expected `,` or `]`, found `\"no`"
    );
}

#[test]
fn duplicate_names_are_refused_however_spelled() {
    let found = error("{\"o\": [{\"a\": 1, \"b\": {}, \"\\u0061\": 2}]}");
    assert_eq!(found.kind, ParseErrorKind::DuplicateName);
    assert_eq!(found.pointer, "/o/0/a");
    // The place is that of the second name, of which other objects, strings and escapes stand before.
    let text = "{\"o\": [{\"a\": {\"a\": 1, \"b:\": 2},\n\"b\\\"\": \"{\\\\\", \n \"\\u0061\" : 2, \"c\": 3}]}";
    let found = error(text);
    assert_eq!((found.line, found.column, &found.pointer[..]), (3, 2, "/o/0/a"));
    let members: Vec<String> = (0..50).map(|i| format!("\"k{}\": {i}", i % 49)).collect();
    let found = error(&format!("{{\"x\": {{{}}}}}", members.join(",")));
    assert_eq!((found.kind, &*found.pointer), (ParseErrorKind::DuplicateName, "/x/k0"));
    let before = format!("{{\"x\": {{{}", members[..49].join(",")).len();
    assert_eq!((found.line, found.column), (1, before + 2));
}

#[test]
fn limits_hold() {
    let limits = Limits {
        text_bytes: 1_000,
        depth: 4,
        values: 10,
        number_digits: 5,
        ..Limits::default()
    };
    let refused = |text: &str| Document::parse(text, &limits).unwrap_err();
    for (text, limit) in [
        ("[[[[[]]]]]", "`depth`"),
        ("[1,2,3,4,5,6,7,8,9,10]", "`values`"),
        ("123456", "`number_digits`"),
        (&*" ".repeat(1_001), "`text_bytes`"),
    ] {
        let error = refused(text);
        assert_eq!(error.kind, ParseErrorKind::Limit);
        assert!(error.message.contains(limit), "{error}");
    }
    assert!(Document::parse("[[[[]]]]", &limits).is_ok());
}

#[test]
fn depth_costs_no_stack() {
    let limits = Limits {
        depth: 1_000_000,
        ..Limits::default()
    };
    let text = ["[".repeat(1_000_000), "]".repeat(1_000_000)].concat();
    let document = Document::parse(&text, &limits).unwrap();
    let value = Value::new(&document, 0).unwrap();
    assert_eq!(value.clone(), value);
}

#[test]
fn values_are_equal_whatever_their_spelling() {
    assert_eq!(
        value("{\"a\": [1.0, \"\\u0041\"], \"b\": {}}"),
        value("{\"b\":{},\"a\":[10e-1,\"A\"]}")
    );
    for (a, b) in [
        ("[1]", "[[1]]"),
        ("[[1],2]", "[[1,2]]"),
        ("0", "false"),
        ("1", "true"),
        ("{}", "[]"),
        ("\"1\"", "1"),
        ("{\"a\": null}", "{}"),
        ("[\"a\", 1]", "{\"a\": 1}"),
    ] {
        assert_ne!(value(a), value(b), "{a} {b}");
    }
    let object = value("{\"b\": [1, [2]], \"a\": 3}");
    let members: Vec<_> = object.as_ref().members().collect();
    assert_eq!(members[0].0, "a");
    assert_eq!(members[1].1, value("[1,[2]]").as_ref());
    assert_eq!(members[1].1.items().nth(1), Some(value("[2]").as_ref()));
    assert_eq!(Value::new(&parse("[1, 1e99999999999999999999]"), 0), Err(2));
}
