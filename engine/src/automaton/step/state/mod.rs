//! [`State`]: a state of the automaton: a position in a document, with all facts that decide its continuations.

pub(in crate::automaton) mod class;
pub(super) mod hash;

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Literal, TextId};
use crate::automaton::search::{ExpectationId, NextKeys};
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use hash::Mixer;
use std::hash::{Hash, Hasher};

/// The number of a frame with all frames below it: the containers around a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackId(pub(super) u32);

impl StackId {
    /// The empty stack, around the whole document.
    pub(crate) const EMPTY: Self = Self(u32::MAX);
}

/// A position in a document, with all that matters for how it may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(super) cursor: Cursor,
    pub(super) stack: StackId,
    /// The whitespace read since the last other byte.
    pub(super) gap: Gap,
}

impl Hash for State {
    // States are looked up for every byte: as a call of its own, this made revisits take 4 % more instructions.
    #[inline(always)]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut mixer = Mixer::default();
        self.cursor.hash(&mut mixer);
        self.stack.hash(&mut mixer);
        self.gap.hash(&mut mixer);
        hasher.write_u64(mixer.finish());
    }
}

impl State {
    /// The state without whitespace since the last byte.
    pub(super) fn new(cursor: Cursor, stack: StackId) -> Self {
        let gap = Gap::default();
        Self { cursor, stack, gap }
    }

    /// The state that a byte is read from as well as from this one: bounded whitespace makes no difference to the part behind it.
    /// `None` if only a closing bracket may follow the whitespace, and the byte is none.
    pub(super) fn without_bounded_gap(self, byte: u8) -> Option<Self> {
        match self.gap {
            Gap::Empty | Gap::Fixed { .. } => Some(self),
            _ if is_whitespace(byte) => Some(self),
            Gap::Line { before_end: true, .. } if !matches!(byte, b'}' | b']') => None,
            Gap::Space | Gap::Line { .. } => Some(Self::new(self.cursor, self.stack)),
        }
    }
}

/// The number of a list of languages: those of the assertions whose verdicts a string has not decided yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpenId(pub(super) u32);

impl OpenId {
    /// The empty list: no language has to be tracked.
    pub(super) const NONE: Self = Self(u32::MAX);
}

/// The position within the innermost value, or between the parts of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cursor {
    /// Before a value.
    Value(ExpectationId),
    /// In `null`, `true` or `false`, after this many bytes.
    Literal(Literal, u8, ExpectationId),
    /// In a string that is a value: the decoder's state, the texts that may follow, and the languages of assertions
    /// whose verdicts are open. The text read is kept only where the string's value has to be known.
    String(DecodeState, LanguageId, OpenId, Option<TextId>, ExpectationId),
    /// In a number. The text read is kept only where the verdict of an assertion is open or the number's value has to
    /// be known.
    Number(NumberState, Option<TextId>, ExpectationId),
    /// After `{`.
    ObjectStart,
    /// In a key: the decoder's state, the text read, and the texts that may follow.
    Key(DecodeState, TextId, NextKeys),
    /// After a key's closing quote, before the colon.
    Colon(TextId),
    /// After a member of an object.
    ObjectNext,
    /// After a comma in an object.
    ObjectComma,
    /// After `[`.
    ArrayStart,
    /// After an item of an array.
    ArrayNext,
    /// After the whole document.
    Done,
}

impl Cursor {
    /// Whether a byte may come here at all by JSON's grammar. In strings, keys and numbers the answer is always `true`.
    pub(super) fn may_read(&self, byte: u8) -> bool {
        let is_value = || matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
        match self {
            Self::Literal(word, at, _) => word.text()[usize::from(*at)] == byte,
            Self::String(..) | Self::Key(..) | Self::Number(..) => true,
            _ if is_whitespace(byte) => true,
            Self::Value(_) => is_value(),
            Self::ObjectStart => matches!(byte, b'"' | b'}'),
            Self::Colon(_) => byte == b':',
            Self::ObjectNext => matches!(byte, b',' | b'}'),
            Self::ObjectComma => byte == b'"',
            Self::ArrayStart => byte == b']' || is_value(),
            Self::ArrayNext => matches!(byte, b',' | b']'),
            Self::Done => false,
        }
    }
}

/// Whether a byte can occur in a number.
pub(super) fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// The result of a step: the next state; `None` if the byte may not come here.
pub(super) type StepResult = Result<Option<State>, AutomatonError>;

/// The whitespace since the last other byte, as far as it limits the bytes that may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Gap {
    /// No whitespace, or any amount where that makes no difference.
    #[default]
    Empty,
    /// One space, after which no more whitespace may come.
    Space,
    /// A line break and some indentation.
    Line {
        /// Number of spaces that may still come.
        spaces: u16,
        /// Number of tabs that may still come.
        tabs: u16,
        /// Whether only the closing bracket of the container may follow.
        before_end: bool,
    },
    /// A part of a gap whose whitespace is fixed.
    Fixed {
        /// Number of bytes read.
        read: u16,
        /// Whether these bytes include a part of a line break.
        has_line: bool,
    },
}

impl Gap {
    /// Whether only the closing bracket of the container may follow.
    pub(crate) fn is_before_end(self) -> bool {
        matches!(self, Self::Line { before_end: true, .. })
    }
}

/// Whether a byte is whitespace in JSON.
pub(crate) fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Cursor {
    /// Whether the cursor is between the parts of a document, where whitespace may come.
    pub(crate) fn is_between(&self) -> bool {
        !matches!(
            self,
            Self::Literal(..) | Self::String(..) | Self::Key(..) | Self::Number(..)
        )
    }
}
