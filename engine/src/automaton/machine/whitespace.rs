//! Whitespace between the parts of a document.

use super::{Kind, State, Top};
use crate::Whitespace;
use crate::automaton::Automaton;

/// The whitespace since the last byte that was none, as far as it matters to what may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Gap {
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
    pub(super) fn is_before_end(self) -> bool {
        matches!(self, Self::Line { before_end: true, .. })
    }
}

/// Whether a byte is whitespace in JSON.
pub(super) fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Top {
    /// Whether the place is between the parts of a document.
    pub(super) fn is_between(&self) -> bool {
        !matches!(
            self,
            Self::Literal(..) | Self::String(..) | Self::Key(..) | Self::Number(..)
        )
    }
}

impl Automaton {
    /// The gap after one more byte of whitespace; none where it may not come.
    pub(super) fn gap_after(&mut self, state: &State, byte: u8) -> Option<Gap> {
        let indent = match self.style.whitespace {
            Whitespace::Any => return Some(Gap::Empty),
            Whitespace::Compact => return None,
            Whitespace::Bounded { indent } => u16::from(indent),
        };
        match (state.gap, byte) {
            (Gap::Empty, b' ') => {
                let spaced =
                    matches!(state.top, Top::Value(_) | Top::ObjectComma) && state.stack != super::StackId::EMPTY;
                spaced.then_some(Gap::Space)
            }
            (Gap::Empty, b'\n') => {
                let frame = self.frame(state.stack)?;
                let (breaks, before_end) = match &state.top {
                    Top::ObjectStart | Top::ObjectComma | Top::ArrayStart => (true, false),
                    Top::Value(_) => (matches!(frame.kind, Kind::Array { .. }), false),
                    Top::ObjectNext | Top::ArrayNext => (self.may_close(&frame), true),
                    _ => (false, false),
                };
                let depth = u16::try_from(frame.depth).unwrap_or(u16::MAX);
                breaks.then_some(Gap::Line {
                    spaces: indent.saturating_mul(depth),
                    tabs: depth,
                    before_end,
                })
            }
            (Gap::Line { spaces, before_end, .. }, b' ') => Some(Gap::Line {
                spaces: spaces.checked_sub(1)?,
                tabs: 0,
                before_end,
            }),
            (Gap::Line { tabs, before_end, .. }, b'\t') => Some(Gap::Line {
                spaces: 0,
                tabs: tabs.checked_sub(1)?,
                before_end,
            }),
            _ => None,
        }
    }
}
