//! GitHub and the Hugging Face hub on the loopback address, as far as data is fetched from them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use maskwright_suites::fetch::Homes;
use serde_json::{Value, json};
use sha1::Digest as _;

/// Contents at an address, and how the server sends them; may be changed while the server runs.
#[derive(Clone)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Whether clients can ask for parts of the body.
    pub(crate) ranges: bool,
    /// Whether the body is sent without a length, in chunks, as GitHub sends its archives.
    pub(crate) chunked: bool,
    /// Bodies are cut off after this many bytes, this many times.
    pub(crate) cut: Option<(usize, usize)>,
    /// Answers 503, this many times.
    pub(crate) unavailable: usize,
    /// Time that each 4 KiB of the body take.
    pub(crate) pace: Duration,
}

pub(crate) type Pages = BTreeMap<String, Page>;
/// Files of a commit, by their paths.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) struct Server {
    pub(crate) address: String,
    pages: Arc<Mutex<Pages>>,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

impl Page {
    pub(crate) fn new(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            body: body.into(),
            headers: Vec::new(),
            ranges: true,
            chunked: false,
            cut: None,
            unavailable: 0,
            pace: Duration::ZERO,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            pages: Arc::default(),
            requests: Arc::default(),
            stop: Arc::default(),
        };
        let (pages, requests, stop) = (server.pages.clone(), server.requests.clone(), server.stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (pages, requests) = (pages.clone(), requests.clone());
                // A client that goes away is not the server's failure.
                std::thread::spawn(move || drop(answer(stream.unwrap(), &pages, &requests)));
            }
        });
        server
    }

    pub(crate) fn homes(&self) -> Homes {
        let address = &self.address;
        Homes {
            github_api: format!("{address}/api"),
            github_archives: format!("{address}/archives"),
            github_raw: format!("{address}/raw"),
            hub: format!("{address}/hub"),
            github_token: Some("github-secret".to_owned()),
            hub_token: Some("hub-secret".to_owned()),
        }
    }

    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap()
    }

    pub(crate) fn put(&self, path: impl Into<String>, page: Page) {
        self.pages().insert(path.into(), page);
    }

    /// Changes the page at `path`.
    pub(crate) fn change(&self, path: &str, change: impl FnOnce(&mut Page)) {
        change(self.pages().get_mut(path).unwrap());
    }

    /// The requests so far, as `PATH range=RANGE if-range=TAG authorization=TOKEN`; forgets them.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }

    /// Publishes files as a commit of a GitHub repository, as an archive and one by one.
    pub(crate) fn github(&self, repository: &str, branch: &str, commit: &str, files: &Files) {
        self.put(format!("/api/repos/{repository}/commits/{branch}"), Page::new(commit));
        let list = json!({ "sha": commit, "tree": entries(files), "truncated": false });
        self.put(tree(repository, commit, true), Page::new(list.to_string()));
        let mut archive = Page::new(tarball(files)).with("etag", "\"first\"");
        archive.ranges = true;
        self.put(archive_path(repository, commit), archive);
        for (path, bytes) in files {
            let page = Page::new(bytes.clone()).with("etag", "\"raw\"");
            self.put(format!("/raw/{repository}/{commit}/{path}"), page);
        }
    }

    /// Publishes files as a commit of a dataset of the hub; parquet files as large ones.
    pub(crate) fn hub(&self, repository: &str, commit: &str, files: &Files) {
        let revision = json!({ "sha": commit });
        let at = format!("/hub/api/datasets/{repository}");
        self.put(format!("{at}/revision/main"), Page::new(revision.to_string()));
        let entries = files.iter().map(|(path, bytes)| match path.ends_with(".parquet") {
            true => json!({
                "type": "file", "path": path, "size": bytes.len(), "oid": "0".repeat(40),
                "lfs": { "oid": sha256(bytes), "size": bytes.len(), "pointerSize": 130 },
            }),
            false => json!({ "type": "file", "path": path, "size": bytes.len(), "oid": blob(bytes) }),
        });
        let mut entries: Vec<Value> = entries.collect();
        entries.push(json!({ "type": "directory", "path": "Github_easy", "oid": "1".repeat(40) }));
        // In two parts, as long lists come.
        let rest = Value::from(entries.split_off(1));
        let next = format!(
            "<{}{at}/tree/{commit}?recursive=true&cursor=x>; rel=\"next\"",
            self.address
        );
        let first = Page::new(Value::from(entries).to_string()).with("link", next);
        self.put(format!("{at}/tree/{commit}?recursive=true"), first);
        self.put(
            format!("{at}/tree/{commit}?recursive=true&cursor=x"),
            Page::new(rest.to_string()),
        );
        for (path, bytes) in files {
            let mut page = Page::new("").with("location", format!("/storage/{path}"));
            page.status = 302;
            self.put(format!("/hub/datasets/{repository}/resolve/{commit}/{path}"), page);
            self.put(
                format!("/storage/{path}"),
                Page::new(bytes.clone()).with("etag", "\"stored\""),
            );
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
    }
}

