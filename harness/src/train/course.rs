//! [`Course`]: the phases of a training, step by step, with records, checkpoints and evaluations.

use std::cell::Cell;
use std::path::Path;
use std::time::Instant;

use maskwright_models::{
    AdamW, LearningRate, LossParts, PolicyLoss, TokenLoss, TokenSequence, TrainableModel, group_advantages,
};

use super::TrainError;
use super::checkpoints::Checkpoints;
use super::record::{Evaluation, Measured, Phase, StepMetrics, TrainKey, TrainRecord};
use super::replies::{Replier, Reply, Reward};
use super::samples::{PromptedSample, SplitSamples, mixed};
use super::settings::TrainSettings;
use crate::error::CommandError;
use crate::run::directory::{RECORDS, RunDirectory};
use crate::run::{interrupt, progress};

/// Name of the directory of the model after the supervised steps, where GRPO follows.
pub const SUPERVISED: &str = "supervised";
/// Name of the directory of the trained model.
pub const RESULT: &str = "model";

/// Warm-up of the learning rate: it rises over one part in so many of a phase's steps.
const WARM_UP_PART: usize = 10;

/// A training run: settings, samples, replier, reward and files.
pub struct Course<'a> {
    /// Settings of the training.
    pub settings: &'a TrainSettings,
    /// Number of steps between two checkpoints.
    pub checkpoint_every: usize,
    /// Samples that the model learns from.
    pub train: &'a SplitSamples,
    /// Samples that the evaluations ask.
    pub test: &'a SplitSamples,
    /// Writes the replies of the model in training.
    pub replier: Replier<'a>,
    /// Reward of a reply to a sample.
    pub reward: &'a Reward<'a>,
    /// Directory of the run, to which records are added.
    pub directory: &'a mut RunDirectory<TrainRecord>,
    /// Directory of weights and optimiser states.
    pub checkpoints: Checkpoints,
}

/// Whether a step of a phase is evaluated: the first, unless another phase has just ended there, each `every`th, and the last.
fn is_evaluated(settings: &TrainSettings, phase: Phase, step: usize) -> bool {
    let steps = steps_of(settings, phase);
    let is_start = step == 0 && (phase == Phase::Supervised || settings.supervised_steps == 0);
    let is_between = step > 0 && settings.evaluate_every > 0 && step.is_multiple_of(settings.evaluate_every);
    steps > 0 && (is_start || is_between || step == steps)
}

fn steps_of(settings: &TrainSettings, phase: Phase) -> usize {
    match phase {
        Phase::Supervised => settings.supervised_steps,
        Phase::Grpo => settings.grpo_steps,
    }
}

/// Returns the keys of all records of a run with these settings.
pub fn planned(settings: &TrainSettings) -> Vec<TrainKey> {
    let of_phase = |phase| {
        let key = move |what, step| TrainKey { phase, step, what };
        let steps = 1..=steps_of(settings, phase);
        let evaluated = (0..=steps_of(settings, phase)).filter(move |step| is_evaluated(settings, phase, *step));
        let steps = steps.map(move |step| key(Measured::Step, step));
        steps.chain(evaluated.map(move |step| key(Measured::Evaluation, step)))
    };
    [Phase::Supervised, Phase::Grpo]
        .into_iter()
        .flat_map(of_phase)
        .collect()
}

/// Returns the samples that a step of GRPO asks, each for a group of replies, with the seed of each reply.
pub fn asked_in_step<'s>(
    settings: &TrainSettings,
    samples: &'s SplitSamples,
    step: usize,
) -> Vec<(&'s PromptedSample, u64)> {
    let mut asked: Vec<(&PromptedSample, u64)> = Vec::with_capacity(settings.prompts * settings.group);
    // The order of samples differs from that of the supervised steps.
    for (place, _) in samples.of_step(mixed(&[settings.seed, 1]), step, settings.prompts) {
        let sample = &samples.fitting[place];
        // A sample that the step takes again has further replies.
        let earlier = asked.iter().filter(|(one, _)| std::ptr::eq(*one, sample)).count();
        asked.extend((earlier..earlier + settings.group).map(|number| {
            let numbers = [settings.seed, step as u64, sample.sample.seed, number as u64];
            (sample, mixed(&numbers))
        }));
    }
    asked
}

