use maskwright_test_data::find;

use super::*;
use crate::dataset::Subsample;
use crate::validate::Validator;

/// What is read strictly and leniently, with whether each is right.
fn read(form: AnswerForm, expected: &str, text: &str) -> [(Option<String>, bool); 2] {
    let judgement = judge(form, expected, text);
    [judgement.strict, judgement.lenient].map(|reading| (reading.answer, reading.correct))
}

/// Text, then answer by strict and by lenient reading.
type Case = (&'static str, Option<&'static str>, Option<&'static str>);

fn check(form: AnswerForm, expected: &str, right: &[&str], cases: &[Case]) {
    for (text, strict, lenient) in cases {
        let outcome = |answer: &Option<&str>| {
            let is_right = answer.is_some_and(|answer| right.contains(&answer));
            (answer.map(str::to_owned), is_right)
        };
        assert_eq!(
            read(form, expected, text),
            [outcome(strict), outcome(lenient)],
            "{text}"
        );
    }
}

#[test]
fn letters_match_exactly_and_by_case() {
    check(
        AnswerForm::Letters,
        "nrdn",
        &["nrdn"],
        &[
            (
                r#"{"reasoning": "n, r, d, n", "answer": "nrdn"}"#,
                Some("nrdn"),
                Some("nrdn"),
            ),
            (r#" {"reasoning":"","answer":"nrdn"} "#, Some("nrdn"), Some("nrdn")),
            (r#"{"reasoning": "", "answer": "nrd"}"#, Some("nrd"), Some("nrd")),
            // Capitals are no letters from a to z, and no match.
            (r#"{"reasoning": "", "answer": "NRDN"}"#, None, Some("NRDN")),
            (r#"{"reasoning": "", "answer": "n r d n"}"#, None, Some("n")),
            // The object is not whole, or not alone.
            (r#"{"reasoning": "", "answer": "nrdn""#, None, Some("nrdn")),
            (
                "Here it is:\n```json\n{\"reasoning\": \"\", \"answer\": \"nrdn\"}\n```",
                None,
                Some("nrdn"),
            ),
            (r#"{"answer": "nrdn"}"#, None, Some("nrdn")),
            (r#"{"reasoning": 1, "answer": "nrdn"}"#, None, Some("nrdn")),
            (r#"{"reasoning": "", "answer": "x", "answer": "nrdn"}"#, None, Some("x")),
            ("{'reasoning': '', 'answer': 'nrdn'}", None, Some("nrdn")),
            (r#"{"reasoning": "", "answer": ""}"#, None, None),
            ("The answer is nrdn.", None, None),
            ("", None, None),
        ],
    );
}

#[test]
fn choices_match_by_their_letter() {
    check(
        AnswerForm::Choice(5),
        "(B)",
        &["(B)"],
        &[
            (r#"{"reasoning": "so", "answer": "(B)"}"#, Some("(B)"), Some("(B)")),
            (r#"{"reasoning": "so", "answer": "(A)"}"#, Some("(A)"), Some("(A)")),
            (r#"{"reasoning": "so", "answer": "B"}"#, None, Some("(B)")),
            (r#"{"reasoning": "so", "answer": "b"}"#, None, Some("(B)")),
            (r#"{"reasoning": "so", "answer": "(B) blue ball"}"#, None, Some("(B)")),
            (r#"{"reasoning": "so", "answer": "B) blue ball"}"#, None, Some("(B)")),
            (r#"{"reasoning": "so", "answer": B}"#, None, Some("(B)")),
            (r#"{"reasoning": "so", "answer": ["(B)"]}"#, None, None),
            // No letter of the task, and words that begin with one.
            (r#"{"reasoning": "so", "answer": "(F)"}"#, None, None),
            (r#"{"reasoning": "so", "answer": "A ball"}"#, None, None),
            (r#"{"reasoning": "so", "answer": "Blue"}"#, None, None),
            // What looks like the answer but has none of its values is passed over.
            (
                r#"{"reasoning": "the \"answer\": blue", "answer": "(B)"}"#,
                Some("(B)"),
                Some("(B)"),
            ),
        ],
    );
    check(
        AnswerForm::Choice(7),
        "(G)",
        &["(G)"],
        &[(r#"{"reasoning": "", "answer": "(G)"}"#, Some("(G)"), Some("(G)"))],
    );
    check(
        AnswerForm::Choice(3),
        "(C)",
        &["(C)"],
        &[(r#"{"reasoning": "", "answer": "(D)"}"#, None, None)],
    );
}

#[test]
fn numbers_match_by_value() {
    check(
        AnswerForm::Number,
        "89000",
        &["89000", "89000.0", "8.9e4", "8.9e+4", "89000.00"],
        &[
            (r#"{"reasoning": "r", "answer": 89000}"#, Some("89000"), Some("89000")),
            (
                r#"{"reasoning": "r", "answer": 89000.0}"#,
                Some("89000.0"),
                Some("89000.0"),
            ),
            (r#"{"reasoning": "r", "answer": 8.9e4}"#, Some("8.9e+4"), Some("8.9e4")),
            // The paper's example: a thousands separator, and what a mask can make of it.
            (r#"{"reasoning": "r", "answer": 89,000}"#, None, Some("89000")),
            (
                r#"{"reasoning": "r", "answer": 890000}"#,
                Some("890000"),
                Some("890000"),
            ),
            (r#"{"reasoning": "r", "answer": "89000"}"#, None, Some("89000")),
            (r#"{"reasoning": "r", "answer": "$89,000.00"}"#, None, Some("89000.00")),
            (r#"{"reasoning": "r", "answer": "-$89,000"}"#, None, Some("-89000")),
            (r#"{"reasoning": "r", "answer": "89000 dollars"}"#, None, Some("89000")),
            (
                r#"{"reasoning": "r", "answer": -89000}"#,
                Some("-89000"),
                Some("-89000"),
            ),
            (r#"{"reasoning": "r", "answer": 89, 000}"#, None, Some("89")),
            (r#"{"reasoning": "r", "answer": null}"#, None, None),
            (r#"{"reasoning": "r", "answer": "many"}"#, None, None),
            // The first place that looks like an answer counts.
            (
                r#"{"answer": 1} or rather {"reasoning": "r", "answer": 89000}"#,
                None,
                Some("1"),
            ),
            ("#### 89000", None, None),
        ],
    );
    check(
        AnswerForm::Number,
        "-10",
        &["-10"],
        &[(r#"{"reasoning": "", "answer": -10}"#, Some("-10"), Some("-10"))],
    );
    check(
        AnswerForm::Number,
        "0",
        &["0"],
        &[(r#"{"reasoning": "", "answer": 0}"#, Some("0"), Some("0"))],
    );
}

fn options(words: usize, letter: Letter) -> LetterOptions {
    LetterOptions { words, letter, seed: 7 }
}

#[test]
fn generated_questions_ask_for_what_their_answers_say() {
    for (letter, pick) in [
        (Letter::First, (|name| name.chars().next()) as fn(&str) -> Option<char>),
        (Letter::Nth(3), |name| name.chars().nth(2)),
        (Letter::Last, |name| name.chars().last()),
    ] {
        let set = QuestionSet::generate(options(5, letter), Some(40), 2);
        assert_eq!(set.questions.len(), 40);
        for question in &set.questions {
            let names: Vec<&str> = question.text.split('"').nth(1).unwrap().split(' ').collect();
            let expected: String = names.iter().filter_map(|name| pick(name)).collect();
            assert_eq!(question.answer, expected.to_lowercase(), "{}", question.text);
            assert!(
                names.len() == 5 && question.text.contains(&letter.to_string()),
                "{}",
                question.text
            );
            let asked_as_example = |example: &Demonstration| example.question == question.text;
            assert!(!set.demonstrations.iter().any(asked_as_example));
        }
    }
}

#[test]
fn generated_questions_depend_on_seed_and_number_only() {
    let few = QuestionSet::generate(options(4, Letter::Last), Some(3), 0);
    let many = QuestionSet::generate(options(4, Letter::Last), Some(30), 8);
    assert_eq!(few.questions, many.questions[..3]);
    let other = LetterOptions {
        seed: 8,
        ..options(4, Letter::Last)
    };
    assert_ne!(few.questions, QuestionSet::generate(other, Some(3), 0).questions);
    assert_ne!(
        few.hash(),
        QuestionSet::generate(options(4, Letter::Last), Some(3), 1).hash()
    );
    assert_eq!("4".parse(), Ok(Letter::Nth(4)));
    assert!("5".parse::<Letter>().is_err());
}

/// Every task with as many examples as there are.
fn sets() -> Vec<QuestionSet> {
    let tasks = [
        QualityTask::LastLetter,
        QualityTask::LastLetterPublic,
        QualityTask::ShuffleThree,
        QualityTask::Shuffle,
        QualityTask::ShuffleSeven,
        QualityTask::Gsm8k,
    ];
    let set = |task| QuestionSet {
        task,
        questions: Vec::new(),
        demonstrations: demonstrations::demonstrations(task, LetterOptions::default(), MAX_SHOTS),
    };
    tasks.map(set).into()
}

/// Who has what at the end of an exchange, read off its question, as a choice.
fn outcome(question: &str) -> String {
    let (start, rest) = question.split_once("\nAs they play").unwrap();
    let mut has: Vec<(&str, &str)> = start
        .split_once(": ")
        .unwrap()
        .1
        .trim_end_matches('.')
        .split(", ")
        .map(|part| part.trim_start_matches("and ").split_once(" has the ").unwrap())
        .collect();
    let (events, options) = rest.split_once(" At the end, ").unwrap();
    for event in events.split(". ").skip(1) {
        let event = event.trim_end_matches('.').trim_end_matches(" swap");
        let (one, other) = event.split_once(", ").unwrap().1.split_once(" and ").unwrap();
        let [one, other] = [one, other].map(|name| has.iter().position(|(who, _)| *who == name).unwrap());
        let thing = has[one].1;
        has[one].1 = has[other].1;
        has[other].1 = thing;
    }
    let (who, options) = options.split_once(" has the\nOptions:\n").unwrap();
    let thing = has.iter().find(|(name, _)| *name == who).unwrap().1;
    let option = options
        .lines()
        .find(|line| line.ends_with(&format!(" {thing}")))
        .unwrap();
    option.split(' ').next().unwrap().to_owned()
}

#[test]
fn examples_are_right_and_of_the_schema_and_in_the_papers_form() {
    for set in sets() {
        let task = set.task;
        assert_eq!(set.demonstrations.len(), MAX_SHOTS);
        let validator = Validator::new(&task.schema()).unwrap();
        let prompt = messages(&set, "How many?");
        assert_eq!(prompt.len(), 2 + 2 * MAX_SHOTS);
        assert!(
            prompt[0]
                .content
                .contains(r#"{"reasoning": <reasoning about the answer>, "answer": <final answer>}"#)
        );
        assert_eq!(prompt.last().unwrap().content, "## Input: \"How many?\"\n## Output:");
        for (number, example) in set.demonstrations.iter().enumerate() {
            let [asked, answered] = [1, 2].map(|place| &prompt[2 * number + place].content);
            assert_eq!(*asked, format!("## Input: \"{}\"\n## Output:", example.question));
            assert!(
                answered.starts_with(r#"{"reasoning": ""#) && validator.judge(answered).valid,
                "{answered}"
            );
            let expected = match task.form() {
                AnswerForm::Choice(_) => outcome(&example.question),
                // The last number or word of the way to the answer.
                AnswerForm::Number => {
                    let numbers = example.reasoning.split(|c: char| !c.is_ascii_digit() && c != '.');
                    let numbers = numbers
                        .map(|number| number.trim_matches('.'))
                        .filter(|number| !number.is_empty());
                    let mut numbers: Vec<&str> = numbers.collect();
                    numbers.retain(|number| example.answer == **number);
                    numbers.last().unwrap().to_string()
                }
                AnswerForm::Letters => {
                    let names = example.question.split('"').nth(1).unwrap().split(' ');
                    names.filter_map(|name| name.chars().last()).collect()
                }
            };
            let judgement = judge(task.form(), &expected, answered);
            assert!(
                judgement.strict.correct && judgement.lenient.correct,
                "{expected}: {answered}"
            );
        }
    }
}

#[test]
fn drafts_stand_behind_the_question() {
    let set = QuestionSet::generate(options(2, Letter::Last), Some(1), 1);
    let [plain, drafted] = [messages(&set, "Q?"), messages_with_draft(&set, "Q?", " so it is \n")];
    assert_eq!(plain[..3], drafted[..3]);
    let last = &drafted[3].content;
    assert!(
        last.starts_with("## Input: \"Q?\"\n## Draft") && last.ends_with(":\nso it is\n## Output:"),
        "{last}"
    );
}

#[test]
fn schemas_admit_the_tasks_answers_only() {
    let judged = |task: QualityTask, answer: &str| {
        let validator = Validator::new(&task.schema()).unwrap();
        validator
            .judge(&format!(r#"{{"reasoning": "r", "answer": {answer}}}"#))
            .valid
    };
    let letters = ["\"ab\"", "\"Ab\"", "\"\"", "1"].map(|answer| judged(QualityTask::LastLetter, answer));
    assert_eq!(letters, [true, false, false, false]);
    let choices = ["\"(E)\"", "\"(F)\"", "\"E\""].map(|answer| judged(QualityTask::Shuffle, answer));
    assert_eq!(choices, [true, false, false]);
    assert!(judged(QualityTask::ShuffleSeven, "\"(G)\"") && !judged(QualityTask::ShuffleThree, "\"(D)\""));
    let numbers = ["8", "-8.5", "\"8\""].map(|answer| judged(QualityTask::Gsm8k, answer));
    assert_eq!(numbers, [true, true, false]);
}

#[test]
fn public_questions_are_read() {
    let whole = Subsample {
        limit: None,
        seed: None,
    };
    if let Some(directory) = find("gsm8k") {
        let set = QuestionSet::read(QualityTask::Gsm8k, &directory, whole, 1).unwrap();
        assert!(set.questions.len() >= 600);
        let ducks = &set.questions[0];
        assert!(
            ducks.text.contains("ducks") && ducks.answer == "18" && ducks.id == "test-0001",
            "{ducks:?}"
        );
        assert!(set.questions.iter().all(|question| !question.answer.contains(',')));
        let three = Subsample {
            limit: Some(3),
            seed: Some(1),
        };
        let some = QuestionSet::read(QualityTask::Gsm8k, &directory, three, 1).unwrap();
        assert!(some.questions.len() == 3 && some.questions.iter().all(|question| set.questions.contains(question)));
    }
    if let Some(directory) = find("bbh") {
        for task in [
            QualityTask::ShuffleThree,
            QualityTask::Shuffle,
            QualityTask::ShuffleSeven,
        ] {
            let set = QuestionSet::read(task, &directory, whole, 1).unwrap();
            assert_eq!(set.questions.len(), 250);
            assert!(
                set.questions
                    .iter()
                    .all(|question| question.text.contains("Options:\n(A) "))
            );
        }
    }
}

fn read_of(task: QualityTask, name: &str, content: &str) -> Result<QuestionSet, String> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), content).unwrap();
    let all = Subsample {
        limit: None,
        seed: None,
    };
    QuestionSet::read(task, directory.path(), all, 0).map_err(|error| error.to_string())
}

#[test]
fn files_of_other_kinds_are_refused_with_their_place() {
    let letters = |content: &str| read_of(QualityTask::LastLetterPublic, "test.json", content);
    let set = letters(r#"[{"question": "Take … \"Al Bo\"", "answer": "lo"}]"#).unwrap();
    assert_eq!(set.questions[0].answer, "lo");
    assert!(letters(r#"[{"question": "q"}]"#).unwrap_err().contains("/0/answer"));
    assert!(
        letters(r#"[{"question": "q", "answer": "l o"}]"#)
            .unwrap_err()
            .contains("question 1")
    );
    let mathematics = |content: &str| read_of(QualityTask::Gsm8k, "test.jsonl", content).unwrap_err();
    let good = r#"{"question": "q", "answer": "so\n#### 1,200"}"#;
    assert!(mathematics(&format!("{good}\n{{\"question\": \"q\"}}\n")).contains("test.jsonl:2: "));
    assert!(mathematics(r#"{"question": "q", "answer": "12"}"#).contains("####"));
    assert!(mathematics(r#"{"question": "q", "answer": "so #### twelve"}"#).contains("twelve"));
    let name = "tracking_shuffled_objects_five_objects.json";
    let shuffled = |content: &str| read_of(QualityTask::Shuffle, name, content).unwrap_err();
    assert!(shuffled(r#"{"examples": [{"input": "q", "target": "(F)"}]}"#).contains("(F)"));
    assert!(shuffled("{}").contains("/examples"));
}
