//! [`Region`]: free text that an Aho-Corasick automaton searches for patterns: triggers, which end the region, and excluded texts.

use std::sync::Arc;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, PatternID};

use crate::{CompileError, CompileErrorKind};

use super::format::Unit;
use super::literal::{BY_ID, SPECIAL};
use super::program::PointId;

/// The progress through a character, or through a token that stands for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Within {
    /// Between two characters or tokens.
    Between,
    /// Within a character of which so many bytes are left, without further bounds on them.
    Character(u8),
    /// Behind a lead byte of a character whose second byte is bounded.
    After(u8),
    /// Within a token that stands for itself, of which so many digits are left.
    Token(u8),
}

impl Within {
    /// Returns the progress after a byte; none where no character and no token goes on so.
    pub(super) fn step(self, byte: u8, unit: Unit) -> Option<Self> {
        let more = |left: u8| match left {
            0 => Self::Between,
            left => Self::Character(left),
        };
        let is_continued = byte & 0xC0 == 0x80;
        match self {
            Self::Between => match byte {
                SPECIAL => Some(Self::Token(4)),
                BY_ID if unit == Unit::Tokens => Some(Self::Token(4)),
                _ if unit == Unit::Tokens => None,
                ..0x80 => Some(Self::Between),
                0xC2..=0xDF => Some(Self::Character(1)),
                0xE0 | 0xED | 0xF0 | 0xF4 => Some(Self::After(byte)),
                0xE1..=0xEF => Some(Self::Character(2)),
                0xF1..=0xF3 => Some(Self::Character(3)),
                _ => None,
            },
            Self::Character(left) => is_continued.then(|| more(left - 1)),
            Self::After(lead) => {
                let (first, last, left) = match lead {
                    0xE0 => (0xA0, 0xBF, 1),
                    0xED => (0x80, 0x9F, 1),
                    0xF0 => (0x90, 0xBF, 2),
                    _ => (0x80, 0x8F, 2),
                };
                (first..=last).contains(&byte).then(|| more(left))
            }
            Self::Token(left) => is_continued.then(|| match left {
                1 => Self::Between,
                left => Self::Token(left - 1),
            }),
        }
    }
}

/// A place in free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) within: Within,
    /// The state of the patterns' automaton.
    pub(super) read: StateID,
}

/// The result of reading a byte in free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FreeStep {
    /// Free text goes on.
    On(Place),
    /// The single token of the region has been read.
    Left,
    /// The patterns of this state of their automaton have been read.
    Found(StateID),
    /// The byte is not allowed.
    Refused,
}

/// Triggers and excluded texts, with the automaton that finds them.
#[derive(Debug)]
pub(super) struct Patterns {
    pub(super) texts: Box<[Box<[u8]>]>,
    automaton: DFA,
}

impl Patterns {
    /// Bytes that the patterns keep.
    pub(super) fn memory(&self) -> usize {
        let texts = self.texts.iter().map(|text| size_of::<Box<[u8]>>() + text.len());
        self.automaton.memory_usage() + texts.sum::<usize>()
    }

    /// # Errors
    ///
    /// [`CompileErrorKind::LimitExceeded`], where there are too many texts.
    pub(super) fn new(texts: Vec<Box<[u8]>>) -> Result<Self, CompileError> {
        let automaton = DFA::builder().prefilter(false).build(&texts).map_err(|error| {
            let message = format!("the triggers and excluded texts cannot be looked for: {error}");
            CompileError::new(CompileErrorKind::LimitExceeded, message).at("")
        })?;
        let texts = texts.into();
        Ok(Self { texts, automaton })
    }
}

/// A run of free text and its patterns.
#[derive(Debug)]
pub(super) struct Region {
    unit: Unit,
    /// Whether the region is one token rather than any number.
    is_one: bool,
    patterns: Arc<Patterns>,
    start: StateID,
    /// Whether a partial character may be without an end, because each of its ends completes an excluded text.
    cuts_characters: bool,
    /// For each pattern the point behind it; none for an excluded text.
    dispatch: Box<[Option<PointId>]>,
    /// The point behind the region.
    pub(super) exit: PointId,
}

impl Region {
    /// Makes a region; pattern `i` is followed by the point `dispatch[i]`, or excluded where that is none.
    pub(super) fn new(
        (unit, is_one): (Unit, bool),
        patterns: Arc<Patterns>,
        dispatch: Box<[Option<PointId>]>,
        exit: PointId,
    ) -> Self {
        // The automaton is built to be searched without an anchor.
        let start = patterns.automaton.start_state(Anchored::No).unwrap_or_default();
        let beyond_ascii = |byte: &u8| (0x80..BY_ID).contains(byte);
        Self {
            unit,
            is_one,
            cuts_characters: unit == Unit::Text && patterns.texts.iter().any(|text| text.iter().any(beyond_ascii)),
            patterns,
            start,
            dispatch,
            exit,
        }
    }

    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether the region is one token rather than any number.
    pub(super) fn is_one(&self) -> bool {
        self.is_one
    }

