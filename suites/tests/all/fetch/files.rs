//! Datasets of single files, from GitHub and the hub: lists, pieces, contents and tokens.

use serde_json::json;

use super::*;
use crate::home_server::tree;

const BENCH: &str = "epfl-dlab/JSONSchemaBench";

#[test]
fn lists_that_are_cut_off_are_asked_for_folder_by_folder() {
    let setting = Setting::with_suite();
    let listed = |files: &Files, truncated: bool, folders: &[(&str, &str)]| {
        let mut entries = entries(files);
        let folders = folders
            .iter()
            .map(|(path, id)| json!({"path": path, "mode": "040000", "type": "tree", "sha": id}));
        entries.retain(|entry| entry["type"] == "blob" && entry["mode"] == "100644");
        entries.extend(folders);
        Page::new(json!({ "tree": entries, "truncated": truncated }).to_string())
    };
    let ids = ["a", "b", "c"].map(|digit| digit.repeat(40));
    let [tests, remotes, bin] = ids.each_ref().map(String::as_str);
    let folders = [("tests", tests), ("remotes", remotes), ("bin", bin)];
    let license = files([("LICENSE", b"MIT")]);
    setting
        .server
        .put(tree(SUITE, COMMIT, true), listed(&license, true, &[]));
    setting
        .server
        .put(tree(SUITE, COMMIT, false), listed(&license, false, &folders));
    let below = |folder: &str| -> Files {
        let files = suite().into_iter();
        files
            .filter_map(|(path, bytes)| Some((path.strip_prefix(folder)?.to_owned(), bytes)))
            .collect()
    };
    setting
        .server
        .put(tree(SUITE, tests, true), listed(&below("tests/"), false, &[]));
    setting
        .server
        .put(tree(SUITE, remotes, true), listed(&below("remotes/"), false, &[]));
    assert_eq!(setting.fetch("test-suite").unwrap().1.files.len(), 4);

    let setting = Setting::with_suite();
    for recursive in [true, false] {
        setting
            .server
            .put(tree(SUITE, COMMIT, recursive), listed(&license, true, &[]));
    }
    assert!(matches!(setting.fail("test-suite"), FetchError::ListTruncated { .. }));
}

#[test]
fn lists_and_answers_that_make_no_sense_are_refused() {
    let unsafe_path = files([("tests/../../x.json", b"{}")]);
    let list = |entries| json!({ "tree": entries }).to_string();
    let setting = Setting::with_suite();
    let at = tree(SUITE, COMMIT, true);
    setting.server.put(&at, Page::new(list(entries(&unsafe_path))));
    assert!(matches!(setting.fail("test-suite"), FetchError::UnsafePath { .. }));
    setting.server.put(&at, Page::new(list(vec![])));
    assert!(matches!(setting.fail("test-suite"), FetchError::NothingWanted { .. }));
    let entry = json!({ "path": "LICENSE", "type": "blob", "mode": "100644", "sha": "zz", "size": 1 });
    setting.server.put(&at, Page::new(list(vec![entry])));
    assert!(matches!(setting.fail("test-suite"), FetchError::OddAnswer { .. }));
    setting.server.put(&at, Page::new("<html>"));
    assert!(matches!(setting.fail("test-suite"), FetchError::OddAnswer { .. }));
    let branch = format!("/api/repos/{SUITE}/commits/main");
    setting.server.put(&branch, Page::new("../../x"));
    assert!(matches!(setting.fail("test-suite"), FetchError::OddAnswer { .. }));
}

#[test]
fn files_are_fetched_one_by_one_continued_and_checked() {
    let setting = Setting::new();
    setting.server.github(HARD, "main", COMMIT, &hard());
    let five = format!("/raw/{HARD}/{COMMIT}/bbh/tracking_shuffled_objects_five_objects.json");
    let seven = five.replace("five", "seven");
    setting.server.change(&seven, |page| page.body[0] ^= 1);
    let error = setting.fail("bbh");
    assert!(
        matches!(&error, FetchError::Mismatch { path, .. } if path.contains("seven")),
        "{error}"
    );
    assert!(setting.partials().is_empty(), "wrong contents are removed");

    setting.server.github(HARD, "main", COMMIT, &hard());
    setting.server.change(&seven, |page| page.cut = Some((100_000, 1)));
    setting.server.requests();
    let (path, fetched) = setting.fetch("bbh").unwrap();
    fetched.verify(&path).unwrap();
    let requests = setting.server.requests();
    assert!(
        !requests.iter().any(|request| request.starts_with(&five)),
        "what is there is not fetched again"
    );
    assert!(
        requests
            .iter()
            .any(|request| request.contains("seven") && request.contains("range=bytes=100000-"))
    );

    let longer = Page::new([noise(300_000), vec![0]].concat());
    setting.server.put(&seven, longer);
    let wish = Wish {
        force: true,
        ..Wish::default()
    };
    let error = setting.fetch_with("bbh", wish, &()).unwrap_err();
    assert!(
        error.to_string().contains("expected 300000 bytes, found 300001 bytes"),
        "{error}"
    );
}

