//! [`State`]: where in a document the machine stands.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Literal, TextId};
use crate::automaton::search::{ExpectationId, NextKeys};
use crate::automaton::step::state_hash::Mixer;
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use std::hash::{Hash, Hasher};

/// The containers around a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackId(pub(super) u32);

impl StackId {
    /// Around the whole document there is nothing.
    pub(crate) const EMPTY: Self = Self(u32::MAX);
}

/// A state in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(super) cursor: Cursor,
    pub(super) stack: StackId,
    /// The whitespace since the byte before.
    pub(super) gap: Gap,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut mixer = Mixer::default();
        self.cursor.hash(&mut mixer);
        self.stack.hash(&mut mixer);
        self.gap.hash(&mut mixer);
        hasher.write_u64(mixer.finish());
    }
}

impl State {
    pub(super) fn new(cursor: Cursor, stack: StackId) -> Self {
        let gap = Gap::default();
        Self { cursor, stack, gap }
    }
}

/// What may follow inside of a string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringResidual {
    pub(crate) decode: DecodeState,
    pub(crate) language: LanguageId,
}

/// The languages of the assertions whose verdict a string still has to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpenId(pub(super) u32);

impl OpenId {
    /// No assertion is open.
    pub(super) const NONE: Self = Self(u32::MAX);
}

/// What stands at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cursor {
    /// Before a value.
    Value(ExpectationId),
    /// In `null`, `true` or `false`, after so many bytes.
    Literal(Literal, u8, ExpectationId),
    /// In a string that is a value: what may follow, and the languages of the assertions whose verdict is open. What
    /// was read of it is kept where its value has to be known.
    String(DecodeState, LanguageId, OpenId, Option<TextId>, ExpectationId),
    /// In a number. The text is kept where the verdict of an assertion is open, and where its value has to be known.
    Number(NumberState, Option<TextId>, ExpectationId),
    /// After `{`.
    ObjectStart,
    /// In a name: what was read of it, and what it may become.
    Key(DecodeState, TextId, NextKeys),
    /// After a name.
    Colon(TextId),
    /// After a member.
    ObjectNext,
    /// After a comma in an object.
    ObjectComma,
    /// After `[`.
    ArrayStart,
    /// After an item.
    ArrayNext,
    /// After the document.
    Done,
}

impl Cursor {
    /// Whether a byte may come at all, outside of strings and numbers.
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

/// Whether a byte may belong to a number.
pub(super) fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// A step's verdict: no state where the byte cannot stand.
pub(super) type StepResult = Result<Option<State>, AutomatonError>;

/// The whitespace since the last byte that was none, as far as it matters to what may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Gap {
    /// None, or any amount where that makes no difference.
    #[default]
    Empty,
    /// A space, after which no more may come.
    Space,
    /// A line break and some indentation.
    Line {
        /// Spaces that may still come.
        spaces: u16,
        /// Tabs that may still come.
        tabs: u16,
        /// Whether only the end of the container may follow.
        before_end: bool,
    },
}

impl Gap {
    /// Whether only the end of the container may follow.
    pub(crate) fn is_before_end(self) -> bool {
        matches!(self, Self::Line { before_end: true, .. })
    }
}

/// Whether a byte is whitespace in JSON.
pub(crate) fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Cursor {
    /// Whether the state is between the parts of a document.
    pub(crate) fn is_between(&self) -> bool {
        !matches!(
            self,
            Self::Literal(..) | Self::String(..) | Self::Key(..) | Self::Number(..)
        )
    }
}
