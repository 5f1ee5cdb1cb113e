use super::*;

/// Returns the answers read strictly and leniently, each with whether it is right.
fn read(form: AnswerForm, expected: &str, text: &str) -> [(Option<String>, bool); 2] {
    let judgement = judge(form, expected, text, TextEnd::Whole);
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
            (r#"{"reasoning": "", "answer": "n r d n"}"#, None, None),
            // More than letters, no quotes, and quotes that do not close.
            (r#"{"reasoning": "", "answer": "nrdn7"}"#, None, None),
            (r#"{"reasoning": "", "answer": "nrdn or rdnn"}"#, None, None),
            (r#"{"reasoning": "", "answer": null}"#, None, None),
            (r#"{"reasoning": "", "answer": nrdn}"#, None, None),
            (r#"{"reasoning": "", "answer": "nrdn'}"#, None, None),
            (r#"{"reasoning": "", "answer": "nrdn"#, None, None),
            // Strictly read, it is so leniently, whatever the reasoning looks like.
            (
                r#"{"reasoning": "the 'answer': 'x'", "answer": "nrdn"}"#,
                Some("nrdn"),
                Some("nrdn"),
            ),
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
            (r#"{"reasoning": "so", "answer": "(B) or (C)"}"#, None, None),
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
            (r#"{"reasoning": "r", "answer": 8.9e4}"#, Some("8.9e+4"), Some("8.9e+4")),
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
            // A calculation, a number with something glued to it, and two numbers are no answers.
            (r#"{"reasoning": "r", "answer": 89000/1}"#, None, None),
            (r#"{"reasoning": "r", "answer": 89 * 1000 = 89000}"#, None, None),
            (r#"{"reasoning": "r", "answer": "89000 - 1"}"#, None, None),
            (r#"{"reasoning": "r", "answer": 89 x 1000}"#, None, None),
            (r#"{"reasoning": "r", "answer": "89000km"}"#, None, None),
            (r#"{"reasoning": "r", "answer": 89000,5}"#, None, None),
            (r#"{"reasoning": "r", "answer": 89000.0.1}"#, None, None),
            (r#"{"reasoning": "r", "answer": 89 000}"#, None, None),
            // … and what comes behind them may be one.
            (r#"{"answer": 8 + 1, or rather "answer": 89000}"#, None, Some("89000")),
            (r#"so "answer": 89000"#, None, Some("89000")),
            (r#"so "answer": 89000."#, None, Some("89000")),
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

#[test]
fn what_a_limit_may_have_cut_in_two_is_no_answer() {
    let lenient = |form, expected, text| judge(form, expected, text, TextEnd::CutOff).lenient.answer;
    for text in [
        r#"{"answer": 18"#,
        r#"{"answer": 18."#,
        r#"{"answer": 18,"#,
        r#"{"answer": "18 "#,
    ] {
        assert_eq!(lenient(AnswerForm::Number, "18", text), None, "{text}");
        assert!(
            judge(AnswerForm::Number, "18", text, TextEnd::Whole).lenient.correct,
            "{text}"
        );
    }
    for text in [
        r#"{"answer": 18}"#,
        r#"{"answer": 18, "#.trim_end(),
        r#"{"answer": "18""#,
    ] {
        let expected = (!text.ends_with(',')).then(|| "18".to_owned());
        assert_eq!(lenient(AnswerForm::Number, "18", text), expected, "{text}");
    }
    assert_eq!(lenient(AnswerForm::Choice(5), "(B)", r#"{"answer": "B"#), None);
    assert_eq!(
        lenient(AnswerForm::Choice(5), "(B)", r#"{"answer": "(B)"#),
        Some("(B)".to_owned())
    );
}
