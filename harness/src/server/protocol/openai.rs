//! Chat completions, as OpenAI defined them and others extend them.

use serde_json::{Map, Value, json};

use super::piece::{NoPiece, Piece, tokens, usage};
use crate::server::answer::{Outcome, Question};
use crate::server::dialect::Dialect;
use crate::server::settings::ServerSettings;
use crate::server::usage::{TokenSource, TokenUsage};

/// The body of a request.
pub(super) fn request(settings: &ServerSettings, question: &Question, schema: Option<Value>) -> Map<String, Value> {
    let messages: Vec<Value> = question
        .messages
        .iter()
        .map(|message| json!({"role": message.role.as_str(), "content": message.content}))
        .collect();
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    set("model", settings.model.as_str().into());
    set("messages", messages.into());
    set("stream", true.into());
    set("stream_options", json!({"include_usage": true}));
    let limit = match settings.dialect {
        // Reasoning models take no other name.
        Dialect::OpenAi => "max_completion_tokens",
        _ => "max_tokens",
    };
    if let Some(most) = question.max_tokens {
        set(limit, most.into());
    }
    let sampling = &question.sampling;
    if settings.send_temperature {
        set("temperature", json!(sampling.temperature));
        if sampling.temperature > 0.0 && settings.dialect != Dialect::GeminiOpenAi {
            set("seed", sampling.seed.into());
        }
        // Hosted models that take no temperature take no such options either.
        let hosted = matches!(settings.dialect, Dialect::OpenAi | Dialect::GeminiOpenAi);
        if !hosted || sampling.top_p != 1.0 {
            set("top_p", json!(sampling.top_p));
        }
        // Without them, servers fall back on the model's recommendations.
        if !hosted {
            let (no_top_k, penalty) = match settings.dialect {
                Dialect::LlamaServer => (0, "repeat_penalty"),
                _ => (-1, "repetition_penalty"),
            };
            set(
                "top_k",
                if sampling.top_k == 0 {
                    no_top_k.into()
                } else {
                    sampling.top_k.into()
                },
            );
            set("min_p", json!(sampling.min_p));
            set(penalty, json!(sampling.repetition_penalty));
        }
    }
    if let Some(schema) = schema {
        match settings.dialect {
            Dialect::Vllm => set("structured_outputs", json!({"json": schema})),
            Dialect::VllmGuided => set("guided_json", schema),
            Dialect::LlamaServer => set("response_format", json!({"type": "json_object", "schema": schema})),
            _ => set(
                "response_format",
                json!({
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": settings.strict, "schema": schema},
                }),
            ),
        }
    }
    body
}

/// Members of a message in which servers send reasoning apart from the answer.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads a chunk, or a whole completion.
pub(super) fn piece(event: &Value) -> Result<Piece, NoPiece> {
    let choices = event.get("choices").filter(|choices| !choices.is_null());
    let counts = event.get("usage").filter(|usage| usage.is_object());
    if choices.is_none() && counts.is_none() {
        return Err(NoPiece::Malformed(
            "an event with neither `choices` nor `usage`".to_owned(),
        ));
    }
    let choices = match choices {
        Some(Value::Array(choices)) => choices.as_slice(),
        Some(_) => return Err(NoPiece::Malformed("`choices` is not a list".to_owned())),
        None => &[],
    };
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    let choice = choices.iter().find(first).unwrap_or(&Value::Null);
    let delta = choice
        .get("delta")
        .or_else(|| choice.get("message"))
        .unwrap_or(&Value::Null);
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(Piece {
        text: content(delta)?,
        refusal: text(delta, "refusal").unwrap_or_default(),
        reasoning: REASONING
            .iter()
            .any(|name| text(delta, name).is_some_and(|piece| !piece.is_empty())),
        finish: text(choice, "finish_reason"),
        usage: counts
            .and_then(read_usage)
            .or_else(|| event.get("timings").and_then(read_timings)),
        model: text(event, "model").filter(|model| !model.is_empty()),
        fingerprint: text(event, "system_fingerprint").filter(|mark| !mark.is_empty()),
    })
}

