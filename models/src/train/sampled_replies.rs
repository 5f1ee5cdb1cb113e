//! Replies of the model in training, many side by side: each weight is read once for a token of all of them.

use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::{DType, Result, Tensor};
use rayon::prelude::*;

use super::layer_pass::{Projections, Span};
use super::trainable_model::TrainableModel;
use crate::decode::sampler::{Sampler, SamplingOptions};
use crate::error::ModelError;
use crate::language_model::check_finite;
use crate::network::transformer::PROMPT_CHUNK;

/// Bytes of keys and values that the replies of all threads may have in memory: 1 GiB. A single reply is written whatever it needs.
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
    /// Number of the reply within the batch.
    number: usize,
    reply: SampledReply,
    sampler: Sampler,
    /// The token read next.
    last: u32,
    /// Largest number of tokens of the reply, its end included.
    room: usize,
    /// Whether the reply has ended or has no room for another token.
    is_done: bool,
}

/// Writers in a row that go on from the same prompt.
struct Group {
    /// Number of tokens of the prompt that have been read: all but the last.
    read: usize,
    /// Keys and values of each layer, `[1, kv_heads, read, head_dim]`; none where nothing has been read.
    before: Vec<[Tensor; 2]>,
    writers: Vec<Writer>,
}

/// Replies that are written side by side. Those that are not done have the same number of tokens.
struct ReplyBatch {
    groups: Vec<Group>,
    /// Replies that no group has any more, with their numbers.
    done: Vec<(usize, SampledReply)>,
    /// Keys and values of each layer behind what the groups have read, `[writers, kv_heads, room, head_dim]`.
    own: Vec<[Tensor; 2]>,
    /// Number of tokens of each reply that is not done.
    written: usize,
}

