use maskwright_test_data::find;

use super::*;
use crate::dataset::Subsample;
use crate::validate::Validator;

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
        let set = QuestionSet::generate(options(5, letter), Some(40), 2).unwrap();
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
    let few = QuestionSet::generate(options(4, Letter::Last), Some(3), 0).unwrap();
    let many = QuestionSet::generate(options(4, Letter::Last), Some(30), 8).unwrap();
    assert_eq!(few.questions, many.questions[..3]);
    let other = LetterOptions {
        seed: 8,
        ..options(4, Letter::Last)
    };
    assert_ne!(
        few.questions,
        QuestionSet::generate(other, Some(3), 0).unwrap().questions
    );
    assert_ne!(
        few.hash(),
        QuestionSet::generate(options(4, Letter::Last), Some(3), 1)
            .unwrap()
            .hash()
    );
    assert_eq!("4".parse(), Ok(Letter::Nth(4)));
    assert!("5".parse::<Letter>().is_err());
}

#[test]
fn generated_questions_are_different_and_none_is_an_example() {
    // Of one name there are 128 lists, of which 8 are examples: all others can be asked for, and no more.
    let all = QuestionSet::generate(options(1, Letter::First), Some(120), MAX_SHOTS).unwrap();
    let mut texts: Vec<&str> = all.questions.iter().map(|question| question.text.as_str()).collect();
    texts.extend(all.demonstrations.iter().map(|example| example.question.as_str()));
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 128);
    let error = QuestionSet::generate(options(1, Letter::First), Some(121), 0)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("120 different questions of 1 names") && error.contains("--words"),
        "{error}"
    );
}

#[test]
fn names_of_generated_questions_tell_how_they_were_made() {
    let first = |options| {
        QuestionSet::generate(options, Some(1), 0)
            .unwrap()
            .questions
            .swap_remove(0)
            .id
    };
    assert_eq!(first(options(4, Letter::Last)), "last-4-7-000000");
    let others = [
        options(5, Letter::Last),
        options(4, Letter::First),
        LetterOptions {
            seed: 8,
            ..options(4, Letter::Last)
        },
    ];
    for other in others {
        assert_ne!(first(other), first(options(4, Letter::Last)), "{other:?}");
        let set = QuestionSet::generate(other, Some(1), 0).unwrap();
        assert_eq!(set.is_as_in_paper(), other.seed == 8, "{other:?}");
    }
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
        letters: None,
    };
    tasks.map(set).into()
}

/// Works out from the question of an exchange the option that is right at its end.
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

/// The value of a calculation such as `32 - 2 * 4`, given by its words.
fn value(words: &[&str]) -> f64 {
    let (mut sum, mut product) = (0.0, words[0].parse::<f64>().unwrap());
    for pair in words[1..].chunks(2) {
        let number: f64 = pair[1].parse().unwrap();
        match pair[0] {
            "*" => product *= number,
            "/" => product /= number,
            "+" => (sum, product) = (sum + product, number),
            _ => (sum, product) = (sum + product, -number),
        }
    }
    sum + product
}

/// The result of the last calculation of a text, all of which are right.
fn last_result(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut last = None;
    for at in (0..words.len()).filter(|at| words[*at] == "=") {
        let is_part = |word: &&&str| word.parse::<f64>().is_ok() || ["+", "-", "*", "/"].contains(word);
        let length = words[..at].iter().rev().take_while(is_part).count();
        let result = words[at + 1].trim_end_matches(['.', ',']);
        assert_eq!(value(&words[at - length..at]), result.parse::<f64>().unwrap(), "{text}");
        last = Some(result.to_owned());
    }
    last.unwrap()
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
                AnswerForm::Number => last_result(&example.reasoning),
                AnswerForm::Letters => {
                    let names = example.question.split('"').nth(1).unwrap().split(' ');
                    names.filter_map(|name| name.chars().last()).collect()
                }
            };
            let judgement = judge(task.form(), &expected, answered, TextEnd::Whole);
            assert!(
                judgement.strict.correct && judgement.lenient.correct,
                "{expected}: {answered}"
            );
        }
    }
}

#[test]
fn drafts_stand_behind_the_question() {
    let set = QuestionSet::generate(options(2, Letter::Last), Some(1), 1).unwrap();
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
