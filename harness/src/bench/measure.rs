//! Measurement of one framework on one schema: compile, generate, judge.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{CompileError, CompileErrorKind, Compiler, Masker};
use maskwright_models::{Constraint, DecodeOptions, FinishReason, Generation, LoadedModel, Snapshot, generate_after};
use maskwright_suites::validate::{Judge, Problem, ProblemKind, Verdict, Verdicts};

use crate::bench::late_masker::LateMasker;
use crate::bench::record::{CompileRecord, GenerationRecord, Record, RecordKey};
use crate::frameworks::Documented;

/// Stack of the threads that compile and judge, which recurse over the schema.
const STACK_BYTES: usize = 256 << 20;
/// Longest judgement of one answer.
const JUDGE_LIMIT: Duration = Duration::from_secs(20);

/// A framework prepared for a model's vocabulary.
#[derive(Clone)]
pub struct PreparedFramework {
    /// The framework.
    pub compiler: Arc<dyn Compiler>,
    /// Whether the framework runs in a worker process, which keeps the limits itself.
    pub in_worker: bool,
    /// Features that the framework's documentation calls supported; `None` where the documentation says nothing of them.
    pub documented: Option<Documented>,
}

/// A question to a model: the constraint of the answer and the prompt.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Text of the constraint: a schema, or a structural tag where the frameworks were prepared for structural tags.
    pub schema: &'a str,
    /// The documents that the schema may refer to.
    pub documents: &'a BTreeMap<String, String>,
    /// The prompt's tokens.
    pub prompt: &'a [u32],
}

/// Result of a task, not judged yet.
pub struct Attempt {
    /// The compilation; `None` for the model alone.
    pub compile: Option<CompileRecord>,
    /// The generation; `None` where the compilation failed.
    pub generation: Option<Generation>,
}

/// Limits and options under which an answer is generated.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// Options of the decode loop: choice of tokens and limits of an answer.
    pub decode: &'a DecodeOptions,
    /// Longest compilation.
    pub compile_limit: Duration,
    /// Whether the schema is compiled while the model reads the prompt.
    pub beside_prefill: bool,
    /// Snapshot of the model after the part of the prompt that is already in its KV cache.
    pub read: Option<&'a Snapshot>,
}

/// Measures one framework on one schema, and judges the answer. Returns `None` where `cancel` was set half-way.
pub fn measure(
    key: RecordKey,
    framework: Option<&PreparedFramework>,
    task: &Task<'_>,
    judge_of_answers: &Judge,
    model: &mut LoadedModel,
    conditions: &Conditions<'_>,
    cancel: &AtomicBool,
) -> Option<Record> {
    let attempt = attempt(&key.framework, framework, task, model, conditions, cancel)?;
    let mut record = Record::empty(key);
    record.compile = attempt.compile;
    let Some(generation) = attempt.generation else {
        return Some(record);
    };
    let bytes = model.vocabulary().text_bytes(&generation.token_ids());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if generation.finish.is_ok() {
        let verdicts = judge(judge_of_answers, &text);
        record.verdict = Some(verdicts.strict);
        record.paper_verdict = Some(verdicts.paper);
    }
    let mut generation = GenerationRecord::new(task.prompt.len(), &generation, text);
    if record.compile.as_ref().is_some_and(|compile| compile.beside_prefill) {
        // The model waited for the compilation, too, and how long for the masks alone is not known.
        generation.exposed_mask_us = None;
    }
    record.generation = Some(generation);
    Some(record)
}

