//! [`Session`]: a framework behind the protocol of [Bowtie](https://bowtie.report), which compares implementations of JSON Schema.
//!
//! Bowtie sends one JSON object a line: `start`, `dialect`, any number of `run` with a schema and instances, and `stop`. An instance is
//! valid here if the framework's masks admit its text, token by token, and then the end. A schema that the framework refuses is
//! skipped, with its reason; one that it finds unsatisfiable has no valid instance.

use std::collections::BTreeMap;

use maskwright::{CompileError, CompileErrorKind, TokenId};
use maskwright_suites::json_text::python_ascii_string;
use maskwright_suites::test_suite::Draft;
use maskwright_worker::protocol::Replayed;
use maskwright_worker::{Purpose, StyleChanges};
use serde_json::{Value, json};

use crate::frameworks::{Framework, FrameworkError, Judging, REPOSITORY};
use crate::testsuite::conformance::is_accepted;
use crate::vocabularies::NamedVocabulary;
use crate::worker::trial::{Compilation, Ending, Trial, TrialOptions};
use crate::worker::{Limits, Provision, Worker};

/// Version of Bowtie's protocol.
const VERSION: u64 = 1;

/// Frameworks that call a schema unsatisfiable only where it has no instance at all. Others say so of a part, beside which instances may be
/// valid, or a text of theirs merely reads like it.
const TELL_EMPTINESS: [&str; 2] = ["maskwright", "llguidance"];

/// Frameworks with the language in which each is written and the address of its sources.
const HOMES: [(&str, &str, &str); 5] = [
    ("llguidance", "rust", "https://github.com/guidance-ai/llguidance"),
    ("outlines-core", "rust", "https://github.com/dottxt-ai/outlines-core"),
    ("xgrammar", "c++", "https://github.com/mlc-ai/xgrammar"),
    ("llamacpp", "c++", "https://github.com/ggml-org/llama.cpp"),
    ("maskwright", "rust", REPOSITORY),
];

/// Error for a request that cannot be answered: it is of an unknown version of Bowtie's protocol, or not of Bowtie.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BowtieError {
    /// A line is no JSON object with a command.
    #[error("a request is not a JSON object with a member \"cmd\": {0}")]
    NotARequest(String),
    /// The command is not known.
    #[error("the command {0:?} is none of Bowtie's: start, dialect, run, stop")]
    UnknownCommand(String),
    /// The version of the protocol is not known.
    #[error("version {0} of Bowtie's protocol is not known, only {VERSION}")]
    UnknownVersion(String),
    /// A request came before the one that begins a session.
    #[error("the first command of a session is \"start\"")]
    NotStarted,
    /// A request lacks something.
    #[error("a request of {command:?} has no {member}")]
    Lacking {
        /// The command.
        command: &'static str,
        /// The member that is lacking.
        member: &'static str,
    },
}

/// A session with Bowtie, from its `start` request to its end.
pub struct Session<'a> {
    framework: &'a Framework,
    vocabulary: &'a NamedVocabulary,
    worker: Worker,
    options: TrialOptions,
    is_started: bool,
    /// The draft of schemas that do not say theirs.
    dialect: Option<Draft>,
}

impl<'a> Session<'a> {
    /// A session about `framework`, with limits for each schema.
    ///
    /// # Errors
    ///
    /// [`FrameworkError`], where the framework cannot be made ready.
    pub fn new(
        framework: &'a Framework,
        vocabulary: &'a NamedVocabulary,
        limits: Limits,
    ) -> Result<Self, FrameworkError> {
        let tokenizer = Some(vocabulary.tokenizer.clone());
        let (documents, style) = (BTreeMap::new(), StyleChanges::default());
        let provision = Provision::new(
            &vocabulary.vocabulary,
            tokenizer,
            &documents,
            false,
            Purpose::Judge,
            &style,
        );
        Ok(Self {
            framework,
            vocabulary,
            worker: framework.ready_worker(provision)?,
            options: TrialOptions {
                limits,
                first_mask: false,
                forced: false,
            },
            is_started: false,
            dialect: None,
        })
    }

    /// The reply to one line; none where Bowtie stops.
    ///
    /// # Errors
    ///
    /// [`BowtieError`].
    pub fn answer(&mut self, line: &str) -> Result<Option<Value>, BowtieError> {
        let request: Value = serde_json::from_str(line).map_err(|error| BowtieError::NotARequest(error.to_string()))?;
        let command = request["cmd"].as_str();
        match command.ok_or_else(|| BowtieError::NotARequest("there is none".to_owned()))? {
            "start" => self.start(&request).map(Some),
            _ if !self.is_started => Err(BowtieError::NotStarted),
            "dialect" => Ok(Some(self.set_dialect(&request))),
            "run" => self.judge(&request).map(Some),
            "stop" => Ok(None),
            other => Err(BowtieError::UnknownCommand(other.to_owned())),
        }
    }

