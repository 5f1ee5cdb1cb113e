//! Limits on time, size, keys and cost.

use super::*;

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
