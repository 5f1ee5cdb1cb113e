//! What the user gives and what is shown: names, files, the terminal.

use super::*;

/// A parquet file as the hub has them, without a row.
const ROWLESS_PARQUET: &[u8] = include_bytes!("no-rows.parquet");

#[test]
fn a_run_over_nothing_is_an_error() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("corrupt/x/a.parquet"), "PAR1 and then nothing");
    write(path.join("empty/x/a.parquet"), "");
    write(path.join("rowless/x/a.parquet"), ROWLESS_PARQUET);
    write(path.join("broken/x/a.json"), "{\"type\": ");
    write(path.join("empty.jsonl"), "");
    write(path.join("bad.jsonl"), "nothing\n");
    write(path.join("masks/a.json"), "{");
    write(path.join("schema.json"), "{}");
    let usage: [&[&str]; 10] = [
        &["bench", "--limit", "0"],
        &["bench", "--max-tokens", "0"],
        &["masks", "--limit", "0"],
        &["sample", "schema.json", "-n", "0"],
        &["sample", "schema.json", "--max-bytes", "0"],
        &["ifstruct", "generate", "--split", "test", "-n", "0"],
        &["ifstruct", "run", "-n", "0"],
        &["bench", "--threads", "100000"],
        // Sums of times must not overflow.
        &["masks", "--time-limit", "1e19"],
        &["bench", "--compile-limit", "1e300"],
    ];
    for arguments in usage {
        let (code, said) = fail(path, arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains("must be"), "{said}");
    }
    let nothing: [&[&str]; 10] = [
        &["bench", "--data", "empty", "--out", "d"],
        &["bench", "--data", "rowless", "--out", "e"],
        &["census", "--datasets", "x", "--data", "rowless"],
        &["bench", "--data", "corrupt", "--out", "a"],
        &["bench", "--data", "broken", "--out", "b"],
        &["census", "--datasets", "x", "--data", "broken"],
        &[
            "masks",
            "--vocabulary",
            "builtin",
            "--frameworks",
            "llguidance",
            "--data",
            "masks",
            "--out",
            "c",
        ],
        &["ifstruct", "score", "empty.jsonl"],
        &["ifstruct", "score", "bad.jsonl"],
        &["ifstruct", "score", "/dev/null", "--json"],
    ];
    for arguments in nothing {
        let (code, printed, said) = run(path, arguments);
        assert_eq!(code, 3, "{arguments:?}: {said}");
        assert!(
            said.contains("nothing was measured: ") && printed.is_empty(),
            "{arguments:?}: {printed}{said}"
        );
    }
}

#[test]
fn wrong_names_are_usage_errors_with_a_suggestion() {
    let directory = TempDir::new().unwrap();
    test_suite(directory.path());
    let categories = [&TEST_SUITE[..], &["--categories", "tpye"]].concat();
    let cases: [(&[&str], &str); 6] = [
        (&["bench", "--frameworks", "llguidence"], "did you mean \"llguidance\"?"),
        (&["bench", "--datasets", "bultin"], "builtin"),
        (&["bench", "--frameworx", "none"], "--frameworks"),
        (&["bnch"], "bench"),
        (&["man", "ifstrukt"], "did you mean \"ifstruct\"?"),
        (&categories, "did you mean \"type\"?"),
    ];
    for (arguments, needle) in cases {
        let (code, said) = fail(directory.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(needle), "{arguments:?}: {said}");
    }
}

#[test]
fn documents_beside_the_schema_are_found() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let item = json!({"type": "object", "properties": {"price": {"$ref": "parts/price.json"}}, "required": ["price"], "additionalProperties": false});
    write(path.join("documents/item.json"), item.to_string());
    write(
        path.join("documents/parts/price.json"),
        r#"{"$id": "https://example.org/price", "type": "integer"}"#,
    );
    let schema = json!({"$id": "https://example.com/order.json", "type": "array", "items": {"$ref": "item.json"}, "minItems": 1, "maxItems": 2});
    write(path.join("schema.json"), schema.to_string());
    write(path.join("good.json"), r#"[{"price": 1}]"#);
    write(path.join("bad.json"), r#"[{"price": "x"}]"#);
    for command in [
        &["check", "schema.json"][..],
        &["sample", "schema.json"],
        &["sample", "schema.json", "--check"],
    ] {
        let (code, printed, said) = run(path, command);
        assert!(
            code != 0 && format!("{printed}{said}").contains("--documents DIR|FILE"),
            "{printed}{said}"
        );
    }
    let documents = ["--documents", "documents"];
    let check = ["check", "schema.json", "--instance", "good.json"];
    let printed = succeed(path, &[&check[..], &documents].concat());
    assert!(printed.contains("no problems found"), "{printed}");
    let (code, printed, _) = run(path, &[&check[..], &["--instance", "bad.json"], &documents].concat());
    assert!(code == 1 && printed.contains("bad.json: forbidden"), "{printed}");
    let printed = succeed(
        path,
        &[&["sample", "schema.json", "-n", "3", "--check"][..], &documents].concat(),
    );
    assert_eq!(printed.lines().count(), 3);

    // Single files, and a schema without a base.
    write(path.join("plain.json"), r#"{"$ref": "item.json"}"#);
    let files = [
        "--documents",
        "documents/item.json",
        "--documents",
        "documents/parts/price.json",
    ];
    let plain = ["check", "plain.json", "--instance", "good.json"];
    let (code, printed, _) = run(path, &[&plain[..], &files].concat());
    assert!(
        code == 1 && printed.contains("refused: ") && printed.contains("parts/price.json"),
        "{printed}"
    );

    write(path.join("data/mine/schema.json"), schema.to_string());
    let bench = [
        "bench",
        "--frameworks",
        "maskwright",
        "--data",
        "data",
        "--threads",
        "1",
        "--max-tokens",
        "40",
        "--json",
    ];
    let printed = succeed(path, &[&bench[..], &documents, &["--out", "run"]].concat());
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["rows"][0]["empirical"], 1.0, "{report}");
    let (code, said) = fail(path, &[&bench[..], &["--out", "without"]].concat());
    assert!(code == 3 && said.contains("--documents DIR|FILE"), "{said}");

    // MaskBench: documents of the file itself, or beside all files.
    let tests = json!([{"data": [{"price": 1}], "valid": true}, {"data": [{"price": "x"}], "valid": false}]);
    let own =
        json!({"https://example.com/item.json": item, "https://example.com/parts/price.json": {"type": "integer"}});
    write(
        path.join("own/a.json"),
        json!({"schema": schema, "tests": tests, "documents": own}).to_string(),
    );
    write(
        path.join("other/a.json"),
        json!({"schema": schema, "tests": tests}).to_string(),
    );
    let masks = [
        "masks",
        "--vocabulary",
        "builtin",
        "--frameworks",
        "maskwright,maskwright-generation,llguidance",
        "--json",
    ];
    let passing = |more: &[&str]| {
        let report: Value = serde_json::from_str(&succeed(path, &[&masks[..], more].concat())).unwrap();
        ["maskwright", "maskwright-generation", "llguidance"]
            .map(|name| report["frameworks"][name]["passing"].as_u64().unwrap())
    };
    assert_eq!(passing(&["--data", "own", "--out", "m1"]), [1, 1, 0]);
    assert_eq!(
        passing(&["--data", "other", "--out", "m2", "--documents", "documents"]),
        [1, 1, 0]
    );
    assert_eq!(passing(&["--data", "other", "--out", "m3"]), [0, 0, 0]);
}

#[test]
fn names_of_others_do_not_reach_the_terminal_raw() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("data/mine/a\u{1b}[31mb.json"), "{\"type\": ");
    write(path.join("data/mine/c.json"), r#"{"type": "boolean"}"#);
    let arguments = [&BENCH[..], &["--data", "data"]].concat();
    let (code, printed, said) = run(path, &arguments);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("left out: mine/a\\u{1b}[31mb"), "{said}");
    assert!(!said.contains('\u{1b}') && !printed.contains('\u{1b}'));
}

