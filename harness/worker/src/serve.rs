//! [`serve`]: a worker's main loop over a [`Compiler`].

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use maskwright::{CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, Tokenize, Vocabulary};
use serde_json::json;

use crate::channel::Channel;
use crate::clock::Stopwatch;
use crate::protocol::{
    Compiled, Completeness, Completion, Description, Done, Forced, Forked, Grammar, MaskReply, Misunderstood, Purpose,
    Replayed, Request, Time, WireCompileError,
};
use crate::style::StyleChanges;
use crate::vocabulary::{TokenizerSource, WireVocabulary};

/// Stack of the thread that runs the framework: frameworks recurse over schemas.
const STACK_BYTES: usize = 256 << 20;

/// Inputs with which a framework is made ready.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The tokens.
    pub vocabulary: Arc<Vocabulary>,
    /// JSON texts by URI that `$ref` may lead to.
    pub documents: BTreeMap<String, String>,
    /// Whether documents are judged with `format` as an assertion.
    pub assert_formats: bool,
    /// Purpose of the masks.
    pub purpose: Purpose,
    /// Changes to the style of documents, for frameworks that can vary it.
    pub style: StyleChanges,
    /// The kind of texts that are compiled.
    pub grammar: Grammar,
}

/// Function that makes a framework ready, or returns the reason for which it cannot be.
pub type Prepare<'a> = &'a (dyn Fn(&Setup) -> Result<Box<dyn Compiler>, String> + Sync);

/// Function that makes a tokenizer, where this worker can.
pub type MakeTokenizer<'a> = &'a (dyn Fn(&TokenizerSource) -> Option<Arc<dyn Tokenize>> + Sync);

/// Answers requests on standard input until it ends.
///
/// # Errors
///
/// The system's error, where standard input or output fails.
pub fn serve(description: &Description, tokenizer: MakeTokenizer<'_>, prepare: Prepare<'_>) -> io::Result<()> {
    exit_with_parent();
    let run = || {
        let mut channel = Channel::open()?;
        let mut session = Session {
            description,
            tokenizer,
            prepare,
            compiler: None,
            maskers: HashMap::new(),
            next: 0,
        };
        while let Some(line) = channel.receive()? {
            let (reply, bytes) = session.answer(line);
            channel.send(&reply, &bytes)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("worker".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, run)?;
        thread
            .join()
            .unwrap_or_else(|panic| Err(io::Error::other(panic_message(panic.as_ref()))))
    })
}

/// Starts a thread that ends this process with its parent: a framework at work does not see that its input has ended.
fn exit_with_parent() {
    const INTERVAL: Duration = Duration::from_secs(1);
    let parent = rustix::process::getppid();
    thread::spawn(move || {
        while rustix::process::getppid() == parent {
            thread::sleep(INTERVAL);
        }
        std::process::abort();
    });
}

struct Session<'a> {
    description: &'a Description,
    tokenizer: MakeTokenizer<'a>,
    prepare: Prepare<'a>,
    compiler: Option<Box<dyn Compiler>>,
    maskers: HashMap<u64, Box<dyn Masker>>,
    next: u64,
}

/// A reply and the raw bytes after it.
type Answer = (serde_json::Value, Vec<u8>);

