//! Runs over servers: broken off, interrupted, beside frameworks of this machine.

use super::*;

#[test]
fn a_run_whose_server_went_away_is_completed_by_another() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let answered = 4;
    let dying = ChatServer::start(move |number, _| match number {
        // The first is the warm-up.
        0..=4 => says(CONTACT),
        _ => Act::Silence(Duration::ZERO),
    });
    let limit = ["--limit", "10"];
    let argument = dying.argument("remote", "retries=1");
    let mut program = bench(&out, &["--server", &argument]);
    program.args(limit);
    let (code, said) = fail(program);
    assert_eq!(code, 5, "{said}");
    assert!(
        said.contains("3 unanswered") && said.contains("3 not asked") && said.contains("--resume"),
        "{said}"
    );
    assert!(said.contains("4 of 10 records"), "{said}");
    let before = records(&out);
    assert_eq!(before.len(), answered + 3);
    let report: Value = serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["rows"][0]["instances"], 4, "no verdict where there is no answer");

    let gone = dying.argument("remote", "retries=0");
    drop(dying);
    let mut program = bench(&out, &["--resume", "--server", &gone]);
    program.args(limit);
    let (code, said) = fail(program);
    assert!(code == 3 && said.contains("no connection"), "{said}");
    assert_eq!(records(&out), before, "nothing lost, nothing added");

    let fresh = ChatServer::play([says(CONTACT)]);
    let other = fresh.argument("remote", "").replace("chat-1", "chat-2");
    let mut program = bench(&out, &["--resume", "--server", &other]);
    program.args(limit);
    let (code, said) = fail(program);
    assert!(code == 4 && said.contains("chat-2"), "{said}");

    let argument = fresh.argument("remote", "");
    let mut program = bench(&out, &["--resume", "--json", "--server", &argument]);
    program.args(limit);
    let report: Value = serde_json::from_str(&succeed(program)).unwrap();
    assert_eq!(
        (&report["rows"][0]["instances"], &report["servers"][0]["unanswered"]),
        (&json!(10), &json!(0))
    );
    assert_eq!(fresh.chats().len(), 1 + 6, "the warm-up, and only what had no answer");
    let after = records(&out);
    assert_eq!(&after[..before.len()], before, "what was measured stays");
    assert_eq!(after.len(), before.len() + 6);
    let failed: Vec<&Value> = before[answered..].iter().map(|record| &record["instance"]).collect();
    let last: Vec<&Value> = after[after.len() - 3..]
        .iter()
        .map(|record| &record["instance"])
        .collect();
    assert_eq!(last, failed, "what the server may have died of comes last");
    let finals = after
        .iter()
        .filter(|record| record["server"]["outcome"] != "unanswered");
    let mut names: Vec<&str> = finals.map(|record| record["instance"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 10, "one final record for each schema");

    // Complete: the tables need no server.
    drop(fresh);
    let mut program = bench(
        &out,
        &["--resume", "--json", "--scoring", "paper", "--server", &argument],
    );
    program.args(limit);
    let report: Value = serde_json::from_str(&succeed(program)).unwrap();
    assert_eq!(report["rows"][0]["instances"], 10);
}

#[test]
fn an_interrupted_run_does_not_wait_for_its_server() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let server = ChatServer::play([
        says(CONTACT),
        says(CONTACT),
        says(CONTACT),
        Act::Silence(Duration::from_secs(600)),
    ]);
    let argument = server.argument("remote", "");
    let limits = ["--limit", "5", "--generation-limit", "600"];
    let mut program = bench(&out, &["--server", &argument]);
    program.args(limits).stderr(std::process::Stdio::piped());
    let mut child = program.spawn().unwrap();
    while server.chats().len() < 4 {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before its third question"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.unwrap().success());
    let (code, _, said) = end(&child.wait_with_output().unwrap());
    assert!(code == 130 && said.contains("2 of 5 records are kept"), "{said}");
    assert_eq!(records(&out).len(), 2);
}

