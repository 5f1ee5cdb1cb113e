//! The strings of the JSON Schema Test Suite (draft 2020-12) on formats and patterns.
//!
//! `MASKWRIGHT_DATA` names the folder with `JSON-Schema-Test-Suite/tests` in it.

use std::path::PathBuf;

use serde_json::Value;

use crate::strings::{FormatError, LanguageLimits, Languages};

/// Texts judged otherwise than by the suite, all of them taken for valid: what a label in Punycode decodes to, how long
/// one becomes, and the order of writing directions are not regular or need tables that are not here.
const EXCEPTIONS: &[(&str, &[&str])] = &[
    (
        "hostname",
        &[
            "xn--X",
            "xn--07jt112bpxg.xn--9t4b11yi5a",
            "xn--hello-txk",
            "xn--hello-zed",
            "xn--hello-6bf",
            "xn--chb89f",
            "xn--07jceefgh4c",
            "xn--al-0ea",
            "xn--l-fda",
            "xn--la-0ea",
            "xn--l-gda",
            "xn--S-jib3p",
            "xn--wva3j",
            "xn--A-2hc5h",
            "xn--5db1e",
            "xn--A-2hc8h",
            "xn--5db3e",
            "xn--defabc-k64e",
            "xn--vek",
            "xn--ngb6iyr",
            "xn--11b2er09f",
            "xn--02b508i",
            "XN--aa---o47jg78q",
        ],
    ),
    (
        "idn-hostname",
        &[
            "xn--X",
            "XN--aa---o47jg78q",
            "xn--7a",
            "xn--0ca24w",
            "xn---9uc",
            "0a.\u{5d0}",
            "0\u{627}",
            "a\u{5d0}",
            "\u{5d0}0\u{660}",
            "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü",
        ],
    ),
];

const FORMATS: [&str; 18] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
];

/// Schemas, instances that are strings, and whether they are valid.
fn instances(file: &str) -> Vec<(Value, String, bool)> {
    let data = std::env::var_os("MASKWRIGHT_DATA").expect("MASKWRIGHT_DATA names the folder with the suite");
    let root = PathBuf::from(data).join("JSON-Schema-Test-Suite");
    let text = std::fs::read_to_string(root.join("tests/draft2020-12").join(file)).unwrap();
    let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut all = Vec::new();
    for group in &groups {
        for test in group["tests"].as_array().unwrap() {
            if let Some(text) = test["data"].as_str() {
                all.push((
                    group["schema"].clone(),
                    text.to_owned(),
                    test["valid"].as_bool().unwrap(),
                ));
            }
        }
    }
    all
}

#[test]
#[ignore = "needs the Test Suite"]
fn formats_are_judged_as_the_suite_does() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let mut judged = 0;
    for name in FORMATS {
        let format = languages.format(name).unwrap().unwrap();
        let exceptions = EXCEPTIONS
            .iter()
            .find(|entry| entry.0 == name)
            .map_or(&[][..], |entry| entry.1);
        assert!(exceptions.is_empty() || format.unchecked.is_some(), "{name}");
        for (_, text, valid) in instances(&format!("optional/format/{name}.json")) {
            let expected = valid != exceptions.contains(&text.as_str());
            assert_eq!(
                languages.contains(format.language, &text).unwrap(),
                expected,
                "{name}: {text:?}"
            );
            judged += 1;
        }
    }
    assert!(judged > 600);
}

#[test]
#[ignore = "needs the Test Suite"]
fn patterns_are_judged_as_the_suite_does() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let mut judged = 0;
    for file in [
        "pattern.json",
        "optional/ecmascript-regex.json",
        "optional/non-bmp-regex.json",
    ] {
        for (schema, text, valid) in instances(file) {
            let Some(pattern) = schema["pattern"].as_str() else {
                continue;
            };
            let language = languages.pattern(pattern).unwrap();
            assert_eq!(
                languages.contains(language, &text).unwrap(),
                valid,
                "{pattern}: {text:?}"
            );
            judged += 1;
        }
    }
    assert!(judged > 60);
}

/// `format: regex` has no language, but the parser knows which texts are patterns.
#[test]
#[ignore = "needs the Test Suite"]
fn the_parser_tells_patterns_as_the_suite_does() {
    let mut languages = Languages::new(&LanguageLimits::default());
    assert!(matches!(
        languages.format("regex"),
        Err(FormatError::Unsupported { .. })
    ));
    for file in ["optional/format/regex.json", "optional/format/ecmascript-regex.json"] {
        for (_, text, valid) in instances(file) {
            let is_syntax_error = matches!(
                languages.pattern(&text),
                Err(crate::strings::PatternError::Syntax { .. })
            );
            assert_eq!(!is_syntax_error, valid, "{text}");
        }
    }
}

#[test]
fn unknown_formats_are_annotations() {
    let mut languages = Languages::new(&LanguageLimits::default());
    assert_eq!(languages.format("int32"), Ok(None));
}
