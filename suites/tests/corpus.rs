//! The validator against JSONSchemaBench and the labels of MaskBench, where they are at hand.
//!
//! They are looked for in the directory that `MASKWRIGHT_DATA` names, and in `shared/data` beside the repository, as the
//! repository guidance-ai/jsonschemabench unpacks, in a directory `jsonschemabench` or not. Without them the tests skip.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use maskwright_suites::dataset::{Catalog, Sample};
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;

/// The unpacked repository, or `None` after saying that the test skips.
fn corpus(part: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let places: Vec<PathBuf> = std::env::var_os("MASKWRIGHT_DATA")
        .map(PathBuf::from)
        .into_iter()
        .chain([beside])
        .collect();
    let roots = places
        .iter()
        .flat_map(|place| [place.join("jsonschemabench"), place.clone()]);
    let found = roots.into_iter().find(|root| root.join(part).is_dir());
    if found.is_none() {
        eprintln!("skipped: no {part} of jsonschemabench in any of {places:?}");
    }
    found
}

#[test]
fn every_schema_of_the_corpus_is_usable_or_has_a_problem() {
    let Some(root) = corpus("data/Github_easy") else { return };
    let mut catalog = Catalog::empty();
    catalog.add_directory(&root).unwrap();
    let (mut compiled, mut rows, mut problems, mut slowest) = (0, 0, Vec::new(), (Duration::ZERO, String::new()));
    for dataset in catalog.select::<&str>(&[], Sample::default()).unwrap() {
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
    let mut paths: Vec<PathBuf> = fs::read_dir(root.join("maskbench/data"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
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
