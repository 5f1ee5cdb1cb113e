//! [`TagReplies`]: the token masks of replies under one structural tag, computed on demand and cached.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::automaton::{AutomatonError, Written};
use crate::mask::cache::mask_buffers::BufferPool;
use crate::mask::cache::sharded::ShardedCache;
use crate::mask::cache::token_set::TokenSet;
use crate::mask::compiled_schema::mask_error;
use crate::mask::completions::CompletionLength;
use crate::mask::forced_tokens::{ReadBytes, forced_bytes, forced_tokens};
use crate::mask::index::base_sets::{BaseSets, Words};
use crate::mask::masker::{MaskedText, Used};
use crate::mask::shared_tokens::SharedTokens;
use crate::{MaskError, TokenId, TokenKind, Vocabulary};

use super::contents::{Content, Contents};
use super::ends::Ends;
use super::literal::{BY_ID, Part, is_lead, parts, token_bytes};
use super::masks::{MaskFinder, UnnamedTokens};
use super::program::{Point, PointId, Program, Thread, Threads};
use super::region::Place;
use super::threads::{Origin, Stepper};
use super::tokens::TagTokens;

/// Bytes of a text that ends a reply, at most: it is written and spelled in one go, for limits on tokens at each mask.
const MAX_ENDING: usize = 1 << 20;

/// Memory for the masks that the replies under one tag keep.
const MASK_BYTES: usize = 8 << 20;
/// Memory for the masks of free text.
const FREE_BYTES: usize = 8 << 20;
/// Memory for the longest completions behind the tokens of states.
const FURTHEST_BYTES: usize = 1 << 20;
/// Maximal number of threads for which forced bytes are looked for.
const MAX_FORCED_THREADS: usize = 8;
/// Special tokens that are forced in one go.
const MAX_FORCED_TOKENS: usize = 64;

/// The program of one structural tag, with its caches.
pub(super) struct TagReplies {
    vocabulary: Arc<Vocabulary>,
    shared: Arc<SharedTokens>,
    tokens: Arc<TagTokens>,
    program: Program,
    contents: Contents,
    unnamed: UnnamedTokens,
    masks: ShardedCache<Arc<[Thread]>, Arc<TokenSet>>,
    free: ShardedCache<(PointId, Place), Words>,
    furthest: ShardedCache<Arc<[Thread]>, u32>,
    /// The short ends from each point, worked out when they are first asked for.
    ends: OnceLock<Ends>,
}

/// A state in a reply.
#[derive(Clone)]
pub(super) struct TagState {
    threads: Arc<[Thread]>,
    /// For each thread within a content, in the order of threads, the sizes written so far that a style bounds.
    written: SmallVec<[Written; 1]>,
}

/// A token that stands for itself, and the threads behind it.
type ForcedToken = (TokenId, Arc<[Thread]>);

/// The threads after a byte, with the sizes in their contents.
#[derive(Default)]
struct Stepped {
    threads: Threads,
    written: SmallVec<[Option<Written>; 2]>,
}

impl TagReplies {
    pub(super) fn new(
        vocabulary: Arc<Vocabulary>,
        shared: Arc<SharedTokens>,
        tokens: Arc<TagTokens>,
        program: Program,
        contents: Contents,
    ) -> Self {
        Self {
            unnamed: UnnamedTokens::new(&tokens, &program),
            vocabulary,
            shared,
            tokens,
            program,
            contents,
            masks: ShardedCache::new(MASK_BYTES, 0),
            free: ShardedCache::new(FREE_BYTES, 0),
            furthest: ShardedCache::new(FURTHEST_BYTES, 0),
            ends: OnceLock::new(),
        }
    }

    /// The state before a reply.
    pub(super) fn start(&self) -> TagState {
        let threads = &self.program.entry(self.program.root).threads;
        let written = threads.iter().filter_map(|thread| self.nothing_written(*thread));
        TagState {
            threads: threads[..].into(),
            written: written.collect(),
        }
    }

