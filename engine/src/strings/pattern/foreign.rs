//! Syntax that dialects other than ECMA-262 have: read where they agree, and refused with a remedy elsewhere.

use super::escapes::ParsedEscape;
use super::parse::GroupKind;
use super::reader::{Grammar, PatternParser};
use crate::strings::pattern::ast::{AstForm, AstId};
use crate::strings::pattern::error::PatternError;

/// Advice on what to write in place of flags, by the first of them.
fn instead_of_flags(letters: &str) -> &'static str {
    match letters.bytes().find(u8::is_ascii_alphabetic) {
        Some(b's') => "write `[^]` instead of `.`",
        Some(b'm') => "write `(?:^|\\n)` and `(?:\\n|$)` instead of `^` and `$`",
        _ => "write each letter in either case, as in `[Aa]`",
    }
}

/// Escapes of other dialects, and those to write in their place.
const ESCAPES: [(char, &str); 13] = [
    ('A', "write `^`"),
    ('z', "write `$`"),
    (
        'Z',
        "dialects differ on it: write `$` for the end of the text, `\\n?$` where a line end may stand before it",
    ),
    ('Q', "put `\\` before each character that stands for itself"),
    ('E', "it ends what `\\Q` begins"),
    ('a', "write `\\x07`"),
    ('e', "write `\\x1b`"),
    ('h', "write `[ \\t]` for blanks, `[0-9a-fA-F]` for hexadecimal digits"),
    ('H', "write `[^ \\t]` for what is no blank"),
    ('R', "write `(?:\\r\\n|[\\n\\r])`"),
    ('G', "leave it out"),
    ('K', "leave it out: all that counts is whether there is a match"),
    ('X', "write `.`"),
];

/// Groups of other dialects by the text behind `(?`, and those to write in their place.
const GROUPS: [(&str, &str, &str); 7] = [
    ("P<", "the group `(?P<name>…)`", "write `(?<name>…)`"),
    (
        "P=",
        "the reference `(?P=name)`",
        "back-references are not supported: write out what may come",
    ),
    ("P>", "the call `(?P>name)`", "write out what it calls"),
    (
        ">",
        "an atomic group",
        "write `(?:…)`; what it must not give back cannot be said",
    ),
    ("#", "a comment", "leave it out: `$comment` is the place for it"),
    ("|", "a group that resets numbers", "write `(?:…)`"),
    ("(", "a condition", "write both cases as alternatives"),
];

impl<'s> PatternParser<'s> {
    pub(super) fn foreign<T>(
        &self,
        offset: usize,
        what: impl Into<String>,
        remedy: &'static str,
    ) -> Result<T, PatternError> {
        let what = what.into();
        Err(PatternError::Foreign { offset, what, remedy })
    }

    /// Reads the group that begins with `(?` at `start` and is none of ECMA-262.
    pub(super) fn foreign_group(&mut self, start: usize) -> Result<GroupKind, PatternError> {
        let rest = self.rest();
        let is_common = self.grammar == Grammar::Common;
        let length = rest
            .find(|c: char| c != '-' && !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let (letters, behind) = rest.split_at(length);
        if let Some(flags) = self.flags.changed_by(letters)
            && behind.starts_with([':', ')'])
        {
            if !is_common {
                let (flag, close) = (if letters.len() > 1 { "flags" } else { "flag" }, &behind[..1]);
                let close = if close == ":" { ":…)" } else { close };
                return self.foreign(
                    start,
                    format!("the {flag} `(?{letters}{close}`"),
                    instead_of_flags(letters),
                );
            }
            self.at += length + 1;
            self.flags = flags;
            return Ok(match behind.starts_with(':') {
                true => GroupKind::Group,
                false => GroupKind::Flags,
            });
        }
        if is_common && self.eat("P<") {
            return self.named_group(start);
        }
        if let Some((_, what, remedy)) = GROUPS.iter().find(|(mark, ..)| rest.starts_with(mark)) {
            return self.foreign(start, *what, remedy);
        }
        if letters.contains(|c: char| c.is_ascii_alphabetic()) && behind.starts_with([':', ')']) {
            let remedy = "of flags only `i`, `m` and `s` can be read: leave the others out";
            return self.foreign(start, format!("the flags `(?{letters}`"), remedy);
        }
        self.syntax(start, "`(?:`, `(?=`, `(?!`, `(?<=`, `(?<!` or `(?<name>`")
    }

    /// Reads the escape of the character `c` at `start`, which is none of ECMA-262.
    pub(super) fn foreign_escape(
        &mut self,
        start: usize,
        c: char,
        in_class: bool,
    ) -> Result<ParsedEscape, PatternError> {
        if self.grammar == Grammar::Common && !in_class {
            match c {
                'A' => return Ok(ParsedEscape::Text(AstForm::Start)),
                'z' => return Ok(ParsedEscape::Text(AstForm::End)),
                _ => {}
            }
        }
        match ESCAPES.iter().find(|(letter, _)| *letter == c) {
            Some((_, remedy)) => self.foreign(start, format!("the escape `\\{c}`"), remedy),
            None => self.syntax(start, "an escape of ECMA-262"),
        }
    }

    /// Reads the text behind `\Q`, up to `\E` or the end, each character a term: a quantifier is for the last.
    pub(super) fn quoted(&mut self, terms: &mut Vec<AstId>) -> Result<(), PatternError> {
        let rest = self.rest();
        let (text, marked) = match rest.find("\\E") {
            Some(length) => (&rest[..length], length + 2),
            None => (rest, rest.len()),
        };
        let mut characters = text.chars();
        let last = characters.next_back();
        for c in characters {
            let term = self.literal(c);
            terms.push(term);
        }
        self.at += marked;
        if let Some(last) = last {
            let term = self.character(last)?;
            terms.push(term);
        }
        Ok(())
    }
}
