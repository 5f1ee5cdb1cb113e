//! How models are asked: options of `bench`, `quality` and `ifstruct run`, with the built-in model and with a server.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::chat_server::{ChatServer, says};

fn program(arguments: &[&str], options: &[&str], out: &Path) -> Output {
    super::program::program()
        .args(arguments)
        .args(options)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap()
}

fn bench(options: &[&str], out: &Path) -> Output {
    let arguments = [
        "bench",
        "--frameworks",
        "maskwright,none",
        "--limit",
        "2",
        "--threads",
        "1",
        "--max-tokens",
        "40",
    ];
    program(&arguments, options, out)
}

/// The records of a run and its manifest.
fn written(output: &Output, out: &Path) -> (Vec<Value>, Value) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let records = fs::read_to_string(out.join("records.jsonl")).unwrap();
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    let records = records.lines().map(|line| serde_json::from_str(line).unwrap());
    (records.collect(), serde_json::from_str(&manifest).unwrap())
}

#[test]
fn reasoning_is_counted_apart_from_the_answer() {
    let directory = TempDir::new().unwrap();
    let free = [
        "--reasoning",
        "free",
        "--reasoning-tokens",
        "5",
        "--reasoning-end",
        "</never>",
    ];
    let out = directory.path().join("bench");
    let (records, manifest) = written(&bench(&free, &out), &out);
    assert_eq!(records.len(), 4);
    assert_eq!(manifest["settings"]["prompt"]["reasoning_tokens"], 5);
    for record in records {
        let generation = &record["generation"];
        assert_eq!(generation["reasoning"]["tokens"], 5, "{record}");
        assert_eq!(generation["reasoning"]["cut"], true);
        let (ttft, reasoning) = (&generation["ttft_s"], &generation["reasoning"]["seconds"]);
        assert!(ttft.as_f64() > reasoning.as_f64(), "{record}");
        let constrained = record["framework"] == "maskwright";
        let text = generation["text"].as_str().unwrap();
        assert!(!constrained || text.starts_with('{'), "no reasoning in {text}");
    }
    let out = directory.path().join("ifstruct");
    let arguments = [
        "ifstruct",
        "run",
        "--split",
        "test",
        "--limit",
        "1",
        "--max-tokens",
        "40",
    ];
    let (records, _) = written(&program(&arguments, &free, &out), &out);
    assert_eq!(records.len(), 2);
    for record in records {
        let reasoning = &record["generation"]["reasoning"];
        assert_eq!(
            (&reasoning["tokens"], &reasoning["cut"]),
            (&5.into(), &true.into()),
            "{record}"
        );
    }
}

#[test]
fn a_given_template_and_instructions_make_the_prompt() {
    let directory = TempDir::new().unwrap();
    let template = directory.path().join("mine.jinja");
    fs::write(
        &template,
        "{{ bos_token }}{{ messages[0].content }}|{{ messages | length }}",
    )
    .unwrap();
    let given = ["--chat-template", template.to_str().unwrap()];
    let tokens = |name: &str, options: &[&str]| {
        let out = directory.path().join(name);
        let (records, manifest) = written(&bench(options, &out), &out);
        (records[0]["generation"]["prompt_tokens"].as_u64().unwrap(), manifest)
    };
    let (own, manifest) = tokens("own", &[]);
    assert!(
        manifest["settings"].get("prompt").is_none(),
        "as in runs before there were options"
    );
    let (short, manifest) = tokens("given", &given);
    assert!(short < own);
    assert_eq!(
        manifest["settings"]["prompt"]["chat_template_sha256"]
            .as_str()
            .map(str::len),
        Some(64)
    );
    let (longer, _) = tokens(
        "instructed",
        &[&given[..], &["--system", "Answer as a pirate would."]].concat(),
    );
    assert!(longer > short);

    let out = directory.path().join("given");
    fs::write(&template, "{{ messages[0].content }}").unwrap();
    let output = bench(&[&given[..], &["--resume"]].concat(), &out);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && errors.contains("--chat-template"),
        "{errors}"
    );
}

#[test]
fn servers_are_given_the_instructions_too() {
    let directory = TempDir::new().unwrap();
    let server = ChatServer::play([says("{}")]);
    let argument = server.argument("remote", "");
    for (arguments, own) in [
        (&["bench", "--limit", "1"][..], true),
        (&["quality", "--tasks", "last-letter", "--limit", "1"], true),
        (&["ifstruct", "run", "--split", "test", "--limit", "1"], false),
    ] {
        let given = [arguments, &["--server", &argument]].concat();
        let output = program(&given, &["--system", "Be brief."], &directory.path().join(arguments[0]));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let chats = server.chats();
        let first = &chats[chats.len() - 1].body["messages"][0];
        let content = first["content"].as_str().unwrap();
        assert_eq!(first["role"], "system", "{arguments:?}");
        assert!(content.starts_with("Be brief."), "{arguments:?}: {content}");
        assert_eq!(content.len() > "Be brief.".len(), own, "{arguments:?}: {content}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let directory = TempDir::new().unwrap();
    let server = "vllm=http://127.0.0.1:9/v1,model=m,dialect=vllm";
    for (options, expected) in [
        (&["--thinking", "on"][..], "--reasoning free"),
        (&["--thinking", "off"], "no switch for thinking"),
        (&["--reasoning-end", "</x>"], "--reasoning free"),
        (&["--reasoning", "free"], "--reasoning-end"),
        (&["--chat-template", "/missing.jinja"], "/missing.jinja"),
    ] {
        let output = bench(options, &directory.path().join("run"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(expected),
            "{options:?}: {errors}"
        );
    }
    let only_server = ["bench", "--server", server, "--limit", "1"];
    let output = program(&only_server, &["--thinking", "off"], &directory.path().join("run"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && errors.contains("models of this machine"),
        "{errors}"
    );
}
