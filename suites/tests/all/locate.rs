//! The places in which fetched data is looked for.

use std::fs;
use std::path::Path;

use maskwright_suites::locate::locate;
use tempfile::TempDir;

fn touch(root: &Path, path: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "{}").unwrap();
}

#[test]
fn copies_made_by_other_means_are_found_by_name_repository_and_layout() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    for path in [
        "a/test-suite/tests/draft2020-12/x.json",
        "b/JSON-Schema-Test-Suite/tests/draft2020-12/x.json",
        "c/tests/draft2020-12/x.json",
        "d/grade-school-math/data/test.jsonl",
        "e/grade-school-math/grade_school_math/data/test.jsonl",
        "f/test.jsonl",
    ] {
        touch(root, path);
    }
    for (name, given, found) in [
        ("test-suite", "a", "a/test-suite"),
        ("test-suite", "b", "b/JSON-Schema-Test-Suite"),
        ("test-suite", "c", "c"),
        ("gsm8k", "d", "d/grade-school-math/data"),
        ("gsm8k", "e", "e/grade-school-math/grade_school_math/data"),
        ("gsm8k", "f", "f"),
    ] {
        assert_eq!(
            locate(name, Some(&root.join(given))).unwrap(),
            root.join(found),
            "{name} in {given}"
        );
    }
    let missing = locate("gsm8k", Some(&root.join("a"))).unwrap_err();
    assert_eq!(missing.looked_in, [root.join("a")]);
    let said = missing.to_string();
    assert!(
        said.contains("run `maskwright fetch gsm8k`, or pass --data DIR"),
        "{said}"
    );
}
