//! Replies of the model in training, many side by side: each weight is read once for a token of all of them.

use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::{D, DType, Result, Tensor};
use rayon::prelude::*;

use super::layer_pass::{Projections, Span};
use super::operations::softmax;
use super::trainable_model::TrainableModel;
use crate::decode::sampler::{Sampler, SamplingOptions};
use crate::error::ModelError;
use crate::language_model::check_finite;

/// Bytes of keys and values that replies side by side may have in memory: 1 GiB. A single reply is written whatever it needs.
const MEMORY: usize = 1 << 30;

/// How replies are sampled.
#[derive(Clone, Debug)]
pub struct ReplyOptions {
    /// Divides the logits; 0 takes the most likely tokens.
    pub temperature: f64,
    /// The token that ends a reply.
    pub end: u32,
    /// Largest number of tokens of a reply, its end included.
    pub max_tokens: usize,
}

/// Tokens that a model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampledReply {
    /// The tokens, without the end.
    pub tokens: Vec<u32>,
    /// Whether the model ended the reply.
    pub is_ended: bool,
}

/// A reply that is being written.
struct Writer {
    /// Its number within the batch.
    number: usize,
    sampler: Sampler,
    /// The token read next.
    last: u32,
    /// Largest number of tokens of the reply.
    room: usize,
    is_done: bool,
}

/// Writers in a row that go on from the same prompt.
struct Group {
    /// Number of tokens of the prompt that have been read: all but the last.
    read: usize,
    /// Keys `[1, kv_heads, read, head_dim]` and values of each layer; none where nothing has been read.
    before: Vec<[Tensor; 2]>,
    writers: Vec<Writer>,
}

/// Replies that are written side by side. All have the same number of tokens.
struct ReplyBatch {
    groups: Vec<Group>,
    /// Keys and values of each layer behind what the groups have read, `[writers, kv_heads, room, head_dim]`.
    own: Vec<[Tensor; 2]>,
    written: usize,
}

impl TrainableModel {
    /// Samples a reply to each prompt with its seed, in order; `None` where `cancel` was set. Neighbours with the same prompt are cheaper, as
    /// it is read once for all of them. The replies are written by as many threads as rayon's current pool has.
    ///
    /// # Errors
    ///
    /// [`ModelError::ContextFull`], [`ModelError::TokenOutOfRange`], [`ModelError::NothingToAppend`] of a prompt that the model cannot
    /// read; [`ModelError::NonFiniteLogits`]; [`ModelError::Compute`], where the device fails.
    pub fn replies(
        &self,
        asked: &[(&[u32], u64)],
        options: &ReplyOptions,
        cancel: &AtomicBool,
    ) -> std::result::Result<Option<Vec<SampledReply>>, ModelError> {
        for (prompt, _) in asked {
            if prompt.is_empty() {
                return Err(ModelError::NothingToAppend);
            }
            self.check_tokens(prompt, 0)?;
        }
        let threads = match self.device.is_cpu() {
            true => rayon::current_num_threads(),
            false => 1,
        };
        let batches = self.batches(asked, options, asked.len().div_ceil(threads.max(1)));
        let write = |asked| self.batch_of_replies(asked, options, cancel);
        let written = batches.into_par_iter().map(write);
        let written: Option<Vec<Vec<SampledReply>>> = written.collect::<std::result::Result<_, _>>()?;
        Ok(written.map(|batches| batches.into_iter().flatten().collect()))
    }

