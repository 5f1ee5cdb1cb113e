//! [`OverlappedMasker`]: a masker whose masks are computed while the model's forward pass runs.

use std::time::{Duration, Instant};

use maskwright::{MaskError, Masker, TokenId, TokenMask};

use crate::decode::generation::DecodeError;
use crate::decode::mask_thread::{MaskJob, MaskJobResult, MaskThread, catch_panics};
use crate::decode::options::Constraint;
use crate::decode::speculation::TokenGuesser;

/// The times of a mask that is ready to be read, and the completion found along with it.
pub(super) struct ReadyMask {
    /// Time that the mask and the completion took.
    pub(super) work: Duration,
    /// Time for which tokens that are likely to be chosen were prepared.
    pub(super) speculation: Duration,
    /// Number of tokens that end the document; `None` if that was not asked for or the framework cannot tell.
    pub(super) completion: Option<usize>,
}

/// A masker that is either at hand or away on the mask thread. Its errors carry the framework's name.
pub(super) struct OverlappedMasker {
    pub(super) framework: String,
    deadline: Option<Instant>,
    thread: Option<MaskThread>,
    masker: Option<Box<dyn Masker>>,
    /// A mask that was computed by [`begin`](Self::begin) itself, for want of a thread.
    done: Option<MaskJobResult>,
}

impl OverlappedMasker {
    /// The masker of `constraint`. With `overlap` masks are computed on another thread, and waited for until `deadline`.
    pub(super) fn new(constraint: Constraint, overlap: bool, deadline: Option<Instant>) -> Self {
        Self {
            framework: constraint.framework,
            deadline,
            thread: if overlap { MaskThread::start() } else { None },
            masker: Some(constraint.masker),
            done: None,
        }
    }

    /// Starts to compute the next mask, and with `completion` the number of tokens that end the document, while the model reads
    /// `tokens`. On another thread, the rest of the time `idle` is used to prepare tokens that are likely to be chosen.
    pub(super) fn begin(&mut self, tokens: &[TokenId], completion: bool, idle: Duration) -> Result<(), DecodeError> {
        let mut job = MaskJob {
            masker: self.take()?,
            completion,
            tokens: tokens.to_vec(),
            idle,
        };
        if let Some(thread) = &self.thread {
            match thread.submit(job) {
                Ok(()) => return Ok(()),
                Err(back) => job = back,
            }
        }
        self.thread = None;
        job.idle = Duration::ZERO;
        self.done = Some(job.run(&mut TokenGuesser::default()));
        Ok(())
    }

    /// Waits for the mask that [`begin`](Self::begin) started; `None` past the deadline.
    pub(super) fn finish(&mut self) -> Result<Option<ReadyMask>, DecodeError> {
        let result = match (self.done.take(), &self.thread) {
            (Some(result), _) => result,
            (None, Some(thread)) => match thread.receive(self.deadline) {
                Some(result) => result,
                None => return Ok(None),
            },
            (None, None) => return Err(self.lost()),
        };
        self.masker = Some(result.masker);
        let completion = result.completion.map_err(|error| self.failed(error))?;
        Ok(Some(ReadyMask {
            work: result.work,
            speculation: result.speculation,
            completion,
        }))
    }

    /// The mask that was computed last.
    pub(super) fn mask(&mut self) -> Result<&TokenMask, DecodeError> {
        let Some(masker) = self.masker.as_mut() else {
            return Err(DecodeError::Mask {
                framework: self.framework.clone(),
                source: lost(),
            });
        };
        masker.mask().map_err(|source| DecodeError::Mask {
            framework: self.framework.clone(),
            source,
        })
    }

    /// One of the end-of-sequence tokens that the mask computed last allows.
    pub(super) fn allowed_end(&mut self, eos_tokens: &[TokenId]) -> Result<Option<TokenId>, DecodeError> {
        let mask = self.mask()?;
        Ok(eos_tokens.iter().copied().find(|token| mask.allows(*token)))
    }

    /// Accepts `token`.
    pub(super) fn advance(&mut self, token: TokenId) -> Result<(), DecodeError> {
        self.with_masker(|masker| masker.advance(token))
    }

    /// Takes back the last `tokens` tokens.
    pub(super) fn rollback(&mut self, tokens: usize) -> Result<(), DecodeError> {
        self.with_masker(|masker| masker.rollback(tokens))
    }

    /// Returns the number of tokens that end the document after `token`, `None` if the framework cannot tell. The masker's
    /// position is unchanged.
    pub(super) fn completion_length_after(&mut self, token: TokenId) -> Result<Option<usize>, DecodeError> {
        self.advance(token)?;
        let length = self.with_masker(|masker| masker.completion_length())?;
        self.rollback(1)?;
        Ok(length)
    }

    /// Tokens that end the document, where the framework can tell.
    pub(super) fn completion(&mut self) -> Result<Option<Vec<TokenId>>, DecodeError> {
        let mut tokens = Vec::new();
        let found = self.with_masker(|masker| masker.completion(&mut tokens))?;
        Ok(found.then_some(tokens))
    }

    /// Appends to `tokens` those that must come next.
    pub(super) fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), DecodeError> {
        self.with_masker(|masker| masker.forced_tokens(tokens))
    }

    /// Calls the framework, whose panics become its errors.
    fn with_masker<T>(&mut self, call: impl FnOnce(&mut dyn Masker) -> Result<T, MaskError>) -> Result<T, DecodeError> {
        let mut masker = self.take()?;
        let result = catch_panics(|| call(masker.as_mut()));
        self.masker = Some(masker);
        result.map_err(|error| self.failed(error))
    }

    /// The masker, which is not at hand afterwards.
    fn take(&mut self) -> Result<Box<dyn Masker>, DecodeError> {
        self.masker.take().ok_or_else(|| self.lost())
    }

    /// The framework's error.
    fn failed(&self, source: MaskError) -> DecodeError {
        DecodeError::Mask {
            framework: self.framework.clone(),
            source,
        }
    }

    /// The error of a masker that did not come back from its thread.
    fn lost(&self) -> DecodeError {
        self.failed(lost())
    }
}

fn lost() -> MaskError {
    MaskError::Internal("its mask thread is gone".to_owned())
}
