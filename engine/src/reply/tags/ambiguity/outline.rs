//! [`Outlines`]: nondeterministic abstractions of contents, with far fewer states than their automata.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::CompileError;
use crate::strings::CharRange;

use super::super::contents::{Contents, FirstByteEffect};
use super::super::format::ContentId;
use super::super::literal::BY_ID;
use super::super::program::ContentState;
use super::without::{ExcludedTexts, WithoutTexts};

/// State of an outline.
pub(super) type OutlineState = u32;
/// State before the first byte, in every outline.
pub(super) const START: OutlineState = 0;

/// Within a text of which nothing is known.
const ANY: OutlineState = 1;
/// Within a document that cannot end there, or before it.
const OPEN: OutlineState = 0;
/// Within a number, which may be the whole document.
const NUMBER: OutlineState = 1;
/// Position behind a document, where whitespace may follow.
const ENDED: OutlineState = 2;
/// Number of these positions in a document.
const PLACES: OutlineState = 3;

/// Maximal number of states of a content that is followed exactly byte by byte: exploring them takes tens of milliseconds.
const MAX_STATES: usize = 1 << 9;
/// Maximal number of states explored byte by byte for all contents of one structural tag.
const MAX_STATES_OF_ALL: usize = 1 << 12;
/// Maximal number of steps with which texts of one structural tag are explored by ranges of characters; a million take some ten milliseconds.
const MAX_TEXT_STEPS: usize = 1 << 23;
/// Steps that a state between two characters counts for.
const STEPS_OF_STATE: usize = 1 << 8;

/// The first bytes of characters, without those that begin none: the first character and its length in bytes behind the first.
const LEADS: [(std::ops::RangeInclusive<u8>, u32, u32); 4] = [
    (0..=0x7F, 0, 0),
    (0xC2..=0xDF, 0x80, 1),
    (0xE0..=0xEF, 0, 2),
    (0xF0..=0xF4, 0, 3),
];

/// Bits of a character that each byte behind its first has.
const BITS: u32 = 6;
const FIRST_SURROGATE: u32 = 0xD800;
const LAST_SURROGATE: u32 = 0xDFFF;

/// States that may follow a byte; the content is in one of them.
pub(super) type Alternatives = SmallVec<[OutlineState; 3]>;

#[derive(Debug)]
enum Outline {
    /// Any text, which may end anywhere.
    Text,
    /// Any text without some texts in it, which may end anywhere. Its states are those of [`WithoutTexts`], shifted by one.
    Without(Arc<WithoutTexts>),
    /// Any text that has none of some texts in it and is none of some others, which may end anywhere else. Its states are those of [`WithoutTexts`],
    /// shifted by one, and behind them those of [`ExcludedTexts`], while the text may still become one of the others.
    OtherThan(Arc<WithoutTexts>, ExcludedTexts),
    /// Any document without some texts in it, reduced to whether it can have ended. Behind the state before the first byte, there are [`PLACES`]
    /// states for each of [`WithoutTexts`].
    Json(Arc<WithoutTexts>),
    /// The exact automaton of the content.
    Whole(Box<[WholeState]>),
}

/// A state of a content's exact automaton.
#[derive(Debug, Default)]
struct WholeState {
    may_end: bool,
    next: Box<[Next]>,
}

/// Bytes that may come, from the first to the last, and the state after each of them.
type Next = (u8, u8, OutlineState);

/// Adds a byte and the state after it behind those of smaller bytes.
fn push(next: &mut Vec<Next>, byte: u8, after: OutlineState) {
    match next.last_mut() {
        Some((_, last, same)) if *same == after && *last + 1 == byte => *last = byte,
        _ => next.push((byte, byte, after)),
    }
}

/// The outlines of the contents of a structural tag.
pub(super) struct Outlines<'a> {
    contents: &'a Contents,
    outlines: Vec<Outline>,
    /// Number of states that may still be explored byte by byte.
    states_left: usize,
    /// Number of steps with which texts may still be explored.
    steps_left: usize,
    /// Contents with too many states.
    given_up: HashSet<ContentId>,
}

impl<'a> Outlines<'a> {
    pub(super) fn new(contents: &'a Contents) -> Self {
        let mut known: HashMap<&[&str], Arc<WithoutTexts>> = HashMap::new();
        let outlines = contents.iter().map(|content| {
            let (texts, excluded) = content.never();
            let without = known.entry(texts).or_insert_with(|| Arc::new(WithoutTexts::new(texts)));
            match (content.is_text, texts, excluded) {
                (false, ..) => Outline::Json(without.clone()),
                (true, [], []) => Outline::Text,
                (true, _, []) => Outline::Without(without.clone()),
                (true, ..) => Outline::OtherThan(without.clone(), ExcludedTexts::new(excluded, without)),
            }
        });
        Self {
            contents,
            outlines: outlines.collect(),
            states_left: MAX_STATES_OF_ALL,
            steps_left: MAX_TEXT_STEPS,
            given_up: HashSet::new(),
        }
    }

