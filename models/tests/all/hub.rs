//! Models from the hub, against a server on the loopback address.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::hub_server::{Hub, Model, Server, sha256};
use maskwright_models::{
    Family, HubSettings, LoadOptions, LoadedModel, ModelError, ModelSource, ModelVocabulary, RandomCheckpoint, load,
    logits_to_host,
};

const FIRST: &str = "1111111111111111111111111111111111111111";
const SECOND: &str = "2222222222222222222222222222222222222222";

/// A checkpoint's files.
fn files(seed: u64, shards: usize) -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let mut checkpoint = RandomCheckpoint::preset(Family::Llama, "tiny").unwrap();
    checkpoint.seed = seed;
    checkpoint.shards = shards;
    checkpoint.config["vocab_size"] = 4096.into();
    checkpoint.write(directory.path()).unwrap();
    let entries = std::fs::read_dir(directory.path()).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

fn model(seed: u64, shards: usize) -> Model {
    Model {
        files: files(seed, shards),
        revisions: BTreeMap::from([("main".to_owned(), FIRST.to_owned())]),
        token: None,
    }
}

fn server(model: Model) -> Server {
    Server::start(Hub {
        models: BTreeMap::from([("org/tiny".to_owned(), model)]),
        ..Hub::default()
    })
}

fn options(server: &Server, cache: &Path) -> LoadOptions {
    LoadOptions {
        hub: HubSettings {
            endpoint: server.endpoint.clone(),
            cache: cache.to_owned(),
            token: None,
            offline: false,
        },
        ..LoadOptions::default()
    }
}

fn source(text: &str) -> ModelSource {
    text.parse().unwrap()
}

fn logits(loaded: &mut LoadedModel) -> Vec<f32> {
    let mut host = Vec::new();
    loaded.model.reset();
    logits_to_host(&loaded.model.append(&[1, 2, 3]).unwrap(), &mut host).unwrap();
    host
}

#[test]
fn downloads_once_and_then_works_offline() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    let mut first = load(&source("org/tiny"), &options).unwrap();
    assert_eq!(first.summary().commit.as_deref(), Some(FIRST));
    assert_eq!(first.name(), "org/tiny");
    assert_eq!(server.downloads(), 1);
    let snapshot = cache.path().join("models--org--tiny").join("snapshots").join(FIRST);
    assert!(
        snapshot.join("model.safetensors").is_file(),
        "the layout of the hub's own cache"
    );

    let mut again = load(&source("org/tiny"), &options).unwrap();
    assert_eq!(server.downloads(), 1, "not downloaded again");
    let asked = server.count("");
    options.hub.offline = true;
    let mut offline = load(&source("org/tiny"), &options).unwrap();
    let mut pinned = load(&source(&format!("org/tiny@{FIRST}")), &options).unwrap();
    assert_eq!(server.count(""), asked, "offline, nothing is asked");
    let expected = logits(&mut first);
    for other in [&mut again, &mut offline, &mut pinned] {
        assert_eq!(logits(other), expected);
        assert_eq!(other.summary().commit.as_deref(), Some(FIRST));
    }
    assert_eq!(first.summary().hash, offline.summary().hash);
}

#[test]
fn a_hub_that_cannot_be_reached_is_no_obstacle_to_a_cached_model() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let options = options(&server, cache.path());
    load(&source("org/tiny"), &options).unwrap();
    drop(server);
    load(&source("org/tiny"), &options).unwrap();
    let error = load(&source("org/other"), &options).unwrap_err();
    assert!(matches!(error, ModelError::Hub { .. }), "{error}");
}

#[test]
fn offline_without_cache_says_what_is_missing() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    options.hub.offline = true;
    let error = load(&source("org/tiny"), &options).unwrap_err();
    assert!(
        matches!(&error, ModelError::NotCached { repo, .. } if repo == "org/tiny@main"),
        "{error}"
    );
    assert_eq!(server.count(""), 0);
    options.hub.offline = false;
    options.hub.endpoint = "garbage".to_owned();
    let error = load(&source("org/tiny"), &options).unwrap_err().to_string();
    assert!(error.contains("HF_ENDPOINT has to be an address"), "{error}");
}

