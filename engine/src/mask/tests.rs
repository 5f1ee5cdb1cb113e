//! Masks are made of parts that many places share. Wherever that could go wrong, a mask says of each token what accepting
//! it says.

mod bounds;
mod names;
mod strings;
mod token_budget;

use std::sync::Arc;

use super::tuning::Tuning;
use super::{ExactCompiler, ExactOptions};
use crate::style::whitespace::LayoutPoint;
use crate::{Compiler as _, Escapes, KeyOrder, Masker, Style, TokenId, Vocabulary, Whitespace, WritingBounds};

/// Tokens besides single bytes.
const TOKENS: [&str; 76] = [
    "\u{2028}",
    "\\u2028",
    "a\u{85}",
    "\", \"a\":",
    "a\":[\n      ",
    "{}",
    "{},",
    "{}}",
    "[]",
    "[],",
    "[]}",
    "\"\"",
    "\"\",",
    "\"\"}",
    "true",
    "true,",
    "true}",
    "null]",
    "},{\"",
    "},\"",
    "],\"b",
    "]}",
    ",\"a\":",
    "\":[],\"a\":",
    "\"a\"",
    "\"a",
    "a\"",
    "\",",
    "\"}",
    "\"]",
    "\"}}",
    "\"]]",
    "\"],",
    "\"},",
    "\",\"",
    "\",\"a",
    "\",\"a\"",
    "\",\"\",\"",
    "a\",\"a\"",
    "a\",\"a",
    "a\",\"aa",
    "a\",\"b\",\"a\"",
    "b\",\"ba\",\"a",
    "a\",\"\\u0061",
    "a\",\"\u{10FFFF}\",",
    "aa\", \"a\",\"",
    "\":",
    "\":1",
    "\":1}",
    "\":1}]",
    "\": {",
    "\":{}",
    "\":{},\"\"",
    "{\"",
    "{\"x\"",
    "[\"",
    "  ",
    " ,",
    " 1",
    "1 ",
    "1,",
    "1]",
    "\\u0061",
    "\\\"",
    "aa",
    "\":\"\",",
    "b\"}]",
    "b\"},",
    "\"},1",
    "\"},\"a",
    "\"},{\"a\":\"a",
    "\"},{",
    "\"}, {\"",
    "\":[],",
    "\"}],[{",
    "\"]],[[\"",
];

/// A compiler that goes every way also in a vocabulary that is small.
fn compiler(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> ExactCompiler {
    let tuning = Tuning {
        loop_exits: 300,
        walked_nodes: 100,
    };
    ExactCompiler::tuned(vocabulary, options, tuning)
}

/// Every byte and some texts, each a token, and an end of sequence behind them.
pub(crate) fn vocabulary(texts: &[impl AsRef<[u8]>]) -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    for (id, text) in (0..).zip(bytes.chain(texts.iter().map(|text| text.as_ref().to_vec()))) {
        builder = builder.text(id, text).unwrap();
    }
    let end = 256 + texts.len() as TokenId;
    Arc::new(builder.special(end, "<end>").unwrap().eos([end]).build().unwrap())
}