#[test]
fn requests_are_in_flight_together_and_records_complete() {
    let pieces = || {
        let Act::Stream(pieces) = says(CONTACT) else {
            unreachable!()
        };
        pieces
    };
    let server = ChatServer::play([Act::Slow(pieces(), Duration::from_millis(40))]);
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let argument = server.argument("remote", "constrained=false");
    let printed = succeed(bench(
        &out,
        &["--server", &argument, "--limit", "8", "--concurrency", "4", "--json"],
    ));
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["rows"][0]["instances"], 8);
    assert!(report["rows"][0]["declared"].is_null(), "no schema was sent");
    assert!(server.chats().iter().all(|chat| chat.body["response_format"].is_null()));
    let most = server.most_at_once.load(std::sync::atomic::Ordering::SeqCst);
    assert!((2..=4).contains(&most), "{most}");
    let mut names: Vec<String> = records(&out)
        .iter()
        .map(|record| record["instance"].to_string())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 8);
    let whole = ["ttft_s", "tpot_ms", "tgt_s"];
    for record in records(&out) {
        assert!(
            whole
                .iter()
                .all(|time| record["generation"][time].as_f64().unwrap() > 0.0),
            "{record}"
        );
    }
}

#[test]
fn a_lost_replica_costs_no_answer() {
    let pieces = || {
        let Act::Stream(pieces) = says(CONTACT) else {
            unreachable!()
        };
        pieces
    };
    let steady = ChatServer::play([Act::Slow(pieces(), Duration::from_millis(20))]);
    // The first question of each is whether it works.
    let dying = ChatServer::start(move |number, _| match number {
        0..=3 => Act::Slow(pieces(), Duration::from_millis(20)),
        _ => Act::Silence(Duration::ZERO),
    });
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let argument = steady.argument("remote", &format!("retries=0,replicas=http://{}/v1", dying.address));
    let arguments = ["--server", &argument, "--limit", "12", "--concurrency", "2", "--json"];
    let report: Value = serde_json::from_str(&succeed(bench(&out, &arguments))).unwrap();
    assert_eq!(
        (&report["rows"][0]["instances"], &report["servers"][0]["unanswered"]),
        (&json!(12), &json!(0))
    );
    let most = |server: &ChatServer| server.most_at_once.load(std::sync::atomic::Ordering::SeqCst);
    assert!(most(&steady) >= 2 && most(&dying) >= 2, "both have questions in flight");
    // It is gone: the run is completed by the other, and would not begin with none.
    let gone = argument.replace(&dying.address, "127.0.0.1:9");
    let second = directory.path().join("second");
    let mut program = bench(&second, &["--server", &gone, "--limit", "2"]);
    let (code, _, said) = end(&program.output().unwrap());
    assert!(
        code == 0 && said.contains("127.0.0.1:9") && said.contains("left out"),
        "{said}"
    );
    let none = gone.replace(&steady.address, "127.0.0.1:9");
    let (code, said) = fail(bench(
        &directory.path().join("third"),
        &["--server", &none, "--limit", "2"],
    ));
    assert!(code == 3 && said.contains("no connection"), "{said}");
}

#[test]
fn an_address_that_failed_is_asked_again_where_the_other_lost_its_model() {
    // The first question of each is whether it works.
    let failing = ChatServer::start(|number, _| match number {
        1 => Act::Silence(Duration::ZERO),
        _ => says(CONTACT),
    });
    let lost = ChatServer::play([says(CONTACT), fails(404, "no such model")]);
    let directory = TempDir::new().unwrap();
    let argument = failing.argument("remote", &format!("retries=0,replicas=http://{}/v1", lost.address));
    let program = bench(
        &directory.path().join("run"),
        &["--server", &argument, "--limit", "1", "--json"],
    );
    let report: Value = serde_json::from_str(&succeed(program)).unwrap();
    assert_eq!(report["rows"][0]["instances"], 1);
    assert_eq!((failing.chats().len(), lost.chats().len()), (3, 2));
}

