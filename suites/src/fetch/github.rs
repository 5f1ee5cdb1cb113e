//! Files of GitHub repositories: which there are, with git's hashes; as one archive, or one by one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::FetchError;
use super::homes::encoded;
use super::http::Client;
use super::manifest::{Hash, is_hex};
use super::sources::Source;
use super::{Listed, add_listed};

const JSON: &str = "application/vnd.github+json";
/// The depth down to which folders are listed one by one, where the list of all is cut off.
const FOLDER_DEPTH_LIMIT: usize = 16;
/// The number of requests that listing folders one by one may take.
const DIRECTORY_LISTING_LIMIT: usize = 500;

/// The commit that `revision` of a repository is.
pub(super) fn resolve(client: &Client, repository: &str, revision: &str) -> Result<String, FetchError> {
    let home = &client.homes().github_api;
    let url = format!("{home}/repos/{repository}/commits/{}", encoded(revision, "/"));
    let answer = client.ask(&url, "application/vnd.github.sha")?;
    let commit = String::from_utf8_lossy(&answer.body).trim().to_ascii_lowercase();
    match is_hex(&commit, 40) {
        true => Ok(commit),
        false => Err(FetchError::odd(&url, "it is not a commit")),
    }
}

/// The files of `source` at `commit`.
pub(super) fn list(client: &Client, source: &Source, commit: &str) -> Result<BTreeMap<String, Listed>, FetchError> {
    let mut walk = FileListing {
        client,
        source,
        files: BTreeMap::new(),
        lists: 0,
    };
    walk.all_below(commit, "", 0)?;
    match walk.files.is_empty() {
        true => Err(FetchError::NothingWanted {
            url: tree_url(client, source, commit),
        }),
        false => Ok(walk.files),
    }
}

fn tree_url(client: &Client, source: &Source, tree: &str) -> String {
    let home = &client.homes().github_api;
    format!("{home}/repos/{}/git/trees/{tree}", source.home.repository())
}

struct FileListing<'a> {
    client: &'a Client<'a>,
    source: &'a Source,
    files: BTreeMap<String, Listed>,
    lists: usize,
}

impl FileListing<'_> {
    /// Lists everything below a tree at once, or, where that list is cut off, folder by folder.
    fn all_below(&mut self, tree: &str, prefix: &str, depth: usize) -> Result<(), FetchError> {
        let url = tree_url(self.client, self.source, tree);
        let answer = self.ask(&format!("{url}?recursive=1"))?;
        if answer["truncated"] != Value::Bool(true) {
            return self.add(&url, &answer, prefix).map(drop);
        }
        let answer = self.ask(&url)?;
        if answer["truncated"] == Value::Bool(true) || depth == FOLDER_DEPTH_LIMIT {
            return Err(FetchError::ListTruncated { url });
        }
        for (path, tree) in self.add(&url, &answer, prefix)? {
            self.all_below(&tree, &format!("{path}/"), depth + 1)?;
        }
        Ok(())
    }

    fn ask(&mut self, url: &str) -> Result<Value, FetchError> {
        self.lists += 1;
        if self.lists > DIRECTORY_LISTING_LIMIT {
            return Err(FetchError::ListTruncated { url: url.to_owned() });
        }
        self.client.json(url, JSON).map(|(answer, _)| answer)
    }

    /// Takes up the files wanted of a list; returns the folders that may hold more, as path and tree.
    fn add(&mut self, url: &str, answer: &Value, prefix: &str) -> Result<Vec<(String, String)>, FetchError> {
        let odd = |message: &str| FetchError::odd(url, message);
        let entries = answer["tree"].as_array().ok_or_else(|| odd("it has no `tree`"))?;
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry["path"].as_str().ok_or_else(|| odd("an entry has no `path`"))?;
            let path = format!("{prefix}{path}");
            let id = entry["sha"].as_str().unwrap_or_default();
            match (entry["type"].as_str(), entry["mode"].as_str()) {
                (Some("tree"), _) if self.source.may_want_below(&path) && is_hex(id, 40) => {
                    folders.push((path, id.to_owned()));
                }
                // Neither links nor submodules.
                (Some("blob"), Some("100644" | "100755")) if self.source.wants(&path) => {
                    let hash = Hash::git_blob(id).ok_or_else(|| odd("an entry has no `sha`"))?;
                    let bytes = entry["size"].as_u64().ok_or_else(|| odd("an entry has no `size`"))?;
                    add_listed(&mut self.files, url, path, Listed { bytes, hash })?;
                }
                _ => {}
            }
        }
        Ok(folders)
    }
}

/// Address of the archive of a commit.
pub(super) fn archive_url(client: &Client, repository: &str, commit: &str) -> String {
    format!("{}/{repository}/tar.gz/{commit}", client.homes().github_archives)
}

/// Address of a file of a commit.
pub(super) fn file_url(client: &Client, repository: &str, commit: &str, path: &str) -> String {
    let home = &client.homes().github_raw;
    format!("{home}/{repository}/{commit}/{}", encoded(path, "/"))
}