    fn stepper(&self, is_end: bool) -> Stepper<'_> {
        Stepper {
            program: &self.program,
            contents: &self.contents,
            is_end,
        }
    }

    /// The sizes at the beginning of a thread's content; none for a thread outside of contents.
    fn nothing_written(&self, thread: Thread) -> Option<Written> {
        let Thread::Content(point, _) = thread else { return None };
        let (content, _) = self.program.content(point)?;
        Some(self.contents.get(content).nothing_written())
    }

    fn step(&self, stepper: Stepper<'_>, from: &Stepped, byte: u8) -> Result<Stepped, AutomatonError> {
        let mut next = Stepped::default();
        stepper.step_from(&from.threads, byte, &mut |origin, thread| {
            let before = next.threads.len();
            super::threads::push(&mut next.threads, thread)?;
            if next.threads.len() == before {
                return Ok(());
            }
            let mut written = match origin {
                Origin::Within(number) => from.written[number],
                Origin::Before | Origin::Behind => self.nothing_written(thread),
            };
            if let (Some(written), Thread::Content(point, _)) = (&mut written, thread)
                && origin != Origin::Behind
                && let Some((content, _)) = self.program.content(point)
            {
                self.contents.get(content).count(written, byte);
            }
            next.written.push(written);
            Ok(())
        })?;
        Ok(next)
    }

    /// The threads after a token of these bytes.
    fn after_bytes(&self, at: &TagState, bytes: &[u8], is_end: bool) -> Result<Stepped, AutomatonError> {
        let mut written = at.written.iter().copied();
        let in_content = |thread: &Thread| matches!(thread, Thread::Content(..));
        let mut stepped = Stepped {
            threads: Threads::from_slice(&at.threads),
            written: at
                .threads
                .iter()
                .map(|thread| in_content(thread).then(|| written.next()).flatten())
                .collect(),
        };
        for &byte in bytes {
            stepped = self.step(self.stepper(is_end), &stepped, byte)?;
            if stepped.threads.is_empty() {
                break;
            }
        }
        Ok(stepped)
    }

    fn state(&self, from: &TagState, mut stepped: Stepped) -> Result<Option<TagState>, AutomatonError> {
        if stepped.threads.is_empty() {
            return Ok(None);
        }
        for (thread, written) in stepped.threads.iter_mut().zip(&mut stepped.written) {
            if let (Thread::Content(point, state), Some(written)) = (thread, written)
                && let Some((content, _)) = self.program.content(*point)
            {
                self.contents.get(content).bound(state, written)?;
            }
        }
        let is_same = *from.threads == *stepped.threads;
        Ok(Some(TagState {
            threads: if is_same {
                from.threads.clone()
            } else {
                stepped.threads[..].into()
            },
            written: stepped.written.into_iter().flatten().collect(),
        }))
    }

    fn after_token(&self, at: &TagState, token: TokenId, text: &[u8]) -> Result<Option<TagState>, AutomatonError> {
        let kind = self.vocabulary.kind(token);
        // A token with a byte that begins a special token can come by its id alone.
        let mut stepped = match kind == TokenKind::Text && super::masks::is_text(text) {
            true => self.after_bytes(at, text, false)?,
            false => Stepped::default(),
        };
        let bytes = token_bytes(token, kind);
        if bytes[0] != BY_ID || self.program.reads_ids {
            let whole = self.after_bytes(at, &bytes, self.vocabulary.is_eos(token))?;
            for (thread, written) in whole.threads.into_iter().zip(whole.written) {
                if !stepped.threads.contains(&thread) {
                    stepped.threads.push(thread);
                    stepped.written.push(written);
                }
            }
        }
        self.state(at, stepped)
    }

    fn ends(&self) -> Result<&Ends, AutomatonError> {
        if let Some(known) = self.ends.get() {
            return Ok(known);
        }
        let ends = Ends::new(&self.program, &self.contents)?;
        Ok(self.ends.get_or_init(|| ends))
    }

    /// A short text that ends the reply; none where each has over [`MAX_ENDING`] bytes.
    fn rest(&self, at: &TagState) -> Result<Option<Vec<u8>>, AutomatonError> {
        let ends = self.ends()?;
        let mut shortest: Option<Vec<u8>> = None;
        for thread in at.threads.iter() {
            let (mut text, next) = match *thread {
                Thread::End => return Ok(Some(Vec::new())),
                Thread::Branch(point) => (Vec::new(), point),
                Thread::Free(point, place) => {
                    let Some(region) = self.program.region(point) else {
                        continue;
                    };
                    match region.is_one() {
                        true => (Vec::new(), point),
                        false => match region.rest(place) {
                            Some(rest) => rest,
                            None => continue,
                        },
                    }
                }
                Thread::Content(point, state) => {
                    let Some((content, next)) = self.program.content(point) else {
                        continue;
                    };
                    match self.contents.get(content).completion(state)? {
                        Some(rest) => (rest, next),
                        None => continue,
                    }
                }
            };
            let length = ends
                .length(next)
                .map(|length| text.len().saturating_add(length as usize));
            if length.is_none_or(|length| length > MAX_ENDING) {
                continue;
            }
            let is_ended = ends.write(&self.program, &self.vocabulary, next, &mut text);
            if is_ended && shortest.as_ref().is_none_or(|known| text.len() < known.len()) {
                shortest = Some(text);
            }
        }
        Ok(shortest)
    }

    /// Returns the token that stands for itself and must come next; none where anything else may come.
    fn forced_token(&self, at: &Arc<[Thread]>) -> Result<Option<ForcedToken>, AutomatonError> {
        let is_before_token = |thread: &Thread| match thread {
            Thread::Branch(point) => match self.program.point(*point) {
                Point::Branch(edges) => edges.iter().all(|(byte, _)| is_lead(*byte)),
                _ => false,
            },
            _ => false,
        };
        if !at.iter().all(is_before_token) {
            return Ok(None);
        }
        let mut found = None;
        for (token, bytes) in self.program.named.iter() {
            let next = self.stepper(self.vocabulary.is_eos(*token)).step_all(at, bytes)?;
            if !next.is_empty() && found.replace((*token, next[..].into())).is_some() {
                return Ok(None);
            }
        }
        Ok(found)
    }
}

