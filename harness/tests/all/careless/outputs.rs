//! What the program writes: to standard error, to files, into directories of runs, and at which width.

use super::*;

#[cfg(target_os = "linux")]
#[test]
fn messages_that_nobody_can_read_end_no_run() {
    let directory = TempDir::new().unwrap();
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let mut check = program(directory.path(), &["check", "nowhere.json"]);
    assert_eq!(check.stderr(full()).status().unwrap().code(), Some(3));
    let mut bench = program(directory.path(), &[&BENCH[..], &["--limit", "2"]].concat());
    bench.env("MASKWRIGHT_LOG", "trace");
    assert!(bench.stderr(full()).stdout(full()).status().unwrap().code() == Some(4));
    assert_eq!(lines(&directory.path().join("run/records.jsonl")).len(), 4);
    // A pipe whose reader has gone.
    let mut resumed = program(directory.path(), &["bench", "--resume", "--out", "run"]);
    let mut child = resumed.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_are_not_written_over_and_never_half_written() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let file = path.join("samples.jsonl");
    fs::write(&file, "precious\n").unwrap();
    let generate = ["ifstruct", "generate", "--split", "test", "--out", "samples.jsonl"];
    let few = [&generate[..], &["-n", "3"]].concat();
    let (code, said) = fail(path, &few);
    assert!(
        code == 4 && said.contains("samples.jsonl is there already") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(lines(&file), ["precious"]);
    // The old file stays until the new one is whole.
    let many = [&generate[..], &["-n", "1000000", "--force"]].concat();
    let mut child = spawn(program(path, &many));
    let partial = path.join("samples.jsonl.partial");
    wait_until("it writes", || {
        fs::metadata(&partial).is_ok_and(|partial| partial.len() > 0)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines(&file), ["precious"]);
    succeed(path, &[&few[..], &["--force"]].concat());
    assert_eq!(lines(&file).len(), 3);
    assert!(!partial.exists());

    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("samples.jsonl", path.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", path.join("lost")).unwrap();
        let to = |out| ["ifstruct", "generate", "--split", "test", "-n", "2", "--out", out];
        succeed(path, &[&to("link")[..], &["--force"]].concat());
        assert!(lines(&file).len() == 2 && path.join("link").is_symlink());
        let (code, said) = fail(path, &to("lost"));
        assert!(
            code == 4 && said.contains("a link to a place that is not there"),
            "{said}"
        );
    }

    let run = [
        "ifstruct",
        "run",
        "--split",
        "test",
        "-n",
        "1",
        "--modes",
        "unconstrained",
        "--max-tokens",
        "8",
    ];
    succeed(path, &[&run[..], &["--out", "run"]].concat());
    let page = ["ifstruct", "leaderboard", "run", "--html", "samples.jsonl"];
    let (code, said) = fail(path, &page);
    assert!(code == 4 && said.contains("is there already"), "{said}");
    succeed(path, &[&page[..], &["--force"]].concat());
    assert!(lines(&file)[0].starts_with("<!"), "{:?}", lines(&file)[0]);
    // Every run's report says what it was.
    let report = fs::read_to_string(path.join("run/report.md")).unwrap();
    for needle in [
        "# maskwright ifstruct run",
        "- command: `maskwright ifstruct run",
        "- hardware: ",
        "- models: builtin (",
        "- started: ",
        "- program: maskwright 0",
    ] {
        assert!(report.contains(needle), "{needle}: {report}");
    }
}

#[test]
fn a_run_that_measured_nothing_is_not_in_the_way_and_no_data() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    write(path.join("wrong/a.json"), "[1]");
    write(path.join("broken/x/a.json"), "{");
    let masks = [
        "masks",
        "--frameworks",
        "llguidance",
        "--vocabulary",
        "builtin",
        "--out",
        "run",
    ];
    let (code, said) = fail(path, &[&masks[..], &["--data", "wrong"]].concat());
    assert!(code == 3 && said.contains("nothing was measured"), "{said}");
    assert!(!path.join("run").exists());
    let (code, _) = fail(path, &[&BENCH[..], &["--data", "broken"]].concat());
    assert!(code == 3 && !path.join("run").exists());
    let printed = succeed(path, &[&masks[..], &["--data", "bench"]].concat());
    // The result stands at the end, however much is refused.
    assert!(
        printed.trim_end().ends_with("llguidance: 1 of 1 schemas right."),
        "{printed}"
    );

    for command in ["masks", "bench", "census", "list"] {
        let (code, said) = fail(path, &[command, "--data", "run"]);
        assert!(
            code == 2 && said.contains("run holds a run, not schemas"),
            "{command}: {said}"
        );
    }
}

#[test]
fn results_do_not_hide_behind_lists() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    for number in 0..6 {
        let file = json!({"schema": {"type": format!("kind{number}")}, "tests": [{"data": 1, "valid": true}]});
        write(path.join(format!("bench/{number}.json")), file.to_string());
    }
    let arguments = [
        "masks",
        "--frameworks",
        "maskwright,llguidance",
        "--vocabulary",
        "builtin",
        "--data",
        "bench",
        "--out",
        "run",
    ];
    let printed = succeed(path, &arguments);
    let listed = printed.lines().filter(|line| line.starts_with("llguidance refused"));
    assert!(
        listed.count() <= 4 && printed.contains("for other reasons"),
        "{printed}"
    );
    let end = printed.find("TBM: mask and advance").expect("a legend");
    assert!(
        printed[end..].contains("llguidance: 0 of 6 schemas right; 6 refused."),
        "{printed}"
    );
}

