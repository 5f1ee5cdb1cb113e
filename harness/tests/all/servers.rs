//! `maskwright bench --server`: answers, failures and limits of servers, as traces played on the loopback address.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use super::chat_server::{Act, ChatServer, chunk, done, event, fails, says, usage};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A valid answer to the first schema of the built-in sample.
const CONTACT: &str = r#"{"name": "Zoë", "email": "zoe@example.com"}"#;

fn bench(out: &Path, arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"));
    program
        .env(
            "MASKWRIGHT_CACHE",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing-fetched"),
        )
        .env_remove("OPENAI_API_KEY")
        .env_remove("GEMINI_API_KEY")
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .env_remove("all_proxy")
        .env_remove("ALL_PROXY")
        .args(["bench", "--out"])
        .arg(out)
        .args(arguments);
    program
}

/// The exit code, standard output, and standard error.
fn end(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    (
        output.status.code().expect("ended by itself"),
        text(&output.stdout),
        said,
    )
}

fn succeed(mut program: Command) -> String {
    let (code, printed, said) = end(&program.output().unwrap());
    assert_eq!(code, 0, "{said}");
    printed
}

fn fail(mut program: Command) -> (i32, String) {
    let (code, _, said) = end(&program.output().unwrap());
    assert_ne!(code, 0, "{said}");
    (code, said)
}

fn records(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Bytes in pieces of three, so that characters of two bytes are cut.
fn in_small_pieces(text: &str) -> Act {
    Act::Stream(text.as_bytes().chunks(3).map(<[u8]>::to_vec).collect())
}

#[test]
fn every_dialect_is_asked_and_read_in_its_own_way() {
    let gemini = |text: &str, finish: Value| {
        let parts = json!([{"text": "let me think", "thought": true}, {"text": text}]);
        event(&json!({
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 2},
            "modelVersion": "chat-1-2026",
        }))
    };
    let half = CONTACT.len() / 2;
    let native = Act::Stream(vec![
        gemini(&CONTACT[..half], Value::Null),
        gemini(&CONTACT[half..], json!("STOP")),
    ]);
    for (dialect, act, schema) in [
        ("openai", says(CONTACT), "/response_format/json_schema/schema"),
        ("vllm", says(CONTACT), "/structured_outputs/json"),
        ("vllm-guided", says(CONTACT), "/guided_json"),
        ("sglang", says(CONTACT), "/response_format/json_schema/schema"),
        ("llama-server", says(CONTACT), "/response_format/schema"),
        ("gemini-openai", says(CONTACT), "/response_format/json_schema/schema"),
        ("gemini", native, "/generationConfig/responseJsonSchema"),
    ] {
        let server = ChatServer::play([act]);
        let directory = TempDir::new().unwrap();
        let out = directory.path().join("run");
        let argument = server.argument("remote", &format!("dialect={dialect}"));
        let printed = succeed(bench(&out, &["--server", &argument, "--limit", "1", "--json"]));
        let report: Value = serde_json::from_str(&printed).unwrap();
        let row = &report["rows"][0];
        assert_eq!(report["rows"].as_array().unwrap().len(), 1, "{dialect}: no local row");
        assert_eq!(
            (&row["model"], &row["framework"], &row["server"]),
            (&json!("chat-1"), &json!("remote"), &json!(true))
        );
        for share in ["declared", "empirical", "compliance"] {
            assert_eq!(row[share], 1.0, "{dialect}: {row}");
        }
        assert!(row["gct_s"].is_null() && row["forced_tokens"].is_null() && row["mask_us"].is_null());
        assert_eq!((&row["output_tokens"], &row["compared"]), (&json!(10.0), &json!(1)));
        let record = &records(&out)[0];
        let (generation, told) = (&record["generation"], &record["server"]);
        assert_eq!(
            (&generation["text"], &generation["prompt_tokens"]),
            (&json!(CONTACT), &json!(100)),
            "{dialect}"
        );
        assert_eq!(generation["token_times_us"].as_array().unwrap().len(), 2);
        assert!(generation["ttft_s"].as_f64().unwrap() <= generation["tgt_s"].as_f64().unwrap());
        assert_eq!(
            (&told["outcome"], &told["tokens_by"]),
            (&json!("finished"), &json!("usage"))
        );
        assert_eq!(
            (&told["reasoning_tokens"], &told["model"]),
            (&json!(2), &json!("chat-1-2026"))
        );
        let tells = matches!(dialect, "vllm" | "vllm-guided" | "sglang" | "llama-server");
        assert_eq!(
            told["version"],
            if tells { json!("1.2.3") } else { Value::Null },
            "{dialect}"
        );
        // The warm-up and the one question, both with a schema.
        let chats = server.chats();
        assert_eq!(chats.len(), 2, "{dialect}");
        let sent = chats[1]
            .body
            .pointer(schema)
            .unwrap_or_else(|| panic!("{dialect}: {}", chats[1].body));
        assert_eq!(sent["title"], "Contact");
        assert!(
            chats[1].prompt().contains(r#""title": "Contact""#),
            "{dialect}: the schema is in the prompt, too"
        );
        assert!(
            chats.iter().all(|chat| !chat.headers.contains_key("authorization")),
            "no key, no header"
        );
        let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["settings"]["servers"][0]["dialect"], dialect);
        assert_eq!(manifest["settings"]["models"], json!([]));
    }
}

