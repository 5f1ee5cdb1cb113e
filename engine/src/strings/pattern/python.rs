//! Patterns of Python's module `re`, as its documentation and its parser read them: groups, flags, quantifiers and anchors. Escapes
//! and classes are in [`python_items`](super::python_items).

use crate::strings::charset::CharSet;
use crate::strings::language_id::UNBOUNDED;
use crate::strings::pattern::assertions::WordSides;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::pattern::flags::Flags;
use crate::strings::pattern::parse::{GroupKind, OpenGroup};
use crate::strings::pattern::reader::PatternParser;
use crate::strings::unicode_properties::{name_parts, name_starts};

/// White space that a verbose pattern may have anywhere.
const BLANKS: [char; 6] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}'];

/// The kinds of items of a pattern, which differ in whether a quantifier may follow them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A character, class, group or lookaround.
    Repeatable,
    /// An anchor or a boundary.
    Assertion,
    /// Something with a quantifier of its own.
    Repeated,
}

/// A pattern that is found in the texts that `pattern` matches whole. Flags at its beginning stay at the beginning, where alone they
/// may stand.
pub(super) fn anchored(pattern: &str) -> String {
    let mut rest = pattern;
    let mut verbose = false;
    loop {
        let begun = if verbose { behind_blanks(rest) } else { rest };
        rest = match begun.strip_prefix("(?").and_then(|rest| rest.split_once(')')) {
            Some((comment, behind)) if comment.starts_with('#') => behind,
            Some((flags, behind)) if !flags.is_empty() && flags.bytes().all(|flag| flag.is_ascii_lowercase()) => {
                verbose |= flags.contains('x');
                behind
            }
            _ => break,
        };
    }
    let flags = &pattern[..pattern.len() - rest.len()];
    // A comment may reach to the end of the pattern; where there are none, a line end would be part of it.
    let end = if verbose { "\n" } else { "" };
    format!(r"{flags}\A(?:{rest}{end})\Z")
}

/// The rest of a verbose pattern behind white space and comments.
fn behind_blanks(mut pattern: &str) -> &str {
    loop {
        pattern = pattern.trim_start_matches(BLANKS);
        match pattern.strip_prefix('#') {
            Some(comment) => pattern = comment.split_once('\n').map_or("", |(_, behind)| behind),
            None => return pattern,
        }
    }
}

impl<'s> PatternParser<'s> {
    /// Parses the source; the second is the whole expression.
    pub(super) fn parse_python(mut self) -> Result<(Ast, AstId), PatternError> {
        let mut open: Vec<(OpenGroup, Option<Item>)> = Vec::new();
        let mut current = self.group();
        // The last item of the sequence, which a quantifier is for.
        let mut last: Option<Item> = None;
        let mut is_first = true;
        while let Some(c) = self.peek() {
            let start = self.at;
            match c {
                _ if self.flags.verbose && (c == '#' || BLANKS.contains(&c)) => self.skip(c),
                '|' => {
                    self.at += 1;
                    let terms = std::mem::take(&mut current.terms);
                    let alternative = self.concat(terms);
                    current.alternatives.push(alternative);
                    last = None;
                    is_first = false;
                }
                '(' if self.eat("(?#") => match self.rest().find(')') {
                    Some(length) => self.at += length + 1,
                    None => return self.syntax(start, "a `)` that closes this comment"),
                },
                '(' => {
                    if open.len() >= self.limits.pattern_nesting {
                        return Err(PatternError::TooLarge {
                            what: "groups inside one another",
                            allowed: self.limits.pattern_nesting,
                        });
                    }
                    let mut group = self.group();
                    let is_begin = is_first && open.is_empty() && last.is_none();
                    group.kind = self.open_python_group(is_begin)?;
                    if group.kind == GroupKind::Flags {
                        continue;
                    }
                    open.push((std::mem::replace(&mut current, group), last.take()));
                }
                ')' => {
                    let Some((outer, _)) = open.pop() else {
                        return self.syntax(start, "no `)` without a `(` before it");
                    };
                    self.at += 1;
                    let group = std::mem::replace(&mut current, outer);
                    let kind = group.kind;
                    self.flags = group.flags;
                    let inner = self.close(group);
                    let term = match kind {
                        GroupKind::Look { behind, negated } => self.ast.add(AstForm::Look { behind, negated, inner }),
                        GroupKind::Group | GroupKind::Flags => inner,
                    };
                    current.terms.push(term);
                    last = Some(Item::Repeatable);
                }
                '*' | '+' | '?' | '{' => match self.python_quantifier()? {
                    Some((min, max)) => {
                        let inner = match last {
                            Some(Item::Repeatable) => current.terms.pop(),
                            Some(Item::Repeated) => return self.syntax(start, "one quantifier, not two"),
                            _ => None,
                        };
                        let Some(inner) = inner else {
                            return self.syntax(start, "something to repeat");
                        };
                        current.terms.push(self.ast.add(AstForm::Repeat { inner, min, max }));
                        last = Some(Item::Repeated);
                    }
                    None => {
                        self.at += 1;
                        current.terms.push(self.python_literal('{'));
                        last = Some(Item::Repeatable);
                    }
                },
                _ => {
                    let (term, item) = self.python_item(c)?;
                    current.terms.push(term);
                    last = Some(item);
                }
            }
        }
        if !open.is_empty() {
            return self.syntax(current.start, "a `)` that closes this group");
        }
        let whole = self.close(current);
        Ok((self.ast, whole))
    }

