//! [`ServerError`]: reasons for which a server gave no answer, and [`read_failure`], which distinguishes these from verdicts.

use std::time::Duration;

use serde_json::Value;

/// Longest part of a server's message that is kept, in characters.
const LONGEST_MESSAGE: usize = 2000;

/// Reason for which a server gave no answer that says anything about its model or framework.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ServerError {
    /// No connection, or one that failed.
    #[error("no connection: {message}")]
    Unreachable {
        /// The network's reason.
        message: String,
    },
    /// Nothing arrived within the time to the first byte, or nothing at all from a server that answers no other request either.
    #[error("no answer within {} s", limit.as_secs_f64())]
    Silent {
        /// The limit.
        limit: Duration,
    },
    /// The connection ended within an answer.
    #[error("the answer breaks off after {bytes} bytes{}", message.as_deref().map(|message| format!(" ({message})")).unwrap_or_default())]
    BrokenOff {
        /// Bytes of the answer that came.
        bytes: usize,
        /// The network's reason, where there is one.
        message: Option<String>,
    },
    /// Too many requests at once.
    #[error("too busy (HTTP 429){}{}", words(message), wait.map(|wait| format!("; it asks to wait {} s", wait.as_secs())).unwrap_or_default())]
    Busy {
        /// The server's words.
        message: String,
        /// Pause that the server asks for.
        wait: Option<Duration>,
    },
    /// The server failed.
    #[error("the server failed (HTTP {status}){}", words(message))]
    Failed {
        /// HTTP status; 200 where the error came within an answer.
        status: u16,
        /// The server's words.
        message: String,
        /// Pause that the server asks for.
        wait: Option<Duration>,
        /// Whether the server names the schema as the cause.
        names_schema: bool,
    },
    /// The answer does not follow the protocol.
    #[error("not an answer of this dialect: {message}")]
    Malformed {
        /// The deviation from the protocol.
        message: String,
    },
    /// The request was refused for a reason that is not its schema.
    #[error("request refused (HTTP {status}){}", words(message))]
    RequestRefused {
        /// HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// The key was refused, or is missing.
    #[error("no access (HTTP {status}){}; {hint}", words(message))]
    NoAccess {
        /// HTTP status.
        status: u16,
        /// The server's words.
        message: String,
        /// Advice on getting access.
        hint: String,
    },
    /// The account is used up.
    #[error("the account's quota is used up{}", words(message))]
    Quota {
        /// The server's words.
        message: String,
    },
    /// There is no such endpoint or model.
    #[error(
        "nothing there (HTTP {status}){}; check the address, the model and dialect=",
        words(message)
    )]
    NotFound {
        /// HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// The server is elsewhere. Nothing is sent on by itself: neither prompts nor keys go where nobody sent them.
    #[error("it has moved (HTTP {status}) to {location}; give that address if you trust it")]
    Moved {
        /// HTTP status.
        status: u16,
        /// Address to which the server has moved.
        location: String,
    },
    /// The run ended while the question waited.
    #[error("the run was stopped")]
    Stopped,
}

/// The words of a server at the end of a sentence; nothing where it said nothing.
fn words(message: &str) -> String {
    match message.trim() {
        "" => String::new(),
        message => format!(": {message}"),
    }
}

/// A question without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Unanswered {
    /// The last reason.
    pub error: ServerError,
    /// Requests made.
    pub attempts: u32,
}

impl ServerError {
    /// Whether the same request may succeed a little later.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Silent { .. }
                | Self::BrokenOff { .. }
                | Self::Busy { .. }
                | Self::Failed { .. }
        )
    }

    /// Whether another replica of the server may answer at once, as the failure lies in this replica and not in the question.
    pub fn is_of_replica(&self) -> bool {
        self.may_pass() && !matches!(self, Self::Failed { names_schema: true, .. })
    }

    /// Whether every other request would fail in the same way.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::NoAccess { .. } | Self::Quota { .. } | Self::NotFound { .. } | Self::Moved { .. }
        )
    }

    /// Changes the texts of this error, and leaves all else as it is.
    #[must_use]
    pub fn map_text(mut self, change: impl Fn(String) -> String) -> Self {
        let text = match &mut self {
            Self::Unreachable { message }
            | Self::Busy { message, .. }
            | Self::Failed { message, .. }
            | Self::Malformed { message }
            | Self::RequestRefused { message, .. }
            | Self::NoAccess { message, .. }
            | Self::Quota { message }
            | Self::NotFound { message, .. } => Some(message),
            Self::Moved { location, .. } => Some(location),
            Self::BrokenOff { message, .. } => message.as_mut(),
            Self::Silent { .. } | Self::Stopped => None,
        };
        if let Some(text) = text {
            *text = change(std::mem::take(text));
        }
        self
    }

    /// Returns the pause that the server asks for.
    pub fn asked_pause(&self) -> Option<Duration> {
        match self {
            Self::Busy { wait, .. } | Self::Failed { wait, .. } => *wait,
            _ => None,
        }
    }
}

