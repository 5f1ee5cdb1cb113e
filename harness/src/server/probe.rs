//! [`check`]: checks whether a server can be asked at all.

use std::sync::Arc;
use std::time::Duration;

use maskwright_models::SamplingOptions;
use maskwright_suites::prompt;

use super::answer::{Outcome, Question};
use super::client::Client;
use super::pool::{Ended, Next, ask_all};
use crate::error::CommandError;
use crate::run::{interrupt, progress};

/// Asks a small question with a small schema, whose time and cost are not counted, and so checks that the server is there, accepts the key, has the
/// model and takes schemas at all. A server that starts up is waited for as long as its settings say. Of several replicas, those that cannot be asked
/// are reported and left out; one has to work.
///
/// # Errors
///
/// [`CommandError::Server`], with what the server said; [`CommandError::InterruptedEarly`].
pub fn check(
    client: &Arc<Client>,
    max_tokens: Option<usize>,
    sampling: &SamplingOptions,
    limit: Duration,
) -> Result<(), CommandError> {
    let settings = client.settings();
    if settings.replicas.is_empty() {
        return check_one(client, max_tokens, sampling, limit);
    }
    let mut failures = Vec::new();
    for (number, one) in client.of_each_address().into_iter().enumerate() {
        match check_one(&Arc::new(one), max_tokens, sampling, limit) {
            Ok(()) => {}
            Err(error @ CommandError::Server { .. }) => {
                progress::say(&format!("{error}; it is left out"));
                client.leave_out(number);
                failures.push(error);
            }
            Err(error) => return Err(error),
        }
    }
    match failures.len() == settings.addresses().count() {
        true => failures.pop().map_or(Ok(()), Err),
        false => Ok(()),
    }
}

/// Checks a server of one address.
fn check_one(
    client: &Arc<Client>,
    max_tokens: Option<usize>,
    sampling: &SamplingOptions,
    limit: Duration,
) -> Result<(), CommandError> {
    const SCHEMA: &str = r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false}"#;
    let settings = client.settings();
    let question = Question {
        messages: prompt::messages(SCHEMA, &[]),
        schema: settings.constrained.then(|| SCHEMA.to_owned()),
        max_tokens: max_tokens.map(|most| most.min(64)),
        sampling: sampling.clone(),
        limit,
    };
    let mut said = Ok(());
    let ended = ask_all(client, vec![question], 1, interrupt::requested, |_, result| {
        said = match result {
            Ok(answer) if answer.outcome == Outcome::SchemaRefused => {
                let hint = "it refuses even a plain object of one boolean; check dialect=, strict= and the model";
                Err(format!("{hint}: {}", answer.message.unwrap_or_default()))
            }
            Ok(_) => Ok(()),
            Err(unanswered) => Err(unanswered.error.to_string()),
        };
        Ok::<_, CommandError>(Next::Stop)
    })?;
    match ended {
        Ended::Done => said.map_err(|message| CommandError::server(settings, message)),
        Ended::Interrupted => Err(CommandError::InterruptedEarly),
    }
}
