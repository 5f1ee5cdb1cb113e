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
mod characters;
mod charset;
mod count;
mod dense;
mod derive;
mod emptiness;
mod fingerprint;
mod format;
mod layers;
mod lengths;
mod limits;
mod measure;
mod native;
mod near;
mod node;
mod pattern;
#[cfg(test)]
mod tests;
mod word_lists;

use crate::Limits;

pub(crate) use characters::Characters;
pub(crate) use charset::CharRange;
pub(crate) use count::Cardinality;
pub(crate) use derive::Transitions;
pub(crate) use fingerprint::Fingerprint;
pub(crate) use lengths::Lengths;
pub(crate) use limits::{LanguageLimits, LimitReached};
pub(crate) use near::{Horizon, is_blank};
pub(crate) use node::LanguageId;
pub(crate) use pattern::PatternError;

use charset::CharSet;
use derive::Derivatives;
use emptiness::Emptiness;
use layers::{ById, Table};
use native::Native;
use node::{ANY, Arena, EMPTY, NONE, Node, UNBOUNDED};

/// So many characters are tried one by one where machines make a state for each.
const FEW_CHARACTERS: u64 = 256;

/// Characters that words of a list end with, at most, where they have all else in common.
const FEW_LAST: u64 = 64;

/// The ways on from a place in words of a list.
#[derive(Clone)]
pub(crate) enum WordEdges<'a> {
    Edges(std::slice::Iter<'a, (CharRange, LanguageId)>),
    /// Characters behind which nothing is left.
    Last(std::slice::Iter<'a, CharRange>),
}

impl Iterator for WordEdges<'_> {
    type Item = (CharRange, LanguageId);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Edges(edges) => edges.next().copied(),
            Self::Last(ranges) => ranges.next().map(|range| (*range, EMPTY)),
        }
    }
}

/// Every language in use, and what has been found out about each.
///
/// Answers are remembered, so that asking again is a look-up. What does not fit the limits is an error; the languages
/// already there stay usable.
#[derive(Debug)]
pub(crate) struct Languages {
    limits: LanguageLimits,
    arena: Arena,
    derivatives: Derivatives,
    emptiness: ById<Emptiness>,
    dense: ById<bool>,
    lengths: Table<LanguageId, measure::KnownLengths>,
    live: ById<Transitions>,
    patterns: Table<String, Result<LanguageId, PatternError>>,
    formats: Table<&'static str, LanguageId>,
    fingerprints: Table<LanguageId, Option<Fingerprint>>,
    near: Table<(LanguageId, Horizon), LanguageId>,
    slacks: Table<LanguageId, Option<u64>>,
    counted: Table<LanguageId, Cardinality>,
}

impl Languages {
    /// No language yet but the trivial ones.
    pub(crate) fn new(limits: &LanguageLimits) -> Self {
        Self {
            limits: limits.clone(),
            arena: Arena::new(limits.cells),
            derivatives: Derivatives::new(),
            emptiness: ById::new(),
            dense: ById::new(),
            lengths: Table::new(),
            live: ById::new(),
            patterns: Table::new(),
            formats: Table::new(),
            fingerprints: Table::new(),
            near: Table::new(),
            slacks: Table::new(),
            counted: Table::new(),
        }
    }

    /// The same, within the limits of a compilation.
    pub(crate) fn within(limits: &Limits) -> Self {
        Self::new(&LanguageLimits::from(limits))
    }

    /// The same, all of it shared by those that are made [over](Self::over) these.
    pub(crate) fn share(self) -> Self {
        let expressions = self.arena.len();
        Self {
            limits: self.limits,
            arena: self.arena.share(),
            derivatives: self.derivatives.share(expressions),
            emptiness: self.emptiness.share(expressions),
            dense: self.dense.share(expressions),
            lengths: self.lengths.share(),
            live: self.live.share(expressions),
            patterns: self.patterns.share(),
            formats: self.formats.share(),
            fingerprints: self.fingerprints.share(),
            near: self.near.share(),
            slacks: self.slacks.share(),
            counted: self.counted.share(),
        }
    }

