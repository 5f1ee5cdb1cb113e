//! [`Whitespace`]: the characters between the parts of a document.

/// Whitespace between the parts of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whitespace {
    /// Any amount, wherever RFC 8259 has it.
    Any,
    /// One space after `:` and `,`, or none; a line break after `{`, `[` and `,` and before `}` and `]`, or none,
    /// followed by at most so many spaces for each level of nesting, or by at most one tab for each.
    ///
    /// Compact and indented documents of the usual writers are of this kind, and a model that repeats itself cannot fill
    /// a document with spaces.
    Bounded {
        /// Spaces per level.
        indent: u8,
    },
    /// No whitespace at all.
    Compact,
    /// Exactly the whitespace of one layout, so that nothing of it is left to the model: all of it is forced.
    Fixed(FixedWhitespace),
}

/// A layout as a writer of JSON has it: which whitespace stands in each place. There is none before and behind a
/// document, and none in empty arrays and objects.
///
/// ```
/// use maskwright::{FixedWhitespace, Indent, Style, Whitespace};
///
/// // As `json.dumps(value, indent=2)` of Python and `JSON.stringify(value, null, 2)` of JavaScript write.
/// let layout = FixedWhitespace { indent: Some(Indent::Spaces(2)), ..FixedWhitespace::default() };
/// let style = Style { whitespace: Whitespace::Fixed(layout), ..Style::generation() };
/// # assert_ne!(style, Style::generation());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedWhitespace {
    /// Spaces around the comma between items and members. The line break of an indented document comes behind them.
    pub comma: SpacesAround,
    /// Spaces around the colon between a name and its value.
    pub colon: SpacesAround,
    /// Spaces behind an opening and before a closing bracket, where no line breaks come there.
    pub padding: u8,
    /// The indentation per level of nesting, with each item and each member on a line of its own; `None` for documents
    /// of a single line.
    pub indent: Option<Indent>,
    /// The line break of an indented document.
    pub line_break: LineBreak,
}

/// Numbers of spaces before and behind a separator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SpacesAround {
    /// Spaces before the separator.
    pub before: u8,
    /// Spaces behind the separator.
    pub behind: u8,
}

/// The indentation of one level of nesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indent {
    /// This number of spaces.
    Spaces(u8),
    /// One tab.
    Tab,
}

/// The characters that end a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineBreak {
    /// A line feed.
    #[default]
    LineFeed,
    /// A carriage return and a line feed.
    CarriageReturnLineFeed,
}

impl LineBreak {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::LineFeed => b"\n",
            Self::CarriageReturnLineFeed => b"\r\n",
        }
    }
}

impl Default for FixedWhitespace {
    /// Returns one line without padding, with one space behind the colon and none elsewhere. With an indent added it is the layout that
    /// Python and JavaScript write.
    fn default() -> Self {
        Self {
            comma: SpacesAround::default(),
            colon: SpacesAround { before: 0, behind: 1 },
            padding: 0,
            indent: None,
            line_break: LineBreak::LineFeed,
        }
    }
}

/// The part of a document before a gap between its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// No part, or the whole document.
    Document,
    /// An opening bracket.
    Opening,
    /// A name.
    Name,
    /// The colon behind a name.
    Colon,
    /// The comma behind an item or a member.
    Comma,
    /// An item, or the value of a member.
    Value,
}

/// The whitespace in a gap: spaces, and then perhaps a line break with an indentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GapText {
    pub(crate) spaces: u16,
    /// The line break, and so many times its last byte.
    line: Option<(LineBreak, u8, u16)>,
}

/// Bytes of an indentation at most, so that the bytes of a gap, with spaces and the line break, can be counted. Deeper containers
/// are indented no further.
const MAX_INDENT: u16 = u16::MAX - 512;

impl GapText {
    /// Number of bytes.
    pub(crate) fn len(&self) -> u16 {
        let line = self
            .line
            .map_or(0, |(line, _, count)| (line.bytes().len() as u16).saturating_add(count));
        self.spaces.saturating_add(line)
    }

