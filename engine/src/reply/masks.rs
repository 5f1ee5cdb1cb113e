//! The token masks of replies of one form to requests for data under one schema, computed on demand and cached.

use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;

use crate::automaton::{AutomatonError, DecodeState, State, StateClass, Written, WrittenState};
use crate::{MaskError, TokenId, TokenKind, Vocabulary, WritingBounds};

use super::ReplyForm;
use super::text::{self, UnlikeTokens};
use super::threads::{At, Thread, ThreadReader, begin, data, opening};
use super::write;
use super::yaml::{Collections, FIRST, FIRST_OF_SCALARS, Top, Yaml};
use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::cache::mask_buffers::BufferPool;
use crate::mask::cache::sharded::ShardedCache;
use crate::mask::cache::token_set::TokenSet;
use crate::mask::compiled_schema::{CompiledSchema, MaskBuilder, mask_error};
use crate::mask::completions::CompletionLength;
use crate::mask::forced_tokens::{ReadBytes, forced_bytes, forced_tokens};
use crate::mask::index::base_sets::{BaseSets, Words};
use crate::mask::index::tokens::Spelled;
use crate::mask::masker::{MaskedText, Used};

/// Memory for the masks that the replies to one request keep.
const MASK_BYTES: usize = 8 << 20;

/// Memory for the longest completions behind the tokens of states.
const FURTHEST_BYTES: usize = 1 << 20;

/// The tokens that may lead from the data of a reply to the text after it.
#[derive(Debug)]
pub(super) struct ClosingTokens(Spelled);

impl ClosingTokens {
    pub(super) fn new(vocabulary: &Vocabulary, after: &str) -> Self {
        let text = |token: &TokenId| vocabulary.kind(*token) == TokenKind::Text;
        let leads = |bytes: &[u8]| {
            let mut ends = (0..bytes.len()).map(|from| &bytes[from..]);
            ends.any(|end| after.as_bytes().starts_with(end))
        };
        let tokens = (0..vocabulary.len() as TokenId).filter(text);
        let tokens = tokens.map(|token| (vocabulary.token_bytes(token).to_vec(), token));
        Self(Spelled::new(tokens.filter(|(bytes, _)| leads(bytes)).collect()))
    }
}

/// The replies to one request.
pub(super) struct Reply {
    shared: CompiledSchema,
    form: ReplyForm,
    /// The tokens that lead from the data to the text after it, by envelope.
    tails: Box<[Arc<ClosingTokens>]>,
    /// The tokens that are not the same in text as in JSON, where the data is text.
    unlike: Option<Arc<UnlikeTokens>>,
    /// The state before the data.
    start: State,
    bounds: WritingBounds,
    cache: Mutex<ReplyCache>,
    /// The longest completions behind tokens, where a limit on tokens was near.
    furthest: ShardedCache<Arc<[Thread]>, u32>,
}

/// The caches of replies for the parts outside of their data.
struct ReplyCache {
    collections: Collections,
    masks: BoundedCache<Arc<[Thread]>, Arc<TokenSet>>,
}

impl Reply {
    pub(super) fn new(
        shared: CompiledSchema,
        form: ReplyForm,
        tails: Box<[Arc<ClosingTokens>]>,
        unlike: Option<Arc<UnlikeTokens>>,
        start: State,
    ) -> Self {
        let cache = ReplyCache {
            collections: Collections::default(),
            masks: BoundedCache::new(MASK_BYTES),
        };
        let cache = Mutex::new(cache);
        let bounds = shared.builder().automaton.bounds();
        Self {
            bounds,
            shared,
            form,
            tails,
            unlike,
            start,
            cache,
            furthest: ShardedCache::new(FURTHEST_BYTES, 0),
        }
    }

    /// The state before a reply.
    pub(super) fn start(&self) -> ReplyState {
        let threads = begin(&self.form, self.start);
        let written = threads.iter().map(|thread| {
            let mut written = self.nothing_written();
            if !matches!(thread.at, At::Before(_)) {
                written.read(opening(self.form.data).bytes());
            }
            written
        });
        ReplyState {
            written: written.collect(),
            threads: threads.into(),
        }
    }

    /// The sizes before any data.
    fn nothing_written(&self) -> Written {
        Written::new(&self.bounds, self.shared.longest_token())
    }

