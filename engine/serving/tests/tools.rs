//! Calls of tools in the formats of families of models.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use maskwright::{ExactOptions, TokenId, Vocabulary};
use maskwright_serving::tools::{ToolChoice, ToolError, ToolFormat, structural_tag};
use maskwright_serving::{MatcherOptions, SchemaCompiler};
use serde_json::{Value, json};

const SPECIAL: [&str; 12] = [
    "<|channel|>",
    "<|message|>",
    "<|call|>",
    "<|end|>",
    "<|start|>",
    "<|constrain|>",
    "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<|return|>",
];

fn compiler() -> SchemaCompiler {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    for (id, name) in (256..).zip(SPECIAL) {
        builder = builder.special(id, name).unwrap();
    }
    let end = 255 + SPECIAL.len() as TokenId;
    let vocabulary = builder.eos([end, 258]).build().unwrap();
    SchemaCompiler::new(Arc::new(vocabulary), ExactOptions::default(), 1 << 30)
}

/// The tokens of a text in which special tokens stand by their names.
fn tokens(mut text: &str) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    while let Some(byte) = text.bytes().next() {
        match (256..).zip(SPECIAL).find(|(_, name)| text.starts_with(name)) {
            Some((id, name)) => {
                tokens.push(id);
                text = &text[name.len()..];
            }
            None => {
                tokens.push(byte.into());
                let length = text.chars().next().unwrap().len_utf8();
                tokens.extend(text.bytes().take(length).skip(1).map(TokenId::from));
                text = &text[length..];
            }
        }
    }
    tokens
}

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
    json!([
        {"type": "function", "function": {"name": "weather", "parameters": schema}},
        {"type": "function", "function": {"name": "time", "parameters": {"type": "integer"}, "strict": false}},
    ])
}