#[test]
fn weights_that_were_never_fetched_are_not_in_the_cache() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    ModelVocabulary::load(&source("org/tiny"), &options.hub, None).unwrap();
    drop(server);
    for offline in [true, false] {
        options.hub.offline = offline;
        let error = load(&source("org/tiny"), &options).unwrap_err();
        assert!(
            matches!(&error, ModelError::NotCached { file, .. } if file.contains("model.safetensors")),
            "offline: {offline}: {error}"
        );
    }
}

#[test]
fn the_commit_of_a_revision_is_written_only_where_it_changes() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let options = options(&server, cache.path());
    load(&source("org/tiny"), &options).unwrap();
    let directory = cache.path().join("models--org--tiny");
    let reference = directory.join("refs/main");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(&reference).unwrap();
    file.set_modified(long_ago).unwrap();
    load(&source("org/tiny"), &options).unwrap();
    assert_eq!(std::fs::metadata(&reference).unwrap().modified().unwrap(), long_ago);

    let moved = BTreeMap::from([("main".to_owned(), SECOND.to_owned())]);
    server.hub.lock().unwrap().models.get_mut("org/tiny").unwrap().revisions = moved;
    load(&source("org/tiny"), &options).unwrap();
    assert_eq!(std::fs::read_to_string(&reference).unwrap(), SECOND);
    let mut names = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    assert!(
        !names.any(|name| name.extension().is_some_and(|end| end == "partial")),
        "the file that was renamed is gone"
    );
    // What cannot be written is no obstacle.
    std::fs::remove_file(&reference).unwrap();
    std::fs::create_dir(&reference).unwrap();
    let loaded = load(&source("org/tiny"), &options).unwrap();
    assert_eq!(loaded.summary().commit.as_deref(), Some(SECOND));
}

/// Sets the permissions of a file or a directory and of all that is in it, but not of what links lead to.
#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    if path.is_symlink() {
        return;
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            set_mode(&entry.unwrap().path(), mode);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_read() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let options = options(&server, cache.path());
    load(&source("org/tiny"), &options).unwrap();
    set_mode(cache.path(), 0o555);
    // Permissions do not bind the superuser.
    let is_writable = File::create(cache.path().join("probe")).is_ok();
    let loaded = load(&source("org/tiny"), &options);
    set_mode(cache.path(), 0o755);
    if !is_writable {
        loaded.unwrap();
    }
}

#[test]
fn sharded_weights_are_fetched_by_their_index() {
    let (server, cache) = (server(model(0, 3)), tempfile::tempdir().unwrap());
    let mut loaded = load(&source("org/tiny"), &options(&server, cache.path())).unwrap();
    let other = tempfile::tempdir().unwrap();
    let whole = Server::start(Hub {
        models: BTreeMap::from([("org/tiny".to_owned(), model(0, 1))]),
        ..Hub::default()
    });
    let mut single = load(&source("org/tiny"), &options(&whole, other.path())).unwrap();
    assert_eq!(logits(&mut loaded), logits(&mut single));

    // A shard that the index names and the repository lacks.
    let shard = "model-00002-of-00003.safetensors";
    server
        .hub
        .lock()
        .unwrap()
        .models
        .get_mut("org/tiny")
        .unwrap()
        .files
        .remove(shard);
    let empty = tempfile::tempdir().unwrap();
    let error = load(&source("org/tiny"), &options(&server, empty.path())).unwrap_err();
    assert!(
        matches!(&error, ModelError::ShardMissing { shard: missing, .. } if missing == shard),
        "{error}"
    );
}