/// Returns the text of a message, or of a piece of one. Some servers write it as a list of parts, of which those with a `text` are the answer.
fn content(delta: &Value) -> Result<String, NoPiece> {
    match delta.get("content") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => Ok(parts.iter().filter_map(|part| part["text"].as_str()).collect()),
        Some(_) => Err(NoPiece::Malformed("`content` is not a text".to_owned())),
    }
}

fn read_usage(counts: &Value) -> Option<TokenUsage> {
    let detail = |pointer: &str| counts.pointer(pointer).and_then(tokens);
    Some(TokenUsage {
        reasoning: detail("/completion_tokens_details/reasoning_tokens").or_else(|| detail("/reasoning_tokens")),
        cached: detail("/prompt_tokens_details/cached_tokens"),
        ..usage(counts, "/prompt_tokens", "/completion_tokens")?
    })
}

/// llama-server's own counts, which its last event has without being asked.
fn read_timings(timings: &Value) -> Option<TokenUsage> {
    let count = |name: &str| timings.get(name).and_then(tokens);
    let cached = count("cache_n");
    Some(TokenUsage {
        prompt: count("prompt_n")? + cached.unwrap_or(0),
        completion: count("predicted_n")?,
        reasoning: None,
        cached,
        source: TokenSource::Usage,
    })
}

/// Returns the outcome for the `finish_reason` of an answer; `None` where the server failed.
pub(super) fn outcome(finish: &str) -> Option<Outcome> {
    match finish {
        "stop" | "eos" | "end_turn" => Some(Outcome::Finished),
        "length" | "max_tokens" => Some(Outcome::TokenLimit),
        "content_filter" => Some(Outcome::Filtered),
        "error" | "abort" => None,
        _ => Some(Outcome::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_read_with_all_that_servers_add_or_leave_out() {
        let read = |text: &str| piece(&serde_json::from_str(text).unwrap());
        let first = read(r#"{"id": "1", "model": "m-1", "system_fingerprint": "fp", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "", "refusal": null}, "finish_reason": null}], "usage": null}"#).unwrap();
        assert_eq!((first.text.as_str(), first.model.as_deref()), ("", Some("m-1")));
        assert_eq!((first.fingerprint.as_deref(), first.usage), (Some("fp"), None));
        let other = read(
            r#"{"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}"#,
        );
        assert_eq!(other.unwrap().text, "yes");
        let last = r#"{"choices": null, "usage": {"prompt_tokens": 9, "completion_tokens": 8, "completion_tokens_details": {"reasoning_tokens": 5}, "prompt_tokens_details": {"cached_tokens": 4}}}"#;
        let usage = read(last).unwrap().usage.unwrap();
        assert_eq!((usage.prompt, usage.visible(), usage.cached), (9, 3, Some(4)));
        let thinks = read(r#"{"choices": [{"delta": {"reasoning_content": "hm", "content": null}}]}"#).unwrap();
        assert!(thinks.reasoning && thinks.text.is_empty() && !first.reasoning);
        let timings = r#"{"choices": [{"finish_reason": "stop", "delta": {}}], "timings": {"prompt_n": 2, "cache_n": 7, "predicted_n": 3}}"#;
        let last = read(timings).unwrap();
        assert_eq!((last.finish.as_deref(), last.usage.unwrap().prompt), (Some("stop"), 9));
        let parts = r#"{"choices": [{"delta": {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "{}"}]}}]}"#;
        assert_eq!(read(parts).unwrap().text, "{}");
        let whole = r#"{"choices": [{"message": {"content": null, "refusal": "I cannot"}, "finish_reason": "stop"}]}"#;
        assert_eq!(read(whole).unwrap().refusal, "I cannot");
        let typed = r#"{"choices": [{"delta": {"content": 5}}]}"#;
        for malformed in ["[]", "7", r#"{"choices": 3}"#, r#"{"ok": true}"#, typed] {
            assert!(matches!(read(malformed), Err(NoPiece::Malformed(_))), "{malformed}");
        }
    }
}