    /// The languages that are [shared](Self::share), and what was found out about them; others count against new limits.
    pub(crate) fn over(&self, limits: &Limits) -> Self {
        let limits = LanguageLimits::from(limits);
        Self {
            arena: self.arena.over(limits.cells),
            limits,
            derivatives: self.derivatives.over(),
            emptiness: self.emptiness.over(),
            dense: self.dense.over(),
            lengths: self.lengths.over(),
            live: self.live.over(),
            patterns: self.patterns.over(),
            formats: self.formats.over(),
            fingerprints: self.fingerprints.over(),
            near: self.near.over(),
            slacks: self.slacks.over(),
            counted: self.counted.over(),
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
        let c = charset::index(c);
        if !self.arena.is_native(language) {
            return Ok(derive::target(&self.transitions(language)?, c));
        }
        let target = self.derivatives.after(&mut self.arena, language, c)?;
        Ok(if self.is_empty(target)? { NONE } else { target })
    }

    /// Whether a text of `language` begins with a character of one of `ranges`, whose ends are included.
    pub(crate) fn may_begin(&mut self, language: LanguageId, ranges: &[(u32, u32)]) -> Result<bool, LimitReached> {
        if !self.arena.is_native(language) {
            let rows = self.transitions(language)?;
            return Ok(ranges.iter().any(|&(low, high)| {
                let place = rows.partition_point(|(range, _)| u32::from(range.last()) < low);
                rows.get(place)
                    .is_some_and(|(range, _)| u32::from(range.first()) <= high)
            }));
        }
        if let Some(machine) = self.machine(language)? {
            return machine.may_begin(ranges);
        }
        let possible = self.first_characters(language)?;
        for range in possible.ranges() {
            for &(low, high) in ranges {
                let first = low.max(u32::from(range.first()));
                let last = high.min(u32::from(range.last()));
                for c in (first..=last).filter_map(char::from_u32) {
                    if self.derivative(language, c)? != NONE {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Up to `most` characters that texts of `language` begin with.
    pub(crate) fn beginnings(&mut self, language: LanguageId, most: usize) -> Result<Vec<char>, LimitReached> {
        if !self.arena.is_native(language) {
            let rows = self.transitions(language)?;
            let characters = rows.iter().flat_map(|(range, _)| range.first()..=range.last());
            return Ok(characters.take(most).collect());
        }
        let possible = self.first_characters(language)?;
        let mut found = Vec::new();
        for c in possible.ranges().iter().flat_map(|range| range.first()..=range.last()) {
            if found.len() == most {
                break;
            }
            if self.derivative(language, c)? != NONE {
                found.push(c);
            }
        }
        Ok(found)
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

    /// The characters that may come first in words of a list, and what is left of the words behind them; none of languages
    /// that are no such list, or do not look like one.
    pub(crate) fn word_edges(&self, language: LanguageId) -> Option<WordEdges<'_>> {
        self.arena.word_edges(language)
    }

    /// Up to `n` words of a list; none of languages that are no such list, or do not look like one.
    pub(crate) fn words(&self, language: LanguageId, n: usize) -> Option<Vec<String>> {
        self.arena.listed(language, n)
    }

    /// Which characters may come first in texts of `language`, as far as that shows without its derivatives.
    pub(crate) fn firsts(&self, language: LanguageId) -> Characters {
        self.arena.firsts(language)
    }

    /// The first characters of texts of `language`, in ranges that lead to one language each, none of them empty.
    pub(crate) fn transitions(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        if let Some(known) = self.live.get(language) {
            return Ok(known.clone());
        }
        let rows = self.rows(language)?;
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
        Ok(self.keep_live(language, live))
    }

    fn keep_live(&mut self, language: LanguageId, live: Transitions) -> Transitions {
        self.live.put(language, live.clone(), self.arena.len());
        live
    }

    /// The machines whose states make up `language`, where it is a union of such, each within bounds on its length, and
    /// no more.
    pub(crate) fn machine(&mut self, language: LanguageId) -> Result<Option<Machine>, LimitReached> {
        if !self.arena.is_native(language) {
            return Ok(None);
        }
        let members = match self.arena.node(language) {
            Node::Or(members) => members.to_vec(),
            _ => vec![language],
        };
        let mut parts = Vec::with_capacity(members.len());
        for member in members {
            let bounds = match self.arena.node(member) {
                Node::Native(_) => Some((member, 0, UNBOUNDED)),
                _ => self.split_length(member)?,
            };
            let Some((rest, min, max)) = bounds else {
                return Ok(None);
            };
            let Node::Native(state) = self.arena.node(rest) else {
                return Ok(None);
            };
            let part = Part {
                state: state.clone(),
                min,
                max,
            };
            if !part.is_bare() && part.state.reaches(min, max)?.is_none() {
                return Ok(None);
            }
            parts.push(part);
        }
        Ok(Some(Machine(parts)))
    }

    /// Whether `language` is a combination with machines: its states are as many as texts.
    pub(crate) fn has_machines(&self, language: LanguageId) -> bool {
        self.arena.is_native(language)
    }

    /// Transitions, empty languages that do not look empty included.
    fn rows(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        if !self.arena.is_native(language) {
            return self.derivatives.of(&mut self.arena, language);
        }
        let possible = self.first_characters(language)?;
        if possible.ranges().iter().map(|range| range.count()).sum::<u64>() > FEW_CHARACTERS {
            return self.derivatives.of(&mut self.arena, language);
        }
        self.rows_within(language, &possible)
    }

    /// The transitions by characters of `possible`, one by one.
    fn rows_within(&mut self, language: LanguageId, possible: &CharSet) -> Result<Transitions, LimitReached> {
        let mut rows = Vec::new();
        for range in possible.ranges() {
            for c in range.first..=range.last {
                let target = self.derivatives.after(&mut self.arena, language, c)?;
                derive::push(&mut rows, CharRange { first: c, last: c }, target);
            }
        }
        self.arena.spend(rows.len())?;
        Ok(rows.into())
    }

    /// The transitions by characters of ASCII, where there are too many others.
    fn ascii_rows(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        self.rows_within(language, &CharSet::range('\0', '\u{7F}'))
    }

    /// What is kept of languages, in entries: what they are near to, and how many texts they have.
    pub(crate) fn kept(&self) -> usize {
        self.near.own() + self.slacks.own() + self.counted.own()
    }

    /// Cells in use of those that [`LanguageLimits::cells`] allows.
    pub(crate) fn cells(&self) -> usize {
        self.arena.cells()
    }
}

/// States of machines that are not kept: to look at many texts, which would be a language each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Machine(Vec<Part>);

/// A state of a machine, and bounds on the number of characters to come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    state: Native,
    min: u64,
    max: u64,
}

impl Part {
    fn is_bare(&self) -> bool {
        (self.min, self.max) == (0, UNBOUNDED)
    }

    fn after(&self, c: char) -> Result<Option<Self>, LimitReached> {
        if self.max == 0 {
            return Ok(None);
        }
        let Some(state) = self.state.after(c)? else {
            return Ok(None);
        };
        let after = Self {
            state,
            min: self.min.saturating_sub(1),
            max: self.max - u64::from(self.max != UNBOUNDED),
        };
        let lives = after.is_bare() || after.state.reaches(after.min, after.max)? == Some(true);
        Ok(lives.then_some(after))
    }

    fn may_begin(&self, first: char, last: char) -> Result<bool, LimitReached> {
        if self.is_bare()
            && let Some(may) = self.state.may_begin(first, last)
        {
            return may;
        }
        for c in self.state.first_characters().within(first, last) {
            if self.after(c)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Machine {
    /// The states after a character; none where nothing goes on like that.
    pub(crate) fn after(&self, c: char) -> Result<Option<Self>, LimitReached> {
        let mut after = Vec::with_capacity(self.0.len());
        for part in &self.0 {
            after.extend(part.after(c)?);
        }
        Ok((!after.is_empty()).then_some(Self(after)))
    }

    /// Whether all characters beyond ASCII lead the same way.
    pub(crate) fn is_narrow(&self) -> bool {
        self.0
            .iter()
            .all(|part| matches!(&part.state, Native::Regex(regex) if regex.is_narrow()))
    }

    /// Whether this is in a class of a regular expression, where all characters lead somewhere else each, but to the same
    /// place whatever came before in the class: all but a hyphen, a backslash and, where the class begins, others of ASCII do.
    pub(crate) fn is_in_class(&self) -> bool {
        let in_class = |part: &Part| matches!(&part.state, Native::Regex(regex) if regex.is_in_class());
        self.0.iter().all(|part| part.is_bare() && in_class(part))
    }

    /// Whether the text may end here.
    pub(crate) fn accepts(&self) -> bool {
        self.0.iter().any(|part| part.min == 0 && part.state.accepts())
    }

    /// Whether a text goes on with a character of one of `ranges`, whose ends are included.
    pub(crate) fn may_begin(&self, ranges: &[(u32, u32)]) -> Result<bool, LimitReached> {
        for part in &self.0 {
            for &(low, high) in ranges {
                // Ranges may begin or end among the surrogates.
                let first = (low..=high).find_map(char::from_u32);
                let last = (low..=high).rev().find_map(char::from_u32);
                if let (Some(first), Some(last)) = (first, last)
                    && part.may_begin(first, last)?
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// What is left of sorted texts behind each character that they begin with.
pub(crate) fn by_next<'a>(texts: &[&'a str]) -> Vec<(char, Vec<&'a str>)> {
    let mut behind: Vec<(char, Vec<&str>)> = Vec::new();
    for text in texts {
        let mut rest = text.chars();
        let Some(next) = rest.next() else { continue };
        match behind.last_mut() {
            Some((last, rests)) if *last == next => rests.push(rest.as_str()),
            _ => behind.push((next, vec![rest.as_str()])),
        }
    }
    behind
}
