//! Tokens that end a name and go on behind it.

use super::{agree, vocabulary};
use crate::exact::{ExactCompiler, ExactOptions};
use crate::{Compiler as _, TokenId};

/// What may come behind a name is mostly said by the kind of its value and by whether other members may come. How far
/// tokens go behind the value is different from vocabulary to vocabulary.
#[test]
fn what_comes_behind_a_listed_name_depends_on_what_may_follow_its_value() {
    let few = [
        "\":",
        "\":[",
        "\":[]",
        "\":[],",
        "\":\"\",",
        "\":\"\",\"",
        "a\":[],\"",
        "b\":{",
        "\",",
        "a",
        "ab",
    ];
    let names_begin = ["\":[],\"a", "b\":[],\"b", "\":\"\",\"x"];
    let names_end = ["\":[],\"a\"", "\":\"\",\"x\":"];
    let containers_end = ["\":[]}", "\":\"\"}]", "b\":{}}", "\":[]},"];
    let numbers = ["\":1", "\":1,", "b\":-"];
    let vocabularies = [
        vocabulary(&few),
        vocabulary(&[&few[..], &names_begin].concat()),
        vocabulary(&[&few[..], &names_begin, &names_end].concat()),
        vocabulary(&[&few[..], &containers_end].concat()),
        vocabulary(&[&few[..], &numbers].concat()),
        vocabulary(&[&few[..], &names_begin, &names_end, &containers_end, &numbers].concat()),
    ];
    let any = r#"{"type": ["array", "string", "object"]}"#;
    let properties = format!(
        r#""properties": {{"a": {any}, "ab": {any}, "b": {any}, "aab": {{"type": "array", "minItems": 1}}, "x": {{"type": "integer"}},
            "xb": {{"type": "integer"}}, "": {any}}}"#
    );
    let closed = format!(r#"{properties}, "additionalProperties": false"#);
    let objects = [
        properties.clone(),
        closed.clone(),
        format!(r#"{closed}, "required": ["b", "x"]"#),
        format!(r#"{closed}, "maxProperties": 3"#),
        format!(r#"{properties}, "required": ["b"], "minProperties": 2"#),
        format!(r#"{closed}, "patternProperties": {{"^[xy]+$": true}}"#),
        format!(r#"{properties}, "patternProperties": {{"^a": {{"type": "array"}}}}"#),
        format!(r#""properties": {{"a": {any}}}, "additionalProperties": false"#),
        format!(r#""properties": {{"a": {any}, "b": {any}}}, "additionalProperties": false, "required": ["a", "b"]"#),
    ];
    let texts = [
        r#"{"x":1,"b":[],"a":"","aab":[0],"ab":{},"":[],"xb":1}"#,
        r#"{"":"","a":[],"b":"","x":0,"ab":[]}"#,
        r#"{"a":"","b":[]}"#,
        r#"{"b":"","a":[],"c":1}"#,
    ];
    for vocabulary in vocabularies {
        let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default());
        for object in &objects {
            let object = format!(r#"{{"type": "object", {object}}}"#);
            let list = format!(r#"{{"items": {object}}}"#);
            for (schema, before) in [(&object, ""), (&list, "[")] {
                let start = compiler.compile(schema).unwrap();
                for text in texts {
                    let mut masker = start.fork().unwrap();
                    let text = format!("{before}{text}");
                    for (place, byte) in text.bytes().enumerate() {
                        agree(&mut *masker, &vocabulary, &format!("{schema}: {}", &text[..place]));
                        if masker.advance(TokenId::from(byte)).is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }
}