impl TrainableModel {
    /// Samples a reply to each prompt with its seed, in order; `None` where `cancel` was set. Neighbours with the same prompt are cheaper, as
    /// those in a batch read it once. On the CPU, as many batches are written at once as rayon's current pool has threads.
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
            self.check_tokens(prompt)?;
        }
        let threads = match self.device.is_cpu() {
            true => rayon::current_num_threads().max(1),
            false => 1,
        };
        let layers = (0..self.config.layers).map(|layer| self.config.heads_of(layer));
        // A key and a value of four bytes for each element.
        let a_token: usize = layers.map(|heads| 8 * heads.kv_heads * heads.head_dim).sum();
        let size = BatchSize {
            replies: asked.len().div_ceil(threads),
            tokens: MEMORY / threads / a_token.max(1),
        };
        let longest = options.max_tokens.min(self.config.max_positions);
        let mut replies = Vec::with_capacity(asked.len());
        // More batches at once would take more memory.
        for wave in size.batches(asked, longest).chunks(threads) {
            let written = wave
                .par_iter()
                .map(|asked| self.batch_of_replies(asked, options, cancel));
            match written.collect::<std::result::Result<Option<Vec<_>>, _>>()? {
                Some(written) => replies.extend(written.into_iter().flatten()),
                None => return Ok(None),
            }
        }
        Ok(Some(replies))
    }

    /// Writes the replies of a batch; `None` where `cancel` was set.
    fn batch_of_replies(
        &self,
        asked: &[(&[u32], u64)],
        options: &ReplyOptions,
        cancel: &AtomicBool,
    ) -> std::result::Result<Option<Vec<SampledReply>>, ModelError> {
        let failed = |error| ModelError::compute(&self.name, "replies", &error);
        let mut batch = ReplyBatch {
            groups: Vec::new(),
            done: Vec::with_capacity(asked.len()),
            own: Vec::new(),
            written: 0,
        };
        for same in asked.chunk_by(|(prompt, _), (next, _)| prompt == next) {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let number = batch.writers().count();
            batch.groups.push(self.group(same, number, options).map_err(failed)?);
        }
        let room = batch.writers().map(|writer| writer.room).max().unwrap_or(0);
        batch.own = self.own_memory(asked.len(), room).map_err(failed)?;
        loop {
            batch.drop_done().map_err(failed)?;
            if batch.groups.is_empty() {
                break;
            }
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.write_token(&mut batch, options.end)?;
        }
        batch.done.sort_by_key(|(number, _)| *number);
        Ok(Some(batch.done.into_iter().map(|(_, reply)| reply).collect()))
    }

    /// Reads the prompt that those asked have in common, but for its last token.
    fn group(&self, asked: &[(&[u32], u64)], number: usize, options: &ReplyOptions) -> Result<Group> {
        let (read, last) = match asked.first() {
            Some(([read @ .., last], _)) => (read, *last),
            _ => (&[][..], options.end),
        };
        let writers = asked.iter().enumerate().map(|(place, (prompt, seed))| {
            let room = options.max_tokens.min(self.config.max_positions - prompt.len());
            Writer {
                number: number + place,
                reply: SampledReply::default(),
                sampler: Sampler::new(SamplingOptions {
                    temperature: options.temperature as f32,
                    seed: *seed,
                    ..SamplingOptions::default()
                }),
                last,
                room,
                is_done: room == 0,
            }
        });
        Ok(Group {
            read: read.len(),
            before: self.keys_and_values(read)?,
            writers: writers.collect(),
        })
    }

    /// Keys and values of each layer for `tokens` at the start of a sequence, `[1, kv_heads, tokens, head_dim]`; none without tokens.
    fn keys_and_values(&self, tokens: &[u32]) -> Result<Vec<[Tensor; 2]>> {
        let mut before: Vec<[Tensor; 2]> = Vec::new();
        for (number, chunk) in tokens.chunks(PROMPT_CHUNK).enumerate() {
            let span = Span::new(&self.rope, 1, number * PROMPT_CHUNK, chunk.len(), &self.device)?;
            let mut x = self.embedded(&Tensor::new(chunk, &self.device)?)?;
            for layer in 0..self.config.layers {
                let mut attend = |projections: &Projections<'_>| {
                    let [query, key, value] = projections.of_span(0, &span)?;
                    let all = match before.get(layer) {
                        Some([keys, values]) => [Tensor::cat(&[keys, &key], 2)?, Tensor::cat(&[values, &value], 2)?],
                        None => [key, value],
                    };
                    let found = projections.attended(&query, [&all[0], &all[1]], None)?;
                    let all = all.map(|one| one.detach());
                    match before.get_mut(layer) {
                        Some(known) => *known = all,
                        None => before.push(all),
                    }
                    Ok(found)
                };
                x = self.pass().layer(layer, &x, &mut attend)?.detach();
            }
        }
        Ok(before)
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

    /// Adds the next token to each reply that is not done.
    fn write_token(&self, batch: &mut ReplyBatch, end: u32) -> std::result::Result<(), ModelError> {
        let failed = |error| ModelError::compute(&self.name, "replies", &error);
        let rows = self.read_token(batch).map_err(failed)?;
        batch.written += 1;
        let written = batch.written;
        let mut writers: Vec<&mut Writer> = batch.groups.iter_mut().flat_map(|group| &mut group.writers).collect();
        for range in self.chunks(writers.len()) {
            let logits = rows
                .narrow(0, range.start, range.len())
                .and_then(|rows| self.logits(rows));
            let logits = logits
                .and_then(|logits| logits.flatten_all()?.to_vec1::<f32>())
                .map_err(failed)?;
            let pairs = writers[range]
                .par_iter_mut()
                .zip(logits.par_chunks(self.config.vocab_size));
            pairs
                .filter(|(writer, _)| !writer.is_done)
                .try_for_each(|(writer, logits)| {
                    check_finite(&self.name, DType::F32, logits)?;
                    writer.write(logits, end, written);
                    Ok(())
                })?;
        }
        Ok(())
    }

    /// Reads the last token of each reply; returns what the last layer gives, `[writers, hidden_size]`.
    fn read_token(&self, batch: &ReplyBatch) -> Result<Tensor> {
        let tokens: Vec<u32> = batch.writers().map(|writer| writer.last).collect();
        let positions = batch.groups.iter();
        let positions = positions.flat_map(|group| group.writers.iter().map(|_| group.read + batch.written));
        let span = Span::of_single(&self.rope, &positions.collect::<Vec<usize>>(), &self.device)?;
        let mut x = self.embedded(&Tensor::new(tokens, &self.device)?)?;
        for layer in 0..self.config.layers {
            let mut attend = |projections: &Projections<'_>| batch.attend(projections, &span);
            x = self.pass().layer(layer, &x, &mut attend)?.detach();
        }
        Ok(x)
    }
}

/// Bounds on a batch. A single reply is a batch whatever it needs.
struct BatchSize {
    /// Number of replies from which a batch ends before the next prompt.
    replies: usize,
    /// Largest number of tokens of prompts and replies together.
    tokens: usize,
}

