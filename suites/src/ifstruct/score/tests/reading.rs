//! Reading the data of a reply, in JSON and in YAML.

use super::*;

#[test]
fn json_is_one_document_in_a_block_or_bare() {
    expect(
        &sample(),
        &[
            (r#"[{"s": "x"}]"#, &[]),
            ("Sure:\n```json\n[{\"s\": \"x\"}]\n```\nDone.", &[]),
            ("```JSON\r\n[]\r\n```", &[]),
            ("```\n[]\n```\n```\nnot read", &[]),
            ("<think>[</think>[]", &[]),
            ("Sure: []", &[(NoData, "")]),
            ("", &[(NoData, "")]),
            ("```json\n\n```", &[(NoData, "")]),
            ("```json\n[]", &[(UnclosedCodeBlock, "")]),
            ("```yaml\n[]\n```", &[(WrongFormat, "")]),
            ("```Yml\n[]\n```", &[(WrongFormat, "")]),
            ("``` yaml\n[]\n```", &[]),
            ("[] []", &[(TrailingContent, "")]),
            ("[]}", &[(TrailingContent, "")]),
            ("```\n[]\n.\n```", &[(TrailingContent, "")]),
            ("[1,]", &[(Syntax, "")]),
            ("[{'s': 1}]", &[(Syntax, "")]),
            ("[\"a\tb\"]", &[(Syntax, "")]),
            ("[\"\\x\"]", &[(Syntax, "")]),
            ("[01]", &[(Syntax, "")]),
            ("{\"a\" 1}", &[(Syntax, "")]),
            ("[", &[(Syntax, "")]),
            ("[\"", &[(Syntax, "")]),
            ("[{\"s\":", &[(Syntax, "")]),
            ("[\u{0}]", &[(Syntax, "")]),
            ("\u{feff}[]", &[(NoData, "")]),
            // Lines end at more characters than those of JSON: within a block this one becomes a line feed.
            ("```\n[{\"s\": \"a\u{2028}b\"}]\n```", &[(Syntax, "")]),
            ("[{\"s\": \"a\u{2028}b\"}]", &[]),
        ],
    );
}

#[test]
fn json_is_what_python_reads() {
    expect(
        &sample(),
        &[
            (r#"[{"s": "x", "n": NaN}, {"s": "", "n": Infinity}]"#, &[]),
            (r#"[{"s": "x", "n": -Infinity}]"#, &[(OutOfBounds, "[0].n")]),
            (r#"[{"s": "\ud83d"}, {"s": "\ud83d\ude00\/\u0041"}]"#, &[]),
            (r#"[{"s": 1, "s": "x"}]"#, &[]),
            (r#"[{"s": "x", "s": 1}]"#, &[(WrongType, "[0].s")]),
            (r#"[{"s": "x", "n": 1e400}]"#, &[]),
        ],
    );
    let digits = |count: usize, end: &str| format!("[{{\"s\": \"\", \"n\": {}{end}}}]", "9".repeat(count));
    let sample = sample();
    assert!(score(&sample, &digits(MAX_DIGITS, "")).passed);
    assert!(score(&sample, &digits(MAX_DIGITS + 1, ".0")).passed);
    assert_eq!(
        failures(&score(&sample, &digits(MAX_DIGITS + 1, ""))),
        [(NumberTooLong, "")]
    );
}

#[test]
fn yaml_is_in_block_style() {
    expect(
        &yaml_sample(),
        &[
            ("- s: x", &[]),
            ("```yaml\n- s: x\n```", &[]),
            ("```\n  - s: x\n```", &[]),
            // Whitespace around the content goes, that of its first line too.
            ("```\n  - s: x\n    i: 1\n```", &[(Syntax, "")]),
            ("Sure\n```yml\n- s: |\n    a\n\n    b\n```", &[]),
            ("```json\n- s: x\n```", &[(WrongFormat, "")]),
            ("- s: x\n  l: [{x: 1}]", &[(WrongFormat, "")]),
            ("[]", &[(WrongFormat, "")]),
            ("[{\"s\": \"x\"}]", &[(WrongFormat, "")]),
            ("```yaml\n- s: x", &[(UnclosedCodeBlock, "")]),
            ("", &[(WrongType, "")]),
            ("- s: x\n---\n- s: y", &[(Syntax, "")]),
            ("---\n- s: x\n...", &[]),
            ("- s: \"x", &[(Syntax, "")]),
            ("- s: a: b", &[(Syntax, "")]),
            ("- s: !unknown x", &[(Syntax, "")]),
            ("- s:\tx", &[(Syntax, "")]),
            ("- s: &a x\n- s: *a\n- s: *b", &[(Syntax, "")]),
            ("- &a\n  s: x\n- *a\n- <<: *a\n  i: 2", &[]),
            ("- &a\n  s: *a", &[(Syntax, "")]),
            ("- ? [s]\n  : x", &[(Syntax, "")]),
            ("- ? - s\n  : x", &[(Syntax, "")]),
            ("- s: \u{7}", &[(Syntax, "")]),
            ("Here you are:\n- s: x", &[(UnexpectedWrapper, "")]),
            ("No.", &[(WrongType, "")]),
        ],
    );
}

#[test]
fn yaml_scalars_are_coerced() {
    expect(
        &yaml_sample(),
        &[
            ("- s: no", &[(WrongType, "[0].s")]),
            ("- s: 1.10", &[(WrongType, "[0].s")]),
            ("- s: 1:30", &[(WrongType, "[0].s")]),
            ("- s: ~", &[(WrongType, "[0].s")]),
            ("- s:", &[(WrongType, "[0].s")]),
            ("- s: 2024-01-01", &[]),
            ("- s: 'no'\n  b: no\n  o:", &[]),
            ("- s: x\n  i: 0x1\n  n: 1e3", &[(WrongType, "[0].n")]),
            ("- s: x\n  i: 1_0", &[(OutOfBounds, "[0].i")]),
            ("- s: x\n  n: .inf\n- s: x\n  n: .nan", &[]),
            ("- s: =", &[(Syntax, "")]),
            ("- s: x\n  no: 1", &[(ExtraField, "[0].no")]),
        ],
    );
}
