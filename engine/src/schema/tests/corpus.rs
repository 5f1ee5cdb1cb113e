//! JSONSchemaBench and MaskBench, where they are at hand. Slow, and so run on demand:
//!
//! ```console
//! $ MASKWRIGHT_DATA=… cargo test --release -p maskwright --lib corpus -- --ignored --nocapture
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::ecma::Patterns;
use super::{SchemaSet, json_files, public_data, value};
use crate::SchemaOptions;
use crate::schema::tests::evaluate::is_valid;

#[test]
#[ignore = "slow"]
fn schemas_load() {
    let Some(root) = public_data("jsonschemabench") else {
        return;
    };
    let options = SchemaOptions::default();
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut count, mut bytes, mut seconds) = (0, 0, 0.0);
    let mut slowest = (0.0, String::new());
    let mut largest = (0, 0.0, String::new());
    for path in json_files(&root.join("data")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let start = Instant::now();
        let loaded = SchemaSet::load(&text, &options);
        let took = start.elapsed().as_secs_f64();
        count += 1;
        bytes += text.len();
        seconds += took;
        if took > slowest.0 {
            slowest = (took, format!("{name} ({} bytes)", text.len()));
        }
        if text.len() > largest.0 {
            largest = (text.len(), took, name.clone());
        }
        if let Err(error) = loaded {
            let reason = format!("{:?} {}", error.kind(), error.keyword().unwrap_or("-"));
            refused.entry(reason).or_default().push(format!("{name}: {error}"));
        }
    }
    println!(
        "{count} schemas, {bytes} bytes in {seconds:.3} s; slowest {:.4} s: {}",
        slowest.0, slowest.1
    );
    println!("largest: {} with {} bytes in {:.4} s", largest.2, largest.0, largest.1);
    let refusals: usize = refused.values().map(Vec::len).sum();
    for (reason, names) in &refused {
        println!("{} refused: {reason}", names.len());
        for name in names.iter().take(12) {
            println!("    {name}");
        }
    }
    // One has a name twice in an object, another an `id` that is no string.
    assert!(count > 4_000 && refusals <= 2, "{refusals} of {count} refused");
}

#[test]
#[ignore = "slow"]
fn labels_are_reproduced() {
    let Some(root) = public_data("jsonschemabench/maskbench/data") else {
        return;
    };
    let work = move || check_labels(&root);
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(work).unwrap();
    let wrong = thread.join().unwrap();
    let listed: Vec<String> = DIFFERENT
        .iter()
        .map(|(file, test, _)| format!("{file}.json test {test}"))
        .collect();
    assert_eq!(wrong.into_iter().collect::<BTreeSet<_>>(), listed.into_iter().collect());
}

/// Labels that come out differently, by file and test, and why.
const DIFFERENT: &[(&str, usize, &str)] = &[
    (
        "Github_trivial---o14485",
        1,
        "12345.0 is an integer here, in draft 4 too",
    ),
    ("Github_easy---o90313", 1, NESTED_FORMAT),
    ("Github_easy---o90313", 2, NESTED_FORMAT),
    ("Github_hard---o76577", 6, NESTED_FORMAT),
    ("Github_hard---o76577", 8, NESTED_FORMAT),
    ("Github_medium---o76785", 1, NESTED_FORMAT),
    ("JsonSchemaStore---appveyor", 5, NESTED_FORMAT),
    ("JsonSchemaStore---webjob-publish-settings", 2, NESTED_FORMAT),
    ("JsonSchemaStore---webjob-publish-settings", 3, NESTED_FORMAT),
    ("MCPspec---CallToolResult", 1, NESTED_FORMAT),
];
const NESTED_FORMAT: &str = "invalid by a format below anyOf, oneOf or not, which the label's message does not name";

fn check_labels(root: &std::path::Path) -> Vec<String> {
    let options = SchemaOptions::default();
    let (mut right, mut by_format, mut unloaded, mut pattern) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for path in json_files(root) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let tests = file["tests"].take();
        let tests = tests.as_array().cloned().unwrap_or_default();
        let set = match SchemaSet::load(&file["schema"].to_string(), &options) {
            Ok(set) => set,
            Err(error) => {
                unloaded += tests.len();
                println!("{name}: {} tests: {error}", tests.len());
                continue;
            }
        };
        let patterns = Patterns::default();
        for (position, test) in tests.iter().enumerate() {
            let label = test["valid"].as_bool().unwrap();
            let is = is_valid(&set, &patterns, &value(&test["data"].to_string()));
            if is == label {
                right += 1;
            } else if is && is_about_format(test) {
                by_format += 1;
            } else if !patterns.failed.borrow().is_empty() {
                pattern += 1;
            } else {
                wrong.push(format!("{name} test {position}"));
            }
        }
        for failed in patterns.failed.into_inner() {
            println!("{name}: pattern {failed}");
        }
    }
    println!(
        "{right} as labelled, {by_format} invalid by a format only, {unloaded} of schemas that do not load, {pattern} with patterns \
         that were not read, {} otherwise",
        wrong.len()
    );
    wrong
}

/// Whether the label of `test` rests on a format: so say the messages of the evaluators that made it.
fn is_about_format(test: &serde_json::Value) -> bool {
    let message = |key: &str| test[key].as_str().unwrap_or_default().to_owned();
    message("python_error").contains("Failed validating 'format'") || message("rust_error").contains("is not a \"")
}
