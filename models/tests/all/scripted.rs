//! A model and frameworks that do exactly as told, for tests of the decode loop.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candle_core::{Device, Tensor};
use maskwright::{MaskError, Masker, TokenId, TokenMask};
use maskwright_models::{LanguageModel, ModelError, Snapshot};

pub(crate) const VOCABULARY: usize = 40;
pub(crate) const EOS: TokenId = 39;
pub(crate) const OTHER_EOS: TokenId = 38;

/// A model that likes the token one above the last one best, then the one two above, and so on.
#[derive(Default)]
pub(crate) struct Counter {
    pub(crate) sequence: Vec<u32>,
    /// Every batch appended, in order.
    pub(crate) batches: Arc<Mutex<Vec<Vec<u32>>>>,
    pub(crate) max_positions: usize,
    /// The most tokens that there is memory for ahead.
    pub(crate) reservable: usize,
    /// Time of a pass.
    pub(crate) pause: Duration,
}

impl Counter {
    pub(crate) fn new() -> Self {
        Self {
            max_positions: 1_000,
            reservable: usize::MAX,
            ..Self::default()
        }
    }
}

impl LanguageModel for Counter {
    fn vocab_size(&self) -> usize {
        VOCABULARY
    }
    fn max_positions(&self) -> usize {
        self.max_positions
    }
    fn position(&self) -> usize {
        self.sequence.len()
    }
    fn append(&mut self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        std::thread::sleep(self.pause);
        self.batches.lock().unwrap().push(tokens.to_vec());
        self.sequence.extend_from_slice(tokens);
        let last = *tokens.last().ok_or(ModelError::NothingToAppend)? as usize;
        let logits: Vec<f32> = (0..VOCABULARY)
            .map(|token| -(((token + VOCABULARY - last - 1) % VOCABULARY) as f32))
            .collect();
        Ok(Tensor::new(logits, &Device::Cpu).unwrap())
    }
    fn reserve(&mut self, tokens: usize) -> Result<(), ModelError> {
        if tokens <= self.reservable {
            return Ok(());
        }
        Err(ModelError::Compute {
            model: "counter".to_owned(),
            what: "making room",
            message: format!("no memory for {tokens} tokens"),
        })
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.sequence.len(), 0)
    }
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), ModelError> {
        self.sequence.truncate(snapshot.position());
        Ok(())
    }
    fn reset(&mut self) {
        self.sequence.clear();
    }
}

/// A real model during whose first pass the caller asks to stop, or time goes by.
pub(crate) struct Interrupted<'a> {
    pub(crate) model: Box<dyn LanguageModel>,
    /// The flag that is set; `None` where the caller does not ask.
    pub(crate) cancel: Option<&'a AtomicBool>,
    /// Time of the first pass.
    pub(crate) pause: Duration,
    /// How often the model has asked whether to stop.
    pub(crate) asked: Cell<usize>,
}

impl LanguageModel for Interrupted<'_> {
    fn vocab_size(&self) -> usize {
        self.model.vocab_size()
    }
    fn max_positions(&self) -> usize {
        self.model.max_positions()
    }
    fn position(&self) -> usize {
        self.model.position()
    }
    fn append(&mut self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        self.model.append(tokens)
    }
    fn append_unless(&mut self, tokens: &[u32], is_stopped: &dyn Fn() -> bool) -> Result<Option<Tensor>, ModelError> {
        if let Some(cancel) = self.cancel {
            cancel.store(true, Ordering::Relaxed);
        }
        std::thread::sleep(self.pause);
        let asked = &self.asked;
        let count = || {
            asked.set(asked.get() + 1);
            is_stopped()
        };
        self.model.append_unless(tokens, &count)
    }
    fn snapshot(&self) -> Snapshot {
        self.model.snapshot()
    }
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), ModelError> {
        self.model.restore(snapshot)
    }
    fn reset(&mut self) {
        self.model.reset();
    }
}

/// Behaviour of a [`Scripted`] masker after a number of tokens.
#[derive(Clone)]
pub(crate) enum Step {
    Allow(Vec<TokenId>),
    Force(Vec<TokenId>),
    Panic,
    Hang,
    Fail,
}

/// A masker that follows a script, one step per token.
pub(crate) struct Scripted {
    pub(crate) script: Vec<Step>,
    pub(crate) position: usize,
    pub(crate) mask: TokenMask,
}

impl Scripted {
    fn step(&self) -> Step {
        self.script.get(self.position).cloned().unwrap_or(Step::Allow(vec![]))
    }
}

