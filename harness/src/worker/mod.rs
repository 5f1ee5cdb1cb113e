//! Frameworks in processes of their own: a crash, hang or lack of memory there does not end the run.

mod compiler;
mod failure;
mod process;
pub mod spawn;
#[cfg(test)]
mod tests;
pub mod trial;
mod usage;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use maskwright::{TokenId, Vocabulary};
use maskwright_worker::protocol::{self, Compiled, Description, Replayed, Request};
use maskwright_worker::{Grammar, Purpose, StyleChanges, TokenizerSource, WireVocabulary};
use serde::de::DeserializeOwned;

pub use compiler::WorkerCompiler;
pub use failure::WorkerFailure;
pub use process::Limits;
use process::Process;

use crate::run::progress;

/// The command of this program that starts a worker of one of its own frameworks.
pub const WORKER_COMMAND: &str = "worker";

/// Command that starts a worker, with its time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Longest time that the worker may take to describe itself.
    pub hello_time: Duration,
}

impl Launch {
    /// A program that prepares nothing before it describes itself, and has half a minute for that.
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<String>) -> Self {
        Self {
            program: program.into(),
            arguments,
            hello_time: HELLO_TIME,
        }
    }
}

/// Contents of the `setup` request to every worker of a run, encoded once.
#[derive(Clone, Debug)]
pub struct Provision {
    /// A [`WireVocabulary`] as JSON.
    vocabulary: Arc<str>,
    /// URIs and texts as a JSON object.
    documents: Arc<str>,
    assert_formats: bool,
    purpose: Purpose,
    /// A [`StyleChanges`] as JSON.
    style: Arc<str>,
    grammar: Grammar,
}

impl Provision {
    /// Encodes a vocabulary, its tokenizer, the documents for frameworks that accept some, whether `format` is judged as an assertion, the purpose of
    /// the masks, and the changes to the style of documents.
    pub fn new(
        vocabulary: &Vocabulary,
        tokenizer: Option<TokenizerSource>,
        documents: &BTreeMap<String, String>,
        assert_formats: bool,
        purpose: Purpose,
        style: &StyleChanges,
    ) -> Self {
        // Numbers, texts and lists: this cannot fail.
        let vocabulary = serde_json::to_string(&WireVocabulary::new(vocabulary, tokenizer)).unwrap_or_default();
        let documents = serde_json::to_string(documents).unwrap_or_default();
        let style = serde_json::to_string(style).unwrap_or_default();
        Self {
            vocabulary: vocabulary.into(),
            documents: documents.into(),
            assert_formats,
            purpose,
            style: style.into(),
            grammar: Grammar::JsonSchema,
        }
    }

    /// The provision of workers that compile `grammar`; others compile JSON Schemas.
    pub fn compiling(self, grammar: Grammar) -> Self {
        Self { grammar, ..self }
    }

    /// The `setup` request.
    fn request(&self, with_documents: bool) -> String {
        let documents = if with_documents { &self.documents } else { "{}" };
        let vocabulary = &self.vocabulary;
        let (assert, style) = (self.assert_formats, &self.style);
        let purpose = match self.purpose {
            Purpose::Judge => "judge",
            Purpose::Generate => "generate",
        };
        let grammar = match self.grammar {
            Grammar::JsonSchema => "json_schema",
            Grammar::StructuralTag => "structural_tag",
        };
        format!(
            r#"{{"op":"setup","vocabulary":{vocabulary},"documents":{documents},"assert_formats":{assert},"purpose":"{purpose}","style":{style},"grammar":"{grammar}"}}"#
        )
    }
}

/// A framework's worker, started when first needed and again after every crash.
pub struct Worker {
    launch: Launch,
    provision: Provision,
    /// Limits on starting up.
    limits: Limits,
    process: Option<Process>,
    /// Whether the running process takes documents.
    accepts_documents: bool,
    /// Number of processes started so far. Maskers of earlier ones are gone.
    generation: u64,
    peak_memory: u64,
}

/// Starts a program and asks it to describe itself.
///
/// # Errors
///
/// [`WorkerFailure`], where it cannot be started or does not answer.
pub fn describe(launch: &Launch, limits: &Limits) -> Result<Description, WorkerFailure> {
    hello(&mut start(launch)?, launch.hello_time, limits)
}

fn start(launch: &Launch) -> Result<Process, WorkerFailure> {
    Process::start(&launch.program, &launch.arguments)
}

/// Longest time that a worker may take to describe itself, where it prepares nothing for that.
const HELLO_TIME: Duration = Duration::from_secs(30);

fn hello(process: &mut Process, hello_time: Duration, limits: &Limits) -> Result<Description, WorkerFailure> {
    let limits = &Limits {
        time: limits.time.min(hello_time),
        ..*limits
    };
    let request = Request::Hello {
        protocol: protocol::VERSION,
    };
    Ok(ask(process, &encode(&request), limits)?.0)
}

impl Worker {
    /// A worker that will be started by `launch` and may use as much as `limits` says to get ready.
    pub fn new(launch: Launch, provision: Provision, limits: Limits) -> Self {
        Self {
            launch,
            provision,
            limits,
            process: None,
            accepts_documents: false,
            generation: 0,
            peak_memory: 0,
        }
    }

