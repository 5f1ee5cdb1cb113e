//! The formats of JSON Schema as languages, from the grammars of the RFCs that the drafts name.

mod internet;
mod names;
mod time;

use super::Languages;
use super::charset::{CharRange, index};
use super::limits::{LanguageLimits, LimitReached};
use super::node::{Arena, EMPTY, LanguageId, Node};
use super::pattern::{self, PatternError};

/// Why a format has no language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    /// It does not fit beside the other languages.
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

type Made = Result<LanguageId, FormatError>;

/// A name, and how its language is made.
type Definition = (&'static str, fn(&mut Grammar) -> Made);

/// The formats that the drafts define.
const FORMATS: &[Definition] = &[
    ("date-time", time::date_time),
    ("date", time::date),
    ("time", time::time),
    ("duration", time::duration),
    ("email", names::email),
    ("idn-email", names::idn_email),
    ("hostname", names::hostname),
    ("idn-hostname", names::idn_hostname),
    ("ipv4", internet::ipv4),
    ("ipv6", internet::ipv6),
    ("uri", internet::uri),
    ("uri-reference", internet::uri_reference),
    ("iri", internet::iri),
    ("iri-reference", internet::iri_reference),
    ("uuid", internet::uuid),
    ("regex", names::regex),
    ("uri-template", internet::uri_template),
    ("json-pointer", internet::json_pointer),
    ("relative-json-pointer", internet::relative_json_pointer),
];

impl Languages {
    /// The texts of the format `name`, or `None` if no draft defines it.
    pub(crate) fn format(&mut self, name: &str) -> Result<Option<LanguageId>, FormatError> {
        let Some(&(name, make)) = FORMATS.iter().find(|format| format.0 == name) else {
            return Ok(None);
        };
        if let Some(&known) = self.formats.get(name) {
            return Ok(Some(known));
        }
        let language = make(&mut Grammar {
            arena: &mut self.arena,
            limits: &self.limits,
        })?;
        self.formats.insert(name, language);
        Ok(Some(language))
    }
}

/// Where formats write their rules.
struct Grammar<'l> {
    arena: &'l mut Arena,
    limits: &'l LanguageLimits,
}

impl Grammar<'_> {
    /// Texts that `rule` matches whole.
    fn whole(&mut self, rule: &str) -> Made {
        self.search(&format!("^(?:{rule})$"))
    }

    /// Texts in which `rule` finds a match.
    fn search(&mut self, rule: &str) -> Made {
        Ok(pattern::compile(self.arena, rule, self.limits)?)
    }

    /// Texts of `language` of `min` to `max` characters.
    fn bounded(&mut self, language: LanguageId, min: u64, max: u64) -> Made {
        let length = self.arena.length(min, max)?;
        Ok(self.arena.and(vec![language, length])?)
    }

    /// Texts of `language` of at most `most` octets in UTF-8.
    fn within_octets(&mut self, language: LanguageId, most: u16) -> Made {
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
                let range = CharRange {
                    first: index(first),
                    last: index(last),
                };
                (range, left[room - width])
            });
            let edges = edges.collect();
            let within = self.arena.intern(Node::Branch { accepts: true, edges })?;
            self.arena.octets.insert(within, octets);
            left.push(within);
        }
        Ok(self.arena.and(vec![language, left[usize::from(most)]])?)
    }
}
