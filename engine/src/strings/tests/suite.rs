//! The strings of the JSON Schema Test Suite on formats and patterns.
//!
//! `MASKWRIGHT_DATA` names the folder with `JSON-Schema-Test-Suite/tests` in it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::strings::{LanguageLimits, Languages};

const DRAFTS: [&str; 5] = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"];

fn suite() -> PathBuf {
    let data = std::env::var_os("MASKWRIGHT_DATA").expect("MASKWRIGHT_DATA names the folder with the suite");
    PathBuf::from(data).join("JSON-Schema-Test-Suite/tests")
}

/// Schemas, instances that are strings, and whether they are valid.
fn instances(file: &Path) -> Vec<(Value, String, bool)> {
    let text = std::fs::read_to_string(file).unwrap();
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

/// Every file of `optional/format`, and no text judged otherwise.
#[test]
#[ignore = "needs the Test Suite"]
fn formats_are_judged_as_the_suite_does() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let mut judged = 0;
    let mut wrong = Vec::new();
    for draft in DRAFTS {
        for file in std::fs::read_dir(suite().join(draft).join("optional/format")).unwrap() {
            for (schema, text, valid) in instances(&file.unwrap().path()) {
                let name = schema["format"].as_str().unwrap();
                let language = languages.format(name).unwrap();
                let language = language.unwrap_or(languages.any());
                if languages.contains(language, &text).unwrap() != valid {
                    wrong.push(format!("{draft} {name} {text:?}: {valid}"));
                }
                judged += 1;
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(judged > 2_000, "{judged}");
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
        for (schema, text, valid) in instances(&suite().join("draft2020-12").join(file)) {
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

#[test]
fn unknown_formats_are_annotations() {
    let mut languages = Languages::new(&LanguageLimits::default());
    assert_eq!(languages.format("int32"), Ok(None));
}
