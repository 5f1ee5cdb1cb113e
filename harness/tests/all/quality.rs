//! `maskwright quality` as a user runs it, on a server whose answers are known.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use maskwright_suites::quality::{Letter, LetterOptions, QuestionSet};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::chat_server::{Act, ChatServer, Request, chunk, done, fails, says};
use super::program::{end, program};

fn quality(arguments: &[&str]) -> (i32, String, String) {
    end(&program().arg("quality").args(arguments).output().unwrap())
}

fn succeed(arguments: &[&str]) -> String {
    let (code, printed, said) = quality(arguments);
    assert_eq!(code, 0, "{said}");
    printed
}

const LETTERS: usize = 12;
const MATHEMATICS: usize = 6;
const CHOICES: usize = 5;

/// The generated questions of the run: number and right answer by text.
fn letter_questions() -> HashMap<String, (usize, String)> {
    let options = LetterOptions {
        words: 4,
        letter: Letter::Last,
        seed: 5,
    };
    let set = QuestionSet::generate(options, Some(LETTERS), 3).unwrap();
    let numbered = set.questions.into_iter().enumerate();
    numbered
        .map(|(number, question)| (question.text, (number, question.answer)))
        .collect()
}

/// A directory with six questions of GSM8K, whose answers are 1100, 2100 and so on, and five of Shuffle Objects, whose answers are A
/// to E.
fn data() -> TempDir {
    let directory = TempDir::new().unwrap();
    let gsm8k = directory.path().join("gsm8k");
    let bbh = directory.path().join("bbh");
    fs::create_dir_all(&gsm8k).unwrap();
    fs::create_dir_all(&bbh).unwrap();
    let rows = (0..MATHEMATICS).map(|number| {
        let answer = format!("It is so.\n#### {},100", number + 1);
        json!({"question": format!("sum {number}"), "answer": answer}).to_string() + "\n"
    });
    fs::write(gsm8k.join("test.jsonl"), rows.collect::<String>()).unwrap();
    let examples = (0..CHOICES).map(|number| {
        let target = format!("({})", ["A", "B", "C", "D", "E"][number]);
        json!({"input": format!("swap {number}"), "target": target})
    });
    let examples = json!({"examples": examples.collect::<Vec<_>>()}).to_string();
    for number in ["three", "five"] {
        let name = format!("tracking_shuffled_objects_{number}_objects.json");
        fs::write(bbh.join(name), &examples).unwrap();
    }
    directory
}

fn answer(answer: &Value) -> String {
    json!({"reasoning": "so it is", "answer": answer}).to_string()
}

/// What the server says: constrained, it is right on every second question of Last Letter, on three of Shuffle Objects and all of
/// GSM8K; alone, on every third of Last Letter, half of them with words around the object, on the first two of Shuffle Objects without
/// parentheses, and on all of GSM8K with numbers as texts.
fn reply(letters: &HashMap<String, (usize, String)>, request: &Request) -> String {
    let constrained = !request.body["response_format"].is_null();
    let prompt = request.prompt();
    let Some(asked) = prompt.strip_prefix("## Input: \"") else {
        return "{}".to_owned();
    };
    let asked = asked.strip_suffix("\"\n## Output:").unwrap();
    if let Some((number, right)) = letters.get(asked) {
        return match (constrained, number) {
            (true, number) if number % 2 == 0 => answer(&json!(right)),
            (false, number) if number % 6 == 0 => answer(&json!(right)),
            (false, number) if number % 3 == 0 => format!("Sure! {} Anything else?", answer(&json!(right))),
            (false, 1) => "I cannot tell.".to_owned(),
            _ => answer(&json!("zz")),
        };
    }
    let number: usize = asked.split(' ').next_back().unwrap().parse().unwrap();
    match (asked.split(' ').next().unwrap(), constrained) {
        ("sum", true) => answer(&json!((number + 1) as f64 * 1000.0 + 100.0)),
        ("sum", false) => answer(&json!(format!("${},100.00", number + 1))),
        ("swap", true) if (1..4).contains(&number) => answer(&json!(["(A)", "(B)", "(C)", "(D)"][number])),
        ("swap", false) if number < 2 => answer(&json!(["A", "B"][number])),
        _ => answer(&json!(if number == 4 { "(A)" } else { "(E)" })),
    }
}

