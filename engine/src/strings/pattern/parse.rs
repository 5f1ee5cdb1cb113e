//! Parser of ECMA-262 regular expressions.
//!
//! First by the grammar with the `u` flag, which is what JSON Schema recommends. Where that fails, once more with the
//! leniencies of Annex B that schemas in the wild rely on: `\-`, `\_`, `\@` and other escaped punctuation, a lone `{`,
//! `}` or `]`, a class such as `\w` as the end of a range, octal escapes, quantified lookaheads. What Annex B would
//! read as a plain letter (`\Z`, `\a`, `\h`) stays an error: people who write it mean another dialect. In either mode
//! patterns match code points, never halves of surrogate pairs.

use super::PatternError;
use super::ast::{Ast, AstId, Form};
use super::escapes::Escape;
use super::unicode::{is_name_part, is_name_start};
use crate::strings::charset::CharSet;
use crate::strings::limits::LanguageLimits;
use crate::strings::node::UNBOUNDED;

/// Parses `source`; the second is the whole expression.
pub(super) fn parse(source: &str, limits: &LanguageLimits) -> Result<(Ast, AstId), PatternError> {
    if source.len() > limits.pattern_bytes {
        return Err(PatternError::TooLarge {
            what: "bytes",
            allowed: limits.pattern_bytes,
        });
    }
    let strict = Parser::new(source, true, limits).parse();
    match strict {
        Err(PatternError::Syntax { .. }) => Parser::new(source, false, limits).parse().or(strict),
        result => result,
    }
}

/// Parses `source` by the grammar with the `u` flag alone.
#[cfg(test)]
pub(super) fn read_strictly(source: &str, limits: &LanguageLimits) -> Result<(), PatternError> {
    Parser::new(source, true, limits).parse().map(|_| ())
}

pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    /// Whether to parse by the grammar with the `u` flag alone.
    pub(super) strict: bool,
    ast: Ast,
    limits: &'s LanguageLimits,
    /// Capturing groups in the whole pattern, whether before or behind: `\1` refers to one only if there are so many.
    pub(super) groups: usize,
    pub(super) has_names: bool,
    names: Vec<&'s str>,
}

/// The bounds of a quantifier in braces, and where it ends.
type Braces = ((u64, u64), usize);

