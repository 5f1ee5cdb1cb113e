//! Whitespace between the parts of a document. A style bounds the whitespace of each gap by itself, so the automaton only
//! remembers the whitespace that the current gap may still contain or, where it is fixed, how much of it has been read.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::step::{Automaton, Container, Cursor, Gap, StackId, State};
use crate::style::whitespace::{GapText, Inside, LayoutPoint, Part};
use crate::{FixedWhitespace, Whitespace};

/// The place of a state in the layout of a document, as far as it decides about whitespace. All states are alike where the style
/// does not bound whitespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    gap: Gap,
    place: Place,
    /// Number of containers around the state, where line breaks can come.
    depth: u32,
}

/// The kind of the innermost container around a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Place {
    #[default]
    Document,
    Array,
    Object,
}

impl Automaton {
    /// Returns the place of a state in the layout. `holds_lines` says that line breaks may come before the end of the value or
    /// container that begins there.
    pub(crate) fn layout(&self, at: State, holds_lines: bool) -> Layout {
        if matches!(
            self.search.algebra.style.whitespace,
            Whitespace::Any | Whitespace::Compact
        ) {
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
    pub(in crate::automaton::step) fn gap_after(
        &mut self,
        state: &State,
        byte: u8,
    ) -> Result<Option<Gap>, AutomatonError> {
        Ok(match self.search.algebra.style.whitespace {
            Whitespace::Any => Some(Gap::Empty),
            Whitespace::Compact => None,
            Whitespace::Bounded { indent } => self.bounded_gap(state, byte, indent.into()),
            Whitespace::Fixed(layout) => self.fixed_gap(state, byte, &layout)?,
        })
    }

    /// The gap after one more byte of whitespace that is bounded.
    fn bounded_gap(&self, state: &State, byte: u8, indent: u16) -> Option<Gap> {
        match (state.gap, byte) {
            (Gap::Empty, b' ') => {
                let spaced =
                    matches!(state.cursor, Cursor::Value(_) | Cursor::ObjectComma) && state.stack != StackId::EMPTY;
                spaced.then_some(Gap::Space)
            }
            (Gap::Empty, b'\n') => {
                let frame = self.frames.all.get(state.stack.0 as usize)?;
                let (breaks, before_end) = match &state.cursor {
                    Cursor::ObjectStart | Cursor::ObjectComma | Cursor::ArrayStart => (true, false),
                    Cursor::Value(_) => (matches!(frame.kind, Container::Array { .. }), false),
                    Cursor::ObjectNext | Cursor::ArrayNext => (self.may_close(frame), true),
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

    /// The gap after one more byte of whitespace that is fixed. Where it depends on the next part, a part that can come
    /// there must begin with it.
    fn fixed_gap(&mut self, state: &State, byte: u8, layout: &FixedWhitespace) -> Result<Option<Gap>, AutomatonError> {
        let (read, has_line) = state.gap.read();
        let ways: &[u8] = match state.cursor {
            Cursor::ObjectStart | Cursor::ObjectComma => b"\"",
            Cursor::ObjectNext => b"},",
            Cursor::ArrayNext => b"],",
            Cursor::Colon(_) => b":",
            Cursor::ArrayStart | Cursor::Value(_) => b"\"{[-0123456789tfn",
            _ => return Ok(None),
        };
        for &way in ways {
            let gap = self.gap_text(state, way, layout);
            let agrees = has_line == (gap.has_line() && read > gap.spaces);
            if !agrees || gap.byte(read) != Some(byte) {
                continue;
            }
            let next = Gap::fixed(read + 1, gap.has_line() && read >= gap.spaces);
            // Only one part can come behind a comma or a colon, and it can.
            let is_certain = matches!(state.cursor, Cursor::ObjectComma | Cursor::Colon(_) | Cursor::Value(_));
            let whole = State {
                gap: Gap::whole(&gap),
                ..*state
            };
            if is_certain || self.step(whole, way)?.is_some() {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// Whether the part behind the whitespace read may begin with a byte, as far as that whitespace counts.
    pub(in crate::automaton::step) fn gap_ends(&self, state: &State, next: u8) -> bool {
        match self.search.algebra.style.whitespace {
            Whitespace::Fixed(layout) if state.cursor.is_between() => {
                state.gap == Gap::whole(&self.gap_text(state, next, &layout))
            }
            _ => true,
        }
    }

    /// The state with all whitespace read that comes before a byte, where whitespace is fixed.
    pub(in crate::automaton::step) fn behind_gap(&self, state: State, next: u8) -> State {
        match self.search.algebra.style.whitespace {
            Whitespace::Fixed(layout) if state.cursor.is_between() => State {
                gap: Gap::whole(&self.gap_text(&state, next, &layout)),
                ..state
            },
            _ => state,
        }
    }

    /// The whitespace between a state and a byte of the next part, where whitespace is fixed.
    fn gap_text(&self, state: &State, next: u8, layout: &FixedWhitespace) -> GapText {
        let (before, depth) = self.part_before(state);
        layout.gap(before, depth, next)
    }

    /// The part of the document before a state, and the number of containers around it.
    fn part_before(&self, state: &State) -> (Part, u32) {
        let Some(frame) = self.frames.all.get(state.stack.0 as usize) else {
            return (Part::Document, 0);
        };
        let part = match state.cursor {
            Cursor::ObjectStart | Cursor::ArrayStart => Part::Opening,
            Cursor::ObjectComma => Part::Comma,
            Cursor::Value(_) if matches!(frame.kind, Container::Array { .. }) => Part::Comma,
            Cursor::Value(_) => Part::Colon,
            Cursor::Colon(_) => Part::Name,
            _ => Part::Value,
        };
        (part, frame.depth)
    }

    /// The end of a document without whitespace as the style has it from a state on.
    pub(crate) fn laid_out(&self, at: &State, compact: Vec<u8>) -> Vec<u8> {
        let Whitespace::Fixed(layout) = self.search.algebra.style.whitespace else {
            return compact;
        };
        let (before, depth) = self.part_before(at);
        let inside = match at.cursor {
            Cursor::String(decode, ..) | Cursor::Key(decode, ..) => Inside::Text {
                escaped: decode == DecodeState::Escape,
            },
            Cursor::Number(..) | Cursor::Literal(..) => Inside::Scalar,
            _ => Inside::Nothing,
        };
        let written = at.gap.read().0;
        layout.lay_out(
            &compact,
            LayoutPoint {
                before,
                depth,
                written,
                inside,
            },
        )
    }

    /// Whether fixed whitespace has been read in a container that comes only where another item or member follows.
    pub(in crate::automaton::step) fn is_before_more(&self, state: &State) -> bool {
        let Whitespace::Fixed(layout) = self.search.algebra.style.whitespace else {
            return false;
        };
        let (read, has_line) = state.gap.read();
        let bracket = match state.cursor {
            Cursor::ObjectStart | Cursor::ObjectNext => b'}',
            Cursor::ArrayStart | Cursor::ArrayNext => b']',
            _ => return false,
        };
        let closing = self.gap_text(state, bracket, &layout);
        read > closing.len() || read > 0 && has_line != (closing.has_line() && read > closing.spaces)
    }

    /// Whether all whitespace is fixed, so that completions have to be laid out.
    pub(crate) fn is_laid_out(&self) -> bool {
        matches!(self.search.algebra.style.whitespace, Whitespace::Fixed(_))
    }
}

impl Gap {
    /// The gap after so many bytes of fixed whitespace.
    fn fixed(read: u16, has_line: bool) -> Self {
        match read {
            0 => Self::Empty,
            read => Self::Fixed { read, has_line },
        }
    }

    /// The gap after all of some fixed whitespace.
    fn whole(text: &GapText) -> Self {
        Self::fixed(text.len(), text.has_line())
    }

    /// Number of bytes of fixed whitespace read, and whether they include a part of a line break.
    fn read(self) -> (u16, bool) {
        match self {
            Self::Fixed { read, has_line } => (read, has_line),
            _ => (0, false),
        }
    }
}
