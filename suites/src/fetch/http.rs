//! [`Client`]: requests that are repeated when they fail in passing.

use std::time::Duration;

use ureq::config::{AutoHeaderValue, RedirectAuthHeaders};
use ureq::http::Response;
use ureq::{Agent, Body};

use super::error::FetchError;
use super::homes::Homes;
use super::{Progress, Retries};

const CONNECT_TIME: Duration = Duration::from_secs(20);
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Longest time of one body: a server that stalls is noticed, and the bytes received are kept.
const BODY_TIME: Duration = Duration::from_secs(1800);
/// The limit on the bytes of an interface's answer; GitHub cuts its lists at 7 MB.
const LISTING_BYTES_LIMIT: u64 = 64 << 20;
/// Longest wait that a server can ask for between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(super) struct Client<'a> {
    homes: &'a Homes,
    pub(super) progress: &'a dyn Progress,
    retries: Retries,
    agent: Agent,
}

/// An answer of an interface.
pub(super) struct Answer {
    pub(super) body: Vec<u8>,
    /// Address of the next part of a list, from the header `link`.
    pub(super) next: Option<String>,
}

impl<'a> Client<'a> {
    pub(super) fn new(homes: &'a Homes, progress: &'a dyn Progress, retries: Retries) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(10)
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_recv_response(Some(ANSWER_TIME))
            .timeout_recv_body(Some(BODY_TIME))
            // Whatever this build of ureq could unpack.
            .accept_encoding(AutoHeaderValue::None)
            .user_agent(concat!("maskwright/", env!("CARGO_PKG_VERSION")));
        Self {
            homes,
            progress,
            retries,
            agent: config.build().into(),
        }
    }

    /// Returns the addresses of the homes.
    pub(super) fn homes(&self) -> &'a Homes {
        self.homes
    }

    /// The whole answer to a question.
    pub(super) fn ask(&self, url: &str, accept: &str) -> Result<Answer, FetchError> {
        self.attempts(|| {
            let mut answer = self.get(url, &[("accept", accept)])?;
            refuse_failure(url, &answer)?;
            let next = answer
                .headers()
                .get("link")
                .and_then(|link| next_link(link.to_str().ok()?));
            let body = answer.body_mut().with_config().limit(LISTING_BYTES_LIMIT).read_to_vec();
            let body = body.map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => FetchError::TooLarge {
                    what: "the answer".to_owned(),
                    url: url.to_owned(),
                    limit: format!("{LISTING_BYTES_LIMIT} bytes"),
                },
                error => unreachable(url, &error),
            })?;
            Ok(Answer { body, next })
        })
    }

    /// The answer as JSON, and the address of its next part.
    pub(super) fn json(&self, url: &str, accept: &str) -> Result<(serde_json::Value, Option<String>), FetchError> {
        let answer = self.ask(url, accept)?;
        let value = serde_json::from_slice(&answer.body)
            .map_err(|error| FetchError::odd(url, format!("it is not JSON: {error}")))?;
        Ok((value, answer.next))
    }

    /// Asks once, whatever the status of the answer.
    pub(super) fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<Response<Body>, FetchError> {
        let mut request = self.agent.get(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = self.token(url) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request.call().map_err(|error| unreachable(url, &error))
    }

    /// The token for an address, which only the home that it was issued by is shown.
    fn token(&self, url: &str) -> Option<&str> {
        let below = |home: &str| url.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
        if below(&self.homes.github_api) {
            self.homes.github_token.as_deref()
        } else if below(&self.homes.hub) {
            self.homes.hub_token.as_deref()
        } else {
            None
        }
    }

    /// Repeats requests that fail in passing, with growing pauses.
    pub(super) fn attempts<T>(&self, mut attempt: impl FnMut() -> Result<T, FetchError>) -> Result<T, FetchError> {
        let mut pause = self.retries.first_pause;
        for _ in 1..self.retries.attempts.max(1) {
            match attempt() {
                Err(error) if error.may_pass() => {
                    let asked = match error {
                        FetchError::Failed { wait, .. } => wait.map(Duration::from_secs),
                        _ => None,
                    };
                    self.sleep(asked.unwrap_or(pause).max(pause).min(LONGEST_PAUSE))?;
                    pause *= 2;
                }
                other => return other,
            }
        }
        attempt()
    }

    /// Errs once the user wants to stop.
    pub(super) fn check_stop(&self) -> Result<(), FetchError> {
        match self.progress.stopped() {
            true => Err(FetchError::Interrupted),
            false => Ok(()),
        }
    }

    fn sleep(&self, mut pause: Duration) -> Result<(), FetchError> {
        const STEP: Duration = Duration::from_millis(100);
        while !pause.is_zero() {
            self.check_stop()?;
            let step = pause.min(STEP);
            std::thread::sleep(step);
            pause -= step;
        }
        self.check_stop()
    }
}

/// Errs unless the status is a success.
pub(super) fn refuse_failure(url: &str, answer: &Response<Body>) -> Result<(), FetchError> {
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
    let (url, code) = (url.to_owned(), status.as_u16());
    let refused = |hint: &str| FetchError::Refused {
        url: url.clone(),
        status: code,
        hint: hint.to_owned(),
    };
    let failed = || FetchError::Failed {
        url: url.clone(),
        status: code,
        wait: header("retry-after").and_then(|seconds| seconds.parse().ok()),
    };
    Err(match code {
        403 | 429 if header("x-ratelimit-remaining") == Some("0") => {
            refused("its limit on requests is reached: wait an hour, or set GITHUB_TOKEN to a token of any account")
        }
        // GitHub slows down who asks too fast in this way, too.
        403 if header("retry-after").is_some() => failed(),
        401 | 403 => refused("check GITHUB_TOKEN or HF_TOKEN, or unset them: public data needs none"),
        404 | 410 | 422 => FetchError::NotFound {
            url: url.clone(),
            status: code,
            hint: "check --revision; the data may have moved".to_owned(),
        },
        429 | 500..=599 => failed(),
        _ => FetchError::odd(&url, format!("HTTP {status}")),
    })
}

/// The address of the next part in a header `link`: `<URL>; rel="next"`.
fn next_link(header: &str) -> Option<String> {
    let link = header.split(',').find(|link| link.contains("rel=\"next\""))?;
    let (_, rest) = link.split_once('<')?;
    Some(rest.split_once('>')?.0.to_owned())
}

fn unreachable(url: &str, error: &ureq::Error) -> FetchError {
    FetchError::Unreachable {
        url: url.to_owned(),
        message: error.to_string(),
    }
}
