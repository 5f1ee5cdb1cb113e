//! Tests of asserted formats, byte by byte.

use serde_json::Value as Json;

use super::super::{Automaton, Formats, State};
use super::alone;
use crate::schema::{SchemaOptions, SchemaSet};
use crate::{Draft, Style};

fn automaton(schema: &str, draft: Draft) -> (Automaton, State) {
    let options = SchemaOptions {
        default_draft: draft,
        ..SchemaOptions::default()
    };
    let set = SchemaSet::load(schema, &options).unwrap();
    let (mut automaton, root) = alone(set, Formats::Asserted, Style::rfc8259()).unwrap();
    let start = automaton.start(root).unwrap().expect("some value is valid");
    (automaton, start)
}

fn accepts(automaton: &mut Automaton, start: State, text: &str) -> bool {
    let end = text
        .bytes()
        .try_fold(start, |at, byte| automaton.step(at, byte).unwrap());
    end.is_some_and(|end| automaton.is_complete(end).unwrap())
}

/// Runs the Test Suite's optional part on formats in every draft, with characters as they are and escaped.
#[test]
#[ignore = "needs the Test Suite"]
fn the_suite_is_judged_as_it_says() {
    let data = std::env::var_os("MASKWRIGHT_DATA").expect("MASKWRIGHT_DATA names the folder with the suite");
    let tests = std::path::PathBuf::from(data).join("JSON-Schema-Test-Suite/tests");
    let drafts = [
        ("draft4", Draft::Draft4),
        ("draft6", Draft::Draft6),
        ("draft7", Draft::Draft7),
        ("draft2019-09", Draft::Draft201909),
        ("draft2020-12", Draft::Draft202012),
    ];
    let (mut judged, mut wrong) = (0, Vec::new());
    for (name, draft) in drafts {
        for file in std::fs::read_dir(tests.join(name).join("optional/format")).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let groups: Vec<Json> = serde_json::from_str(&text).unwrap();
            for group in &groups {
                let (mut automaton, start) = automaton(&group["schema"].to_string(), draft);
                for test in group["tests"].as_array().unwrap() {
                    let text = test["data"].to_string();
                    let escaped: String = text
                        .chars()
                        .flat_map(|c| match c.is_ascii() {
                            true => vec![c],
                            false => c
                                .encode_utf16(&mut [0; 2])
                                .iter()
                                .flat_map(|unit| format!("\\u{unit:04x}").chars().collect::<Vec<_>>())
                                .collect(),
                        })
                        .collect();
                    for text in [text, escaped] {
                        if accepts(&mut automaton, start, &text) != test["valid"].as_bool().unwrap() {
                            wrong.push(format!("{name} {} {text}", group["schema"]));
                        }
                        judged += 1;
                    }
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(judged > 4_000, "{judged}");
}

/// From each beginning that a format admits, a completion is found and accepted, and some byte may come next.
#[test]
fn walks_through_formats_come_to_an_end() {
    for (schema, beginnings) in [
        (
            r#"{"type": "string", "format": "hostname", "maxLength": 9}"#,
            &["a-", "xn--", "xn--zc", "a.xn--z", "abcdefg"][..],
        ),
        (
            r#"{"type": "string", "format": "hostname", "pattern": "^[a-z]+[.]example$"}"#,
            &["a", "abc.e"],
        ),
        (
            r#"{"type": "string", "format": "idn-hostname"}"#,
            &["ü", "א", "אü", "l·", "xn--", "\\u00fc", "中.א"],
        ),
        (
            r#"{"type": "string", "format": "regex", "maxLength": 12}"#,
            &["(", "(?<n>", "[a-", "\\\\", "\\\\u{1", "a{2,1", "é", "\\\\k<n"],
        ),
        (
            r#"{"type": "string", "format": "idn-email"}"#,
            &["a", "é@", "\\\"a", "a@é."],
        ),
        (
            r#"{"not": {"format": "hostname"}, "type": "string", "maxLength": 3}"#,
            &["a", "a-", "a_", "é"],
        ),
        (
            r#"{"propertyNames": {"format": "hostname", "maxLength": 1}, "minProperties": 2, "type": "object"}"#,
            &[],
        ),
    ] {
        let (mut automaton, start) = automaton(schema, Draft::Draft202012);
        for beginning in beginnings {
            let text = format!("\"{beginning}");
            let Some(at) = text
                .bytes()
                .try_fold(start, |at, byte| automaton.step(at, byte).unwrap())
            else {
                continue;
            };
            let rest = automaton.completion(at).unwrap();
            let rest = rest.unwrap_or_else(|| panic!("{schema}: {text} can be completed"));
            let whole = format!("{text}{}", String::from_utf8(rest).unwrap());
            assert!(accepts(&mut automaton, start, &whole), "{schema}: {whole}");
            let next = (0..=u8::MAX).filter(|&byte| automaton.step(at, byte).unwrap().is_some());
            assert!(next.count() > 0, "{schema}: {text}");
        }
    }
}
