//! A hub on the loopback address, with the few endpoints that fetching models needs.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Contents and behaviour of the server; may be changed while it runs.
#[derive(Default)]
pub(crate) struct Hub {
    /// Port that the server listens on; set by [`Server::start`].
    pub(crate) port: u16,
    /// `organisation/name` to the model.
    pub(crate) models: BTreeMap<String, Model>,
    /// Bodies are cut off after this many bytes, this many times.
    pub(crate) cut: Option<(usize, usize)>,
    /// Large files are sent with other contents than announced.
    pub(crate) corrupt: bool,
    /// Answers 503, this many times.
    pub(crate) unavailable: usize,
    /// The list of files has neither their sizes nor their hashes, as that of some mirrors.
    pub(crate) terse: bool,
    /// Models that need a token are private: without it, not even their files are listed.
    pub(crate) is_private: bool,
    /// `organisation/name` to the name that it has now.
    pub(crate) renamed: BTreeMap<String, String>,
}

#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Branches and tags to commits.
    pub(crate) revisions: BTreeMap<String, String>,
    /// Gated: its files need this token.
    pub(crate) token: Option<String>,
}

pub(crate) struct Server {
    pub(crate) hub: Arc<Mutex<Hub>>,
    pub(crate) endpoint: String,
    /// Requests answered: method, path, range, and `token` where one was shown.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(mut hub: Hub) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        hub.port = listener.local_addr().unwrap().port();
        let server = Self {
            hub: Arc::new(Mutex::new(hub)),
            endpoint: format!("http://{}", listener.local_addr().unwrap()),
            requests: Arc::default(),
            stop: Arc::default(),
        };
        let (hub, requests, stop) = (server.hub.clone(), server.requests.clone(), server.stop.clone());
        static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (hub, requests) = (hub.clone(), requests.clone());
                let name = format!("connection-{}", CONNECTIONS.fetch_add(1, Ordering::Relaxed));
                let answer = move || {
                    // A client that goes away is not the server's failure.
                    let _ = answer(stream.unwrap(), &hub, &requests);
                };
                std::thread::Builder::new().name(name).spawn(answer).unwrap();
            }
        });
        server
    }

    /// Number of requests whose line contains `text`.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.requests
            .lock()
            .unwrap()
            .iter()
            .filter(|line| line.contains(text))
            .count()
    }

    /// Number of requests for the contents of large files, rather than for their sizes.
    pub(crate) fn downloads(&self) -> usize {
        let requests = self.requests.lock().unwrap();
        let of_storage = requests.iter().filter(|line| line.starts_with("GET /storage/"));
        of_storage.filter(|line| !line.contains("bytes=0-0 ")).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.endpoint.trim_start_matches("http://"));
    }
}