#[test]
fn revisions_are_told_apart() {
    let mut both = model(0, 1);
    both.revisions.insert("refs/pr/1".to_owned(), SECOND.to_owned());
    let (server, cache) = (server(both), tempfile::tempdir().unwrap());
    let options = options(&server, cache.path());
    let loaded = load(&source("org/tiny@refs/pr/1"), &options).unwrap();
    assert_eq!(loaded.summary().commit.as_deref(), Some(SECOND));
    let main = load(&source("org/tiny"), &options).unwrap();
    assert_eq!(main.summary().commit.as_deref(), Some(FIRST));
    assert_eq!(server.downloads(), 1, "the same contents are fetched once");
    // A branch that moves is followed.
    let moved = BTreeMap::from([("main".to_owned(), SECOND.to_owned())]);
    server.hub.lock().unwrap().models.get_mut("org/tiny").unwrap().revisions = moved;
    let main = load(&source("org/tiny"), &options).unwrap();
    assert_eq!(main.summary().commit.as_deref(), Some(SECOND));
    let error = load(&source("org/tiny@v9"), &options).unwrap_err();
    assert!(error.to_string().contains("no such revision"), "{error}");
}

#[test]
fn missing_and_gated_repositories_are_told_apart() {
    let mut gated = model(0, 1);
    gated.token = Some("secret".to_owned());
    let (server, cache) = (server(gated), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    let missing = load(&source("org/none"), &options).unwrap_err();
    assert!(matches!(missing, ModelError::HubNotFound { .. }), "{missing}");
    let refused = load(&source("org/tiny"), &options).unwrap_err();
    assert!(
        matches!(refused, ModelError::HubRefused { status: 401, .. }),
        "{refused}"
    );
    assert!(refused.to_string().contains("no access token was sent"), "{refused}");
    options.hub.token = Some("wrong".to_owned());
    let refused = load(&source("org/tiny"), &options).unwrap_err();
    assert!(
        matches!(refused, ModelError::HubRefused { status: 403, .. }),
        "{refused}"
    );
    let page = format!("accept its licence at {}/org/tiny", server.endpoint);
    for advice in [page.as_str(), "may not read it", "hf auth login"] {
        assert!(refused.to_string().contains(advice), "{refused}");
    }
    options.hub.token = Some("secret".to_owned());
    load(&source("org/tiny"), &options).unwrap();
    assert!(!format!("{options:?}").contains("secret"), "tokens are not printed");
}

#[test]
fn a_cached_model_is_used_where_the_hub_refuses_it_later() {
    let mut gated = model(0, 1);
    gated.token = Some("secret".to_owned());
    let (server, cache) = (server(gated), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    options.hub.token = Some("secret".to_owned());
    load(&source("org/tiny"), &options).unwrap();
    for is_private in [false, true] {
        server.hub.lock().unwrap().is_private = is_private;
        for token in [None, Some("expired".to_owned())] {
            options.hub.token = token;
            for name in ["org/tiny".to_owned(), format!("org/tiny@{FIRST}")] {
                let loaded = load(&source(&name), &options).unwrap();
                assert_eq!(loaded.summary().commit.as_deref(), Some(FIRST), "{name}");
            }
        }
    }
    // What the cache lacks is refused as it is without one.
    let snapshot = cache.path().join("models--org--tiny/snapshots").join(FIRST);
    std::fs::remove_file(snapshot.join("model.safetensors")).unwrap();
    let refused = load(&source("org/tiny"), &options).unwrap_err();
    assert!(
        matches!(refused, ModelError::HubRefused { status: 401, .. }),
        "{refused}"
    );
}

#[test]
fn settings_come_from_the_variables_of_the_hubs_own_client() {
    let home = tempfile::tempdir().unwrap();
    let (stored, other) = (home.path().join("token"), home.path().join("other"));
    let home = home.path().to_str().unwrap();
    let settings = |variables: &[(&str, &str)]| {
        let variables = BTreeMap::from_iter(variables.iter().copied());
        HubSettings::from_variables(|name| match name {
            "HF_HOME" => Some(home.to_owned()),
            name => variables.get(name).map(|value| (*value).to_owned()),
        })
    };
    let plain = settings(&[]);
    assert_eq!((plain.token, plain.offline), (None, false));
    assert_eq!(plain.endpoint, "https://huggingface.co");
    assert_eq!(plain.cache, Path::new(home).join("hub"));
    std::fs::write(&stored, "hf_stored\n").unwrap();
    std::fs::write(&other, " hf_other ").unwrap();
    let token = |variables: &[(&str, &str)]| settings(variables).token;
    assert_eq!(token(&[]).as_deref(), Some("hf_stored"), "as `hf auth login` stores it");
    let path = ("HF_TOKEN_PATH", other.to_str().unwrap());
    assert_eq!(token(&[path]).as_deref(), Some("hf_other"));
    assert_eq!(
        token(&[path, ("HF_TOKEN", "hf_variable")]).as_deref(),
        Some("hf_variable")
    );
    assert_eq!(token(&[("HF_TOKEN", "")]).as_deref(), Some("hf_stored"));
    std::fs::write(&stored, "two\nlines").unwrap();
    assert_eq!(token(&[]), None, "no token has a line break in it");
    let elsewhere = settings(&[
        ("HF_ENDPOINT", "http://mirror/"),
        ("HF_HUB_CACHE", "/elsewhere"),
        ("HF_HUB_OFFLINE", "1"),
    ]);
    assert_eq!(elsewhere.endpoint, "http://mirror");
    assert_eq!(elsewhere.cache, Path::new("/elsewhere"));
    assert!(elsewhere.offline);
    let older = settings(&[
        ("HUGGINGFACE_HUB_CACHE", "~/hub"),
        ("HUGGING_FACE_HUB_TOKEN", "hf_older"),
        ("TRANSFORMERS_OFFLINE", "yes"),
    ]);
    assert_eq!(older.cache, std::env::home_dir().unwrap().join("hub"));
    assert_eq!(older.token.as_deref(), Some("hf_older"));
    assert!(older.offline && !settings(&[("TRANSFORMERS_OFFLINE", "yes"), ("HF_HUB_OFFLINE", "0")]).offline);
}

#[test]
fn the_token_goes_to_the_hub_and_not_to_its_storage_unless_the_model_is_gated() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    options.hub.token = Some("secret".to_owned());
    load(&source("org/tiny"), &options).unwrap();
    let requests = server.requests.lock().unwrap().clone();
    let with_token: Vec<&String> = requests.iter().filter(|line| line.ends_with("token")).collect();
    assert!(
        matches!(&with_token[..], [listing] if listing.contains("/api/models/")),
        "{with_token:?}"
    );
}

#[test]
fn a_repository_that_was_renamed_is_found() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let renamed = BTreeMap::from([("org/old".to_owned(), "org/tiny".to_owned())]);
    server.hub.lock().unwrap().renamed = renamed;
    let loaded = load(&source("org/old"), &options(&server, cache.path())).unwrap();
    assert_eq!(loaded.summary().commit.as_deref(), Some(FIRST));
}

