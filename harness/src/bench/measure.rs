//! One framework, one schema: compile, generate, judge.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{CompileError, CompileErrorKind, Compiler, Masker};
use maskwright_models::{Constraint, DecodeOptions, FinishReason, LoadedModel, generate};
use maskwright_suites::validate::{Judge, Problem, ProblemKind, Verdict, Verdicts};

use crate::bench::record::{CompileRecord, GenerationRecord, Record, RecordKey};
use crate::frameworks::Documented;

/// Stack of the threads that compile and judge, which recurse over the schema.
const STACK_BYTES: usize = 256 << 20;
/// Longest judgement of one answer.
const JUDGE_LIMIT: Duration = Duration::from_secs(20);

/// A framework prepared for a model's vocabulary.
pub struct PreparedFramework {
    /// The framework.
    pub compiler: Arc<dyn Compiler>,
    /// Whether it runs in a worker, which keeps limits by itself.
    pub in_worker: bool,
    /// What its documentation says it supports, where it tells.
    pub documented: Option<Documented>,
}

/// A schema with what is needed to prompt for an answer and to judge it.
pub struct Task<'a> {
    /// The schema's text.
    pub schema: &'a str,
    /// The prompt's tokens.
    pub prompt: &'a [u32],
    /// The judge of answers.
    pub judge: &'a Judge,
}

/// Measures one framework on one schema. `None` where it was cancelled half-way.
pub fn measure(
    key: RecordKey,
    framework: Option<&PreparedFramework>,
    task: &Task<'_>,
    model: &mut LoadedModel,
    options: &DecodeOptions,
    compile_limit: Duration,
    cancel: &AtomicBool,
) -> Option<Record> {
    let mut record = Record::empty(key);
    let mut constraint = None;
    if let Some(framework) = framework {
        let (outcome, seconds) = compile(framework, task.schema, compile_limit);
        record.compile = Some(CompileRecord {
            seconds: Some(seconds.as_secs_f64()),
            error: outcome.as_ref().err().map(Into::into),
        });
        match outcome {
            Ok(masker) => {
                constraint = Some(Constraint {
                    framework: record.key.framework.clone(),
                    masker,
                });
            }
            Err(_) => return Some(record),
        }
    }
    let generation = generate(model.model.as_mut(), task.prompt, constraint, options, cancel);
    if matches!(generation.finish, Ok(FinishReason::Cancelled)) {
        return None;
    }
    let bytes = model.vocabulary().text_bytes(&generation.token_ids());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if generation.finish.is_ok() {
        let verdicts = judge(task.judge, &text);
        record.verdict = Some(verdicts.strict);
        record.paper_verdict = Some(verdicts.paper);
    }
    record.generation = Some(GenerationRecord::new(task.prompt.len(), &generation, text));
    Some(record)
}

/// Judges an answer, giving up after [`JUDGE_LIMIT`]: a schema can ask for exponential work.
pub fn judge(judge: &Judge, text: &str) -> Verdicts {
    let (judge, owned) = (judge.clone(), text.to_owned());
    match within(JUDGE_LIMIT, "judge", move || judge.judge(&owned)) {
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

/// A masker, or why there is none.
type Compiled = Result<Box<dyn Masker>, CompileError>;

fn compile(framework: &PreparedFramework, schema: &str, limit: Duration) -> (Compiled, Duration) {
    if framework.in_worker {
        let start = Instant::now();
        let outcome = framework.compiler.compile(schema);
        return (outcome, start.elapsed());
    }
    let (compiler, schema) = (framework.compiler.clone(), schema.to_owned());
    let measured = within(limit, "compile", move || {
        let start = Instant::now();
        let outcome = compiler.compile(&schema);
        (outcome, start.elapsed())
    });
    let failed = |kind, reason: &GaveUp| Err(CompileError::new(kind, reason.to_string()));
    match measured {
        Ok(measured) => measured,
        Err(reason @ GaveUp::Late(_)) => (failed(CompileErrorKind::LimitExceeded, &reason), limit),
        Err(reason) => (failed(CompileErrorKind::Internal, &reason), Duration::ZERO),
    }
}

/// Why foreign code gave no result.
#[derive(Debug, thiserror::Error)]
enum GaveUp {
    #[error("no result after {} s", .0.as_secs_f64())]
    Late(Duration),
    #[error("it panicked")]
    Panicked,
    #[error("no thread to run it on: {0}")]
    NoThread(std::io::Error),
}

/// Runs `work` on a thread of its own, with a large stack. Work that takes longer than `limit` is left behind: a
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
        // The receiver is gone where the limit has passed.
        .spawn(move || drop(sender.send(work())))
        .map_err(GaveUp::NoThread)?;
    receiver.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => GaveUp::Late(limit),
        RecvTimeoutError::Disconnected => GaveUp::Panicked,
    })
}