    /// Whether there is a line break.
    pub(crate) fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// The byte at a place; `None` behind the end.
    pub(crate) fn byte(&self, at: u16) -> Option<u8> {
        let Some(at) = at.checked_sub(self.spaces) else {
            return Some(b' ');
        };
        let (line, unit, count) = self.line?;
        let line = line.bytes();
        match line.get(usize::from(at)) {
            Some(byte) => Some(*byte),
            None => (at - (line.len() as u16) < count).then_some(unit),
        }
    }
}

impl FixedWhitespace {
    /// The whitespace between a part of a document and the byte that the next one begins with, within `depth`
    /// containers.
    pub(crate) fn gap(&self, before: Part, depth: u32, next: u8) -> GapText {
        let closes = matches!(next, b'}' | b']');
        let spaces = |count: u8| GapText {
            spaces: count.into(),
            line: None,
        };
        let line = |levels: u32| {
            let indent = self.indent?;
            let (unit, width) = match indent {
                Indent::Spaces(width) => (b' ', u16::from(width)),
                Indent::Tab => (b'\t', 1),
            };
            let levels = u16::try_from(levels).unwrap_or(u16::MAX);
            Some((self.line_break, unit, width.saturating_mul(levels).min(MAX_INDENT)))
        };
        let beside_bracket = |levels: u32| match line(levels) {
            None => spaces(self.padding),
            line => GapText { spaces: 0, line },
        };
        match before {
            Part::Document => GapText::default(),
            Part::Opening if closes => GapText::default(),
            Part::Opening => beside_bracket(depth),
            Part::Name => spaces(self.colon.before),
            Part::Colon => spaces(self.colon.behind),
            Part::Comma => GapText {
                spaces: self.comma.behind.into(),
                line: line(depth),
            },
            Part::Value if closes => beside_bracket(depth.saturating_sub(1)),
            Part::Value => spaces(self.comma.before),
        }
    }

    /// The end of a document without whitespace, laid out from a point on.
    pub(crate) fn lay_out(&self, compact: &[u8], from: LayoutPoint) -> Vec<u8> {
        let mut text = Vec::with_capacity(2 * compact.len());
        let LayoutPoint {
            mut before,
            mut depth,
            mut written,
            mut inside,
        } = from;
        for &byte in compact {
            if let Inside::Text { escaped } = inside {
                text.push(byte);
                inside = match byte {
                    b'"' if !escaped => Inside::Nothing,
                    _ => Inside::Text {
                        escaped: byte == b'\\' && !escaped,
                    },
                };
                continue;
            }
            let is_scalar = !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
            if inside == Inside::Scalar && is_scalar {
                text.push(byte);
                continue;
            }
            let part = match before {
                Part::Value if byte == b':' => Part::Name,
                part => part,
            };
            let gap = self.gap(part, depth, byte);
            text.extend((std::mem::take(&mut written)..).map_while(|at| gap.byte(at)));
            text.push(byte);
            inside = match byte {
                b'"' => Inside::Text { escaped: false },
                _ if is_scalar => Inside::Scalar,
                _ => Inside::Nothing,
            };
            before = match byte {
                b'{' | b'[' => Part::Opening,
                b',' => Part::Comma,
                b':' => Part::Colon,
                _ => Part::Value,
            };
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        text
    }
}

/// A point of a document from which on it is laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutPoint {
    /// The part before the gap; a value where the point is within one.
    pub(crate) before: Part,
    /// Number of containers around the point.
    pub(crate) depth: u32,
    /// Bytes of the gap that are written already.
    pub(crate) written: u16,
    pub(crate) inside: Inside,
}

#[cfg(test)]
impl LayoutPoint {
    /// The layout before a document.
    pub(crate) const START: Self = Self {
        before: Part::Document,
        depth: 0,
        written: 0,
        inside: Inside::Nothing,
    };
}

/// The scalar or name that a point of a document is within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    Nothing,
    /// A string or name, behind the backslash of an escape or not.
    Text {
        escaped: bool,
    },
    /// A number or literal.
    Scalar,
}
