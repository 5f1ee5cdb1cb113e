//! The position of a byte in a JSON text.

/// The part of JSON at the end of a text that is the beginning of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before a value.
    Value,
    /// In `true`, `false` or `null`, before so many more of its bytes.
    Literal(u8),
    Number,
    /// In a string that began at `start`.
    Text {
        start: usize,
        escaped: bool,
    },
    /// Before a name, or the end of an object.
    Name,
    /// In a name that began at `start`.
    Key {
        start: usize,
        escaped: bool,
    },
    /// After a name.
    Colon,
    /// After a value.
    After,
}

/// An object or array that is not closed.
#[derive(Clone, Debug)]
enum OpenContainer {
    /// Number of items before the one that is read.
    Array(usize),
    /// The name that was read last; empty before the first.
    Object(String),
}

/// The position at the end of a text that is the beginning of JSON.
#[derive(Clone, Debug)]
pub(super) struct JsonPosition {
    pub(super) phase: Phase,
    open: Vec<OpenContainer>,
}

impl JsonPosition {
    fn start() -> Self {
        Self {
            phase: Phase::Value,
            open: Vec::new(),
        }
    }

    /// The position after `text`.
    pub(super) fn after(text: &[u8]) -> Self {
        let mut position = Self::start();
        for (at, &byte) in text.iter().enumerate() {
            position.read(text, at, byte);
        }
        position
    }

    fn read(&mut self, text: &[u8], at: usize, byte: u8) {
        self.phase = match self.phase {
            Phase::Text { start, escaped: true } => Phase::Text { start, escaped: false },
            Phase::Text { .. } if byte == b'"' => Phase::After,
            Phase::Text { start, .. } => Phase::Text {
                start,
                escaped: byte == b'\\',
            },
            Phase::Key { start, escaped: true } => Phase::Key { start, escaped: false },
            Phase::Key { start, .. } if byte == b'"' => {
                if let (Some(OpenContainer::Object(last)), Some(name)) =
                    (self.open.last_mut(), decoded(&text[start..=at]))
                {
                    *last = name;
                }
                Phase::Colon
            }
            Phase::Key { start, .. } => Phase::Key {
                start,
                escaped: byte == b'\\',
            },
            Phase::Literal(left) if left > 1 => Phase::Literal(left - 1),
            Phase::Literal(_) => Phase::After,
            Phase::Number if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => Phase::Number,
            Phase::Number => self.between(at, byte, Phase::After),
            phase => self.between(at, byte, phase),
        };
    }

    /// The phase after a byte outside of scalars.
    fn between(&mut self, at: usize, byte: u8, phase: Phase) -> Phase {
        match byte {
            b'"' if phase == Phase::Name => Phase::Key {
                start: at,
                escaped: false,
            },
            b'"' => Phase::Text {
                start: at,
                escaped: false,
            },
            b'{' => {
                self.open.push(OpenContainer::Object(String::new()));
                Phase::Name
            }
            b'[' => {
                self.open.push(OpenContainer::Array(0));
                Phase::Value
            }
            b'}' | b']' => {
                self.open.pop();
                Phase::After
            }
            b',' => match self.open.last_mut() {
                Some(OpenContainer::Array(before)) => {
                    *before += 1;
                    Phase::Value
                }
                _ => Phase::Name,
            },
            b':' => Phase::Value,
            b't' | b'n' => Phase::Literal(3),
            b'f' => Phase::Literal(4),
            b'-' | b'0'..=b'9' => Phase::Number,
            _ => phase,
        }
    }

    /// Whether the innermost container that is open is an array.
    pub(super) fn is_in_array(&self) -> bool {
        matches!(self.open.last(), Some(OpenContainer::Array(_)))
    }

    /// JSON Pointer of the value that is read here, or, with `around`, of the object or array that it is in.
    pub(super) fn pointer(&self, around: bool) -> String {
        let in_value = matches!(
            self.phase,
            Phase::Value | Phase::Literal(_) | Phase::Number | Phase::Text { .. }
        );
        self.pointer_of(match in_value && !around {
            true => self.open.len(),
            false => self.open.len().saturating_sub(1),
        })
    }

    fn pointer_of(&self, frames: usize) -> String {
        let mut pointer = String::new();
        for open in &self.open[..frames] {
            match open {
                OpenContainer::Array(before) => pointer.push_str(&format!("/{before}")),
                OpenContainer::Object(last) => crate::json::push_token(&mut pointer, last),
            }
        }
        pointer
    }

    /// Whether the member that was begun last, or the item that begins here, has a JSON Pointer, which has a token for each open container.
    /// Compared from the end, so that most positions take the time of their own name alone.
    fn is_at(&self, pointer: &str) -> bool {
        let mut tokens = self.open.iter().rev().zip(pointer.rsplit('/'));
        tokens.all(|(open, token)| match open {
            OpenContainer::Array(before) => before.to_string() == token,
            OpenContainer::Object(last) => {
                let mut own = String::new();
                crate::json::push_token(&mut own, last);
                own.strip_prefix('/') == Some(token)
            }
        })
    }
}

/// The line, from 1, on which the name of a member, or an item, begins.
///
/// `pointer` is a JSON Pointer into `text`; the root begins on line 1. None where it leads nowhere.
pub fn line_of(text: &str, pointer: &str) -> Option<usize> {
    if pointer.is_empty() {
        return Some(1);
    }
    if !pointer.starts_with('/') {
        return None;
    }
    let frames = pointer.matches('/').count();
    let mut position = JsonPosition::start();
    let mut line = 1;
    for (at, byte) in text.bytes().enumerate() {
        let begins_item = position.phase == Phase::Value && position.is_in_array() && !b" \t\r\n]".contains(&byte);
        let was_in_name = matches!(position.phase, Phase::Key { .. });
        let is_item = begins_item && position.open.len() == frames && position.is_at(pointer);
        position.read(text.as_bytes(), at, byte);
        let ends_name = was_in_name && position.phase == Phase::Colon && position.open.len() == frames;
        if is_item || ends_name && position.is_at(pointer) {
            return Some(line);
        }
        line += usize::from(byte == b'\n');
    }
    None
}

/// The characters of a string with its quotes.
pub(super) fn decoded(string: &[u8]) -> Option<String> {
    crate::json::unquoted(std::str::from_utf8(string).ok()?)
}
