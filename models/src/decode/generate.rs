//! [`generate`]: the decode loop of forward passes, masks and tokens, with the times of each.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use candle_core::Tensor;
use maskwright::{TokenId, TokenMask};

use crate::decode::generation::{DecodeError, FinishReason, GeneratedToken, Generation, MaskTimes, ReasoningSpan};
use crate::decode::mask_effect::MaskEffect;
use crate::decode::options::{Constraint, DecodeOptions};
use crate::decode::overlapped_masker::OverlappedMasker;
use crate::decode::sampler::Sampler;
use crate::decode::token_budget::CompletionPlan;
use crate::error::ModelError;
use crate::language_model::{LanguageModel, Snapshot, logits_to_host};
use crate::network::transformer::FIRST_ROOM;
use crate::prompt::reasoning::Reasoning;

/// Tokens passed over at one position of an answer because of its token budget, before the shortest way to its end is taken.
const MAX_PASSED_OVER: usize = 32;
/// Time that a forward pass is assumed to take as long as none has been measured.
const SHORT_PASS: Duration = Duration::from_millis(1);

/// Generates an answer to `prompt`, constrained where there is a constraint, after reasoning where the options allow that.
///
/// The model is reset first. Masks are computed while the forward pass runs, tokens that the masker forces are appended to the next forward
/// pass, and nothing is ever sampled from an empty mask. `cancel` is read before every forward pass, and between the parts that a long
/// prompt is read in. Memory is reserved for the prompt and up to 4,096 tokens behind it; longer answers allocate more when they need it.
/// Errors are in [`Generation::finish`].
pub fn generate(
    model: &mut dyn LanguageModel,
    prompt: &[TokenId],
    constraint: Option<Constraint>,
    options: &DecodeOptions,
    cancel: &AtomicBool,
) -> Generation {
    generate_after(model, None, prompt, constraint, options, cancel)
}

/// Generates an answer as [`generate`] does. Where the model still has the beginning of the prompt in its sequence, up to the
/// snapshot `read`, only the rest of the prompt is appended.
pub fn generate_after(
    model: &mut dyn LanguageModel,
    read: Option<&Snapshot>,
    prompt: &[TokenId],
    constraint: Option<Constraint>,
    options: &DecodeOptions,
    cancel: &AtomicBool,
) -> Generation {
    let reasoning = options.reasoning.as_ref().map_or(0, Reasoning::longest);
    let answer = options.max_tokens.saturating_add(reasoning).min(FIRST_ROOM);
    let reserved = model.reserve(prompt.len().saturating_add(answer));
    let mut decoder = Decoder {
        model,
        read,
        options,
        cancel,
        sampler: Sampler::new(options.sampling.clone()),
        start: Instant::now(),
        total: Duration::ZERO,
        reasoning: None,
        tokens: Vec::new(),
        logits: Logits::default(),
        earlier_logits: Logits::default(),
        forward_passes: 0,
        mask_times: MaskTimes::default(),
        shortest_pass: None,
        completion_plan: CompletionPlan::default(),
        provisional: None,
        budget_intervened: false,
        mask_effects: Vec::new(),
    };
    let finish = match (reserved, decoder.model.thread_pool()) {
        (Err(error), _) => Err(error.into()),
        (Ok(()), Some(pool)) => pool.install(|| decoder.run(prompt, constraint)),
        (Ok(()), None) => decoder.run(prompt, constraint),
    };
    Generation {
        finish,
        total: decoder.total,
        reasoning: decoder.reasoning,
        tokens: decoder.tokens,
        forward_passes: decoder.forward_passes,
        mask_times: decoder.mask_times,
        budget_intervened: decoder.budget_intervened,
        mask_effects: decoder.mask_effects.into_iter().map(|(_, effect)| effect).collect(),
    }
}