    /// A group that begins here.
    pub(super) fn group(&self) -> OpenGroup {
        OpenGroup {
            kind: GroupKind::Group,
            alternatives: Vec::new(),
            terms: Vec::new(),
            start: self.at,
            flags: self.flags,
        }
    }

    /// Leaves out white space, or a comment up to the end of its line.
    fn skip(&mut self, c: char) {
        self.at += match c {
            '#' => self.rest().find('\n').map_or(self.rest().len(), |length| length + 1),
            _ => c.len_utf8(),
        };
    }

    /// Reads the opening of a group; flags that hold for the whole pattern may stand at its beginning.
    fn open_python_group(&mut self, is_begin: bool) -> Result<GroupKind, PatternError> {
        let start = self.at;
        self.at += 1;
        if !self.eat("?") {
            return Ok(GroupKind::Group);
        }
        if let Some(look) = self.open_lookaround() {
            return Ok(look);
        }
        for (mark, what) in [
            ("P=", "a back-reference"),
            ("(", "a condition"),
            (">", "an atomic group"),
        ] {
            if self.rest().starts_with(mark) {
                return Err(PatternError::Unsupported { offset: start, what });
            }
        }
        if self.eat(":") {
            return Ok(GroupKind::Group);
        }
        if self.eat("P<") {
            return self.python_name(start);
        }
        self.python_flags(start, is_begin)
    }

    /// The rest of `name>` of a group that began at `start`.
    fn python_name(&mut self, start: usize) -> Result<GroupKind, PatternError> {
        let Some((name, _)) = self.rest().split_once('>') else {
            return self.syntax(start, "a group name and `>`");
        };
        let is_part = |c| c != '$' && name_parts().contains(c);
        if !name.starts_with(|c| c != '$' && name_starts().contains(c)) || !name.chars().all(is_part) {
            return self.syntax(start, "a group name: letters, digits and `_`, no digit first");
        }
        if !self.names.insert(name) {
            return self.syntax(start, "a group name that is not taken");
        }
        self.at += name.len() + 1;
        Ok(GroupKind::Group)
    }

    /// The rest of `flags)` or `flags:` of a group that began at `start`.
    fn python_flags(&mut self, start: usize, is_begin: bool) -> Result<GroupKind, PatternError> {
        let length = self.rest().find([':', ')']).unwrap_or_default();
        let (text, behind) = self.rest().split_at(length);
        let is_global = behind.starts_with(')');
        let (set, unset) = text.split_once('-').unwrap_or((text, ""));
        let is_list = !text.is_empty() && !text.ends_with('-') && set.bytes().all(|flag| b"aimsux".contains(&flag));
        let is_one_kind = !(set.contains('a') && set.contains('u'));
        let is_contradiction = unset.contains(|flag| set.contains(flag));
        if !is_list || !is_one_kind || is_contradiction || !unset.bytes().all(|flag| b"imsx".contains(&flag)) {
            return self.syntax(
                start,
                "`(?:`, `(?=`, `(?!`, `(?<=`, `(?<!`, `(?P<name>` or flags of `aimsux`",
            );
        }
        if is_global && (!is_begin || text.contains('-')) {
            return self.syntax(
                start,
                "flags for the whole pattern at its beginning alone, or `(?flags:…)`",
            );
        }
        let mut flags = self.flags;
        for (letters, is_set) in [(set, true), (unset, false)] {
            letters.chars().for_each(|letter| flags.set_of_python(letter, is_set));
        }
        self.flags = flags;
        self.at += length + 1;
        Ok(if is_global { GroupKind::Flags } else { GroupKind::Group })
    }