impl Session<'_> {
    fn answer(&mut self, line: &[u8]) -> Answer {
        let request = match serde_json::from_slice(line) {
            Ok(request) => request,
            Err(error) => return misunderstood(format!("the request is not understood: {error}")),
        };
        match request {
            Request::Hello { .. } => plain(self.description),
            Request::Setup {
                vocabulary,
                documents,
                assert_formats,
                purpose,
                style,
                grammar,
            } => self.set_up(&vocabulary, |vocabulary| Setup {
                vocabulary,
                documents,
                assert_formats,
                purpose,
                style,
                grammar,
            }),
            Request::Compile {
                schema,
                first_mask,
                documents,
            } => self.compile(&schema, &documents, first_mask),
            Request::Replay { masker, tokens, forced } => self.with(masker, |masker| {
                let replayed = catch(|| replay(masker, &tokens, forced));
                plain(&replayed.unwrap_or_else(|panic| Replayed {
                    failure: Some(panic),
                    ..Replayed::default()
                }))
            }),
            Request::Mask { masker } => self.with(masker, mask),
            Request::Advance { masker, token } => self.with(masker, |masker| done(|| masker.advance(token))),
            Request::Rollback { masker, tokens } => self.with(masker, |masker| done(|| masker.rollback(tokens))),
            Request::IsComplete { masker } => self.with(masker, is_complete),
            Request::ForcedTokens { masker } => self.with(masker, forced_tokens),
            Request::Completion { masker } => self.with(masker, completion),
            Request::Fork { masker } => self.fork(masker),
            Request::Drop { maskers } => {
                self.maskers.retain(|id, _| !maskers.contains(id));
                plain(&json!({}))
            }
        }
    }

    fn set_up(&mut self, wire: &WireVocabulary, setup: impl FnOnce(Arc<Vocabulary>) -> Setup) -> Answer {
        let tokenizer = wire.tokenizer.as_ref().and_then(self.tokenizer);
        let vocabulary = match wire.read(tokenizer) {
            Ok(vocabulary) => Arc::new(vocabulary),
            Err(error) => return misunderstood(format!("the vocabulary cannot be read: {error}")),
        };
        let setup = setup(vocabulary);
        match catch(|| (self.prepare)(&setup)).and_then(|prepared| prepared) {
            Ok(compiler) => {
                self.compiler = Some(compiler);
                plain(&json!({}))
            }
            Err(message) => misunderstood(message),
        }
    }

    fn compile(&mut self, schema: &str, documents: &BTreeMap<String, String>, first_mask: bool) -> Answer {
        let Some(compiler) = &self.compiler else {
            return misunderstood("`setup` comes before `compile`".to_owned());
        };
        let watch = Stopwatch::start();
        let outcome = catch(|| compiler.compile_with_documents(schema, documents))
            .unwrap_or_else(|panic| Err(CompileError::new(CompileErrorKind::Internal, panic)));
        let time = watch.elapsed();
        let mut compiled = Compiled {
            masker: None,
            compile_error: None,
            time,
            first_mask: None,
        };
        match outcome {
            Err(error) => compiled.compile_error = Some(WireCompileError::from(&error)),
            Ok(masker) if first_mask => match with_first_mask(masker) {
                Ok((masker, time)) => {
                    compiled.first_mask = Some(time);
                    compiled.masker = Some(self.add(masker));
                }
                Err(error) => {
                    let error = CompileError::new(CompileErrorKind::Internal, format!("the first mask: {error}"));
                    compiled.compile_error = Some(WireCompileError::from(&error));
                }
            },
            Ok(masker) => compiled.masker = Some(self.add(masker)),
        }
        plain(&compiled)
    }

    fn fork(&mut self, id: u64) -> Answer {
        let Some(masker) = self.maskers.get(&id) else {
            return no_masker(id);
        };
        let reply = match catch_mask_error(|| masker.fork()) {
            Ok(copy) => Forked {
                mask_error: None,
                masker: Some(self.add(copy)),
            },
            Err(error) => Forked {
                mask_error: Some(error.into()),
                masker: None,
            },
        };
        plain(&reply)
    }

    fn add(&mut self, masker: Box<dyn Masker>) -> u64 {
        self.next += 1;
        self.maskers.insert(self.next, masker);
        self.next
    }

    fn with(&mut self, id: u64, action: impl FnOnce(&mut dyn Masker) -> Answer) -> Answer {
        match self.maskers.get_mut(&id) {
            Some(masker) => action(masker.as_mut()),
            None => no_masker(id),
        }
    }
}

/// The time of the first mask, and a masker that has not computed it.
fn with_first_mask(mut masker: Box<dyn Masker>) -> Result<(Box<dyn Masker>, Time), MaskError> {
    catch_mask_error(|| {
        let fresh = masker.fork()?;
        let watch = Stopwatch::start();
        masker.mask()?;
        Ok((fresh, watch.elapsed()))
    })
}

fn replay(masker: &dyn Masker, tokens: &[TokenId], count_forced: bool) -> Replayed {
    let mut replayed = Replayed {
        wall_ns: Vec::with_capacity(tokens.len()),
        cpu_ns: Vec::with_capacity(tokens.len()),
        ..Replayed::default()
    };
    let outcome = masker
        .fork()
        .and_then(|mut copy| walk(copy.as_mut(), tokens, &mut replayed));
    if let Err(error) = outcome {
        replayed.failure = Some(error.to_string());
    }
    replayed.memory_bytes = masker.memory_bytes();
    if count_forced && replayed.failure.is_none() {
        let accepted = &tokens[..replayed.accepted];
        replayed.forced = masker
            .fork()
            .and_then(|mut copy| forced_share(copy.as_mut(), accepted))
            .ok();
    }
    replayed
}

