//! [`Client`]: asks one server, and repeats requests that failed in passing.

use std::io::Read as _;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::config::AutoHeaderValue;
use ureq::http::Response;
use ureq::{Agent, Body, Timeout};

use super::answer::{Answer, Outcome, Question};
use super::error::{ErrorBody, ResponseFailure, ServerError, Unanswered, read_failure};
use super::pace::{Admission, Pace};
use super::protocol::NoPiece;
use super::reading::Reading;
use super::replicas::Replicas;
use super::retry::{Backoff, LONG_PAUSE, LONGEST_ASKED_PAUSE, asked_pause};
use super::settings::ServerSettings;
use super::stream::EventDecoder;
use crate::run::progress;

/// The limit on the bytes of an answer apart from those of its tokens.
const ANSWER_BYTES_WITHOUT_TOKENS: usize = 1 << 20;
/// The limit on the bytes of an answer for each of its tokens: an event with a token takes a few hundred.
const ANSWER_BYTES_PER_TOKEN: usize = 2 << 10;
/// Tokens that an answer without a limit is assumed to have, before it is there.
const ASSUMED_TOKENS: usize = 1024;
/// Largest number of tokens of an answer without a limit.
const MOST_TOKENS: usize = 1 << 17;
/// The limit on the bytes that are read of an error.
const ERROR_BYTES: u64 = 64 << 10;
/// Longest time that a server may take to say that it is there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// Shortest key that is taken out of texts; `EMPTY` and the like are no secrets, and part of many texts.
const SHORTEST_SECRET: usize = 8;
/// Interval between two checks whether an address may be asked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// Replacement for a key that was taken out of a text.
const REDACTED: &str = "[key]";

/// A server that can be asked, from several threads at once.
pub struct Client {
    settings: ServerSettings,
    key: Option<String>,
    agent: Agent,
    pace: Mutex<Pace>,
    replicas: Replicas,
}