impl BatchSize {
    /// Splits what is asked, with replies of up to `longest` tokens, into batches.
    fn batches<'a, 'p>(&self, asked: &'a [(&'p [u32], u64)], longest: usize) -> Vec<&'a [(&'p [u32], u64)]> {
        let (mut batches, mut start, mut tokens) = (Vec::new(), 0, 0);
        for (number, (prompt, _)) in asked.iter().enumerate() {
            let is_read = number > start && asked[number - 1].0 == *prompt;
            let added = longest + if is_read { 0 } else { prompt.len() };
            let is_full = tokens + added > self.tokens || number - start >= self.replies && !is_read;
            if number > start && is_full {
                batches.push(&asked[start..number]);
                (start, tokens) = (number, longest + prompt.len());
            } else {
                tokens += added;
            }
        }
        if start < asked.len() {
            batches.push(&asked[start..]);
        }
        batches
    }
}

impl Writer {
    /// Samples token number `written` of the reply by its logits.
    fn write(&mut self, logits: &[f32], end: u32, written: usize) {
        // Without a mask there always is a token.
        let token = self.sampler.sample(logits, None).unwrap_or(end);
        self.reply.is_ended = token == end;
        if !self.reply.is_ended {
            self.reply.tokens.push(token);
            self.last = token;
        }
        self.is_done = self.reply.is_ended || written >= self.room;
    }
}

impl ReplyBatch {
    /// Computes the attention of the tokens that are being read, one of each reply, to the prompts and the replies so far:
    /// `[writers, heads · head_dim]`.
    fn attend(&self, projections: &Projections<'_>, span: &Span) -> Result<Tensor> {
        let rows = projections.of_span(0, span)?;
        // [writers, heads, head_dim]
        let by_row = |all: &Tensor| all.squeeze(0)?.transpose(0, 1)?.contiguous();
        let [query, key, value] = [by_row(&rows[0])?, by_row(&rows[1])?, by_row(&rows[2])?];
        let [keys, values] = &self.own[projections.layer];
        keys.slice_set(&key.unsqueeze(2)?, 2, self.written)?;
        values.slice_set(&value.unsqueeze(2)?, 2, self.written)?;

        let (mut found, mut start) = (Vec::with_capacity(self.groups.len()), 0);
        for group in &self.groups {
            let count = group.writers.len();
            let query = query.narrow(0, start, count)?.unsqueeze(2)?;
            let own = |all: &Tensor| all.narrow(0, start, count)?.narrow(2, 0, self.written + 1);
            let before = group.before.get(projections.layer);
            found.push(projections.attended(&query, [&own(keys)?, &own(values)?], before)?);
            start += count;
        }
        Tensor::cat(&found, 0)
    }

    /// The writers of all groups, in the order of the batch's rows.
    fn writers(&self) -> impl Iterator<Item = &Writer> {
        self.groups.iter().flat_map(|group| &group.writers)
    }

    /// Goes on without the writers that are done, once these are a quarter: what is kept has to be copied.
    fn drop_done(&mut self) -> Result<()> {
        let all = self.writers().count();
        let kept: Vec<u32> = (0..)
            .zip(self.writers())
            .filter(|(_, one)| !one.is_done)
            .map(|(place, _)| place)
            .collect();
        if (all - kept.len()) * 4 < all {
            return Ok(());
        }
        for group in &mut self.groups {
            let done = group.writers.extract_if(.., |writer| writer.is_done);
            self.done.extend(done.map(|writer| (writer.number, writer.reply)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_end_between_prompts_unless_memory_is_short() {
        let prompts: [&[u32]; 3] = [&[1; 10], &[2; 10], &[3; 40]];
        let asked: Vec<(&[u32], u64)> = [0, 0, 0, 1, 1, 2]
            .into_iter()
            .zip(0..)
            .map(|(of, seed)| (prompts[of], seed))
            .collect();
        let lengths = |replies, tokens| {
            let size = BatchSize { replies, tokens };
            let batches = size.batches(&asked, 20);
            assert_eq!(batches.concat(), asked);
            batches.iter().map(|batch| batch.len()).collect::<Vec<usize>>()
        };
        assert_eq!(lengths(2, 1000), [3, 2, 1]);
        assert_eq!(lengths(6, 1000), [6]);
        assert_eq!(lengths(6, 120), [5, 1]);
        // Two replies of 20 tokens with their prompt; the last one needs more than there is.
        assert_eq!(lengths(6, 50), [2, 1, 2, 1]);
    }
}