fn row<'r>(report: &'r Value, task: &str, framework: &str) -> &'r Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["task"] == task && row["framework"] == framework)
        .unwrap()
}

#[test]
fn accuracies_intervals_and_tests_are_as_worked_out_by_hand() {
    let (letters, data) = (letter_questions(), data());
    let (fails_once, out) = (Arc::new(AtomicBool::new(true)), data.path().join("run"));
    let failing = fails_once.clone();
    let server = ChatServer::start(move |_, request| -> Act {
        let prompt = request.prompt();
        match prompt.contains("sum 3") && failing.load(Ordering::Relaxed) {
            true => fails(500, "out of order"),
            false => says(&reply(&letters, request)),
        }
    });
    let (constrained, alone) = (
        server.argument("held", "retries=0"),
        server.argument("free", "retries=0,constrained=false"),
    );
    let (out, data_place) = (out.to_str().unwrap(), data.path().to_str().unwrap());
    let limit = LETTERS.to_string();
    let arguments = [
        "--server",
        &constrained,
        "--server",
        &alone,
        "--tasks",
        "last-letter,shuffle,gsm8k",
        "--limit",
        &limit,
        "--seed",
        "5",
        "--data",
        data_place,
        "--out",
        out,
        "--paper",
    ];
    let (code, printed, said) = quality(&arguments);
    // One question of two rows has no answer for reasons of the server's.
    assert_eq!(code, 5, "{said}");
    assert!(printed.contains("1 of 6 questions have no answer yet"), "{printed}");
    let before = fs::read_to_string(Path::new(out).join("records.jsonl"))
        .unwrap()
        .lines()
        .count();
    assert_eq!(before, 2 * (LETTERS + MATHEMATICS + CHOICES));
    fails_once.store(false, Ordering::Relaxed);
    let asked_before = server.chats().len();
    let printed = succeed(&["--resume", "--out", out, "--json"]);
    // Only what had no answer is asked again.
    assert_eq!(server.chats().len() - asked_before, 2);
    let report: Value = serde_json::from_str(&printed).unwrap();

    let (held, free) = (row(&report, "last-letter", "held"), row(&report, "last-letter", "free"));
    assert_eq!(
        (&held["answered"], &held["right"], &held["strictly_right"]),
        (&json!(12), &json!(6), &json!(6))
    );
    assert_eq!(
        (&held["accuracy"], &held["valid"], &held["cut_off"]),
        (&json!(0.5), &json!(1.0), &json!(0.0))
    );
    assert_eq!((&free["right"], &free["strictly_right"]), (&json!(4), &json!(2)));
    assert_eq!(
        (&free["unreadable"], &free["against_alone"]),
        (&json!(1.0 / 12.0), &Value::Null)
    );
    // Four questions are right constrained only (2, 4, 8, 10), two alone only (3, 9): 2 · (1 + 6 + 15) / 2⁶.
    let against = &held["against_alone"];
    assert_eq!(
        (&against["only_this"], &against["only_other"], &against["questions"]),
        (&json!(4), &json!(2), &json!(12))
    );
    assert!(
        (against["p_value"].as_f64().unwrap() - 44.0 / 64.0).abs() < 1e-12,
        "{against}"
    );
    // 0.5 ± z · √(0.25/12 + z²/576) over 1 + z²/12, with z = 1.959964.
    let interval = [0, 1].map(|at| held["accuracy_ci"][at].as_f64().unwrap());
    assert!(
        (interval[0] - 0.253_781).abs() < 1e-5 && (interval[1] - 0.746_219).abs() < 1e-5,
        "{interval:?}"
    );

    let (held, free) = (row(&report, "shuffle", "held"), row(&report, "shuffle", "free"));
    assert_eq!((&held["right"], &held["answered"]), (&json!(3), &json!(5)));
    assert_eq!(
        (&free["right"], &free["strictly_right"], &free["valid"]),
        (&json!(2), &json!(0), &json!(0.6))
    );
    assert_eq!(
        (&held["against_alone"]["p_value"], &held["against_alone"]["only_other"]),
        (&json!(1.0), &json!(1))
    );

    let (held, free) = (row(&report, "gsm8k", "held"), row(&report, "gsm8k", "free"));
    assert_eq!((&held["right"], &held["strictly_right"]), (&json!(6), &json!(6)));
    assert_eq!((&free["right"], &free["strictly_right"]), (&json!(6), &json!(0)));

    let overlap = &report["overlaps"][0];
    assert_eq!(
        (&overlap["rows"], &overlap["right"]),
        (&json!(["held", "free"]), &json!([6, 4]))
    );
    assert_eq!((&overlap["exclusive"], &overlap["nobody"]), (&json!([4, 2]), &json!(4)));
    assert_eq!(overlap["intersections"][0], json!({"rows": [0], "questions": 4}));

    let records = fs::read_to_string(Path::new(out).join("records.jsonl")).unwrap();
    assert_eq!(
        records.lines().count(),
        before + 2,
        "nothing is lost, nothing counted twice"
    );
    for name in ["report.md", "report.csv", "manifest.json"] {
        assert!(Path::new(out).join(name).exists(), "{name}");
    }
    let markdown = fs::read_to_string(Path::new(out).join("report.md")).unwrap();
    assert!(
        markdown.contains("50.0 % (25.4–74.6)") && markdown.contains("+4 −2, p = 0.688"),
        "{markdown}"
    );
}