    /// Splits what is asked into batches of about `count` replies, between prompts where there is memory enough.
    fn batches<'a, 'p>(
        &self,
        asked: &'a [(&'p [u32], u64)],
        options: &ReplyOptions,
        count: usize,
    ) -> Vec<&'a [(&'p [u32], u64)]> {
        let layers = (0..self.config.layers).map(|layer| self.config.heads_of(layer));
        let a_token: usize = layers.map(|heads| 8 * heads.kv_heads * heads.head_dim).sum();
        let room = MEMORY / a_token.max(1);
        let (mut batches, mut start, mut tokens) = (Vec::new(), 0, 0);
        for (number, (prompt, _)) in asked.iter().enumerate() {
            let is_read = number > start && asked[number - 1].0 == *prompt;
            let added = self.room(prompt, options) + if is_read { 0 } else { prompt.len() };
            if number > start && (tokens + added > room || number - start >= count && !is_read) {
                batches.push(&asked[start..number]);
                (start, tokens) = (number, 0);
            }
            tokens += if number == start {
                self.room(prompt, options) + prompt.len()
            } else {
                added
            };
        }
        if start < asked.len() {
            batches.push(&asked[start..]);
        }
        batches
    }

    /// Largest number of tokens of a reply to `prompt`.
    fn room(&self, prompt: &[u32], options: &ReplyOptions) -> usize {
        options.max_tokens.min(self.config.max_positions - prompt.len())
    }

    /// Writes the replies of a batch; `None` where `cancel` was set.
    fn batch_of_replies(
        &self,
        asked: &[(&[u32], u64)],
        options: &ReplyOptions,
        cancel: &AtomicBool,
    ) -> std::result::Result<Option<Vec<SampledReply>>, ModelError> {
        let failed = |error| ModelError::compute(&self.name, "replies", &error);
        let mut replies = vec![SampledReply::default(); asked.len()];
        let mut groups = Vec::new();
        for same in asked.chunk_by(|(prompt, _), (next, _)| prompt == next) {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let number = groups.iter().map(|group: &Group| group.writers.len()).sum();
            groups.push(self.group(same, number, options).map_err(failed)?);
        }
        let room = groups.iter().flat_map(|group| &group.writers).map(|one| one.room).max();
        let Some(room) = room.filter(|room| *room > 0) else {
            return Ok(Some(replies));
        };
        let own = self.own_memory(asked.len(), room);
        let mut batch = ReplyBatch {
            groups,
            own: own.map_err(failed)?,
            written: 0,
        };
        while !batch.groups.is_empty() {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let logits = self.next_logits(&mut batch).map_err(failed)?;
            self.sample(&mut batch, &logits, &mut replies, options.end)?;
            batch.drop_done().map_err(failed)?;
        }
        Ok(Some(replies))
    }

    /// Reads the prompt that those asked have in common, but for its last token.
    fn group(&self, asked: &[(&[u32], u64)], number: usize, options: &ReplyOptions) -> Result<Group> {
        let mut group = Group {
            read: 0,
            before: Vec::new(),
            writers: Vec::with_capacity(asked.len()),
        };
        let Some(([first @ .., last], _)) = asked.first() else {
            return Ok(group);
        };
        group.read = first.len();
        if !first.is_empty() {
            let span = Span::new(&self.rope, 1, 0, first.len(), &self.device)?;
            let mut x = self.embedded(&Tensor::new(first, &self.device)?)?;
            for layer in 0..self.config.layers {
                let mut attend = |projections: &Projections<'_>| {
                    let [query, key, value] = projections.of_span(0, &span)?;
                    let found = projections.attended(&query, [&key, &value])?;
                    group.before.push([key.detach(), value.detach()]);
                    Ok(found)
                };
                x = self.pass().layer(layer, &x, &mut attend)?.detach();
            }
        }
        let writers = asked.iter().enumerate().map(|(place, (prompt, seed))| Writer {
            number: number + place,
            sampler: Sampler::new(SamplingOptions {
                temperature: options.temperature as f32,
                seed: *seed,
                ..SamplingOptions::default()
            }),
            last: *last,
            room: self.room(prompt, options),
            is_done: false,
        });
        group.writers.extend(writers);
        Ok(group)
    }

    /// Memory for `room` tokens of each of `writers` replies.
    fn own_memory(&self, writers: usize, room: usize) -> Result<Vec<[Tensor; 2]>> {
        let layers = (0..self.config.layers).map(|layer| {
            let heads = self.config.heads_of(layer);
            let zeros = || {
                Tensor::zeros(
                    (writers, heads.kv_heads, room, heads.head_dim),
                    DType::F32,
                    &self.device,
                )
            };
            Ok([zeros()?, zeros()?])
        });
        layers.collect()
    }

    /// Reads a token of each reply; returns the logits of the next ones, those of each reply in a row.
    fn next_logits(&self, batch: &mut ReplyBatch) -> Result<Vec<f32>> {
        let writers = || batch.groups.iter().flat_map(|group| &group.writers);
        let tokens: Vec<u32> = writers().map(|writer| writer.last).collect();
        let places = batch.groups.iter();
        let places = places.flat_map(|group| group.writers.iter().map(|_| group.read + batch.written));
        let span = Span::of_single(&self.rope, &places.collect::<Vec<usize>>(), &self.device)?;
        let mut x = self.embedded(&Tensor::new(tokens, &self.device)?)?;
        for layer in 0..self.config.layers {
            let mut attend = |projections: &Projections<'_>| batch.attend(projections, &span);
            x = self.pass().layer(layer, &x, &mut attend)?.detach();
        }
        batch.written += 1;
        self.logits(x)?.flatten_all()?.to_vec1::<f32>()
    }

    /// Adds the next token to each reply.
    fn sample(
        &self,
        batch: &mut ReplyBatch,
        logits: &[f32],
        replies: &mut [SampledReply],
        end: u32,
    ) -> std::result::Result<(), ModelError> {
        let rows = logits.chunks(self.config.vocab_size);
        let writers = batch.groups.iter_mut().flat_map(|group| &mut group.writers);
        for (writer, logits) in writers.zip(rows).filter(|(writer, _)| !writer.is_done) {
            check_finite(&self.name, logits)?;
            let reply = &mut replies[writer.number];
            // Without a mask there always is a token.
            let token = writer.sampler.sample(logits, None).unwrap_or(end);
            reply.is_ended = token == end;
            if !reply.is_ended {
                reply.tokens.push(token);
                writer.last = token;
            }
            writer.is_done = reply.is_ended || batch.written >= writer.room;
        }
        Ok(())
    }
}