pub(crate) fn tree(repository: &str, tree: &str, recursive: bool) -> String {
    let query = if recursive { "?recursive=1" } else { "" };
    format!("/api/repos/{repository}/git/trees/{tree}{query}")
}

pub(crate) fn archive_path(repository: &str, commit: &str) -> String {
    format!("/archives/{repository}/tar.gz/{commit}")
}

/// Entries of GitHub's list of files.
pub(crate) fn entries(files: &Files) -> Vec<Value> {
    let files = files.iter().map(|(path, bytes)| {
        json!({ "path": path, "mode": "100644", "type": "blob", "sha": blob(bytes), "size": bytes.len() })
    });
    let folder = json!({ "path": "tests", "mode": "040000", "type": "tree", "sha": "2".repeat(40) });
    let link = json!({ "path": "tests/link.json", "mode": "120000", "type": "blob", "sha": blob(b"x"), "size": 1 });
    files.chain([folder, link]).collect()
}

/// An archive as GitHub makes them: everything in one folder.
pub(crate) fn tarball(files: &Files) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        append(&mut archive, &format!("repository-main/{path}"), bytes);
    }
    gzip(&archive.into_inner().unwrap())
}

/// Adds an entry without a look at its path.
pub(crate) fn append(archive: &mut tar::Builder<Vec<u8>>, path: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    archive.append(&header, bytes).unwrap();
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn blob(bytes: &[u8]) -> String {
    let mut hash = sha1::Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hex::encode(hash.finalize())
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(sha2::Sha256::digest(bytes))
}

/// One request per connection.
fn answer(stream: TcpStream, pages: &Mutex<Pages>, requests: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.by_ref().take(8192).read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let mut request = path.clone();
    for name in ["range", "if-range", "authorization"] {
        if let Some(value) = headers.get(name) {
            request += &format!(" {name}={value}");
        }
    }
    requests.lock().unwrap().push(request);
    let page = {
        let mut pages = pages.lock().unwrap();
        match pages.get_mut(&path) {
            None => Page {
                status: 404,
                ..Page::new("")
            },
            Some(page) if page.unavailable > 0 => {
                page.unavailable -= 1;
                Page {
                    status: 503,
                    ..Page::new("")
                }
            }
            Some(page) => {
                let sent = page.clone();
                page.cut = page
                    .cut
                    .and_then(|(bytes, times)| (times > 1).then_some((bytes, times - 1)));
                sent
            }
        }
    };
    send(reader.into_inner(), page, &headers)
}

fn send(mut stream: TcpStream, page: Page, asked: &BTreeMap<String, String>) -> std::io::Result<()> {
    let tag = page
        .headers
        .iter()
        .find(|(name, _)| *name == "etag")
        .map(|(_, tag)| tag);
    let range = asked
        .get("range")
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
    let same = asked.get("if-range").is_none_or(|asked| Some(asked) == tag);
    let start = range
        .filter(|_| page.ranges && same && page.status == 200)
        .map_or(0, |from| from.parse().unwrap());
    let (status, body) = match start {
        0 => (page.status, &page.body[..]),
        start if start >= page.body.len() => (416, &[][..]),
        start => (206, &page.body[start..]),
    };
    write!(stream, "HTTP/1.1 {status} X\r\nconnection: close\r\n")?;
    for (name, value) in &page.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    if status == 206 {
        let whole = page.body.len();
        write!(stream, "content-range: bytes {start}-{}/{whole}\r\n", whole - 1)?;
    }
    let sent = &body[..body.len().min(page.cut.map_or(usize::MAX, |(bytes, _)| bytes))];
    if page.chunked {
        write!(stream, "transfer-encoding: chunked\r\n\r\n{:x}\r\n", sent.len())?;
        stream.write_all(sent)?;
        // A body that is cut off lacks its end.
        stream.write_all(if sent.len() == body.len() {
            b"\r\n0\r\n\r\n"
        } else {
            b""
        })?;
    } else {
        write!(stream, "content-length: {}\r\n\r\n", body.len())?;
        for piece in sent.chunks(4096) {
            stream.write_all(piece)?;
            std::thread::sleep(page.pace);
        }
    }
    stream.flush()
}
