//! Parser of regular expressions.
//!
//! A pattern is parsed first by the grammar of ECMA-262 with the `u` flag, as JSON Schema recommends. Where that fails, it is parsed with the
//! leniencies of Annex B that schemas in the wild rely on: `\-`, `\_`, `\@` and other escaped punctuation, a lone `{`, `}` or
//! `]`, a class such as `\w` as the end of a range, octal escapes, quantified lookaheads. An escape that Annex B would read as a
//! plain letter (`\Z`, `\a`, `\h`) stays an error: people who write it mean another dialect. Where that fails too,
//! [`PatternSyntax::Common`] tries the syntax that other dialects have in common. By any grammar patterns match code points, never halves of
//! surrogate pairs.

use super::escapes::ParsedEscape;
use crate::strings::charset::CharSet;
use crate::strings::language_id::UNBOUNDED;
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::pattern::flags::Flags;
use crate::strings::pattern::reader::{Grammar, PatternParser};
use crate::strings::pattern::rust;
use crate::strings::pattern::syntax::PatternSyntax;
use crate::strings::unicode_properties::{name_parts, name_starts};

/// Parses `source`; the second is the whole expression.
pub(super) fn parse(
    source: &str,
    syntax: PatternSyntax,
    limits: &LanguageLimits,
) -> Result<(Ast, AstId), PatternError> {
    if source.len() > limits.pattern_bytes {
        return Err(PatternError::TooLarge {
            what: "bytes",
            allowed: limits.pattern_bytes,
        });
    }
    if class_escapes(source) > MAX_CLASS_ESCAPES {
        return Err(PatternError::TooLarge {
            what: "escapes such as `\\w` and `\\p{…}`",
            allowed: MAX_CLASS_ESCAPES,
        });
    }
    match syntax {
        PatternSyntax::Rust => return rust::parse(source, limits),
        PatternSyntax::Python => return PatternParser::new(source, Grammar::Python, limits).parse_python(),
        PatternSyntax::Common | PatternSyntax::Ecma => {}
    }
    let by = |grammar| PatternParser::new(source, grammar, limits).parse();
    let further = |result: &Result<_, PatternError>| {
        matches!(result, Err(PatternError::Syntax { .. } | PatternError::Foreign { .. }))
    };
    let mut result = by(Grammar::Unicode);
    if further(&result) {
        result = by(Grammar::AnnexB);
    }
    if further(&result) && syntax == PatternSyntax::Common {
        result = by(Grammar::Common);
    }
    result
}

/// Escapes for classes of characters in one pattern: each stands for up to 800 ranges, 6 KB.
const MAX_CLASS_ESCAPES: usize = 10_000;

/// The number of escapes in `source` that stand for classes of characters.
fn class_escapes(source: &str) -> usize {
    let mut bytes = source.bytes();
    let mut found = 0;
    while bytes.by_ref().any(|byte| byte == b'\\') {
        found += usize::from(bytes.next().is_some_and(|letter| b"dswpDSWP".contains(&letter)));
    }
    found
}

/// Parses `source` by the grammar with the `u` flag alone.
#[cfg(test)]
pub(super) fn read_strictly(source: &str, limits: &LanguageLimits) -> Result<(), PatternError> {
    PatternParser::new(source, Grammar::Unicode, limits).parse().map(|_| ())
}

/// The bounds of a quantifier in braces, and where it ends.
type CountedQuantifier = ((u64, u64), usize);

/// A group that is not closed yet.
pub(super) struct OpenGroup {
    pub(super) kind: GroupKind,
    pub(super) alternatives: Vec<AstId>,
    pub(super) terms: Vec<AstId>,
    pub(super) start: usize,
    /// The flags that hold around the group.
    pub(super) flags: Flags,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupKind {
    Group,
    Look {
        behind: bool,
        negated: bool,
    },
    /// Not a group: flags that hold up to the end of the one around them.
    Flags,
}

impl<'s> PatternParser<'s> {
    fn parse(mut self) -> Result<(Ast, AstId), PatternError> {
        let mut open: Vec<OpenGroup> = Vec::new();
        let mut current = self.group();
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
                    let mut group = self.group();
                    group.kind = self.open_group()?;
                    if group.kind == GroupKind::Flags {
                        continue;
                    }
                    open.push(std::mem::replace(&mut current, group));
                }
                ')' => {
                    let Some(outer) = open.pop() else {
                        return self.syntax(start, "no `)` without a `(` before it");
                    };
                    self.at += 1;
                    let group = std::mem::replace(&mut current, outer);
                    let kind = group.kind;
                    self.flags = group.flags;
                    let inner = self.close(group);
                    let term = self.finish_group(kind, inner)?;
                    current.terms.push(term);
                }
                '\\' if self.grammar == Grammar::Common && self.eat("\\Q") => self.quoted(&mut current.terms)?,
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

    pub(super) fn concat(&mut self, mut terms: Vec<AstId>) -> AstId {
        match terms.len() {
            0 => self.ast.add(AstForm::Empty),
            1 => terms.remove(0),
            _ => self.ast.add(AstForm::Concat(terms)),
        }
    }

    pub(super) fn close(&mut self, group: OpenGroup) -> AstId {
        let OpenGroup {
            mut alternatives,
            terms,
            ..
        } = group;
        let last = self.concat(terms);
        if alternatives.is_empty() {
            return last;
        }
        alternatives.push(last);
        self.ast.add(AstForm::Alternatives(alternatives))
    }

