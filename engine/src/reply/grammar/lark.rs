//! Parses grammars in the notation of the Python package Lark into [`Grammar`] rules.

use crate::{CompileError, Limits};

use super::common;
use super::reader::{Group, Reader};
use super::rules::{Grammar, Part, PartId, RuleBuilder, UNBOUNDED};

/// The root rule of a grammar in Lark's notation.
const START: &str = "start";
/// The rule of the ignored texts (`%ignore`) that may stand between terminals. No grammar can name this rule.
const IGNORED: &str = "%ignore";
/// The root rule of replies: ignored texts, then `start`.
const REPLY: &str = "%reply";

/// Characters behind a `\` with which Lark reads an escape in `"…"`. Before any other one the `\` stands for itself.
const ESCAPES: [char; 9] = ['\\', '"', 'U', 'u', 'x', 'n', 'f', 't', 'r'];

/// Reads a grammar.
///
/// # Errors
///
/// [`Malformed`](crate::CompileErrorKind::Malformed), [`Unsupported`](crate::CompileErrorKind::Unsupported) or
/// [`LimitExceeded`](crate::CompileErrorKind::LimitExceeded), with line and column.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Grammar, CompileError> {
    let mut parser = LarkParser {
        reader: Reader::new(text, limits)?,
        rules: RuleBuilder::default(),
        ignored: Vec::new(),
        is_terminal: false,
    };
    parser.skip();
    while parser.reader.peek().is_some() {
        parser.statement()?;
    }
    parser.finish()
}

struct LarkParser<'t> {
    reader: Reader<'t>,
    rules: RuleBuilder,
    /// Names of the ignored terminals and rules.
    ignored: Vec<String>,
    /// Whether the body of a terminal is read, within which nothing is ignored.
    is_terminal: bool,
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a name is that of a terminal.
fn is_of_terminal(name: &str) -> bool {
    name.trim_start_matches('_')
        .starts_with(|c: char| c.is_ascii_uppercase())
}