/// The state of one generation.
struct Decoder<'a> {
    model: &'a mut dyn LanguageModel,
    /// Snapshot at the end of the part of the prompt that the model has already read.
    read: Option<&'a Snapshot>,
    options: &'a DecodeOptions,
    cancel: &'a AtomicBool,
    sampler: Sampler,
    start: Instant,
    /// Time of the whole generation, once it has ended.
    total: Duration,
    reasoning: Option<ReasoningSpan>,
    tokens: Vec<GeneratedToken>,
    logits: Logits,
    /// Logits of the pass before the last.
    earlier_logits: Logits,
    forward_passes: usize,
    mask_times: MaskTimes,
    /// Time of the shortest forward pass so far.
    shortest_pass: Option<Duration>,
    completion_plan: CompletionPlan,
    provisional: Option<ProvisionalToken>,
    /// Whether a token was passed over because of the token budget.
    budget_intervened: bool,
    /// Effects of the masks, each with the number of answer tokens before it.
    mask_effects: Vec<(usize, MaskEffect)>,
}

/// The logits of a forward pass, brought to the host only where something asks for them there.
#[derive(Default)]
struct Logits {
    /// The logits on the model's device; `None` before the first pass.
    tensor: Option<Tensor>,
    host: Vec<f32>,
    on_host: bool,
}

impl Logits {
    /// The logits on the host. Waits for the pass that computes them.
    fn host(&mut self) -> Result<&mut Vec<f32>, ModelError> {
        if let (false, Some(tensor)) = (self.on_host, &self.tensor) {
            logits_to_host(tensor, &mut self.host)?;
            self.on_host = true;
        }
        Ok(&mut self.host)
    }
}

/// A token taken before it was known whether the document can be ended within the token budget after it. That is found out
/// while the forward pass over the token runs, which is in vain in the rare case that it cannot.
struct ProvisionalToken {
    token: TokenId,
    /// The model's sequence before the token.
    sequence: Snapshot,
    /// Number of tokens of the answer before the token.
    tokens: usize,
}

/// The reason from outside to stop an answer that began at `start`: the caller asks for it, or the time limit is reached.
fn interruption(cancel: &AtomicBool, options: &DecodeOptions, start: Instant) -> Option<FinishReason> {
    if cancel.load(Ordering::Relaxed) {
        return Some(FinishReason::Cancelled);
    }
    let is_late = options.time_limit.is_some_and(|limit| start.elapsed() >= limit);
    is_late.then_some(FinishReason::TimeLimit)
}

/// The next step after a token was chosen.
enum NextStep {
    /// The tokens to append to the model's sequence.
    Append(Vec<TokenId>),
    /// The answer ends.
    Finish(FinishReason),
}

