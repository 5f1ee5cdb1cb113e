//! Chat templates, against the texts that transformers renders from the same templates and messages (templates/expected.json,
//! written by scripts/compare-transformers/chat_templates.py).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use maskwright_models::{Family, LoadOptions, LoadedModel, Message, ModelError, ModelSource, RandomCheckpoint, load};
use serde_json::{Value, json};

#[derive(serde::Deserialize)]
struct Case {
    messages: Vec<Message>,
    variables: BTreeMap<String, Value>,
}

fn templates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/templates")
}

fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    serde_json::from_slice(&fs::read(templates().join(file)).unwrap()).unwrap()
}

/// A model whose directory has these files too.
fn model(files: &[(&str, &str)]) -> Result<LoadedModel, ModelError> {
    let directory = tempfile::tempdir().unwrap();
    RandomCheckpoint::preset(Family::Llama, "tiny")
        .unwrap()
        .write(directory.path())
        .unwrap();
    let special =
        json!({"bos_token": "<|bos|>", "eos_token": {"content": "<|eos|>", "special": true}, "pad_token": "<|pad|>"});
    fs::write(directory.path().join("tokenizer_config.json"), special.to_string()).unwrap();
    for (file, text) in files {
        let path = directory.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let options = LoadOptions {
        clock: Some("2026-01-05T12:30:00".parse().unwrap()),
        ..LoadOptions::default()
    };
    load(&ModelSource::Directory(directory.path().to_owned()), &options)
}

#[test]
fn templates_render_as_in_transformers() {
    let expected: BTreeMap<String, Vec<Option<String>>> = read("expected.json");
    let cases: Vec<Case> = read("cases.json");
    for (name, expected) in expected {
        let text = fs::read_to_string(templates().join(format!("{name}.jinja"))).unwrap();
        let model = model(&[("chat_template.jinja", &text)]).unwrap();
        for (number, (case, expected)) in cases.iter().zip(expected).enumerate() {
            match (model.render_prompt_with(&case.messages, &case.variables), expected) {
                (Ok(prompt), Some(expected)) => assert_eq!(prompt, expected, "{name}, case {number}"),
                (Err(ModelError::ChatTemplate { .. }), None) => {}
                (got, expected) => panic!("{name}, case {number}: {got:?}, expected {expected:?}"),
            }
        }
    }
}

#[test]
fn a_template_may_be_in_any_of_three_files() {
    let messages = [Message::user("x")];
    let template = "{{ messages[0].content }}!";
    let in_json = json!({"chat_template": template}).to_string();
    let named =
        json!({"chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": template}]})
            .to_string();
    for file in [
        ("chat_template.jinja", template),
        ("chat_template.json", in_json.as_str()),
        ("tokenizer_config.json", in_json.as_str()),
        ("tokenizer_config.json", named.as_str()),
    ] {
        let model = model(&[file]).unwrap();
        assert_eq!(model.render_prompt(&messages).unwrap(), "x!", "{file:?}");
    }
}

#[test]
fn prompts_with_tools_have_a_template_of_their_own_where_there_is_one() {
    let (plain, with_tools) = (
        "{{ messages[0].content }}!",
        "{{ tools | tojson }} {{ messages[0].content }}?",
    );
    let listed = json!([{"name": "default", "template": plain}, {"name": "tool_use", "template": with_tools}]);
    let messages = [Message::user("x")];
    let in_config = [listed, json!({"default": plain, "tool_use": with_tools})];
    let in_config = in_config.map(|named| vec![("tokenizer_config.json", json!({"chat_template": named}).to_string())]);
    let in_files = vec![
        ("chat_template.jinja", plain.to_owned()),
        ("additional_chat_templates/tool_use.jinja", with_tools.to_owned()),
    ];
    for files in in_config.into_iter().chain([in_files]) {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let model = model(&files).unwrap();
        assert!(model.takes_tools());
        assert_eq!(model.render_prompt(&messages).unwrap(), "x!");
        let with = |tools: Value| model.render_prompt_with_tools(&messages, &tools, false).unwrap();
        assert_eq!(with(json!([1])), "[1] x?");
        assert_eq!(with(Value::Null), "x!");
        assert_eq!(
            (model.chat_template(), model.tool_template()),
            (Some(plain), Some(with_tools))
        );
    }
    let config = json!({"chat_template": plain}).to_string();
    let model = model(&[("tokenizer_config.json", &config)]).unwrap();
    assert!(!model.takes_tools());
    assert_eq!(model.tool_template(), Some(plain));
}

