//! Files of datasets of the Hugging Face hub: which there are, with their hashes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::FetchError;
use super::homes::encoded;
use super::http::Client;
use super::manifest::{Hash, is_hex};
use super::sources::Source;
use super::{Listed, add_listed};

const JSON: &str = "application/json";
/// Parts of a list that are followed; the hub gives a thousand files in each.
const LIST_PARTS_LIMIT: usize = 200;

/// The commit that `revision` of a dataset is.
pub(super) fn resolve(client: &Client, repository: &str, revision: &str) -> Result<String, FetchError> {
    let home = &client.homes().hub;
    let url = format!("{home}/api/datasets/{repository}/revision/{}", encoded(revision, ""));
    let (answer, _) = client.json(&url, JSON)?;
    let commit = answer["sha"].as_str().unwrap_or_default().to_ascii_lowercase();
    match is_hex(&commit, 40) {
        true => Ok(commit),
        false => Err(FetchError::odd(&url, "it has no commit (`sha`)")),
    }
}

/// The files of `source` at `commit`.
pub(super) fn list(client: &Client, source: &Source, commit: &str) -> Result<BTreeMap<String, Listed>, FetchError> {
    let home = &client.homes().hub;
    let first = format!(
        "{home}/api/datasets/{}/tree/{commit}?recursive=true",
        source.home.repository()
    );
    let mut files = BTreeMap::new();
    let mut url = first.clone();
    for _ in 0..LIST_PARTS_LIMIT {
        let (answer, next) = client.json(&url, JSON)?;
        add(&mut files, source, &url, &answer)?;
        match next {
            None if files.is_empty() => return Err(FetchError::NothingWanted { url: first }),
            None => return Ok(files),
            Some(next) if next.starts_with(&format!("{home}/")) => url = next,
            Some(_) => return Err(FetchError::odd(&url, "the list continues somewhere else")),
        }
    }
    Err(FetchError::ListTruncated { url: first })
}

fn add(files: &mut BTreeMap<String, Listed>, source: &Source, url: &str, answer: &Value) -> Result<(), FetchError> {
    let odd = |message: &str| FetchError::odd(url, message);
    for entry in answer.as_array().ok_or_else(|| odd("it is not a list"))? {
        let path = entry["path"].as_str().ok_or_else(|| odd("an entry has no `path`"))?;
        if entry["type"] != "file" || !source.wants(path) {
            continue;
        }
        // Large files are kept outside git, which then only knows a pointer to them.
        let (hash, bytes) = match entry.get("lfs") {
            Some(large) if large.is_object() => (
                Hash::sha256(large["oid"].as_str().unwrap_or_default()),
                large["size"].as_u64(),
            ),
            _ => (
                Hash::git_blob(entry["oid"].as_str().unwrap_or_default()),
                entry["size"].as_u64(),
            ),
        };
        let hash = hash.ok_or_else(|| odd("an entry has no hash (`oid`)"))?;
        let bytes = bytes.ok_or_else(|| odd("an entry has no `size`"))?;
        add_listed(files, url, path.to_owned(), Listed { bytes, hash })?;
    }
    Ok(())
}

/// Address of a file of a commit.
pub(super) fn file_url(client: &Client, repository: &str, commit: &str, path: &str) -> String {
    let home = &client.homes().hub;
    format!("{home}/datasets/{repository}/resolve/{commit}/{}", encoded(path, "/"))
}
