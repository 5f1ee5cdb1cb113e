//! [`PatternParser`]: where a parse of a pattern stands in its source.

use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::ast::Ast;
use crate::strings::pattern::error::PatternError;

/// A parse of one pattern.
pub(super) struct PatternParser<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    /// Whether to parse by the grammar with the `u` flag alone.
    pub(super) strict: bool,
    pub(super) ast: Ast,
    pub(super) limits: &'s LanguageLimits,
    /// Capturing groups in the whole pattern, whether before or behind: `\1` refers to one only if there are so many.
    pub(super) groups: usize,
    pub(super) has_names: bool,
    pub(super) names: Vec<&'s str>,
}

impl<'s> PatternParser<'s> {
    pub(super) fn new(source: &'s str, strict: bool, limits: &'s LanguageLimits) -> Self {
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