impl Client {
    /// A client with the key that the environment has for the server.
    ///
    /// # Errors
    ///
    /// A message, where the key's variable was named and does not exist, or holds text that no header can carry.
    pub fn from_environment(settings: ServerSettings) -> Result<Self, String> {
        let key = match settings.key_variable() {
            None => None,
            Some(variable) => match std::env::var(variable) {
                Ok(key) if !key.trim().is_empty() => Some(key.trim().to_owned()),
                _ if settings.key_env.is_none() => None,
                _ => return Err(format!("the environment variable {variable} with its key is not set")),
            },
        };
        if key
            .as_ref()
            .is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err("its key has characters that no key can have".to_owned());
        }
        Ok(Self::new(settings, key))
    }

    /// A client with this key.
    pub fn new(settings: ServerSettings, key: Option<String>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(settings.connect))
            // Unpacked answers would arrive in other pieces than those whose times are taken.
            .accept_encoding(AutoHeaderValue::None)
            .user_agent(concat!("maskwright/", env!("CARGO_PKG_VERSION")));
        Self {
            pace: Mutex::new(Pace::new(settings.requests_per_minute, settings.tokens_per_minute)),
            agent: config.build().into(),
            replicas: Replicas::new(settings.addresses().map(str::to_owned).collect()),
            settings,
            key,
        }
    }

    /// Returns the settings of the server.
    pub fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    /// A client of each address alone, in their order.
    pub fn of_each_address(&self) -> Vec<Self> {
        let one = |address: &str| {
            let settings = ServerSettings {
                url: address.to_owned(),
                replicas: Vec::new(),
                ..self.settings.clone()
            };
            Self::new(settings, self.key.clone())
        };
        self.settings.addresses().map(one).collect()
    }

    /// Asks the address of this number no more, unless it is the last.
    pub fn leave_out(&self, address: usize) {
        self.replicas.leave_out(address);
    }

    /// Sets the largest number of requests that each address may have in flight. Returns the sum over all addresses that are asked.
    pub fn allow(&self, concurrency: usize) -> usize {
        self.replicas.allow(concurrency)
    }

    /// Whether requests carry a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Version of the server's software; empty where it tells none.
    pub fn version(&self) -> String {
        let Some((paths, member)) = self.settings.dialect.version() else {
            return String::new();
        };
        let root = self.settings.url.trim_end_matches("/v1");
        let told = paths.iter().find_map(|path| {
            let mut response = self.get(&format!("{root}{path}")).ok()?;
            let body = response
                .body_mut()
                .with_config()
                .limit(ANSWER_BYTES_WITHOUT_TOKENS as u64);
            let reply: serde_json::Value = serde_json::from_str(&body.read_to_string().ok()?).ok()?;
            Some(reply.get(member)?.as_str()?.chars().take(100).collect::<String>())
        });
        self.clean(&told.unwrap_or_default())
    }

    /// Asks a question, and repeats the request where the server or the network failed in passing, as often as the settings say.
    ///
    /// # Errors
    ///
    /// [`Unanswered`], where that led nowhere, or `stopped` came true between two requests.
    pub fn ask(&self, question: &Question, stopped: &dyn Fn() -> bool) -> Result<Answer, Unanswered> {
        let mut attempts = 0;
        let answer = self.attempts(question, stopped, &mut attempts);
        let clean = |message: String| self.clean(&message);
        match answer {
            Ok(answer) => Ok(Answer {
                attempts,
                message: answer.message.map(clean),
                model: answer.model.map(clean),
                fingerprint: answer.fingerprint.map(clean),
                ..answer
            }),
            Err(error) => Err(Unanswered {
                error: error.map_text(clean),
                attempts,
            }),
        }
    }

    /// `text` without the key, should a server have repeated it.
    pub fn clean(&self, text: &str) -> String {
        match &self.key {
            Some(key) if key.len() >= SHORTEST_SECRET => text.replace(key, REDACTED),
            _ => text.to_owned(),
        }
    }

    fn attempts(
        &self,
        question: &Question,
        stopped: &dyn Fn() -> bool,
        attempts: &mut u32,
    ) -> Result<Answer, ServerError> {
        let body = match self.settings.dialect.request(&self.settings, question) {
            Ok(body) => body.to_string(),
            Err(error) => {
                return Ok(verdict(
                    Outcome::SchemaRefused,
                    format!("the schema is not JSON: {error}"),
                ));
            }
        };
        // Four bytes to a token: what the providers' own estimates come to.
        let prompt = body.len() as u64 / 4;
        let estimate = prompt + question.max_tokens.unwrap_or(ASSUMED_TOKENS) as u64;
        let mut backoff = Backoff::new(self.settings.pause);
        // Behind a failure another replica is asked at once: that is no repetition, as long as each is asked once.
        let (mut failed, mut pauses) = (Vec::new(), 0);
        loop {
            let ticket = self.wait_for_turn(estimate, stopped)?;
            let replica = self.replica(&failed, stopped)?;
            *attempts += 1;
            let error = match self.attempt(self.replicas.address(replica), &body, question) {
                Ok(answer) => {
                    self.replicas.end(replica);
                    if let Some(tokens) = answer.usage.of_request(prompt) {
                        self.pace().correct(ticket, tokens);
                    }
                    return Ok(Answer {
                        request_bytes: body.len(),
                        ..answer
                    });
                }
                Err(error) => error,
            };
            let pause = error.asked_pause();
            match error.is_of_replica() {
                true => self.replicas.fail(replica, pause, Instant::now()),
                false => self.replicas.end(replica),
            }
            // An address that lost its model or its key is none of the server any more.
            let is_left_out = error.is_fatal() && self.replicas.leave_out(replica);
            if is_left_out || error.is_of_replica() && self.replicas.has_working(Instant::now()) {
                let name = &self.settings.name;
                tracing::info!("{name}: {}; asking another replica", self.clean(&error.to_string()));
                if is_left_out {
                    // What failed before may answer again.
                    failed.clear();
                    continue;
                }
                if failed.len() < self.settings.replicas.len() {
                    failed.push(replica);
                    continue;
                }
            }
            failed.clear();
            let hopeless = !error.may_pass() || pause.is_some_and(|pause| pause > LONGEST_ASKED_PAUSE);
            if hopeless || pauses >= self.settings.retries {
                return match error {
                    // It failed on this schema again and again, and says so.
                    ServerError::Failed {
                        names_schema: true,
                        message,
                        ..
                    } => Ok(verdict(Outcome::SchemaRefused, message)),
                    error => Err(error),
                };
            }
            pauses += 1;
            tracing::info!(
                "{}: {}; trying again",
                self.settings.name,
                self.clean(&error.to_string())
            );
            let pause = pause.unwrap_or_default().max(backoff.pause(&mut rand::rng()));
            if pause >= LONG_PAUSE {
                let error = self.clean(&error.to_string());
                let (name, seconds) = (&self.settings.name, pause.as_secs());
                progress::say(&format!("server {name}: {error}; asking again in {seconds} s"));
            }
            sleep(pause, stopped)?;
        }
    }

    fn wait_for_turn(&self, tokens: u64, stopped: &dyn Fn() -> bool) -> Result<u64, ServerError> {
        loop {
            if stopped() {
                return Err(ServerError::Stopped);
            }
            let admission = self.pace().admit(Instant::now(), tokens);
            match admission {
                Admission::Now(ticket) => return Ok(ticket),
                Admission::After(pause) => sleep(pause, stopped)?,
            }
        }
    }

    /// Waits until an address may have another request in flight, and returns that address; none of those that `failed`, where there is another.
    fn replica(&self, failed: &[usize], stopped: &dyn Fn() -> bool) -> Result<usize, ServerError> {
        loop {
            if let Some(replica) = self.replicas.begin(Instant::now(), failed) {
                return Ok(replica);
            }
            sleep(BETWEEN_LOOKS, stopped)?;
        }
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one request to `address` and reads its answer.
    fn attempt(&self, address: &str, body: &str, question: &Question) -> Result<Answer, ServerError> {
        let settings = &self.settings;
        let url = format!("{address}{}", settings.dialect.path(&settings.model));
        let mut request = self
            .agent
            .post(url)
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        if let Some(key) = &self.key {
            let (name, value) = settings.dialect.key_header(key);
            request = request.header(name, value);
        }
        let request = request
            .config()
            .timeout_global(Some(question.limit))
            .timeout_recv_response(settings.first_byte)
            .build();
        let sent = Instant::now();
        let late = |sent: Instant| match self.responds(address) {
            true => Ok(Reading::new(settings.dialect).cut_off(Outcome::TimeLimit, None, sent.elapsed())),
            false => Err(ServerError::Silent { limit: question.limit }),
        };
        match request.send(body) {
            Ok(response) => self.receive(response, question, sent),
            Err(ureq::Error::Timeout(Timeout::RecvResponse)) => Err(ServerError::Silent {
                limit: settings.first_byte.unwrap_or(question.limit),
            }),
            Err(ureq::Error::Timeout(Timeout::Global | Timeout::PerCall)) => late(sent),
            Err(error) => Err(ServerError::Unreachable {
                message: error.to_string(),
            }),
        }
    }

    fn receive(&self, mut response: Response<Body>, question: &Question, sent: Instant) -> Result<Answer, ServerError> {
        let status = response.status();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if status.is_redirection() {
            return Err(ServerError::Moved {
                status: status.as_u16(),
                location: header("location")
                    .unwrap_or("an address that it does not tell")
                    .to_owned(),
            });
        }
        let is_stream = header("content-type").is_some_and(|kind| kind.contains("event-stream"));
        let wait = asked_pause(response.headers(), jiff::Timestamp::now());
        if !status.is_success() {
            let mut text = Vec::new();
            // As much of the reason as can be had.
            let _ = response.body_mut().as_reader().take(ERROR_BYTES).read_to_end(&mut text);
            let body = ErrorBody::from_text(&String::from_utf8_lossy(&text));
            return self.settle(status.as_u16(), &body, question, wait);
        }
        let limit = question
            .max_tokens
            .unwrap_or(MOST_TOKENS)
            .saturating_mul(ANSWER_BYTES_PER_TOKEN)
            .saturating_add(ANSWER_BYTES_WITHOUT_TOKENS);
        let mut body = response.into_body().into_reader();
        let mut reading = Reading::new(self.settings.dialect);
        let (mut decoder, mut whole) = (EventDecoder::default(), Vec::new());
        let (mut bytes, mut buffer) = (0, vec![0; 16 << 10]);
        let failed = loop {
            let count = match body.read(&mut buffer).map_err(ureq::Error::from) {
                Ok(0) => break None,
                Ok(count) => count,
                // Whatever else was to come after the model's last word.
                Err(_) if reading.is_finished() => break None,
                Err(ureq::Error::Timeout(_)) => return Ok(reading.cut_off(Outcome::TimeLimit, None, sent.elapsed())),
                Err(error) => break Some(error.to_string()),
            };
            let at = sent.elapsed();
            bytes += count;
            if bytes > limit {
                let message = format!("more than {limit} bytes");
                return Ok(reading.cut_off(Outcome::SizeLimit, Some(message), at));
            }
            if is_stream {
                for event in decoder.feed(&buffer[..count]) {
                    if let Err(problem) = reading.take(&event, at) {
                        return self.give_up(problem, question);
                    }
                }
                if reading.is_done() {
                    break None;
                }
            } else {
                whole.extend_from_slice(&buffer[..count]);
            }
        };
        if reading.is_done() {
            // Once the last bytes are read, the connection can serve the next request. Nobody waits for them; the request's
            // time limit holds for them, too.
            let drain = move || std::io::copy(&mut body.take(ERROR_BYTES), &mut std::io::sink());
            let _ = thread::Builder::new().name("drain".to_owned()).spawn(drain);
        }
        let rest = match is_stream {
            true => decoder.finish().filter(|_| failed.is_none() && !reading.is_done()),
            false => Some(whole).filter(|_| failed.is_none()),
        };
        let taken = rest.map_or(Ok(()), |rest| reading.take(&rest, sent.elapsed()));
        match taken {
            // Half an event is what is left of a connection that ended early, perhaps after the whole answer.
            Err(NoPiece::Malformed(message)) if is_stream => reading.end(bytes, Some(message)),
            Err(problem) => self.give_up(problem, question),
            Ok(()) => reading.end(bytes, failed),
        }
    }

    fn give_up(&self, problem: NoPiece, question: &Question) -> Result<Answer, ServerError> {
        match problem {
            NoPiece::Error(body) => self.settle(200, &body, question, None),
            NoPiece::Malformed(message) => Err(ServerError::Malformed { message }),
        }
    }

    /// Returns the verdict or the error that a server's failed response means.
    fn settle(
        &self,
        status: u16,
        body: &ErrorBody,
        question: &Question,
        wait: Option<Duration>,
    ) -> Result<Answer, ServerError> {
        let key = self.settings.key_variable().filter(|_| self.has_key());
        match read_failure(status, body, question.schema.is_some(), wait, key) {
            ResponseFailure::SchemaRefused(message) => Ok(verdict(Outcome::SchemaRefused, message)),
            ResponseFailure::ContextFull(message) => Ok(verdict(Outcome::ContextFull, message)),
            ResponseFailure::Error(error) => Err(error),
        }
    }

    /// Whether the server responds at all: a server that works on a question too long does, one that hangs does not.
    fn responds(&self, address: &str) -> bool {
        self.get(&format!("{address}/models")).is_ok()
    }

    fn get(&self, url: &str) -> Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.get(url);
        if let Some(key) = &self.key {
            let (name, value) = self.settings.dialect.key_header(key);
            request = request.header(name, value);
        }
        request.config().timeout_global(Some(SIGN_OF_LIFE)).build().call()
    }
}

/// An answer without a text.
fn verdict(outcome: Outcome, message: String) -> Answer {
    Answer {
        outcome,
        message: Some(message),
        text: String::new(),
        arrivals: Vec::new(),
        total: Duration::ZERO,
        usage: super::usage::TokenUsage::default(),
        attempts: 1,
        request_bytes: 0,
        model: None,
        fingerprint: None,
    }
}

fn sleep(pause: Duration, stopped: &dyn Fn() -> bool) -> Result<(), ServerError> {
    const STEP: Duration = Duration::from_millis(50);
    let until = Instant::now() + pause;
    loop {
        if stopped() {
            return Err(ServerError::Stopped);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(STEP));
    }
}