#[test]
fn a_template_that_refuses_system_messages_gets_their_text_in_the_first_question() {
    let said = |role: &str| {
        format!("{{% if messages[0].role == '{role}' %}}{{{{ raise_exception('no {role} role') }}}}{{% endif %}}")
    };
    let turns = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}";
    let messages = [
        Message::system("Be brief."),
        Message::user("Hello"),
        Message::assistant("Hi"),
        Message::user("Bye"),
    ];
    let strict = format!("{}{turns}", said("system"));
    let strict = model(&[("chat_template.jinja", &strict)]).unwrap();
    let folded = "user: Be brief.\n\nHello\nassistant: Hi\nuser: Bye\n";
    assert_eq!(strict.render_prompt(&messages).unwrap(), folded);
    assert!(strict.notices().concat().contains("refuses system messages"));
    let plain = model(&[("chat_template.jinja", turns)]).unwrap();
    assert!(
        plain
            .render_prompt(&messages)
            .unwrap()
            .starts_with("system: Be brief.\nuser: Hello\n")
    );
    assert!(plain.notices().is_empty());
    // What is refused either way is told as it was asked.
    for (refused, messages) in [("user", &messages[..]), ("system", &messages[..1])] {
        let template = said("system") + &said(refused) + turns;
        let strict = model(&[("chat_template.jinja", &template)]).unwrap();
        let error = strict.render_prompt(messages).unwrap_err().to_string();
        assert!(error.contains("the template refuses: no system role"), "{error}");
    }
}

#[test]
fn without_a_template_the_contents_stand_alone() {
    let model = model(&[]).unwrap();
    assert!(!model.has_chat_template());
    assert!(model.notices().concat().contains("has no chat template"));
    let prompt = model
        .render_prompt(&[Message::system("Be brief."), Message::user("Hello")])
        .unwrap();
    assert_eq!(prompt, "Be brief.\n\nHello\n\n");
}

#[test]
fn a_template_that_writes_the_beginning_of_sequence_gets_no_second_one() {
    let with = model(&[("chat_template.jinja", "{{ bos_token }}{{ messages[0].content }}")]).unwrap();
    let prompt = with.render_prompt(&[Message::user("a")]).unwrap();
    assert_eq!(with.encode_prompt(&prompt).unwrap(), [256, 97]);
}

#[test]
fn hostile_and_broken_templates_are_errors() {
    for (template, expected) in [
        (
            "{% for i in range(1000) %}{% for j in range(1000) %}{% for k in range(1000) %}x{% endfor %}{% endfor %}{% endfor %}",
            "steps",
        ),
        (
            "{% for i in range(1000) %}{{ 'x' * 10000 }}{% endfor %}",
            "more than 8 MiB",
        ),
        ("{{ 'x' * 90000000 }}", "more than 8 MiB"),
        ("{{ 'a\nb' | indent(1000000000000) }}", "indent: a width over"),
        ("{{ 'a\nb' | indent(width=1000000000000) }}", "indent: a width over"),
        (
            "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [[[[ns.x]]]] %}{% endfor %}\
             {% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "steps",
        ),
        ("{%}{{ messages }}", "chat_template.jinja"),
        ("{{ messages", "chat_template.jinja"),
        ("{% include 'other' %}", "other"),
        ("{{ messages.nothing.at_all }}", "chat_template.jinja"),
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
    ] {
        let result =
            model(&[("chat_template.jinja", template)]).and_then(|model| model.render_prompt(&[Message::user("x")]));
        let message = result.expect_err(template).to_string();
        assert!(message.contains(expected), "{template}: {message}");
    }
    let indented = "{{ 'a\nb' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\nb' | indent(width=1) }}";
    let model = model(&[("chat_template.jinja", indented)]).unwrap();
    let prompt = model.render_prompt(&[Message::user("x")]).unwrap();
    assert_eq!(prompt, "a\n    b|  a\n  b|a\n b");
}

#[test]
fn a_template_too_deep_is_an_error() {
    let deep = "{{ ".to_owned() + &"(".repeat(100_000) + "1" + &")".repeat(100_000) + " }}";
    assert!(model(&[("chat_template.jinja", &deep)]).is_err());
}