impl Masker for Scripted {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        self.mask.clear();
        match self.step() {
            Step::Allow(tokens) => tokens.iter().for_each(|&token| assert!(self.mask.allow(token))),
            Step::Force(tokens) => assert!(self.mask.allow(tokens[0])),
            Step::Panic => panic!("as scripted"),
            Step::Hang => std::thread::sleep(Duration::from_secs(20)),
            Step::Fail => return Err(MaskError::LimitExceeded("as scripted".to_owned())),
        }
        Ok(&self.mask)
    }
    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        let position = self.position;
        if !self.mask()?.allows(token) {
            return Err(MaskError::TokenRefused { token, position });
        }
        self.position += 1;
        Ok(())
    }
    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.mask()?.allows(EOS))
    }
    fn position(&self) -> usize {
        self.position
    }
    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        if let Step::Force(forced) = self.step() {
            tokens.extend(forced);
        }
        Ok(())
    }
    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Err(MaskError::Internal("not scripted".to_owned()))
    }
    fn rollback(&mut self, _: usize) -> Result<(), MaskError> {
        Err(MaskError::Internal("not scripted".to_owned()))
    }
}

/// Documents of nested parentheses: every token up to 30 opens one, 31 closes one.
pub(crate) struct Nested {
    pub(crate) depths: Vec<usize>,
    pub(crate) mask: TokenMask,
}

impl Masker for Nested {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        self.mask.clear();
        let depth = self.depths[self.depths.len() - 1];
        (1..=30).for_each(|token| assert!(self.mask.allow(token)));
        assert!(self.mask.allow(if depth == 0 { EOS } else { 31 }));
        Ok(&self.mask)
    }
    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        assert!(self.mask()?.allows(token));
        let depth = self.depths[self.depths.len() - 1];
        self.depths.push(if token == 31 { depth - 1 } else { depth + 1 });
        Ok(())
    }
    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.mask()?.allows(EOS))
    }
    fn position(&self) -> usize {
        self.depths.len() - 1
    }
    fn forced_tokens(&mut self, _: &mut Vec<TokenId>) -> Result<(), MaskError> {
        Ok(())
    }
    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        tokens.extend(vec![31; self.depths[self.depths.len() - 1]]);
        Ok(true)
    }
    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Err(MaskError::Internal("not needed".to_owned()))
    }
    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        self.depths.truncate(self.depths.len() - tokens);
        Ok(())
    }
}

/// Documents of one token, or of token 5, a forced 6 and then as many 7 as no answer has room for.
pub(crate) struct Endless {
    pub(crate) tokens: Vec<TokenId>,
    pub(crate) mask: TokenMask,
}

impl Masker for Endless {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        self.mask.clear();
        let allowed = match self.tokens.len() {
            0 => 3..=9,
            _ if self.tokens[0] != 5 => EOS..=EOS,
            1 => 6..=6,
            _ => 7..=8,
        };
        allowed.for_each(|token| assert!(self.mask.allow(token)));
        Ok(&self.mask)
    }
    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        assert!(self.mask()?.allows(token));
        self.tokens.push(token);
        Ok(())
    }
    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.mask()?.allows(EOS))
    }
    fn position(&self) -> usize {
        self.tokens.len()
    }
    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        if self.tokens == [5] {
            tokens.push(6);
        }
        Ok(())
    }
    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        match self.tokens.first() {
            None => tokens.push(9),
            Some(5) => tokens.extend([7; 500]),
            Some(_) => (),
        }
        Ok(true)
    }
    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Err(MaskError::Internal("not needed".to_owned()))
    }
    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        self.tokens.truncate(self.tokens.len() - tokens);
        Ok(())
    }
}

/// A scripted masker that notes which tokens it is told to prepare for, and after how many tokens.
pub(crate) struct Speculating {
    pub(crate) masker: Scripted,
    pub(crate) speculated: Arc<Mutex<Vec<(usize, TokenId)>>>,
}

impl Masker for Speculating {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        self.masker.mask()
    }
    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        self.masker.advance(token)
    }
    fn is_complete(&mut self) -> Result<bool, MaskError> {
        self.masker.is_complete()
    }
    fn position(&self) -> usize {
        self.masker.position()
    }
    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        self.masker.forced_tokens(tokens)
    }
    fn speculate(&mut self, token: TokenId) {
        self.speculated.lock().unwrap().push((self.position(), token));
    }
    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        self.masker.fork()
    }
    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        self.masker.rollback(tokens)
    }
}