    fn cache(&self) -> MutexGuard<'_, ReplyCache> {
        lock(&self.cache)
    }

    fn with<T>(&self, ask: impl FnOnce(&mut ReplyWalk<'_>) -> Result<T, AutomatonError>) -> Result<T, MaskError> {
        let (mut cache, mut builder) = (self.cache(), self.shared.builder());
        let mut walk = ReplyWalk {
            reply: self,
            cache: &mut cache,
            builder: &mut builder,
        };
        ask(&mut walk).map_err(mask_error)
    }
}

/// A state in a reply, with the sizes of the strings and containers that are open in the JSON of each thread.
#[derive(Clone)]
pub(super) struct ReplyState {
    threads: Arc<[Thread]>,
    written: SmallVec<[Written; 1]>,
}

impl MaskedText for Reply {
    type State = ReplyState;
    type Key = Arc<[Thread]>;

    fn key(at: &ReplyState) -> Arc<[Thread]> {
        at.threads.clone()
    }

    fn furthest(&self) -> &ShardedCache<Arc<[Thread]>, u32> {
        &self.furthest
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.shared.vocabulary()
    }

    fn sets(&self) -> &BaseSets {
        self.shared.sets()
    }

    fn buffers(&self) -> &BufferPool {
        self.shared.buffers()
    }

    fn mask(&self, at: &ReplyState) -> Result<(Arc<TokenSet>, bool), MaskError> {
        let at = &at.threads;
        self.with(|walk| {
            if let Some(known) = walk.cache.masks.get(at) {
                return Ok((known, true));
            }
            let tokens = Arc::new(walk.tokens(at)?);
            walk.cache.masks.keep(at.clone(), tokens.clone(), tokens.bytes());
            Ok((tokens, false))
        })
    }

    fn after(&self, at: &ReplyState, (_, bytes): (TokenId, &[u8]), _: bool) -> Result<Option<ReplyState>, MaskError> {
        self.with(|walk| {
            let mut threads = SmallVec::<[Thread; 2]>::from_slice(&at.threads);
            let mut written = at.written.clone();
            for &byte in bytes {
                let (mut next, mut next_written) = (SmallVec::<[Thread; 2]>::new(), SmallVec::<[Written; 1]>::new());
                walk.reader().step_from(&threads, byte, &mut |from, thread, piece| {
                    let mut written: Written = written[from];
                    written.close(piece.closed);
                    written.read(piece.bytes());
                    next.push(thread);
                    next_written.push(written);
                })?;
                (threads, written) = (next, next_written);
            }
            walk.bound(&mut threads, &mut written)?;
            let threads = threads[..].into();
            Ok(Some(ReplyState { threads, written }).filter(|next| !next.threads.is_empty()))
        })
    }

    fn is_complete(&self, at: &ReplyState) -> Result<bool, MaskError> {
        self.with(|walk| walk.reader().is_complete(&at.threads))
    }

    fn forced(&self, at: &ReplyState, before: &[TokenId]) -> Result<Vec<TokenId>, MaskError> {
        let index = &self.shared.tokens.index;
        self.with(|walk| forced_tokens(self.vocabulary(), index, walk, &at.threads, before))
    }

    fn forced_text(&self, at: &ReplyState) -> Result<Vec<u8>, MaskError> {
        self.with(|walk| Ok(forced_bytes(walk, &at.threads)?.0))
    }

    fn completion_length(&self, at: &ReplyState) -> Result<Option<CompletionLength>, MaskError> {
        let vocabulary = self.vocabulary();
        Ok(self.completion(at)?.map(|tokens| CompletionLength {
            tokens: tokens.len(),
            bytes: tokens.iter().map(|token| vocabulary.token_bytes(*token).len()).sum(),
        }))
    }

    fn completion(&self, at: &ReplyState) -> Result<Option<Vec<TokenId>>, MaskError> {
        let shortest = self.with(|walk| {
            let mut shortest: Option<Vec<u8>> = None;
            for thread in at.threads.iter() {
                let rest = walk.shortest_end(thread)?;
                if let Some(rest) = rest.filter(|rest| shortest.as_ref().is_none_or(|known| rest.len() < known.len())) {
                    shortest = Some(rest);
                }
            }
            Ok(shortest)
        })?;
        Ok(shortest.and_then(|text| self.vocabulary().spell(&text)))
    }

    fn memory(&self) -> usize {
        // One lock at a time.
        let masks = self.cache().masks.bytes();
        self.shared.memory() + masks + self.furthest.bytes()
    }

