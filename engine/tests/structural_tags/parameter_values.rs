//! Values of parameters between marks, which parsers read back: texts with marks, and strings beside values of other types.

use std::sync::Arc;

use super::parameters::{all_of, tag};
use crate::{accepts, check, compile, vocabulary};
use maskwright::{
    CompileErrorKind, Escapes, ExactOptions, Masker, PatternSyntax, ReplyCompiler, StringStyle, TokenId, Vocabulary,
    Whitespace,
};

/// A masker of parameters in a style, over a vocabulary with the bytes and some tokens with marks, whose JSON has some escapes.
fn masker_of_marks(style: &str, schema: &str, escapes: Escapes) -> (Box<dyn Masker>, Arc<Vocabulary>) {
    let mut builder = Vocabulary::builder();
    let marks = [
        "</",
        "/parameter",
        "</parameter",
        "</parameter>",
        "ter>",
        "\">x</parameter>\"",
        "<parameter=",
        "</arg_value>",
        "a</arg_value>\"]",
        "\"]",
        "\\/",
        "\\u003",
        "<\\/",
    ];
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    for (id, text) in (0..).zip(bytes.chain(marks.map(|text| text.as_bytes().to_vec()))) {
        builder = builder.text(id, text).unwrap();
    }
    let tokenizer = |text: &[u8]| text.iter().map(|byte| TokenId::from(*byte)).collect();
    let builder = builder.special(300, "<|end|>").unwrap().tokenizer(Arc::new(tokenizer));
    let vocabulary = Arc::new(builder.eos([300]).build().unwrap());
    let written = maskwright::Style {
        whitespace: Whitespace::Compact,
        escapes,
        ..maskwright::Style::generation()
    };
    let compiler = ReplyCompiler::new(vocabulary.clone(), ExactOptions::default().style(written));
    let tag = format!(r#"{{"type": "structural_tag", "format": {}}}"#, tag(style, schema));
    (compiler.compile_structural_tag(&tag).unwrap(), vocabulary)
}

/// Parsers cut a value at its closing mark, also within a string of JSON.
#[test]
fn json_has_no_mark_at_which_parsers_cut_it() {
    let schema = r#"{"properties": {"a": {"type": "array", "items": {"type": ["string", "object"]}, "maxItems": 2}}, "required": ["a"], "additionalProperties": false}"#;
    for (style, before, after, mark, other) in [
        (
            "qwen_xml",
            "[<parameter=a>\n",
            "\n</parameter>]",
            "</parameter>",
            "</arg_value>",
        ),
        (
            "qwen_xml",
            "[<parameter=a>",
            "</parameter>]",
            "<parameter=",
            "</arg_value>",
        ),
        (
            "minimax_xml",
            "[<parameter name=\"a\">",
            "</parameter>]",
            "</parameter>",
            "<parameter=",
        ),
        (
            "glm_xml",
            "[<arg_key>a</arg_key><arg_value>",
            "</arg_value>]",
            "</arg_value>",
            "</parameter>",
        ),
        (
            "deepseek_xml",
            "[<｜DSML｜parameter name=\"a\" string=\"false\">",
            "</｜DSML｜parameter>]",
            "</｜DSML｜parameter>",
            "</parameter>",
        ),
    ] {
        for escapes in [Escapes::Needed, Escapes::Any] {
            let (masker, vocabulary) = masker_of_marks(style, schema, escapes);
            let begun = &mark[..mark.len() - 1];
            let value = |text: &str| format!("{before}{text}{after}");
            let accepted = [
                r#"["a","b"]"#.to_owned(),
                format!("[\"{other}\"]"),
                format!("[\"<{begun}\",\"{begun}<\"]"),
                format!("[{{\"{begun}\":\"{other}\"}}]"),
            ];
            let refused = [
                format!("[\"{mark}\"]"),
                format!("[\"a{mark}b\"]"),
                format!("[\"{begun}{mark}\"]"),
                format!("[{{\"{mark}\":1}}]"),
                format!("[{{\"b\":[[\"<{mark}\"]]}}]"),
            ];
            let last = mark.chars().last().unwrap();
            let escaped = [
                format!("[\"{begun}\\u{:04x}\"]", u32::from(last)),
                format!("[\"\\u003c{}\",{{\"\\u003c{}\":1}}]", &mark[1..], &mark[1..]),
            ];
            let all = accepted.iter().chain(&refused).chain(&escaped);
            for text in all {
                let is_read = accepted.contains(text) || escaped.contains(text) && escapes == Escapes::Any;
                let reply = value(text);
                assert_eq!(accepts(&*masker, &reply), is_read, "{style} {escapes:?} {reply}");
            }
            // Masks, forced tokens and ends agree within a name that has the mark, and within one that has it escaped.
            for text in [&refused[3], &escaped[1]] {
                let reply = value(text);
                let mut along = masker.fork().unwrap();
                for (at, byte) in reply.bytes().enumerate() {
                    let context = format!("{style} {escapes:?} {reply} {at}");
                    if at >= before.len() {
                        check(&mut *along, &vocabulary, &context);
                        let (mut ended, mut ending) = (along.fork().unwrap(), Vec::new());
                        assert!(along.completion(&mut ending).unwrap(), "{context}");
                        ending.into_iter().for_each(|token| ended.advance(token).unwrap());
                        assert!(ended.is_complete().unwrap(), "{context}");
                    }
                    if !along.mask().unwrap().allows(byte.into()) {
                        break;
                    }
                    along.advance(byte.into()).unwrap();
                }
            }
        }
    }
}

/// Values that have a mark are left out; where escapes are allowed, they are written with these.
#[test]
fn values_that_need_a_mark_are_left_out_or_escaped() {
    let schema = r#"{"properties": {"a": {"enum": [["</parameter>"], {"</parameter>": 1}, ["b"]]}}, "required": ["a"], "additionalProperties": false}"#;
    let value = |text: &str| format!("[<parameter name=\"a\">{text}</parameter>]");
    let (needed, _) = masker_of_marks("minimax_xml", schema, Escapes::Needed);
    assert!(accepts(&*needed, &value(r#"["b"]"#)));
    for text in ["[\"</parameter>\"]", "[\"<\\/parameter>\"]", "{"] {
        assert!(!accepts(&*needed, &value(text)), "{text}");
    }
    let mut along = needed.fork().unwrap();
    for byte in "[<parameter name=\"a\">[\"".bytes() {
        along.advance(byte.into()).unwrap();
    }
    let mask = along.mask().unwrap();
    assert!(mask.allows(b'b'.into()) && !mask.allows(b'<'.into()));
    let (any, _) = masker_of_marks("minimax_xml", schema, Escapes::Any);
    for text in [
        "[\"<\\/parameter>\"]",
        "[\"</parameter\\u003e\"]",
        "{\"\\u003c/parameter>\":1}",
    ] {
        assert!(accepts(&*any, &value(text)), "{text}");
    }
    assert!(!accepts(&*any, &value("[\"</parameter>\"]")));
    let none = r#"{"properties": {"a": {"const": ["</parameter>"]}}, "required": ["a"]}"#;
    let error = compile(&tag("minimax_xml", none)).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable, "{error}");
    assert!(compile(&tag("glm_xml", none)).is_ok());
}

/// Parsers try the other types of a union before strings.
#[test]
fn strings_of_unions_are_none_that_parsers_take_for_other_values() {
    let schema = r##"{"properties": {
        "list": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
        "count": {"type": ["string", "integer"], "minimum": 5},
        "flag": {"enum": ["yes", "1", "2", true]},
        "name": {"anyOf": [{"$ref": "#/$defs/name"}, {"type": "null"}]}},
        "$defs": {"name": {"enum": ["1", "[]", "null", "a"]}}, "additionalProperties": false}"##;
    let one = |name: &str, value: &str| format!("<parameter name=\"{name}\">{value}</parameter>");
    let all = |name: &str, values: &[&str]| -> Vec<String> { values.iter().map(|value| one(name, value)).collect() };
    let accepted = [
        all(
            "list",
            &[
                "[1,2]",
                "[]",
                "a",
                "",
                "[a",
                "[1] and [2",
                "\"a\" or \"b\"",
                "5 a",
                "-",
                "{",
                "nulls",
                // Not JSON, or not finite.
                "+4915",
                "007",
                "True",
                "NaN",
            ],
        ),
        all("count", &["5", "a", "[4]", "true", "null", "4.5", "5 a"]),
        all("flag", &["true", "yes", "2"]),
        all("name", &["null", "1", "[]", "a"]),
    ]
    .concat();
    let refused = [
        all(
            "list",
            &[
                "[\"a\"]",
                "[a]",
                " [1.5] ",
                "{}",
                "5",
                "-1.5e3",
                "true",
                "null",
                "\"a\"",
                "\"a\\\"b\"",
            ],
        ),
        all("count", &["4", " 4", "+4", "4_0"]),
        all("flag", &["1", "false", "True"]),
        all("name", &["Null"]),
    ]
    .concat();
    for syntax in [PatternSyntax::Common, PatternSyntax::Rust, PatternSyntax::Python] {
        let mut style = maskwright::Style::generation();
        style.whitespace = Whitespace::Compact;
        style.strings = StringStyle::any().anchored_patterns(true);
        let options = ExactOptions::default().style(style).patterns(syntax);
        let format = format!(
            r#"{{"type": "structural_tag", "format": {}}}"#,
            tag("minimax_xml", schema)
        );
        let masker = ReplyCompiler::new(vocabulary(), options)
            .compile_structural_tag(&format)
            .unwrap();
        for text in &accepted {
            assert!(accepts(&*masker, &format!("[{text}]")), "{syntax:?}: {text} is refused");
        }
        for text in &refused {
            assert!(
                !accepts(&*masker, &format!("[{text}]")),
                "{syntax:?}: {text} is accepted"
            );
        }
    }
    // Where a parameter says whether it is a string, none is taken for another value.
    let mark = |is_string: bool, value: &str| {
        format!("<｜DSML｜parameter name=\"list\" string=\"{is_string}\">{value}</｜DSML｜parameter>")
    };
    all_of(
        "deepseek_xml",
        schema,
        &[&mark(true, "[\"a\"]"), &mark(true, "5"), &mark(false, "[5]")],
        &[&mark(false, "[\"a\"]")],
    );
}