#[test]
fn filtered_answers_have_no_validity_and_records_have_the_servers_version() {
    let filtered = Act::Stream(vec![
        chunk(json!({"content": "{\"rea"}), Some("content_filter")),
        done(),
    ]);
    // The first request looks whether the server can be asked at all.
    let server = ChatServer::play([says("{}"), filtered]);
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let argument = server.argument("held", "dialect=vllm");
    let arguments = [
        "--server",
        &argument,
        "--tasks",
        "last-letter",
        "--limit",
        "1",
        "--out",
        out.to_str().unwrap(),
    ];
    succeed(&arguments);
    let records = fs::read_to_string(out.join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&record["server"]["outcome"], &record["server"]["version"]),
        (&json!("filtered"), &json!("1.2.3"))
    );
    assert!(
        record["valid"].is_null() && record["judgement"]["lenient"]["correct"] == false,
        "{record}"
    );
}

#[test]
fn drafts_of_the_model_alone_stand_in_prompts() {
    let (letters, data) = (letter_questions(), data());
    let server = ChatServer::start(move |_, request| -> Act {
        let prompt = request.prompt();
        let Some((asked, draft)) = prompt.split_once("\n## Draft") else {
            return says(&reply(&letters, request));
        };
        // Right as far as the draft is.
        let asked = asked.strip_prefix("## Input: \"").unwrap().strip_suffix('"').unwrap();
        let right = &letters[asked].1;
        says(&answer(&json!(if draft.contains(right) { right } else { "zz" })))
    });
    let (constrained, alone) = (
        server.argument("held", ""),
        server.argument("free", "constrained=false"),
    );
    let out = data.path().join("run");
    let limit = LETTERS.to_string();
    let printed = succeed(&[
        "--server",
        &constrained,
        "--server",
        &alone,
        "--draft",
        "--tasks",
        "last-letter",
        "--limit",
        &limit,
        "--seed",
        "5",
        "--out",
        out.to_str().unwrap(),
        "--json",
    ]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let modes: Vec<(&str, &str, u64)> = rows
        .iter()
        .map(|row| {
            (
                row["framework"].as_str().unwrap(),
                row["mode"].as_str().unwrap(),
                row["right"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        modes,
        [("held", "direct", 6), ("free", "direct", 4), ("held", "draft", 4)]
    );
    // The drafted answers are right where the model alone is, read leniently.
    assert_eq!(rows[2]["against_alone"]["p_value"], 1.0);
    let (code, _, said) = quality(&["--server", &constrained, "--draft", "--out", "unused"]);
    assert!(code == 2 && said.contains("constrained=false"), "{said}");
    let (code, _, said) = quality(&["--frameworks", "maskwright", "--draft", "--out", "unused"]);
    assert!(code == 2 && said.contains("name none"), "{said}");
}

#[test]
fn the_models_of_this_machine_answer_in_the_form_that_is_asked_for() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let printed = succeed(&[
        "--tasks",
        "last-letter",
        "--limit",
        "2",
        "--shots",
        "1",
        "--max-tokens",
        "48",
        "--out",
        out.to_str().unwrap(),
        "--json",
    ]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    for framework in ["maskwright", "llguidance", "none"] {
        assert_eq!(row(&report, "last-letter", framework)["answered"], 2, "{framework}");
    }
    let ours = row(&report, "last-letter", "maskwright");
    assert_eq!(
        (&ours["valid"], &ours["unreadable"], &ours["cut_off"]),
        (&json!(1.0), &json!(0.0), &json!(0.0))
    );
    assert_eq!(ours["against_alone"]["questions"], 2);
    let effect = &ours["mask_effect"];
    let removed = effect["removed_per_choice"].as_f64().unwrap();
    assert!(
        (0.0..=1.0).contains(&removed) && effect["choices_per_answer"].as_f64().unwrap() >= 1.0,
        "{effect}"
    );
    assert!(row(&report, "last-letter", "none")["mask_effect"].is_null());
    let manifest: Value = serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
    let settings = &manifest["settings"];
    assert_eq!(settings["prefix_cache"], true);
    let task = &settings["tasks"][0];
    assert_eq!(
        (&task["questions"], &task["letters"]),
        (&json!(2), &json!({"words": 4, "letter": "last", "seed": 0}))
    );
}

#[test]
fn the_same_questions_are_asked_at_once_and_after_reasoning() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let printed = succeed(&[
        "--frameworks",
        "maskwright,none",
        "--tasks",
        "last-letter",
        "--limit",
        "2",
        "--shots",
        "1",
        "--max-tokens",
        "48",
        "--draft",
        "--reasoning",
        "free",
        "--reasoning-tokens",
        "5",
        "--reasoning-end",
        "</never>",
        "--out",
        out.to_str().unwrap(),
        "--json",
    ]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    let rows: Vec<(&str, &str, u64, bool)> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["framework"].as_str().unwrap(),
                row["mode"].as_str().unwrap(),
                row["answered"].as_u64().unwrap(),
                row["reasoning"].is_null(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("maskwright", "direct", 2, true),
            ("none", "direct", 2, true),
            ("maskwright", "reasoned", 2, false),
            ("none", "reasoned", 2, false),
            ("maskwright", "draft", 2, true),
        ]
    );
    let records = fs::read_to_string(out.join("records.jsonl")).unwrap();
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 10);
    for record in &records {
        let tokens = &record["generation"]["reasoning"]["tokens"];
        let is_constrained = record["framework"] == "maskwright";
        assert_eq!(tokens.is_u64(), record["mode"] == "reasoned", "{record}");
        assert!(
            !is_constrained || record["valid"] == true,
            "the answer alone is judged: {record}"
        );
    }
    let markdown = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(
        markdown.contains("| reasoned |") && markdown.contains("cut 100.0 %"),
        "{markdown}"
    );
    let manifest: Value = serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["settings"]["prompt"]["reasoning_tokens"], 5);
}

#[test]
fn what_cannot_be_asked_is_told_with_what_to_do() {
    let directory = TempDir::new().unwrap();
    let out = directory.path().join("run");
    let out = out.to_str().unwrap();
    for (arguments, code, part) in [
        (&["--tasks", "gsm8k"][..], 3, "maskwright fetch gsm8k"),
        (&["--tasks", "gsm9k"], 2, "gsm8k"),
        (&["--frameworks", ""], 2, "name --frameworks"),
        (&["--shots", "9"], 2, "from 0 to 8"),
        (&["--letter", "7"], 2, "first, last"),
        (
            &["--tasks", "last-letter", "--words", "1", "--limit", "121"],
            2,
            "--words",
        ),
    ] {
        let (found, _, said) = quality(&[arguments, &["--out", out]].concat());
        assert!(found == code && said.contains(part), "{arguments:?}: {found} {said}");
    }
}
