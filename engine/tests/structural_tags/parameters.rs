//! Parameters of calls in the styles like XML: by examples, and the table that random tags take them from.

use std::collections::BTreeSet;

use crate::matcher::{Places, Reply, spelled, symbols};
use crate::{accepts, compile, compiler, masker, vocabulary};
use maskwright::{CompileErrorKind, ExactOptions, Masker, PatternSyntax, ReplyCompiler, StringStyle};

/// The values of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// Any string.
    AnyString,
    /// Any value, as a string.
    Any,
    /// Strings with at least two characters.
    TwoCharacters,
    /// Some strings, and some other values in JSON.
    Of(&'static [&'static str], &'static [&'static str]),
}

/// A schema of arguments, with its description for the reference matcher.
pub(super) struct Arguments {
    pub(super) schema: &'static str,
    /// The parameters in their order, each with its values and whether it is required.
    pub(super) parameters: &'static [(&'static str, Value, bool)],
    /// The values of other parameters, if there may be some.
    pub(super) others: Option<Value>,
}

/// A notation of a parameter.
pub(super) struct Way {
    /// The texts before the name, between name and value, and behind the value.
    pub(super) marks: [&'static str; 3],
    /// Whether strings and whether other values are written so.
    pub(super) values: [bool; 2],
    /// Whether a string may have line breaks at its ends.
    pub(super) keeps_line_breaks: bool,
}

/// A style: its name, the notations of a parameter, and the texts that no string has.
pub(super) type Style = (&'static str, &'static [Way], &'static [&'static str]);

const fn way(marks: [&'static str; 3], values: [bool; 2], keeps_line_breaks: bool) -> Way {
    Way {
        marks,
        values,
        keeps_line_breaks,
    }
}

/// The style whose parameters say whether they are strings is the last one.
pub(super) const STYLES: [Style; 4] = [
    (
        "qwen_xml",
        &[
            way(["<parameter=", ">\n", "\n</parameter>"], [true, true], true),
            way(["<parameter=", ">", "</parameter>"], [true, true], false),
        ],
        &["</parameter>", "<parameter="],
    ),
    (
        "minimax_xml",
        &[way(["<parameter name=\"", "\">", "</parameter>"], [true, true], true)],
        &["</parameter>"],
    ),
    (
        "glm_xml",
        &[
            way(
                ["<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>"],
                [true, true],
                true,
            ),
            way(
                ["<arg_key>", "</arg_key><arg_value>", "</arg_value>"],
                [true, true],
                true,
            ),
        ],
        &["</arg_value>"],
    ),
    (
        "deepseek_xml",
        &[
            way(
                [
                    "<｜DSML｜parameter name=\"",
                    "\" string=\"true\">",
                    "</｜DSML｜parameter>",
                ],
                [true, false],
                true,
            ),
            way(
                [
                    "<｜DSML｜parameter name=\"",
                    "\" string=\"false\">",
                    "</｜DSML｜parameter>",
                ],
                [false, true],
                true,
            ),
        ],
        &["</｜DSML｜parameter>"],
    ),
];

/// Schemas of arguments. Those with values of any kind are the last ones.
pub(super) const ARGUMENTS: [Arguments; 5] = [
    Arguments {
        schema: r#"{"type": "object", "properties": {"a": {"type": "string", "description": "x"}, "b": {"enum": [1, 12]}}, "required": ["a"], "additionalProperties": false}"#,
        parameters: &[
            ("a", Value::AnyString, true),
            ("b", Value::Of(&[], &["1", "12"]), false),
        ],
        others: None,
    },
    Arguments {
        schema: r##"{"properties": {"ab": {"$ref": "#/$defs/x"}, "a": {"enum": ["é", "\n<b", "ab"]}, "c": false},
            "$defs": {"x": {"anyOf": [{"enum": ["tr", "</parameter>"]}, {"type": "boolean"}]}}, "additionalProperties": false}"##,
        parameters: &[
            ("ab", Value::Of(&["tr", "</parameter>"], &["true", "false"]), false),
            ("a", Value::Of(&["é", "\n<b", "ab"], &[]), false),
        ],
        others: None,
    },
    Arguments {
        schema: r#"{"properties": {"a": {"type": "string", "minLength": 2}}, "required": ["a", "d"], "additionalProperties": {"enum": ["ab", null]}}"#,
        parameters: &[
            ("a", Value::TwoCharacters, true),
            ("d", Value::Of(&["ab"], &["null"]), true),
        ],
        others: Some(Value::Of(&["ab"], &["null"])),
    },
    Arguments {
        schema: r#"{"type": "object", "properties": {"a": {"enum": ["aab", null]}, "b": true}, "required": ["b"]}"#,
        parameters: &[("a", Value::Of(&["aab"], &["null"]), false), ("b", Value::Any, true)],
        others: Some(Value::Any),
    },
    Arguments {
        schema: "true",
        parameters: &[],
        others: Some(Value::Any),
    },
];