/// Returns what a step of GRPO learns from: replies, the short ones of each group first, and the objective over their tokens, without
/// log-probabilities. Where the objective has no divergence from the start, replies without an advantage change nothing and are left out; its
/// mean is over their tokens, too.
pub fn taught(settings: &TrainSettings, replies: &[Reply], advantages: &[f64]) -> (Vec<TokenSequence>, PolicyLoss) {
    let mut taught = Vec::new();
    let size = settings.group.max(1);
    for (replies, advantages) in replies.chunks(size).zip(advantages.chunks(size)) {
        let counted = replies.iter().map(|reply| &reply.sequence).zip(advantages);
        let mut group: Vec<(&TokenSequence, f64)> = counted
            .filter(|(sequence, advantage)| sequence.counted() > 0 && (settings.kl > 0.0 || **advantage != 0.0))
            .map(|(sequence, advantage)| (sequence, *advantage))
            .collect();
        group.sort_by_key(|(sequence, _)| sequence.tokens.len());
        taught.append(&mut group);
    }
    let of_tokens = taught
        .iter()
        .flat_map(|(sequence, advantage)| std::iter::repeat_n(*advantage, sequence.counted()));
    let policy = PolicyLoss {
        tokens: replies.iter().map(|reply| reply.sequence.counted()).sum(),
        advantages: of_tokens.collect(),
        old: None,
        reference: None,
        clip: settings.clip,
        kl: settings.kl,
    };
    let sequences = taught.iter().map(|(sequence, _)| (*sequence).clone()).collect();
    (sequences, policy)
}

