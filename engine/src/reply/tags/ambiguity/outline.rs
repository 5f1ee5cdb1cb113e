//! [`Outlines`]: nondeterministic abstractions of contents, with far fewer states than their automata.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::CompileError;

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
/// Within a document that cannot end there.
const OPEN: OutlineState = 1;
/// Within a number, which may be the whole document.
const NUMBER: OutlineState = 2;
/// State behind a document, where whitespace may follow.
const ENDED: OutlineState = 3;

/// Maximal number of states of a content that is followed exactly: exploring them takes tens of milliseconds.
const MAX_STATES: usize = 1 << 9;
/// Maximal number of states explored for all contents of one structural tag.
const MAX_STATES_OF_ALL: usize = 1 << 12;

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
    /// Any document, reduced to whether it can have ended.
    Json,
    /// The exact automaton of the content.
    Whole(Box<[WholeState]>),
}

/// A state of a content's exact automaton.
#[derive(Debug)]
struct WholeState {
    may_end: bool,
    /// For each byte that may come the state after it, sorted.
    next: Box<[(u8, OutlineState)]>,
}

/// The outlines of the contents of a structural tag.
pub(super) struct Outlines<'a> {
    contents: &'a Contents,
    outlines: Vec<Outline>,
    /// Number of states that may still be explored.
    left: usize,
    /// Contents with too many states.
    given_up: HashSet<ContentId>,
}

impl<'a> Outlines<'a> {
    pub(super) fn new(contents: &'a Contents) -> Self {
        let mut known: HashMap<&[&str], Arc<WithoutTexts>> = HashMap::new();
        let outlines = contents.iter().map(|content| match (content.is_text, content.never()) {
            (false, _) => Outline::Json,
            (true, ([], [])) => Outline::Text,
            (true, (texts, excluded)) => {
                let without = known.entry(texts).or_insert_with(|| Arc::new(WithoutTexts::new(texts)));
                match excluded {
                    [] => Outline::Without(without.clone()),
                    _ => Outline::OtherThan(without.clone(), ExcludedTexts::new(excluded, without)),
                }
            }
        });
        Self {
            contents,
            outlines: outlines.collect(),
            left: MAX_STATES_OF_ALL,
            given_up: HashSet::new(),
        }
    }

    /// The states of a content's outline.
    pub(super) fn states(&self, content: ContentId) -> std::ops::Range<OutlineState> {
        START..match &self.outlines[content] {
            Outline::Text => ANY + 1,
            Outline::Without(texts) => ANY + texts.len() as OutlineState,
            Outline::OtherThan(texts, excluded) => ANY + (texts.len() + excluded.len()) as OutlineState,
            Outline::Json => ENDED + 1,
            Outline::Whole(states) => states.len() as OutlineState,
        }
    }

    /// Whether a state of an outline stands for exactly one state of the content.
    pub(super) fn is_single(&self, content: ContentId, state: OutlineState) -> bool {
        state == START
            || match &self.outlines[content] {
                Outline::Whole(_) => true,
                Outline::OtherThan(texts, _) => state >= ANY + texts.len() as OutlineState,
                Outline::Text | Outline::Without(_) | Outline::Json => false,
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
            Outline::Json => matches!(state, NUMBER | ENDED),
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
            let bytes = &states[state as usize].next;
            next.extend(
                bytes
                    .binary_search_by_key(&byte, |(byte, _)| *byte)
                    .map(|at| bytes[at].1),
            );
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
            Outline::Json | Outline::Whole(_) => {}
        }
        match (state, byte) {
            (NUMBER | ENDED, b' ' | b'\t' | b'\n' | b'\r') => next.push(ENDED),
            (NUMBER, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => next.push(NUMBER),
            (NUMBER | ENDED, _) => {}
            (_, b'0'..=b'9') => next.extend([OPEN, NUMBER]),
            (_, b'"' | b']' | b'}' | b'e' | b'l') => next.extend([OPEN, ENDED]),
            _ => next.push(OPEN),
        }
        Ok(())
    }

    /// The bytes that a content followed exactly goes on with; none where it is not.
    pub(super) fn bytes_of_whole(&self, content: ContentId, state: OutlineState) -> Option<impl Iterator<Item = u8>> {
        match &self.outlines[content] {
            Outline::Whole(states) => Some(states[state as usize].next.iter().map(|(byte, _)| *byte)),
            _ => None,
        }
    }

    /// The bytes with which a content may go on where it may end; none where they are not known.
    pub(super) fn bytes_behind_ends(&self, content: ContentId) -> Option<&'static [u8]> {
        matches!(self.outlines[content], Outline::Json).then_some(b" \t\n\r0123456789.eE+-")
    }

    /// Replaces the outline of a content by its exact automaton, unless that has too many states. Returns whether the outline changed.
    pub(super) fn look_at(&mut self, content: ContentId) -> Result<bool, CompileError> {
        if self.is_whole(content) || self.given_up.contains(&content) {
            return Ok(false);
        }
        let start = self.contents.get(content).start.state;
        let mut numbers: HashMap<ContentState, OutlineState> = HashMap::from([(start, START)]);
        let (mut open, mut states) = (vec![start], Vec::new());
        while let Some(&state) = open.get(states.len()) {
            if states.len() == MAX_STATES || self.left == 0 {
                self.given_up.insert(content);
                return Ok(false);
            }
            self.left -= 1;
            let mut next = Vec::new();
            for byte in 0..BY_ID {
                if let Some(after) = self.contents.step(content, state, byte)? {
                    let number = numbers.len() as OutlineState;
                    let number = *numbers.entry(after).or_insert_with(|| {
                        open.push(after);
                        number
                    });
                    next.push((byte, number));
                }
            }
            states.push(WholeState {
                may_end: self.contents.ends(content, state)?,
                next: next.into(),
            });
        }
        self.outlines[content] = Outline::Whole(states.into());
        Ok(true)
    }
}
