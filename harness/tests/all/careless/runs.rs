//! Directories of runs: written by one process, continued, complete.

use super::*;

#[test]
fn two_runs_never_write_one_directory() {
    let directory = TempDir::new().unwrap();
    let long = [&BENCH[..], &["--datasets", "heldout", "--limit", "200"]].concat();
    let mut first = spawn(program(directory.path(), &long));
    let records = directory.path().join("run/records.jsonl");
    wait_until("a first record", || !lines(&records).is_empty());
    let (code, said) = fail(directory.path(), &[&long[..], &["--resume"]].concat());
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("another process is writing the run"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn records_that_stand_twice_or_are_of_another_run_are_errors_with_their_line() {
    let directory = TempDir::new().unwrap();
    let records = directory.path().join("run/records.jsonl");
    succeed(directory.path(), &[&BENCH[..], &["--limit", "2"]].concat());
    let known = lines(&records);
    assert_eq!(known.len(), 4);
    let resume = || fail(directory.path(), &["bench", "--resume", "--out", "run"]);
    fs::write(&records, [&known[..], &known[..1]].concat().join("\n") + "\n").unwrap();
    let (code, said) = resume();
    assert!(
        code == 4 && said.contains("records.jsonl, line 5: a second record of"),
        "{said}"
    );
    let foreign = known[1].replace(r#""instance":""#, r#""instance":"not-"#);
    fs::write(&records, [&known[..1], &[foreign]].concat().join("\n") + "\n").unwrap();
    let (code, said) = resume();
    assert!(
        code == 4 && said.contains("line 2:") && said.contains("is no question of this run"),
        "{said}"
    );
}

#[test]
fn resume_alone_continues_with_the_options_of_the_manifest() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let records = out.join("records.jsonl");
    succeed(
        directory.path(),
        &[&BENCH[..], &["--limit", "2", "--seed", "3"]].concat(),
    );
    let whole = lines(&records);
    fs::write(&records, format!("{}\n", whole[0])).unwrap();
    succeed(directory.path(), &["bench", "--resume", "--out", "run"]);
    assert_eq!(lines(&records).len(), 4);

    // What differs is told option by option.
    let changed = [
        "bench",
        "--resume",
        "--out",
        "run",
        "--shots",
        "1",
        "--max-tokens",
        "41",
    ];
    let (code, said) = fail(directory.path(), &changed);
    assert_eq!(code, 4);
    for needle in ["--shots was 2, now 1", "--max-tokens was 40, now 41"] {
        assert!(said.contains(needle), "{said}");
    }
    // Another command's run is known as such.
    mask_bench(directory.path());
    let (code, said) = fail(directory.path(), &[&MASKS[..], &["--resume", "--out", "run"]].concat());
    assert!(code == 4 && said.contains("a run of `maskwright bench`"), "{said}");
    let (_, said) = fail(directory.path(), &[&MASKS[..], &["--out", "run"]].concat());
    assert!(said.contains("holds a run of `maskwright bench` already"), "{said}");

    // A damaged manifest is no dead end, and one that is gone is written anew from the options.
    let manifest = fs::read(out.join("manifest.json")).unwrap();
    fs::write(out.join("manifest.json"), &manifest[..manifest.len() / 2]).unwrap();
    let (code, said) = fail(directory.path(), &[&BENCH[..], &["--limit", "2", "--resume"]].concat());
    assert!(code == 4 && said.contains("remove this file"), "{said}");
    fs::remove_file(out.join("manifest.json")).unwrap();
    let (code, said) = fail(
        directory.path(),
        &["bench", "--resume", "--out", "run", "--frameworks", "none"],
    );
    assert!(
        code == 4 && said.contains("manifest.json is gone: give the options"),
        "{said}"
    );
    succeed(
        directory.path(),
        &[&BENCH[..], &["--limit", "2", "--seed", "3", "--resume"]].concat(),
    );
    assert_eq!(lines(&records).len(), 4);
    assert!(out.join("manifest.json").exists());
}

/// A run over other data by the same names is another run.
#[test]
fn data_that_changed_are_told() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    succeed(path, &[&MASKS[..], &["--out", "run"]].concat());
    let other = json!({"schema": {"type": "null"}, "tests": [{"data": null, "valid": true}]});
    write(path.join("bench/one.json"), other.to_string());
    let (code, said) = fail(path, &["masks", "--resume", "--out", "run"]);
    assert!(code == 4 && said.contains("the data was"), "{said}");
}

#[test]
fn nothing_is_said_to_be_kept_where_nothing_is() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    mask_bench(directory.path());
    test_suite(directory.path());
    for command in [&MASKS[..], &TEST_SUITE, &["bench", "--limit", "1"]] {
        for place in ["file", "file/below", "/proc/nowhere"] {
            let (code, said) = fail(directory.path(), &[command, &["--out", place]].concat());
            assert_eq!(code, 4, "{said}");
            assert!(!said.contains("kept") && !said.contains("--resume"), "{said}");
        }
    }
    assert!(!directory.path().join("runs").exists());
    // Results do not go among the data, whose files they would then be.
    let (code, said) = fail(directory.path(), &[&MASKS[..], &["--out", "bench"]].concat());
    assert!(code == 4 && said.contains("has files that are not a run's"), "{said}");
}