/// For each format a call of `weather`, and one of `time` behind it where there may be several.
fn calls(format: ToolFormat, arguments: &str) -> (String, String) {
    match format {
        ToolFormat::Json => {
            let one = format!(r#"{{"name": "weather", "parameters": {arguments}}}"#);
            (one.clone(), format!(r#"{one}{{"name": "time", "parameters": {{}}}}"#))
        }
        ToolFormat::Hermes => {
            let one = format!("<tool_call>\n{{\"name\": \"weather\", \"arguments\": {arguments}}}\n</tool_call>");
            (
                one.clone(),
                format!("{one}\n<tool_call>\n{{\"name\": \"time\", \"arguments\": {{}}}}\n</tool_call>"),
            )
        }
        ToolFormat::Mistral => {
            let one = format!(r#"{{"name": "weather", "arguments": {arguments}}}"#);
            (
                format!("[TOOL_CALLS][{one}]"),
                format!(r#"[TOOL_CALLS][{one}, {{"name": "time", "arguments": {{}}}}]"#),
            )
        }
        ToolFormat::DeepSeek => {
            let call = |name: &str, arguments: &str| {
                format!(
                    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>"
                )
            };
            let all = |calls: &str| format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>");
            let one = call("weather", arguments);
            (all(&one), all(&format!("{one}\n{}", call("time", "{}"))))
        }
        ToolFormat::DeepSeekV31 => {
            let call = |name: &str, arguments: &str| {
                format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>")
            };
            let all = |calls: &str| format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>");
            let one = call("weather", arguments);
            (all(&one), all(&format!("{one}{}", call("time", "{}"))))
        }
        ToolFormat::Harmony => {
            let call = |name: &str, arguments: &str| {
                format!("<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>")
            };
            let one = call("weather", arguments);
            (one.clone(), format!("{one}<|start|>assistant{}", call("time", "{}")))
        }
        ToolFormat::QwenXml | ToolFormat::Glm | ToolFormat::MiniMax | ToolFormat::DeepSeekV32 => {
            // The city as it stands in the arguments: a string, or a number, which is none of its schema.
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let city = arguments["city"].as_str().map(|city| city.to_owned());
            let name = if city.is_some() { "city" } else { "town" };
            let city = city.unwrap_or_default();
            match format {
                ToolFormat::QwenXml => {
                    let one = format!(
                        "<tool_call>\n<function=weather>\n<parameter={name}>\n{city}\n</parameter>\n</function>\n</tool_call>"
                    );
                    let two = format!("{one}\n<tool_call>\n<function=time>\n</function>\n</tool_call>");
                    (one, two)
                }
                ToolFormat::Glm => {
                    let one = format!(
                        "<tool_call>weather\n<arg_key>{name}</arg_key>\n<arg_value>{city}</arg_value>\n</tool_call>"
                    );
                    let two = format!("{one}\n<tool_call>time\n</tool_call>");
                    (one, two)
                }
                _ => {
                    let (mark, all) = match format {
                        ToolFormat::MiniMax => ("", "minimax:tool_call"),
                        _ => ("｜DSML｜", "｜DSML｜function_calls"),
                    };
                    let kind = if mark.is_empty() { "" } else { " string=\"true\"" };
                    let weather = format!(
                        "<{mark}invoke name=\"weather\">\n<{mark}parameter name=\"{name}\"{kind}>{city}</{mark}parameter>\n</{mark}invoke>\n"
                    );
                    let time = format!("<{mark}invoke name=\"time\">\n</{mark}invoke>\n");
                    let section = |calls: &str| format!("<{all}>\n{calls}</{all}>");
                    (section(&weather), section(&format!("{weather}{time}")))
                }
            }
        }
        _ => panic!("{format:?}"),
    }
}

fn accepts(tag: &Value, text: &str) -> bool {
    let compiled = compiler()
        .structural_tag(&tag.to_string())
        .unwrap_or_else(|error| panic!("{tag}: {error}"));
    let mut matcher = compiled.matcher(&MatcherOptions::default()).unwrap();
    let tokens = tokens(text);
    matcher.accept_all(&tokens).unwrap() == tokens.len() && matcher.is_completed().unwrap()
}

#[test]
fn every_family_calls_tools_in_its_format() {
    let formats: std::collections::HashSet<ToolFormat> = ToolFormat::NAMES.iter().map(|(_, format)| *format).collect();
    for format in formats {
        let (one, two) = calls(format, r#"{"city": "Bern"}"#);
        let (wrong, _) = calls(format, r#"{"city": 1}"#);
        let text = match format {
            ToolFormat::Harmony => "<|channel|>final<|message|>Hello",
            _ => "Hello",
        };
        let tag = |choice, parallel| structural_tag(format, &tools(), &choice, parallel).unwrap();
        let auto = tag(ToolChoice::Auto, true);
        for (reply, expected) in [(&one[..], true), (&two, true), (text, true), (&wrong, false)] {
            assert_eq!(accepts(&auto, reply), expected, "{format:?}: {reply}");
        }
        let single = tag(ToolChoice::Auto, false);
        assert!(accepts(&single, &one) && !accepts(&single, &two), "{format:?}");
        let required = tag(ToolChoice::Required, true);
        assert!(
            accepts(&required, &one) && accepts(&required, &two) && !accepts(&required, text),
            "{format:?}"
        );
        let chosen = tag(ToolChoice::Function("time".into()), true);
        assert!(!accepts(&chosen, &one) && !accepts(&chosen, &two), "{format:?}");
        let none = tag(ToolChoice::None, true);
        assert!(accepts(&none, text), "{format:?}");
        assert!(!accepts(&none, &one), "{format:?}: {one}");
    }
    let thinking = "<|channel|>analysis<|message|>Well<|end|><|start|>assistant";
    let tag = structural_tag(ToolFormat::Harmony, &tools(), &ToolChoice::Required, false).unwrap();
    assert!(accepts(
        &tag,
        &format!("{thinking}{}", calls(ToolFormat::Harmony, r#"{"city": ""}"#).0)
    ));
}

/// A call may end the answer, and another may follow all the same: the first is the end again once the other is taken back.
#[test]
fn an_end_that_was_passed_is_found_again() {
    let tag = structural_tag(ToolFormat::Harmony, &tools(), &ToolChoice::Required, true).unwrap();
    let compiled = compiler().structural_tag(&tag.to_string()).unwrap();
    let mut matcher = compiled.matcher(&MatcherOptions::default()).unwrap();
    let (one, two) = calls(ToolFormat::Harmony, r#"{"city": "Bern"}"#);
    let (one, two) = (tokens(&one), tokens(&two));
    assert_eq!(matcher.accept_all(&one).unwrap(), one.len());
    assert!(matcher.is_terminated());
    let further = &two[one.len()..];
    assert!(matcher.accept(further[0]).unwrap() && !matcher.is_terminated());
    matcher.rollback(1).unwrap();
    assert!(matcher.is_terminated());
    assert_eq!(matcher.validate(further).unwrap(), further.len());
    assert!(matcher.is_terminated());
    assert_eq!(matcher.accept_all(further).unwrap(), further.len());
    assert!(matcher.is_terminated());
    let mut fork = matcher.fork().unwrap();
    fork.rollback(further.len()).unwrap();
    assert!(fork.is_terminated());
    fork.rollback(1).unwrap();
    assert!(!fork.is_terminated() && matcher.is_terminated());
}

#[test]
fn formats_are_known_by_name_and_by_template() {
    assert_eq!(ToolFormat::from_name("qwen3"), Some(ToolFormat::Hermes));
    assert_eq!(ToolFormat::from_name("none"), None);
    for (template, format) in [
        (
            r#"<tool_call>\n{"name": <name>, "arguments": <args>}"#,
            Some(ToolFormat::Hermes),
        ),
        ("{{ '[TOOL_CALLS]' }}", Some(ToolFormat::Mistral)),
        ("<tool_call>\n<function=name>", None),
        ("<tool_call>\n<function=name>\n<parameter=a>", Some(ToolFormat::QwenXml)),
        ("<arg_key>{{ k }}</arg_key>\n<arg_value>", Some(ToolFormat::Glm)),
        ("{% set begin = '<minimax:tool_call>' %}", Some(ToolFormat::MiniMax)),
        ("<｜DSML｜function_calls>", Some(ToolFormat::DeepSeekV32)),
        ("<|channel|>commentary", Some(ToolFormat::Harmony)),
    ] {
        assert_eq!(ToolFormat::of_chat_template(template), format, "{template}");
    }
}

#[test]
fn what_is_no_list_of_tools_is_refused() {
    let all = |tools: Value, choice| structural_tag(ToolFormat::Json, &tools, &choice, true).unwrap_err();
    assert!(
        matches!(all(json!([{"function": {"name": "a\""}}]), ToolChoice::Auto), ToolError::Malformed { pointer, .. } if pointer == "/0/function/name")
    );
    assert!(matches!(all(json!([{}]), ToolChoice::Auto), ToolError::Malformed { pointer, .. } if pointer == "/0"));
    assert_eq!(
        all(tools(), ToolChoice::Function("x".into())),
        ToolError::UnknownTool("x".into())
    );
    assert_eq!(all(json!([]), ToolChoice::Required), ToolError::NoTool);
    let choice = json!({"type": "function", "function": {"name": "time"}});
    assert_eq!(
        ToolChoice::from_json(&choice).unwrap(),
        ToolChoice::Function("time".into())
    );
    assert!(ToolChoice::from_json(&json!("any")).is_err());
}

/// Arguments are objects, whatever else the schema of a tool's parameters allows.
#[test]
fn arguments_are_objects() {
    let with = |parameters: Value| {
        let tools = json!([{"type": "function", "function": {"name": "weather", "parameters": parameters}}]);
        structural_tag(ToolFormat::Json, &tools, &ToolChoice::Required, false)
    };
    let city = json!({"properties": {"city": {"type": "string"}}, "required": ["city"]});
    let older = json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": city}});
    for parameters in [
        city.clone(),
        older,
        json!({"type": ["null", "object"], "required": ["city"]}),
        json!({"$ref": "#/$defs/a", "allOf": [{"maxProperties": 1}], "$defs": {"a": {"required": ["city"]}}}),
    ] {
        let tag = with(parameters.clone()).unwrap();
        for (arguments, expected) in [
            (r#"{"city": "Bern"}"#, true),
            ("{}", false),
            ("1", false),
            ("null", false),
        ] {
            let reply = format!(r#"{{"name": "weather", "parameters": {arguments}}}"#);
            assert_eq!(accepts(&tag, &reply), expected, "{parameters}: {arguments}");
        }
    }
    assert!(accepts(
        &with(json!(true)).unwrap(),
        r#"{"name": "weather", "parameters": {}}"#
    ));
    for parameters in [
        json!({"type": "string"}),
        json!(false),
        json!({"type": ["null", "array"]}),
        json!(3),
    ] {
        let error = with(parameters.clone()).unwrap_err();
        let ToolError::Malformed { pointer, .. } = error else {
            panic!("{parameters}: {error}")
        };
        assert_eq!(pointer, "/0/function/parameters", "{parameters}");
    }
}