    /// The states of a content's outline.
    pub(super) fn states(&self, content: ContentId) -> std::ops::Range<OutlineState> {
        START..match &self.outlines[content] {
            Outline::Text => ANY + 1,
            Outline::Without(texts) => ANY + texts.len() as OutlineState,
            Outline::OtherThan(texts, excluded) => ANY + (texts.len() + excluded.len()) as OutlineState,
            Outline::Json(texts) => ANY + PLACES * texts.len() as OutlineState,
            Outline::Whole(states) => states.len() as OutlineState,
        }
    }

    /// Whether a state of an outline stands for exactly one state of the content.
    pub(super) fn is_single(&self, content: ContentId, state: OutlineState) -> bool {
        state == START
            || match &self.outlines[content] {
                Outline::Whole(_) => true,
                Outline::OtherThan(texts, _) => state >= ANY + texts.len() as OutlineState,
                Outline::Text | Outline::Without(_) | Outline::Json(_) => false,
            }
    }

    /// Whether the outline of a content is its exact automaton.
    pub(super) fn is_whole(&self, content: ContentId) -> bool {
        matches!(self.outlines[content], Outline::Whole(_))
    }

    /// Whether a content may end.
    pub(super) fn may_end(&self, content: ContentId, state: OutlineState) -> bool {
        match &self.outlines[content] {
            Outline::Text | Outline::Without(_) | Outline::OtherThan(..) if state == START => {
                self.contents.get(content).start.may_be_empty
            }
            Outline::Text | Outline::Without(_) => true,
            Outline::OtherThan(texts, excluded) => {
                let begun = (state - ANY).checked_sub(texts.len() as OutlineState);
                begun.is_none_or(|begun| !excluded.is_one(begun))
            }
            Outline::Json(_) => state != START && matches!((state - ANY) % PLACES, NUMBER | ENDED),
            Outline::Whole(states) => states[state as usize].may_end,
        }
    }

    /// Adds the states that may follow a byte.
    pub(super) fn step(
        &self,
        content: ContentId,
        state: OutlineState,
        byte: u8,
        next: &mut Alternatives,
    ) -> Result<(), CompileError> {
        if byte >= BY_ID {
            return Ok(());
        }
        if let Outline::Whole(states) = &self.outlines[content] {
            let ranges = &states[state as usize].next;
            let found = ranges.get(ranges.partition_point(|(_, last, _)| *last < byte));
            next.extend(found.filter(|(first, ..)| *first <= byte).map(|(.., after)| *after));
            return Ok(());
        }
        if state == START {
            match self.contents.get(content).first(byte)? {
                FirstByteEffect::Refused => return Ok(()),
                FirstByteEffect::Ignored => {
                    next.push(START);
                    return Ok(());
                }
                FirstByteEffect::Read => {}
            }
        }
        match &self.outlines[content] {
            Outline::Text => {
                next.push(ANY);
                return Ok(());
            }
            Outline::Without(texts) => {
                let read = state.saturating_sub(ANY) as u16;
                next.extend(texts.step(read, byte).map(|read| ANY + OutlineState::from(read)));
                return Ok(());
            }
            Outline::OtherThan(texts, excluded) => {
                let begun = match state {
                    START => Some(ExcludedTexts::START),
                    _ => (state - ANY).checked_sub(texts.len() as OutlineState),
                };
                let read = match begun {
                    Some(begun) => match excluded.step(begun, byte) {
                        Some(begun) => {
                            next.push(ANY + texts.len() as OutlineState + begun);
                            return Ok(());
                        }
                        None => excluded.read(begun),
                    },
                    None => (state - ANY) as u16,
                };
                next.extend(texts.step(read, byte).map(|read| ANY + OutlineState::from(read)));
                return Ok(());
            }
            Outline::Json(texts) => {
                let (place, read) = match state.checked_sub(ANY) {
                    None => (OPEN, 0),
                    Some(state) => (state % PLACES, (state / PLACES) as u16),
                };
                let Some(read) = texts.step(read, byte) else {
                    return Ok(());
                };
                let places: &[OutlineState] = match (place, byte) {
                    (NUMBER | ENDED, b' ' | b'\t' | b'\n' | b'\r') => &[ENDED],
                    (NUMBER, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => &[NUMBER],
                    (NUMBER | ENDED, _) => &[],
                    (_, b'0'..=b'9') => &[OPEN, NUMBER],
                    (_, b'"' | b']' | b'}' | b'e' | b'l') => &[OPEN, ENDED],
                    _ => &[OPEN],
                };
                next.extend(
                    places
                        .iter()
                        .map(|place| ANY + place + PLACES * OutlineState::from(read)),
                );
            }
            // Followed above.
            Outline::Whole(_) => {}
        }
        Ok(())
    }

    /// The bytes that a content followed exactly goes on with; none where it is not.
    pub(super) fn bytes_of_whole(&self, content: ContentId, state: OutlineState) -> Option<impl Iterator<Item = u8>> {
        match &self.outlines[content] {
            Outline::Whole(states) => {
                let ranges = states[state as usize].next.iter();
                Some(ranges.flat_map(|(first, last, _)| *first..=*last))
            }
            _ => None,
        }
    }

    /// The bytes with which a content may go on where it may end; none where they are not known.
    pub(super) fn bytes_behind_ends(&self, content: ContentId) -> Option<&'static [u8]> {
        matches!(self.outlines[content], Outline::Json(_)).then_some(b" \t\n\r0123456789.eE+-")
    }

