//! The JSON parser: one loop with an explicit stack of open containers.

use std::collections::HashMap;

use crate::Limits;

use super::strings::scan_string;
use super::{
    Document, INDEXED_FROM, Node, NodeIndex, NodeKind, ParseError, ParseErrorKind, line_and_column, push_token,
};

impl Document {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// [`ParseError`]: a text that is not JSON, one with duplicate names in an object, or one over a limit.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, ParseError> {
        let mut parser = Parser {
            text,
            at: 0,
            limits,
            document: Self {
                text: "".into(),
                decoded: String::new(),
                // Schemas have a value every 15 bytes or so.
                nodes: Vec::with_capacity(text.len().min(limits.text_bytes) / 16),
                sorted_names: HashMap::new(),
                item_lists: HashMap::new(),
            },
            open: Vec::new(),
        };
        if text.len() > limits.text_bytes.min(u32::MAX as usize) {
            let message = format!(
                "{} bytes, over the limit `text_bytes` of {}",
                text.len(),
                limits.text_bytes
            );
            return Err(parser.error(ParseErrorKind::Limit, message));
        }
        if text.starts_with('\u{FEFF}') {
            return Err(parser.syntax("the text begins with a byte order mark: remove it"));
        }
        parser.document.text = text.into();
        parser.run()?;
        let mut document = parser.document;
        document.nodes.shrink_to_fit();
        Ok(document)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    /// The part of the document read so far.
    document: Document,
    open: Vec<OpenContainer>,
}

/// A container that is not closed yet.
struct OpenContainer {
    node: NodeIndex,
    is_object: bool,
    /// Items, or names, read so far.
    count: u32,
    /// The last name, in objects.
    name: NodeIndex,
}