impl Course<'_> {
    /// Runs the part of the training that is not done yet. `start` reads the model that the training starts from.
    ///
    /// # Errors
    ///
    /// [`CommandError::Interrupted`], where the user asked to stop; [`CommandError`], where the model fails or files cannot be written.
    pub fn run(&mut self, start: &dyn Fn() -> Result<TrainableModel, CommandError>) -> Result<(), CommandError> {
        let result = self.checkpoints.result(RESULT);
        if result.is_dir() {
            self.check_records(&result, |_| true)?;
            // A run that was killed right behind its end has left them.
            return self.checkpoints.clear();
        }
        let has_grpo = self.settings.grpo_steps > 0;
        let mut last = None;
        let supervised = self.checkpoints.result(SUPERVISED);
        if self.settings.supervised_steps > 0 && supervised.is_dir() {
            self.check_records(&supervised, |key| key.phase == Phase::Supervised)?;
        } else if self.settings.supervised_steps > 0 {
            let model = self.phase(Phase::Supervised, start, None)?;
            let name = if has_grpo { SUPERVISED } else { RESULT };
            self.checkpoints.write_result(name, &model)?;
            last = Some(model);
        }
        if has_grpo {
            let (from_supervised, checkpoints) = (self.settings.supervised_steps > 0, self.checkpoints.clone());
            let read = || match from_supervised {
                true => Ok(checkpoints.read_result(SUPERVISED)?),
                false => start(),
            };
            let reference = (self.settings.kl > 0.0).then(read).transpose()?;
            let last = Cell::new(last);
            let begin = || last.take().map_or_else(read, Ok);
            let model = self.phase(Phase::Grpo, &begin, reference.as_ref())?;
            self.checkpoints.write_result(RESULT, &model)?;
        }
        self.checkpoints.clear()
    }

    fn phase(
        &mut self,
        phase: Phase,
        start: &dyn Fn() -> Result<TrainableModel, CommandError>,
        reference: Option<&TrainableModel>,
    ) -> Result<TrainableModel, CommandError> {
        let options = self.settings.optimiser;
        let (model, optimiser, step) = match self.checkpoints.last(phase, options)? {
            Some((model, optimiser, step)) => {
                // The evaluation after the checkpoint's own step is still to come where the run was killed before it.
                let is_before = |key: &TrainKey| key.step < step || (key.step == step && key.what == Measured::Step);
                let weights = self.checkpoints.directory((phase, step));
                self.check_records(&weights, |key| key.phase == phase && is_before(key))?;
                (model, optimiser, step)
            }
            None => (start()?, AdamW::new(options), 0),
        };
        match self.steps(phase, (model, optimiser, step), reference)? {
            Some(model) => Ok(model),
            None => Err(CommandError::interrupted(self.directory)),
        }
    }

    /// Errs where the run lacks the record of a step or evaluation that `is_made`, behind which `weights` is the directory of the weights: it would never
    /// be written.
    fn check_records(&self, weights: &Path, is_made: impl Fn(&TrainKey) -> bool) -> Result<(), TrainError> {
        let mut lacking = planned(self.settings);
        lacking.retain(|key| is_made(key) && self.directory.lacks(key));
        if lacking.is_empty() {
            return Ok(());
        }
        let follows =
            |one: &TrainKey, next: &TrainKey| (one.phase, one.what, one.step + 1) == (next.phase, next.what, next.step);
        let named = lacking.chunk_by(follows).map(|keys| {
            let (first, last) = (keys[0], keys[keys.len() - 1].step);
            let what = match first.what {
                Measured::Step => "step",
                Measured::Evaluation => "the evaluation after step",
            };
            let range = if keys.len() > 1 {
                format!(" to {last}")
            } else {
                String::new()
            };
            format!("{} {what} {}{range}", first.phase.name(), first.step)
        });
        Err(TrainError::MissingRecords {
            records: self.directory.path().join(RECORDS),
            missing: named.collect::<Vec<String>>().join(", "),
            weights: weights.to_owned(),
        })
    }

    /// Runs the remaining steps of a phase. Returns `None` where the user asked to stop; the weights are then in a checkpoint.
    fn steps(
        &mut self,
        phase: Phase,
        (mut model, mut optimiser, mut step): (TrainableModel, AdamW, usize),
        reference: Option<&TrainableModel>,
    ) -> Result<Option<TrainableModel>, CommandError> {
        let steps = steps_of(self.settings, phase);
        let bar = progress::bar(steps as u64, phase.name());
        bar.inc(step as u64);
        loop {
            let key = |what, step| TrainKey { phase, step, what };
            let mut is_stopped = interrupt::requested();
            let evaluated = key(Measured::Evaluation, step);
            if !is_stopped && is_evaluated(self.settings, phase, step) && self.directory.lacks(&evaluated) {
                match self.evaluate(&model)? {
                    Some(evaluation) => self.record(evaluated, None, Some(evaluation))?,
                    None => is_stopped = true,
                }
            }
            if step == steps && !is_stopped {
                bar.finish_and_clear();
                return Ok(Some(model));
            }
            let metrics = match (is_stopped, phase) {
                (true, _) => None,
                (false, Phase::Supervised) => Some(self.supervised(&mut model, &mut optimiser, step)?),
                (false, Phase::Grpo) => self.grpo(&mut model, &mut optimiser, step, reference)?,
            };
            let Some(metrics) = metrics else {
                bar.abandon();
                if step > 0 && !self.checkpoints.has((phase, step)) {
                    self.checkpoints.write((phase, step), &model, &optimiser)?;
                }
                return Ok(None);
            };
            step += 1;
            bar.inc(1);
            bar.set_message(format!("{} loss {:.4}", phase.name(), metrics.loss));
            self.record(key(Measured::Step, step), Some(metrics), None)?;
            if step.is_multiple_of(self.checkpoint_every) || step == steps {
                self.checkpoints.write((phase, step), &model, &optimiser)?;
            }
        }
    }

    /// Adds a record, unless the run has it: a run that was killed repeats the steps since its last checkpoint.
    fn record(
        &mut self,
        key: TrainKey,
        metrics: Option<StepMetrics>,
        evaluation: Option<Evaluation>,
    ) -> Result<(), CommandError> {
        if self.directory.lacks(&key) {
            self.directory.add(TrainRecord {
                key,
                metrics,
                evaluation,
            })?;
        }
        Ok(())
    }

    fn rate(&self, phase: Phase, step: usize) -> f64 {
        let steps = steps_of(self.settings, phase);
        let peak = match phase {
            Phase::Supervised => self.settings.learning_rate,
            Phase::Grpo => self.settings.grpo_learning_rate,
        };
        let rate = LearningRate {
            peak,
            warm_up: steps / WARM_UP_PART,
            steps,
        };
        rate.at(step)
    }

    /// Makes a supervised step: raises the likelihood of references of some samples.
    fn supervised(
        &mut self,
        model: &mut TrainableModel,
        optimiser: &mut AdamW,
        step: usize,
    ) -> Result<StepMetrics, CommandError> {
        let began = Instant::now();
        let settings = self.settings;
        let mut sequences = Vec::with_capacity(settings.batch);
        for (place, time) in self.train.of_step(settings.seed, step, settings.batch) {
            let (sample, replier) = (&self.train.fitting[place], &self.replier);
            let reference = |number| sample.with_reference(&replier.tokenizer, replier.room, replier.end, number);
            // The first reference fits, as samples whose first reference does not fit are left out.
            let found = match reference(time)? {
                Some(sequence) => Some(sequence),
                None => reference(0)?,
            };
            sequences.extend(found);
        }
        // Sequences of similar length are neighbours, so that batches need little padding.
        sequences.sort_by_key(|sequence: &TokenSequence| sequence.tokens.len());
        let tokens: usize = sequences.iter().map(TokenSequence::counted).sum();
        let loss = TokenLoss::Likelihood { tokens };
        let (parts, gradients) = model.gradients(&sequences, 1.0, &loss, settings.micro_batch_tokens)?;
        let learning_rate = self.rate(Phase::Supervised, step);
        let gradient_norm = optimiser.step(model, &gradients, learning_rate)?;
        Ok(StepMetrics {
            loss: parts.loss,
            tokens: tokens as f64 / sequences.len().max(1) as f64,
            gradient_norm,
            learning_rate,
            seconds: began.elapsed().as_secs_f64(),
            ..StepMetrics::default()
        })
    }

    /// Makes a step of GRPO. Returns `None` where the user asked to stop while the model replied.
    fn grpo(
        &mut self,
        model: &mut TrainableModel,
        optimiser: &mut AdamW,
        step: usize,
        reference: Option<&TrainableModel>,
    ) -> Result<Option<StepMetrics>, CommandError> {
        let began = Instant::now();
        let settings = self.settings;
        let learning_rate = self.rate(Phase::Grpo, step);
        let asked = asked_in_step(settings, self.train, step);
        let Some(replies) = self.replier.replies(model, &asked, settings.temperature)? else {
            return Ok(None);
        };
        let (mut rewards, mut passed) = (Vec::with_capacity(replies.len()), 0);
        for ((sample, _), reply) in asked.iter().zip(&replies) {
            let judged = (self.reward)(&sample.sample, &reply.text)?;
            // A reply that was cut off earns nothing, whatever it would have become.
            rewards.push(if reply.is_truncated { 0.0 } else { judged.reward });
            passed += usize::from(judged.passed && !reply.is_truncated);
        }
        let advantages = group_advantages(&rewards, settings.group);
        let groups = advantages.chunks(settings.group.max(1));
        let spread = groups
            .clone()
            .filter(|group| group.iter().any(|one| *one != 0.0))
            .count();
        let (parts, gradient_norm) =
            self.update(model, optimiser, (&replies, &advantages), reference, learning_rate)?;
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        let truncated = replies.iter().filter(|reply| reply.is_truncated).count();
        let tokens: usize = replies.iter().map(|reply| reply.sequence.counted()).sum();
        Ok(Some(StepMetrics {
            loss: parts.loss,
            reward: Some(rewards.iter().sum::<f64>() / rewards.len().max(1) as f64),
            passed: Some(share(passed, replies.len())),
            spread: Some(share(spread, groups.len())),
            kl: reference.map(|_| parts.kl),
            clipped: Some(parts.clipped),
            truncated: Some(share(truncated, replies.len())),
            tokens: share(tokens, replies.len()),
            gradient_norm,
            learning_rate,
            seconds: began.elapsed().as_secs_f64(),
        }))
    }

    /// Updates the weights by replies and their advantages over their groups.
    fn update(
        &self,
        model: &mut TrainableModel,
        optimiser: &mut AdamW,
        (replies, advantages): (&[Reply], &[f64]),
        reference: Option<&TrainableModel>,
        learning_rate: f64,
    ) -> Result<(LossParts, f64), CommandError> {
        let settings = self.settings;
        let (sequences, mut policy) = taught(settings, replies, advantages);
        if sequences.is_empty() {
            return Ok((LossParts::default(), 0.0));
        }
        let (temperature, cells) = (settings.temperature, settings.micro_batch_tokens);
        let numbers = |model: &TrainableModel| model.log_probabilities(&sequences, temperature, cells);
        policy.reference = reference.map(numbers).transpose()?;
        if settings.updates > 1 {
            policy.old = Some(numbers(model)?);
        }
        let loss = TokenLoss::Policy(policy);
        let mut last = (LossParts::default(), 0.0);
        for _ in 0..settings.updates {
            let (parts, gradients) = model.gradients(&sequences, temperature, &loss, cells)?;
            last = (parts, optimiser.step(model, &gradients, learning_rate)?);
        }
        Ok(last)
    }

    /// Evaluates the model on the test split, greedily and unconstrained. Returns `None` where the user asked to stop.
    fn evaluate(&mut self, model: &TrainableModel) -> Result<Option<Evaluation>, CommandError> {
        let began = Instant::now();
        let mut evaluation = Evaluation {
            replies: 0,
            passed: 0,
            truncated: 0,
            tokens: 0.0,
            seconds: 0.0,
        };
        let mut tokens = 0;
        let bar = progress::bar(self.test.fitting.len() as u64, "test split");
        // The bar moves on with each part; parts are large enough for all threads to have work.
        for samples in self.test.fitting.chunks(16 * self.settings.threads) {
            let asked: Vec<_> = samples.iter().map(|sample| (sample, 0)).collect();
            let Some(replies) = self.replier.replies(model, &asked, 0.0)? else {
                return Ok(None);
            };
            for (sample, reply) in samples.iter().zip(replies) {
                evaluation.replies += 1;
                evaluation.truncated += usize::from(reply.is_truncated);
                evaluation.passed += usize::from((self.reward)(&sample.sample, &reply.text)?.passed);
                tokens += reply.sequence.counted();
            }
            bar.inc(samples.len() as u64);
        }
        bar.finish_and_clear();
        evaluation.tokens = tokens as f64 / evaluation.replies.max(1) as f64;
        evaluation.seconds = began.elapsed().as_secs_f64();
        Ok(Some(evaluation))
    }
}