    fn used(&self) -> Used {
        self.shared.used()
    }
}

/// A walk over the tokens that may come.
struct ReplyWalk<'a> {
    reply: &'a Reply,
    cache: &'a mut ReplyCache,
    builder: &'a mut MaskBuilder,
}

impl<'a> ReplyWalk<'a> {
    /// Makes bounds that are near a part of the states of the data.
    fn bound(&mut self, threads: &mut [Thread], written: &mut [Written]) -> Result<(), AutomatonError> {
        for (thread, written) in threads.iter_mut().zip(written) {
            let state = match &mut thread.at {
                At::Json(state) | At::Text(state) => state,
                At::Yaml(yaml) => &mut yaml.json,
                At::Before(_) | At::After(_) => continue,
            };
            let mut at = WrittenState {
                state: *state,
                written: *written,
            };
            if at.is_due() {
                self.builder.automaton.bound(&mut at)?;
                (*state, *written) = (at.state, at.written);
            }
        }
        Ok(())
    }

    fn reader(&mut self) -> ThreadReader<'_> {
        ThreadReader {
            form: &self.reply.form,
            start: self.reply.start,
            automaton: &mut self.builder.automaton,
            collections: &mut self.cache.collections,
        }
    }

    fn tokens(&mut self, threads: &[Thread]) -> Result<TokenSet, AutomatonError> {
        let shared = &self.reply.shared;
        let (mut words, mut found, mut others) = (None, Vec::new(), Vec::new());
        let mut join = |tokens: &TokenSet, but: Option<&UnlikeTokens>| {
            let mut more = tokens.words(shared.sets());
            if let Some(but) = but {
                but.take_out_of(&mut more);
            }
            match &mut words {
                None => words = Some(more),
                Some(words) => words.iter_mut().zip(more).for_each(|(word, more)| *word |= more),
            }
        };
        for thread in threads {
            let envelope = &self.reply.form.envelopes[usize::from(thread.envelope)];
            match thread.at {
                At::Before(_) | At::After(_) => others.push(*thread),
                At::Json(state) => {
                    let mut tokens = self.builder.tokens(state, shared)?.as_ref().clone();
                    if !envelope.after.is_empty() {
                        if self.builder.automaton.is_complete(state)? {
                            tokens = tokens.but(shared.vocabulary.eos_tokens(), shared.sets());
                        }
                        let tails = &self.reply.tails[usize::from(thread.envelope)].0;
                        self.walk(tails, &[*thread], &mut found)?;
                    }
                    join(&tokens, None);
                }
                At::Text(state) => match self.builder.automaton.state_class(state)? {
                    StateClass::String(decode, language) => {
                        let inside = match decode {
                            DecodeState::Between => self.builder.strings(shared).inside(language)?,
                            begun => self.builder.strings(shared).within(begun, language)?,
                        };
                        let unlike = self.reply.unlike.as_deref();
                        join(&inside, unlike);
                        if let Some(unlike) = unlike {
                            self.walk(unlike.spelled(), &[*thread], &mut found)?;
                        }
                        if !envelope.after.is_empty() {
                            let tails = &self.reply.tails[usize::from(thread.envelope)].0;
                            self.walk(tails, &[*thread], &mut found)?;
                        }
                    }
                    _ => others.push(*thread),
                },
                At::Yaml(yaml) => match self.builder.automaton.state_class(yaml.json)? {
                    StateClass::String(decode, language) => {
                        let inside = match decode {
                            DecodeState::Between => self.builder.strings(shared).inside(language)?,
                            begun => self.builder.strings(shared).within(begun, language)?,
                        };
                        join(&inside, None);
                        self.walk(&shared.tokens.index.quoted, &[*thread], &mut found)?;
                    }
                    _ => others.push(*thread),
                },
            }
        }
        if !others.is_empty() {
            self.walk(&shared.tokens.index.every, &others, &mut found)?;
        }
        if self.reader().is_complete(threads)? {
            found.extend(shared.vocabulary.eos_tokens());
        }
        Ok(TokenSet::joined(
            found,
            words.map(Words::from),
            &[],
            shared.tokens.index.len,
        ))
    }

    /// Adds the tokens of a trie that lead on from some threads.
    fn walk(&mut self, spelled: &Spelled, from: &[Thread], found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let step = |threads: &SmallVec<[Thread; 2]>, byte| {
            let mut next = SmallVec::new();
            self.reader().step(threads, byte, &mut next)?;
            Ok(Some(next).filter(|next| !next.is_empty()))
        };
        spelled.walk(SmallVec::from_slice(from), step, found)
    }

    /// A short text that ends the reply.
    fn shortest_end(&mut self, thread: &Thread) -> Result<Option<Vec<u8>>, AutomatonError> {
        let form = &self.reply.form;
        let envelope = &form.envelopes[usize::from(thread.envelope)];
        let (before, at) = match thread.at {
            At::After(read) => return Ok(Some(envelope.after.as_bytes()[read as usize..].to_vec())),
            At::Before(read) => (
                &envelope.before.as_bytes()[read as usize..],
                data(form.data, self.reply.start),
            ),
            at => (&b""[..], at),
        };
        let data = match at {
            At::Json(state) => self.builder.automaton.completion(state)?,
            At::Text(state) => {
                let json = self.builder.automaton.completion(state)?;
                json.and_then(|json| text::unescaped(&json))
            }
            At::Yaml(yaml) => match self.shortest_data_end(yaml)? {
                Some(json) => {
                    let string = self.string_end(yaml.json, &json)?;
                    Some(write::rest(&self.cache.collections, yaml, string, &json))
                }
                None => None,
            },
            At::Before(_) | At::After(_) => None,
        };
        Ok(data.map(|data| [before, &data, envelope.after.as_bytes()].concat()))
    }
}