    /// The texts that the outline of a content tells apart from others.
    pub(super) fn texts(&self, content: ContentId) -> impl Iterator<Item = &str> {
        let (never, excluded) = self.contents.get(content).never();
        never.iter().copied().chain(excluded.iter().map(String::as_str))
    }

    /// Whether a content is a text, rather than a document.
    pub(super) fn is_text(&self, content: ContentId) -> bool {
        self.contents.get(content).is_text
    }

    /// Replaces the outline of a content by its exact automaton, unless that has too many states. Returns whether the outline changed.
    pub(super) fn look_at(&mut self, content: ContentId) -> Result<bool, CompileError> {
        if self.is_whole(content) || self.given_up.contains(&content) {
            return Ok(false);
        }
        match self.explored(content)? {
            Some(states) => self.outlines[content] = Outline::Whole(states.into()),
            None => drop(self.given_up.insert(content)),
        }
        Ok(self.is_whole(content))
    }

    /// The states of the exact automaton of a content, the start first; none where they are too many.
    fn explored(&mut self, content: ContentId) -> Result<Option<Vec<WholeState>>, CompileError> {
        let start = self.contents.get(content).start.state;
        let mut found = Exploration {
            numbers: HashMap::from([(start, START)]),
            open: vec![(START, start)],
            states: vec![WholeState::default()],
        };
        let mut bytewise = 0;
        while let Some((number, state)) = found.open.pop() {
            let may_end = self.contents.ends(content, state)?;
            let next = match self.contents.get(content).characters(state)? {
                Some(characters) => {
                    let count = STEPS_OF_STATE + characters.len();
                    let Some(left) = self.steps_left.checked_sub(count) else {
                        return Ok(None);
                    };
                    self.steps_left = left;
                    match found.behind_characters(&characters, &mut self.steps_left) {
                        Some(next) => next,
                        None => return Ok(None),
                    }
                }
                None => {
                    bytewise += 1;
                    if bytewise > MAX_STATES || self.states_left == 0 {
                        return Ok(None);
                    }
                    self.states_left -= 1;
                    let mut next = Vec::new();
                    for byte in 0..BY_ID {
                        if let Some(after) = self.contents.step(content, state, byte)? {
                            push(&mut next, byte, found.number(after));
                        }
                    }
                    next
                }
            };
            found.states[number as usize] = WholeState {
                may_end,
                next: next.into(),
            };
        }
        Ok(Some(found.states))
    }
}

/// The part of a content's automaton that is known so far.
struct Exploration {
    numbers: HashMap<ContentState, OutlineState>,
    /// States whose successors are not known yet.
    open: Vec<(OutlineState, ContentState)>,
    states: Vec<WholeState>,
}

/// The states within the characters behind one state. Those of other states are not shared: threads at these are others.
struct Partial<'a> {
    /// Ranges of characters, both ends included, each with the state behind it; sorted.
    ranges: Vec<(u32, u32, OutlineState)>,
    /// The states at which so many bytes are missing, whatever they are, by that number and the state behind them.
    any: HashMap<(u32, OutlineState), OutlineState>,
    known: HashMap<Vec<Next>, OutlineState>,
    states: &'a mut Vec<WholeState>,
    steps_left: &'a mut usize,
}

impl Exploration {
    fn number(&mut self, state: ContentState) -> OutlineState {
        let new = self.states.len() as OutlineState;
        *self.numbers.entry(state).or_insert_with(|| {
            self.open.push((new, state));
            self.states.push(WholeState::default());
            new
        })
    }