impl Reply {
    /// Where parameters from the one of a number on may end.
    pub(super) fn parameters(
        &self,
        (style, arguments): (usize, usize),
        from: usize,
        at: usize,
        seen: &mut BTreeSet<(usize, usize)>,
        ends: &mut Places,
    ) {
        if !seen.insert((from, at)) {
            return;
        }
        let known = &ARGUMENTS[arguments];
        let left = &known.parameters[from..];
        let breaks = self.literal(at, &spelled("\n"));
        let may_end = left.iter().all(|(_, _, is_required)| !is_required);
        if may_end {
            ends.insert(at);
            ends.extend(breaks);
        }
        for at in [Some(at), breaks].into_iter().flatten() {
            for (number, (name, value, is_required)) in left.iter().enumerate() {
                for end in self.parameter(style, at, |text| text == *name, *value) {
                    self.parameters((style, arguments), from + number + 1, end, seen, ends);
                }
                if *is_required {
                    break;
                }
            }
            if let Some(value) = known.others.filter(|_| may_end) {
                let is_other = |name: &str| {
                    let is_declared = known.parameters.iter().any(|(declared, ..)| *declared == name);
                    let mut characters = name.chars();
                    let first = characters
                        .next()
                        .is_some_and(|first| first == '_' || first.is_ascii_alphabetic());
                    first && characters.all(|next| next == '_' || next.is_ascii_alphanumeric()) && !is_declared
                };
                for end in self.parameter(style, at, is_other, value) {
                    self.parameters((style, arguments), known.parameters.len(), end, seen, ends);
                }
            }
        }
    }

    /// Where one parameter may end.
    fn parameter(&self, style: usize, at: usize, is_name: impl Fn(&str) -> bool, value: Value) -> Places {
        let (_, ways, never) = &STYLES[style];
        let mut ends = Places::new();
        for way in *ways {
            let [before, between, after] = way.marks.map(symbols);
            let is_value = |text: &str| {
                let is_string = match value {
                    Value::Any | Value::AnyString => true,
                    Value::TwoCharacters => text.chars().count() >= 2,
                    Value::Of(strings, _) => strings.contains(&text),
                };
                let is_kept = way.keeps_line_breaks || !(text.starts_with('\n') || text.ends_with('\n'));
                let is_string = is_string && is_kept && !never.iter().any(|never| text.contains(never));
                let is_other = matches!(value, Value::Of(_, others) if others.contains(&text));
                way.values[0] && is_string || way.values[1] && is_other
            };
            let names = self.literal(at, &before).map(|at| self.text(at, &is_name));
            let values = names.into_iter().flatten().filter_map(|at| self.literal(at, &between));
            let values = values.flat_map(|at| self.text(at, is_value));
            ends.extend(values.filter_map(|at| self.literal(at, &after)));
        }
        ends
    }
}