impl ReplyWalk<'_> {
    /// A short text in JSON that ends the data, where YAML can be ended.
    fn shortest_data_end(&mut self, at: Yaml) -> Result<Option<Vec<u8>>, AutomatonError> {
        let automaton = &mut self.builder.automaton;
        let rest = automaton.completion(at.json)?;
        let first = match rest.as_deref() {
            // A list or mapping that was begun is not empty.
            Some([b']' | b'}', ..]) if at.is_before_part() => FIRST,
            // Behind a name and a space, a value takes one line.
            Some(value @ [b'[' | b'{', ..]) if at.top == Top::Member && !value.starts_with(b"[]") => FIRST_OF_SCALARS,
            _ => return Ok(rest),
        };
        let mut shortest: Option<Vec<u8>> = None;
        for &byte in first {
            if let Some(begun) = automaton.step(at.json, byte)?
                && let Some(rest) = automaton.completion(begun)?
                && shortest.as_ref().is_none_or(|known| rest.len() + 1 < known.len())
            {
                shortest = Some([&[byte], &rest[..]].concat());
            }
        }
        Ok(shortest)
    }

    /// Returns the number of bytes that end the string at a state, of JSON that ends the data; none where the state is not in a string.
    fn string_end(&mut self, at: State, json: &[u8]) -> Result<Option<usize>, AutomatonError> {
        let automaton = &mut self.builder.automaton;
        if !automaton.is_in_text(at) {
            return Ok(None);
        }
        // Whether a backslash stands before the state shows in whether a quote behind it, or behind further backslashes, ends the string.
        let backslashes = json.iter().take_while(|byte| **byte == b'\\').count();
        let is_escaped = match json.get(backslashes) {
            Some(b'"') => {
                let behind = automaton.read_bytes(at, &json[..=backslashes])?;
                let goes_on = behind.is_some_and(|behind| automaton.is_in_text(behind));
                goes_on == backslashes.is_multiple_of(2)
            }
            _ => false,
        };
        Ok(Some(write::string_end(json, is_escaped)))
    }
}

impl ReadBytes<Arc<[Thread]>> for ReplyWalk<'_> {
    fn step(&mut self, at: &Arc<[Thread]>, byte: u8) -> Result<Option<Arc<[Thread]>>, AutomatonError> {
        let mut next = SmallVec::<[Thread; 2]>::new();
        self.reader().step(at, byte, &mut next)?;
        Ok((!next.is_empty()).then(|| next[..].into()))
    }

    fn forced_byte(&mut self, at: &Arc<[Thread]>) -> Result<Option<(u8, Arc<[Thread]>)>, AutomatonError> {
        if self.reader().is_complete(at)? {
            return Ok(None);
        }
        let mut found = None;
        for byte in 0..=u8::MAX {
            if let Some(next) = self.step(at, byte)? {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some((byte, next));
            }
        }
        Ok(found)
    }
}