#[test]
fn a_part_kept_of_other_contents_is_thrown_away() {
    let setting = Setting::new();
    let files = hard();
    setting.server.github(HARD, "main", COMMIT, &files);
    let downloads = setting.directory.path().join("downloads");
    fs::create_dir_all(&downloads).unwrap();
    let hash = blob(files.values().next().unwrap());
    fs::write(downloads.join(format!("{hash}.partial")), "something else").unwrap();
    let (path, fetched) = setting.fetch("bbh").unwrap();
    fetched.verify(&path).unwrap();
}

fn bench() -> Files {
    files([
        ("Github_easy/test-00000-of-00001.parquet", &noise(200_000)),
        ("README.md", b"# JSONSchemaBench\n"),
        ("data/Github_easy-00000-of-00001.parquet", b"an earlier version"),
    ])
}

#[test]
fn a_dataset_of_the_hub_is_fetched_and_checked() {
    let setting = Setting::new();
    setting.server.hub(BENCH, COMMIT, &bench());
    let (path, fetched) = setting.fetch("jsonschemabench-hub").unwrap();
    fetched.verify(&path).unwrap();
    let hashes: Vec<String> = fetched.files.iter().map(|file| file.hash.to_string()).collect();
    assert!(
        hashes[0].starts_with("sha256:") && hashes[1].starts_with("git-blob:"),
        "{hashes:?}"
    );
    assert_eq!(hashes.len(), 2);

    let setting = Setting::new();
    setting.server.hub(BENCH, COMMIT, &bench());
    let stored = "/storage/Github_easy/test-00000-of-00001.parquet";
    setting.server.change(stored, |page| page.body[9] ^= 1);
    let error = setting.fail("jsonschemabench-hub");
    assert!(
        matches!(&error, FetchError::Mismatch { expected, .. } if expected.starts_with("sha256:")),
        "{error}"
    );
    assert!(setting.partials().is_empty());
    setting.server.change(stored, |page| page.cut = Some((10, usize::MAX)));
    assert!(matches!(
        setting.fail("jsonschemabench-hub"),
        FetchError::Truncated { .. }
    ));
}

#[test]
fn tokens_go_home_only() {
    let setting = Setting::with_suite();
    setting.server.github(HARD, "main", COMMIT, &hard());
    setting.server.hub(BENCH, COMMIT, &bench());
    for name in ["test-suite", "bbh", "jsonschemabench-hub"] {
        setting.fetch(name).unwrap();
    }
    for request in setting.server.requests() {
        let expected = match &request {
            request if request.starts_with("/api/") => Some("Bearer github-secret"),
            request if request.starts_with("/hub/") => Some("Bearer hub-secret"),
            // The storage is another host in the real hub.
            request if request.starts_with("/storage/") => continue,
            _ => None,
        };
        let sent = request.split_once(" authorization=").map(|(_, token)| token);
        assert_eq!(sent, expected, "{request}");
    }
    assert!(!format!("{:?}", setting.server.homes()).contains("secret"));
}

#[test]
fn the_pinned_revision_needs_no_resolving() {
    let setting = Setting::new();
    let pinned = source("jsonschemabench").unwrap();
    let files = files([
        ("data/Github_easy/a.json", b"{}"),
        ("maskbench/data/Github_easy---a.json", b"{\"schema\": {}}"),
        ("img/hero.jpg", b"no"),
    ]);
    setting
        .server
        .github("guidance-ai/jsonschemabench", "main", pinned.revision, &files);
    let (path, fetched) = setting.fetch("jsonschemabench").unwrap();
    assert!(path.ends_with(pinned.revision) && fetched.files.len() == 2);
    assert!(
        setting
            .server
            .requests()
            .iter()
            .all(|request| !request.contains("/commits/"))
    );
}
