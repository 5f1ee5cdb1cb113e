//! Requests and answers in the form of each [`Dialect`].

mod gemini;
mod openai;
mod piece;

use maskwright_models::SamplingOptions;
use serde_json::{Map, Value};

use super::answer::{Outcome, Question};
use super::dialect::Dialect;
use super::error::ErrorBody;
use super::settings::ServerSettings;
pub use piece::{NoPiece, Piece};

impl Dialect {
    /// Path of the endpoint, from the server's address on.
    pub fn path(self, model: &str) -> String {
        match self {
            Self::Gemini => format!(
                "/models/{}:streamGenerateContent?alt=sse",
                model.trim_start_matches("models/")
            ),
            _ => "/chat/completions".to_owned(),
        }
    }

    /// Name and value of the header that carries a key.
    pub fn key_header(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
            _ => ("authorization", format!("Bearer {key}")),
        }
    }

    /// Paths below the server's root, the newest first, and the member of their replies that tells the version of the
    /// software.
    pub fn version(self) -> Option<(&'static [&'static str], &'static str)> {
        match self {
            Self::Vllm | Self::VllmGuided => Some((&["/version"], "version")),
            Self::Sglang => Some((&["/server_info", "/get_server_info"], "version")),
            Self::LlamaServer => Some((&["/props"], "build_info")),
            Self::OpenAi | Self::GeminiOpenAi | Self::Gemini => None,
        }
    }

    /// An option of sampling that requests in this dialect cannot carry, though it is set.
    pub fn missing_option(self, sampling: &SamplingOptions) -> Option<&'static str> {
        let has_all = matches!(self, Self::Vllm | Self::VllmGuided | Self::Sglang | Self::LlamaServer);
        let set = [
            ("--top-k", sampling.top_k != 0 && self != Self::Gemini),
            ("--min-p", sampling.min_p != 0.0),
            ("--repetition-penalty", sampling.repetition_penalty != 1.0),
        ];
        set.into_iter().find(|(_, set)| *set && !has_all).map(|(name, _)| name)
    }

    /// The body of a request.
    ///
    /// # Errors
    ///
    /// The parser's error, where the schema is not JSON.
    pub fn request(self, settings: &ServerSettings, question: &Question) -> Result<Value, serde_json::Error> {
        let schema = question.schema.as_deref().map(serde_json::from_str).transpose()?;
        let mut body = match self {
            Self::Gemini => gemini::request(settings, question, schema),
            _ => openai::request(settings, question, schema),
        };
        merge(&mut body, &settings.body);
        Ok(Value::Object(body))
    }

    /// Reads an event of a stream, or the whole of an answer that did not come as one.
    pub fn piece(self, event: &Value) -> Result<Piece, NoPiece> {
        let outer = event.as_array().and_then(|list| list.first()).unwrap_or(event);
        if outer.get("error").is_some_and(|error| !error.is_null()) || outer.get("object") == Some(&"error".into()) {
            return Err(NoPiece::Error(ErrorBody::from_value(outer)));
        }
        match self {
            Self::Gemini => gemini::piece(event),
            _ => openai::piece(event),
        }
    }

    /// Returns the outcome for a server's reason `finish` for the end of an answer; `None` where the server failed.
    pub fn outcome(self, finish: &str) -> Option<Outcome> {
        match self {
            Self::Gemini => Some(gemini::outcome(finish)),
            _ => openai::outcome(finish),
        }
    }
}

/// Adds the members of `more` to `body`; objects that both have are merged, and any other member of `more` replaces that of `body`.
fn merge(body: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (body.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => merge(inner, more),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use maskwright_suites::prompt;
    use serde_json::json;

    use super::*;

    fn request(dialect: Dialect, change: impl FnOnce(&mut ServerSettings, &mut Question)) -> Value {
        let mut settings = ServerSettings::new("s", "http://h/v1", "m", dialect);
        let mut question = Question {
            messages: prompt::messages("{}", &prompt::DEFAULT_SHOTS[..1]),
            schema: Some(r#"{"b": 1, "a": 1.0000000000000000001}"#.to_owned()),
            max_tokens: Some(7),
            sampling: SamplingOptions::default(),
            limit: std::time::Duration::from_secs(1),
        };
        question.sampling.temperature = 0.0;
        change(&mut settings, &mut question);
        dialect.request(&settings, &question).unwrap()
    }

    #[test]
    fn each_dialect_has_the_schema_and_the_limit_at_its_place() {
        for (dialect, schema, limit) in [
            (
                Dialect::OpenAi,
                "/response_format/json_schema/schema",
                "/max_completion_tokens",
            ),
            (
                Dialect::GeminiOpenAi,
                "/response_format/json_schema/schema",
                "/max_tokens",
            ),
            (Dialect::Sglang, "/response_format/json_schema/schema", "/max_tokens"),
            (Dialect::Vllm, "/structured_outputs/json", "/max_tokens"),
            (Dialect::VllmGuided, "/guided_json", "/max_tokens"),
            (Dialect::LlamaServer, "/response_format/schema", "/max_tokens"),
            (
                Dialect::Gemini,
                "/generationConfig/responseJsonSchema",
                "/generationConfig/maxOutputTokens",
            ),
        ] {
            let body = request(dialect, |_, _| ());
            let sent = body.pointer(schema).map(Value::to_string);
            assert_eq!(
                sent.as_deref(),
                Some(r#"{"b":1,"a":1.0000000000000000001}"#),
                "{dialect}: {body}"
            );
            assert_eq!(body.pointer(limit), Some(&json!(7)), "{dialect}: {body}");
            let temperature = match dialect {
                Dialect::Gemini => "/generationConfig/temperature",
                _ => "/temperature",
            };
            assert_eq!(
                body.pointer(temperature).and_then(Value::as_f64),
                Some(0.0),
                "{dialect}"
            );
            let bare = request(dialect, |settings, question| {
                settings.send_temperature = false;
                question.schema = None;
            });
            assert!(
                bare.pointer(schema).is_none() && bare.pointer(temperature).is_none(),
                "{bare}"
            );
            assert!(!bare.to_string().contains("response"), "{bare}");
        }
    }

    #[test]
    fn further_members_are_merged_into_requests() {
        let body = request(Dialect::OpenAi, |settings, _| {
            let more = json!({"reasoning_effort": "low", "response_format": {"json_schema": {"name": "x"}}});
            settings.body = more.as_object().unwrap().clone();
        });
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["response_format"]["json_schema"]["name"], "x");
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    }

    #[test]
    fn sampling_is_sent_in_full_or_not_accepted() {
        let sampling = |top_k, min_p| SamplingOptions {
            temperature: 0.7,
            top_k,
            min_p,
            ..SamplingOptions::default()
        };
        assert_eq!(Dialect::OpenAi.missing_option(&sampling(5, 0.0)), Some("--top-k"));
        assert_eq!(Dialect::Gemini.missing_option(&sampling(5, 0.0)), None);
        assert_eq!(Dialect::Gemini.missing_option(&sampling(5, 0.1)), Some("--min-p"));
        assert_eq!(Dialect::Vllm.missing_option(&sampling(5, 0.1)), None);
        // Servers with defaults of their own are told that nothing is cut off, too.
        let neutral = request(Dialect::LlamaServer, |_, question| question.sampling = sampling(0, 0.0));
        assert_eq!(
            (&neutral["top_k"], &neutral["repeat_penalty"]),
            (&json!(0), &json!(1.0))
        );
        assert_eq!(neutral["temperature"].to_string(), "0.7");
        assert_eq!(request(Dialect::Vllm, |_, _| ())["top_k"], -1);
    }
}