#[test]
fn every_trace_ends_in_its_outcome() {
    let refusal = |text: &str| chunk(json!({"refusal": text}), None);
    let with_crlf = format!(
        ": keep-alive\r\n\r\ndata:{}\r\n\r\n: still here\r\nevent: message\r\ndata:{}\r\n\r\ndata: {}\r\n\r\ndata:[DONE]\r\n\r\n",
        json!({"choices": [{"index": 0, "delta": {"content": &CONTACT[..12]}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": &CONTACT[12..]}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    );
    let ends = |reason| {
        Act::Stream(vec![
            chunk(json!({"content": "{\"name\""}), None),
            chunk(json!({}), Some(reason)),
            done(),
        ])
    };
    let whole = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": CONTACT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 9},
    });
    let json_type = || vec![("content-type", "application/json".to_owned())];
    let in_stream = |message: &str, code: u16| {
        let error = json!({"error": {"message": message, "type": "BadRequestError", "code": code}});
        Act::Stream(vec![
            chunk(json!({"role": "assistant", "content": ""}), None),
            event(&error),
            done(),
        ])
    };
    let busy = Act::Reply(429, vec![("retry-after", "0".to_owned())], "slow down".to_owned());
    let truncated = Act::Stream(vec![
        chunk(json!({"content": "{\"na"}), None),
        b"data: {\"choi".to_vec(),
    ]);
    let cut_off = Act::CutOff(String::from_utf8(chunk(json!({"content": "{\"na"}), None)).unwrap());
    let thinks = Act::Stream(vec![
        chunk(json!({"reasoning_content": "hm"}), None),
        chunk(json!({"reasoning_content": "so"}), None),
        chunk(json!({"content": CONTACT}), Some("stop")),
        usage(9, 8, 0),
        done(),
    ]);
    // What is played, with what outcome after how many requests, and a part of the record.
    let traces: Vec<(Vec<Act>, &str, u64, &str)> = vec![
        (
            vec![in_small_pieces(&with_crlf)],
            "finished",
            1,
            r#""tokens_by":"pieces""#,
        ),
        (
            vec![Act::Reply(200, json_type(), whole.to_string())],
            "finished",
            1,
            r#""output_tokens":9"#,
        ),
        (vec![thinks], "finished", 1, r#""output_tokens":6"#),
        (vec![ends("length")], "token_limit", 1, r#""finish":"token_limit""#),
        (
            vec![ends("content_filter")],
            "filtered",
            1,
            r#""error":"filtered: content_filter""#,
        ),
        (
            vec![ends("tool_calls")],
            "other",
            1,
            r#""error":"ended otherwise: tool_calls""#,
        ),
        (
            vec![Act::Stream(vec![
                refusal("I "),
                refusal("cannot"),
                chunk(json!({}), Some("stop")),
                done(),
            ])],
            "refused",
            1,
            r#""message":"I cannot""#,
        ),
        (
            vec![fails(400, "Invalid schema for response_format")],
            "schema_refused",
            1,
            r#""kind":"refused""#,
        ),
        (
            vec![fails(422, "json_schema: no")],
            "schema_refused",
            1,
            r#""message":"json_schema: no""#,
        ),
        (
            vec![in_stream("Grammar error: Unknown format: uri", 400)],
            "schema_refused",
            1,
            "Unknown format",
        ),
        (
            vec![fails(400, "maximum context length is 8 tokens")],
            "context_full",
            1,
            r#""finish":"context_full""#,
        ),
        (
            vec![busy.clone(), busy, says(CONTACT)],
            "finished",
            3,
            r#""valid":true"#,
        ),
        (
            vec![fails(503, "loading"), says(CONTACT)],
            "finished",
            2,
            r#""valid":true"#,
        ),
        (vec![in_stream("engine died", 500), says(CONTACT)], "finished", 2, ""),
        (
            vec![
                Act::Reply(200, json_type(), r#"{"error": "engine died"}"#.to_owned()),
                says(CONTACT),
            ],
            "finished",
            2,
            "",
        ),
        (vec![ends("abort"), says(CONTACT)], "finished", 2, ""),
        (vec![truncated.clone(), says(CONTACT)], "finished", 2, ""),
        (vec![cut_off, says(CONTACT)], "finished", 2, ""),
        (vec![Act::Silence(Duration::ZERO), says(CONTACT)], "finished", 2, ""),
        (
            vec![fails(500, "grammar crashed"); 3],
            "schema_refused",
            3,
            "grammar crashed",
        ),
        (vec![fails(500, "out of memory"); 3], "unanswered", 3, "HTTP 500"),
        (vec![truncated; 3], "unanswered", 3, "breaks off"),
        (vec![says("{}")], "finished", 1, r#""valid":false"#),
        (
            vec![Act::Stream(vec![b"data: {oops\n\n".to_vec(), done()])],
            "unanswered",
            1,
            "event 1",
        ),
        (
            vec![Act::Stream(vec![event(&json!({"hello": 1})), done()])],
            "unanswered",
            1,
            "neither `choices`",
        ),
        (vec![says("{}")], "finished", 1, ""),
        (
            vec![fails(400, "unknown parameter: stream")],
            "unanswered",
            1,
            "unknown parameter",
        ),
    ];
    let acts = traces.iter().flat_map(|(acts, ..)| acts.clone());
    let server = ChatServer::play([says("{\"ok\": true}")].into_iter().chain(acts));
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let argument = server.argument("remote", "retries=2");
    // The same schema under many names.
    let schemas = directory.path().join("data/contacts");
    fs::create_dir_all(&schemas).unwrap();
    let contact = concat!(env!("CARGO_MANIFEST_DIR"), "/../suites/data/builtin/01-contact.json");
    for number in 0..traces.len() {
        fs::copy(contact, schemas.join(format!("{number:02}.json"))).unwrap();
    }
    let data = directory.path().display().to_string();
    let (code, said) = fail(bench(&out, &["--server", &argument, "--data", &data]));
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("remote: 5 unanswered"), "{said}");
    let records = records(&out);
    assert_eq!(records.len(), traces.len());
    for (record, (acts, outcome, attempts, part)) in records.iter().zip(&traces) {
        let told = &record["server"];
        assert_eq!(told["outcome"], *outcome, "{acts:?}: {record}");
        assert_eq!(told["attempts"], *attempts, "{acts:?}: {record}");
        assert!(record.to_string().contains(part), "{part}: {record}");
        let verdict = matches!(*outcome, "finished" | "token_limit" | "context_full");
        assert_eq!(record["verdict"].is_object(), verdict, "{record}");
    }
    let report: Value = serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    let (row, of_server) = (&report["rows"][0], &report["servers"][0]);
    // 27 questions, 5 without an answer, 4 refused as schemas, and one too long for the model.
    assert_eq!((&row["instances"], &row["no_room"]), (&json!(21), &json!(1)));
    assert_eq!(row["declared"].as_f64().unwrap(), 17.0 / 21.0);
    assert_eq!(
        (&of_server["answered"], &of_server["unanswered"]),
        (&json!(22), &json!(5))
    );
    assert_eq!(
        (&of_server["outcomes"]["schema refused"], &of_server["repeated"]),
        (&json!(4), &json!(15))
    );
    let markdown = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(
        markdown.contains("| remote (server) |") && markdown.contains("measured over the network"),
        "{markdown}"
    );
    assert!(markdown.contains("**Servers**"), "{markdown}");
}

#[test]
fn limits_on_time_and_size_hold() {
    let piece = |text: &str| chunk(json!({"content": text}), None);
    let letters = || vec![piece("{\"name\": \""), piece(&"a".repeat(1000))];
    let slow = Act::Slow(vec![piece("{"); 1000], Duration::from_millis(30));
    for (act, settings, outcome, text) in [
        (Act::Endless(letters()), "", "size_limit", "{\"name\": \"aaa"),
        (Act::Endless(vec![b": nothing\n\n".to_vec()]), "", "size_limit", ""),
        (
            Act::Endless(vec![b"data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_vec()]),
            "",
            "size_limit",
            "",
        ),
        (slow, "", "time_limit", "{{"),
        // Whoever answers other questions only needs longer for this one.
        (Act::Silence(Duration::from_secs(3)), "", "time_limit", ""),
        (
            Act::Silence(Duration::from_secs(3)),
            "first-byte=0.1,retries=1",
            "unanswered",
            "",
        ),
    ] {
        let server = ChatServer::play([says("{}"), act.clone()]);
        let directory = TempDir::new().unwrap();
        let out = directory.path().join("run");
        let argument = server.argument("remote", settings);
        let limits = ["--generation-limit", "0.5", "--max-tokens", "20", "--limit", "1"];
        let mut program = bench(&out, &["--server", &argument]);
        let (code, _, said) = end(&program.args(limits).output().unwrap());
        assert_eq!(code, if outcome == "unanswered" { 5 } else { 0 }, "{said}");
        let record = &records(&out)[0];
        assert_eq!(record["server"]["outcome"], outcome, "{act:?}: {}", record["server"]);
        let got = record["generation"]["text"].as_str().unwrap_or_default();
        assert!(got.starts_with(text) && got.len() < 2 << 20, "{} bytes", got.len());
        assert_ne!(record["verdict"]["valid"], true);
    }
}

#[test]
fn keys_are_sent_to_the_server_alone() {
    const KEY: &str = "sk-very-secret-0123456789";
    let echo = |text: String| says(&text);
    for (dialect, header) in [("openai", "authorization"), ("gemini-openai", "authorization")] {
        let server = ChatServer::play([
            says("{}"),
            fails(400, &format!("bad schema from {KEY}")),
            echo(format!("{{\"name\": \"{KEY}\", \"email\": \"a@b.example\"}}")),
            fails(500, &format!("failed for Bearer {KEY}")),
        ]);
        let directory = TempDir::new().unwrap();
        let out = directory.path().join("run");
        let argument = server.argument("remote", &format!("dialect={dialect},key-env=MY_KEY,retries=1"));
        let mut program = bench(&out, &["--server", &argument, "--limit", "3"]);
        program.env("MY_KEY", KEY).env("MASKWRIGHT_LOG", "trace");
        let (code, printed, said) = end(&program.output().unwrap());
        assert_eq!(code, 5, "{said}");
        for request in server.requests.lock().unwrap().iter() {
            assert_eq!(request.headers[header], format!("Bearer {KEY}"));
            assert!(!request.path.contains(KEY) && !request.body.to_string().contains(KEY));
        }
        let mut texts = vec![printed, said];
        for file in fs::read_dir(&out).unwrap() {
            texts.push(fs::read_to_string(file.unwrap().path()).unwrap());
        }
        assert!(texts.len() >= 7, "{}", texts.len());
        for text in &texts {
            assert!(!text.contains(KEY), "{text}");
        }
        let records = records(&out);
        assert_eq!(records[0]["compile"]["error"]["message"], "bad schema from [key]");
        // Judged as it came.
        assert_eq!(records[1]["verdict"]["parsed"], true);
        assert!(records[1]["generation"]["text"].as_str().unwrap().contains("[key]"));
    }

    // A key that was named has to be there, and no other server gets it.
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let elsewhere = ChatServer::play([says(CONTACT)]);
    let here = ChatServer::play([Act::Reply(
        307,
        vec![("location", format!("http://{}/v1/chat/completions", elsewhere.address))],
        String::new(),
    )]);
    let argument = here.argument("remote", "key-env=MY_KEY");
    let (code, said) = fail(bench(&out, &["--server", &argument, "--limit", "1"]));
    assert!(code == 3 && said.contains("MY_KEY"), "{said}");
    let mut program = bench(&out, &["--server", &argument, "--limit", "1"]);
    program.env("MY_KEY", KEY);
    let (code, said) = fail(program);
    assert!(code == 3 && said.contains(&elsewhere.address), "{said}");
    assert!(elsewhere.requests.lock().unwrap().is_empty());
    assert!(!out.exists(), "nothing was measured");
}

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
fn a_run_stops_at_its_limit_on_cost() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let server = ChatServer::play([says(CONTACT)]);
    // 100 tokens of prompt and 12 of answer: 0.01 + 0.012 each.
    let argument = server.argument("remote", "price-in=100,price-out=1000");
    let (code, said) = fail(bench(
        &out,
        &["--server", &argument, "--limit", "5", "--max-cost", "0.05"],
    ));
    assert_eq!(code, 5, "{said}");
    assert!(
        said.contains("2 not asked, --max-cost 0.05 reached at 0.0660"),
        "{said}"
    );
    assert_eq!(records(&out).len(), 3);
    let arguments = [
        "--server",
        &argument,
        "--limit",
        "5",
        "--resume",
        "--json",
        "--max-cost",
        "0.2",
    ];
    let report: Value = serde_json::from_str(&succeed(bench(&out, &arguments))).unwrap();
    let cost = report["servers"][0]["cost"].as_f64().unwrap();
    assert!((cost - 5.0 * 0.022).abs() < 1e-9, "{cost}");
    let (code, said) = fail(bench(
        &out,
        &["--server", &server.argument("remote", ""), "--max-cost", "1"],
    ));
    assert!(code == 2 && said.contains("price-in"), "{said}");
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