/// An error as servers send them: `{"error": {"message", "type", "code", "status", "param"}}`, `{"error": TEXT}`,
/// `{"message": …}`, `{"detail": …}`, any of them in a list, or plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorBody {
    /// The error's message for people.
    pub message: String,
    /// The whole error in lower case, in which names are looked up.
    all: String,
    /// HTTP status within the error; `None` where it has none.
    status: Option<u16>,
}

/// Meaning of a failed request: a verdict on the schema or prompt, or an error.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseFailure {
    /// The server refused the schema; this is its verdict.
    SchemaRefused(String),
    /// The prompt does not fit the model's context.
    ContextFull(String),
    /// The request failed without a verdict.
    Error(ServerError),
}

impl ErrorBody {
    /// Reads an error out of a response's whole body.
    pub fn from_text(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self {
                message: shortened(text.trim()),
                all: text.to_lowercase(),
                status: None,
            },
        }
    }

    /// Reads an error out of a JSON value.
    pub fn from_value(value: &Value) -> Self {
        let outer = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let inner = outer.get("error").filter(|error| !error.is_null()).unwrap_or(outer);
        let message = ["message", "detail", "error"]
            .iter()
            .find_map(|name| inner.get(name))
            .unwrap_or(inner);
        let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
        let status = inner
            .get("code")
            .or_else(|| inner.get("status"))
            .and_then(Value::as_u64);
        Self {
            message: shortened(&message),
            all: outer.to_string().to_lowercase(),
            status: status.and_then(|status| u16::try_from(status).ok()),
        }
    }

    fn names(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.all.contains(word))
    }
}

/// Returns the meaning of the error `body`, which came with `status`. `constrained` says whether a schema was sent, `wait` how long the server asks
/// to wait, `key` where the key came from.
pub fn read_failure(
    status: u16,
    body: &ErrorBody,
    constrained: bool,
    wait: Option<Duration>,
    key: Option<&str>,
) -> ResponseFailure {
    // An error in an answer that began well has a status of its own, or none: then the server failed.
    let status = match status {
        200..=299 => body.status.filter(|status| *status >= 400).unwrap_or(status),
        _ => status,
    };
    let message = || body.message.clone();
    let names_schema = constrained && body.names(SCHEMA_WORDS);
    ResponseFailure::Error(match status {
        // Google says 400 to a wrong key.
        400 | 401 | 403 | 407 if !matches!(status, 400) || body.names(KEY_WORDS) => ServerError::NoAccess {
            status,
            message: message(),
            hint: match key {
                Some(name) => format!("the key is that of the environment variable {name}"),
                None => "no key was sent: name its environment variable with key-env=NAME".to_owned(),
            },
        },
        402 => ServerError::Quota { message: message() },
        429 if body.names(QUOTA_WORDS) => ServerError::Quota { message: message() },
        429 => ServerError::Busy {
            message: message(),
            wait,
        },
        // Request Timeout and Too Early pass.
        408 | 425 => ServerError::Failed {
            status,
            message: message(),
            wait,
            names_schema: false,
        },
        404 | 405 => ServerError::NotFound {
            status,
            message: message(),
        },
        _ if body.names(CONTEXT_WORDS) => return ResponseFailure::ContextFull(message()),
        400..=499 if names_schema => return ResponseFailure::SchemaRefused(message()),
        400..=499 => ServerError::RequestRefused {
            status,
            message: message(),
        },
        _ => ServerError::Failed {
            status,
            message: message(),
            wait,
            names_schema,
        },
    })
}

