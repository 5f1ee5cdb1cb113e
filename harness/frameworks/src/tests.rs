//! The frameworks of this program, under the contract.

#[path = "contract.rs"]
mod contract;

use std::collections::BTreeMap;
use std::sync::Arc;

use ::maskwright::Vocabulary;
use contract::Subject;
use maskwright_serving::tools::{ToolChoice, ToolFormat, structural_tag};
use maskwright_worker::{Grammar, Purpose, Setup};

use super::BUILT_IN_FRAMEWORKS;

fn subjects() -> impl Iterator<Item = Subject> {
    BUILT_IN_FRAMEWORKS.iter().map(|framework| Subject {
        name: framework.name,
        prepare: Box::new(|vocabulary| {
            let documents = BTreeMap::new();
            let setup = Setup {
                vocabulary,
                documents,
                assert_formats: false,
                purpose: Purpose::Judge,
                style: Default::default(),
                grammar: Grammar::JsonSchema,
            };
            (framework.prepare)(&setup).unwrap()
        }),
    })
}

/// A run's changes to the style hold where a model writes, and not where documents are judged.
#[test]
fn the_style_of_a_run_reaches_our_engine() {
    let mut builder = Vocabulary::builder();
    for byte in 0..=u8::MAX {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let vocabulary = Arc::new(builder.special(256, "<end>").unwrap().eos([256]).build().unwrap());
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
    let takes = |name: &str, purpose, style: &str| {
        let framework = BUILT_IN_FRAMEWORKS
            .iter()
            .find(|framework| framework.name == name)
            .unwrap();
        let setup = Setup {
            vocabulary: vocabulary.clone(),
            documents: BTreeMap::new(),
            assert_formats: true,
            purpose,
            style: serde_json::from_str(style).unwrap(),
            grammar: Grammar::JsonSchema,
        };
        let mut masker = (framework.prepare)(&setup).unwrap().compile(schema).unwrap();
        br#"{"b":1}"#.iter().all(|byte| masker.advance(u32::from(*byte)).is_ok())
    };
    let closed = r#"{"closed": true}"#;
    assert!(takes("maskwright", Purpose::Generate, "{}") && !takes("maskwright", Purpose::Generate, closed));
    assert!(takes("maskwright", Purpose::Judge, closed));
    assert!(takes("maskwright-generation", Purpose::Judge, "{}"));
    assert!(!takes("maskwright-generation", Purpose::Judge, closed));
}

/// Every framework that compiles structural tags allows the calls of every format that it compiles, and no invalid one.
#[test]
fn structural_tags_allow_calls_that_are_valid() {
    const SPECIAL: [&str; 4] = ["<|channel|>", "<|message|>", "<|call|>", "[TOOL_CALLS]"];
    let mut builder = Vocabulary::builder();
    for byte in 0..=u8::MAX {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    for (id, name) in (256..).zip(SPECIAL) {
        builder = builder.special(id, name).unwrap();
    }
    let vocabulary = Arc::new(builder.special(300, "<end>").unwrap().eos([300]).build().unwrap());
    let schema = serde_json::json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false});
    let tools = serde_json::json!([
        {"type": "function", "function": {"name": "one", "parameters": schema}},
        {"type": "function", "function": {"name": "two", "parameters": schema}},
    ]);
    // The tokens of a text in which special tokens stand by their names.
    let tokens = |mut text: &str| {
        let mut tokens = Vec::new();
        while !text.is_empty() {
            match (256..).zip(SPECIAL).find(|(_, name)| text.starts_with(name)) {
                Some((id, name)) => {
                    tokens.push(id);
                    text = &text[name.len()..];
                }
                None => {
                    let length = text.chars().next().unwrap().len_utf8();
                    tokens.extend(text.bytes().take(length).map(u32::from));
                    text = &text[length..];
                }
            }
        }
        tokens
    };
    let one = r#"{"a": 1}"#;
    for framework in BUILT_IN_FRAMEWORKS.iter().filter(|framework| framework.structural_tags) {
        let setup = Setup {
            vocabulary: vocabulary.clone(),
            documents: BTreeMap::new(),
            assert_formats: true,
            purpose: Purpose::Generate,
            style: Default::default(),
            grammar: Grammar::StructuralTag,
        };
        let compiler = (framework.prepare)(&setup).unwrap();
        let allows = |tag: &serde_json::Value, text: &str| {
            let mut masker = compiler
                .compile(&tag.to_string())
                .unwrap_or_else(|error| panic!("{}: {error}: {tag}", framework.name));
            let taken = tokens(text).into_iter().all(|token| {
                let is_allowed = masker.mask().unwrap().allows(token);
                is_allowed && masker.advance(token).is_ok()
            });
            taken && masker.is_complete().unwrap()
        };
        let call = |format: ToolFormat, name: &str, arguments: &str| match format {
            ToolFormat::Hermes => {
                format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>")
            }
            ToolFormat::Mistral => format!("[TOOL_CALLS][{{\"name\": \"{name}\", \"arguments\": {arguments}}}]"),
            ToolFormat::Harmony => {
                format!("<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>")
            }
            _ => format!("{{\"name\": \"{name}\", \"parameters\": {arguments}}}"),
        };
        for format in [
            ToolFormat::Json,
            ToolFormat::Hermes,
            ToolFormat::Mistral,
            ToolFormat::Harmony,
        ] {
            let tag = |choice| structural_tag(format, &tools, &choice, true).unwrap();
            let text = match format {
                ToolFormat::Harmony => "<|channel|>final<|message|>Hello, I < you",
                _ => "Hello, I < you",
            };
            let (auto, required) = (tag(ToolChoice::Auto), tag(ToolChoice::Required));
            let place = format!("{}, {format:?}", framework.name);
            for tag in [&auto, &required] {
                assert!(allows(tag, &call(format, "two", one)), "{place}");
                assert!(!allows(tag, &call(format, "two", "{}")), "{place}");
                assert!(!allows(tag, &call(format, "three", one)), "{place}");
            }
            assert!(allows(&auto, text) && !allows(&required, text), "{place}");
            let second = tag(ToolChoice::Function("two".to_owned()));
            assert!(allows(&second, &call(format, "two", one)), "{place}");
            assert!(!allows(&second, &call(format, "one", one)), "{place}");
            // Text of gpt-oss is messages, which special tokens begin: not every framework has these in free text.
            if format != ToolFormat::Harmony {
                let none = tag(ToolChoice::None);
                assert!(allows(&none, text), "{place}");
                assert!(!allows(&none, &call(format, "one", one)), "{place}");
            }
        }
        let both = format!(
            "{} and\n{}",
            call(ToolFormat::Hermes, "one", one),
            call(ToolFormat::Hermes, "two", one)
        );
        let tag = structural_tag(ToolFormat::Hermes, &tools, &ToolChoice::Auto, true).unwrap();
        assert!(
            allows(&tag, &both) && allows(&tag, &format!("So: {both}.")),
            "{}",
            framework.name
        );
        let tag = structural_tag(ToolFormat::Hermes, &tools, &ToolChoice::Auto, false).unwrap();
        assert!(!allows(&tag, &both), "{}", framework.name);
    }
}
