//! The decode loop: prompt, forward passes, masks, tokens, with the times of each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use maskwright::{MaskError, Masker, TokenId};

use crate::in_time::Plan;
use crate::language_model::logits_to_host;
use crate::likely::LikelyTokens;
use crate::mask_thread::{self, Job, MaskThread, Masked};
use crate::{LanguageModel, ModelError, Sampler, SamplingOptions, Snapshot};

/// Tokens passed over for one place in an answer because of its limit, before the shortest way to its end is taken.
const MAX_PASSED_OVER: usize = 32;
/// Time that the first forward pass, over the prompt, is taken to last at least.
const SHORT_PASS: Duration = Duration::from_millis(1);

/// When an answer ends, and how its tokens are chosen.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// How tokens are chosen.
    pub sampling: SamplingOptions,
    /// Token ids that end an answer.
    pub eos_tokens: Vec<TokenId>,
    /// Largest number of tokens of an answer. The end-of-sequence token is not counted; an answer that has this
    /// many tokens is not given another forward pass to see whether it would have ended there.
    pub max_tokens: usize,
    /// Longest time for an answer, prompt processing included.
    pub time_limit: Option<Duration>,
    /// Whether tokens that the masker forces are appended without being sampled.
    pub fast_forward: bool,
    /// Whether tokens are passed over after which the document could not be ended within `max_tokens` and the model's
    /// context, where the framework can tell ([`Masker::completion`]).
    pub finish_in_time: bool,
    /// Whether masks are computed on another thread while the forward pass runs.
    pub overlap: bool,
}

/// One token of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedToken {
    /// The token.
    pub id: TokenId,
    /// Whether the masker forced it, so that it was not sampled.
    pub forced: bool,
    /// When it was known, since the start of the generation.
    pub at: Duration,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model chose an end-of-sequence token, or nothing else was allowed.
    EndOfSequence,
    /// [`DecodeOptions::max_tokens`] was reached.
    TokenLimit,
    /// [`DecodeOptions::time_limit`] was reached.
    TimeLimit,
    /// The model's context is full.
    ContextFull,
    /// The caller asked to stop.
    Cancelled,
}

/// Why an answer could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The framework failed.
    #[error("framework {framework}: {source}")]
    Mask {
        /// The framework's name.
        framework: String,
        /// What it said.
        source: MaskError,
    },
    /// The framework allowed no token at all, not even the end: a dead end, from which nothing is sampled.
    #[error("framework {framework} allows no token after {position} tokens: a dead end")]
    DeadEnd {
        /// The framework's name.
        framework: String,
        /// Number of tokens before the dead end.
        position: usize,
    },
}

/// Times of the masks of one generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskTimes {
    /// Number of masks computed.
    pub masks: usize,
    /// Time the framework worked: masks, accepting tokens, forced tokens, completions.
    pub total: Duration,
    /// The part of it that the forward passes did not hide, and the time it took to have it done on another thread.
    pub exposed: Duration,
    /// Time for which likely tokens were prepared while forward passes ran ([`Masker::speculate`]); not part of the above.
    pub prepared: Duration,
}

/// An answer, as far as it came, and what it cost.
#[derive(Debug)]
pub struct Generation {
    /// The answer's tokens, the end-of-sequence token not included.
    pub tokens: Vec<GeneratedToken>,
    /// Why the answer ended. An error leaves the tokens before it in place.
    pub finish: Result<FinishReason, DecodeError>,
    /// Time of the whole generation.
    pub total: Duration,
    /// Number of forward passes, the prompt's included.
    pub forward_passes: usize,
    /// Times of the masks; zero where nothing was masked.
    pub mask_times: MaskTimes,
}

impl Generation {
    /// The answer's token ids.
    pub fn token_ids(&self) -> Vec<TokenId> {
        self.tokens.iter().map(|token| token.id).collect()
    }

    /// Number of forced tokens.
    pub fn forced_tokens(&self) -> usize {
        self.tokens.iter().filter(|token| token.forced).count()
    }

    /// Time to the first token; `None` where there is none.
    pub fn time_to_first_token(&self) -> Option<Duration> {
        self.tokens.first().map(|token| token.at)
    }

    /// Mean time per token after the first, forced ones included; `None` below two tokens.
    pub fn time_per_output_token(&self) -> Option<Duration> {
        let (first, last) = (self.tokens.first()?, self.tokens.last()?);
        let steps = u32::try_from(self.tokens.len() - 1).ok().filter(|&steps| steps > 0)?;
        Some((last.at - first.at) / steps)
    }
}

/// A masker at work in a generation, with the name its errors are told under.
pub struct Constraint {
    /// The framework's name.
    pub framework: String,
    /// A masker at the start of a document.
    pub masker: Box<dyn Masker>,
}