/// Generates an answer, constrained by the framework called `name` where there is one. Returns `None` where `cancel` was set half-way.
pub fn attempt(
    name: &str,
    framework: Option<&PreparedFramework>,
    task: &Task<'_>,
    model: &mut LoadedModel,
    conditions: &Conditions<'_>,
    cancel: &AtomicBool,
) -> Option<Attempt> {
    let constraint = |masker| Constraint {
        framework: name.to_owned(),
        masker,
    };
    let mut compiled = None;
    let (constraint, late) = match framework {
        None => (None, None),
        Some(framework) if conditions.beside_prefill => {
            let (masker, outcome) = LateMasker::start(framework, task, conditions.compile_limit);
            (Some(constraint(Box::new(masker))), Some(outcome))
        }
        Some(framework) => {
            let (outcome, seconds) = compile(framework, task.schema, task.documents, conditions.compile_limit);
            let error = outcome.as_ref().err().map(Into::into);
            let constraint = outcome.ok().map(constraint);
            compiled = Some(CompileRecord {
                seconds: Some(seconds.as_secs_f64()),
                beside_prefill: false,
                error,
            });
            match constraint {
                Some(constraint) => (Some(constraint), None),
                None => {
                    return Some(Attempt {
                        compile: compiled,
                        generation: None,
                    });
                }
            }
        }
    };
    let model_itself = model.model.as_mut();
    let mut options = conditions.decode.clone();
    if late.is_some() {
        // The limit of a generation does not count the wait for the compilation, which has a limit of its own.
        options.time_limit = options.time_limit.map(|limit| limit + conditions.compile_limit);
    }
    let mut generation = generate_after(model_itself, conditions.read, task.prompt, constraint, &options, cancel);
    let is_full = matches!(generation.finish, Ok(FinishReason::ContextFull));
    if is_full && options.max_tokens == usize::MAX && !generation.tokens.is_empty() {
        // Where the answer has no other limit, the context is the limit: an answer that fills it counts as one that was cut off.
        generation.finish = Ok(FinishReason::TokenLimit);
    }
    if matches!(generation.finish, Ok(FinishReason::Cancelled)) {
        return None;
    }
    if let Some(late) = late {
        let mut outcome = late.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if outcome.is_needed && outcome.time.is_none() && outcome.error.is_none() {
            let message = "no result within the time limits";
            outcome.error = Some(CompileError::new(CompileErrorKind::LimitExceeded, message));
        }
        compiled = Some(CompileRecord {
            seconds: outcome.time.map(|time| time.as_secs_f64()),
            beside_prefill: true,
            error: outcome.error.as_ref().map(Into::into),
        });
        if outcome.error.is_some() {
            return Some(Attempt {
                compile: compiled,
                generation: None,
            });
        }
        // The first mask waited for the compilation, which has a figure of its own. The model reads the prompt during a part of that wait.
        let exposed = outcome.waited.min(generation.mask_times.exposed);
        generation.mask_times.total = generation.mask_times.total.saturating_sub(outcome.waited);
        let took = generation.total.saturating_sub(exposed);
        if generation.finish.is_ok() && conditions.decode.time_limit.is_some_and(|limit| took > limit) {
            generation.finish = Ok(FinishReason::TimeLimit);
        }
    }
    Some(Attempt {
        compile: compiled,
        generation: Some(generation),
    })
}

/// Returns the result of `judging`, or the reason why there is none. Judging is given up after [`JUDGE_LIMIT`], as a schema can ask for
/// exponential work.
pub fn judged<T: Send + 'static>(judging: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    within(JUDGE_LIMIT, "judge", judging).map_err(|reason| reason.to_string())
}

/// Judges an answer within [`judged`]'s limit.
pub fn judge(judge: &Judge, text: &str) -> Verdicts {
    let (judge, owned) = (judge.clone(), text.to_owned());
    match judged(move || judge.judge(&owned)) {
        Ok(verdicts) => verdicts,
        Err(reason) => Verdicts::both(Verdict {
            parsed: false,
            valid: false,
            fenced: false,
            problems: vec![Problem {
                kind: ProblemKind::Undecided,
                instance: String::new(),
                keyword: String::new(),
                message: format!("the answer could not be judged: {reason}"),
            }],
        }),
    }
}

/// A masker, or the error of its compilation.
pub type Compiled = Result<Box<dyn Masker>, CompileError>;

/// Compiles a schema, giving up after `limit`, and returns the masker with the time taken.
pub fn compile(
    framework: &PreparedFramework,
    schema: &str,
    documents: &BTreeMap<String, String>,
    limit: Duration,
) -> (Compiled, Duration) {
    if framework.in_worker {
        let start = Instant::now();
        let outcome = framework.compiler.compile_with_documents(schema, documents);
        return (outcome, start.elapsed());
    }
    let (compiler, schema) = (framework.compiler.clone(), schema.to_owned());
    let documents = documents.clone();
    let measured = within(limit, "compile", move || {
        let start = Instant::now();
        let outcome = compiler.compile_with_documents(&schema, &documents);
        (outcome, start.elapsed())
    });
    let failed = |kind, reason: &GaveUp| Err(CompileError::new(kind, reason.to_string()));
    match measured {
        Ok(measured) => measured,
        Err(reason @ GaveUp::Late(_)) => (failed(CompileErrorKind::LimitExceeded, &reason), limit),
        Err(reason) => (failed(CompileErrorKind::Internal, &reason), Duration::ZERO),
    }
}

/// Reason why foreign code gave no result.
#[derive(Debug, thiserror::Error)]
enum GaveUp {
    #[error("no result after {} s", .0.as_secs_f64())]
    Late(Duration),
    #[error("it panicked")]
    Panicked,
    #[error("no thread to run it on: {0}")]
    NoThread(std::io::Error),
}

/// Runs `work` on a thread of its own, with a large stack. After `limit` the thread is left running and its result ignored: a
/// thread cannot be ended from outside.
fn within<T: Send + 'static>(
    limit: Duration,
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GaveUp> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK_BYTES)
        // The receiver has been dropped where the limit has passed.
        .spawn(move || drop(sender.send(work())))
        .map_err(GaveUp::NoThread)?;
    receiver.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => GaveUp::Late(limit),
        RecvTimeoutError::Disconnected => GaveUp::Panicked,
    })
}
