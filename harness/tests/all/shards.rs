//! Runs that are measured in parts, and put together again.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::program::{end, program};

/// Files of the data, of which each of three parts has some.
const FILES: usize = 12;

fn run(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    end(&program().current_dir(directory).args(arguments).output().unwrap())
}

fn succeed(directory: &Path, arguments: &[&str]) -> (String, String) {
    let (code, printed, said) = run(directory, arguments);
    assert_eq!(code, 0, "{arguments:?}: {said}");
    (printed, said)
}

/// The end of a command that has to fail: its exit code, and what it said.
fn fail(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let (code, printed, said) = run(directory, arguments);
    assert_ne!(code, 0, "{arguments:?}: {printed}");
    (code, said)
}

/// A directory with the data of a small run of `masks`.
fn data() -> TempDir {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().join("data");
    fs::create_dir(&folder).unwrap();
    for number in 0..FILES {
        let file = json!({
            "schema": {"type": "integer", "maximum": number},
            "tests": [{"data": number, "valid": true}, {"data": number + 1, "valid": false}],
        });
        fs::write(folder.join(format!("o---{number}.json")), file.to_string()).unwrap();
    }
    directory
}

/// The command that measures the data, with further arguments.
fn masks<'a>(further: &[&'a str]) -> Vec<&'a str> {
    [
        &["masks", "--data", "data", "--frameworks", "maskwright,llguidance"],
        further,
    ]
    .concat()
}

fn measure(directory: &Path, part: &str, out: &str) -> String {
    succeed(directory, &masks(&["--shard", part, "--out", out])).1
}

