//! The JSON Schema Test Suite, where it is at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::ecma::Patterns;
use super::{json_files, public_data, value};
use crate::schema::tests::evaluate::is_valid;
use crate::{Draft, SchemaOptions};

use super::SchemaSet;

const DRAFTS: [(&str, Draft); 5] = [
    ("draft4", Draft::Draft4),
    ("draft6", Draft::Draft6),
    ("draft7", Draft::Draft7),
    ("draft2019-09", Draft::Draft201909),
    ("draft2020-12", Draft::Draft202012),
];

/// Tests of the optional part that come out differently, by file (ending) and group, and why.
const OPTIONAL_EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "draft4/optional/zeroTerminatedFloats.json",
        "",
        "this evaluator judges values, which have no spelling; masks know that of a text",
    ),
    (
        "draft7/optional/content.json",
        "validation of string-encoded content",
        CONTENT,
    ),
    (
        "draft7/optional/content.json",
        "validation of binary string-encoding",
        CONTENT,
    ),
    (
        "draft7/optional/content.json",
        "validation of binary-encoded media type",
        CONTENT,
    ),
];
const CONTENT: &str = "`contentMediaType` and `contentEncoding` are annotations, as later drafts settled";

fn registry(remotes: &Path) -> BTreeMap<String, String> {
    let uri = |path: &Path| {
        let relative = path.strip_prefix(remotes).unwrap().to_str().unwrap().replace('\\', "/");
        format!("http://localhost:1234/{relative}")
    };
    let files = json_files(remotes).into_iter();
    files
        .map(|path| (uri(&path), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// Runs the files of `folder` that `wanted` picks. Returns the number of tests, and those that came out wrong, by file and group.
fn run(wanted: impl Fn(&str) -> bool, legacy_dependencies: bool) -> Option<(usize, BTreeSet<String>)> {
    let root = public_data("JSON-Schema-Test-Suite")?;
    let mut options = SchemaOptions {
        documents: registry(&root.join("remotes")),
        legacy_dependencies,
        ..SchemaOptions::default()
    };
    let mut tests = 0;
    let mut wrong = BTreeSet::new();
    for (folder, draft) in DRAFTS {
        options.default_draft = draft;
        for path in json_files(&root.join("tests").join(folder)) {
            let name = path
                .strip_prefix(root.join("tests"))
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/");
            if wanted(&name) {
                tests += run_file(&path, &name, &options, &mut wrong);
            }
        }
    }
    Some((tests, wrong))
}

fn run_file(path: &Path, name: &str, options: &SchemaOptions, wrong: &mut BTreeSet<String>) -> usize {
    let groups: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut tests = 0;
    for group in groups.as_array().unwrap() {
        let title = format!("{name}: {}", group["description"].as_str().unwrap());
        let mut set = match SchemaSet::load(&group["schema"].to_string(), options) {
            Ok(set) => set,
            Err(error) => {
                wrong.insert(format!("{title}: {error}"));
                continue;
            }
        };
        let patterns = Patterns::default();
        for is_merged in [false, true] {
            if is_merged {
                set.merge_equal();
            }
            for test in group["tests"].as_array().unwrap() {
                tests += usize::from(!is_merged);
                let is = is_valid(&set, &patterns, &value(&test["data"].to_string()));
                if is != test["valid"].as_bool().unwrap() {
                    let what = test["description"].as_str().unwrap();
                    wrong.insert(format!("{title}: {what} is {is} (merged: {is_merged})"));
                }
            }
        }
        for failed in patterns.failed.into_inner() {
            wrong.insert(format!("{title}: pattern {failed}"));
        }
    }
    tests
}

#[test]
fn required_tests_come_out_right() {
    let Some((tests, wrong)) = run(|name| !name.contains("/optional/"), false) else {
        return;
    };
    println!("{tests} required tests");
    assert!(tests > 4_900, "{tests}");
    assert_eq!(wrong, BTreeSet::new());
}

#[test]
fn optional_tests_come_out_right_but_for_the_listed() {
    let wanted = |name: &str| name.contains("/optional/") && !name.contains("/format/");
    let Some((tests, wrong)) = run(wanted, true) else {
        return;
    };
    println!("{tests} optional tests");
    let is_listed = |wrong: &str, (file, group, _): &(&str, &str, &str)| wrong.contains(file) && wrong.contains(group);
    let unlisted: Vec<&String> = wrong
        .iter()
        .filter(|wrong| !OPTIONAL_EXCEPTIONS.iter().any(|listed| is_listed(wrong, listed)))
        .collect();
    assert_eq!(unlisted, Vec::<&String>::new());
    for listed in OPTIONAL_EXCEPTIONS {
        assert!(
            wrong.iter().any(|wrong| is_listed(wrong, listed)),
            "comes out right now: {listed:?}"
        );
    }
}
