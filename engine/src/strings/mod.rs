//! Regular languages of Unicode strings, closed under the Boolean operations, walked by derivatives.
//!
//! The keywords on strings (`pattern`, `minLength`, `format`, `const`, `enum`, `propertyNames`, …), their negations and
//! combinations are each one language of *decoded* characters: escapes of JSON and UTF-8 are undone above. The
//! alphabet is the Unicode scalar values.
//!
//! - An expression is stored once ([`node`], [`build`], [`boolean`]); normal form makes most equal languages equal ids.
//! - Its derivatives are a table over ranges of characters ([`derive`](mod@derive)); a language *is* the state of its automaton.
//! - A bound on the number of characters stays a counter. Whether a text of an admissible length is left is answered
//!   by the set of lengths of what it bounds ([`lengths`], [`measure`]), not by walking counter values.
//! - Whether anything is left at all is answered by structure, by lengths, or by a search with memory ([`emptiness`]).
//! - Assertions of patterns become intersections and complements ([`pattern`]).

mod boolean;
mod build;
mod charset;
mod count;
mod dense;
mod derive;
mod emptiness;
mod format;
mod lengths;
mod limits;
mod measure;
mod node;
mod pattern;
#[cfg(test)]
mod tests;

use hashbrown::HashMap;

pub(crate) use count::Cardinality;
pub(crate) use derive::Transitions;
pub(crate) use format::Format;
#[cfg(test)]
pub(crate) use format::FormatError;
#[cfg(test)]
pub(crate) use lengths::Lengths;
pub(crate) use limits::{LanguageLimits, LimitReached};
pub(crate) use node::LanguageId;
pub(crate) use pattern::PatternError;

use derive::Derivatives;
use emptiness::Emptiness;
#[cfg(test)]
use node::EMPTY;
use node::{ANY, Arena, NONE, UNBOUNDED};

/// Every language in use, and what has been found out about each.
///
/// Answers are remembered, so that asking again is a look-up. What does not fit the limits is an error; the languages
/// already there stay usable.
#[derive(Debug)]
pub(crate) struct Languages {
    limits: LanguageLimits,
    arena: Arena,
    derivatives: Derivatives,
    emptiness: Vec<Emptiness>,
    dense: Vec<Option<bool>>,
    lengths: HashMap<LanguageId, measure::KnownLengths>,
    live: Vec<Option<Transitions>>,
    patterns: HashMap<String, Result<LanguageId, PatternError>>,
    formats: HashMap<&'static str, Format>,
}

impl Languages {
    /// No language yet but the trivial ones.
    pub(crate) fn new(limits: &LanguageLimits) -> Self {
        Self {
            limits: limits.clone(),
            arena: Arena::new(limits.cells),
            derivatives: Derivatives::default(),
            emptiness: Vec::new(),
            dense: Vec::new(),
            lengths: HashMap::new(),
            live: Vec::new(),
            patterns: HashMap::new(),
            formats: HashMap::new(),
        }
    }

    /// Every text.
    pub(crate) fn any(&self) -> LanguageId {
        ANY
    }

    /// No text.
    pub(crate) fn none(&self) -> LanguageId {
        NONE
    }

    /// The empty text.
    #[cfg(test)]
    pub(crate) fn empty_text(&self) -> LanguageId {
        EMPTY
    }

    /// `text` alone.
    pub(crate) fn literal(&mut self, text: &str) -> Result<LanguageId, LimitReached> {
        self.arena.literal(text)
    }

    /// The texts `words`.
    pub(crate) fn one_of(&mut self, words: &[&str]) -> Result<LanguageId, LimitReached> {
        self.arena.words(words.to_vec())
    }

    /// Texts of `min` to `max` characters (code points).
    pub(crate) fn length(&mut self, min: u64, max: Option<u64>) -> Result<LanguageId, LimitReached> {
        self.arena.length(min, max.unwrap_or(UNBOUNDED))
    }

    /// Texts in which the ECMA-262 regular expression `source` finds a match.
    pub(crate) fn pattern(&mut self, source: &str) -> Result<LanguageId, PatternError> {
        if let Some(known) = self.patterns.get(source) {
            return known.clone();
        }
        let language = pattern::compile(&mut self.arena, source, &self.limits);
        self.patterns.insert(source.to_owned(), language.clone());
        language
    }

    /// Texts of all of `languages`.
    pub(crate) fn and(&mut self, languages: &[LanguageId]) -> Result<LanguageId, LimitReached> {
        self.arena.and(languages.to_vec())
    }

    /// Texts of any of `languages`.
    pub(crate) fn or(&mut self, languages: &[LanguageId]) -> Result<LanguageId, LimitReached> {
        self.arena.or(languages.to_vec())
    }

    /// Texts that are not of `language`.
    pub(crate) fn not(&mut self, language: LanguageId) -> Result<LanguageId, LimitReached> {
        self.arena.not(language)
    }

    /// What may follow `c` in texts of `language`.
    pub(crate) fn derivative(&mut self, language: LanguageId, c: char) -> Result<LanguageId, LimitReached> {
        let rows = self.transitions(language)?;
        let c = charset::index(c);
        let found = rows.binary_search_by(|(range, _)| match () {
            () if range.last < c => std::cmp::Ordering::Less,
            () if range.first > c => std::cmp::Ordering::Greater,
            () => std::cmp::Ordering::Equal,
        });
        Ok(found.map_or(NONE, |place| rows[place].1))
    }

    /// Whether the empty text belongs to `language`.
    pub(crate) fn accepts_empty(&self, language: LanguageId) -> bool {
        self.arena.nullable(language)
    }

    /// Whether `text` belongs to `language`.
    pub(crate) fn contains(&mut self, language: LanguageId, text: &str) -> Result<bool, LimitReached> {
        let mut state = language;
        for c in text.chars() {
            state = self.derivative(state, c)?;
            if state == NONE {
                return Ok(false);
            }
        }
        Ok(self.accepts_empty(state))
    }

    /// The first characters of texts of `language`, in ranges that lead to one language each, none of them empty.
    pub(crate) fn transitions(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        let place = language.0 as usize;
        if let Some(Some(known)) = self.live.get(place) {
            return Ok(known.clone());
        }
        let rows = self.derivatives.of(&mut self.arena, language)?;
        let mut dead = Vec::new();
        let mut last = NONE;
        for &(_, target) in rows.iter() {
            if target != last && self.is_empty(target)? {
                dead.push(target);
            }
            last = target;
        }
        let live = if dead.is_empty() {
            rows
        } else {
            let alive: Vec<_> = rows
                .iter()
                .copied()
                .filter(|(_, target)| !dead.contains(target))
                .collect();
            self.arena.spend(alive.len())?;
            alive.into()
        };
        if self.live.len() <= place {
            self.live.resize(self.arena.len(), None);
        }
        self.live[place] = Some(live.clone());
        Ok(live)
    }

    /// Cells in use of those that [`LanguageLimits::cells`] allows.
    pub(crate) fn cells(&self) -> usize {
        self.arena.cells()
    }
}
