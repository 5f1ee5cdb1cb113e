//! [`Listing`]: a commit of a repository, and the metadata of its files.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::Duration;

use hf_hub::api::sync::ApiRepo;
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use crate::error::ModelError;
use crate::load::hub::contents::{Announced, ContentHash, is_hex};
use crate::load::hub::downloader::unreachable;

/// Longest time for a connection to be made.
const CONNECT_TIME: Duration = Duration::from_secs(20);
/// Longest time for the whole answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Largest answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 32 << 20;

/// A repository on the hub at one revision: commit, files with their metadata, and access.
pub(super) struct Listing {
    /// The commit, 40 hexadecimal digits.
    pub(super) commit: String,
    /// Metadata of the repository's files, by file name.
    pub(super) files: BTreeMap<String, Announced>,
    /// Whether the hub gives the files only to clients with an access token.
    pub(super) needs_token: bool,
}

impl Listing {
    /// Asks the hub at `url`. Errors name the repository `name`; `has_token` says whether an access token is sent along.
    pub(super) fn fetch(repository: &ApiRepo, name: &str, url: &str, has_token: bool) -> Result<Self, ModelError> {
        let request = repository.info_request().query("blobs", "true").config();
        let request = request
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_global(Some(ANSWER_TIME))
            .build();
        let mut answer = request.call().map_err(|error| unreachable(url, &error))?;
        let body = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = body.map_err(|error| unreachable(url, &error))?;
        if !answer.status().is_success() {
            return Err(refusal(name, url, &answer, &body, has_token));
        }
        let answer: Value =
            serde_json::from_slice(&body).map_err(|error| unexpected(url, format!("it is not JSON: {error}")))?;
        Self::read(&answer).map_err(|message| unexpected(url, message.to_owned()))
    }

    /// Reads the hub's answer.
    fn read(answer: &Value) -> Result<Self, &'static str> {
        let commit = answer["sha"].as_str().filter(|commit| is_commit(commit));
        let files = answer["siblings"]
            .as_array()
            .ok_or("it has no list of files (`siblings`)")?;
        let named = files.iter().filter_map(|file| {
            let name = file["rfilename"].as_str().filter(|name| is_inside(name))?.to_owned();
            Some((name, announced(file)))
        });
        let is_open = answer["private"] == false && answer["gated"] == false;
        Ok(Self {
            commit: commit.ok_or("it has no commit (`sha`)")?.to_owned(),
            files: named.collect(),
            needs_token: !is_open,
        })
    }
}

/// Whether the name of a file stays within the directory that it is joined to, on every system.
fn is_inside(name: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    !name.is_empty() && !name.contains(['\\', ':']) && Path::new(name).components().all(is_plain)
}

/// Returns the size and hash of a file from its entry in the hub's list of files.
fn announced(file: &Value) -> Announced {
    let large = &file["lfs"];
    let hash = match large.is_object() {
        true => large["sha256"].as_str().and_then(ContentHash::sha256),
        false => file["blobId"].as_str().and_then(ContentHash::git_blob),
    };
    Announced {
        bytes: large["size"].as_u64().or_else(|| file["size"].as_u64()),
        hash,
    }
}

/// Whether `text` is the name of a commit.
pub(super) fn is_commit(text: &str) -> bool {
    is_hex(text, 40)
}

/// The error of an answer that says something else than it should.
fn unexpected(url: &str, message: String) -> ModelError {
    ModelError::Hub {
        url: url.to_owned(),
        message: format!("the answer cannot be used: {message}"),
    }
}

/// Returns the error for an answer whose status is not a success.
fn refusal(name: &str, url: &str, answer: &Response<Body>, body: &[u8], has_token: bool) -> ModelError {
    let status = answer.status();
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
    match (status.as_u16(), header("x-error-code").unwrap_or_default()) {
        (_, "RepoNotFound") | (404, _) => ModelError::HubNotFound {
            url: url.to_owned(),
            hint: match (header("x-error-code"), has_token) {
                (Some("RevisionNotFound"), _) => "the repository has no such revision",
                (_, false) => {
                    "check the name; a private repository needs an access token: log in with `hf auth login`, or set HF_TOKEN"
                }
                (_, true) => "check the name, and whether your access token may read it",
            }
            .to_owned(),
        },
        (status @ (401 | 403), _) => ModelError::refused(name, url, status, has_token),
        _ => {
            let said = reason(body).map_or_else(String::new, |said| format!(": {said}"));
            ModelError::Hub {
                url: url.to_owned(),
                message: format!("HTTP {status}{said}"),
            }
        }
    }
}

/// The reason that the hub gives for an error, in `error` of its JSON answer; for error messages, so of limited length.
fn reason(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value["error"].as_str().map(|text| text.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_of_the_hub_and_of_mirrors_are_read() {
        let (commit, sha256) = ("a".repeat(40), "b".repeat(64));
        let hub = json!({
            "sha": commit, "private": false, "gated": false,
            "siblings": [
                {"rfilename": "config.json", "size": 7, "blobId": "c".repeat(40)},
                {"rfilename": "w", "size": 99, "blobId": "d".repeat(40), "lfs": {"size": 99, "sha256": sha256, "pointerSize": 134}},
            ],
        });
        let read = Listing::read(&hub).unwrap();
        assert!(!read.needs_token);
        let git = ContentHash::git_blob(&"c".repeat(40));
        assert_eq!(
            read.files["config.json"],
            Announced {
                bytes: Some(7),
                hash: git
            }
        );
        let sha256 = ContentHash::sha256(&sha256);
        assert_eq!(
            read.files["w"],
            Announced {
                bytes: Some(99),
                hash: sha256
            }
        );

        let names = [
            "config.json",
            "../../x-Q8_0.gguf",
            "/tmp/x-Q8_0.gguf",
            "a\\..\\x.gguf",
            "C:x.gguf",
            "",
        ];
        let siblings = names.map(|name| json!({"rfilename": name}));
        let mirror = json!({"sha": commit, "siblings": siblings});
        let read = Listing::read(&mirror).unwrap();
        assert_eq!(
            read.files.keys().collect::<Vec<_>>(),
            ["config.json"],
            "others lead outside of the cache"
        );
        assert!(read.needs_token, "nothing says that it does not");
        assert_eq!(read.files["config.json"], Announced::default());
        for gated in [json!("auto"), json!("manual")] {
            let gated = json!({"sha": commit, "private": false, "gated": gated, "siblings": []});
            assert!(Listing::read(&gated).unwrap().needs_token);
        }
        for odd in [
            json!([]),
            json!({"sha": commit}),
            json!({"sha": "main", "siblings": []}),
        ] {
            assert!(Listing::read(&odd).is_err(), "{odd}");
        }
    }
}
