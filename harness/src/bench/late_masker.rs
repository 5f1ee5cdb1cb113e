//! [`LateMasker`]: a masker that is still being compiled while the model reads the prompt.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{CompileError, CompileErrorKind, MaskError, Masker, TokenId, TokenMask};

use super::measure::{Compiled, PreparedFramework, Task, compile};

/// Outcome of a compilation that ran while the model read the prompt: time, error and wait.
#[derive(Clone, Debug, Default)]
pub struct LateOutcome {
    /// Time of the compilation; `None` where the compilation gave no result.
    pub time: Option<Duration>,
    /// Error of the compilation; `None` where a masker was compiled.
    pub error: Option<CompileError>,
    /// Time for which the first mask waited for the compilation.
    pub waited: Duration,
    /// Whether a mask was asked for, so that time or error are missing only where the compilation still runs.
    pub is_needed: bool,
}

/// Masker that is compiled on another thread; the first call that needs it waits for the compilation.
pub struct LateMasker {
    compilation: Receiver<(Compiled, Duration)>,
    deadline: Instant,
    masker: Option<Box<dyn Masker>>,
    outcome: Arc<Mutex<LateOutcome>>,
}

impl LateMasker {
    /// Starts to compile on another thread; the outcome is filled in by the masker's first call that needs the compilation.
    pub fn start(framework: &PreparedFramework, task: &Task<'_>, limit: Duration) -> (Self, Arc<Mutex<LateOutcome>>) {
        let (sender, compilation) = channel();
        let compiling = framework.clone();
        let (schema, documents) = (task.schema.to_owned(), task.documents.clone());
        let work = move || drop(sender.send(compile(&compiling, &schema, &documents, limit)));
        // Without a thread nothing is ever received, which is an error like any other.
        let _ = thread::Builder::new().name("late".to_owned()).spawn(work);
        let outcome = Arc::new(Mutex::new(LateOutcome::default()));
        let masker = Self {
            compilation,
            deadline: Instant::now() + limit,
            masker: None,
            outcome: outcome.clone(),
        };
        (masker, outcome)
    }

    fn ready(&mut self) -> Result<&mut dyn Masker, MaskError> {
        if self.masker.is_none() {
            let waiting = Instant::now();
            self.outcome.lock().unwrap_or_else(PoisonError::into_inner).is_needed = true;
            let left = self.deadline.saturating_duration_since(waiting) + Duration::from_millis(100);
            let (compiled, time) = match self.compilation.recv_timeout(left) {
                Ok((compiled, time)) => (compiled, Some(time)),
                Err(problem) => {
                    let (kind, message) = match problem {
                        RecvTimeoutError::Timeout => (CompileErrorKind::LimitExceeded, "no result within the limit"),
                        RecvTimeoutError::Disconnected => (CompileErrorKind::Internal, "it panicked"),
                    };
                    (Err(CompileError::new(kind, message)), None)
                }
            };
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.waited = waiting.elapsed();
            outcome.time = time;
            match compiled {
                Ok(masker) => self.masker = Some(masker),
                Err(error) => {
                    let message = error.to_string();
                    outcome.error = Some(error);
                    return Err(MaskError::Internal(message));
                }
            }
        }
        match self.masker.as_deref_mut() {
            Some(masker) => Ok(masker),
            None => Err(MaskError::Internal("the schema was not compiled".to_owned())),
        }
    }
}

impl Masker for LateMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        self.ready()?.mask()
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        self.ready()?.advance(token)
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        self.ready()?.is_complete()
    }

    fn position(&self) -> usize {
        self.masker.as_ref().map_or(0, |masker| masker.position())
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        self.ready()?.forced_tokens(tokens)
    }

    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        self.ready()?.completion(tokens)
    }

    fn speculate(&mut self, token: TokenId) {
        if let Some(masker) = &mut self.masker {
            masker.speculate(token);
        }
    }

    fn memory_bytes(&self) -> Option<usize> {
        self.masker.as_ref()?.memory_bytes()
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        match &self.masker {
            Some(masker) => masker.fork(),
            None => Err(MaskError::Internal("the schema is still being compiled".to_owned())),
        }
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        self.ready()?.rollback(tokens)
    }
}
