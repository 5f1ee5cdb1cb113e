//! Gemini's own interface, `streamGenerateContent`.

use maskwright_suites::prompt::Role;
use serde_json::{Map, Value, json};

use super::piece::{NoPiece, Piece, tokens, usage};
use crate::server::answer::{Outcome, Question};
use crate::server::settings::ServerSettings;
use crate::server::usage::TokenUsage;

/// The body of a request.
pub(super) fn request(settings: &ServerSettings, question: &Question, schema: Option<Value>) -> Map<String, Value> {
    let (system, turns): (Vec<_>, Vec<_>) = question
        .messages
        .iter()
        .partition(|message| message.role == Role::System);
    let part = |text: &str| json!({"text": text});
    let contents: Vec<Value> = turns
        .iter()
        .map(|message| {
            let role = if message.role == Role::Assistant {
                "model"
            } else {
                "user"
            };
            json!({"role": role, "parts": [part(&message.content)]})
        })
        .collect();
    let mut body = Map::new();
    body.insert("contents".to_owned(), contents.into());
    if !system.is_empty() {
        let parts: Vec<Value> = system.iter().map(|message| part(&message.content)).collect();
        body.insert("systemInstruction".to_owned(), json!({"parts": parts}));
    }
    let mut config = Map::new();
    let mut set = |name: &str, value: Value| drop(config.insert(name.to_owned(), value));
    if let Some(most) = question.max_tokens {
        set("maxOutputTokens", most.into());
    }
    let sampling = &question.sampling;
    if settings.send_temperature {
        set("temperature", json!(sampling.temperature));
        if sampling.temperature > 0.0 {
            // The interface's seeds have 31 bits.
            set("seed", (sampling.seed & 0x7fff_ffff).into());
            set("topP", json!(sampling.top_p));
            if sampling.top_k > 0 {
                set("topK", sampling.top_k.into());
            }
        }
    }
    if let Some(schema) = schema {
        set("responseMimeType", "application/json".into());
        set("responseJsonSchema", schema);
    }
    body.insert("generationConfig".to_owned(), config.into());
    body
}

/// Reads a `GenerateContentResponse`.
pub(super) fn piece(event: &Value) -> Result<Piece, NoPiece> {
    // Without `alt=sse`, and from some gateways with it, the responses come as a list.
    if let Value::Array(responses) = event {
        let mut all = Piece::default();
        for response in responses {
            let next = piece(response)?;
            all.text.push_str(&next.text);
            all.finish = next.finish.or(all.finish);
            all.usage = next.usage.or(all.usage);
            all.model = next.model.or(all.model);
        }
        return Ok(all);
    }
    let blocked = event.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
    let known = ["candidates", "usageMetadata", "promptFeedback"];
    if !known.iter().any(|name| event.get(name).is_some()) {
        return Err(NoPiece::Malformed(
            "an event with neither `candidates` nor `usageMetadata`".to_owned(),
        ));
    }
    let candidate = event.pointer("/candidates/0").unwrap_or(&Value::Null);
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let thought = |part: &&Value| part.get("thought") == Some(&Value::Bool(true));
    let text: String = parts
        .into_iter()
        .flatten()
        .filter(|part| !thought(part))
        .filter_map(|part| part.get("text")?.as_str())
        .collect();
    let finish = candidate.get("finishReason").and_then(Value::as_str).or(blocked);
    Ok(Piece {
        text,
        refusal: String::new(),
        // The interface counts it.
        reasoning: false,
        finish: finish.map(str::to_owned),
        usage: event.get("usageMetadata").and_then(read_usage),
        model: event.get("modelVersion").and_then(Value::as_str).map(str::to_owned),
        fingerprint: None,
    })
}

fn read_usage(counts: &Value) -> Option<TokenUsage> {
    let count = |name: &str| counts.get(name).and_then(tokens);
    let reasoning = count("thoughtsTokenCount");
    let usage = usage(counts, "/promptTokenCount", "/candidatesTokenCount")?;
    Some(TokenUsage {
        completion: usage.completion + reasoning.unwrap_or(0),
        reasoning,
        cached: count("cachedContentTokenCount"),
        ..usage
    })
}

/// Returns the outcome for the `finishReason` of an answer.
pub(super) fn outcome(finish: &str) -> Outcome {
    match finish {
        "STOP" => Outcome::Finished,
        "MAX_TOKENS" => Outcome::TokenLimit,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => Outcome::Filtered,
        _ => Outcome::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_with_thoughts_apart() {
        let event = json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "{"}, {"text": "}"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 30},
            "modelVersion": "g-1",
        });
        let read = piece(&event).unwrap();
        assert_eq!((read.text.as_str(), read.finish.as_deref()), ("{}", Some("STOP")));
        let usage = read.usage.unwrap();
        assert_eq!((usage.completion, usage.visible(), usage.reasoning), (32, 2, Some(30)));
        let blocked = piece(&json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})).unwrap();
        assert_eq!(blocked.finish.as_deref().map(outcome), Some(Outcome::Filtered));
        let list = json!([{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, event]);
        assert_eq!(piece(&list).unwrap().text, "a{}");
        assert!(matches!(piece(&json!({"choices": []})), Err(NoPiece::Malformed(_))));
    }
}
