//! [`Contents`]: the JSON documents, raw strings and texts of expressions within a structural tag, each with its automaton.

mod marks;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use crate::automaton::{AutomatonError, DecodeState, State, StateClass, Written, WrittenState};
use crate::mask::cache::token_set::TokenSet;
use crate::mask::compiled_schema::CompiledSchema;
use crate::mask::index::base_sets::Words;
use crate::mask::masker::{MaskedText, Used};
use crate::reply::text;
use crate::strings::{CharRange, LanguageId};
use crate::{TokenId, Vocabulary, WritingBounds};

pub(super) use marks::Marks;

use super::format::{ContentId, ContentSource};
use super::masks::has;
use super::program::{ByteSet, ContentStart, ContentState};

/// Memory of a content in bytes, beyond which no further tag has it: contents grow with replies, and give no memory back while a tag has them.
const MOST_SHARED_BYTES: usize = 4 << 20;
/// Share of a content's limits beyond which no further tag has it, for the same reason.
const MOST_SHARED_USE: f64 = 0.25;

/// The automaton of a JSON document, a raw string or a text of an expression.
pub(super) struct Content {
    pub(super) source: ContentSource,
    pub(super) shared: Box<CompiledSchema>,
    pub(super) start: ContentStart,
    /// Whether the content is a string as it is, which the automaton reads as a string of JSON.
    pub(super) is_text: bool,
    /// The texts that are followed in the content's documents.
    marks: Option<Arc<Marks>>,
    bounds: WritingBounds,
    first: FirstByteEffects,
    /// The last bytes of the content's texts, or a superset of these bytes.
    last: OnceLock<ByteSet>,
}

/// The effect of a content's first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstByteEffect {
    /// The byte may not come.
    Refused,
    /// The byte leaves the state unchanged, as whitespace may.
    Ignored,
    /// The byte leads to another state.
    Read,
}

/// The effects of the first bytes that have been asked for: two bits for each byte, zero for one that has not.
#[derive(Default)]
struct FirstByteEffects([AtomicU64; 8]);

impl FirstByteEffects {
    fn get(&self, byte: u8) -> Option<FirstByteEffect> {
        match self.0[usize::from(byte / 32)].load(Ordering::Relaxed) >> (byte % 32 * 2) & 3 {
            1 => Some(FirstByteEffect::Refused),
            2 => Some(FirstByteEffect::Ignored),
            3 => Some(FirstByteEffect::Read),
            _ => None,
        }
    }

    fn put(&self, byte: u8, first: FirstByteEffect) {
        let bits = first as u64 + 1;
        self.0[usize::from(byte / 32)].fetch_or(bits << (byte % 32 * 2), Ordering::Relaxed);
    }
}

/// The contents of a structural tag.
pub(super) struct Contents(Box<[Arc<Content>]>);

/// The mask of a content by itself, without tokens that cross its end, where it is found without a walk.
pub(super) enum Inside {
    /// The mask as a set of tokens.
    Tokens(Arc<TokenSet>),
    /// The mask as bits, 32 a word.
    Text(Words),
    /// Not known without a walk.
    Unknown,
}

impl Content {
    pub(super) fn new(
        source: ContentSource,
        shared: Box<CompiledSchema>,
        state: State,
        marks: Option<Arc<Marks>>,
    ) -> Result<Self, AutomatonError> {
        let is_text = !matches!(source, ContentSource::Json { .. });
        let mut builder = shared.builder();
        let bounds = builder.automaton.bounds();
        let may_be_empty = is_text && text::ends(&mut builder.automaton, state)?;
        drop(builder);
        let state = ContentState { state, read: 0 };
        Ok(Self {
            source,
            shared,
            start: ContentStart { state, may_be_empty },
            is_text,
            marks,
            bounds,
            first: FirstByteEffects::default(),
            last: OnceLock::new(),
        })
    }