    /// Whether a pattern has parts of characters, so that text before it may have no character to go on with.
    pub(super) fn cuts_characters(&self) -> bool {
        self.cuts_characters
    }

    /// The place before any text.
    pub(super) fn begin(&self) -> Place {
        let (within, read) = (Within::Between, self.start);
        Place { within, read }
    }

    /// Whether the region may end at a place.
    pub(super) fn may_leave(&self, at: Place) -> bool {
        !self.is_one && at.within == Within::Between
    }

    /// Reads a byte at a place. Places from which no text goes on are refused.
    pub(super) fn step(&self, at: Place, byte: u8) -> FreeStep {
        match self.step_at_all(at, byte) {
            FreeStep::On(place) if self.cuts_characters && !self.is_live(place) => FreeStep::Refused,
            step => step,
        }
    }

    /// Reads a byte at a place, and does not check that some text goes on from there.
    fn step_at_all(&self, at: Place, byte: u8) -> FreeStep {
        let Some(within) = at.within.step(byte, self.unit) else {
            return FreeStep::Refused;
        };
        let read = self.patterns.automaton.next_state(Anchored::No, at.read, byte);
        if self.patterns.automaton.is_match(read) {
            return FreeStep::Found(read);
        }
        match self.is_one && within == Within::Between {
            true => FreeStep::Left,
            false => FreeStep::On(Place { within, read }),
        }
    }

    /// Returns the points that follow the patterns of a state. Patterns that must not occur are left out.
    pub(super) fn found(&self, read: StateID) -> impl Iterator<Item = PointId> + '_ {
        let patterns = 0..self.patterns.automaton.match_len(read);
        let followed = move |index| self.dispatch[self.pattern(read, index).as_usize()];
        patterns.filter_map(followed)
    }

    fn pattern(&self, read: StateID, index: usize) -> PatternID {
        self.patterns.automaton.match_pattern(read, index)
    }

    /// The patterns that end the region, each with the point that follows.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&[u8], PointId)> {
        let texts = self.patterns.texts.iter().zip(&self.dispatch);
        texts.filter_map(|(text, point)| Some((&**text, (*point)?)))
    }

    /// The patterns.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &[u8]> {
        self.patterns.texts.iter().map(|text| &**text)
    }

    /// The first bytes of the patterns.
    pub(super) fn firsts(&self) -> impl Iterator<Item = u8> + '_ {
        self.patterns().filter_map(|text| text.first().copied())
    }

    /// Steps the automaton of the patterns alone: from the number of a state to that of the next; none where a pattern ends there.
    pub(super) fn read_on(&self, read: u32, byte: u8) -> Option<u32> {
        let automaton = &self.patterns.automaton;
        let read = automaton.next_state(Anchored::No, StateID::new_unchecked(read as usize), byte);
        (!automaton.is_match(read)).then(|| read.as_u32())
    }

    /// Returns a short text that completes a partial character or token at a place, and the point behind that text: the region's exit or,
    /// where each such text ends with a pattern, the point behind the pattern.
    pub(super) fn rest(&self, at: Place) -> Option<(Vec<u8>, PointId)> {
        let mut open: Vec<(Place, Vec<u8>)> = vec![(at, Vec::new())];
        let mut behind_pattern = None;
        while let Some((at, text)) = open.pop() {
            if at.within == Within::Between {
                return Some((text, self.exit));
            }
            for byte in (0x80..=0xBF).rev() {
                let more = || [&text[..], &[byte]].concat();
                match self.step(at, byte) {
                    FreeStep::On(next) => open.push((next, more())),
                    FreeStep::Found(read) => {
                        behind_pattern = self.found(read).next().map(|point| (more(), point)).or(behind_pattern)
                    }
                    FreeStep::Left | FreeStep::Refused => {}
                }
            }
        }
        behind_pattern
    }

    /// Whether a partial character at a place can be completed.
    fn is_live(&self, at: Place) -> bool {
        if matches!(at.within, Within::Between | Within::Token(_)) {
            return true;
        }
        // Four bytes are a character at most.
        (0x80..=0xBF).any(|byte| match self.step_at_all(at, byte) {
            FreeStep::On(next) => self.is_live(next),
            FreeStep::Found(read) => self.found(read).next().is_some(),
            FreeStep::Left | FreeStep::Refused => false,
        })
    }
}