#[test]
fn git_lfs_pointers_are_known() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    write(path.join("data/mine/a.json"), pointer);
    write(path.join("parquet/mine/a.parquet"), pointer);
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        write(path.join("model").join(file), pointer);
    }
    for arguments in [
        &["bench", "--data", "data", "--out", "a"][..],
        &["bench", "--data", "parquet", "--out", "b"],
        &["bench", "--model", "./model", "--out", "c"],
        &["check", "data/mine/a.json"],
    ] {
        let (_, printed, said) = run(path, arguments);
        assert!(
            format!("{printed}{said}").contains("Git LFS pointer"),
            "{arguments:?}: {printed}{said}"
        );
    }
}

#[test]
fn the_program_says_what_it_is_and_completes_its_arguments() {
    let directory = TempDir::new().unwrap();
    let version = succeed(directory.path(), &["--version"]);
    assert!(
        version.contains("(commit ") && version.contains("features: "),
        "{version}"
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = succeed(directory.path(), &["completions", shell]);
        assert!(script.contains("testsuite") && script.contains("max-tokens"), "{shell}");
    }
    let page = succeed(directory.path(), &["man", "ifstruct", "run"]);
    assert!(page.contains(".TH") && page.contains("generation\\-limit"), "{page}");
    let help = succeed(directory.path(), &["--help"]);
    for needle in ["MASKWRIGHT_CACHE", "NO_COLOR", "Exit codes", "--quiet", "--verbose"] {
        assert!(help.contains(needle), "{needle}: {help}");
    }
    // An installed program has no folders of the repository beside it.
    let commands = [
        "bench",
        "census",
        "check",
        "fetch",
        "ifstruct",
        "ifstruct run",
        "ifstruct score",
        "list",
        "masks",
        "sample",
        "testsuite",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = succeed(directory.path(), &words);
        for folder in ["docs/", "harness/", "scripts/"] {
            let relative = help
                .split_whitespace()
                .find(|word| word.contains(folder) && !word.contains("://"));
            assert_eq!(relative, None, "{command}");
        }
    }
    let quiet = program(directory.path(), &[&BENCH[..], &["--limit", "1", "--quiet"]].concat())
        .output()
        .unwrap();
    let (code, _, said) = end(&quiet);
    assert_eq!((code, said.as_str()), (0, ""));
}

#[test]
fn endless_input_is_no_reason_to_take_all_memory() {
    let directory = TempDir::new().unwrap();
    for arguments in [&["check", "/dev/zero"][..], &["sample", "/dev/zero"]] {
        let (code, said) = fail(directory.path(), arguments);
        assert!(code == 3 && said.contains("more than 256 MiB"), "{said}");
    }
    write(directory.path().join("replies.jsonl"), "{}\n");
    for arguments in [
        &["ifstruct", "score", "/dev/zero"][..],
        &["ifstruct", "score", "replies.jsonl", "--samples", "/dev/zero"],
    ] {
        let (code, said) = fail(directory.path(), arguments);
        assert!(code == 3 && said.contains("line 1 has no end within"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_unicode_are_no_reason_to_panic() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = TempDir::new().unwrap();
    mask_bench(directory.path());
    let out = std::ffi::OsStr::from_bytes(b"run-\xff");
    let output = program(directory.path(), &MASKS)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap();
    assert_eq!(end(&output).0, 0);
    assert_eq!(lines(&directory.path().join(out).join("records.jsonl")).len(), 1);
}