struct Request {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// One request per connection.
fn answer(stream: TcpStream, hub: &Mutex<Hub>, requests: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let mut request = Request {
        method: words.next().unwrap_or_default(),
        path: words.next().unwrap_or_default(),
        headers: BTreeMap::new(),
    };
    loop {
        let mut line = String::new();
        reader.by_ref().take(8192).read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) => request.headers.insert(name.to_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let header = |name: &str| request.headers.get(name).map_or("", String::as_str);
    let token = if header("authorization").is_empty() {
        ""
    } else {
        "token"
    };
    requests.lock().unwrap().push(format!(
        "{} {} {} {token}",
        request.method,
        request.path,
        header("range")
    ));
    let (answer, cut) = {
        let mut hub = hub.lock().unwrap();
        let answer = route(&mut hub, &request);
        let whole = request.method == "GET" && answer.body.len() > 100_000;
        let cut = match &mut hub.cut {
            Some((bytes, times)) if *times > 0 && whole => {
                *times -= 1;
                *bytes
            }
            _ => usize::MAX,
        };
        (answer, cut)
    };
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {} X\r\nconnection: close\r\n", answer.status)?;
    if !answer.headers.iter().any(|(name, _)| *name == "content-length") {
        write!(stream, "content-length: {}\r\n", answer.body.len())?;
    }
    for (name, value) in &answer.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    if request.method != "HEAD" {
        stream.write_all(&answer.body[..answer.body.len().min(cut)])?;
    }
    stream.flush()
}

fn route(hub: &mut Hub, request: &Request) -> Answer {
    if hub.unavailable > 0 {
        hub.unavailable -= 1;
        return Answer::new(503, "busy");
    }
    if let Some(hash) = request.path.strip_prefix("/storage/") {
        // Another host in the real hub: the token must not be needed, and is not looked at.
        let found = hub
            .models
            .values()
            .flat_map(|model| model.files.values())
            .find(|bytes| sha256(bytes) == hash);
        return match found {
            Some(bytes) if hub.corrupt => part(&vec![b'x'; bytes.len()], request),
            Some(bytes) => part(bytes, request),
            None => Answer::new(404, ""),
        };
    }
    let path = request.path.trim_start_matches('/');
    for (old, new) in &hub.renamed {
        if path.contains(old) {
            return Answer::new(307, "").with("location", request.path.replace(old, new));
        }
    }
    let path = path.split('?').next().unwrap_or_default();
    let (id, rest) = match path.strip_prefix("api/models/") {
        Some(path) => split_id(path),
        None => split_id(path),
    };
    let Some(model) = hub.models.get(&id) else {
        return Answer::new(404, r#"{"error":"Repository not found"}"#).with("x-error-code", "RepoNotFound");
    };
    let sent = request.headers.get("authorization").map(String::as_str);
    let token = model.token.as_ref();
    let is_refused = token.is_some_and(|token| sent != Some(format!("Bearer {token}").as_str()));
    if hub.is_private && is_refused {
        return match sent {
            Some(_) => Answer::new(401, ""),
            None => Answer::new(404, "").with("x-error-code", "RepoNotFound"),
        };
    }
    let Some((kind, rest)) = rest.split_once('/') else {
        return Answer::new(404, "");
    };
    let (revision, file) = match kind {
        "revision" => (rest.replace("%2F", "/"), None),
        _ => match rest.split_once('/') {
            Some((revision, file)) => (revision.to_owned(), Some(file)),
            None => return Answer::new(404, ""),
        },
    };
    let commits = &model.revisions;
    let commit = commits
        .get(&revision)
        .or_else(|| commits.values().find(|commit| **commit == revision));
    let Some(commit) = commit else {
        return Answer::new(404, "").with("x-error-code", "RevisionNotFound");
    };
    let Some(name) = file else {
        let siblings: Vec<_> = model
            .files
            .iter()
            .map(|(name, bytes)| match hub.terse {
                true => json!({"rfilename": name}),
                false => announced(name, bytes),
            })
            .collect();
        let gated = if model.token.is_some() {
            json!("manual")
        } else {
            json!(false)
        };
        let listing = json!({"sha": commit, "private": false, "gated": gated, "siblings": siblings});
        return Answer::new(200, listing.to_string());
    };
    if is_refused {
        return Answer::new(if sent.is_some() { 403 } else { 401 }, "").with("x-error-code", "GatedRepo");
    }
    match model.files.get(name) {
        None => Answer::new(404, "").with("x-error-code", "EntryNotFound"),
        Some(bytes) if is_large(name) => Answer::new(302, "")
            // Another host, by name.
            .with(
                "location",
                format!("http://localhost:{}/storage/{}", hub.port, sha256(bytes)),
            )
            .with("x-linked-etag", format!("\"{}\"", sha256(bytes)))
            .with("x-linked-size", bytes.len().to_string())
            .with("x-repo-commit", commit),
        Some(bytes) => {
            let weak = if name.starts_with("generation") { "W/" } else { "" };
            part(bytes, request)
                .with("etag", format!("{weak}\"{}\"", git_hash(bytes)))
                .with("x-repo-commit", commit)
        }
    }
}

/// Whether a file is one of Git LFS.
fn is_large(name: &str) -> bool {
    name.ends_with(".safetensors") || name.ends_with(".gguf")
}

/// Returns a file's entry in the hub's list of files.
fn announced(name: &str, bytes: &[u8]) -> serde_json::Value {
    let size = bytes.len();
    match is_large(name) {
        true => json!({"rfilename": name, "size": size, "lfs": {"size": size, "sha256": sha256(bytes)}}),
        false => json!({"rfilename": name, "size": size, "blobId": git_hash(bytes)}),
    }
}

/// `organisation/name` and the rest of a path.
fn split_id(path: &str) -> (String, String) {
    let mut parts = path.splitn(3, '/');
    let mut next = || parts.next().unwrap_or_default().to_owned();
    (format!("{}/{}", next(), next()), next())
}

fn part(bytes: &[u8], request: &Request) -> Answer {
    if request.method == "HEAD" {
        return Answer::new(200, "").with("content-length", bytes.len().to_string());
    }
    let range = request
        .headers
        .get("range")
        .and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((start, end)) = range else {
        return Answer::new(200, bytes);
    };
    let start: usize = start.parse().unwrap();
    if start >= bytes.len() {
        return Answer::new(416, "");
    }
    let end = end.parse::<usize>().map_or(bytes.len(), |end| end + 1).min(bytes.len());
    let range = format!("bytes {start}-{}/{}", end - 1, bytes.len());
    Answer::new(206, &bytes[start..end]).with("content-range", range)
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The hash by which git names a file's contents.
fn git_hash(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hex::encode(hash.finalize())
}