impl LarkParser<'_> {
    fn skip(&mut self) {
        self.reader.skip_blanks(&["//", "#"]);
    }

    /// Reads a definition or directive and the blanks behind it.
    fn statement(&mut self) -> Result<(), CompileError> {
        let start = self.reader.at;
        if self.reader.eat("%") {
            return self.directive(start);
        }
        self.reader.take_while(|c| matches!(c, '?' | '!'));
        let name = self.reader.take_while(is_of_name);
        if name.is_empty() {
            return self
                .reader
                .malformed(start, "a rule is expected here, as in `name: \"text\"`");
        }
        self.reader.take_while(|c| matches!(c, ' ' | '\t'));
        let at = self.reader.at;
        match self.reader.peek() {
            Some('{') => {
                return self
                    .reader
                    .unsupported(at, "templates are not supported: write the rule out");
            }
            Some('[') => {
                let message = "attributes of rules (`lazy`, `suffix`, `stop`, `max_tokens`, `temperature`, `capture`) are extensions of \
                     llguidance and not supported: leave out those that only say how a model samples, and write the texts that \
                     others leave as an expression";
                return self.reader.unsupported(at, message);
            }
            _ => {}
        }
        if self.reader.eat(".") {
            self.reader.take_while(|c| c == '-' || c.is_ascii_digit());
            self.skip();
        }
        if !self.reader.eat(":") {
            return self
                .reader
                .malformed(start, "a `:` is expected behind the name of a rule");
        }
        self.is_terminal = is_of_terminal(name);
        self.define(name, start)
    }

    /// Reads the body of a rule and defines it.
    fn define(&mut self, name: &str, start: usize) -> Result<(), CompileError> {
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

    fn directive(&mut self, start: usize) -> Result<(), CompileError> {
        let name = self.reader.take_while(is_of_name);
        self.reader.take_while(|c| matches!(c, ' ' | '\t'));
        match name {
            "ignore" => {
                self.is_terminal = true;
                let name = format!("{IGNORED} {}", self.ignored.len());
                self.define(&name, start)?;
                self.ignored.push(name);
            }
            "import" => self.import(start)?,
            "llguidance" if self.reader.eat("{}") => {}
            _ => {
                let message =
                    format!("`%{name}` is not supported: of directives only `%ignore` and `%import common` are");
                return self.reader.unsupported(start, &message);
            }
        }
        self.skip();
        Ok(())
    }

    /// Reads `%import common.NAME`, with `-> OTHER` behind it, or `%import common (NAME, …)`.
    fn import(&mut self, start: usize) -> Result<(), CompileError> {
        let is_common = self.reader.take_while(is_of_name) == "common";
        if !is_common {
            return self
                .reader
                .unsupported(start, "of other grammars only `common` can be imported from");
        }
        let blank = |c| matches!(c, ' ' | '\t');
        if self.reader.eat(".") {
            let name = self.reader.take_while(is_of_name);
            self.reader.take_while(blank);
            let mut other = name;
            if self.reader.eat("->") {
                self.reader.take_while(blank);
                other = self.reader.take_while(is_of_name);
            }
            return self.imported(name, other, start);
        }
        self.reader.take_while(blank);
        if !self.reader.eat("(") {
            return self
                .reader
                .malformed(start, "names are expected behind `common`, as in `%import common.INT`");
        }
        loop {
            self.skip();
            let at = self.reader.at;
            let name = self.reader.take_while(is_of_name);
            self.imported(name, name, at)?;
            self.skip();
            if self.reader.eat(")") {
                return Ok(());
            }
            if !self.reader.eat(",") {
                return self
                    .reader
                    .malformed(start, "a `)` is expected behind the names that are imported");
            }
        }
    }

    /// Defines a terminal of the grammar `common` under a name.
    fn imported(&mut self, name: &str, other: &str, start: usize) -> Result<(), CompileError> {
        let Some(pattern) = common::terminal(name) else {
            let message = format!("`{name}` is no terminal of `common` that is known: define it");
            return self.reader.unsupported(start, &message);
        };
        if other.is_empty() {
            return self.reader.malformed(start, "a name is expected behind `->`");
        }
        // A name that is imported twice, or defined here as well, is the one that was read first.
        if !self.rules.is_defined(other) {
            let (line, first) = (self.reader.line(start), self.rules.parts.len());
            self.rules.add(Part::Pattern(pattern.to_owned(), line));
            self.rules.define(other, line, first);
        }
        Ok(())
    }

    /// Whether a definition or directive begins here, at the beginning of a line.
    fn is_before_statement(&mut self) -> bool {
        let start = self.reader.at;
        if self.reader.peek() == Some('%') {
            return true;
        }
        self.reader.take_while(|c| matches!(c, '?' | '!'));
        let is_name = !self.reader.take_while(is_of_name).is_empty();
        self.reader.take_while(|c| matches!(c, ' ' | '\t'));
        if self.reader.eat(".") {
            self.reader.take_while(|c| c == '-' || c.is_ascii_digit());
        } else if is_name && self.reader.eat("[") {
            self.skip_attributes();
        }
        self.reader.take_while(|c| matches!(c, ' ' | '\t'));
        let is_statement = is_name && self.reader.peek() == Some(':');
        self.reader.at = start;
        is_statement
    }

    /// Skips what may be attributes of a rule, such as `lazy, stop="]"`, up to and with the `]` behind them in this line.
    fn skip_attributes(&mut self) {
        let mut end = None;
        while let Some(c) = self.reader.next() {
            match (c, end) {
                ('\n', _) | (']', None) => return,
                ('\\', Some(_)) => drop(self.reader.next()),
                ('"' | '/', None) => end = Some(c),
                _ if end == Some(c) => end = None,
                _ => {}
            }
        }
    }

    /// Reads the body of a rule and the blanks behind it.
    fn body(&mut self) -> Result<(), CompileError> {
        let mut groups = vec![Group::new(None, self.reader.at)];
        while let Some(mut group) = groups.pop() {
            self.skip();
            let start = self.reader.at;
            let next = self.reader.peek();
            if group.end.is_none() && (next.is_none() || self.is_before_statement()) {
                group.finish(&mut self.rules);
                return Ok(());
            }
            let part = match next {
                None => return self.reader.malformed(group.start, "this group does not end: close it"),
                Some('|') => {
                    self.reader.next();
                    group.next_alternative(&mut self.rules);
                    None
                }
                Some(sign @ ('(' | '[')) => {
                    groups.push(group);
                    self.reader.open(&mut groups, if sign == '(' { ')' } else { ']' })?;
                    continue;
                }
                Some(sign @ (')' | ']')) => {
                    if group.end != Some(sign) {
                        return self
                            .reader
                            .malformed(start, "no such group is open here: leave this sign out");
                    }
                    self.reader.next();
                    let mut part = group.finish(&mut self.rules);
                    if sign == ']' {
                        let (min, max) = (0, 1);
                        part = self.rules.add(Part::Repeat { inner: part, min, max });
                    }
                    let Some(around) = groups.pop() else { return Ok(()) };
                    group = around;
                    Some(part)
                }
                Some('-') if self.reader.eat("->") => {
                    self.skip();
                    self.reader.take_while(is_of_name);
                    None
                }
                Some('"') => Some(self.text(start)?),
                Some('/') => Some(self.pattern(start)?),
                Some('<') => {
                    let message = "special tokens are not supported in grammars: a structural tag can name them";
                    return self.reader.unsupported(start, message);
                }
                Some('%' | '&' | '~') => {
                    let message = "extensions of llguidance are not supported: write an expression or a rule instead";
                    return self.reader.unsupported(start, message);
                }
                Some(c) if is_of_name(c) => Some(self.name(start)?),
                Some('*' | '+' | '?') => {
                    return self
                        .reader
                        .malformed(start, "nothing stands here that could be repeated");
                }
                Some(_) => {
                    let message = "a text, an expression, a group or the name of a rule is expected here";
                    return self.reader.malformed(start, message);
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

    /// Adds the ignored texts that may follow a terminal.
    fn terminal(&mut self, part: PartId) -> PartId {
        if self.is_terminal {
            return part;
        }
        let ignored = self.rules.named(IGNORED, 0);
        let ignored = self.rules.add(Part::Rule(ignored));
        self.rules.add(Part::Sequence(vec![part, ignored]))
    }

    fn name(&mut self, start: usize) -> Result<PartId, CompileError> {
        let name = self.reader.take_while(is_of_name);
        if self.reader.rest().starts_with('{') {
            return self
                .reader
                .unsupported(start, "templates are not supported: write the rule out");
        }
        let is_terminal = is_of_terminal(name);
        if self.is_terminal && !is_terminal {
            let message = format!(
                "the terminal has the rule `{name}` in it: write it in capitals, or what has it in small letters"
            );
            return self.reader.malformed(start, &message);
        }
        let line = self.reader.line(start);
        let rule = self.rules.named(name, line);
        let part = self.rules.add(Part::Rule(rule));
        Ok(if is_terminal { self.terminal(part) } else { part })
    }

    /// Reads `"…"`, `"…"i` or `"a".."z"`.
    fn text(&mut self, start: usize) -> Result<PartId, CompileError> {
        self.reader.next();
        let text = self.reader.quoted(start, Some(&ESCAPES))?;
        let part = if self.reader.eat("..") {
            let at = self.reader.at;
            let last = match self.reader.eat("\"") {
                true => self.reader.quoted(at, Some(&ESCAPES))?,
                false => String::new(),
            };
            let (mut first, mut last) = (text.chars(), last.chars());
            let (Some(from), Some(to), None, None) = (first.next(), last.next(), first.next(), last.next()) else {
                return self
                    .reader
                    .malformed(start, "a range is from one character to another, as in `\"a\"..\"z\"`");
            };
            if to < from {
                return self
                    .reader
                    .malformed(start, "this range ends before it begins: exchange its ends");
            }
            let (ranges, is_negated) = (vec![(from, to)], false);
            Part::Characters { ranges, is_negated }
        } else if self.reader.rest().starts_with('i') && !self.reader.rest()[1..].starts_with(is_of_name) {
            self.reader.next();
            let mut pattern = "(?i:".to_owned();
            for c in text.chars() {
                match c {
                    c if c.is_alphanumeric() || c == '_' => pattern.push(c),
                    c => pattern.push_str(&format!("\\U{:08x}", u32::from(c))),
                }
            }
            pattern.push(')');
            Part::Pattern(pattern, self.reader.line(start))
        } else {
            Part::Text(text)
        };
        let part = self.rules.add(part);
        Ok(self.terminal(part))
    }

    /// Reads `/…/` with flags.
    fn pattern(&mut self, start: usize) -> Result<PartId, CompileError> {
        self.reader.next();
        let from = self.reader.at;
        let rest = self.reader.rest();
        let mut is_escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b'/' && !is_escaped || byte == b'\n';
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        let Some(end) = end.filter(|end| rest.as_bytes()[*end] == b'/') else {
            return self
                .reader
                .malformed(start, "this expression does not end in its line: add a `/`");
        };
        self.reader.at = from + end + 1;
        let flags = self
            .reader
            .take_while(|c| matches!(c, 'i' | 'm' | 's' | 'l' | 'u' | 'x'));
        // Expressions are those of `str`, so that `u` says nothing.
        let flags = flags.replace('u', "");
        let body = &rest[..end];
        let pattern = match flags.is_empty() {
            true => body.to_owned(),
            false => format!("(?{flags}:{body})"),
        };
        let line = self.reader.line(start);
        let part = self.rules.add(Part::Pattern(pattern, line));
        Ok(self.terminal(part))
    }

    /// Whether a number follows behind the sign that is next.
    fn is_before_number(&mut self) -> bool {
        let start = self.reader.at;
        self.reader.next();
        self.skip();
        let is_number = self.reader.peek().is_some_and(|c| c.is_ascii_digit());
        self.reader.at = start;
        is_number
    }

    /// Reads the repetitions behind a part, and returns the repeated part.
    fn repeated(&mut self, mut inner: PartId) -> Result<PartId, CompileError> {
        loop {
            self.skip();
            let sign = self.reader.peek();
            let (min, max) = match sign {
                Some('*') => (0, UNBOUNDED),
                Some('+') => (1, UNBOUNDED),
                // A rule in the next line may begin with this sign.
                Some('?') if !self.is_before_statement() => (0, 1),
                // Not a number of repetitions, but the next part.
                Some('~') if !self.is_before_number() => return Ok(inner),
                Some('{') => {
                    let message = "repetitions in braces are an extension of llguidance and not supported: write `~2..3` for `{2,3}`";
                    return self.reader.unsupported(self.reader.at, message);
                }
                Some('~') => {
                    let start = self.reader.at;
                    self.reader.next();
                    self.skip();
                    let min = self.reader.number()?;
                    let mut max = min;
                    if self.reader.eat("..") {
                        max = self.reader.number()?;
                    }
                    if max < min {
                        let message = "at most fewer repetitions than at least: exchange the numbers";
                        return self.reader.malformed(start, message);
                    }
                    inner = self.rules.add(Part::Repeat { inner, min, max });
                    continue;
                }
                _ => return Ok(inner),
            };
            // More than one such sign in a row says nothing more.
            self.reader.take_while(|c| Some(c) == sign);
            inner = self.rules.add(Part::Repeat { inner, min, max });
        }
    }

    /// All rules, those that no grammar can name among them.
    fn finish(mut self) -> Result<Grammar, CompileError> {
        let first = self.rules.parts.len();
        let ignored: Vec<PartId> = std::mem::take(&mut self.ignored)
            .iter()
            .map(|name| {
                let rule = self.rules.named(name, 0);
                self.rules.add(Part::Rule(rule))
            })
            .collect();
        match ignored.is_empty() {
            true => self.rules.add(Part::Text(String::new())),
            false => {
                let (inner, min, max) = (self.rules.choice(ignored), 0, UNBOUNDED);
                self.rules.add(Part::Repeat { inner, min, max })
            }
        };
        self.rules.define(IGNORED, 0, first);
        if !self.rules.is_defined(START) {
            return self.rules.finish(START);
        }
        let first = self.rules.parts.len();
        let parts = [IGNORED, START].map(|name| {
            let rule = self.rules.named(name, 0);
            self.rules.add(Part::Rule(rule))
        });
        self.rules.add(Part::Sequence(parts.to_vec()));
        self.rules.define(REPLY, 0, first);
        self.rules.finish(REPLY)
    }
}