/// Feeds the tokens, as far as their masks allow them.
fn walk(masker: &mut dyn Masker, tokens: &[TokenId], replayed: &mut Replayed) -> Result<(), MaskError> {
    let reading = Stopwatch::reading();
    for &token in tokens {
        let watch = Stopwatch::start();
        let allowed = masker.mask()?.allows(token);
        let advanced = if allowed { masker.advance(token) } else { Ok(()) };
        let time = watch.elapsed();
        replayed.wall_ns.push(time.wall_ns.saturating_sub(reading.wall_ns));
        replayed.cpu_ns.push(time.cpu_ns.saturating_sub(reading.cpu_ns));
        if !allowed {
            return Ok(());
        }
        if let Err(error) = advanced {
            return Err(MaskError::Internal(format!(
                "the mask allowed a token that advancing refused: {error}"
            )));
        }
        replayed.accepted += 1;
    }
    replayed.complete = masker.is_complete()?;
    Ok(())
}

/// Returns the number of `tokens` that would not have been sampled: those that the framework forces and that do come next.
fn forced_share(masker: &mut dyn Masker, tokens: &[TokenId]) -> Result<usize, MaskError> {
    let mut forced = Vec::new();
    let mut share = 0;
    let mut position = 0;
    while position < tokens.len() {
        forced.clear();
        masker.forced_tokens(&mut forced)?;
        let rest = &tokens[position..];
        let step = forced
            .iter()
            .zip(rest)
            .take_while(|(forced, next)| forced == next)
            .count();
        share += step;
        for &token in &rest[..step.max(1)] {
            masker.advance(token)?;
        }
        position += step.max(1);
    }
    Ok(share)
}

fn mask(masker: &mut dyn Masker) -> Answer {
    let watch = Stopwatch::start();
    match catch_mask_error(|| masker.mask().map(|mask| (watch.elapsed(), mask.words()))) {
        Ok((time, words)) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let reply = MaskReply {
                mask_error: None,
                time: Some(time),
                bytes: Some(bytes.len()),
            };
            (value(&reply), bytes)
        }
        Err(error) => plain(&MaskReply {
            mask_error: Some(error.into()),
            time: Some(watch.elapsed()),
            bytes: None,
        }),
    }
}

fn done(action: impl FnOnce() -> Result<(), MaskError>) -> Answer {
    let watch = Stopwatch::start();
    let outcome = catch_mask_error(action);
    plain(&Done {
        mask_error: outcome.err().map(Into::into),
        time: Some(watch.elapsed()),
    })
}

fn is_complete(masker: &mut dyn Masker) -> Answer {
    let outcome = catch_mask_error(|| masker.is_complete());
    plain(&match outcome {
        Ok(complete) => Completeness {
            mask_error: None,
            complete,
        },
        Err(error) => Completeness {
            mask_error: Some(error.into()),
            complete: false,
        },
    })
}

fn forced_tokens(masker: &mut dyn Masker) -> Answer {
    let mut tokens = Vec::new();
    let outcome = catch_mask_error(|| masker.forced_tokens(&mut tokens));
    plain(&Forced {
        mask_error: outcome.err().map(Into::into),
        tokens,
    })
}

fn completion(masker: &mut dyn Masker) -> Answer {
    let mut tokens = Vec::new();
    let (mask_error, found) = match catch_mask_error(|| masker.completion(&mut tokens)) {
        Ok(found) => (None, found),
        Err(error) => (Some(error.into()), false),
    };
    plain(&Completion {
        mask_error,
        tokens: found.then_some(tokens),
    })
}

fn plain(reply: &impl serde::Serialize) -> Answer {
    (value(reply), Vec::new())
}

fn value(reply: &impl serde::Serialize) -> serde_json::Value {
    // Replies are structs of numbers, texts and lists: this cannot fail.
    serde_json::to_value(reply).unwrap_or_default()
}

fn misunderstood(error: String) -> Answer {
    plain(&Misunderstood { error })
}

fn no_masker(id: u64) -> Answer {
    misunderstood(format!("there is no masker {id}"))
}

fn catch_mask_error<T>(action: impl FnOnce() -> Result<T, MaskError>) -> Result<T, MaskError> {
    catch(action).unwrap_or_else(|panic| Err(MaskError::Internal(panic)))
}

/// Runs the framework's code; a panic becomes its message.
fn catch<T>(action: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(action)).map_err(|panic| panic_message(panic.as_ref()))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", message.unwrap_or("no message"))
}