/// Generates an answer to `prompt`, constrained where there is a constraint.
///
/// The model is reset first. Masks are computed while the forward pass runs, tokens that the masker forces
/// are appended to the next forward pass, and nothing is ever sampled from an empty mask. `cancel` is looked
/// at before every forward pass.
pub fn generate(
    model: &mut dyn LanguageModel,
    prompt: &[TokenId],
    constraint: Option<Constraint>,
    options: &DecodeOptions,
    cancel: &AtomicBool,
) -> Generation {
    let mut decoder = Decoder {
        model,
        options,
        cancel,
        sampler: Sampler::new(options.sampling.clone()),
        start: Instant::now(),
        tokens: Vec::new(),
        logits: Vec::new(),
        earlier_logits: Vec::new(),
        forward_passes: 0,
        mask_times: MaskTimes::default(),
        shortest_pass: None,
        plan: Plan::default(),
        trial: None,
    };
    let finish = match decoder.model.thread_pool() {
        Some(pool) => pool.install(|| decoder.run(prompt, constraint)),
        None => decoder.run(prompt, constraint),
    };
    Generation {
        finish,
        total: decoder.start.elapsed(),
        tokens: decoder.tokens,
        forward_passes: decoder.forward_passes,
        mask_times: decoder.mask_times,
    }
}

struct Decoder<'a> {
    model: &'a mut dyn LanguageModel,
    options: &'a DecodeOptions,
    cancel: &'a AtomicBool,
    sampler: Sampler,
    start: Instant,
    tokens: Vec<GeneratedToken>,
    logits: Vec<f32>,
    /// Those of the pass before.
    earlier_logits: Vec<f32>,
    forward_passes: usize,
    mask_times: MaskTimes,
    /// Time of the shortest forward pass so far.
    shortest_pass: Option<Duration>,
    plan: Plan,
    trial: Option<Trial>,
}

/// A token taken before it was known whether the document can be ended in time after it: that is found out while the
/// forward pass runs, which is in vain in the rare case that it cannot.
struct Trial {
    token: TokenId,
    /// The model's sequence before it.
    sequence: Snapshot,
    /// Number of tokens of the answer before it.
    tokens: usize,
}

/// What to do after a token was chosen.
enum Next {
    /// Append these tokens to the model's sequence.
    Append(Vec<TokenId>),
    Finish(FinishReason),
}