#[test]
fn masks_say_what_accepting_says() {
    let unique = |items: &str| format!(r#"{{"type": "array", "uniqueItems": true, "items": {items}}}"#);
    // Items need not differ where the other side holds.
    let either = |other: &str| format!(r#"{{"type": "array", "anyOf": [{{"uniqueItems": true}}, {other}]}}"#);
    let words = r#"{"enum": ["a", "aa", "aab", "b,", "é", "è"]}"#;
    let different = r#"{"uniqueItems": true, "minItems": 3, "items": false,
        "prefixItems": [{"enum": ["a", "b", "ab", "aab"]}, {"enum": ["a", "b"]}, {"enum": ["b"]}]}"#;
    let repeating = r#"{"type": "array", "items": {"type": "string"}, "maxItems": 3, "not": {"uniqueItems": true}}"#;
    let ever_fewer = r#"{"type": "array", "uniqueItems": true, "items": {"enum": ["a", "b", "aa"]},
        "prefixItems": [{"type": "string"}, {"type": "string", "maxLength": 2}, {"pattern": "^[ab]+$", "type": "string"}]}"#;
    let cases = [
        (unique(r#"{"enum": ["a"]}"#), r#"["a"#),
        (unique(r#"{"enum": ["a", "b"]}"#), r#"["a","#),
        (unique(r#"{"type": "string"}"#), r#"["a","b",""#),
        (unique(r#"{"type": "string"}"#), r#"["a","aa","b","ab","ba","é","","x\"","aab","a"#),
        (unique(r#"{"type": "array", "minItems": 1, "maxItems": 1, "items": {"enum": ["a"]}}"#), r#"[["a"#),
        (unique(r#"{"properties": {"p": {"type": "object"}}}"#), r#"[{"p":{"q":"x"}},{"p":{"q":"x"#),
        (unique(r#"{"properties": {"p": {"type": "object"}}}"#), r#"[{"p":{"q":"x"}},{"p":{""#),
        (unique(r#"{"type": "array", "items": {"type": "array"}}"#), r#"[[["x"]],[["x"#),
        (unique(r#"{"type": "array", "items": {"type": "object"}}"#), r#"[[{"a":1}],[{""#),
        (unique(r#"{"type": "array", "items": {"type": "object"}}"#), r#"[[{"a":1}],[{"a"#),
        (
            unique(r#"{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"const": 1}}"#),
            r#"[{"x":1},{"x"#,
        ),
        (
            unique(r#"{"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"const": 1}}"#),
            r#"[{"x":1},"#,
        ),
        (unique(r#"{"type": "array", "maxItems": 1, "items": {"type": "integer"}}"#), "[[1],[1"),
        (unique(r#"{"type": "integer"}"#), "[1,1"),
        (unique(r#"{"type": "string", "maxLength": 2}"#), r#"["aa",""#),
        (unique(r#"{"type": "string", "maxLength": 2}"#), r#"["aa","a"#),
        (unique(r#"{"type": "string", "minLength": 2, "maxLength": 3}"#), r#"["aaa","a"#),
        (unique(r#"{"pattern": "^a{1,2}$"}"#), r#"["aa","#),
        (unique(r#"{"pattern": "^a{1,2}$"}"#), r#"["aa",""#),
        (unique(r#"{"pattern": "^(a|aa|aab)$"}"#), r#"["a","aa",""#),
        (unique(words), r#"[""#),
        (unique(words), r#"["a",""#),
        (unique(words), r#"["a","aa","a"#),
        (unique(words), r#"["a","aa","é","b,",""#),
        (unique(words), r#"["è","é","a"#),
        (unique(words), r#"["aab","é","a","aa","b,",""#),
        (unique(words), r#"["aab","é","a","aa","b,","#),
        (different.to_owned(), r#"[""#),
        (different.to_owned(), r#"["aab",""#),
        (repeating.to_owned(), r#"[""#),
        (repeating.to_owned(), r#"["a"#),
        (repeating.to_owned(), r#"["b"#),
        (ever_fewer.to_owned(), r#"[""#),
        (ever_fewer.to_owned(), r#"["a"#),
        (ever_fewer.to_owned(), r#"["ab","a"#),
        (unique(r#"{"type": "string"}"#), r#"["ba","a"#),
        (unique(r#"{"type": "string"}"#), r#"["a"#),
        (unique(&unique(r#"{"type": "string"}"#)), r#"[["a"],["a"#),
        (different.to_owned(), r#"["aab","a"#),
        (either(r#"{"maxItems": 2}"#), r#"["a","x",""#),
        (either(r#"{"maxItems": 2}"#), r#"["a","x","a"#),
        (either(r#"{"maxItems": 2}"#), r#"["a",""#),
        (either(r#"{"contains": {"const": "ab"}}"#), r#"["a","a""#),
        (either(r#"{"contains": {"const": "ab"}}"#), r#"["a","a","a"#),
        (either(r#"{"items": {"maxLength": 1}}"#), r#"["a","b",""#),
        (either(r#"{"items": {"maxLength": 1}}"#), r#"["a","b","a"#),
        (either(r#"{"items": {"type": ["string", "null"]}}"#), r#"["a",null,""#),
        (r#"{"if": true, "else": {"type": "boolean"}}"#.to_owned(), r#"{":3,"#),
        (r#"{"propertyNames": {"maxLength": 4}}"#.to_owned(), r#"{"\"#),
        (
            r#"{"patternProperties": {"^.$": {"type": "integer"}, "b$": {"type": "number"}},
                "not": {"anyOf": [{"required": ["x"]}, {"required": ["a"]}]}}"#
                .to_owned(),
            "{",
        ),
        (r#"{"maxLength": 3}"#.to_owned(), r#""\"#),
        (r#"{"patternProperties": {"^.*$": {"type": "integer"}}}"#.to_owned(), r#"{"a":1,""#),
        (r#"{"patternProperties": {"^[ab]$": {"type": "integer"}}, "additionalProperties": false}"#.to_owned(), r#"{"a":1,""#),
        (r#"{"properties": {"a": {"type": "integer"}, "ab": {"type": "string"}}, "required": ["ab"]}"#.to_owned(), r#"{""#),
        (r#"{"maxProperties": 1}"#.to_owned(), r#"{"a"#),
        (r#"{"patternProperties": {"^[abx]{1,20}$": true}, "additionalProperties": false}"#.to_owned(), r#"{"ab":1,"a":{},"b":[],""#),
        (r#"{"patternProperties": {"^[abx]{1,20}$": true}, "additionalProperties": false}"#.to_owned(), r#"{"ab":1,"a":{},"b":[],"a"#),
        (r#"{"properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}"#.to_owned(), r#"{"a":1,"#),
        (r#"{"properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}"#.to_owned(), r#"{"a":1,"b":"","#),
        (r#"{"items": {"properties": {"a": false, "b": {"type": "null"}}, "required": ["b"]}}"#.to_owned(), r#"[{"b":null,"x":1,""#),
        (
            r#"{"anyOf": [{"properties": {"a": {"const": "ab"}, "b": {"type": "integer"}}},
                {"properties": {"a": {"pattern": "^a*$"}, "b": {"type": "string"}}}]}"#
                .to_owned(),
            r#"{"a":"a"#,
        ),
        (r#"{"enum": ["a", "ab", "aba", "xé", "x\u0001"]}"#.to_owned(), r#""a"#),
        (r#"{"enum": ["a", "ab", "aba", "xé", "x\u0001"]}"#.to_owned(), r#""x"#),
        (r#"{"pattern": "^[a-z]{2}(,[a-z]+)*$"}"#.to_owned(), r#""a"#),
        (
            r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "patternProperties": {"^[abc]$": {"type": "integer"}}, "additionalProperties": false, "minProperties": 3}"#
                .to_owned(),
            r#"{"#,
        ),
    ];
    // Names of a language and of a list, of which all come.
    let few_names = r#"{"type": "object", "properties": {"x": {"type": "integer"}, "aab": {"type": "integer"}},
        "patternProperties": {"^[ab]{1,2}$": {"type": "integer"}, "^[éè]$": {"type": "null"}}, "additionalProperties": false}"#;
    let names = [
        (few_names, r#"{"x":1,"aab":1,"aa":1,"a":1,"b":1,"bb":1,"ba":1,""#),
        (few_names, r#"{"aab":1,"aa":1,"a":1,"ab":1,"é":null,"b":1,""#),
        (few_names, r#"{"x":1,"é":null,"è":null,"a"#),
        (
            r#"{"properties": {"ab": true, "aab": true, "b,": {"type": "array"}}, "patternProperties": {"^x": {"type": "integer"}},
                "additionalProperties": false, "required": ["ab"]}"#,
            r#"{"ab":0,"b,":[],"x":1,"xa":1,""#,
        ),
    ];
    // Strings at the end of containers that are compared.
    let text = r#"{"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}"#;
    let word = r#"{"type": "object", "required": ["a"], "properties": {"a": {"enum": ["", "ab", "b"]}}, "additionalProperties": false}"#;
    let known = format!(
        r#"{{"uniqueItems": true, "minItems": 3, "prefixItems": [{text}, {{"type": ["object", "integer", "string"]}},
            {{"const": {{"a": "ab"}}}}, {{"type": "object", "maxProperties": 0}}]}}"#
    );
    let last = format!(r#"{{"uniqueItems": true, "prefixItems": [{text}, {word}], "minItems": 2}}"#);
    let only = r#"{"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "^ab$"}}, "additionalProperties": false}"#;
    let only = format!(r#"{{"uniqueItems": true, "prefixItems": [{text}, {{"anyOf": [{only}]}}]}}"#);
    let ends = [
        (only.clone(), r#"[{"a":"a"#),
        (only, r#"[{"a":"ab"#),
        (unique(text), r#"[{"a":"ab","x":[]},{"a":"ab"#),
        (unique(text), r#"[{"a":"a"},{"a":"b","x":""},{"a":"b","x":""#),
        (unique(word), r#"[{"a":"a"#),
        (unique(word), r#"[{"a":"ab"},{"a":""#),
        (unique(word), r#"[{"a":"ab"},{"a":"b"},{"a":""#),
        (known.clone(), r#"[{"a":"a"#),
        (known, r#"[{"a":""},{"a":"a"#),
        (last, r#"[{"a":"a"#),
        (unique(&unique(text)), r#"[[{"a":"ab"},{"a":"b"}],[{"a":"ab"},{"a":"b"#),
        (unique(&unique(text)), r#"[[{"a":"b"}],[{"a":"a"#),
        (unique(&unique(r#"{"type": "string"}"#)), r#"[["ab","b"],["ab","b"#),
        (
            unique(&format!(
                r#"{{"type": "object", "properties": {{"a": {}}}}}"#,
                unique(text)
            )),
            r#"[{"a":[{"a":"b"}]},{"a":[{"a":"b"#,
        ),
        (either(&format!(r#"{{"items": {word}}}"#)), r#"[{"a":"a"#),
        (either(&format!(r#"{{"items": {word}}}"#)), r#"[{"a":"b"},{"a":"b"#),
        (either(r#"{"maxItems": 2}"#), r#"[{"a":"b"},{"a":"b"#),
    ];
    // Further conditions where a member is one of some words.
    let branches = |count: usize| {
        let words = ["a", "ab", "aab", "b,", "é", "ba", "aa", "x", "xa", "b"]
            .iter()
            .take(count);
        let branches = words.map(|word| {
            format!(
                r#"{{"if": {{"properties": {{"a": {{"const": "{word}"}}}}, "required": ["a"]}}, "then": {{"required": ["x"]}}}}"#
            )
        });
        let branches = branches.collect::<Vec<_>>().join(",");
        format!(r#"{{"properties": {{"a": {{"type": "string"}}}}, "allOf": [{branches}]}}"#)
    };
    let branches = [
        (branches(5), r#"{"a":"a"#),
        (branches(10), r#"{"a":"a"#),
        (branches(10), r#"{"a":"x"#),
    ];
    let names = names.map(|(schema, text)| (schema.to_owned(), text));
    let cases = cases
        .into_iter()
        .chain(names)
        .chain(ends)
        .chain(branches)
        .collect::<Vec<_>>();
    let objects = [
        (
            r#""properties": {"a": {"type": "string"}, "b": {"type": "string"}}"#,
            r#"[{"a":"x","b":"y","c":1,"d"#,
        ),
        (
            r#""properties": {"a": {"type": "string"}, "b": {"type": "string"}}"#,
            r#"[{"c":[],"d":{},"a":"","b":""},{"d":{}},{"#,
        ),
        (
            r#""properties": {"a": true, "b": true}, "additionalProperties": false"#,
            r#"[{"a":{},"b":[]},{"b":[],"#,
        ),
        (
            r#""properties": {"a": true, "b": true}, "required": ["b"]"#,
            r#"[{"a":[],"c":[],"b":[]},{"c":[],"#,
        ),
        (
            r#""additionalProperties": {"type": "array"}"#,
            r#"[{"a":[],"b":[],"c":[[]]},{"a":[],"#,
        ),
        (r#""maxProperties": 2"#, r#"[{"a":"","b":{}},{"a":true,"c":"#),
        (r#""minProperties": 2"#, r#"[{"a":"","b":{}},{"a":true,"c":"#),
        (
            r#""propertyNames": {"enum": ["a", "b", "c"]}"#,
            r#"[{"a":"","b":{}},{"b":true,"c":"#,
        ),
        (
            r#""dependentRequired": {"c": ["a"]}"#,
            r#"[{"b":"","c":{},"a":[]},{"c":true,"b":"#,
        ),
        (
            r#""anyOf": [{"required": ["a"]}, {"required": ["b"]}], "unevaluatedProperties": {"type": "object"}"#,
            r#"[{"a":{},"c":{}},{"c":{},"#,
        ),
        (
            r##""properties": {"a": {"$ref": "#"}, "b": {"const": true}}"##,
            r#"[{"a":[{"a":[{"b":true}],"b":true}],"c":[{"#,
        ),
        // Alternatives that have the same keys in different orders.
        (
            r#""anyOf": [{"properties": {"b": {"const": 1}, "a": true, "c": true}, "required": ["a", "b"]},
                {"properties": {"b": true, "c": true, "a": true}, "required": ["b", "c"], "additionalProperties": false}]"#,
            r#"[{"b":1,"a":1,"c":1,"d":1},{"b":2,"c":1,"a":{}},{"#,
        ),
        (
            r#""oneOf": [{"properties": {"b": true, "a": {"const": 1}}, "required": ["a"]}, {"properties": {"a": {"type": "array"}, "b": true}}]"#,
            r#"[{"b":{},"a":1},{"a":[],"b":"#,
        ),
    ];
    let objects = objects.map(|(keywords, text)| {
        let schema = format!(r#"{{"type": "array", "items": {{"type": "object", {keywords}}}}}"#);
        (schema, text)
    });
    let vocabulary = vocabulary(&TOKENS);
    let ordered = Style {
        key_order: KeyOrder::Schema,
        ..Style::rfc8259()
    };
    let bounded = Style {
        whitespace: Style::generation().whitespace,
        ..Style::rfc8259()
    };
    let printable = Style {
        escapes: Escapes::Printable,
        ..Style::rfc8259()
    };
    let ascii = Style {
        escapes: Escapes::Ascii,
        ..Style::rfc8259()
    };
    let closed = Style {
        closed: true,
        ..Style::generation()
    };
    let complete = Style {
        all_required: true,
        key_order: KeyOrder::Any,
        ..closed
    };
    let styles = [Style::rfc8259(), ordered, bounded, printable, Style::generation()];
    let narrow = [ascii, closed, complete].into_iter().chain(bounds::narrow_styles());
    for style in styles.into_iter().chain(narrow) {
        let options = ExactOptions {
            style,
            ..ExactOptions::judging()
        };
        let compiler = compiler(vocabulary.clone(), options);
        let orders = cases.iter().map(|case| (case, KeyOrder::Any));
        let orders = orders.chain(objects.iter().map(|case| (case, style.key_order)));
        for ((schema, text), order) in orders {
            let mut masker = compiler.compile(schema).unwrap();
            let text = match style.escapes {
                Escapes::Ascii => strings::in_ascii(text),
                _ => text.to_string(),
            };
            let text = match style.whitespace {
                Whitespace::Fixed(layout) => layout.lay_out(text.as_bytes(), LayoutPoint::START),
                _ => text.into_bytes(),
            };
            // A place may be known from another that comes before it.
            for place in 0..=text.len() {
                let next = text.get(place);
                let text = String::from_utf8_lossy(&text[..place]);
                let mask = masker.mask().unwrap().clone();
                assert!(!mask.allows_none(), "{schema}: dead end after {text}, {style:?}");
                for token in 0..vocabulary.len() as TokenId {
                    let accepted = masker.advance(token).is_ok();
                    let shown = String::from_utf8_lossy(vocabulary.token_bytes(token)).into_owned();
                    assert_eq!(mask.allows(token), accepted, "{schema}: {text}: {shown:?}, {style:?}");
                    if accepted {
                        let has_extension = vocabulary.is_eos(token) || !masker.mask().unwrap().allows_none();
                        assert!(has_extension, "{schema}: dead end after {text}{shown}");
                        masker.rollback(1).unwrap();
                    }
                }
                let Some(&next) = next else { break };
                let is_narrower = order == KeyOrder::Schema
                    || matches!(style.whitespace, Whitespace::Fixed(_))
                    || style.closed
                    || style.bounds != WritingBounds::NONE;
                if is_narrower && !mask.allows(next.into()) {
                    break;
                }
                masker.advance(next.into()).unwrap();
            }
        }
    }
}

/// Asserts that a mask allows exactly the tokens that are accepted.
fn agree(masker: &mut dyn Masker, vocabulary: &Vocabulary, place: &str) {
    let mask = masker.mask().unwrap().clone();
    for token in 0..vocabulary.len() as TokenId {
        let may = masker.advance(token).is_ok();
        if may {
            masker.rollback(1).unwrap();
        }
        let text = String::from_utf8_lossy(vocabulary.token_bytes(token));
        assert_eq!(mask.allows(token), may, "{place} {text:?}");
    }
}

/// A token that ends several containers depends on the state around all of them, however far out that is.
#[test]
fn tokens_end_containers_at_every_depth() {
    let vocabulary = vocabulary(&[
        "\"}]", "\"}}", "\"}]}", "\"]]", "\"]}", "}}", "]]", "]}", "\"}],", "\"}},", "\"}]}]}",
    ]);
    let unbounded = Style {
        bounds: WritingBounds::NONE,
        ..Style::generation()
    };
    for style in [Style::rfc8259(), unbounded] {
        let options = ExactOptions {
            style,
            ..ExactOptions::judging()
        };
        let compiler = compiler(vocabulary.clone(), options);
        for schema in [
            "{}",
            r##"{"type": ["object", "array", "string"], "additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}}"##,
        ] {
            // Results for one place must not be used for another that has more around it.
            let masker = compiler.compile(schema).unwrap();
            for kinds in ["{", "{{{{{{{{{", "[{{{{{{{{{", "[[[[[[[[[[", "{[{[{[{[{[{["] {
                let opening = kinds.chars().map(|kind| if kind == '{' { r#"{"a":"# } else { "[" });
                let inner = opening.collect::<String>() + "\"x";
                for level in (1..=kinds.len()).rev() {
                    let (outside, closed) = kinds.split_at(level);
                    let closing: String = closed
                        .chars()
                        .rev()
                        .map(|kind| if kind == '{' { '}' } else { ']' })
                        .collect();
                    let next = if outside.ends_with('{') {
                        r#"","b":"x"#
                    } else {
                        r#"","x"#
                    };
                    let mut masker = masker.fork().unwrap();
                    let mut text = String::new();
                    for part in [inner.as_str(), "\"", &closing, &next[1..]] {
                        for byte in part.bytes() {
                            masker.advance(byte.into()).unwrap();
                        }
                        text += part;
                        if part != closing {
                            agree(&mut *masker, &vocabulary, &text);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn quotes_that_are_characters_are_told_from_those_that_end_strings() {
    let vocabulary = vocabulary(&[""; 0]);
    for escapes in [Escapes::Any, Escapes::Needed, Escapes::Printable, Escapes::Ascii] {
        let style = Style {
            escapes,
            ..Style::rfc8259()
        };
        let options = ExactOptions {
            style,
            ..ExactOptions::judging()
        };
        let compiler = compiler(vocabulary.clone(), options);
        let mut masker = compiler.compile(r#"{"enum": ["\"", "\n\"\\\"", 1]}"#).unwrap();
        for text in [r#""\""#, r#""\n\"\\\"""#] {
            for byte in text.bytes() {
                agree(&mut *masker, &vocabulary, text);
                masker.advance(byte.into()).unwrap();
            }
            masker.rollback(text.len()).unwrap();
        }
    }
}

/// Masks, and what tokens lead to, are kept for all copies of a masker: each sees what it would see alone.
#[test]
fn threads_that_share_a_schema_see_what_one_sees_alone() {
    let schema = r#"{
        "type": "array",
        "items": {
            "properties": {"a": {"type": "string", "pattern": "^[a-c]*$"}, "b": {"type": "array"}},
            "required": ["a"],
            "additionalProperties": {"type": ["integer", "null"]}
        }
    }"#;
    let documents = [
        r#"[{"a":"abc","b":[1,{}]},{"x":1,"a":""}]"#,
        r#"[{"b":[],"aa":null,"a":"a"},{"a":"cab"}]"#,
        r#"[{"a":"ccc","y":12},{"a":"a","y":0},{"a":"","y":7}]"#,
    ];
    let vocabulary = vocabulary(&TOKENS);
    let compiler = compiler(vocabulary.clone(), ExactOptions::judging());
    let read = |mut masker: Box<dyn crate::Masker>, document: &str| -> Vec<Vec<TokenId>> {
        let mut masks = Vec::new();
        for byte in document.bytes() {
            masks.push(masker.mask().unwrap().iter().collect());
            masker.advance(byte.into()).unwrap();
        }
        assert!(masker.is_complete().unwrap());
        masks
    };
    let alone = documents.map(|document| read(compiler.compile(schema).unwrap(), document));
    let shared = compiler.compile(schema).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let maskers: Vec<_> = (0..9).map(|_| shared.fork().unwrap()).collect();
            let (alone, read) = (&alone, &read);
            scope.spawn(move || {
                for (turn, masker) in (thread..).zip(maskers) {
                    let place = turn % documents.len();
                    assert_eq!(read(masker, documents[place]), alone[place], "{}", documents[place]);
                }
            });
        }
    });
}

/// The brackets of one token take memory that grows with their number, not with its square.
#[test]
fn a_token_of_brackets() {
    let token = format!("\"{}", "]".repeat(200_000));
    let compiler = compiler(vocabulary(&[token, "\"]]".to_owned()]), ExactOptions::default());
    let mut masker = compiler.compile(r#"{"items": {"items": {"type": "string"}}}"#).unwrap();
    for byte in b"[[\"a" {
        masker.advance(TokenId::from(*byte)).unwrap();
    }
    let mask = masker.mask().unwrap();
    assert!(!mask.allows(256) && mask.allows(257));
    // Objects of one shape within more of them than a token closes, and within fewer.
    let token = format!("\"{}", "}".repeat(71));
    let compiler = self::compiler(vocabulary(&[token]), ExactOptions::default());
    let schema = r##"{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}}, "additionalProperties": false}"##;
    for depths in [[70, 71, 72], [72, 71, 70]] {
        for depth in depths {
            let mut masker = compiler.compile(schema).unwrap();
            let text = format!("{}\"", "{\"a\":".repeat(depth));
            for byte in text.bytes() {
                masker.mask().unwrap();
                masker.advance(TokenId::from(byte)).unwrap();
            }
            assert_eq!(masker.mask().unwrap().allows(256), depth >= 71, "{depth}");
        }
    }
}