/// Words by which a refusal is recognised as that of the schema. Seen from OpenAI ("Invalid schema for response_format"), vLLM ("The provided JSON
/// schema contains features not supported", "Grammar error"), llama-server ("failed to parse grammar"), SGLang ("json_schema"), Gemini
/// ("generation_config.response_schema").
const SCHEMA_WORDS: &[&str] = &[
    "schema",
    "response_format",
    "responseformat",
    "grammar",
    "guided_",
    "guided decoding",
    "structured_output",
    "structured output",
    "regex",
];

/// Words by which an error is recognised as that of a prompt too long for the context.
const CONTEXT_WORDS: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context size",
    "context window",
    "input token count",
    "prompt is too long",
];

/// Words by which an error is recognised as that of a wrong key.
const KEY_WORDS: &[&str] = &["api_key_invalid", "api key not valid", "invalid api key"];

/// Words by which an error is recognised as that of a used-up quota, for which waiting does not help.
const QUOTA_WORDS: &[&str] = &["insufficient_quota", "billing_hard_limit", "credit balance"];

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> ResponseFailure {
        read_failure(status, &ErrorBody::from_text(body), true, None, Some("KEY"))
    }

    /// Tests with error bodies in the forms that the servers send.
    #[test]
    fn refusals_of_the_schema_are_told_from_other_failures() {
        for (status, body) in [
            (
                400,
                r#"{"error": {"message": "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required", "type": "invalid_request_error", "param": "response_format", "code": null}}"#,
            ),
            (
                400,
                r#"{"object": "error", "message": "The provided JSON schema contains features not supported by xgrammar.", "type": "BadRequestError", "code": 400}"#,
            ),
            (
                400,
                r#"{"error": {"code": 400, "message": "Failed to initialize samplers: failed to parse grammar", "type": "invalid_request_error"}}"#,
            ),
            (
                400,
                r#"[{"error": {"code": 400, "message": "Unknown name \"patternProperties\" at 'generation_config.response_schema'", "status": "INVALID_ARGUMENT"}}]"#,
            ),
            (422, r#"{"detail": "json_schema: unsupported"}"#),
            (
                200,
                r#"{"error": {"message": "Grammar error: Unknown format: uri", "code": 400}}"#,
            ),
        ] {
            let failure = read(status, body);
            let ResponseFailure::SchemaRefused(message) = &failure else {
                panic!("{body}: {failure:?}")
            };
            assert!(!message.starts_with('{'), "{message}");
            let unconstrained = read_failure(status, &ErrorBody::from_text(body), false, None, None);
            assert!(
                matches!(
                    unconstrained,
                    ResponseFailure::Error(ServerError::RequestRefused { .. })
                ),
                "{unconstrained:?}"
            );
        }
        let error = |status, body| match read(status, body) {
            ResponseFailure::Error(error) => error,
            other => panic!("{body}: {other:?}"),
        };
        assert!(matches!(
            error(400, "Unsupported value: temperature"),
            ServerError::RequestRefused { .. }
        ));
        assert!(matches!(error(429, "slow down"), ServerError::Busy { .. }));
        assert!(matches!(
            error(429, r#"{"error": {"code": "insufficient_quota"}}"#),
            ServerError::Quota { .. }
        ));
        assert!(matches!(
            error(500, "grammar"),
            ServerError::Failed { names_schema: true, .. }
        ));
        assert!(matches!(
            error(200, r#"{"error": "engine died"}"#),
            ServerError::Failed { status: 200, .. }
        ));
        assert!(matches!(
            error(503, "Loading model"),
            ServerError::Failed {
                names_schema: false,
                ..
            }
        ));
        assert!(error(401, "no").to_string().contains("variable KEY"));
        assert!(matches!(
            error(400, r#"{"error": {"message": "API key not valid."}}"#),
            ServerError::NoAccess { .. }
        ));
        assert!(error(404, "no model").is_fatal());
        let long = "the request exceeds the available context size for this schema";
        assert_eq!(read(400, long), ResponseFailure::ContextFull(long.to_owned()));
        assert_eq!(
            ErrorBody::from_text(&"é".repeat(5000)).message.chars().count(),
            LONGEST_MESSAGE + 2
        );
    }
}