impl ReplyBatch {
    /// What the tokens that are being read, one of each reply, find in the prompts and in the replies so far, `[writers, heads · head_dim]`.
    fn attend(&self, projections: &Projections<'_>, span: &Span) -> Result<Tensor> {
        let rows = projections.of_span(0, span)?;
        // [writers, heads, head_dim]
        let by_row = |all: &Tensor| all.squeeze(0)?.transpose(0, 1)?.contiguous();
        let [query, key, value] = [by_row(&rows[0])?, by_row(&rows[1])?, by_row(&rows[2])?];
        let [keys, values] = &self.own[projections.layer];
        keys.slice_set(&key.unsqueeze(2)?, 2, self.written)?;
        values.slice_set(&value.unsqueeze(2)?, 2, self.written)?;

        let (_, heads, head_dim) = query.dims3()?;
        let kv_heads = key.dim(1)?;
        let (mut found, mut start) = (Vec::with_capacity(self.groups.len()), 0);
        for group in &self.groups {
            let count = group.writers.len();
            let seen = group.read + self.written + 1;
            let hidden = seen.saturating_sub(projections.window);
            // The first tokens behind the prompt are hidden only where all of the prompt is.
            let own = hidden.saturating_sub(group.read);
            let of_group = |all: &Tensor| all.narrow(0, start, count)?.narrow(2, own, self.written + 1 - own);
            let (keys, values) = (of_group(keys)?, of_group(values)?);
            let query = query.narrow(0, start, count)?;
            let query = query.reshape((count, kv_heads, heads / kv_heads, head_dim))?;
            let scores = projections.scores(&query, &keys)?;
            let before = group.before.get(projections.layer).filter(|_| hidden < group.read);
            let mixed = match before {
                Some(before) => {
                    let visible = |all: &Tensor| all.narrow(2, hidden, group.read - hidden)?.squeeze(0)?.contiguous();
                    let [before_keys, before_values] = [visible(&before[0])?, visible(&before[1])?];
                    // For each key head one product of all queries in the group.
                    let together = query.transpose(0, 1)?.contiguous()?;
                    let together = together.reshape((kv_heads, (), head_dim))?;
                    let earlier = projections.scores(&together, &before_keys)?;
                    let earlier = earlier
                        .reshape((kv_heads, count, heads / kv_heads, ()))?
                        .transpose(0, 1)?;
                    let shares = softmax(&Tensor::cat(&[&earlier.contiguous()?, &scores], D::Minus1)?)?;
                    let earlier = shares
                        .narrow(3, 0, group.read - hidden)?
                        .transpose(0, 1)?
                        .contiguous()?;
                    let earlier = earlier
                        .reshape((kv_heads, (), group.read - hidden))?
                        .matmul(&before_values)?;
                    let earlier = earlier.reshape((kv_heads, count, heads / kv_heads, head_dim))?;
                    let later = shares
                        .narrow(3, group.read - hidden, self.written + 1 - own)?
                        .contiguous()?;
                    (later.matmul(&values)? + earlier.transpose(0, 1)?)?
                }
                None => softmax(&scores)?.matmul(&values)?,
            };
            found.push(mixed.contiguous()?.reshape((count, heads * head_dim))?);
            start += count;
        }
        Tensor::cat(&found, 0)
    }

    /// Goes on without the writers that are done, once these are a quarter: what is kept has to be copied.
    fn drop_done(&mut self) -> Result<()> {
        let writers = || self.groups.iter().flat_map(|group| &group.writers);
        let all = writers().count();
        let kept: Vec<u32> = (0..)
            .zip(writers())
            .filter(|(_, one)| !one.is_done)
            .map(|(place, _)| place)
            .collect();
        if (all - kept.len()) * 4 < all {
            return Ok(());
        }
        for group in &mut self.groups {
            group.writers.retain(|writer| !writer.is_done);
        }
        self.groups.retain(|group| !group.writers.is_empty());
        if self.groups.is_empty() {
            return Ok(());
        }
        for [keys, values] in &mut self.own {
            let places = Tensor::new(kept.as_slice(), keys.device())?;
            for one in [keys, values] {
                *one = one.index_select(&places, 0)?;
            }
        }
        Ok(())
    }
}