    /// Reads the opening of a lookaround, behind `(?`; none where something else stands there.
    pub(super) fn open_lookaround(&mut self) -> Option<GroupKind> {
        let marks = [
            ("<=", true, false),
            ("<!", true, true),
            ("=", false, false),
            ("!", false, true),
        ];
        let mut marks = marks.into_iter();
        let (_, behind, negated) = marks.find(|(mark, ..)| self.eat(mark))?;
        Some(GroupKind::Look { behind, negated })
    }

    fn open_group(&mut self) -> Result<GroupKind, PatternError> {
        let start = self.at;
        self.at += 1;
        if !self.eat("?") {
            return Ok(GroupKind::Group);
        }
        if let Some(look) = self.open_lookaround() {
            return Ok(look);
        }
        if self.eat(":") {
            return Ok(GroupKind::Group);
        }
        if self.eat("<") {
            return self.named_group(start);
        }
        self.foreign_group(start)
    }

    /// The rest of `name>` of a group that began at `start`.
    pub(super) fn named_group(&mut self, start: usize) -> Result<GroupKind, PatternError> {
        let name = self.group_name()?;
        if !self.names.insert(name) {
            return self.syntax(start, "a group name that is not taken");
        }
        Ok(GroupKind::Group)
    }

    /// The rest of `name>`.
    pub(super) fn group_name(&mut self) -> Result<&'s str, PatternError> {
        let start = self.at;
        let Some(length) = self.rest().find('>') else {
            return self.syntax(start, "a group name and `>`");
        };
        let name = &self.rest()[..length];
        if !name.starts_with(|c| name_starts().contains(c)) || !name.chars().all(|c| name_parts().contains(c)) {
            return self.syntax(start, "a group name: letters, digits, `_` and `$`, no digit first");
        }
        self.at += length + 1;
        Ok(name)
    }

    fn finish_group(&mut self, kind: GroupKind, inner: AstId) -> Result<AstId, PatternError> {
        match kind {
            GroupKind::Group | GroupKind::Flags => self.quantified(inner),
            GroupKind::Look { behind, negated } => {
                let look = self.ast.add(AstForm::Look { behind, negated, inner });
                // Annex B lets lookaheads be quantified; nothing lets lookbehinds.
                if self.strict() || behind {
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
                let assertion = match c {
                    '^' => self.start_assertion(),
                    _ => self.end_assertion(),
                };
                self.unquantified(assertion)
            }
            '*' | '+' | '?' => self.syntax(start, "something to repeat"),
            '.' => {
                self.at += 1;
                let set = self.dot();
                self.class(set)
            }
            '[' => {
                let set = self.bracketed()?;
                self.class(set)
            }
            '\\' => self.escaped(),
            '{' if !self.strict() && self.braces()?.is_some() => self.syntax(start, "something to repeat"),
            '{' | '}' | ']' if self.strict() => {
                self.syntax(start, "`\\` before `{`, `}` and `]` that stand for themselves")
            }
            _ => {
                self.at += c.len_utf8();
                self.character(c)
            }
        }
    }

    fn escaped(&mut self) -> Result<AstId, PatternError> {
        let start = self.at;
        match self.escape(false)? {
            ParsedEscape::Boundary { negated } => {
                let boundary = self.boundary_assertion(negated);
                self.unquantified(boundary)
            }
            ParsedEscape::Text(form) => {
                let assertion = self.ast.add(form);
                self.unquantified(assertion)
            }
            ParsedEscape::Character(c) => self.character(c),
            // It would never match, which nobody means.
            ParsedEscape::Surrogate(_) => Err(PatternError::Unsupported {
                offset: start,
                what: "a surrogate without its other half",
            }),
            ParsedEscape::Class(set) => {
                let set = self.flagged(set);
                self.class(set)
            }
        }
    }

    /// A character that stands for itself.
    pub(super) fn character(&mut self, c: char) -> Result<AstId, PatternError> {
        let set = self.flagged(CharSet::range(c, c));
        self.class(set)
    }

    /// A character that stands for itself, whatever follows.
    pub(super) fn literal(&mut self, c: char) -> AstId {
        let set = self.flagged(CharSet::range(c, c));
        self.ast.add(AstForm::Class(set))
    }

    fn class(&mut self, set: CharSet) -> Result<AstId, PatternError> {
        let class = self.ast.add(AstForm::Class(set));
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
        let start = self.at;
        let Some((min, max)) = self.quantifier()? else {
            return Ok(inner);
        };
        // A lazy quantifier finds other matches first, but the same texts match.
        if !self.eat("?") && self.peek() == Some('+') {
            return self.foreign(
                start,
                "a possessive quantifier",
                "leave out its `+`; what it must not give back cannot be said",
            );
        }
        Ok(self.ast.add(AstForm::Repeat { inner, min, max }))
    }

    fn quantifier(&mut self) -> Result<Option<(u64, u64)>, PatternError> {
        let bounds = match self.peek() {
            Some('*') => (0, UNBOUNDED),
            Some('+') => (1, UNBOUNDED),
            Some('?') => (0, 1),
            Some('{') => {
                let start = self.at;
                let Some((bounds, end)) = self.braces()? else {
                    if self.strict() {
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
    fn braces(&self) -> Result<Option<CountedQuantifier>, PatternError> {
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