    /// The bytes behind a state, behind which some characters may come, each with the state behind it; none where that takes too many steps.
    fn behind_characters(
        &mut self,
        characters: &[(CharRange, ContentState)],
        steps_left: &mut usize,
    ) -> Option<Vec<Next>> {
        let ranges = characters
            .iter()
            .map(|(range, state)| (range.first().into(), range.last().into(), self.number(*state)));
        let mut partial = Partial {
            ranges: ranges.collect(),
            any: HashMap::new(),
            known: HashMap::new(),
            states: &mut self.states,
            steps_left,
        };
        let mut next = Vec::new();
        for (leads, first, missing) in LEADS {
            let (begin, bits) = (*leads.start(), BITS * missing);
            // The overlong spellings are those of characters with fewer bytes.
            let least = [0, 0x80, 0x800, 0x1_0000][missing as usize];
            for byte in leads {
                let from = first + (u32::from(byte - begin) << bits);
                if let Some(after) = partial.state(from, missing, least)? {
                    push(&mut next, byte, after);
                }
            }
        }
        Some(next)
    }
}

impl Partial<'_> {
    /// The state behind the bytes that the characters from one on begin with, of which some bytes are missing; `Some(None)` where no
    /// character begins so, and none where that takes too many steps.
    fn state(&mut self, from: u32, missing: u32, least: u32) -> Option<Option<OutlineState>> {
        let to = from + ((1 << (BITS * missing)) - 1);
        let (has_overlong, has_surrogates) = (from < least, from <= LAST_SURROGATE && to >= FIRST_SURROGATE);
        let at = self.ranges.partition_point(|(_, last, _)| *last < from.max(least));
        let Some(&(first, last, after)) = self.ranges.get(at).filter(|(first, ..)| *first <= to) else {
            return Some(None);
        };
        let is_any = first <= from && to <= last && !has_overlong && !has_surrogates;
        match missing {
            _ if to < least || from >= FIRST_SURROGATE && to <= LAST_SURROGATE => return Some(None),
            0 => return Some(is_any.then_some(after)),
            _ if is_any => {
                if let Some(known) = self.any.get(&(missing, after)) {
                    return Some(Some(*known));
                }
            }
            _ => {}
        }
        *self.steps_left = self.steps_left.checked_sub(1 << BITS)?;
        let mut next = Vec::new();
        for byte in 0x80..=0xBF {
            let from = from + (u32::from(byte - 0x80) << (BITS * (missing - 1)));
            if let Some(after) = self.state(from, missing - 1, least)? {
                push(&mut next, byte, after);
            }
        }
        if next.is_empty() {
            return Some(None);
        }
        let (new, states) = (self.states.len() as OutlineState, &mut *self.states);
        let state = *self.known.entry(next).or_insert_with_key(|next| {
            states.push(WholeState {
                may_end: false,
                next: next.as_slice().into(),
            });
            new
        });
        if is_any {
            self.any.insert((missing, after), state);
        }
        Some(Some(state))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::content;
    use super::super::super::format::ContentSource;
    use super::*;
    use crate::{ExactOptions, ReplyCompiler, Vocabulary};

    /// The automaton by ranges of characters reads the bytes that the content reads, and may end where it may, behind beginnings of all
    /// characters with the bytes that ranges of characters begin and end with.
    #[test]
    fn texts_by_ranges_of_characters_are_read_byte_by_byte() {
        let builder = (0..=u8::MAX).try_fold(Vocabulary::builder(), |builder, byte| builder.text(byte.into(), [byte]));
        let vocabulary = Arc::new(
            builder
                .unwrap()
                .special(256, "<end>")
                .unwrap()
                .eos([256])
                .build()
                .unwrap(),
        );
        let compiler = ReplyCompiler::new(vocabulary, ExactOptions::default());
        for pattern in [
            "[^<]",
            "[^\u{0}]?é|[a\u{7ff}\u{800}\u{d7ff}\u{e000}]{2}",
            "\\p{L}{1,2}\u{10000}?",
            "(.\"|x)*",
        ] {
            let content = Arc::new(content(&compiler, &ContentSource::Regex(pattern.to_owned())).unwrap());
            let contents = Contents::new(vec![content]);
            let mut outlines = Outlines::new(&contents);
            assert!(outlines.look_at(0).unwrap(), "{pattern}");
            let (mut open, mut seen) = (vec![(contents.get(0).start.state, START)], HashSet::new());
            while let Some((state, outlined)) = open.pop() {
                assert_eq!(
                    contents.ends(0, state).unwrap(),
                    outlines.may_end(0, outlined),
                    "{pattern}"
                );
                let edges = [0x81, 0x8F, 0x90, 0x9F, 0xA0, 0xA9, 0xBF];
                for byte in (0..=0x80).chain(edges).chain(0xC0..BY_ID) {
                    let (read, mut known) = (contents.step(0, state, byte).unwrap(), Alternatives::new());
                    outlines.step(0, outlined, byte, &mut known).unwrap();
                    assert_eq!(read.is_some(), known.len() == 1, "{pattern} {byte:x}");
                    let next = read.into_iter().zip(known);
                    open.extend(next.filter(|next| seen.insert(*next)));
                }
            }
        }
    }
}