#[test]
fn a_download_that_breaks_off_is_resumed() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let options = options(&server, cache.path());
    server.hub.lock().unwrap().cut = Some((60_000, 2));
    load(&source("org/tiny"), &options).unwrap();
    assert_eq!(server.downloads(), 3, "two attempts broke off");

    // For good: an error, what came is kept, and the next run goes on from there.
    let cache = tempfile::tempdir().unwrap();
    let mut options = options.clone();
    options.hub.cache = cache.path().to_owned();
    server.hub.lock().unwrap().cut = Some((10_000, 4));
    let error = load(&source("org/tiny"), &options).unwrap_err();
    assert!(matches!(error, ModelError::HubDamaged { .. }), "{error}");
    server.hub.lock().unwrap().unavailable = 2;
    load(&source("org/tiny"), &options).unwrap();
}

#[test]
fn what_is_left_of_earlier_downloads_does_no_harm() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let options = options(&server, cache.path());
    let weights = files(0, 1).remove("model.safetensors").unwrap();
    let blobs = cache.path().join("models--org--tiny/blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    let partial = blobs.join(format!("{}.part", sha256(&weights)));
    for left in [weights.len(), weights.len() + 1] {
        std::fs::write(&partial, vec![b'x'; left]).unwrap();
        load(&source("org/tiny"), &options).unwrap();
        std::fs::remove_dir_all(cache.path().join("models--org--tiny/snapshots")).unwrap();
        std::fs::remove_file(blobs.join(sha256(&weights))).unwrap();
    }
    // Its continuation is not what was announced, which is found out.
    std::fs::write(&partial, b"x").unwrap();
    let error = load(&source("org/tiny"), &options).unwrap_err();
    assert!(error.to_string().contains("SHA-256"), "{error}");
    load(&source("org/tiny"), &options).unwrap();
}