/// The tokens of JSON that may come next.
enum Expect {
    Value,
    /// A value or `]`.
    FirstItem,
    /// A name or `}`.
    FirstName,
    Name,
    /// A comma or a closing bracket; the end at the top.
    After,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), ParseError> {
        let mut expect = Expect::Value;
        loop {
            self.skip_whitespace();
            let byte = self.peek();
            expect = match (expect, byte) {
                (Expect::After, _) if self.open.is_empty() => return self.end(),
                (Expect::After, Some(b',')) => {
                    self.at += 1;
                    let in_object = self.open.last().is_some_and(|open| open.is_object);
                    if in_object { Expect::Name } else { Expect::Value }
                }
                (Expect::After | Expect::FirstItem, Some(b']')) => self.close(false)?,
                (Expect::After | Expect::FirstName, Some(b'}')) => self.close(true)?,
                (Expect::FirstName | Expect::Name, Some(b'"')) => self.read_name()?,
                (expect @ (Expect::Value | Expect::FirstItem), Some(byte)) => self.read_value(&expect, byte)?,
                (expect, byte) => return Err(self.unexpected(&expect, byte)),
            };
        }
    }

    fn end(&self) -> Result<(), ParseError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("more text after the end of the value")),
        }
    }

    fn read_value(&mut self, expect: &Expect, byte: u8) -> Result<Expect, ParseError> {
        if let Some(open) = self.open.last_mut() {
            open.count += u32::from(!open.is_object);
        }
        match byte {
            b'{' => return self.open(NodeKind::Object),
            b'[' => return self.open(NodeKind::Array),
            b'"' => {
                self.read_string()?;
            }
            b'-' | b'0'..=b'9' => self.read_number()?,
            b't' => self.read_literal("true", NodeKind::True)?,
            b'f' => self.read_literal("false", NodeKind::False)?,
            b'n' => self.read_literal("null", NodeKind::Null)?,
            _ => return Err(self.unexpected(expect, Some(byte))),
        }
        Ok(Expect::After)
    }

    fn read_literal(&mut self, literal: &str, kind: NodeKind) -> Result<(), ParseError> {
        if !self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            return Err(self.syntax(format!("expected `{literal}`")));
        }
        self.at += literal.len();
        self.push(kind, 0, 0).map(|_| ())
    }

    fn read_number(&mut self) -> Result<(), ParseError> {
        let Some(len) = number_len(&self.text.as_bytes()[self.at..]) else {
            return Err(self.syntax("not a number in JSON's grammar"));
        };
        if len > self.limits.number_digits {
            let limit = self.limits.number_digits;
            let message = format!("a number of {len} characters, over the limit `number_digits` of {limit}");
            return Err(self.error(ParseErrorKind::Limit, message));
        }
        let start = self.at;
        self.at += len;
        self.push(NodeKind::Number, start, self.at).map(|_| ())
    }

    fn read_string(&mut self) -> Result<NodeIndex, ParseError> {
        let body = self.at + 1;
        let decoded_from = self.document.decoded.len();
        let scanned = scan_string(&self.text[body..], &mut self.document.decoded);
        let string = scanned.map_err(|defect| {
            self.at = body + defect.offset;
            self.syntax(defect.message)
        })?;
        self.at = body + string.len + 1;
        if string.escaped {
            self.push(NodeKind::EscapedString, decoded_from, self.document.decoded.len())
        } else {
            self.push(NodeKind::String, body, body + string.len)
        }
    }

    fn read_name(&mut self) -> Result<Expect, ParseError> {
        let name = self.read_string()?;
        if let Some(open) = self.open.last_mut() {
            open.count += 1;
            open.name = name;
        }
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.syntax("expected `:` after the name of a member"));
        }
        self.at += 1;
        Ok(Expect::Value)
    }

    fn open(&mut self, kind: NodeKind) -> Result<Expect, ParseError> {
        if self.open.len() >= self.limits.depth {
            let message = format!("nested deeper than the limit `depth` of {}", self.limits.depth);
            return Err(self.error(ParseErrorKind::Limit, message));
        }
        let node = self.push(kind, self.at, 0)?;
        self.at += 1;
        let is_object = kind == NodeKind::Object;
        self.open.push(OpenContainer {
            node,
            is_object,
            count: 0,
            name: node,
        });
        Ok(if is_object {
            Expect::FirstName
        } else {
            Expect::FirstItem
        })
    }

    fn close(&mut self, is_object: bool) -> Result<Expect, ParseError> {
        let Some(open) = self.open.last().filter(|open| open.is_object == is_object) else {
            return Err(self.unexpected(&Expect::After, self.peek()));
        };
        let (index, count) = (open.node, open.count);
        let size = self.document.nodes.len() as u32 - index;
        let node = &mut self.document.nodes[index as usize];
        node.end = count;
        node.size = size;
        if is_object {
            self.check_names(index, count)?;
        } else if count > INDEXED_FROM {
            let items = self.document.items(index).collect();
            self.document.item_lists.insert(index, items);
        }
        self.open.pop();
        self.at += 1;
        Ok(Expect::After)
    }

    /// Refuses duplicate names in the object at `index`, and indexes its names if there are many.
    fn check_names(&mut self, index: NodeIndex, count: u32) -> Result<(), ParseError> {
        if count < 2 {
            return Ok(());
        }
        let names: Vec<NodeIndex> = self.document.members(index).map(|(_, value)| value - 1).collect();
        let duplicate = if count <= INDEXED_FROM {
            let repeated = |(i, &name): (usize, &NodeIndex)| {
                names[..i]
                    .iter()
                    .any(|&n| self.document.name(n) == self.document.name(name))
            };
            let found = names.iter().enumerate().position(repeated);
            found.map(|position| names[position])
        } else {
            let mut sorted = names;
            sorted.sort_by(|&a, &b| self.document.name(a).cmp(self.document.name(b)));
            let pair = sorted
                .windows(2)
                .find(|pair| self.document.name(pair[0]) == self.document.name(pair[1]));
            // Nodes are numbered as they stand in the text.
            let duplicate = pair.map(|pair| pair[0].max(pair[1]));
            self.document.sorted_names.insert(index, sorted.into());
            duplicate
        };
        match duplicate {
            None => Ok(()),
            Some(name) => Err(self.duplicate(index, name)),
        }
    }

    /// The error of a name in an object that has an earlier one like it.
    fn duplicate(&self, object: NodeIndex, name: NodeIndex) -> ParseError {
        let text = self.document.name(name);
        let message = format!("the name {text:?} is given twice in one object: keep one of them");
        let mut error = self.error(ParseErrorKind::DuplicateName, message);
        let opening = self.document.nodes[object as usize].start as usize;
        let position = self
            .document
            .members(object)
            .take_while(|(_, value)| value - 1 != name)
            .count();
        (error.line, error.column) = line_and_column(self.text.as_bytes(), self.start_of_name(opening, position));
        // The pointer of the place reached ends with the object's last name.
        error.pointer = self.pointer_to(self.open.len() - 1);
        push_token(&mut error.pointer, text);
        error
    }

    /// Where the name at `position` begins in the object that opens at `opening`, which has been read to its end. Nodes of names with escapes
    /// do not tell.
    fn start_of_name(&self, opening: usize, position: usize) -> usize {
        let (mut depth, mut names, mut at) = (0, 0, opening);
        let bytes = self.text.as_bytes();
        while at < self.at {
            match bytes[at] {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    let start = at;
                    at += 1;
                    while bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    let behind = bytes[at + 1..].trim_ascii_start();
                    if depth == 1 && behind.first() == Some(&b':') {
                        if names == position {
                            return start;
                        }
                        names += 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    fn push(&mut self, kind: NodeKind, start: usize, end: usize) -> Result<NodeIndex, ParseError> {
        let index = self.document.nodes.len();
        if index >= self.limits.values.min(u32::MAX as usize) {
            let message = format!("more values than the limit `values` of {}", self.limits.values);
            return Err(self.error(ParseErrorKind::Limit, message));
        }
        // Offsets fit: a text over 4 GiB was refused, and decoding never makes a string longer.
        let (start, end) = (start as u32, end as u32);
        self.document.nodes.push(Node {
            kind,
            start,
            end,
            size: 1,
        });
        Ok(index as u32)
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self, expect: &Expect, byte: Option<u8>) -> ParseError {
        if byte.is_none() {
            return self.syntax("the text ends before the value does");
        }
        let expected = match expect {
            Expect::Value => "expected a value",
            Expect::FirstItem => "expected a value or `]`",
            Expect::FirstName => "expected a name in double quotes or `}`",
            Expect::Name => "expected a name in double quotes",
            Expect::After if self.open.last().is_some_and(|open| open.is_object) => "expected `,` or `}`",
            Expect::After => "expected `,` or `]`",
        };
        let found = self.shown_from(self.at);
        self.syntax(match (expect, byte) {
            // Mistakes of people who know other languages.
            (Expect::Name, Some(b'}')) => format!("{expected}, found `}}`: no comma stands behind the last member"),
            (Expect::Value, Some(b']')) if self.open.last().is_some_and(|open| !open.is_object) => {
                format!("{expected}, found `]`: no comma stands behind the last item")
            }
            (_, Some(b'/')) if matches!(&*found, "//" | "/*") => {
                format!("{expected}, found `{found}`: JSON has no comments")
            }
            (_, Some(b'\'')) => format!("{expected}, found `'`: strings and names stand in double quotes"),
            _ => format!("{expected}, found `{found}`"),
        })
    }

    /// The word that begins at a place of the text, or the character, as a message can show it.
    fn shown_from(&self, at: usize) -> String {
        /// Characters that are shown of a word.
        const MAX_SHOWN: usize = 20;
        let rest = self.text.get(at..).unwrap_or_default();
        let is_of_word =
            |character: &char| character.is_alphanumeric() || matches!(character, '_' | '$' | '+' | '-' | '.');
        let word: String = rest.chars().take_while(is_of_word).take(MAX_SHOWN).collect();
        let first = || rest.chars().next().map(|first| first.escape_debug().to_string());
        if let Some(string) = rest.strip_prefix('"') {
            // What a reader looks for: the name or text that stands there.
            let shown: String = string.chars().take_while(is_of_word).take(MAX_SHOWN).collect();
            let end = if string[shown.len()..].starts_with('"') {
                "\""
            } else {
                ""
            };
            return format!("\"{shown}{end}");
        }
        match (word.is_empty(), rest.get(..2)) {
            (false, _) => word,
            (true, Some(comment @ ("//" | "/*"))) => comment.to_owned(),
            _ => first().unwrap_or_default(),
        }
    }

    fn syntax(&self, message: impl Into<String>) -> ParseError {
        self.error(ParseErrorKind::Syntax, message)
    }

    fn error(&self, kind: ParseErrorKind, message: impl Into<String>) -> ParseError {
        let (line, column) = line_and_column(self.text.as_bytes(), self.at);
        ParseError {
            kind,
            line,
            column,
            pointer: self.pointer_to(self.open.len()),
            message: message.into(),
        }
    }

    /// Pointer to the value being read in the innermost of the `depth` outermost open containers.
    fn pointer_to(&self, depth: usize) -> String {
        let mut pointer = String::new();
        for open in &self.open[..depth] {
            if !open.is_object {
                pointer.push_str(&format!("/{}", open.count.saturating_sub(1)));
            } else if open.count > 0 {
                push_token(&mut pointer, self.document.name(open.name));
            }
        }
        pointer
    }
}

/// Length of the longest number in JSON's grammar that `text` starts with; `None` without one, and where no digit follows a point
/// or an exponent sign.
fn number_len(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    at += match digits(at) {
        0 => return None,
        // A leading zero stands alone.
        _ if text[at] == b'0' => 1,
        count => count,
    };
    if text.get(at) == Some(&b'.') {
        at += 1 + Some(digits(at + 1)).filter(|&count| count > 0)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at += Some(digits(at)).filter(|&count| count > 0)?;
    }
    Some(at)
}
