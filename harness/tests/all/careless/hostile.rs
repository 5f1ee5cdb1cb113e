//! Input of people who mean no good, and options that make no sense.

use super::*;

/// Every wrong use of an option is a usage error that names what is wrong, and nothing is begun.
#[test]
fn wrong_usage_is_told_as_such_by_every_command() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("schema.json"), "{}");
    fs::create_dir(path.join("x")).unwrap();
    let cases: [(&[&str], &str); 22] = [
        (&["bench", "--seed", "-1"], "invalid value '-1' for '--seed"),
        (&["bench", "--temperature", "-1"], "temperature is -1"),
        (&["bench", "--repeat", "1000000000000"], "must be 1000 or less"),
        (&["masks", "--repeat", "0"], "must be 1 or more"),
        (&["bench", "--revision", "main"], "--revision is for models of the hub"),
        (
            &["ifstruct", "run", "--model", "builtin,./x", "--revision", "main"],
            "builtin, ./x is none",
        ),
        (&["bench", "--model", "a/b@c", "--revision", "main"], "--revision"),
        (&["bench", "--frameworks", ","], "nothing to compare"),
        (&["bench", "--datasets", ""], "there is no dataset \"\""),
        (&["bench", "--resume"], "--out"),
        (&["bench", "--max-cost", "1"], "--max-cost needs the prices"),
        (
            &["bench", "--server", "s=http://h/v1,model=m,connect=1e19"],
            "connect=1e19",
        ),
        (&["masks", "--frameworks", "none"], "none is the model alone"),
        (&["testsuite", "--draft", "3"], "known are 4, 6, 7"),
        (&["sample", "schema.json", "-n", "-1"], "-1"),
        (&["sample", "schema.json", "--time-limit", "0"], "must be above 0"),
        (&["check", "schema.json", "more"], "unexpected argument 'more'"),
        (&["census", "--top", "x"], "--top"),
        (&["fetch", "--force", "--offline", "test-suite"], "--offline"),
        (&["ifstruct", "generate", "--split", "test", "--force"], "--out"),
        (&["ifstruct", "leaderboard", "x", "--force"], "--html"),
        (&["completions", "tcsh"], "[possible values: bash"),
    ];
    for (arguments, needle) in cases {
        let (code, said) = fail(path, arguments);
        assert!(code == 2 && said.contains(needle), "{arguments:?}: {code} {said}");
    }
    for command in super::COMMANDS {
        let arguments: Vec<&str> = command.split(' ').chain(["--no-such-option"]).collect();
        let (code, said) = fail(path, &arguments);
        assert!(code == 2 && said.contains("'--no-such-option'"), "{command}: {said}");
    }
    assert!(!path.join("runs").exists());
}

/// Names of files may come from anybody, and reach the command line by a shell's `*`.
#[test]
fn nothing_of_others_is_obeyed_by_the_terminal_or_passes_for_a_line_of_ours() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("schema.json"), "{}");
    let raw = |text: &str| text.contains(['\u{1b}', '\u{202e}']);
    for arguments in [
        &["check", "schema.json", "\u{1b}[31mred"][..],
        &["check", "\u{1b}[31m\u{202e}red"],
        &["bench", "--frameworks", "\u{1b}[31m"],
        &["bench", "--out", "\u{1b}/x", "--datasets", "\u{202e}"],
        &["ifstruct", "leaderboard", "\u{1b}[31m"],
        &["man", "\u{1b}[31m"],
    ] {
        let (_, printed, said) = run(path, arguments);
        assert!(!raw(&said) && !raw(&printed), "{arguments:?}: {said}");
    }
    let part = json!({"const": 1, "type": "string"});
    let schema = json!({"properties": {"a\nno problems found: \u{202e}x": part}});
    write(path.join("forged.json"), schema.to_string());
    let (code, printed, _) = run(path, &["check", "forged.json", "--instance", "schema.json"]);
    assert_eq!(code, 1);
    assert!(!raw(&printed) && !printed.contains("\nno problems found"), "{printed}");
    let (_, said) = fail(path, &["check", "no\nerror: forged"]);
    assert_eq!(said.matches("\nerror:").count(), 0, "{said}");
}