    /// The bounds of the quantifier that starts here; none where a `{` stands for itself.
    fn python_quantifier(&mut self) -> Result<Option<(u64, u64)>, PatternError> {
        let start = self.at;
        let (bounds, length) = match self.peek() {
            Some('*') => ((0, UNBOUNDED), 1),
            Some('+') => ((1, UNBOUNDED), 1),
            Some('?') => ((0, 1), 1),
            _ => match python_braces(self.rest()) {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        if bounds.0 > bounds.1 {
            return self.syntax(start, "a lower bound that is not above the upper one");
        }
        self.at += length;
        // A lazy quantifier finds other matches first, but the same texts match.
        if !self.eat("?") && self.peek() == Some('+') {
            return Err(PatternError::Unsupported {
                offset: start,
                what: "a possessive quantifier",
            });
        }
        Ok(Some(bounds))
    }

    /// An item that begins with `c`, which is no group and no quantifier.
    fn python_item(&mut self, c: char) -> Result<(AstId, Item), PatternError> {
        let assertion = match c {
            '^' if self.flags.multi_line => self.line_edge(true, &CharSet::of("\n")),
            '^' => self.ast.add(AstForm::Start),
            '$' if self.flags.multi_line => self.line_edge(false, &CharSet::of("\n")),
            '$' => self.before_last_line_end(),
            '\\' => return self.python_escape(),
            _ => {
                let set = match c {
                    '.' if self.flags.dot_all => CharSet::all(),
                    '.' => CharSet::of("\n").complement(),
                    '[' => {
                        let set = self.python_class()?;
                        return Ok((self.ast.add(AstForm::Class(set)), Item::Repeatable));
                    }
                    _ => self.python_cased(CharSet::range(c, c)),
                };
                self.at += c.len_utf8();
                return Ok((self.ast.add(AstForm::Class(set)), Item::Repeatable));
            }
        };
        self.at += 1;
        Ok((assertion, Item::Assertion))
    }

    /// A character that stands for itself.
    fn python_literal(&mut self, c: char) -> AstId {
        let set = self.python_cased(CharSet::range(c, c));
        self.ast.add(AstForm::Class(set))
    }

    /// At the end of the text, or before a line end there.
    fn before_last_line_end(&mut self) -> AstId {
        let inner = self.ast.add(AstForm::Class(CharSet::of("\n")));
        let line_end = self.ast.add(AstForm::Repeat { inner, min: 0, max: 1 });
        let end = self.ast.add(AstForm::End);
        let inner = self.ast.add(AstForm::Concat(vec![line_end, end]));
        self.ast.add(AstForm::Look {
            behind: false,
            negated: false,
            inner,
        })
    }

    /// `\b`, or `\B` if negated.
    pub(super) fn python_boundary(&mut self, negated: bool) -> AstId {
        let word = self.python_word();
        let known = match self.flags.ascii {
            true => &mut self.assertions.ascii_word_sides,
            false => &mut self.assertions.word_sides,
        };
        let sides = *known.get_or_insert_with(|| WordSides::new(&mut self.ast, &word));
        sides.boundary(&mut self.ast, negated)
    }
}

impl Flags {
    fn set_of_python(&mut self, letter: char, is_set: bool) {
        match letter {
            'i' => self.ignore_case = is_set,
            'm' => self.multi_line = is_set,
            's' => self.dot_all = is_set,
            'x' => self.verbose = is_set,
            'a' => self.ascii = true,
            _ => self.ascii = false,
        }
    }
}

/// The bounds of the quantifier in braces that `text` begins with, and its length; none where it begins with none.
fn python_braces(text: &str) -> Option<((u64, u64), usize)> {
    let inside = text.strip_prefix('{')?;
    let length = inside.bytes().take_while(|&b| b == b',' || b.is_ascii_digit()).count();
    if inside.as_bytes().get(length) != Some(&b'}') {
        return None;
    }
    let inside = &inside[..length];
    let (low, high) = inside.split_once(',').unwrap_or((inside, inside));
    let are_digits = [low, high]
        .iter()
        .all(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    if inside.is_empty() || !are_digits {
        return None;
    }
    let number = |text: &str| text.parse().unwrap_or(UNBOUNDED).min(UNBOUNDED - 1);
    let min = if low.is_empty() { 0 } else { number(low) };
    let max = if high.is_empty() { UNBOUNDED } else { number(high) };
    Some(((min, max), inside.len() + 2))
}
