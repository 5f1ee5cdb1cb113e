//! Figures: what they count, and what they are compared with.

use super::*;

#[test]
fn schemas_that_do_not_fit_into_the_context_count_apart() {
    let directory = TempDir::new().unwrap();
    let config = model(directory.path()).join("config.json");
    let mut values: Value = serde_json::from_str(&fs::read_to_string(&config).unwrap()).unwrap();
    values["max_position_embeddings"] = json!(120);
    fs::write(&config, values.to_string()).unwrap();
    let data = directory.path().join("data/mine");
    write(data.join("short.json"), r#"{"type": "boolean"}"#);
    let long = json!({"type": "boolean", "description": "a word ".repeat(200)});
    write(data.join("long.json"), long.to_string());
    let arguments = [
        "bench",
        "--model",
        "./model",
        "--frameworks",
        "llguidance,none",
        "--data",
        "data",
        "--shots",
        "0",
        "--threads",
        "1",
        "--max-tokens",
        "20",
        "--out",
        "run",
    ];
    let printed = succeed(directory.path(), &[&arguments[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&printed).unwrap();
    for row in report["rows"].as_array().unwrap() {
        assert_eq!((&row["instances"], &row["no_room"]), (&json!(1), &json!(1)), "{row}");
    }
    assert_eq!(report["rows"][0]["compliance"], 1.0, "{report}");
    let markdown = fs::read_to_string(directory.path().join("run/report.md")).unwrap();
    assert!(markdown.contains("1 of 2 schemas count nowhere"), "{markdown}");

    let ifstruct = [
        "ifstruct",
        "run",
        "--model",
        "./model",
        "--split",
        "test",
        "-n",
        "2",
        "--modes",
        "unconstrained,unconstrained",
        "--threads",
        "1",
        "--out",
        "replies",
    ];
    let printed = succeed(directory.path(), &ifstruct);
    assert!(
        printed.contains("./model, unconstrained: 2 samples count nowhere"),
        "{printed}"
    );
    assert!(
        printed.contains("unconstrained 0 of 0") && !printed.contains("UNFINISHED"),
        "{printed}"
    );
}

#[test]
fn a_server_that_dies_half_way_shows_in_the_report() {
    let directory = TempDir::new().unwrap();
    let server = ChatServer::start(|number, _| match number {
        ..3 => says(CONTACT),
        _ => Act::Reply(500, vec![], "gone\u{1b}[31m".to_owned()),
    });
    let argument = server.argument("remote", "retries=0");
    let arguments = ["bench", "--server", &argument, "--limit", "8", "--out", "run"];
    let (code, said) = fail(directory.path(), &arguments);
    assert_eq!(code, 5, "{said}");
    assert!(!said.contains('\u{1b}') && said.contains("\\u{1b}"), "{said}");
    let markdown = fs::read_to_string(directory.path().join("run/report.md")).unwrap();
    assert!(
        markdown.contains("UNFINISHED: remote (server): 2 of 8 answered"),
        "{markdown}"
    );
    assert!(markdown.contains(" 2 of 8 |"), "{markdown}");
    for needle in [
        "# maskwright bench",
        "- command: `maskwright bench",
        "- hardware:",
        "- servers: remote (chat-1",
        "- started: ",
    ] {
        assert!(markdown.contains(needle), "{needle}: {markdown}");
    }
}

#[test]
fn a_first_request_that_meets_a_busy_server_is_made_again() {
    let directory = TempDir::new().unwrap();
    for busy in [
        fails(429, "slow down"),
        Act::Reply(429, vec![("retry-after", "0".to_owned())], String::new()),
    ] {
        let server = ChatServer::play([busy, says(CONTACT)]);
        let argument = server.argument("remote", "");
        let out = format!("run-{}", server.address.replace(':', "-"));
        let arguments = [
            "bench",
            "--server",
            &argument,
            "--limit",
            "1",
            "--out",
            &out,
            "--verbose",
        ];
        let (code, _, said) = run(directory.path(), &arguments);
        assert!(code == 0 && said.contains("429") && !said.contains('\u{1b}'), "{said}");
        assert_eq!(server.chats().len(), 3);
    }
}

#[test]
fn a_server_that_asks_to_come_back_another_day_is_not_waited_for() {
    let directory = TempDir::new().unwrap();
    let busy = Act::Reply(429, vec![("retry-after", "86400".to_owned())], "come back".to_owned());
    let server = ChatServer::play([busy]);
    let argument = server.argument("remote", "");
    let (code, said) = fail(
        directory.path(),
        &["bench", "--server", &argument, "--limit", "1", "--out", "run"],
    );
    assert!(code == 3 && said.contains("it asks to wait 86400 s"), "{said}");
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_reply_counts_once_and_missing_ones_are_told() {
    let directory = TempDir::new().unwrap();
    let generate = [
        "ifstruct",
        "generate",
        "--split",
        "test",
        "-n",
        "40",
        "--seed",
        "1",
        "--out",
        "samples.jsonl",
    ];
    succeed(directory.path(), &generate);
    let first: Value = serde_json::from_str(&lines(&directory.path().join("samples.jsonl"))[0]).unwrap();
    let reply = json!({"seed": first["seed"], "response": "[]"}).to_string();
    fs::write(
        directory.path().join("replies.jsonl"),
        format!("{reply}\n{reply}\n{reply}\n"),
    )
    .unwrap();
    let arguments = ["ifstruct", "score", "replies.jsonl", "--samples", "samples.jsonl"];
    let (code, printed, said) = run(directory.path(), &arguments);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("replies.jsonl:3: a second reply to seed"), "{said}");
    assert!(printed.contains("39 of 40 samples have no reply"), "{printed}");
    let (_, printed, _) = run(directory.path(), &[&arguments[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&report["scored"], &report["missing"]), (&json!(1), &json!(39)));
}

/// The same questions by the paper's protocol, with and without a cache of what all prompts begin with, and several times.
#[test]
fn the_papers_protocol_compiles_beside_the_prompt_and_has_no_limit_on_tokens() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("data/mine/a.json"), r#"{"enum": ["first", "second"]}"#);
    write(path.join("data/mine/b.json"), r#"{"not": {}}"#);
    let bench = |more: &[&str], out: &str| -> (Value, Vec<Value>) {
        let arguments = [
            "bench",
            "--frameworks",
            "llguidance",
            "--data",
            "data",
            "--threads",
            "1",
            "--json",
            "--out",
            out,
        ];
        let report = serde_json::from_str(&succeed(path, &[&arguments[..], more].concat())).unwrap();
        let records = lines(&path.join(out).join("records.jsonl"));
        (
            report,
            records.iter().map(|line| serde_json::from_str(line).unwrap()).collect(),
        )
    };
    let (plain_report, plain) = bench(&[], "plain");
    let (report, paper) = bench(&["--protocol", "paper", "--prefix-cache", "--repeat", "3"], "paper");
    assert_eq!(plain[0]["generation"]["text"], paper[0]["generation"]["text"]);
    assert_eq!(paper[0]["compile"]["beside_prefill"], true);
    assert_eq!(paper[0]["repeats_s"].as_array().unwrap().len(), 3);
    assert_eq!(
        paper[1]["compile"]["error"]["kind"],
        plain[1]["compile"]["error"]["kind"]
    );
    assert!(paper[1]["generation"].is_null(), "{}", paper[1]);
    let row = &report["rows"][0];
    assert_eq!(
        (&row["declared"], &row["ttft_with_gct_s"]),
        (&json!(0.5), &row["ttft_s"])
    );
    let manifest: Value = serde_json::from_str(&fs::read_to_string(path.join("paper/manifest.json")).unwrap()).unwrap();
    let settings = &manifest["settings"];
    assert_eq!(
        (
            &settings["protocol"],
            &settings["max_tokens"],
            &settings["finish_in_time"]
        ),
        (&json!("paper"), &Value::Null, &json!(false))
    );
    let (_, beside) = bench(&["--compile-beside-prefill"], "beside");
    assert_eq!(beside[0]["compile"]["beside_prefill"], true);
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(path.join("beside/manifest.json")).unwrap()).unwrap();
    let settings = &manifest["settings"];
    assert_eq!(
        (
            &settings["protocol"],
            &settings["compile_beside_prefill"],
            &settings["prefix_cache"]
        ),
        (&json!("ours"), &json!(true), &json!(false))
    );
    let (compared, _) = bench(&["--paper"], "compared");
    assert_eq!(
        (&compared["scoring"], &plain_report["scoring"]),
        (&json!("paper"), &json!("strict"))
    );
    let (code, said) = fail(path, &["bench", "--paper", "--scoring", "strict"]);
    assert!(code == 2 && said.contains("--paper"), "{said}");
}

#[test]
fn a_file_is_replayed_several_times_and_the_medians_are_kept() {
    let directory = TempDir::new().unwrap();
    mask_bench(directory.path());
    succeed(
        directory.path(),
        &[&MASKS[..], &["--out", "run", "--repeat", "3"]].concat(),
    );
    let record: Value = serde_json::from_str(&lines(&directory.path().join("run/records.jsonl"))[0]).unwrap();
    assert_eq!(record["repeats_s"].as_array().unwrap().len(), 3);
    assert_eq!(record["cpu_ns"].as_array().unwrap().len(), 1);
    let report = fs::read_to_string(directory.path().join("run/report.md")).unwrap();
    for needle in [
        "# maskwright masks",
        "- hardware: ",
        "- frameworks: llguidance ",
        "llguidance: 1 of 1 schemas right.",
    ] {
        assert!(report.contains(needle), "{needle}: {report}");
    }
}

/// Figures that stand beside the paper's are of the same kind.
#[test]
fn the_papers_figures_stand_beside_figures_of_their_kind() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    test_suite(path);
    write(path.join("suite/remotes/integer.json"), r#"{"type": "integer"}"#);
    let remote = json!([{
        "description": "remote", "schema": {"$ref": "http://localhost:1234/integer.json"},
        "tests": [{"description": "one", "data": 1, "valid": true}],
    }]);
    write(path.join("suite/tests/draft2020-12/refRemote.json"), remote.to_string());
    let printed = succeed(path, &[&TEST_SUITE[..], &["--out", "run", "--paper"]].concat());
    let row = printed
        .lines()
        .filter(|line| line.contains("Guidance"))
        .map(str::to_owned);
    let row: String = row.collect();
    // Two of three categories, one of them refused: 50 % beside the paper's 25 of 43.
    assert!(row.contains("2 / 43") && row.contains("50 / 58"), "{printed}");
}