fn records(directory: &Path) -> Vec<Value> {
    let text = fs::read_to_string(directory.join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What records say without their times, in the order of what they are about.
fn untimed(records: &[Value], members: &[&str]) -> Vec<String> {
    let untimed = |record: &Value| {
        let members = members.iter().map(|pointer| record.pointer(pointer));
        serde_json::to_string(&members.collect::<Vec<_>>()).unwrap()
    };
    let mut lines: Vec<String> = records.iter().map(untimed).collect();
    lines.sort();
    lines
}

#[test]
fn parts_put_together_are_the_run_in_one_piece() {
    let directory = data();
    let at = directory.path();
    succeed(at, &masks(&["--out", "one"]));
    for part in ["1/3", "2/3", "3/3"] {
        let said = measure(at, part, "parts");
        assert!(said.contains(&format!("part {part}")), "{said}");
    }
    assert!(
        !at.join("parts/shard-1-of-3/report.md").exists(),
        "tables are made of all parts"
    );
    let (printed, _) = succeed(at, &["merge", "parts", "--out", "whole", "--json"]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["frameworks"]["llguidance"]["schemas"], FILES);
    let members = ["/framework", "/file", "/instances"];
    let (one, whole) = (records(&at.join("one")), records(&at.join("whole")));
    assert_eq!(whole.len(), 2 * FILES);
    assert_eq!(untimed(&one, &members), untimed(&whole, &members));
    let heading = fs::read_to_string(at.join("whole/report.md")).unwrap();
    assert!(heading.contains("in 3 parts"), "{heading}");
    // The whole is a run like others.
    succeed(at, &masks(&["--resume", "--out", "whole"]));
    assert_eq!(records(&at.join("whole")).len(), 2 * FILES);
}

#[test]
fn a_merged_run_has_the_files_of_a_run_in_one_piece() {
    let directory = TempDir::new().unwrap();
    let at = directory.path();
    let tests = at.join("data/tests/draft2020-12");
    fs::create_dir_all(&tests).unwrap();
    fs::create_dir(at.join("data/remotes")).unwrap();
    for keyword in ["maximum", "minimum", "const", "multipleOf"] {
        let valid = json!({"description": "equal", "data": 3, "valid": true});
        let group = json!([{"description": keyword, "schema": {keyword: 3}, "tests": [valid]}]);
        fs::write(tests.join(format!("{keyword}.json")), group.to_string()).unwrap();
    }
    let suite = |further: &[&str]| succeed(at, &[&["testsuite", "--data", "data"], further].concat());
    suite(&["--out", "one"]);
    suite(&["--out", "parts", "--shard", "1/2"]);
    suite(&["--out", "parts", "--shard", "2/2"]);
    succeed(at, &["merge", "parts", "--out", "whole"]);
    for file in fs::read_dir(at.join("one")).unwrap() {
        let name = file.unwrap().file_name();
        assert!(at.join("whole").join(&name).exists(), "{}", name.display());
    }
    for name in ["heat-map.svg", "failures.txt"] {
        let [one, whole] = ["one", "whole"].map(|run| fs::read_to_string(at.join(run).join(name)).unwrap());
        assert_eq!(one, whole, "{name}");
    }
}

#[test]
fn models_answer_in_parts_as_in_one_run() {
    let directory = TempDir::new().unwrap();
    let at = directory.path();
    let bench = |further: &[&str]| {
        let bench = [
            "bench",
            "--frameworks",
            "llguidance,none",
            "--max-tokens",
            "20",
            "--threads",
            "1",
            "--limit",
            "5",
        ];
        succeed(at, &[&bench, further].concat())
    };
    bench(&["--out", "one"]);
    bench(&["--out", "parts", "--shard", "1/2"]);
    bench(&["--out", "parts", "--shard", "2/2"]);
    succeed(
        at,
        &["merge", "parts/shard-1-of-2", "parts/shard-2-of-2", "--out", "whole"],
    );
    let members = [
        "/model",
        "/framework",
        "/dataset",
        "/instance",
        "/generation/text",
        "/generation/finish",
    ];
    let (one, whole) = (records(&at.join("one")), records(&at.join("whole")));
    assert_eq!(whole.len(), 10);
    assert_eq!(untimed(&one, &members), untimed(&whole, &members));
}

#[test]
fn a_killed_part_is_continued_by_its_own_command() {
    let directory = data();
    let at = directory.path();
    measure(at, "1/2", "parts");
    measure(at, "2/2", "parts");
    let part = at.join("parts/shard-2-of-2/records.jsonl");
    let text = fs::read_to_string(&part).unwrap();
    let first = text.lines().next().unwrap();
    // What a task leaves that is killed while it writes its second record.
    fs::write(&part, format!("{first}\n{}", &first[..10])).unwrap();
    let (code, said) = fail(at, &["merge", "parts", "--out", "whole"]);
    let lacks = format!("part 2/2 has 1 of {} records", text.lines().count());
    assert!(code == 5 && said.contains(&lacks), "{said}");
    assert!(!at.join("whole").exists());
    measure(at, "2/2", "parts");
    let again = fs::read_to_string(&part).unwrap();
    assert_eq!(again.lines().count(), text.lines().count());
    assert_eq!(
        again.lines().next(),
        Some(first),
        "what is on record is not measured again"
    );
    succeed(at, &["merge", "parts", "--out", "whole"]);
}

#[test]
fn what_does_not_belong_together_is_not_put_together() {
    let directory = data();
    let at = directory.path();
    measure(at, "1/3", "parts");
    measure(at, "2/3", "parts");
    let (code, said) = fail(at, &["merge", "parts", "--out", "whole"]);
    assert!(code == 5 && said.contains("part 3/3 is not there"), "{said}");
    let (_, said) = succeed(at, &["merge", "parts", "--partial", "--out", "two"]);
    assert!(said.contains("missing: part 3/3"), "{said}");
    // What is missing is measured there, as in any run.
    succeed(at, &masks(&["--resume", "--out", "two"]));
    assert_eq!(records(&at.join("two")).len(), 2 * FILES);
    let (printed, said) = succeed(at, &["report", "two"]);
    assert!(
        !printed.contains("is not there") && !printed.contains("unfinished"),
        "{printed}{said}"
    );

    let (code, said) = fail(at, &["merge", "parts", "parts/shard-1-of-3", "--out", "whole"]);
    assert!(code == 2 && said.contains("both hold part 1/3"), "{said}");
    let (code, said) = fail(at, &["merge", "two", "--out", "whole"]);
    assert!(code == 2 && said.contains("holds a whole run"), "{said}");

    succeed(at, &masks(&["--limit", "11", "--shard", "3/3", "--out", "others"]));
    let (code, said) = fail(at, &["merge", "parts", "others", "--out", "whole"]);
    assert!(code == 2 && said.contains("was 12, now 11"), "{said}");

    measure(at, "3/3", "parts");
    let manifest = at.join("parts/shard-3-of-3/manifest.json");
    let mut elsewhere: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    elsewhere["hardware"]["cpu"] = "another".into();
    fs::write(&manifest, elsewhere.to_string()).unwrap();
    let (code, said) = fail(at, &["merge", "parts", "--out", "whole"]);
    assert!(
        code == 2 && said.contains("parts 3/3 have") && said.contains("another"),
        "{said}"
    );
    succeed(at, &["merge", "parts", "--by-hardware", "--out", "whole"]);
    let kinds = ["whole/hardware-1", "whole/hardware-2"].map(|kind| records(&at.join(kind)).len());
    assert_eq!(kinds.iter().sum::<usize>(), 2 * FILES);

    let (code, said) = fail(at, &masks(&["--resume", "--out", "parts/shard-1-of-3"]));
    assert!(code == 2 && said.contains("holds part 1/3"), "{said}");
    let (code, said) = fail(at, &masks(&["--shard", "4/3", "--out", "parts"]));
    assert!(code == 2 && said.contains("no part of a run"), "{said}");
}