/// Steps of a template are counted, but a text that is doubled in each takes all memory after forty.
#[cfg(target_os = "linux")]
#[test]
fn a_chat_template_cannot_take_all_memory() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    let model = model(path);
    let doubled =
        "{% set s = namespace(x='x' * 1000) %}{% for i in range(60) %}{% set s.x = s.x ~ s.x %}{% endfor %}done";
    let replaced = "{% set s = 'x' * 8000000 %}{{ s | replace('x', s) | length }}";
    // On a busy machine, the second takes its time before it takes its memory.
    for (template, needle) in [(doubled, "takes more than 512 MiB of memory"), (replaced, ": takes ")] {
        write(model.join("chat_template.jinja"), template);
        let arguments = [
            "bench",
            "--model",
            "./model",
            "--frameworks",
            "none",
            "--limit",
            "1",
            "--out",
            "run",
        ];
        // Whoever is not stopped in time is stopped by this.
        let limited = Command::new("sh")
            .args(["-c", "ulimit -v 16000000; exec \"$@\"", "sh", PROGRAM])
            .args(arguments)
            .current_dir(path)
            .output()
            .unwrap();
        let (code, _, said) = end(&limited);
        assert!(code == 3 && said.contains(needle), "{code} {said}");
        let _ = fs::remove_dir_all(path.join("run"));
    }
}

/// A pipe without a writer keeps nobody waiting.
#[cfg(unix)]
#[test]
fn pipes_among_files_are_not_waited_for() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    write(path.join("schema.json"), "{}");
    for folder in ["documents", "data/mine", "bench"] {
        fs::create_dir_all(path.join(folder)).unwrap();
        let made = Command::new("mkfifo").arg(path.join(folder).join("a.json")).status();
        assert!(made.unwrap().success());
    }
    for arguments in [
        &["check", "schema.json", "--documents", "documents"][..],
        &["bench", "--data", "data", "--out", "a", "--frameworks", "none"],
        &["masks", "--data", "bench", "--vocabulary", "builtin", "--out", "b"],
    ] {
        let mut child = spawn(program(path, arguments));
        wait_until("it ends", || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(3), "{arguments:?}");
    }
}

#[test]
fn a_document_that_takes_too_long_is_given_up() {
    let directory = TempDir::new().unwrap();
    let schema = json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 1000});
    write(directory.path().join("schema.json"), schema.to_string());
    let arguments = [
        "sample",
        "schema.json",
        "--max-bytes",
        "100000",
        "--time-limit",
        "0.000001",
    ];
    let (code, said) = fail(directory.path(), &arguments);
    assert!(code == 3 && said.contains("--time-limit"), "{said}");
}

/// The user who cannot wait for the record in hand presses Ctrl-C again.
#[cfg(unix)]
#[test]
fn a_second_interruption_ends_at_once() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    write(
        path.join("slow.sh"),
        r#"while IFS= read -r line; do case "$line" in
        *'"op":"hello"'*) echo '{"name":"slow","version":"1","options":""}' ;;
        *'"op":"compile"'*) : > compiling; exec sleep 1000 ;;
        *) echo '{}' ;;
        esac; done"#,
    );
    let arguments = [
        "masks",
        "--frameworks",
        "slow",
        "--worker",
        "slow=sh slow.sh",
        "--vocabulary",
        "builtin",
        "--data",
        "bench",
        "--out",
        "run",
    ];
    let mut child = spawn(program(path, &arguments));
    wait_until("it compiles", || path.join("compiling").exists());
    let interrupt = || {
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(status.unwrap().success());
        std::thread::sleep(Duration::from_millis(300));
    };
    interrupt();
    interrupt();
    let start = Instant::now();
    let code = child.wait().unwrap().code();
    assert!(
        code == Some(130) && start.elapsed() < Duration::from_secs(20),
        "{code:?}"
    );
}

#[test]
fn what_cannot_be_logged_by_is_told() {
    let directory = TempDir::new().unwrap();
    write(directory.path().join("schema.json"), "{}");
    let mut check = program(directory.path(), &["check", "schema.json"]);
    let (code, _, said) = end(&check.env("MASKWRIGHT_LOG", "maskwright=nonsense=x").output().unwrap());
    assert!(
        code == 0 && said.contains("MASKWRIGHT_LOG is") && said.contains("maskwright=trace"),
        "{said}"
    );
}

/// A run of another command is known before its data are looked for.
#[test]
fn another_commands_run_is_told_before_anything_else() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    succeed(path, &[&BENCH[..], &["--limit", "1"]].concat());
    for command in [&["masks"][..], &["testsuite"], &["ifstruct", "run"]] {
        let (code, said) = fail(path, &[command, &["--resume", "--out", "run"]].concat());
        assert!(
            code == 4 && said.contains("a run of `maskwright bench`"),
            "{command:?}: {said}"
        );
    }
}
