//! What servers answer, and what is made of it.

use super::*;

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

/// A model that is named and would not be asked is no wish to leave out.
#[test]
fn a_model_beside_servers_alone_is_refused() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let argument = "s=http://127.0.0.1:9/v1,model=m";
    let (code, said) = fail(bench(&out, &["--server", argument, "--model", "builtin"]));
    assert!(
        code == 2 && said.contains("with --server alone none is asked"),
        "{said}"
    );
    assert!(!out.exists());
}
