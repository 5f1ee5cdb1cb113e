//! Custom DFAs: hand-written deterministic automata for formats whose regular expressions would be too large.
//!
//! A custom DFA reads one character at a time. Its state is a value, embedded in the arena as an expression, so that all operations on
//! expressions (Boolean operations, bounds on the length, derivatives, emptiness) work on it. A custom DFA must meet three conditions:
//!
//! - Every state that it returns is live: some text leads from it to acceptance.
//! - It gives the exact set of lengths of the texts from a state, or none.
//! - Where it has too many states to search, it gives an over-approximation without custom DFAs, a text that ends what has been begun, and a
//!   language of texts that may follow this one. They settle most queries about combinations.

pub(super) mod hostname;
pub(super) mod idn_hostname;
pub(super) mod idna;
mod label;
mod names;
mod punycode;
pub(super) mod regex;
mod regex_braces;
mod regex_class;
mod regex_completion;
#[cfg(test)]
mod tests;

use crate::strings::charset::{CharRange, CharSet, LAST, character, index};
use crate::strings::custom_dfa::hostname::{Hostname, LABEL};
use crate::strings::custom_dfa::idn_hostname::IdnHostname;
use crate::strings::custom_dfa::regex::RegexSyntax;
use crate::strings::lengths::Lengths;
use crate::strings::limits::LimitReached;

/// Maximal number of characters that are tried one by one for their targets.
const ENUMERATED_CHARACTERS: u64 = 50_000;

/// A state of a custom DFA: equal states are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum CustomDfa {
    /// A state within a host name.
    Hostname(Hostname),
    /// A state within an internationalised host name.
    IdnHostname(IdnHostname),
    /// A state within the text of a regular expression.
    RegexSyntax(RegexSyntax),
}

/// Characters that lead to one state each.
pub(super) type CustomDfaRows = Vec<(CharRange, CustomDfa)>;

impl CustomDfa {
    /// Characters with which every beginning of a host name can be ended: a label, and one behind a dot.
    pub(super) const HOST_SLACK: u64 = LABEL as u64 + 2;

    /// Host names.
    pub(super) fn host() -> Self {
        Self::Hostname(Hostname::Start)
    }

    /// Internationalised host names.
    pub(super) fn idn() -> Self {
        Self::IdnHostname(IdnHostname::start())
    }

    /// Regular expressions.
    pub(super) fn regex() -> Self {
        Self::RegexSyntax(RegexSyntax::start())
    }

    /// Whether the custom DFA has few states, so that all of them may be made.
    pub(super) fn is_enumerable(&self) -> bool {
        matches!(self, Self::RegexSyntax(regex) if regex.is_coarse())
    }

    /// Whether a text may end here.
    pub(super) fn accepts(&self) -> bool {
        match self {
            Self::Hostname(host) => host.accepts(),
            Self::IdnHostname(idn) => idn.accepts(),
            Self::RegexSyntax(regex) => regex.accepts(),
        }
    }

    /// The state after `c`; none where no text continues with it.
    pub(super) fn after(&self, c: char) -> Result<Option<Self>, LimitReached> {
        match self {
            Self::Hostname(host) => Ok(host.after(c)?.map(Self::Hostname)),
            Self::IdnHostname(idn) => Ok(idn.after(c)?.map(Self::IdnHostname)),
            Self::RegexSyntax(regex) => Ok(regex.after(c).map(Self::RegexSyntax)),
        }
    }

    /// All states that are one character further.
    pub(super) fn rows(&self) -> Result<CustomDfaRows, LimitReached> {
        let mut rows: CustomDfaRows = Vec::new();
        if let Self::RegexSyntax(regex) = self
            && (regex.is_coarse() || regex.is_narrow())
        {
            for c in '\0'..'\u{80}' {
                if let Some(next) = self.after(c)? {
                    push(&mut rows, CharRange::new(index(c), index(c)), next);
                }
            }
            let cuts = regex.cuts();
            for (&first, next) in cuts.iter().zip(cuts[1..].iter().chain([&(LAST + 1)])) {
                if let Some(state) = self.after(character(first))? {
                    push(&mut rows, CharRange::new(first, next - 1), state);
                }
            }
            return Ok(rows);
        }
        let first = self.first_characters();
        if first.ranges().iter().map(|range| range.count()).sum::<u64>() > ENUMERATED_CHARACTERS {
            return Err(LimitReached {
                what: "characters that each lead elsewhere",
                allowed: ENUMERATED_CHARACTERS as usize,
            });
        }
        for range in first.ranges() {
            for c in range.first()..=range.last() {
                if let Some(next) = self.after(c)? {
                    push(&mut rows, CharRange::new(index(c), index(c)), next);
                }
            }
        }
        Ok(rows)
    }

    /// Whether a text goes on with a character from `first` to `last`, where the custom DFA knows better than by trying all.
    pub(super) fn may_begin(&self, first: char, last: char) -> Option<Result<bool, LimitReached>> {
        match self {
            Self::IdnHostname(idn) => Some(idn.may_begin(first, last)),
            Self::Hostname(_) | Self::RegexSyntax(_) => None,
        }
    }

    /// Characters outside of which there is no next state.
    pub(super) fn first_characters(&self) -> CharSet {
        match self {
            Self::Hostname(_) => CharSet::from_ranges([('-', '.'), ('0', '9'), ('A', 'Z'), ('a', 'z')]),
            Self::IdnHostname(_) => idna::Tables::get().letters.clone(),
            Self::RegexSyntax(regex) => regex.first_characters(),
        }
    }

    /// Whether there is a text of `min` to `max` characters, where the custom DFA knows.
    pub(super) fn reaches(&self, min: u64, max: u64) -> Result<Option<bool>, LimitReached> {
        match self {
            Self::Hostname(host) => host.reaches(min, max).map(Some),
            Self::IdnHostname(idn) => idn.reaches(min, max),
            Self::RegexSyntax(regex) => Ok(Some(regex.cheapest() <= max)),
        }
    }

    /// The lengths of its texts, where the custom DFA knows.
    pub(super) fn lengths(&self) -> Result<Option<Lengths>, LimitReached> {
        match self {
            Self::Hostname(host) => host.lengths(),
            Self::IdnHostname(_) => Ok(None),
            Self::RegexSyntax(regex) => Ok(Some(Lengths::interval(regex.cheapest(), u64::MAX))),
        }
    }

    /// Memory beyond that of a node, in cells.
    pub(super) fn cells(&self) -> usize {
        match self {
            Self::Hostname(Hostname::Encoded(encoded)) => encoded.len() / 8,
            Self::Hostname(_) => 0,
            Self::IdnHostname(idn) => idn.cells(),
            Self::RegexSyntax(regex) => regex.cells(),
        }
    }
}

fn push(rows: &mut CustomDfaRows, characters: CharRange, next: CustomDfa) {
    match rows.last_mut() {
        Some((range, same)) if range.last + 1 == characters.first && *same == next => range.last = characters.last,
        _ => rows.push((characters, next)),
    }
}
