//! Parses EBNF, in the dialects of llama.cpp's GBNF and of XGrammar, into [`Grammar`] rules.

use crate::{CompileError, Limits};

use super::reader::{Group, Reader};
use super::rules::{Grammar, Part, PartId, RuleBuilder, UNBOUNDED};

/// The root rule of a grammar in EBNF.
const ROOT: &str = "root";

/// Reads a grammar.
///
/// # Errors
///
/// [`Malformed`](crate::CompileErrorKind::Malformed), [`Unsupported`](crate::CompileErrorKind::Unsupported) or
/// [`LimitExceeded`](crate::CompileErrorKind::LimitExceeded), with line and column.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Grammar, CompileError> {
    let mut parser = EbnfParser {
        reader: Reader::new(text, limits)?,
        rules: RuleBuilder::default(),
    };
    parser.skip();
    while parser.reader.peek().is_some() {
        parser.rule()?;
    }
    parser.rules.finish(ROOT)
}

struct EbnfParser<'t> {
    reader: Reader<'t>,
    rules: RuleBuilder,
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

impl EbnfParser<'_> {
    fn skip(&mut self) {
        self.reader.skip_blanks(&["#"]);
    }

    /// Reads a rule and the blanks behind it.
    fn rule(&mut self) -> Result<(), CompileError> {
        let start = self.reader.at;
        let name = self.reader.take_while(is_of_name);
        self.skip();
        if name.is_empty() || !self.reader.eat("::=") {
            return self
                .reader
                .malformed(start, "a rule is expected here, as in `name ::= \"text\"`");
        }
        let (line, first) = (self.reader.line(start), self.rules.parts.len());
        self.body()?;
        match self.rules.define(name, line, first) {
            true => Ok(()),
            false => {
                let message = format!("`{name}` is defined twice: put `|` between its alternatives");
                self.reader.malformed(start, &message)
            }
        }
    }

    /// Whether a rule begins here.
    fn is_before_rule(&mut self) -> bool {
        let start = self.reader.at;
        let is_name = !self.reader.take_while(is_of_name).is_empty();
        self.skip();
        let is_rule = is_name && self.reader.rest().starts_with("::=");
        self.reader.at = start;
        is_rule
    }

    /// Reads the body of a rule and the blanks behind it.
    fn body(&mut self) -> Result<(), CompileError> {
        let mut groups = vec![Group::new(None, self.reader.at)];
        while let Some(mut group) = groups.pop() {
            self.skip();
            let start = self.reader.at;
            let Some(next) = self.reader.peek() else {
                if group.end.is_some() {
                    return self.reader.malformed(group.start, "this group does not end: add a `)`");
                }
                group.finish(&mut self.rules);
                return Ok(());
            };
            let part = match next {
                '|' => {
                    self.reader.next();
                    group.next_alternative(&mut self.rules);
                    None
                }
                '(' if self.reader.rest().starts_with("(=") => {
                    return self
                        .reader
                        .unsupported(start, "lookaheads are not supported: leave `(=…)` out");
                }
                '(' => {
                    groups.push(group);
                    self.reader.open(&mut groups, ')')?;
                    continue;
                }
                ')' if group.end.is_some() => {
                    self.reader.next();
                    let part = group.finish(&mut self.rules);
                    let Some(around) = groups.pop() else { return Ok(()) };
                    group = around;
                    Some(part)
                }
                ')' => return self.reader.malformed(start, "no group is open here: leave the `)` out"),
                '"' => {
                    self.reader.next();
                    let text = self.reader.quoted(start, None)?;
                    Some(self.rules.add(Part::Text(text)))
                }
                '[' => Some(self.class()?),
                '.' => {
                    self.reader.next();
                    let (ranges, is_negated) = (Vec::new(), true);
                    Some(self.rules.add(Part::Characters { ranges, is_negated }))
                }
                '<' => {
                    let message = "tokens are not supported in grammars: a structural tag can name them";
                    return self.reader.unsupported(start, message);
                }
                _ if is_of_name(next) => {
                    if group.end.is_none() && self.is_before_rule() {
                        group.finish(&mut self.rules);
                        return Ok(());
                    }
                    let name = self.reader.take_while(is_of_name);
                    if self.reader.rest().starts_with('(') && name.starts_with(|c: char| c.is_ascii_uppercase()) {
                        let message =
                            format!("the macro `{name}(…)` is not supported: a structural tag can say the same");
                        return self.reader.unsupported(start, &message);
                    }
                    let line = self.reader.line(start);
                    let rule = self.rules.named(name, line);
                    Some(self.rules.add(Part::Rule(rule)))
                }
                '*' | '+' | '?' | '{' => {
                    return self
                        .reader
                        .malformed(start, "nothing stands here that could be repeated");
                }
                _ => {
                    return self
                        .reader
                        .malformed(start, "a text, a class, a group or the name of a rule is expected here");
                }
            };
            if let Some(part) = part {
                let part = self.repeated(part)?;
                group.sequence.push(part);
            }
            groups.push(group);
        }
        Ok(())
    }

    /// Reads the repetitions behind a part, and returns the repeated part.
    fn repeated(&mut self, mut inner: PartId) -> Result<PartId, CompileError> {
        loop {
            self.skip();
            let (min, max) = match self.reader.peek() {
                Some('*') => (0, UNBOUNDED),
                Some('+') => (1, UNBOUNDED),
                Some('?') => (0, 1),
                Some('{') => {
                    let (min, max) = self.counts()?;
                    inner = self.rules.add(Part::Repeat { inner, min, max });
                    continue;
                }
                _ => return Ok(inner),
            };
            self.reader.next();
            inner = self.rules.add(Part::Repeat { inner, min, max });
        }
    }

    /// Reads `{m}`, `{m,}` or `{m,n}`.
    fn counts(&mut self) -> Result<(u64, u64), CompileError> {
        let start = self.reader.at;
        self.reader.next();
        self.skip();
        let min = self.reader.number()?;
        self.skip();
        let mut max = min;
        if self.reader.eat(",") {
            self.skip();
            max = match self.reader.peek() {
                Some('}') => UNBOUNDED,
                _ => self.reader.number()?,
            };
            self.skip();
        }
        if !self.reader.eat("}") {
            return self.reader.malformed(start, "repetitions are `{m}`, `{m,}` or `{m,n}`");
        }
        if max < min {
            return self
                .reader
                .malformed(start, "at most fewer repetitions than at least: exchange the numbers");
        }
        Ok((min, max))
    }

    /// Reads `[…]`.
    fn class(&mut self) -> Result<PartId, CompileError> {
        let start = self.reader.at;
        self.reader.next();
        let is_negated = self.reader.eat("^");
        let mut ranges = Vec::new();
        loop {
            let at = self.reader.at;
            if self.reader.eat("]") {
                return Ok(self.rules.add(Part::Characters { ranges, is_negated }));
            }
            let first = self.of_class(start)?;
            let mut last = first;
            if self.reader.rest().starts_with('-') && !self.reader.rest().starts_with("-]") {
                self.reader.next();
                last = self.of_class(start)?;
            }
            if last < first {
                return self
                    .reader
                    .malformed(at, "this range ends before it begins: exchange its ends");
            }
            ranges.push((first, last));
        }
    }

    /// Reads a character of a class that begins at `start`.
    fn of_class(&mut self, start: usize) -> Result<char, CompileError> {
        let at = self.reader.at;
        match self.reader.next() {
            Some('\\') => self.reader.escape(at),
            Some(c) if c != '\n' => Ok(c),
            _ => self
                .reader
                .malformed(start, "this class does not end in its line: add a `]`"),
        }
    }
}
