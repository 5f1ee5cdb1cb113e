//! [`Rewriter`]: a chat server that puts requests into other words, each checked for the requirements of its sample.

use std::sync::Arc;
use std::time::Duration;

use maskwright_models::SamplingOptions;
use maskwright_suites::ifstruct::recover::{differences, expected, recover};
use maskwright_suites::ifstruct::{Presentation, Sample};
use maskwright_suites::prompt::{Message, Role};

use crate::error::CommandError;
use crate::run::interrupt;
use crate::server::{Client, Ended, Next, Outcome, Patience, Question, ask_all};

/// Number of rewritings tried for a request before the generator's own words are kept.
const TRIES: usize = 3;
/// Tokens of a rewritten request, at most: several times as many as the longest one has.
const MAX_TOKENS: usize = 4096;
/// Voices of the generator, each with the instruction by which a model writes in it.
const VOICES: [(&str, &str); 6] = [
    ("terse_developer", "a developer who writes as little as possible"),
    (
        "chatty_manager",
        "a manager who chats, and is friendly and a little long-winded",
    ),
    ("non_native", "somebody whose English is simple and not quite right"),
    ("meticulous_analyst", "an analyst who spells out every detail"),
    (
        "mobile_typist",
        "somebody who types on a phone: small letters, short sentences",
    ),
    (
        "thinking_aloud",
        "somebody who thinks aloud, changes their mind here and there, and ends with what holds",
    ),
];
/// Instructions of the rewriting prompt: the requirements that a rewriting must keep, which are also those that the reader recognises.
const RULES: &str = "Rewrite the request below as one chat message, in plain sentences without lists, tables or examples of the data. \
    Keep every requirement: each field with its exact name in backticks, its type right behind it, its limits, whether it may be left out or \
    be null, how many items there must be, JSON or YAML, the top-level key or that there is none, what is said about code fences, about \
    text around the data and about further fields. Write numbers as digits. Add no requirement. Answer with the rewritten message alone.";

/// A chat server that rewrites requests.
pub struct Rewriter {
    /// The server.
    pub client: Arc<Client>,
    /// Requests in flight at each of its addresses.
    pub concurrency: usize,
    /// Sampling options: temperature, top-k, top-p and the like.
    pub sampling: SamplingOptions,
    /// Longest time that a rewriting may take.
    pub limit: Duration,
}

/// Counts of the requests that were rewritten, rejected and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteCounts {
    /// Requests in other words.
    pub rewritten: usize,
    /// Rewritings that had lost or added a requirement.
    pub rejected: usize,
    /// Requests that keep the generator's words, as each rewriting was rejected.
    pub kept: usize,
}

impl Rewriter {
    /// Puts those of `samples` that are prose in somebody's voice into other words. A rewriting counts if the reader of
    /// [`recover`](maskwright_suites::ifstruct::recover) finds the requirements of the sample in it; requirements that this reader does not know,
    /// such as a wish for an order, are not checked. A question that the server does not answer, or not to its end, is a try.
    ///
    /// Returns the number of samples from the first on that are done.
    ///
    /// # Errors
    ///
    /// [`CommandError::Server`], where the server answers no more; [`CommandError::InterruptedEarly`].
    pub fn rewrite(&self, samples: &mut [Sample], counts: &mut RewriteCounts) -> (usize, Result<(), CommandError>) {
        // The sample's index, and what its last rewriting had lost.
        let voiced = samples.iter().enumerate().filter(|(_, sample)| voice(sample).is_some());
        let mut open: Vec<(usize, Option<String>)> = voiced.map(|(index, _)| (index, None)).collect();
        for _ in 0..TRIES {
            if open.is_empty() {
                break;
            }
            let questions = open
                .iter()
                .map(|(index, lost)| self.question(&samples[*index], lost.as_deref()));
            let (texts, ended) = self.ask(questions.collect());
            let mut rejected = Vec::new();
            for ((index, earlier), text) in open.into_iter().zip(texts) {
                let Some(text) = text else {
                    rejected.push((index, earlier));
                    continue;
                };
                let sample = &mut samples[index];
                let text = text.trim();
                let lost = differences(&recover(text, Presentation::Prose), &expected(sample));
                if lost.is_empty() {
                    text.clone_into(&mut sample.prompt);
                    sample.presentation_style = Some(Presentation::Prose);
                    sample.rewritten_by = Some(self.client.settings().model.clone());
                    counts.rewritten += 1;
                } else {
                    counts.rejected += 1;
                    rejected.push((index, Some(lost)));
                }
            }
            open = rejected;
            if let Err(error) = ended {
                let done = open.first().map_or(samples.len(), |(index, _)| *index);
                return (done, Err(error));
            }
        }
        counts.kept += open.len();
        (samples.len(), Ok(()))
    }

    fn question(&self, sample: &Sample, lost: Option<&str>) -> Question {
        let voice = voice(sample).unwrap_or("somebody who asks for data");
        let mut content = format!("{RULES}\nWrite as {voice}.\n");
        if let Some(lost) = lost {
            content +=
                &format!("An earlier rewriting was rejected, as a reader found these differences in it:\n{lost}\n");
        }
        content += &format!("\nThe request:\n{}", sample.prompt);
        Question {
            messages: vec![Message {
                role: Role::User,
                content,
            }],
            schema: None,
            max_tokens: Some(MAX_TOKENS),
            sampling: self.sampling.clone(),
            limit: self.limit,
        }
    }

    /// Returns the texts of the server's answers, one for each question; `None` where it does not answer, or not to its end. An error says that the
    /// server is asked no more.
    fn ask(&self, questions: Vec<Question>) -> (Vec<Option<String>>, Result<(), CommandError>) {
        let (name, planned) = (&self.client.settings().name, questions.len());
        let mut texts = vec![None; planned];
        let mut patience = Patience::default();
        let mut is_given_up = false;
        let ended = ask_all(
            &self.client,
            questions,
            self.concurrency,
            interrupt::requested,
            |number, result| {
                let next = patience.add(&result);
                is_given_up |= next == Next::Stop;
                let whole = result.ok().filter(|answer| answer.outcome == Outcome::Finished);
                texts[number] = whole.map(|answer| self.client.clean(&answer.text));
                Ok::<_, CommandError>(next)
            },
        );
        let ended = match ended {
            Ok(Ended::Interrupted) => Err(CommandError::InterruptedEarly),
            Ok(Ended::Done) if is_given_up => {
                let reasons = patience.reasons(name, planned, None).join("; ");
                Err(CommandError::server(self.client.settings(), reasons))
            }
            Ok(Ended::Done) => Ok(()),
            Err(error) => Err(error),
        };
        (texts, ended)
    }
}

/// Returns the instruction to write in the sample's voice; `None` where the sample has no voice or one that `VOICES` lacks.
fn voice(sample: &Sample) -> Option<&'static str> {
    let name = sample.voice.as_deref()?;
    VOICES.iter().find(|(known, _)| *known == name).map(|(_, told)| *told)
}
