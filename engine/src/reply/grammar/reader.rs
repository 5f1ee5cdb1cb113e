//! [`Reader`]: a cursor in the text of a grammar, with the tokens that EBNF and Lark share: blanks, numbers, quoted texts and escapes.

use crate::{CompileError, CompileErrorKind, Limits};

use super::rules::{Part, PartId, RuleBuilder, UNBOUNDED};

/// An open group: the alternatives read so far, and the sequence that is being read.
#[derive(Debug)]
pub(super) struct Group {
    /// The character that closes the group; none for the body of the rule itself.
    pub(super) end: Option<char>,
    /// The byte at which the group begins.
    pub(super) start: usize,
    pub(super) alternatives: Vec<PartId>,
    pub(super) sequence: Vec<PartId>,
}

impl Group {
    /// A group that begins at a byte.
    pub(super) fn new(end: Option<char>, start: usize) -> Self {
        let (alternatives, sequence) = (Vec::new(), Vec::new());
        Self {
            end,
            start,
            alternatives,
            sequence,
        }
    }

    /// Ends an alternative.
    pub(super) fn next_alternative(&mut self, rules: &mut RuleBuilder) {
        let mut sequence = std::mem::take(&mut self.sequence);
        let alternative = match (sequence.pop(), sequence.is_empty()) {
            (None, _) => rules.add(Part::Text(String::new())),
            (Some(only), true) => only,
            (Some(last), false) => {
                sequence.push(last);
                rules.add(Part::Sequence(sequence))
            }
        };
        self.alternatives.push(alternative);
    }

    /// The whole group.
    pub(super) fn finish(mut self, rules: &mut RuleBuilder) -> PartId {
        self.next_alternative(rules);
        rules.choice(self.alternatives)
    }
}

/// A cursor in the text of a grammar.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    /// The byte at which the cursor stands.
    pub(super) at: usize,
    depth: usize,
    /// A byte and its line, from which the lines of later bytes are counted.
    known: (usize, usize),
}

impl<'t> Reader<'t> {
    /// A reader at the beginning of a grammar.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::LimitExceeded`], where the text is too long.
    pub(super) fn new(text: &'t str, limits: &Limits) -> Result<Self, CompileError> {
        if text.len() > limits.text_bytes {
            let message = format!("more than {} bytes (the limit `text_bytes`)", limits.text_bytes);
            return Err(CompileError::new(CompileErrorKind::LimitExceeded, message).on_keyword("grammar"));
        }
        Ok(Self {
            text,
            at: 0,
            depth: limits.depth,
            known: (0, 1),
        })
    }

    /// The text that has not been read.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes a text, if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Takes all characters of a kind.
    pub(super) fn take_while(&mut self, is_of: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !is_of(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Takes blanks, line ends and comments, which begin with one of some texts.
    pub(super) fn skip_blanks(&mut self, comments: &[&str]) {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
            if !comments.iter().any(|comment| self.rest().starts_with(comment)) {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    /// The line of a byte, counted from 1. Callers ask for bytes in rising order, except for errors.
    pub(super) fn line(&mut self, at: usize) -> usize {
        if at < self.known.0 {
            self.known = (0, 1);
        }
        let (from, line) = self.known;
        let line = line
            + self.text.as_bytes()[from..at]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
        self.known = (at, line);
        line
    }

    /// An error of a kind at a byte.
    pub(super) fn error(&mut self, kind: CompileErrorKind, at: usize, message: &str) -> CompileError {
        let line = self.line(at);
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let column = 1 + self.text[start..at].chars().count();
        let message = format!("line {line}, column {column}: {message}");
        CompileError::new(kind, message).on_keyword("grammar")
    }

    /// The error that the text at a byte is no grammar.
    pub(super) fn malformed<T>(&mut self, at: usize, message: &str) -> Result<T, CompileError> {
        Err(self.error(CompileErrorKind::Malformed, at, message))
    }

    /// The error that the text at a byte is not treated.
    pub(super) fn unsupported<T>(&mut self, at: usize, message: &str) -> Result<T, CompileError> {
        Err(self.error(CompileErrorKind::Unsupported, at, message))
    }

    /// Opens a group at the next character.
    pub(super) fn open(&mut self, groups: &mut Vec<Group>, end: char) -> Result<(), CompileError> {
        if groups.len() >= self.depth {
            let message = format!("more than {} groups inside one another (the limit `depth`)", self.depth);
            return Err(self.error(CompileErrorKind::LimitExceeded, self.at, &message));
        }
        groups.push(Group::new(Some(end), self.at));
        self.next();
        Ok(())
    }

    /// Reads the text behind an opening quote, up to and with the closing one. A `\` before a character that is not in `escapes` stands for
    /// itself; where there are none, every escape is read.
    pub(super) fn quoted(&mut self, start: usize, escapes: Option<&[char]>) -> Result<String, CompileError> {
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.next() {
                None | Some('\n') => return self.malformed(start, "this text does not end in its line: add a `\"`"),
                Some('"') => return Ok(text),
                Some('\\') if escapes.is_some_and(|known| !self.rest().starts_with(known)) => text.push('\\'),
                Some('\\') => text.push(self.escape(at)?),
                Some(c) => text.push(c),
            }
        }
    }

    /// Reads the escape behind a `\` at byte `start`.
    pub(super) fn escape(&mut self, start: usize) -> Result<char, CompileError> {
        let digits = match self.next() {
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some('f') => return Ok('\u{c}'),
            Some('v') => return Ok('\u{b}'),
            Some('b') => return Ok('\u{8}'),
            Some('a') => return Ok('\u{7}'),
            Some('0') => return Ok('\0'),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(c) if c.is_ascii_punctuation() => return Ok(c),
            _ => {
                let message = "no escape that is known: write `\\\\` for a backslash";
                return self.malformed(start, message);
            }
        };
        let number = self.rest().get(..digits);
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let character = number
            .and_then(|number| u32::from_str_radix(number, 16).ok())
            .and_then(char::from_u32);
        match character {
            Some(character) => {
                self.at += digits;
                Ok(character)
            }
            None => {
                let message = format!("this escape has {digits} hexadecimal digits, those of a character of Unicode");
                self.malformed(start, &message)
            }
        }
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Result<u64, CompileError> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(number) if number < UNBOUNDED => Ok(number),
            _ if !digits.is_empty() => {
                let message = format!(
                    "this number of repetitions is too large: the largest is {}",
                    UNBOUNDED - 1
                );
                self.malformed(start, &message)
            }
            _ => self.malformed(start, "a number of repetitions is expected here"),
        }
    }
}