pub(super) fn tag(style: &str, schema: &str) -> String {
    let content = format!(r#"{{"type": "json_schema", "style": "{style}", "json_schema": {schema}}}"#);
    format!(r#"{{"type": "tag", "begin": "[", "content": {content}, "end": "]"}}"#)
}

pub(super) fn all_of(style: &str, schema: &str, accepted: &[&str], refused: &[&str]) {
    let masker: Box<dyn Masker> = masker(&tag(style, schema));
    for text in accepted {
        assert!(accepts(&*masker, &format!("[{text}]")), "{style}: {text:?} is refused");
    }
    for text in refused {
        assert!(
            !accepts(&*masker, &format!("[{text}]")),
            "{style}: {text:?} is accepted"
        );
    }
}

#[test]
fn values_are_those_of_the_schema_in_the_marks_of_each_style() {
    let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 5},
        "unit": {"enum": ["c", "f"]}, "near": {"type": ["string", "null"], "minLength": 3}, "list": {"type": "array", "items": {"type": "boolean"}}},
        "required": ["city", "unit"], "additionalProperties": false}"#;
    let qwen = |name: &str, value: &str| format!("<parameter={name}>\n{value}\n</parameter>");
    let (city, unit, days) = (qwen("city", "Zürich \"<b>\"\n"), qwen("unit", "c"), qwen("days", "3"));
    all_of(
        "qwen_xml",
        schema,
        &[
            &format!("{city}\n{days}\n{unit}"),
            &format!("\n{city}{unit}\n"),
            &format!("<parameter=city>Zürich</parameter>{unit}"),
            &format!("<parameter=city></parameter>\n{unit}"),
            &format!("{city}\n{unit}\n{}", qwen("near", "null")),
            &format!("{city}\n{unit}\n{}\n{}", qwen("near", "here"), qwen("list", "[true]")),
        ],
        &[
            "",
            &city,
            &format!("{unit}\n{city}"),
            &format!("{city}\n{city}\n{unit}"),
            &format!("{city}\n\n{unit}"),
            &format!("{city}\n{}", qwen("unit", "k")),
            &format!("{city}\n{}\n{unit}", qwen("days", "6")),
            &format!("{city}\n{}\n{unit}", qwen("days", "\"3\"")),
            &format!("{city}\n{unit}\n{}", qwen("near", "no")),
            &format!("{city}\n{unit}\n{}", qwen("other", "1")),
            &format!("{}\n{unit}", qwen("city", "a<parameter=b")),
            &format!("<parameter=city>\nZürich</parameter>{unit}"),
        ],
    );
    all_of(
        "minimax_xml",
        schema,
        &["<parameter name=\"city\">a<b\n</parameter>\n<parameter name=\"unit\">f</parameter>\n"],
        &["<parameter name=\"city\">a</parameter>\n<parameter name=\"unit\">\"f\"</parameter>\n"],
    );
    all_of(
        "glm_xml",
        schema,
        &[
            "<arg_key>city</arg_key>\n<arg_value>a</arg_value>\n<arg_key>unit</arg_key>\n<arg_value>f</arg_value>\n",
            "<arg_key>city</arg_key><arg_value></arg_value><arg_key>unit</arg_key><arg_value>f</arg_value>",
        ],
        &["<arg_key>city</arg_key> <arg_value>a</arg_value><arg_key>unit</arg_key><arg_value>f</arg_value>"],
    );
    for style in ["deepseek_xml", "deepseek_v4_1_xml"] {
        let mark = if style == "deepseek_xml" {
            "｜DSML｜"
        } else {
            "｜DSML｜ "
        };
        let one = |name: &str, is_string: bool, value: &str| {
            format!("<{mark}parameter name=\"{name}\" string=\"{is_string}\">{value}</{mark}parameter>\n")
        };
        let city = one("city", true, "a");
        all_of(
            style,
            schema,
            &[
                &format!("{city}{}", one("unit", true, "c")),
                &format!("{city}{}{}", one("unit", true, "c"), one("near", false, "null")),
                &format!("{city}{}{}", one("unit", true, "c"), one("near", true, "null")),
            ],
            &[
                &format!("{city}{}", one("unit", false, "\"c\"")),
                &format!("{city}{}", one("unit", false, "c")),
                &format!("{city}{}{}", one("days", true, "3"), one("unit", true, "c")),
            ],
        );
    }
}

#[test]
fn open_objects_have_further_parameters() {
    let one = |name: &str, value: &str| format!("<parameter name=\"{name}\">{value}</parameter>");
    all_of(
        "minimax_xml",
        r#"{"properties": {"a": {"type": "integer"}}, "required": ["z"], "additionalProperties": {"type": "boolean"}}"#,
        &[
            &one("z", "true"),
            &format!("{}{}", one("a", "1"), one("z", "true")),
            &format!("{}{}{}", one("z", "true"), one("bb", "false"), one("_1", "false")),
        ],
        &[
            "",
            &one("a", "1"),
            &format!("{}{}", one("z", "true"), one("a", "1")),
            &format!("{}{}", one("z", "true"), one("1", "true")),
            &format!("{}{}", one("z", "true"), one("b", "1")),
        ],
    );
    all_of(
        "minimax_xml",
        "true",
        &[
            "",
            &one("a", "x"),
            &format!("{}\n{}", one("a", "{\"b\": 1}"), one("b", "")),
        ],
        &["<parameter name=\"\">x</parameter>", "x"],
    );
}

