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
    assert_eq!(
        (&settings["compile_beside_prefill"], &settings["prefix_cache"]),
        (&json!(true), &json!(true))
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

/// MaskBench of one schema, whose last document is labelled wrongly, and the schema as a dataset.
fn schema_with_documents(directory: &Path) {
    let schema = json!({
        "type": "object", "properties": {"a": {"enum": ["first", "second"]}}, "required": ["a"], "additionalProperties": false
    });
    let documents = [
        json!({"data": {"a": "first"}, "valid": true}),
        json!({"data": {}, "valid": false}),
        json!({"data": {"a": "third"}, "valid": true}),
    ];
    let file = json!({"schema": schema, "tests": documents});
    write(directory.join("data/maskbench/data/mine---one.json"), file.to_string());
    write(directory.join("data/mine/one.json"), schema.to_string());
}

#[test]
fn coverage_and_figures_have_the_numbers_of_their_records() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    schema_with_documents(path);
    let coverage = |more: &[&str]| {
        let arguments = [
            "coverage",
            "--true",
            "--frameworks",
            "maskwright,llguidance",
            "--vocabulary",
            "builtin",
            "--sources",
            "maskbench",
            "--data",
            "data",
            "--out",
            "covered",
        ];
        [&arguments[..], more]
            .concat()
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let words = coverage(&["--sampled", "2", "--mutated", "3", "--json"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let report: Value = serde_json::from_str(&succeed(path, &words)).unwrap();
    for row in report["rows"].as_array().unwrap() {
        let documents: Vec<u64> = row["documents"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        assert!(documents[0] >= 1 && documents[1] >= 3, "{row}");
        assert_eq!(
            (&row["schemas"], &row["declared"], &row["failed"]),
            (&json!(1), &json!(1.0), &json!(0)),
            "{row}"
        );
        assert_eq!(row["truly"], 1.0, "{row}");
    }
    let records: Vec<Value> = lines(&path.join("covered/records.jsonl"))
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["documents_sha256"], records[1]["documents_sha256"]);
    for record in &records {
        assert_eq!(
            (&record["disputed"], &record["source"]),
            (&json!(1), &json!("maskbench")),
            "{record}"
        );
        assert_eq!(
            record["verdicts"].as_u64().unwrap(),
            record["valid"].as_u64().unwrap() + record["invalid"].as_u64().unwrap()
        );
    }
    let markdown = fs::read_to_string(path.join("covered/report.md")).unwrap();
    assert!(
        markdown.contains("1 documents of MaskBench were left out"),
        "{markdown}"
    );
    for arguments in [["--mutated", "1001"], ["--sampled", "100000000"]] {
        let words = coverage(&arguments);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, said) = fail(path, &words);
        assert!(code == 2 && said.contains("from 0 to 1000"), "{said}");
    }
    let (code, said) = fail(
        path,
        &["figures", "covered", "covered", "--data", "data", "--out", "drawn"],
    );
    assert!(
        code == 2 && said.contains("count twice") && !path.join("drawn").exists(),
        "{said}"
    );
    let printed = succeed(path, &["figures", "covered", "--data", "data", "--out", "drawn"]);
    assert!(printed.contains("figure-4-features.svg"), "{printed}");
    let tables = fs::read_to_string(path.join("drawn/tables.md")).unwrap();
    assert!(tables.contains("## Table 1: schema collections"), "{tables}");
}

#[test]
fn times_of_different_machines_are_in_no_figure_together() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    for (name, cpu) in [("one", "a"), ("two", "b")] {
        let hardware = json!({"cpu": cpu, "cpus": 4, "memory_mib": 1024, "os": "o"});
        let manifest = json!({"run_of": "bench", "hardware": hardware, "settings": {}});
        write(path.join(name).join("manifest.json"), manifest.to_string());
        write(path.join(name).join("records.jsonl"), "");
    }
    let (code, said) = fail(path, &["figures", "one", "two", "--out", "drawn"]);
    assert!(
        code == 2 && said.contains("4 × a, 1 GiB, o") && !path.join("drawn").exists(),
        "{said}"
    );
}

#[test]
fn answers_stand_beside_the_documents_of_the_same_schemas() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    schema_with_documents(path);
    write(path.join("data/mine/other.json"), r#"{"type": "boolean"}"#);
    let bench = [
        "bench",
        "--datasets",
        "mine,heldout",
        "--limit",
        "2",
        "--frameworks",
        "llguidance",
        "--data",
        "data",
        "--threads",
        "1",
        "--out",
        "run",
    ];
    succeed(path, &bench);
    let (code, printed, said) = run(path, &["shapes", "run", "--data", "data", "--json"]);
    assert!(code == 0 && said.contains("2 answers are left out"), "{said}");
    let report: Value = serde_json::from_str(&printed).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let figures: Vec<[&Value; 4]> = rows
        .iter()
        .map(|row| ["written_by", "beside", "schemas", "values"].map(|name| &row[name]))
        .collect();
    // The boolean has no document in MaskBench, and of the documents there one is valid.
    assert_eq!(
        figures,
        [
            [&json!("llguidance"), &Value::Null, &json!(1), &json!(1.0)],
            [
                &json!("MaskBench (written by Llama 3.1 70B)"),
                &json!("llguidance"),
                &json!(1),
                &json!(1.0)
            ],
        ]
    );
    assert!(rows[1]["documents"].as_u64().unwrap() >= 1);
    let (code, said) = fail(path, &["shapes", "run", "run", "--data", "data"]);
    assert!(code == 2 && said.contains("count twice"), "{said}");
}