/// A group that is not closed yet.
struct Open {
    kind: Kind,
    alternatives: Vec<AstId>,
    terms: Vec<AstId>,
    start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Group,
    Look { behind: bool, negated: bool },
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, strict: bool, limits: &'s LanguageLimits) -> Self {
        let (groups, has_names) = count_groups(source);
        Self {
            source,
            at: 0,
            strict,
            ast: Ast::default(),
            limits,
            groups,
            has_names,
            names: Vec::new(),
        }
    }

    pub(super) fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn syntax<T>(&self, offset: usize, expected: &'static str) -> Result<T, PatternError> {
        Err(PatternError::Syntax { offset, expected })
    }

    fn parse(mut self) -> Result<(Ast, AstId), PatternError> {
        let mut open: Vec<Open> = Vec::new();
        let mut current = Open {
            kind: Kind::Group,
            alternatives: Vec::new(),
            terms: Vec::new(),
            start: 0,
        };
        while let Some(c) = self.peek() {
            let start = self.at;
            match c {
                '|' => {
                    self.at += 1;
                    let terms = std::mem::take(&mut current.terms);
                    let alternative = self.concat(terms);
                    current.alternatives.push(alternative);
                }
                '(' => {
                    if open.len() >= self.limits.pattern_nesting {
                        let allowed = self.limits.pattern_nesting;
                        return Err(PatternError::TooLarge {
                            what: "groups inside one another",
                            allowed,
                        });
                    }
                    let kind = self.open_group()?;
                    let group = Open {
                        kind,
                        alternatives: Vec::new(),
                        terms: Vec::new(),
                        start,
                    };
                    open.push(std::mem::replace(&mut current, group));
                }
                ')' => {
                    let Some(outer) = open.pop() else {
                        return self.syntax(start, "no `)` without a `(` before it");
                    };
                    self.at += 1;
                    let group = std::mem::replace(&mut current, outer);
                    let kind = group.kind;
                    let inner = self.close(group);
                    let term = self.finish_group(kind, inner)?;
                    current.terms.push(term);
                }
                _ => {
                    let term = self.term(c)?;
                    current.terms.push(term);
                }
            }
        }
        if !open.is_empty() {
            return self.syntax(current.start, "a `)` that closes this group");
        }
        let whole = self.close(current);
        Ok((self.ast, whole))
    }

    fn concat(&mut self, mut terms: Vec<AstId>) -> AstId {
        match terms.len() {
            0 => self.ast.add(Form::Empty),
            1 => terms.remove(0),
            _ => self.ast.add(Form::Concat(terms)),
        }
    }

    fn close(&mut self, group: Open) -> AstId {
        let Open {
            mut alternatives,
            terms,
            ..
        } = group;
        let last = self.concat(terms);
        if alternatives.is_empty() {
            return last;
        }
        alternatives.push(last);
        self.ast.add(Form::Alternatives(alternatives))
    }

    fn open_group(&mut self) -> Result<Kind, PatternError> {
        let start = self.at;
        self.at += 1;
        if !self.eat("?") {
            return Ok(Kind::Group);
        }
        for (mark, behind, negated) in [
            ("<=", true, false),
            ("<!", true, true),
            ("=", false, false),
            ("!", false, true),
        ] {
            if self.eat(mark) {
                return Ok(Kind::Look { behind, negated });
            }
        }
        if self.eat(":") {
            return Ok(Kind::Group);
        }
        if self.eat("<") {
            let name = self.group_name()?;
            if self.names.contains(&name) {
                return self.syntax(start, "a group name that is not taken");
            }
            self.names.push(name);
            return Ok(Kind::Group);
        }
        let flags = self.rest().trim_start_matches(['i', 'm', 's', '-']);
        if flags.starts_with(':') && flags.len() < self.rest().len() {
            return Err(PatternError::Unsupported {
                offset: start,
                what: "flags that hold for a group",
            });
        }
        self.syntax(start, "`(?:`, `(?=`, `(?!`, `(?<=`, `(?<!` or `(?<name>`")
    }

    /// The rest of `name>`.
    pub(super) fn group_name(&mut self) -> Result<&'s str, PatternError> {
        let start = self.at;
        let Some(length) = self.rest().find('>') else {
            return self.syntax(start, "a group name and `>`");
        };
        let name = &self.rest()[..length];
        if !name.starts_with(is_name_start) || !name.chars().all(is_name_part) {
            return self.syntax(start, "a group name: letters, digits, `_` and `$`, no digit first");
        }
        self.at += length + 1;
        Ok(name)
    }

    fn finish_group(&mut self, kind: Kind, inner: AstId) -> Result<AstId, PatternError> {
        match kind {
            Kind::Group => self.quantified(inner),
            Kind::Look { behind, negated } => {
                let look = self.ast.add(Form::Look { behind, negated, inner });
                // Annex B lets lookaheads be quantified; nothing lets lookbehinds.
                if self.strict || behind {
                    self.unquantified(look)
                } else {
                    self.quantified(look)
                }
            }
        }
    }

    fn term(&mut self, c: char) -> Result<AstId, PatternError> {
        let start = self.at;
        match c {
            '^' | '$' => {
                self.at += 1;
                let assertion = self.ast.add(if c == '^' { Form::Start } else { Form::End });
                self.unquantified(assertion)
            }
            '*' | '+' | '?' => self.syntax(start, "something to repeat"),
            '.' => {
                self.at += 1;
                self.class(CharSet::of("\n\r\u{2028}\u{2029}").complement())
            }
            '[' => {
                let set = self.bracketed()?;
                self.class(set)
            }
            '\\' => self.escaped(),
            '{' if !self.strict && self.braces()?.is_some() => self.syntax(start, "something to repeat"),
            '{' | '}' | ']' if self.strict => {
                self.syntax(start, "`\\` before `{`, `}` and `]` that stand for themselves")
            }
            _ => {
                self.at += c.len_utf8();
                self.class(CharSet::range(c, c))
            }
        }
    }

    fn escaped(&mut self) -> Result<AstId, PatternError> {
        match self.escape(false)? {
            Escape::Boundary { negated } => {
                let boundary = self.ast.add(Form::WordBoundary { negated });
                self.unquantified(boundary)
            }
            Escape::Character(c) => self.class(CharSet::range(c, c)),
            Escape::Class(set) => self.class(set),
        }
    }

    fn class(&mut self, set: CharSet) -> Result<AstId, PatternError> {
        let class = self.ast.add(Form::Class(set));
        self.quantified(class)
    }

    fn unquantified(&mut self, assertion: AstId) -> Result<AstId, PatternError> {
        let start = self.at;
        if self.quantifier()?.is_some() {
            return self.syntax(start, "no quantifier behind an assertion");
        }
        Ok(assertion)
    }

    fn quantified(&mut self, inner: AstId) -> Result<AstId, PatternError> {
        let Some((min, max)) = self.quantifier()? else {
            return Ok(inner);
        };
        // A lazy quantifier finds other matches first, but the same texts match.
        self.eat("?");
        Ok(self.ast.add(Form::Repeat { inner, min, max }))
    }

    fn quantifier(&mut self) -> Result<Option<(u64, u64)>, PatternError> {
        let bounds = match self.peek() {
            Some('*') => (0, UNBOUNDED),
            Some('+') => (1, UNBOUNDED),
            Some('?') => (0, 1),
            Some('{') => {
                let start = self.at;
                let Some((bounds, end)) = self.braces()? else {
                    if self.strict {
                        return self.syntax(start, "`{n}`, `{n,}` or `{n,m}`");
                    }
                    return Ok(None);
                };
                self.at = end;
                return Ok(Some(bounds));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(bounds))
    }

    /// The quantifier in braces that starts here, if one does, and where it ends.
    fn braces(&self) -> Result<Option<Braces>, PatternError> {
        let inside = self.rest().strip_prefix('{').unwrap_or_default();
        let length = inside.bytes().take_while(|&b| b == b',' || b.is_ascii_digit()).count();
        if inside.as_bytes().get(length) != Some(&b'}') {
            return Ok(None);
        }
        let inside = &inside[..length];
        let (low, high) = match inside.split_once(',') {
            None => (inside, Some(inside)),
            Some((low, "")) => (low, None),
            Some((low, high)) => (low, Some(high)),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(low) || !high.is_none_or(is_number) {
            return Ok(None);
        }
        let number = |text: &str| text.parse().unwrap_or(UNBOUNDED).min(UNBOUNDED - 1);
        let (min, max) = (number(low), high.map_or(UNBOUNDED, number));
        if min > max {
            return self.syntax(self.at, "a lower bound that is not above the upper one");
        }
        Ok(Some(((min, max), self.at + length + 2)))
    }
}

/// Capturing groups in `source`, and whether any has a name.
fn count_groups(source: &str) -> (usize, bool) {
    let mut bytes = source.as_bytes();
    let (mut groups, mut named, mut in_class) = (0, false, false);
    while let [first, rest @ ..] = bytes {
        bytes = rest;
        match first {
            b'\\' => bytes = rest.get(1..).unwrap_or_default(),
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => {
                let name = rest.starts_with(b"?<") && !matches!(rest.get(2), Some(b'=' | b'!'));
                groups += usize::from(name || !rest.starts_with(b"?"));
                named |= name;
            }
            _ => {}
        }
    }
    (groups, named)
}