    /// Returns the texts that the content never has in it, and those that it never is.
    pub(super) fn never(&self) -> (&'static [&'static str], &[String]) {
        match &self.source {
            ContentSource::Text { never, excluded, .. } => (never, excluded),
            ContentSource::Json { never, .. } => (never, &[]),
            _ => (&[], &[]),
        }
    }

    /// Whether a further tag may have the content: replies have neither made it grow much nor used up much of its limits.
    pub(super) fn may_be_shared(&self) -> bool {
        self.shared.memory() <= MOST_SHARED_BYTES && self.used().of_limits <= MOST_SHARED_USE
    }

    /// Returns the share of the schema's limits, and the work, that all documents and texts of this content have used so far.
    pub(super) fn used(&self) -> Used {
        self.shared.used()
    }

    /// Bytes of memory that the content takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.source.bytes() + self.shared.memory()
    }

    /// The effect of a byte that comes first.
    pub(super) fn first(&self, byte: u8) -> Result<FirstByteEffect, AutomatonError> {
        if let Some(known) = self.first.get(byte) {
            return Ok(known);
        }
        let first = match self.step(self.start.state, byte)? {
            None => FirstByteEffect::Refused,
            Some(next) if next == self.start.state => FirstByteEffect::Ignored,
            Some(_) => FirstByteEffect::Read,
        };
        self.first.put(byte, first);
        Ok(first)
    }

    /// The state of the marks after a byte; none where it completes one.
    fn read_on(&self, at: ContentState, byte: u8) -> Option<u16> {
        match &self.marks {
            None => Some(0),
            Some(marks) => marks.step(at.read, byte),
        }
    }

    /// The state after a byte.
    fn step(&self, at: ContentState, byte: u8) -> Result<Option<ContentState>, AutomatonError> {
        let Some(read) = self.read_on(at, byte) else {
            return Ok(None);
        };
        let automaton = &mut self.shared.builder().automaton;
        let next = match self.is_text {
            true => text::step(automaton, at.state, byte)?,
            false => automaton.step(at.state, byte)?,
        };
        Ok(next.map(|state| ContentState { state, read }))
    }

    /// The characters that may come next in ranges, each with the state behind it, sorted; none within a character, and where that is not known.
    pub(super) fn characters(
        &self,
        at: ContentState,
    ) -> Result<Option<Vec<(CharRange, ContentState)>>, AutomatonError> {
        if !self.is_text {
            return Ok(None);
        }
        let transitions = self.shared.builder().automaton.characters(at.state)?;
        let Some(transitions) = transitions else {
            return Ok(None);
        };
        let mut behind: HashMap<LanguageId, Option<ContentState>> = HashMap::new();
        let mut characters = Vec::with_capacity(transitions.len());
        for &(range, language) in transitions.iter() {
            let next = match behind.get(&language) {
                Some(known) => *known,
                None => {
                    let mut next = Some(at);
                    for byte in range.first().encode_utf8(&mut [0; 4]).bytes() {
                        next = next.map_or(Ok(None), |next| self.step(next, byte))?;
                    }
                    *behind.entry(language).insert(next).get()
                }
            };
            characters.extend(next.map(|next| (range, next)));
        }
        Ok(Some(characters))
    }

    /// Returns the last bytes of the content's texts, or a superset of these bytes.
    pub(super) fn last(&self) -> Result<ByteSet, AutomatonError> {
        if let Some(known) = self.last.get() {
            return Ok(*known);
        }
        let last = match self.is_text {
            true => ByteSet::ALL,
            false => self.last_of_json()?,
        };
        Ok(*self.last.get_or_init(|| last))
    }

    /// Returns the bytes that a document may end with, derived from those that it may begin with.
    fn last_of_json(&self) -> Result<ByteSet, AutomatonError> {
        const SPACES: &[u8] = b" \t\n\r";
        let (automaton, start) = (&mut self.shared.builder().automaton, self.start.state.state);
        let mut last = ByteSet::default();
        // Whitespace before a document is followed by its first byte.
        for (first, ends) in [
            (&b"{"[..], &b"}"[..]),
            (b"[", b"]"),
            (b"\"", b"\""),
            (b"-0123456789", b"0123456789.eE+-"),
            (b"tf", b"e"),
            (b"n", b"l"),
        ] {
            for &byte in first {
                if automaton.step(start, byte)?.is_some() {
                    ends.iter().for_each(|byte| last.insert(*byte));
                }
            }
        }
        // Whitespace may follow every document if it may follow one.
        let mut spaces = true;
        if let Some(rest) = automaton.completion(start)?
            && let Some(end) = automaton.read_bytes(start, &rest)?
        {
            spaces = false;
            for &space in SPACES {
                spaces |= automaton.step(end, space)?.is_some();
            }
        }
        if spaces {
            SPACES.iter().for_each(|byte| last.insert(*byte));
        }
        Ok(last)
    }

    /// The sizes before the content's first byte.
    pub(super) fn nothing_written(&self) -> Written {
        let mut written = Written::new(&self.bounds, self.shared.longest_token());
        if self.is_text {
            written.read(b"\"");
        }
        written
    }

    /// Adds a byte to the sizes that a style bounds.
    pub(super) fn count(&self, written: &mut Written, byte: u8) {
        match self.is_text {
            true => written.read(&text::escaped(byte)),
            false => written.read(&[byte]),
        }
    }

    /// Moves bounds that are near from the counts in `written` into the state.
    pub(super) fn bound(&self, at: &mut ContentState, written: &mut Written) -> Result<(), AutomatonError> {
        let mut bounded = WrittenState {
            state: at.state,
            written: *written,
        };
        if bounded.is_due() {
            self.shared.builder().automaton.bound(&mut bounded)?;
            (at.state, *written) = (bounded.state, bounded.written);
        }
        Ok(())
    }

    /// Returns the mask of the content by itself, without tokens that cross its end.
    pub(super) fn inside(&self, at: ContentState, vocabulary: &Vocabulary) -> Result<Inside, AutomatonError> {
        let shared = &self.shared;
        let mut builder = shared.builder();
        if !self.is_text {
            let mut tokens = builder.tokens(at.state, shared)?;
            let index = &shared.tokens.index;
            // The point behind the content says whether the reply may end.
            if builder.automaton.is_complete(at.state)? {
                tokens = Arc::new(tokens.but(vocabulary.eos_tokens(), &index.sets));
            }
            if let Some(marks) = &self.marks {
                let completing = marks.completing(at.read, &index.every).iter();
                let refused = completing.copied().filter(|token| has(&tokens, *token, &index.sets));
                let refused: Vec<TokenId> = refused.collect();
                if !refused.is_empty() {
                    tokens = Arc::new(tokens.but(&refused, &index.sets));
                }
            }
            return Ok(Inside::Tokens(tokens));
        }
        let StateClass::String(decode, language) = builder.automaton.state_class(at.state)? else {
            return Ok(Inside::Unknown);
        };
        let tokens = match decode {
            DecodeState::Between => builder.strings(shared).inside(language)?,
            begun => builder.strings(shared).within(begun, language)?,
        };
        Ok(Inside::Text(tokens.words(&shared.tokens.index.sets).into()))
    }

    /// A short text that ends the content.
    pub(super) fn completion(&self, at: ContentState) -> Result<Option<Vec<u8>>, AutomatonError> {
        let json = self.shared.builder().automaton.completion(at.state)?;
        Ok(match (self.is_text, &self.marks) {
            (true, _) => json.and_then(|json| text::unescaped(&json)),
            (false, Some(marks)) => json.map(|json| marks.escaped(at.read, json)),
            (false, None) => json,
        })
    }

    /// The one byte that may come next, and the state after it; none where there is a choice, or where it is text.
    pub(super) fn forced_byte(&self, at: ContentState) -> Result<Option<(u8, ContentState)>, AutomatonError> {
        if self.is_text {
            return Ok(None);
        }
        let Some((byte, state)) = self.shared.builder().automaton.forced_byte(at.state)? else {
            return Ok(None);
        };
        Ok(self.read_on(at, byte).map(|read| (byte, ContentState { state, read })))
    }
}

impl Contents {
    pub(super) fn new(contents: Vec<Arc<Content>>) -> Self {
        Self(contents.into())
    }

    pub(super) fn get(&self, content: ContentId) -> &Content {
        &self.0[content]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Content> {
        self.0.iter().map(|content| &**content)
    }

    /// The state after a byte.
    pub(super) fn step(
        &self,
        content: ContentId,
        at: ContentState,
        byte: u8,
    ) -> Result<Option<ContentState>, AutomatonError> {
        self.get(content).step(at, byte)
    }

    /// Whether a content may end.
    pub(super) fn ends(&self, content: ContentId, at: ContentState) -> Result<bool, AutomatonError> {
        let content = self.get(content);
        let automaton = &mut content.shared.builder().automaton;
        match content.is_text {
            true => text::ends(automaton, at.state),
            false => automaton.is_complete(at.state),
        }
    }
}
