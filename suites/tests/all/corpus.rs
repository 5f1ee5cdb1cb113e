//! The validator against JSONSchemaBench and the labels of MaskBench, where they are at hand.
//!
//! `maskwright_test_data::find` says where they are looked for; without them the tests skip.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use maskwright_suites::dataset::{Catalog, Subsample};
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;

/// A folder of the unpacked repository, or `None` after saying that the test skips.
fn corpus(part: &str) -> Option<PathBuf> {
    let found = maskwright_test_data::find("jsonschemabench")?.join(part);
    if !found.is_dir() {
        eprintln!("skipped: there is no {}", found.display());
        return None;
    }
    Some(found)
}

#[test]
fn every_schema_of_the_corpus_is_usable_or_has_a_problem() {
    let Some(root) = corpus("data") else { return };
    let mut catalog = Catalog::empty();
    catalog.add_directory(&root).unwrap();
    let (mut compiled, mut rows, mut problems, mut slowest) = (0, 0, Vec::new(), (Duration::ZERO, String::new()));
    for dataset in catalog.select::<&str>(&[], Subsample::default()).unwrap() {
        for instance in dataset.instances {
            rows += 1;
            let id = format!("{}/{}", dataset.name, instance.id);
            let started = Instant::now();
            match Validator::new(&instance.schema.unwrap()) {
                Ok(_) => compiled += 1,
                Err(problem) => problems.push(format!("{id}: {problem}")),
            }
            slowest = slowest.max((started.elapsed(), id));
        }
    }
    eprintln!("{rows} schemas, {compiled} compiled, slowest {slowest:?}");
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    assert!(
        problems.len() * 1000 <= rows,
        "{} problems in {rows} schemas",
        problems.len()
    );
    assert!(slowest.0 < Duration::from_secs(20), "{slowest:?}");
}

#[test]
fn labels_of_maskbench_are_reproduced() {
    let Some(root) = corpus("maskbench/data") else { return };
    let mut paths: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (mut labels, mut agreed, mut unusable, mut differing) = (0, 0, 0, Vec::new());
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case = strict_json::parse(&fs::read_to_string(&path).unwrap(), 512)
            .unwrap()
            .value;
        let Some(tests) = case["tests"].as_array() else {
            continue;
        };
        let validator = Validator::from_value(&case["schema"]);
        for test in tests {
            labels += 1;
            let expected = test["valid"].as_bool().unwrap();
            match &validator {
                Err(problem) => {
                    unusable += 1;
                    differing.push(format!("{name}: {problem}"));
                }
                Ok(validator) => {
                    let verdict = validator.judge_value(&test["data"]);
                    if verdict.valid == expected {
                        agreed += 1;
                    } else {
                        differing.push(format!("{name}: labelled {expected}: {:?}", verdict.problems.first()));
                    }
                }
            }
        }
    }
    eprintln!("{labels} labels, {agreed} reproduced, {unusable} of unusable schemas");
    differing.iter().for_each(|difference| eprintln!("{difference}"));
    assert!(agreed * 1000 >= labels * 999, "{agreed} of {labels}");
}