#[test]
fn schemas_of_arguments_are_followed_and_refused_with_their_places() {
    all_of(
        "glm_xml",
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/b"}}, "required": ["x"], "additionalProperties": false}, "b": {"enum": [true, "yes"]}}}"##,
        &[
            "<arg_key>x</arg_key><arg_value>yes</arg_value>",
            "<arg_key>x</arg_key><arg_value>true</arg_value>",
        ],
        &["<arg_key>x</arg_key><arg_value>\"yes\"</arg_value>", ""],
    );
    let place = "/format/content/json_schema";
    for (schema, kind, at) in [
        (
            r#"{"anyOf": [{"type": "object"}]}"#,
            CompileErrorKind::Unsupported,
            "/anyOf",
        ),
        (r#"{"type": "string"}"#, CompileErrorKind::Unsatisfiable, ""),
        (r#"{"type": 5}"#, CompileErrorKind::Malformed, "/type"),
        (
            r#"{"properties": {"a": true}, "required": "a"}"#,
            CompileErrorKind::Malformed,
            "/required",
        ),
        ("false", CompileErrorKind::Unsatisfiable, ""),
        (
            r#"{"properties": {"a>b": true}}"#,
            CompileErrorKind::Unsupported,
            "/properties/a>b",
        ),
        (
            r#"{"properties": {"a": false}, "required": ["a"]}"#,
            CompileErrorKind::Unsatisfiable,
            "/properties/a",
        ),
        (
            r#"{"properties": {"a": {"const": "x</parameter>"}}, "required": ["a"]}"#,
            CompileErrorKind::Unsatisfiable,
            "/properties/a",
        ),
        (
            r#"{"properties": {"a": {"type": "string", "pattern": "("}}}"#,
            CompileErrorKind::Malformed,
            "/properties/a",
        ),
        (
            r#"{"properties": {"a": {"type": "object", "properties": {"b": {"pattern": "("}}}}}"#,
            CompileErrorKind::Malformed,
            "/properties/a/properties/b",
        ),
        (
            r##"{"properties": {"a~b": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"pattern": "("}}}"##,
            CompileErrorKind::Malformed,
            "/properties/a~0b",
        ),
        (
            r#"{"required": ["a"], "additionalProperties": {"pattern": "("}}"#,
            CompileErrorKind::Malformed,
            "/additionalProperties",
        ),
        // The schema as its text.
        (r#""{\"a\": 1, \"a\": 2}""#, CompileErrorKind::Malformed, "/a"),
    ] {
        let error = compile(&tag("qwen_xml", schema)).err().unwrap();
        assert_eq!(error.kind(), kind, "{schema}: {error}");
        assert_eq!(error.pointer(), Some(&*format!("{place}{at}")), "{schema}: {error}");
    }
    let deep = format!("\"{}{}\"", "[".repeat(1_001), "]".repeat(1_001));
    let error = compile(&tag("qwen_xml", &deep)).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::LimitExceeded, "{error}");
    let old = r#"{"type": "structural_tag", "format": {"type": "qwen_xml_parameter", "json_schema": {"properties": {"a": {"type": "integer"}}, "additionalProperties": false}}}"#;
    let masker = compiler().compile_structural_tag(old).unwrap();
    assert!(accepts(&*masker, "<parameter=a>\n1\n</parameter>") && accepts(&*masker, ""));
}

#[test]
fn names_are_alike_in_all_dialects_of_patterns() {
    let format = format!(
        r#"{{"type": "structural_tag", "format": {}}}"#,
        tag("minimax_xml", "true")
    );
    for syntax in [PatternSyntax::Common, PatternSyntax::Rust, PatternSyntax::Python] {
        let mut style = maskwright::Style::generation();
        style.strings = StringStyle::any().anchored_patterns(true);
        let options = ExactOptions::default().style(style).patterns(syntax);
        let masker = ReplyCompiler::new(vocabulary(), options)
            .compile_structural_tag(&format)
            .unwrap();
        let is_name = |name: &str| accepts(&*masker, &format!("[<parameter name=\"{name}\">x</parameter>]"));
        assert!(is_name("_a1") && is_name("Z"), "{syntax:?}");
        for name in ["", "a\n", "\n", "1a", "a-", "é"] {
            assert!(!is_name(name), "{syntax:?}: {name:?}");
        }
    }
}

/// Each form of a value that refers to the schema of all arguments reads that schema anew.
#[test]
fn references_to_the_schema_of_arguments_are_bounded() {
    let schema = |count: usize| {
        let names: Vec<String> = (0..count)
            .map(|number| format!(r##""p{number}": {{"$ref": "#/$defs/s"}}"##))
            .collect();
        format!(
            r#"{{"properties": {{{}}}, "$defs": {{"s": {{"enum": ["ab"]}}}}, "additionalProperties": false}}"#,
            names.join(",")
        )
    };
    let few = schema(100);
    all_of(
        "minimax_xml",
        &few,
        &["<parameter name=\"p7\">ab</parameter><parameter name=\"p99\">ab</parameter>"],
        &["<parameter name=\"p99\">a</parameter>"],
    );
    let error = compile(&tag("qwen_xml", &schema(5_000))).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::LimitExceeded, "{error}");
    assert!(error.message().contains("memory_bytes"), "{error}");
    let place = error.pointer().unwrap();
    assert!(place.starts_with("/format/content/json_schema/properties/p"), "{error}");
}

/// Names of parameters that a tool does not declare are told apart from those that it does, however many tools there are.
#[test]
fn many_tools_have_further_parameters() {
    for (style, ..) in STYLES {
        let tags: Vec<String> = (0..128)
            .map(|tool| {
                let kinds = ["string", "integer", "boolean"].iter().cycle().zip(0..8);
                let names = kinds.map(|(kind, name)| format!(r#""parameter_{tool}_{name}": {{"type": "{kind}"}}"#));
                let schema = format!(
                    r#"{{"type": "object", "properties": {{{}}}}}"#,
                    Vec::from_iter(names).join(",")
                );
                let content = format!(r#"{{"type": "json_schema", "style": "{style}", "json_schema": {schema}}}"#);
                format!(r#"{{"begin": "<call {tool}>", "content": {content}, "end": "</call>"}}"#)
            })
            .collect();
        let format = format!(
            r#"{{"type": "triggered_tags", "triggers": ["<call "], "tags": [{}]}}"#,
            tags.join(",")
        );
        let masker = masker(&format);
        assert!(
            accepts(&*masker, "<call 7></call>") && !accepts(&*masker, "<call 128></call>"),
            "{style}"
        );
    }
}

#[test]
fn the_last_of_many_parameters_is_refused_with_its_place() {
    let names: Vec<String> = (0..200_000).map(|number| format!("\"p{number}\": true")).collect();
    let schema = format!(r#"{{"properties": {{{}, "<": true}}}}"#, names.join(","));
    let error = compile(&tag("qwen_xml", &schema)).err().unwrap();
    assert_eq!(
        error.pointer(),
        Some("/format/content/json_schema/properties/<"),
        "{error}"
    );
}

#[test]
fn too_many_parameters_of_different_schemas_are_refused_before_any_is_compiled() {
    let schemas: Vec<String> = (0..20_000)
        .map(|number| format!(r#""p{number}": {{"maximum": {number}}}"#))
        .collect();
    let schema = format!(r#"{{"properties": {{{}}}}}"#, schemas.join(","));
    let error = compile(&tag("qwen_xml", &schema)).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::LimitExceeded, "{error}");
    let place = error.pointer().unwrap();
    assert!(place.starts_with("/format/content/json_schema/properties/p"), "{error}");
}

#[test]
fn the_last_of_many_structures_is_refused_with_its_place() {
    let structures = r#"{"begin": "<a>", "schema": true, "end": "</a>"},"#.repeat(200_000);
    let tag = format!(r#"{{"structures": [{structures} {{}}], "triggers": ["<"]}}"#);
    let error = compiler().compile_structural_tag(&tag).err().unwrap();
    assert_eq!(error.pointer(), Some("/structures/200000"), "{error}");
}

/// Calls with parameters that may be strings or lists of strings come one after the other: no value has a mark at which it ends.
#[test]
fn parameters_of_several_types_may_come_again() {
    for value in [
        r#"{"type": ["string", "array"], "items": {"type": "string"}}"#,
        r#"{"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}, {"type": "array"}]}"#,
    ] {
        for (style, ways, _) in &STYLES {
            let schema =
                format!(r#"{{"properties": {{"u": {value}}}, "required": ["u"], "additionalProperties": false}}"#);
            let tags = format!(
                r#"{{"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": [{{"begin": "<tool_call>f", "end": "</tool_call>",
                    "content": {{"type": "json_schema", "style": "{style}", "json_schema": {schema}}}}}]}}"#
            );
            let masker = masker(&tags);
            let [open, between, behind] = ways[ways.len() - 1].marks;
            let call = |value: &str| format!("<tool_call>f{open}u{between}{value}{behind}</tool_call>");
            let strings = ways.iter().any(|way| way.values == [true, true]);
            let lists = format!("{}é{}", call(r#"["a","<b>"]"#), call("[]"));
            assert!(accepts(&*masker, &lists), "{tags}");
            assert_eq!(
                accepts(&*masker, &format!("{}{}", call("a"), call("[1"))),
                strings,
                "{tags}"
            );
            assert!(!accepts(&*masker, &call(&format!(r#"["{behind}"]"#))), "{tags}");
        }
    }
}
