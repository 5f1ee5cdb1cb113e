//! [`Grammar`]: builder in which formats write the rules of their RFCs as expressions.

use crate::strings::charset::{CharRange, index};
use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{EMPTY, LanguageId};
use crate::strings::limits::{LanguageLimits, LimitReached};
use crate::strings::pattern::PatternSyntax;
use crate::strings::pattern::error::PatternError;

/// The reason for which a format has no language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    /// The format's language does not fit beside the others: a limit on their size was reached.
    #[error(transparent)]
    Limit(#[from] LimitReached),
    /// A grammar of this module is not a pattern: a defect.
    #[error("the grammar of a format is wrong: {0}")]
    Grammar(PatternError),
}

impl From<PatternError> for FormatError {
    fn from(error: PatternError) -> Self {
        match error {
            PatternError::Limit(limit) => Self::Limit(limit),
            other => Self::Grammar(other),
        }
    }
}

pub(super) type FormatLanguage = Result<LanguageId, FormatError>;

/// The arena into which formats write their rules.
pub(super) struct Grammar<'l> {
    pub(super) arena: &'l mut Arena,
    pub(super) limits: &'l LanguageLimits,
}

impl Grammar<'_> {
    /// Texts that `rule` matches whole.
    pub(super) fn whole(&mut self, rule: &str) -> FormatLanguage {
        self.search(&format!("^(?:{rule})$"))
    }

    /// Texts in which `rule` finds a match.
    pub(super) fn search(&mut self, rule: &str) -> FormatLanguage {
        Ok(crate::strings::pattern::compile(
            self.arena,
            rule,
            PatternSyntax::Ecma,
            self.limits,
        )?)
    }

    /// Texts of `language` of `min` to `max` characters.
    pub(super) fn bounded(&mut self, language: LanguageId, min: u64, max: u64) -> FormatLanguage {
        let length = self.arena.length(min, max)?;
        Ok(self.arena.and(vec![language, length])?)
    }

    /// Texts of `language` of at most `most` octets in UTF-8.
    pub(super) fn within_octets(&mut self, language: LanguageId, most: u16) -> FormatLanguage {
        let mut left = vec![EMPTY];
        for octets in 1..=most {
            let room = usize::from(octets);
            let ends = [
                (1, '\0', '\u{7F}'),
                (2, '\u{80}', '\u{7FF}'),
                (3, '\u{800}', '\u{FFFF}'),
                (4, '\u{10000}', char::MAX),
            ];
            let edges = ends.into_iter().filter(|(width, ..)| *width <= room);
            let edges = edges.map(|(width, first, last)| {
                let range = CharRange::new(index(first), index(last));
                (range, left[room - width])
            });
            let edges = edges.collect();
            let within = self.arena.intern(Expr::Branch { accepts: true, edges })?;
            self.arena.octets.insert(within, octets);
            left.push(within);
        }
        Ok(self.arena.and(vec![language, left[usize::from(most)]])?)
    }
}
