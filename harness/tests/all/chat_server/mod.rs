//! A chat server on the loopback address that plays traces: what it is told to send, byte for byte.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// How a stream begins.
const EVENTS: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n";

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends a response with these headers and this body.
    Reply(u16, Vec<(&'static str, String)>, String),
    /// Sends an event stream in these pieces, and closes the connection after them.
    Stream(Vec<Vec<u8>>),
    /// Sends an answer in pieces, with a pause after each piece but the last.
    Slow(Vec<Vec<u8>>, Duration),
    /// Sends the first pieces, then the last one for as long as the client reads.
    Endless(Vec<Vec<u8>>),
    /// Sends nothing for this long, then closes the connection.
    Silence(Duration),
    /// Announces a longer body than it sends.
    CutOff(String),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// Decides on the nth chat request, counted from 0.
type Script = Box<dyn FnMut(usize, &Request) -> Act + Send>;

pub(crate) struct ChatServer {
    pub(crate) address: String,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
    /// Most chat requests that were being answered at the same time.
    pub(crate) most_at_once: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl ChatServer {
    /// Plays `acts` in turn, the last one again and again.
    pub(crate) fn play(acts: impl IntoIterator<Item = Act>) -> Self {
        let mut acts: VecDeque<Act> = acts.into_iter().collect();
        Self::start(move |_, _| match acts.len() {
            1 => acts[0].clone(),
            _ => acts.pop_front().unwrap(),
        })
    }

    pub(crate) fn start(script: impl FnMut(usize, &Request) -> Act + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            requests: Arc::default(),
            most_at_once: Arc::default(),
            stop: Arc::default(),
        };
        let script: Arc<Mutex<(usize, Script)>> = Arc::new(Mutex::new((0, Box::new(script))));
        let (requests, most, stop) = (
            server.requests.clone(),
            server.most_at_once.clone(),
            server.stop.clone(),
        );
        let at_once = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (script, requests, most, at_once) =
                    (script.clone(), requests.clone(), most.clone(), at_once.clone());
                std::thread::spawn(move || {
                    // A client that goes away is not the server's failure.
                    let _ = answer(stream.unwrap(), &script, &requests, &most, &at_once);
                });
            }
        });
        server
    }

    /// The value of `--server`, with further settings.
    pub(crate) fn argument(&self, name: &str, settings: &str) -> String {
        format!("{name}=http://{}/v1,model=chat-1,pause=0.001,{settings}", self.address)
    }

    /// The chat requests so far.
    pub(crate) fn chats(&self) -> Vec<Request> {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|request| request.is_chat()).cloned().collect()
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(&self.address);
    }
}

impl Request {
    pub(crate) fn is_chat(&self) -> bool {
        self.path.contains("/chat/completions") || self.path.contains(":streamGenerateContent")
    }

    /// The text of the last message.
    pub(crate) fn prompt(&self) -> String {
        let messages = self.body["messages"]
            .as_array()
            .or(self.body["contents"].as_array())
            .unwrap();
        let last = messages.last().unwrap();
        let text = last["content"].as_str().or(last["parts"][0]["text"].as_str());
        text.unwrap().to_owned()
    }
}

fn answer(
    stream: TcpStream,
    script: &Mutex<(usize, Script)>,
    requests: &Mutex<Vec<Request>>,
    most: &AtomicUsize,
    at_once: &AtomicUsize,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = Request {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    requests.lock().unwrap().push(request.clone());
    let mut stream = reader.into_inner();
    if !request.is_chat() {
        let version = json!({"version": "1.2.3", "build_info": "1.2.3"}).to_string();
        let reply = match request.path.as_str() {
            "/version" | "/get_server_info" | "/props" => Act::Reply(200, vec![], version),
            _ => Act::Reply(404, vec![], String::new()),
        };
        return play(&reply, &mut stream, || ());
    }
    most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    let act = {
        let mut script = script.lock().unwrap();
        let number = script.0;
        script.0 += 1;
        (script.1)(number, &request)
    };
    play(&act, &mut stream, || {
        at_once.fetch_sub(1, Ordering::SeqCst);
    })
}

/// Plays an act; `ends` is called before its last bytes, after which the client may go on.
fn play(act: &Act, stream: &mut TcpStream, ends: impl FnOnce()) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    match act {
        Act::Stream(pieces) => return play_pieces(pieces, Duration::ZERO, stream, ends),
        Act::Slow(pieces, pause) => return play_pieces(pieces, *pause, stream, ends),
        _ => ends(),
    }
    match act {
        Act::Stream(_) | Act::Slow(..) => {}
        Act::Reply(status, headers, body) => {
            write!(
                stream,
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n",
                body.len()
            )?;
            for (name, value) in headers {
                write!(stream, "{name}: {value}\r\n")?;
            }
            write!(stream, "\r\n{body}")?;
        }
        Act::Endless(pieces) => {
            stream.write_all(EVENTS.as_bytes())?;
            let (last, first) = pieces.split_last().unwrap();
            for piece in first {
                stream.write_all(piece)?;
            }
            loop {
                stream.write_all(last)?;
            }
        }
        Act::Silence(pause) => std::thread::sleep(*pause),
        Act::CutOff(body) => write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len() + 100
        )?,
    }
    stream.flush()
}

fn play_pieces(
    pieces: &[Vec<u8>],
    pause: Duration,
    stream: &mut TcpStream,
    ends: impl FnOnce(),
) -> std::io::Result<()> {
    stream.write_all(EVENTS.as_bytes())?;
    let (last, first) = pieces.split_last().unwrap();
    for piece in first {
        stream.write_all(piece)?;
        std::thread::sleep(pause);
    }
    ends();
    stream.write_all(last)
}

/// An event of a stream.
pub(crate) fn event(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

/// A chunk of a chat completion.
pub(crate) fn chunk(delta: Value, finish: Option<&str>) -> Vec<u8> {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null});
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "chat-1-2026",
        "system_fingerprint": "fp_1", "choices": [choice], "usage": null,
    });
    event(&chunk)
}

/// The last chunk, which counts tokens.
pub(crate) fn usage(prompt: u64, completion: u64, reasoning: u64) -> Vec<u8> {
    event(&json!({
        "object": "chat.completion.chunk", "choices": [],
        "usage": {
            "prompt_tokens": prompt, "completion_tokens": completion,
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
    }))
}

pub(crate) fn done() -> Vec<u8> {
    b"data: [DONE]\n\n".to_vec()
}

/// An answer as OpenAI streams it: role, text in two pieces, end, tokens.
pub(crate) fn says(text: &str) -> Act {
    let middle = text
        .char_indices()
        .nth(text.chars().count() / 2)
        .map_or(0, |(at, _)| at);
    Act::Stream(vec![
        chunk(json!({"role": "assistant", "content": "", "refusal": null}), None),
        chunk(json!({"content": text[..middle]}), None),
        chunk(json!({"content": text[middle..]}), None),
        chunk(json!({}), Some("stop")),
        usage(100, 12, 2),
        done(),
    ])
}

/// A failure as OpenAI tells it.
pub(crate) fn fails(status: u16, message: &str) -> Act {
    let error = json!({"error": {"message": message, "type": "some_error", "param": null, "code": null}});
    Act::Reply(
        status,
        vec![("content-type", "application/json".to_owned())],
        error.to_string(),
    )
}
