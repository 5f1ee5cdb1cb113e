//! Whitespace between the parts of a document. A style bounds the whitespace of each gap by itself, so the machine only
//! remembers what the current gap may still contain.

use crate::Whitespace;
use crate::automaton::step::{Automaton, Container, Cursor, Gap, StackId, State};

impl Automaton {
    /// The gap after one more byte of whitespace; `None` if the style does not allow the byte here.
    pub(super) fn gap_after(&mut self, state: &State, byte: u8) -> Option<Gap> {
        let indent = match self.search.algebra.style.whitespace {
            Whitespace::Any => return Some(Gap::Empty),
            Whitespace::Compact => return None,
            Whitespace::Bounded { indent } => u16::from(indent),
        };
        match (state.gap, byte) {
            (Gap::Empty, b' ') => {
                let spaced =
                    matches!(state.cursor, Cursor::Value(_) | Cursor::ObjectComma) && state.stack != StackId::EMPTY;
                spaced.then_some(Gap::Space)
            }
            (Gap::Empty, b'\n') => {
                let frame = self.frame(state.stack)?;
                let (breaks, before_end) = match &state.cursor {
                    Cursor::ObjectStart | Cursor::ObjectComma | Cursor::ArrayStart => (true, false),
                    Cursor::Value(_) => (matches!(frame.kind, Container::Array { .. }), false),
                    Cursor::ObjectNext | Cursor::ArrayNext => (self.may_close(&frame), true),
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
