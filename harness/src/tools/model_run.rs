//! [`ToolModelRun`]: a run of function-calling requests with one model, request by request, all rows in turn.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use maskwright::{TokenId, TokenKind, Vocabulary};
use maskwright_models::{DecodeOptions, LoadedModel};
use maskwright_serving::tools::{ToolChoice, ToolFormat, structural_tag};
use maskwright_suites::tool_calls::{CallJudgement, RequestSet, ToolRequest, judge};

use super::prompt::{Asking, prompt_of};
use super::readers::read_calls;
use super::record::{CallKey, CallRecord};
use crate::bench::measure::{Attempt, Conditions, PreparedFramework, Task, attempt, judged};
use crate::bench::prompts::first_passes;
use crate::bench::record::GenerationRecord;
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::run::{interrupt, progress};

/// A run of function-calling requests with one model, in progress.
pub struct ToolModelRun<'a> {
    pub model_name: &'a str,
    /// The frameworks' names, in the order of rows.
    pub names: &'a [String],
    pub frameworks: &'a [Option<PreparedFramework>],
    pub model: &'a mut LoadedModel,
    /// Options of the decode loop.
    pub decode: DecodeOptions,
    pub compile_limit: Duration,
    /// Format of calls, choice among tools, and whether several calls are allowed.
    pub asking: Asking,
    /// Instructions before those of the prompt.
    pub system: Option<&'a str>,
}

/// Returns the form in which calls are asked for: the format called `name`, else that of the chat template, else plain objects, which the
/// instructions explain.
///
/// # Errors
///
/// [`CommandError::Arguments`], where no format has this name.
pub fn asking_of(
    model: &LoadedModel,
    name: Option<&str>,
    choice: ToolChoice,
    parallel: bool,
) -> Result<Asking, CommandError> {
    let named = name.map(format_of_name).transpose()?;
    let of_template = || model.tool_template().and_then(ToolFormat::of_chat_template);
    Ok(Asking {
        format: named.or_else(of_template).unwrap_or(ToolFormat::Json),
        choice,
        parallel,
    })
}

/// Returns the format with a name.
///
/// # Errors
///
/// [`CommandError::Arguments`], with the known names.
pub fn format_of_name(name: &str) -> Result<ToolFormat, CommandError> {
    ToolFormat::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = ToolFormat::NAMES.iter().map(|(known, _)| *known).collect();
        CommandError::Arguments(format!(
            "no tool format is called {name:?}; known are {}",
            known.join(", ")
        ))
    })
}

/// Returns the first name of a format.
fn name_of(format: ToolFormat) -> &'static str {
    let known = ToolFormat::NAMES.iter().find(|(_, known)| *known == format);
    known.map_or("", |(name, _)| name)
}

/// A request as the tokens of its prompt, with the structural tag of its replies.
struct Put {
    prompt: Vec<TokenId>,
    tag: String,
}