#[test]
fn servers_stand_beside_local_frameworks() {
    let server = ChatServer::play([Act::Stream(vec![
        chunk(json!({"content": CONTACT}), Some("stop")),
        usage(100, 12, 0),
        done(),
    ])]);
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let argument = server.argument("remote", "");
    let arguments = [
        "--server",
        &argument,
        "--frameworks",
        "llguidance",
        "--limit",
        "1",
        "--threads",
        "1",
    ];
    let printed = succeed(bench(&out, &arguments));
    assert!(
        printed.contains("chat-1") && printed.contains("builtin") && printed.contains("remote (server)"),
        "{printed}"
    );
    let report: Value = serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    let names: Vec<_> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["framework"], &row["server"]))
        .collect();
    assert_eq!(
        names,
        [(&json!("llguidance"), &json!(false)), (&json!("remote"), &json!(true))]
    );
    assert!(report["rows"][1]["tpot_ms"].is_null(), "all arrived at once");

    for (arguments, code, said) in [
        (vec!["--frameworks", ""], 2, "nothing to compare"),
        (vec!["--server", &argument, "--server", &argument], 2, "two rows"),
        (vec!["--server", &argument, "--top-k", "5"], 2, "--top-k"),
        (vec!["--server", "remote=http://h/v1"], 2, "model=MODEL"),
        (
            vec!["--server", "remote=http://127.0.0.1:9/v1,model=m,retries=0"],
            3,
            "no connection",
        ),
    ] {
        let (exit, text) = fail(bench(&directory.path().join("other"), &arguments));
        assert_eq!(exit, code, "{text}");
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// `ifstruct run`, too, asks servers: unconstrained, in the words of the sample.
#[test]
fn servers_are_asked_in_the_words_of_samples() {
    let directory = TempDir::new().unwrap();
    let samples = directory.path().join("samples.jsonl");
    let lines = [false, true].map(|wrapped| {
        let sample = json!({
            "seed": u8::from(wrapped), "entity_type": "test__invoice", "prompt": "invoices, please",
            "json_schema": {"type": "array", "items": {
                "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]
            }},
            "top_level_count": 1, "top_level_key": wrapped.then_some("items"), "require_wrapper_key": wrapped,
            "require_code_block": false, "require_no_commentary": true, "output_format": "json"
        });
        format!("{sample}\n")
    });
    fs::write(&samples, lines.concat()).unwrap();
    let server = ChatServer::start(|_, request| match request.prompt() == "invoices, please" {
        true => says("[{\"id\": \"A\"}]"),
        // The question before the run.
        false => says(CONTACT),
    });
    let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"));
    program.args(["ifstruct", "run", "--json", "--server", &server.argument("remote", "")]);
    program
        .arg("--samples")
        .arg(&samples)
        .arg("--out")
        .arg(directory.path().join("run"));
    let report: Value = serde_json::from_str(&succeed(program)).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "no model of this machine was asked for");
    assert_eq!(
        ["mode", "passed", "finished", "total"].map(|name| &rows[0][name]),
        [&json!("unconstrained"), &json!(1), &json!(2), &json!(2)],
        "the second sample wants a wrapper"
    );

    let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"));
    program.args([
        "ifstruct",
        "run",
        "--json",
        "--modes",
        "unconstrained",
        "--max-tokens",
        "8",
    ]);
    program
        .args(["--model", "builtin", "--server", &server.argument("remote", "")])
        .arg("--samples")
        .arg(&samples)
        .arg("--out")
        .arg(directory.path().join("both"));
    let report: Value = serde_json::from_str(&succeed(program)).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let mut models: Vec<&str> = rows.iter().map(|row| row["model"].as_str().unwrap()).collect();
    models.sort_unstable();
    assert_eq!(models, ["builtin", "chat-1 (remote)"], "both were named");

    let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"));
    let dear = server.argument("remote", "price-in=1,price-out=1000000");
    program.args(["ifstruct", "run", "--max-cost", "0.5", "--server", &dear]);
    program
        .arg("--samples")
        .arg(&samples)
        .arg("--out")
        .arg(directory.path().join("dear"));
    let (code, said) = fail(program);
    assert!(
        code == 5 && said.contains("1 not asked, --max-cost 0.5 reached"),
        "{said}"
    );
}