impl MaskedText for TagReplies {
    type State = TagState;
    type Key = Arc<[Thread]>;

    fn key(at: &TagState) -> Arc<[Thread]> {
        at.threads.clone()
    }

    fn furthest(&self) -> &ShardedCache<Arc<[Thread]>, u32> {
        &self.furthest
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn sets(&self) -> &BaseSets {
        &self.shared.index.sets
    }

    fn buffers(&self) -> &BufferPool {
        &self.shared.buffers
    }

    fn mask(&self, at: &TagState) -> Result<(Arc<TokenSet>, bool), MaskError> {
        if let Some(known) = self.masks.get(&at.threads) {
            return Ok((known, true));
        }
        let finder = MaskFinder {
            stepper: self.stepper(false),
            vocabulary: &self.vocabulary,
            tokens: &self.tokens,
            unnamed: &self.unnamed,
            index: &self.shared.index,
            free: &self.free,
        };
        let tokens = Arc::new(finder.find(&at.threads).map_err(mask_error)?);
        self.masks.keep(at.threads.clone(), tokens.clone(), tokens.bytes());
        Ok((tokens, false))
    }

    fn after(&self, at: &TagState, (token, bytes): (TokenId, &[u8]), _: bool) -> Result<Option<TagState>, MaskError> {
        self.after_token(at, token, bytes).map_err(mask_error)
    }

    fn after_special(&self, at: &TagState, token: TokenId) -> Result<Option<TagState>, MaskError> {
        self.after_token(at, token, b"").map_err(mask_error)
    }

    fn names(&self, token: TokenId) -> bool {
        let named = &self.program.named;
        self.vocabulary.kind(token) != TokenKind::Text
            && named.binary_search_by_key(&token, |(named, _)| *named).is_ok()
    }

    fn is_complete(&self, at: &TagState) -> Result<bool, MaskError> {
        self.stepper(false).is_complete(&at.threads).map_err(mask_error)
    }

    fn forced(&self, at: &TagState, before: &[TokenId]) -> Result<Vec<TokenId>, MaskError> {
        let (mut at, mut forced) = (at.threads.clone(), Vec::new());
        let mut before = before.to_vec();
        for _ in 0..MAX_FORCED_TOKENS {
            let mut reader = ForcedReader(self);
            let text = forced_tokens(&self.vocabulary, &self.shared.index, &mut reader, &at, &before);
            let text = text.map_err(mask_error)?;
            let (bytes, end) = forced_bytes(&mut reader, &at).map_err(mask_error)?;
            let is_whole = self.vocabulary.text_bytes(&text) == bytes;
            forced.extend(&text);
            before.extend(&text);
            let next = match is_whole {
                true => self.forced_token(&end).map_err(mask_error)?,
                false => None,
            };
            let Some((token, next)) = next else { break };
            forced.push(token);
            before.push(token);
            at = next;
        }
        Ok(forced)
    }

    fn forced_text(&self, at: &TagState) -> Result<Vec<u8>, MaskError> {
        let (bytes, _) = forced_bytes(&mut ForcedReader(self), &at.threads).map_err(mask_error)?;
        Ok(bytes)
    }

    fn completion(&self, at: &TagState) -> Result<Option<Vec<TokenId>>, MaskError> {
        let Some(rest) = self.rest(at).map_err(mask_error)? else {
            return Ok(None);
        };
        let mut tokens = Vec::new();
        for part in parts(&rest) {
            match part {
                Part::Token(token) => tokens.push(token),
                Part::Text(text) => match self.vocabulary.spell(text) {
                    Some(more) => tokens.extend(more),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(tokens))
    }

    fn completion_length(&self, at: &TagState) -> Result<Option<CompletionLength>, MaskError> {
        Ok(self.completion(at)?.map(|tokens| CompletionLength {
            tokens: tokens.len(),
            bytes: self.vocabulary.text_bytes(&tokens).len(),
        }))
    }

    fn memory(&self) -> usize {
        let contents = self.contents.iter().map(Content::memory);
        let points = self.program.points.len() * (size_of::<Point>() + 2 * size_of::<Thread>());
        contents.sum::<usize>()
            + points
            + self.program.point_bytes
            + self.masks.bytes()
            + self.free.bytes()
            + self.furthest.bytes()
    }

    fn used(&self) -> Used {
        let contents = self.contents.iter().map(Content::used);
        contents.fold(Used::default(), |all, one| Used {
            of_limits: all.of_limits.max(one.of_limits),
            effort: all.effort + one.effort,
        })
    }
}

/// Reads the bytes that must come.
struct ForcedReader<'a>(&'a TagReplies);

impl ReadBytes<Arc<[Thread]>> for ForcedReader<'_> {
    fn step(&mut self, at: &Arc<[Thread]>, byte: u8) -> Result<Option<Arc<[Thread]>>, AutomatonError> {
        if is_lead(byte) {
            return Ok(None);
        }
        let next = self.0.stepper(false).step(at, byte)?;
        Ok((!next.is_empty()).then(|| next[..].into()))
    }

    fn forced_byte(&mut self, at: &Arc<[Thread]>) -> Result<Option<(u8, Arc<[Thread]>)>, AutomatonError> {
        let stepper = self.0.stepper(false);
        let is_free = |thread: &Thread| matches!(thread, Thread::Free(..));
        if at.len() > MAX_FORCED_THREADS || at.iter().any(is_free) || stepper.is_complete(at)? {
            return Ok(None);
        }
        if let [Thread::Content(point, state)] = **at
            && let Some((content, _)) = self.0.program.content(point)
            && !self.0.contents.ends(content, state)?
        {
            let content = self.0.contents.get(content);
            if !content.is_text {
                let forced = content.forced_byte(state)?;
                return Ok(forced.map(|(byte, state)| (byte, [Thread::Content(point, state)].into())));
            }
        }
        let mut found = None;
        for byte in 0..=u8::MAX {
            let next = stepper.step(at, byte)?;
            if next.is_empty() {
                continue;
            }
            if found.is_some() || is_lead(byte) {
                return Ok(None);
            }
            found = Some((byte, next[..].into()));
        }
        Ok(found)
    }
}