impl Decoder<'_> {
    /// Writes the whole answer.
    fn run(&mut self, prompt: &[TokenId], constraint: Option<Constraint>) -> Result<FinishReason, DecodeError> {
        let read = self.start_after_prefix(prompt);
        let deadline = self.options.time_limit.and_then(|limit| self.start.checked_add(limit));
        let overlap = self.options.overlap;
        let mut masker = constraint.map(|constraint| OverlappedMasker::new(constraint, overlap, deadline));
        let finish = self.write(prompt, read, masker.as_mut());
        // Releasing the masker, which may take a worker's time, is no part of the answer.
        self.total = self.start.elapsed();
        finish
    }

    /// Writes the answer to `prompt`, of which the model has read the first `read` tokens.
    fn write(
        &mut self,
        prompt: &[TokenId],
        read: usize,
        mut masker: Option<&mut OverlappedMasker>,
    ) -> Result<FinishReason, DecodeError> {
        let mut pending = prompt[read..].to_vec();
        if let Some(reasoning) = &self.options.reasoning
            && let Some(reason) = self.reason(reasoning, prompt, masker.is_some(), &mut pending)?
        {
            return Ok(reason);
        }
        loop {
            if let Some(reason) = self.stop_before(pending.len()) {
                return Ok(reason);
            }
            let sampled = match masker.as_deref_mut() {
                None => self.sample_freely(&pending)?,
                Some(masker) => self.sample_masked(&pending, masker)?,
            };
            let token = match sampled {
                ControlFlow::Continue(token) => token,
                ControlFlow::Break(reason) => return Ok(reason),
            };
            match self.accept(token, masker.as_deref_mut())? {
                NextStep::Append(tokens) => pending = tokens,
                NextStep::Finish(reason) => return Ok(reason),
            }
        }
    }

    /// Lets the model reason after `pending`, the end of `prompt`; `pending` is then the tokens that the model reads before its
    /// answer. Returns the finish reason of the answer, if the answer ends with the reasoning.
    ///
    /// An unconstrained model may end its turn without having begun to reason: its text was its answer then, and is held to an
    /// answer's limit on tokens.
    fn reason(
        &mut self,
        reasoning: &Reasoning,
        prompt: &[TokenId],
        is_constrained: bool,
        pending: &mut Vec<TokenId>,
    ) -> Result<Option<FinishReason>, DecodeError> {
        let context = self
            .model
            .max_positions()
            .saturating_sub(self.model.position() + pending.len());
        // Half of the context is left to the answer.
        let limit = reasoning.max_tokens.min(context / 2);
        let mut reader = reasoning.reader();
        let mut written: Vec<GeneratedToken> = Vec::new();
        let (finish, cut) = loop {
            if let Some(reason) = self.stop_before(pending.len()) {
                break (Some(reason), true);
            }
            if written.len() >= limit {
                pending.extend(&reasoning.closing);
                break (None, true);
            }
            let id = match self.sample_freely(pending)? {
                ControlFlow::Continue(id) => id,
                ControlFlow::Break(reason) => break (Some(reason), true),
            };
            if self.options.eos_tokens.contains(&id) {
                if is_constrained {
                    pending.clone_from(&reasoning.closing);
                    break (None, true);
                }
                if reasoning.has_begun(prompt, written.iter().map(|token| token.id)) {
                    break (Some(FinishReason::EndOfSequence), true);
                }
                let has_room = written.len() <= self.options.max_tokens;
                written.truncate(self.options.max_tokens);
                self.tokens = written;
                return Ok(Some(match has_room {
                    true => FinishReason::EndOfSequence,
                    false => FinishReason::TokenLimit,
                }));
            }
            let at = self.start.elapsed();
            written.push(GeneratedToken { id, forced: false, at });
            match reader.read(id) {
                Some(before_answer) => {
                    *pending = before_answer;
                    break (None, false);
                }
                None => *pending = vec![id],
            }
        };
        let ends = written.first().zip(written.last());
        self.reasoning = Some(ReasoningSpan {
            tokens: written.len(),
            time: ends.map_or(Duration::ZERO, |(first, last)| last.at - first.at),
            cut,
        });
        Ok(finish)
    }

    /// Takes the model back to the part of the prompt that it has read already, or to the beginning. Returns the number of
    /// tokens of that part, after which at least one is left to append.
    fn start_after_prefix(&mut self, prompt: &[TokenId]) -> usize {
        if let Some(snapshot) = self.read
            && snapshot.position() < prompt.len()
            && self.model.restore(snapshot).is_ok()
        {
            self.sampler.observe(&prompt[..snapshot.position()]);
            return snapshot.position();
        }
        self.model.reset();
        0
    }

    /// Whether to stop rather than append `added` tokens.
    fn stop_before(&self, added: usize) -> Option<FinishReason> {
        if let Some(reason) = interruption(self.cancel, self.options, self.start) {
            return Some(reason);
        }
        if self.tokens.len() >= self.options.max_tokens {
            return Some(FinishReason::TokenLimit);
        }
        if self.model.position() + added > self.model.max_positions() {
            return Some(FinishReason::ContextFull);
        }
        None
    }

    /// One forward pass over `tokens`, which on a GPU is launched only. Returns the reason to stop if there was one before all of them
    /// were read.
    fn forward(&mut self, tokens: &[TokenId]) -> Result<Option<FinishReason>, DecodeError> {
        self.forward_passes += 1;
        std::mem::swap(&mut self.logits, &mut self.earlier_logits);
        let (cancel, options, start) = (self.cancel, self.options, self.start);
        let reason = || interruption(cancel, options, start);
        let Some(logits) = self.model.append_unless(tokens, &|| reason().is_some())? else {
            return Ok(Some(reason().unwrap_or(FinishReason::Cancelled)));
        };
        self.logits.tensor = Some(logits);
        self.logits.on_host = false;
        Ok(None)
    }

    /// Chooses a token by the logits of the last pass: where they are, if the model and the sampling options allow that. Waits for
    /// the pass. `None` where no token is allowed.
    fn choose(&mut self, mask: Option<&TokenMask>) -> Result<Option<TokenId>, ModelError> {
        if let Some(logits) = &self.logits.tensor
            && self.model.chooses_on_device()
            && let Some(choice) = self.sampler.choice()
        {
            return self.model.choose(logits, mask, choice);
        }
        Ok(self.sampler.sample(self.logits.host()?, mask))
    }

    /// Appends `tokens` and chooses any token, or returns the reason to stop.
    fn sample_freely(&mut self, tokens: &[TokenId]) -> Result<ControlFlow<FinishReason, TokenId>, DecodeError> {
        if let Some(reason) = self.forward(tokens)? {
            return Ok(ControlFlow::Break(reason));
        }
        self.sampler.observe(tokens);
        let token = self.choose(None)?;
        let token = token.ok_or_else(|| DecodeError::dead_end("none", self.tokens.len()))?;
        Ok(ControlFlow::Continue(token))
    }

    /// Appends `tokens` and chooses from the mask computed meanwhile, or returns the reason to stop: the time limit where the mask was not
    /// ready at the deadline.
    fn sample_masked(
        &mut self,
        tokens: &[TokenId],
        masker: &mut OverlappedMasker,
    ) -> Result<ControlFlow<FinishReason, TokenId>, DecodeError> {
        let idle = self.shortest_pass.unwrap_or(SHORT_PASS) / 2;
        let running;
        if self.model.chooses_on_device() {
            // The pass is launched only: it runs while the mask is handed over, too.
            running = Instant::now();
            if let Some(reason) = self.forward(tokens)? {
                return Ok(ControlFlow::Break(reason));
            }
            masker.begin(tokens, self.options.finish_in_time, idle)?;
        } else {
            let handing_over = Instant::now();
            masker.begin(tokens, self.options.finish_in_time, idle)?;
            running = Instant::now();
            self.mask_times.exposed += running - handing_over;
            if let Some(reason) = self.forward(tokens)? {
                return Ok(ControlFlow::Break(reason));
            }
        }
        let waiting = Instant::now();
        let Some(ready) = masker.finish()? else {
            return Ok(ControlFlow::Break(FinishReason::TimeLimit));
        };
        self.mask_times.masks += 1;
        self.mask_times.total += ready.work;
        self.mask_times.speculation += ready.speculation;
        // A GPU that is still computing hides the wait. Where it is not, when it ended is not known, and the whole wait counts.
        if !self.model.is_computing() {
            self.mask_times.exposed += waiting.elapsed();
        }
        let budget = self.budget_after_next();
        if let Some(provisional) = self.provisional.take()
            && !CompletionPlan::fits(ready.completion, budget + 1)
        {
            return self.replace(provisional, masker).map(ControlFlow::Continue);
        }
        self.completion_plan.learn(ready.completion, budget + 1);
        self.sampler.observe(tokens);
        let token = self.choose(Some(masker.mask()?))?;
        if self.options.mask_effects {
            let effect = MaskEffect::of(self.logits.host()?, masker.mask()?);
            self.mask_effects.push((self.tokens.len(), effect));
        }
        let pass = running.elapsed();
        self.shortest_pass = Some(self.shortest_pass.map_or(pass, |shortest| shortest.min(pass)));
        let Some(token) = token else {
            return Err(DecodeError::dead_end(&masker.framework, self.tokens.len()));
        };
        if !self.options.finish_in_time {
            return Ok(ControlFlow::Continue(token));
        }
        if self.completion_plan.is_far_below(budget) {
            self.provisional = Some(ProvisionalToken {
                token,
                sequence: self.model.snapshot(),
                tokens: self.tokens.len(),
            });
            return Ok(ControlFlow::Continue(token));
        }
        self.within_budget(token, masker).map(ControlFlow::Continue)
    }

    /// Takes back a token after which the document cannot be ended within the token budget, and chooses another.
    fn replace(
        &mut self,
        provisional: ProvisionalToken,
        masker: &mut OverlappedMasker,
    ) -> Result<TokenId, DecodeError> {
        masker.rollback(self.tokens.len() - provisional.tokens)?;
        self.tokens.truncate(provisional.tokens);
        self.mask_effects.retain(|(tokens, _)| *tokens <= provisional.tokens);
        self.model.restore(&provisional.sequence)?;
        std::mem::swap(&mut self.logits, &mut self.earlier_logits);
        self.within_budget(provisional.token, masker)
    }

    /// `token`, or the most likely other token after which the document can be ended within the token budget. Any token is
    /// taken where it is not known that the document can be ended in time at all: nothing can be lost there.
    fn within_budget(&mut self, mut token: TokenId, masker: &mut OverlappedMasker) -> Result<TokenId, DecodeError> {
        let budget = self.budget_after_next();
        if !self.completion_plan.is_in_reach(budget + 1) {
            return Ok(token);
        }
        let working = Instant::now();
        for attempt in 0.. {
            if self.options.eos_tokens.contains(&token) {
                break;
            }
            let completion = masker.completion_length_after(token)?;
            if self.completion_plan.admits(completion, budget) {
                break;
            }
            if !self.completion_plan.is_written() {
                self.completion_plan.write(masker.completion()?);
            }
            if self.completion_plan.takes(token) {
                break;
            }
            self.budget_intervened = true;
            let logits = self.logits.host()?;
            logits[token as usize] = f32::NEG_INFINITY;
            let other = match attempt < MAX_PASSED_OVER {
                true => self.sampler.sample(logits, Some(masker.mask()?)),
                false => None,
            };
            let not_passed_over = |token: &TokenId| logits[*token as usize] != f32::NEG_INFINITY;
            token = match other.filter(not_passed_over).or(self.completion_plan.next()) {
                Some(other) => other,
                // Nothing is planned where the document can end here.
                None => match masker.allowed_end(&self.options.eos_tokens)? {
                    Some(end) => end,
                    None => break,
                },
            };
        }
        self.count_exposed(working.elapsed());
        Ok(token)
    }

    /// Adds `work` of the framework, for which the model waited, to the times.
    fn count_exposed(&mut self, work: Duration) {
        self.mask_times.total += work;
        self.mask_times.exposed += work;
    }

    /// The token budget after the next token: how many tokens may follow it.
    fn budget_after_next(&self) -> usize {
        let context = self.model.max_positions().saturating_sub(self.model.position());
        let limit = self.options.max_tokens.saturating_sub(self.tokens.len());
        // The limit's last token leaves no pass to choose the end with.
        limit.min(context).saturating_sub(2)
    }

    /// Takes `token`, advances the masker by it, and adds the tokens that the masker forces after it.
    fn accept(&mut self, token: TokenId, masker: Option<&mut OverlappedMasker>) -> Result<NextStep, DecodeError> {
        if self.options.eos_tokens.contains(&token) {
            return Ok(NextStep::Finish(FinishReason::EndOfSequence));
        }
        let mut pending = vec![token];
        self.push(token, false);
        if let Some(masker) = masker {
            let working = Instant::now();
            let ended = self.advance(token, masker, &mut pending)?;
            self.count_exposed(working.elapsed());
            if ended {
                return Ok(NextStep::Finish(FinishReason::EndOfSequence));
            }
        }
        Ok(NextStep::Append(pending))
    }

    /// Advances the masker by `token`, and appends the tokens that it then forces to `pending`. Returns true if the end is
    /// forced.
    fn advance(
        &mut self,
        token: TokenId,
        masker: &mut OverlappedMasker,
        pending: &mut Vec<TokenId>,
    ) -> Result<bool, DecodeError> {
        let mut forced = Vec::new();
        masker.advance(token)?;
        if self.options.fast_forward && !self.completion_plan.is_binding() {
            masker.forced_tokens(&mut forced)?;
            if !self
                .completion_plan
                .leaves_room_for(forced.len(), self.budget_after_next())
            {
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
            masker.advance(token)?;
            pending.push(token);
            self.push(token, true);
        }
        Ok(false)
    }

    /// Adds a token to the answer.
    fn push(&mut self, id: TokenId, forced: bool) {
        let at = self.start.elapsed();
        self.tokens.push(GeneratedToken { id, forced, at });
    }
}