#[test]
fn a_run_of_the_test_suite_is_resumed_and_its_tables_are_printed_whatever_happens() {
    let directory = TempDir::new().unwrap();
    test_suite(directory.path());
    // A part that is named twice counts once.
    let arguments = [&TEST_SUITE[..], &["--out", "run", "--parts", "required,required"]].concat();
    let printed = succeed(directory.path(), &arguments);
    assert!(printed.contains("Cases passed: llguidance 1 of 2."), "{printed}");
    let records = directory.path().join("run/records.jsonl");
    let known = lines(&records);
    assert_eq!(known.len(), 2);
    // The outcome on record is taken as it is: nothing is judged again.
    let mut changed: Value = serde_json::from_str(&known[0]).unwrap();
    changed["outcome"]["failures"] = json!([{"kind": "crashed", "reason": "made up"}]);
    fs::write(&records, format!("{changed}\n")).unwrap();
    let printed = succeed(
        directory.path(),
        &["testsuite", "--resume", "--out", "run", "--failures"],
    );
    assert!(printed.contains("made up"), "{printed}");
    assert_eq!(lines(&records).len(), 2);

    // Writes past the end of a full disk fail, which a limit on the size of files stands in for.
    let full = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", PROGRAM])
        .args([&TEST_SUITE[..], &["--resume", "--out", "run"]].concat())
        .current_dir(directory.path())
        .output()
        .unwrap();
    let (code, printed, said) = end(&full);
    assert_eq!(code, 4, "{said}");
    assert!(
        printed.contains("Cases passed:") && said.contains("2 records are kept"),
        "{printed}{said}"
    );
}

#[test]
fn a_leaderboard_is_made_of_its_own_runs_only() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    succeed(path, &[&MASKS[..], &["--out", "masks"]].concat());
    for (run, needle) in [
        ("masks", "holds a run of `maskwright masks`"),
        ("bench", "holds no run"),
    ] {
        let (code, said) = fail(path, &["ifstruct", "leaderboard", run]);
        assert!(code == 2 && said.contains(needle), "{said}");
    }
    let ifstruct = [
        "ifstruct",
        "run",
        "--split",
        "test",
        "-n",
        "1",
        "--modes",
        "constrained",
        "--max-tokens",
        "40",
        "--out",
        "run",
    ];
    succeed(path, &ifstruct);
    succeed(path, &["ifstruct", "leaderboard", "run"]);
    let records = path.join("run/records.jsonl");
    let line = lines(&records).remove(0);
    // A last line that is being written is left out.
    fs::write(&records, format!("{line}\n{{\"model\"")).unwrap();
    succeed(path, &["ifstruct", "leaderboard", "run"]);
    // Replies that were judged at another level are in no common table.
    fs::create_dir(path.join("strict")).unwrap();
    for name in ["records.jsonl", "samples.jsonl"] {
        fs::copy(path.join("run").join(name), path.join("strict").join(name)).unwrap();
    }
    let manifest = fs::read_to_string(path.join("run/manifest.json")).unwrap();
    write(
        path.join("strict/manifest.json"),
        manifest.replace("\"public\"", "\"strict\""),
    );
    let (code, said) = fail(path, &["ifstruct", "leaderboard", "run", "strict"]);
    assert!(
        code == 2 && said.contains("level \"public\" and strict at \"strict\""),
        "{said}"
    );
    fs::write(&records, format!("{line}\n{line}\n")).unwrap();
    let (code, said) = fail(path, &["ifstruct", "leaderboard", "run"]);
    assert!(
        code == 4 && said.contains("line 2: a second reply of builtin to seed"),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn workers_end_with_a_harness_that_is_killed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    mask_bench(path);
    // It neither reads nor answers.
    write(path.join("hangs.sh"), "echo $$ > pid\nexec sleep 1000\n");
    let arguments = [
        "masks",
        "--frameworks",
        "hangs",
        "--worker",
        "hangs=sh hangs.sh",
        "--data",
        "bench",
        "--out",
        "run",
    ];
    let mut harness = spawn(program(path, &arguments));
    let pid = || {
        fs::read_to_string(path.join("pid"))
            .ok()
            .and_then(|text| text.trim().parse::<u32>().ok())
    };
    wait_until("the worker has started", || pid().is_some());
    let worker = Path::new("/proc").join(pid().unwrap().to_string());
    let is_running = || fs::read_to_string(worker.join("stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(is_running());
    harness.kill().unwrap();
    harness.wait().unwrap();
    wait_until("the worker has ended", || !is_running());
}

#[test]
fn output_to_a_closed_pipe_ends_the_command() {
    let directory = TempDir::new().unwrap();
    write(
        directory.path().join("schema.json"),
        r#"{"type": "array", "items": {"type": "string"}}"#,
    );
    for arguments in [
        &["sample", "schema.json", "-n", "100000000"][..],
        &["ifstruct", "generate", "--split", "test", "-n", "1000000"],
    ] {
        let mut child = program(directory.path(), arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        wait_until("it ends", || child.try_wait().unwrap().is_some());
        assert!(child.wait().unwrap().success());
    }
}