    /// Starts the process, unless it runs already.
    ///
    /// # Errors
    ///
    /// [`WorkerFailure`], where it does not get ready.
    pub fn ready(&mut self) -> Result<(), WorkerFailure> {
        if self.process.is_some() {
            return Ok(());
        }
        let mut process = start(&self.launch)?;
        self.generation += 1;
        let description = hello(&mut process, self.launch.hello_time, &self.limits)?;
        let mut setup = self.provision.request(description.accepts_documents).into_bytes();
        setup.push(b'\n');
        process.exchange(&setup, &self.limits)?;
        self.accepts_documents = description.accepts_documents;
        self.process = Some(process);
        Ok(())
    }

    /// Compiles a schema, which may refer to `documents` if the framework takes some, and measures the first mask where asked.
    ///
    /// # Errors
    ///
    /// [`WorkerFailure`]; the next request starts a new process after a fatal one.
    pub fn compile(
        &mut self,
        schema: &str,
        documents: &BTreeMap<String, String>,
        first_mask: bool,
        limits: &Limits,
    ) -> Result<Compiled, WorkerFailure> {
        self.ready()?;
        let request = Request::Compile {
            schema: Cow::Borrowed(schema),
            first_mask,
            documents: match self.accepts_documents {
                true => Cow::Borrowed(documents),
                false => Cow::Owned(BTreeMap::new()),
            },
        };
        self.request(&request, limits)
    }

    /// Starts a new process after a `failure` that ended the old one, so that the start is in no time that is measured. Where that fails,
    /// the next request tries again.
    pub fn restart_after(&mut self, failure: &WorkerFailure) {
        if failure.is_fatal() {
            let _ = self.ready();
        }
    }

    /// Feeds `tokens` to a copy of a masker of the running process.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile).
    pub fn replay(
        &mut self,
        masker: u64,
        tokens: &[TokenId],
        forced: bool,
        limits: &Limits,
    ) -> Result<Replayed, WorkerFailure> {
        let count = tokens.len();
        let tokens = Cow::Borrowed(tokens);
        let replayed: Replayed = self.request(&Request::Replay { masker, tokens, forced }, limits)?;
        let (accepted, times) = (replayed.accepted, [replayed.wall_ns.len(), replayed.cpu_ns.len()]);
        // Each token tried has its time; processor times may be missing altogether.
        let fits = accepted <= times[0] && times[0] <= count && (times[1] == 0 || times[1] == times[0]);
        if !fits {
            return Err(WorkerFailure::Protocol {
                message: format!(
                    "a replay of {count} tokens with {accepted} accepted, {} times of `wall_ns` and {} of `cpu_ns`",
                    times[0], times[1]
                ),
            });
        }
        Ok(replayed)
    }

    /// Releases a masker, whose results are known: a process that ends while it does so is replaced, and no other schema is charged with it.
    pub fn forget(&mut self, masker: u64) {
        let Some(process) = &mut self.process else {
            return;
        };
        let drop = Request::Drop { maskers: vec![masker] };
        if let Err(failure) = process.exchange(&encode(&drop), &self.limits)
            && failure.is_fatal()
        {
            progress::say(&format!(
                "a worker ended while it released a compiled schema: {failure}"
            ));
            self.peak_memory();
            self.process = None;
            self.restart_after(&failure);
        }
    }

    /// Largest resident memory of any process of this worker, in bytes.
    pub fn peak_memory(&mut self) -> u64 {
        let running = self.process.as_ref().map_or(0, Process::peak_memory);
        self.peak_memory = self.peak_memory.max(running);
        self.peak_memory
    }

    /// Number of processes started so far.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Sends a request to the running process and reads its reply.
    fn request<T: DeserializeOwned>(&mut self, request: &Request<'_>, limits: &Limits) -> Result<T, WorkerFailure> {
        self.request_raw(request, limits).map(|(reply, _)| reply)
    }

    fn request_raw<T: DeserializeOwned>(
        &mut self,
        request: &Request<'_>,
        limits: &Limits,
    ) -> Result<(T, Vec<u8>), WorkerFailure> {
        let Some(process) = &mut self.process else {
            return Err(WorkerFailure::Refused {
                message: "the worker that held this masker has ended".to_owned(),
            });
        };
        let outcome = ask(process, &encode(request), limits);
        if outcome.as_ref().is_err_and(WorkerFailure::is_fatal) {
            self.peak_memory();
            self.process = None;
        }
        outcome
    }
}

fn encode(request: &Request<'_>) -> Vec<u8> {
    // Numbers, texts and lists: this cannot fail.
    let mut line = serde_json::to_vec(request).unwrap_or_default();
    line.push(b'\n');
    line
}

fn ask<T: DeserializeOwned>(
    process: &mut Process,
    request: &[u8],
    limits: &Limits,
) -> Result<(T, Vec<u8>), WorkerFailure> {
    let reply = process.exchange(request, limits)?;
    let parsed = serde_json::from_slice(&reply.line).map_err(|error| WorkerFailure::Protocol {
        message: format!("a reply of unexpected shape: {error}"),
    })?;
    Ok((parsed, reply.raw))
}