impl Decoder<'_> {
    fn run(&mut self, prompt: &[TokenId], constraint: Option<Constraint>) -> Result<FinishReason, DecodeError> {
        self.model.reset();
        let deadline = self.options.time_limit.and_then(|limit| self.start.checked_add(limit));
        let mut masks = constraint.map(|constraint| Masks::new(constraint, self.options.overlap, deadline));
        let mut pending = prompt.to_vec();
        loop {
            if let Some(reason) = self.stop_before(pending.len()) {
                return Ok(reason);
            }
            let token = match masks.as_mut() {
                None => self.sample_freely(&pending)?,
                Some(masks) => match self.sample_masked(&pending, masks)? {
                    Some(token) => token,
                    None => return Ok(FinishReason::TimeLimit),
                },
            };
            match self.accept(token, masks.as_mut())? {
                Next::Append(tokens) => pending = tokens,
                Next::Finish(reason) => return Ok(reason),
            }
        }
    }

    /// Whether to stop rather than append `added` tokens.
    fn stop_before(&self, added: usize) -> Option<FinishReason> {
        if self.cancel.load(Ordering::Relaxed) {
            return Some(FinishReason::Cancelled);
        }
        if self
            .options
            .time_limit
            .is_some_and(|limit| self.start.elapsed() >= limit)
        {
            return Some(FinishReason::TimeLimit);
        }
        if self.tokens.len() >= self.options.max_tokens {
            return Some(FinishReason::TokenLimit);
        }
        if self.model.position() + added > self.model.max_positions() {
            return Some(FinishReason::ContextFull);
        }
        None
    }

    /// One forward pass over `tokens`; the logits are on the host afterwards.
    fn forward(&mut self, tokens: &[TokenId]) -> Result<(), DecodeError> {
        self.forward_passes += 1;
        std::mem::swap(&mut self.logits, &mut self.earlier_logits);
        let logits = self.model.append(tokens)?;
        logits_to_host(&logits, &mut self.logits)?;
        Ok(())
    }

    fn sample_freely(&mut self, tokens: &[TokenId]) -> Result<TokenId, DecodeError> {
        self.forward(tokens)?;
        self.sampler.observe(tokens);
        self.sampler
            .sample(&self.logits, None)
            .ok_or_else(|| dead_end("none", self.tokens.len()))
    }

    /// Appends `tokens` and chooses from the mask computed meanwhile; `None` where the mask was not there in time.
    fn sample_masked(&mut self, tokens: &[TokenId], masks: &mut Masks) -> Result<Option<TokenId>, DecodeError> {
        let handing_over = Instant::now();
        let idle = self.shortest_pass.unwrap_or(SHORT_PASS) / 2;
        masks.begin(tokens, self.options.finish_in_time, idle)?;
        let running = Instant::now();
        self.mask_times.exposed += running - handing_over;
        self.forward(tokens)?;
        let waiting = Instant::now();
        let pass = waiting - running;
        self.shortest_pass = Some(self.shortest_pass.map_or(pass, |shortest| shortest.min(pass)));
        let Some(Finished { worked, prepared, rest }) = masks.finish()? else {
            return Ok(None);
        };
        self.mask_times.masks += 1;
        self.mask_times.total += worked;
        self.mask_times.prepared += prepared;
        self.mask_times.exposed += waiting.elapsed();
        let room = self.room();
        if let Some(trial) = self.trial.take()
            && !Plan::fits(rest.as_deref(), room + 1)
        {
            return self.take_back(trial, masks).map(Some);
        }
        self.plan.learn(rest, room + 1);
        self.sampler.observe(tokens);
        let mask = masks.ready_mask()?;
        let Some(token) = self.sampler.sample(&self.logits, Some(mask)) else {
            return Err(dead_end(&masks.framework, self.tokens.len()));
        };
        if !self.options.finish_in_time {
            return Ok(Some(token));
        }
        if self.plan.is_roomy(room) {
            self.trial = Some(Trial {
                token,
                sequence: self.model.snapshot(),
                tokens: self.tokens.len(),
            });
            return Ok(Some(token));
        }
        self.in_time(token, masks).map(Some)
    }

    /// Goes back to before a token after which the document cannot be ended in time, and chooses another.
    fn take_back(&mut self, trial: Trial, masks: &mut Masks) -> Result<TokenId, DecodeError> {
        masks.rollback(self.tokens.len() - trial.tokens)?;
        self.tokens.truncate(trial.tokens);
        self.model.restore(&trial.sequence)?;
        std::mem::swap(&mut self.logits, &mut self.earlier_logits);
        self.in_time(trial.token, masks)
    }

    /// `token`, or the most likely other token after which the document can be ended in time.
    fn in_time(&mut self, mut token: TokenId, masks: &mut Masks) -> Result<TokenId, DecodeError> {
        if !self.plan.is_known() {
            return Ok(token);
        }
        let working = Instant::now();
        let room = self.room();
        for attempt in 0.. {
            if self.options.eos_tokens.contains(&token) {
                break;
            }
            let rest = masks.completion_after(token)?;
            if self.plan.admits(token, rest, room) {
                break;
            }
            self.logits[token as usize] = f32::NEG_INFINITY;
            let other = match attempt < MAX_PASSED_OVER {
                true => self.sampler.sample(&self.logits, Some(masks.ready_mask()?)),
                false => None,
            };
            let passed_over = |token: &TokenId| self.logits[*token as usize] != f32::NEG_INFINITY;
            token = match other.filter(passed_over).or(self.plan.next()) {
                Some(other) => other,
                // Nothing is planned where the document can end here.
                None => match masks.allowed_end(&self.options.eos_tokens)? {
                    Some(end) => end,
                    None => break,
                },
            };
        }
        let worked = working.elapsed();
        self.mask_times.total += worked;
        self.mask_times.exposed += worked;
        Ok(token)
    }

    /// Tokens that may still follow the next one.
    fn room(&self) -> usize {
        let context = self.model.max_positions().saturating_sub(self.model.position());
        let limit = self.options.max_tokens.saturating_sub(self.tokens.len());
        // The limit's last token leaves no pass to choose the end with.
        limit.min(context).saturating_sub(2)
    }

    /// Takes `token`, tells the masker, and adds what the masker forces after it.
    fn accept(&mut self, token: TokenId, masks: Option<&mut Masks>) -> Result<Next, DecodeError> {
        if self.options.eos_tokens.contains(&token) {
            return Ok(Next::Finish(FinishReason::EndOfSequence));
        }
        let mut pending = vec![token];
        self.push(token, false);
        if let Some(masks) = masks {
            let working = Instant::now();
            let ended = self.advance(token, masks, &mut pending)?;
            let worked = working.elapsed();
            self.mask_times.total += worked;
            self.mask_times.exposed += worked;
            if ended {
                return Ok(Next::Finish(FinishReason::EndOfSequence));
            }
        }
        Ok(Next::Append(pending))
    }

    /// Tells the masker of `token`, and appends to `pending` what it forces. True where it forces the end.
    fn advance(&mut self, token: TokenId, masks: &mut Masks, pending: &mut Vec<TokenId>) -> Result<bool, DecodeError> {
        let mut forced = Vec::new();
        masks.advance(token)?;
        if self.options.fast_forward && !self.plan.is_binding() {
            masks.forced_tokens(&mut forced)?;
            if !self.plan.has_room_for(forced.len(), self.room()) {
                forced.clear();
            }
        }
        for token in forced {
            if self.options.eos_tokens.contains(&token) {
                return Ok(true);
            }
            if self.tokens.len() >= self.options.max_tokens {
                break;
            }
            masks.advance(token)?;
            pending.push(token);
            self.push(token, true);
        }
        Ok(false)
    }

    fn push(&mut self, id: TokenId, forced: bool) {
        let at = self.start.elapsed();
        self.tokens.push(GeneratedToken { id, forced, at });
    }
}

