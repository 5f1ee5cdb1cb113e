//! [`WorkerCompiler`]: a worker behind the traits that the decode loop knows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maskwright::{CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenMask};
use maskwright_worker::protocol::{Completeness, Completion, Done, Forced, Forked, MaskReply, Request, WireMaskError};
use serde::de::DeserializeOwned;

use super::{Limits, Worker, WorkerFailure};

/// A framework in a worker, as a [`Compiler`].
///
/// All maskers share the one process; one that outlives its process answers with an error.
pub struct WorkerCompiler {
    worker: Arc<Mutex<Worker>>,
    compile_limits: Limits,
    mask_limits: Limits,
    mask_len: usize,
    completes: bool,
}

impl WorkerCompiler {
    /// Wraps `worker` as a compiler of masks over `mask_len` tokens, with limits for a compilation and for every other call; `completes` tells
    /// whether it answers `completion`.
    pub fn new(worker: Worker, compile_limits: Limits, mask_limits: Limits, mask_len: usize, completes: bool) -> Self {
        Self {
            worker: Arc::new(Mutex::new(worker)),
            compile_limits,
            mask_limits,
            mask_len,
            completes,
        }
    }
}

impl Compiler for WorkerCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        self.compile_with_documents(schema, &BTreeMap::new())
    }

    fn compile_with_documents(
        &self,
        schema: &str,
        documents: &BTreeMap<String, String>,
    ) -> Result<Box<dyn Masker>, CompileError> {
        let mut worker = lock(&self.worker);
        let compiled = worker
            .compile(schema, documents, false, &self.compile_limits)
            .map_err(|failure| {
                worker.restart_after(&failure);
                compile_error(failure)
            })?;
        if let Some(error) = compiled.compile_error {
            return Err(error.into());
        }
        let Some(id) = compiled.masker else {
            let message = "the worker's reply has neither a masker nor an error";
            return Err(CompileError::new(CompileErrorKind::Internal, message));
        };
        let generation = worker.generation();
        drop(worker);
        Ok(Box::new(WorkerMasker {
            worker: self.worker.clone(),
            limits: self.mask_limits,
            completes: self.completes,
            generation,
            id,
            mask: TokenMask::none(self.mask_len),
            mask_is_current: false,
            position: 0,
        }))
    }
}

/// Returns the compile error for a worker's failure.
pub fn compile_error(failure: WorkerFailure) -> CompileError {
    let kind = match failure {
        WorkerFailure::TimedOut { .. } | WorkerFailure::OutOfCpuTime { .. } | WorkerFailure::OutOfMemory { .. } => {
            CompileErrorKind::LimitExceeded
        }
        _ => CompileErrorKind::Internal,
    };
    CompileError::new(kind, failure.to_string())
}

struct WorkerMasker {
    worker: Arc<Mutex<Worker>>,
    limits: Limits,
    completes: bool,
    generation: u64,
    id: u64,
    mask: TokenMask,
    mask_is_current: bool,
    position: usize,
}

impl WorkerMasker {
    fn request<T: DeserializeOwned>(&self, request: &Request<'_>) -> Result<(T, Vec<u8>), MaskError> {
        let mut worker = lock(&self.worker);
        if worker.generation() != self.generation {
            let message = "the worker that held this masker has ended";
            return Err(MaskError::Internal(message.to_owned()));
        }
        worker.request_raw(request, &self.limits).map_err(|failure| {
            worker.restart_after(&failure);
            match failure {
                WorkerFailure::TimedOut { .. }
                | WorkerFailure::OutOfCpuTime { .. }
                | WorkerFailure::OutOfMemory { .. } => MaskError::LimitExceeded(failure.to_string()),
                _ => MaskError::Internal(failure.to_string()),
            }
        })
    }

    fn error(&self, wire: WireMaskError, token: TokenId, asked: usize) -> MaskError {
        match wire {
            WireMaskError::TokenRefused => MaskError::TokenRefused {
                token,
                position: self.position,
            },
            WireMaskError::RollbackTooFar { available } => MaskError::RollbackTooFar { asked, available },
            WireMaskError::LimitExceeded { message } => MaskError::LimitExceeded(message),
            WireMaskError::Failed { message } => MaskError::Internal(message),
        }
    }

    fn check(&self, wire: Option<WireMaskError>) -> Result<(), MaskError> {
        wire.map_or(Ok(()), |wire| Err(self.error(wire, 0, 0)))
    }
}

impl Masker for WorkerMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if !self.mask_is_current {
            let (reply, bytes) = self.request::<MaskReply>(&Request::Mask { masker: self.id })?;
            self.check(reply.mask_error)?;
            let expected = 4 * self.mask.words().len();
            if bytes.len() != expected {
                let breach = WorkerFailure::Protocol {
                    message: format!("a mask of {} bytes instead of {expected}", bytes.len()),
                };
                return Err(MaskError::Internal(breach.to_string()));
            }
            let words: Vec<u32> = bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            self.mask.copy_from_words(&words);
            self.mask_is_current = true;
        }
        Ok(&self.mask)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        let masker = self.id;
        let (done, _) = self.request::<Done>(&Request::Advance { masker, token })?;
        match done.mask_error {
            Some(error) => Err(self.error(error, token, 0)),
            None => {
                self.mask_is_current = false;
                self.position += 1;
                Ok(())
            }
        }
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        let (reply, _) = self.request::<Completeness>(&Request::IsComplete { masker: self.id })?;
        self.check(reply.mask_error)?;
        Ok(reply.complete)
    }

    fn position(&self) -> usize {
        self.position
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        let (reply, _) = self.request::<Forced>(&Request::ForcedTokens { masker: self.id })?;
        self.check(reply.mask_error)?;
        tokens.extend(reply.tokens);
        Ok(())
    }

    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        if !self.completes {
            return Ok(false);
        }
        let (reply, _) = self.request::<Completion>(&Request::Completion { masker: self.id })?;
        self.check(reply.mask_error)?;
        tokens.extend(reply.tokens.iter().flatten());
        Ok(reply.tokens.is_some())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        let (reply, _) = self.request::<Forked>(&Request::Fork { masker: self.id })?;
        self.check(reply.mask_error)?;
        let id = reply
            .masker
            .ok_or_else(|| MaskError::Internal("the worker's reply has neither a masker nor an error".to_owned()))?;
        Ok(Box::new(Self {
            worker: self.worker.clone(),
            mask: self.mask.clone(),
            id,
            ..*self
        }))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        let masker = self.id;
        let (done, _) = self.request::<Done>(&Request::Rollback { masker, tokens })?;
        match done.mask_error {
            Some(error) => Err(self.error(error, 0, tokens)),
            None => {
                self.mask_is_current &= tokens == 0;
                self.position -= tokens.min(self.position);
                Ok(())
            }
        }
    }
}

impl Drop for WorkerMasker {
    fn drop(&mut self) {
        let mut worker = lock(&self.worker);
        if worker.generation() == self.generation {
            worker.forget(self.id);
        }
    }
}

/// Locks the worker, also after a panic elsewhere: a worker is in a usable state between any two statements.
fn lock(worker: &Mutex<Worker>) -> MutexGuard<'_, Worker> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}