/// What a framework compiles first, nobody counts.
#[cfg(unix)]
#[test]
fn a_first_compilation_is_on_no_record() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    write(path.join("data/mine/a.json"), r#"{"enum": ["first", "second"]}"#);
    let script = format!("tee -a \"$1\" | '{PROGRAM}' worker llguidance\n");
    write(path.join("worker.sh"), script);
    let compiled = |log: &str| -> Vec<String> {
        let all = lines(&path.join(log)).into_iter();
        all.filter(|line| line.starts_with(r#"{"op":"compile""#)).collect()
    };
    for (command, data) in [
        (&["masks", "--vocabulary", "builtin"][..], "bench"),
        (&["bench", "--threads", "1"], "data"),
    ] {
        let log = format!("{data}.log");
        let worker = format!("mine=sh worker.sh {log}");
        let out = format!("run-{data}");
        let more = [
            "--frameworks",
            "mine",
            "--worker",
            &worker,
            "--data",
            data,
            "--out",
            &out,
        ];
        succeed(path, &[command, &more].concat());
        let compiled = compiled(&log);
        assert_eq!(compiled.len(), 2, "{compiled:?}");
        assert!(compiled[0].contains("word"), "{}", compiled[0]);
        assert_eq!(lines(&path.join(&out).join("records.jsonl")).len(), 1);
    }
}

/// The README's commands are captured at 80 columns by `docs.rs`; these are the others.
#[test]
fn what_is_printed_fits_into_80_columns() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    test_suite(path);
    mask_bench(path);
    let bench = [
        "bench",
        "--limit",
        "2",
        "--max-tokens",
        "40",
        "--threads",
        "1",
        "--paper",
    ];
    let ifstruct = [
        "ifstruct",
        "run",
        "--split",
        "test",
        "-n",
        "2",
        "--max-tokens",
        "30",
        "--threads",
        "1",
        "--out",
        "e",
    ];
    let masks = [&MASKS[..], &["--frameworks", "maskwright,llguidance"]].concat();
    let masks: Vec<&str> = masks.into_iter().skip(3).collect();
    let mut commands: Vec<Vec<&str>> = vec![
        [&bench[..], &["--out", "a", "--percentiles"]].concat(),
        [&bench[..], &["--out", "b"]].concat(),
        [
            &["masks"],
            &masks[..],
            &["--out", "c", "--percentiles", "--repeat", "2"],
        ]
        .concat(),
        [&TEST_SUITE[..], &["--out", "d", "--paper", "--failures"]].concat(),
        ifstruct.to_vec(),
        vec!["ifstruct", "leaderboard", "e"],
        vec![
            "ifstruct", "generate", "--split", "test", "-n", "9", "--out", "f.jsonl", "--stats",
        ],
        vec!["list"],
        vec!["fetch"],
        vec!["census", "--top", "5"],
        vec!["--help"],
        vec!["-h"],
        vec!["ifstruct", "--help"],
    ];
    commands.extend(super::COMMANDS.map(|command| command.split(' ').chain(["--help"]).collect()));
    for arguments in &commands {
        let output = program(path, arguments).env("COLUMNS", "80").output().unwrap();
        let (code, printed, said) = end(&output);
        assert_eq!(code, 0, "{arguments:?}: {said}");
        for line in printed.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}:\n{line}\n{printed}");
        }
        // Percentiles are printed on request only.
        if arguments[0] == "bench" && arguments.len() > 2 {
            assert_eq!(printed.contains("Tails"), arguments.contains(&"--percentiles"));
            for needle in ["tokens/s", "valid answers: ", "for each token: ", "times"] {
                assert!(printed.contains(needle), "{needle}: {printed}");
            }
        }
        if arguments[0] == "masks" && arguments.len() > 2 {
            assert!(printed.contains("times"), "{printed}");
        }
    }
    for (run, needle) in [
        ("a", "# maskwright bench"),
        ("d", "# maskwright testsuite"),
        ("c", "# maskwright masks"),
    ] {
        let report = fs::read_to_string(path.join(run).join("report.md")).unwrap();
        for needle in [
            needle,
            "- command: `maskwright ",
            "- hardware: ",
            "- frameworks: ",
            "- started: ",
            " at commit ",
        ] {
            assert!(report.contains(needle), "{run}, {needle}: {report}");
        }
    }
}