fn dead_end(framework: &str, position: usize) -> DecodeError {
    DecodeError::DeadEnd {
        framework: framework.to_owned(),
        position,
    }
}

/// What a mask took, which is ready.
struct Finished {
    /// Time it took to compute, with the completion.
    worked: Duration,
    /// Time for which likely tokens were prepared.
    prepared: Duration,
    /// Tokens that end the document, where they were asked for and the framework can tell.
    rest: Option<Vec<TokenId>>,
}

/// A masker that is either at hand or away on the mask thread.
struct Masks {
    framework: String,
    deadline: Option<Instant>,
    thread: Option<MaskThread>,
    masker: Option<Box<dyn Masker>>,
    /// A mask that was computed at once, for want of a thread.
    done: Option<Masked>,
}

impl Masks {
    fn new(constraint: Constraint, overlap: bool, deadline: Option<Instant>) -> Self {
        Self {
            framework: constraint.framework,
            deadline,
            thread: if overlap { MaskThread::start() } else { None },
            masker: Some(constraint.masker),
            done: None,
        }
    }

    /// Has the next mask computed, and with `completion` how the document can be ended, while the model reads `tokens`. On
    /// another thread what is left of the time `idle` is used to prepare likely tokens.
    fn begin(&mut self, tokens: &[TokenId], completion: bool, idle: Duration) -> Result<(), DecodeError> {
        let mut job = Job {
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
        self.done = Some(mask_thread::compute(job, &mut LikelyTokens::default()));
        Ok(())
    }

    /// Waits for what was begun; `None` past the deadline.
    fn finish(&mut self) -> Result<Option<Finished>, DecodeError> {
        let masked = match (self.done.take(), &self.thread) {
            (Some(masked), _) => masked,
            (None, Some(thread)) => match thread.receive(self.deadline) {
                Some(masked) => masked,
                None => return Ok(None),
            },
            (None, None) => return Err(self.lost()),
        };
        self.masker = Some(masked.masker);
        let rest = masked.outcome.map_err(|error| self.failed(error))?;
        Ok(Some(Finished {
            worked: masked.worked,
            prepared: masked.prepared,
            rest,
        }))
    }

    /// The mask that was computed last.
    fn ready_mask(&mut self) -> Result<&maskwright::TokenMask, DecodeError> {
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
    fn allowed_end(&mut self, eos_tokens: &[TokenId]) -> Result<Option<TokenId>, DecodeError> {
        let mask = self.ready_mask()?;
        Ok(eos_tokens.iter().copied().find(|token| mask.allows(*token)))
    }

    fn advance(&mut self, token: TokenId) -> Result<(), DecodeError> {
        self.with_masker(|masker| masker.advance(token))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), DecodeError> {
        self.with_masker(|masker| masker.rollback(tokens))
    }

    /// Tokens that end the document after `token`, where the framework can tell. The masker stays where it is.
    fn completion_after(&mut self, token: TokenId) -> Result<Option<Vec<TokenId>>, DecodeError> {
        self.advance(token)?;
        let mut tokens = Vec::new();
        let found = self.with_masker(|masker| masker.completion(&mut tokens))?;
        self.rollback(1)?;
        Ok(found.then_some(tokens))
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), DecodeError> {
        self.with_masker(|masker| masker.forced_tokens(tokens))
    }

    /// Calls the framework, turning its panics into its errors.
    fn with_masker<T>(&mut self, call: impl FnOnce(&mut dyn Masker) -> Result<T, MaskError>) -> Result<T, DecodeError> {
        let mut masker = self.take()?;
        let outcome = mask_thread::guard(|| call(masker.as_mut()));
        self.masker = Some(masker);
        outcome.map_err(|error| self.failed(error))
    }

    fn take(&mut self) -> Result<Box<dyn Masker>, DecodeError> {
        self.masker.take().ok_or_else(|| self.lost())
    }

    fn failed(&self, source: MaskError) -> DecodeError {
        DecodeError::Mask {
            framework: self.framework.clone(),
            source,
        }
    }

    fn lost(&self) -> DecodeError {
        self.failed(lost())
    }
}

fn lost() -> MaskError {
    MaskError::Internal("its mask thread is gone".to_owned())
}