    fn start(&mut self, request: &Value) -> Result<Value, BowtieError> {
        if request["version"].as_u64() != Some(VERSION) {
            return Err(BowtieError::UnknownVersion(request["version"].to_string()));
        }
        self.is_started = true;
        let name = &self.framework.name;
        let home = HOMES.iter().find(|(framework, ..)| name.starts_with(framework));
        let (_, language, home) = home.unwrap_or(&("", "rust", REPOSITORY));
        Ok(json!({
            "ready": true,
            "version": VERSION,
            "implementation": {
                "language": language,
                "name": name,
                "version": self.framework.description.version,
                "homepage": home,
                "issues": format!("{home}/issues"),
                "source": home,
                "dialects": Draft::ALL.map(Draft::schema_uri),
                "os": std::env::consts::OS,
                "links": [{"description": "the harness: token masks as verdicts", "url": REPOSITORY}],
            },
        }))
    }

    /// Sets the draft of later schemas. The reply says whether the draft is known.
    fn set_dialect(&mut self, request: &Value) -> Value {
        let uri = request["dialect"].as_str().unwrap_or_default().trim_end_matches('#');
        let is_named = |draft: &Draft| draft.schema_uri().trim_end_matches('#') == uri;
        self.dialect = Draft::ALL.into_iter().find(is_named);
        json!({"ok": self.dialect.is_some()})
    }

    fn judge(&mut self, request: &Value) -> Result<Value, BowtieError> {
        let lacking = |member| BowtieError::Lacking { command: "run", member };
        let case = &request["case"];
        let schema = self.text(case.get("schema").ok_or_else(|| lacking("schema"))?);
        let registry = case["registry"].as_object();
        let documents: BTreeMap<String, String> = registry
            .into_iter()
            .flatten()
            .map(|(uri, document)| (uri.clone(), self.text(document)))
            .collect();
        let tests = case["tests"].as_array().ok_or_else(|| lacking("tests"))?;
        let instances = tests.iter().map(|test| test.get("instance"));
        let instances: Option<Vec<&Value>> = instances.collect();
        let instances = instances.ok_or_else(|| lacking("instance"))?;
        let tokens = self.tokens(&schema, &documents, &instances);
        let trial = Trial::run(&mut self.worker, &schema, &documents, &tokens, &self.options);
        let tells_emptiness = TELL_EMPTINESS.iter().any(|name| self.framework.name.starts_with(name));
        let mut reply = verdicts(&trial, &tokens, tells_emptiness);
        reply["seq"] = request["seq"].clone();
        Ok(reply)
    }

    /// The text of a schema, which says its draft.
    fn text(&self, schema: &Value) -> String {
        let schema = match self.dialect {
            Some(draft) => draft.declared_in(schema.clone()),
            None => schema.clone(),
        };
        python_ascii_string(&schema).unwrap_or_default()
    }

    /// Returns the tokens of instances, in the framework's own spelling where it has one.
    fn tokens(&self, schema: &str, documents: &BTreeMap<String, String>, instances: &[&Value]) -> Vec<Vec<TokenId>> {
        let judging = Judging {
            documents,
            assert_formats: false,
            style: &StyleChanges::default(),
        };
        let tokens = |instance: &&Value| {
            let text = python_ascii_string(instance).unwrap_or_default();
            // Only what is valid has a spelling.
            let spelled = self.framework.text(&judging, schema, &text, true);
            self.vocabulary.tokenize(spelled.as_deref().unwrap_or(&text))
        };
        instances.iter().map(tokens).collect()
    }
}

/// Returns the reply to Bowtie on a schema. `tells_emptiness` says that a refusal as unsatisfiable is a verdict on every instance.
fn verdicts(trial: &Trial, tokens: &[Vec<TokenId>], tells_emptiness: bool) -> Value {
    match &trial.compilation {
        Compilation::Done { .. } => {
            let verdicts = tokens
                .iter()
                .enumerate()
                .map(|(number, tokens)| verdict(trial.replays.get(number), tokens));
            json!({"results": verdicts.collect::<Vec<Value>>()})
        }
        Compilation::Refused(error) if tells_emptiness && error.kind == CompileErrorKind::Unsatisfiable => {
            json!({"results": vec![json!({"valid": false}); tokens.len()]})
        }
        Compilation::Refused(error) => {
            json!({"skipped": true, "message": CompileError::from(error.clone()).to_string()})
        }
        Compilation::Failed(ending) => errored(&ending.message),
    }
}

fn verdict(replay: Option<&Result<Replayed, Ending>>, tokens: &[TokenId]) -> Value {
    match replay {
        Some(Ok(Replayed {
            failure: Some(message), ..
        })) => errored(message),
        Some(Ok(replay)) => json!({"valid": is_accepted(replay, tokens)}),
        Some(Err(ending)) => errored(&ending.message),
        None => errored("the framework ended at an instance before this one"),
    }
}

fn errored(message: &str) -> Value {
    json!({"errored": true, "context": {"message": message}})
}