impl ToolModelRun<'_> {
    /// Asks the requests that the directory has no record of yet.
    pub fn run(&mut self, set: &RequestSet, directory: &mut RunDirectory<CallRecord>) -> Result<(), CommandError> {
        let bar = progress::bar((set.requests.len() * self.names.len()) as u64, self.model_name);
        self.warm_up(set)?;
        for (number, request) in set.requests.iter().enumerate() {
            bar.set_message(format!("{}: {}/{}", self.model_name, set.name, request.id));
            if !self.request(number, &set.name, request, directory)? {
                bar.abandon();
                return Err(CommandError::interrupted(directory));
            }
            bar.inc(self.names.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Generates a short reply of every row that counts in no figure, so that weights are paged in, threads started and vocabularies sorted.
    fn warm_up(&mut self, set: &RequestSet) -> Result<(), CommandError> {
        const TOKENS: usize = 4;
        let Some(Ok(put)) = set.requests.first().map(|request| self.put(request)).transpose()? else {
            return Ok(());
        };
        first_passes(self.model, &put.prompt)?;
        let decode = DecodeOptions {
            max_tokens: self.decode.max_tokens.min(TOKENS),
            reasoning: None,
            ..self.decode.clone()
        };
        let frameworks = self.frameworks;
        for framework in frameworks {
            // An error in the warm-up comes again in the measurement, which puts it on record.
            let _ = self.attempt("", framework.as_ref(), &put, &decode);
        }
        Ok(())
    }

    /// Asks one request of every row that lacks a record. Returns false where the user interrupted.
    fn request(
        &mut self,
        number: usize,
        dataset: &str,
        request: &ToolRequest,
        directory: &mut RunDirectory<CallRecord>,
    ) -> Result<bool, CommandError> {
        let keys = self.names.iter().map(|name| CallKey {
            model: self.model_name.to_owned(),
            framework: name.clone(),
            dataset: dataset.to_owned(),
            request: request.id.clone(),
        });
        let frameworks = self.frameworks;
        let mut missing: Vec<(CallKey, &Option<PreparedFramework>)> =
            keys.zip(frameworks).filter(|(key, _)| directory.lacks(key)).collect();
        if missing.is_empty() {
            return Ok(true);
        }
        // Each framework is the first one equally often, so that none always finds the caches warm.
        let first = number % missing.len();
        missing.rotate_left(first);
        let put = self.put(request)?;
        for (key, framework) in missing {
            if interrupt::requested() {
                return Ok(false);
            }
            let mut record = CallRecord::empty(key, name_of(self.asking.format), request.expected.len());
            match &put {
                Err(reason) => record.unusable = Some(reason.clone()),
                Ok(put) => {
                    let decode = self.decode.clone();
                    let attempted = self.attempt(&record.key.framework, framework.as_ref(), put, &decode);
                    let Some(attempted) = attempted else {
                        return Ok(false);
                    };
                    self.put_on_record(&mut record, attempted, put, request);
                }
            }
            directory.add(record)?;
        }
        Ok(true)
    }

    /// Returns the prompt and the structural tag of a request, or the reason why the request cannot be asked.
    fn put(&self, request: &ToolRequest) -> Result<Result<Put, String>, CommandError> {
        let asking = &self.asking;
        let tag = structural_tag(asking.format, &request.tools(), &asking.choice, asking.parallel);
        let tag = match tag {
            Ok(tag) => tag.to_string(),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let prompt = prompt_of(self.model, request, asking, self.system)?;
        Ok(Ok(Put { prompt, tag }))
    }

    fn attempt(
        &mut self,
        name: &str,
        framework: Option<&PreparedFramework>,
        put: &Put,
        decode: &DecodeOptions,
    ) -> Option<Attempt> {
        let task = Task {
            schema: &put.tag,
            documents: &BTreeMap::new(),
            prompt: &put.prompt,
        };
        let conditions = Conditions {
            decode,
            compile_limit: self.compile_limit,
            beside_prefill: false,
            read: None,
        };
        attempt(name, framework, &task, self.model, &conditions, &interrupt::INTERRUPTED)
    }

    fn put_on_record(&self, record: &mut CallRecord, attempt: Attempt, put: &Put, request: &ToolRequest) {
        record.compile = attempt.compile;
        let Some(generation) = attempt.generation else {
            return;
        };
        let text = spelled(&self.model.vocabulary(), &generation.token_ids());
        if generation.finish.is_ok() {
            record.judgement = Some(judgement(self.asking.format, request, &text));
        }
        record.generation = Some(GenerationRecord::new(put.prompt.len(), &generation, text));
    }
}

/// Returns the text of a reply, with special tokens spelled by their names.
fn spelled(vocabulary: &Arc<Vocabulary>, tokens: &[TokenId]) -> String {
    let written = tokens
        .iter()
        .filter(|token| vocabulary.kind(**token) != TokenKind::Unused);
    let bytes: Vec<u8> = written
        .flat_map(|token| vocabulary.token_bytes(*token))
        .copied()
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Judges the calls in a text. Judging is given up after a limit on its time, which is then the problem of the verdict.
pub(super) fn judgement(format: ToolFormat, request: &ToolRequest, text: &str) -> CallJudgement {
    let (owned, written) = (request.clone(), text.to_owned());
    let found = judged(move || {
        let calls = read_calls(format, &owned, &written);
        judge(&owned, &calls)
    });
    found.unwrap_or_else(|reason| judge(request, &Err(format!("the reply could not be judged: {reason}"))))
}
