//! Whitespace between the parts of a document. A style bounds the whitespace of each gap by itself, so the machine only
//! remembers what the current gap may still contain.

use crate::Whitespace;
use crate::automaton::step::{Automaton, Container, Cursor, Gap, StackId, State};

/// Where in the layout of a document a state stands, as far as that decides about whitespace. All states are alike where
/// the style does not bound whitespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    gap: Gap,
    place: Place,
    /// Number of containers around the state, where line breaks can come.
    depth: u32,
}

/// What a state is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Place {
    #[default]
    Document,
    Array,
    Object,
}

impl Automaton {
    /// Where a state stands in the layout. `holds_lines` says that line breaks may come before the end of what is begun
    /// there.
    pub(crate) fn layout(&self, at: State, holds_lines: bool) -> Layout {
        if !matches!(self.search.algebra.style.whitespace, Whitespace::Bounded { .. }) {
            return Layout::default();
        }
        let Some(frame) = self.frames.all.get(at.stack.0 as usize) else {
            return Layout {
                gap: at.gap,
                ..Layout::default()
            };
        };
        let place = match frame.kind {
            Container::Array { .. } => Place::Array,
            Container::Object { .. } => Place::Object,
        };
        // Before the value of a member no line breaks.
        let has_lines = holds_lines || place == Place::Array || !matches!(at.cursor, Cursor::Value(_));
        Layout {
            gap: at.gap,
            place,
            depth: if has_lines { frame.depth } else { 0 },
        }
    }

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
