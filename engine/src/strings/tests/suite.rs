//! The strings of the JSON Schema Test Suite (draft 2020-12) on formats and patterns.
//!
//! Looks for the suite in `MASKWRIGHT_SUITE`, the folder with `tests/`; without it there is nothing to compare with.

use crate::strings::{LanguageLimits, Languages};
use serde_json::Value;
use std::path::PathBuf;

fn instances(file: &str) -> Option<Vec<(Value, String, bool)>> {
    let root = PathBuf::from(std::env::var_os("MASKWRIGHT_SUITE")?);
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
    Some(all)
}

#[test]
#[ignore = "needs the Test Suite"]
fn formats_of_the_suite() {
    let mut languages = Languages::new(&LanguageLimits::default());
    for name in [
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
    ] {
        let t = std::time::Instant::now();
        let format = languages.format(name).unwrap().unwrap();
        let built = t.elapsed();
        let mut n = 0;
        for (_, text, valid) in instances(&format!("optional/format/{name}.json")).unwrap() {
            n += 1;
            let got = languages.contains(format.language, &text).unwrap();
            if got != valid {
                println!("{name}: {text:?} should be {valid}");
            }
        }
        println!(
            "{name}: {n} built in {built:?}, all {:?} cells {}",
            t.elapsed(),
            languages.cells()
        );
    }
}
#[test]
#[ignore = "needs the Test Suite"]
fn patterns_of_the_suite() {
    let mut languages = Languages::new(&LanguageLimits::default());
    for file in [
        "pattern.json",
        "optional/ecmascript-regex.json",
        "optional/non-bmp-regex.json",
    ] {
        for (schema, text, valid) in instances(file).unwrap() {
            let Some(p) = schema["pattern"].as_str() else { continue };
            let id = languages.pattern(p).unwrap();
            let got = languages.contains(id, &text).unwrap();
            if got != valid {
                println!("{p}: {text:?} should be {valid}");
            }
        }
    }
}
