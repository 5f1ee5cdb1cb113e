//! [`PatternParser`]: the cursor of a parser in the source of a pattern.

use hashbrown::{HashMap, HashSet};

use crate::strings::charset::CharSet;
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::ast::Ast;
use crate::strings::pattern::error::PatternError;
use crate::strings::pattern::flags::{FlaggedAssertions, Flags};

/// The grammar that a pattern is parsed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// The grammar of ECMA-262 with the flag `u`.
    Unicode,
    /// The grammar of ECMA-262 with leniencies of its Annex B.
    AnnexB,
    /// The grammar of ECMA-262 with leniencies of its Annex B, and the syntax that other dialects have in common.
    Common,
    /// The grammar of Python's module `re`.
    Python,
}

/// A parse of one pattern.
pub(super) struct PatternParser<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    pub(super) grammar: Grammar,
    /// Flags that hold here. The grammars of ECMA-262 set none.
    pub(super) flags: Flags,
    pub(super) assertions: FlaggedAssertions,
    /// The characters that share their case folding with one of a set of letters, by that set.
    pub(super) folded: HashMap<CharSet, CharSet>,
    pub(super) ast: Ast,
    pub(super) limits: &'s LanguageLimits,
    /// Capturing groups in the whole pattern, whether before or behind: `\1` refers to one only if there are so many.
    pub(super) groups: usize,
    pub(super) has_names: bool,
    pub(super) names: HashSet<&'s str>,
}

impl<'s> PatternParser<'s> {
    pub(super) fn new(source: &'s str, grammar: Grammar, limits: &'s LanguageLimits) -> Self {
        let (groups, has_names) = count_groups(source, grammar);
        Self {
            source,
            at: 0,
            grammar,
            flags: Flags::default(),
            assertions: FlaggedAssertions::default(),
            folded: HashMap::new(),
            ast: Ast::default(),
            limits,
            groups,
            has_names,
            names: HashSet::new(),
        }
    }

    /// Whether to parse by the grammar with the `u` flag alone.
    pub(super) fn strict(&self) -> bool {
        self.grammar == Grammar::Unicode
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
fn count_groups(source: &str, grammar: Grammar) -> (usize, bool) {
    let mut bytes = source.as_bytes();
    let (mut groups, mut named, mut in_class) = (0, false, false);
    while let [first, rest @ ..] = bytes {
        bytes = rest;
        match first {
            b'\\' if grammar == Grammar::Common && !in_class && rest.starts_with(b"Q") => {
                let end = rest.windows(2).position(|two| two == b"\\E");
                bytes = end.map_or(&[][..], |end| &rest[end + 2..]);
            }
            b'\\' => bytes = rest.get(1..).unwrap_or_default(),
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => {
                let named_elsewhere = grammar == Grammar::Common && rest.starts_with(b"?P<");
                let name = named_elsewhere || rest.starts_with(b"?<") && !matches!(rest.get(2), Some(b'=' | b'!'));
                groups += usize::from(name || !rest.starts_with(b"?"));
                named |= name;
            }
            _ => {}
        }
    }
    (groups, named)
}