#[test]
fn contents_other_than_announced_are_refused() {
    for terse in [false, true] {
        let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
        let options = options(&server, cache.path());
        {
            let mut hub = server.hub.lock().unwrap();
            (hub.corrupt, hub.terse) = (true, terse);
        }
        let error = load(&source("org/tiny"), &options).unwrap_err();
        assert!(error.to_string().contains("SHA-256"), "{error}");
        server.hub.lock().unwrap().corrupt = false;
        load(&source("org/tiny"), &options).unwrap();
    }
}

#[test]
fn contents_that_nobody_has_looked_at_yet_are_not_used() {
    let (server, cache) = (server(model(0, 1)), tempfile::tempdir().unwrap());
    let mut options = options(&server, cache.path());
    load(&source("org/tiny"), &options).unwrap();
    let place = |file: &str| Path::new("models--org--tiny").join(FIRST).join(file);
    let unchecked = cache.path().join(".locks").join(place("model.safetensors.unchecked"));
    assert!(!unchecked.exists());
    // As a process leaves it that was killed between the download and the check.
    std::fs::write(&unchecked, "").unwrap();
    let snapshot = cache.path().join("models--org--tiny/snapshots").join(FIRST);
    std::fs::write(snapshot.join("model.safetensors"), "damaged").unwrap();
    options.hub.offline = true;
    let error = load(&source("org/tiny"), &options).unwrap_err();
    assert!(matches!(error, ModelError::NotCached { .. }), "{error}");
    options.hub.offline = false;
    load(&source("org/tiny"), &options).unwrap();
    assert!(!unchecked.exists());
    assert_eq!(server.downloads(), 2);
}

#[test]
fn a_repository_without_safetensors_says_so() {
    let mut only_bin = model(0, 1);
    only_bin.files.remove("model.safetensors");
    only_bin.files.insert("pytorch_model.bin".to_owned(), vec![0; 10]);
    let (server, cache) = (server(only_bin), tempfile::tempdir().unwrap());
    let error = load(&source("org/tiny"), &options(&server, cache.path())).unwrap_err();
    assert!(
        matches!(&error, ModelError::MissingFile { file, .. } if file.contains("model.safetensors")),
        "{error}"
    );
}

#[test]
fn a_repository_with_a_tokenizer_of_tiktoken_says_so() {
    let mut tiktoken = model(0, 1);
    let tokenizer = tiktoken.files.remove("tokenizer.json").unwrap();
    tiktoken.files.insert("tiktoken.model".to_owned(), tokenizer);
    let (server, cache) = (server(tiktoken), tempfile::tempdir().unwrap());
    let error = load(&source("org/tiny"), &options(&server, cache.path())).unwrap_err();
    assert!(
        matches!(&error, ModelError::MissingFile { hint, .. } if hint.contains("tiktoken.model")),
        "{error}"
    );
}
