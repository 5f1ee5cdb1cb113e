//! Position of the writer in a JSON document.

/// The part of a document that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A value.
    Value,
    /// The first item of an array, or its end.
    ItemOrEnd,
    /// The first member of an object, or its end.
    MemberOrEnd,
    /// The name of a member.
    Member,
    /// The rest of a string, or of a name.
    Text { is_name: bool },
    /// The rest of a number, or the byte after it.
    Number,
    /// The rest of `true`, `false` or `null`.
    Literal,
    /// The colon after a name.
    Colon,
    /// A comma, the end of the container or of the document: the part after a value.
    After,
}

/// An object or array that is open.
#[derive(Clone, Debug)]
pub(super) struct OpenContainer {
    pub(super) is_object: bool,
    /// The members or items that have begun.
    pub(super) count: usize,
}

/// The position of a writer.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub(super) next: Next,
    pub(super) open: Vec<OpenContainer>,
    /// The bytes of the string, name or number that is being written.
    pub(super) text: Vec<u8>,
    /// Whether a backslash in the string asks for more.
    pub(super) escaped: bool,
    /// The bytes since the last line break, if nothing but spaces followed it.
    pub(super) indentation: Option<usize>,
}

impl Position {
    pub(super) fn start() -> Self {
        Self {
            next: Next::Value,
            open: Vec::new(),
            text: Vec::new(),
            escaped: false,
            indentation: None,
        }
    }

    /// Moves the position past a byte of the document.
    pub(super) fn read(&mut self, byte: u8) {
        match (self.next, byte) {
            (Next::Text { .. }, _) if self.escaped => {
                self.text.push(byte);
                self.escaped = false;
            }
            (Next::Text { is_name }, b'"') => {
                self.next = if is_name { Next::Colon } else { Next::After };
            }
            (Next::Text { .. }, _) => {
                self.text.push(byte);
                self.escaped = byte == b'\\';
            }
            (Next::Number, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => self.text.push(byte),
            (Next::Literal, b'a'..=b'z') => self.read_literal(byte),
            _ => self.read_structure(byte),
        }
        self.indentation = match byte {
            b'\n' => Some(0),
            b' ' => self.indentation.map(|spaces| spaces + 1),
            _ => None,
        };
    }

    fn read_literal(&mut self, byte: u8) {
        self.text.push(byte);
        if matches!(&self.text[..], b"true" | b"false" | b"null") {
            self.next = Next::After;
        }
    }

    fn read_structure(&mut self, byte: u8) {
        match byte {
            b',' => {
                self.next = match self.open.last_mut() {
                    Some(open) if open.is_object => Next::Member,
                    Some(open) => {
                        open.count += 1;
                        Next::Value
                    }
                    None => Next::After,
                };
            }
            b':' => self.next = Next::Value,
            b'}' | b']' => {
                self.open.pop();
                self.next = Next::After;
            }
            b' ' | b'\t' | b'\n' | b'\r' => {
                if matches!(self.next, Next::Number | Next::Literal) {
                    self.next = Next::After;
                }
            }
            _ => self.begin(byte),
        }
    }

    /// Begins a value or a name.
    fn begin(&mut self, byte: u8) {
        self.text.clear();
        let is_name = matches!(self.next, Next::Member | Next::MemberOrEnd);
        if let Some(open) = self.open.last_mut()
            && (is_name || self.next == Next::ItemOrEnd)
        {
            open.count += 1;
        }
        self.next = match byte {
            b'"' => Next::Text { is_name },
            b'{' | b'[' => {
                let is_object = byte == b'{';
                self.open.push(OpenContainer { is_object, count: 0 });
                if is_object { Next::MemberOrEnd } else { Next::ItemOrEnd }
            }
            b'-' | b'0'..=b'9' => {
                self.text.push(byte);
                Next::Number
            }
            _ => {
                self.text.push(byte);
                Next::Literal
            }
        };
    }
}
