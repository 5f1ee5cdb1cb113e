//! States of custom DFAs beside another language: texts that `format: hostname` or `regex` and a `pattern` ask for at once.
//!
//! Custom DFAs have too many states to search all pairs of them with those of the other language. Most languages that are asked for
//! beside them let every text of the custom DFA be completed, wherever in it a text is: then the beginnings of texts of both are those
//! that are beginnings of texts of each.

use std::collections::HashSet;
use std::sync::Arc;

use crate::strings::analysis::custom_dfa_bounds::Side;
use crate::strings::charset::{CharRange, CharSet};
use crate::strings::custom_dfa::CustomDfa;
use crate::strings::custom_dfa::idn_hostname::{ENDINGS, NAME};
use crate::strings::custom_dfa::regex::RegexSyntax;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, LanguageId, NONE, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// Maximal number of states of the other language.
const STATES: usize = 64;
/// Octets by which a host name that is whole is made a text of the other language, at most.
pub(in crate::strings) const HOST_END: u64 = 24;

/// The kind of a custom DFA whose texts are completed: other languages may let the texts of one kind be completed, and not those of
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) enum Completed {
    Hostname,
    IdnHostname,
    RegexSyntax,
}

impl Languages {
    /// Splits an intersection into the one language that combines states of custom DFAs and the others, which do not; none of other languages.
    pub(in crate::strings) fn split_customs(
        &mut self,
        id: LanguageId,
    ) -> Result<Option<(LanguageId, LanguageId)>, LimitReached> {
        let Expr::And(members) = self.arena.node(id) else {
            return Ok(None);
        };
        let mut customs = members.iter().filter(|&&member| self.arena.has_custom_dfa(member));
        let (Some(&custom), None) = (customs.next(), customs.next()) else {
            return Ok(None);
        };
        let others = members.iter().copied().filter(|&member| member != custom).collect();
        Ok(Some((custom, self.arena.and(others)?)))
    }

    /// Splits an intersection into the state of a custom DFA and the other languages, which have none; none of other languages.
    pub(in crate::strings) fn split_custom_dfa(
        &mut self,
        id: LanguageId,
    ) -> Result<Option<(CustomDfa, LanguageId)>, LimitReached> {
        let split = self.split_customs(id)?;
        Ok(split.and_then(|(custom, beside)| match self.arena.node(custom) {
            Expr::CustomDfa(state) => Some((state.clone(), beside)),
            _ => None,
        }))
    }

    /// Whether a text of a custom DFA's state of `min` to `max` characters is of a language without custom DFAs, too.
    pub(in crate::strings) fn meet(
        &mut self,
        state: &CustomDfa,
        (min, max): (u64, u64),
        beside: LanguageId,
    ) -> Result<bool, LimitReached> {
        if max == 0 {
            return Ok(min == 0 && state.accepts() && self.arena.nullable(beside));
        }
        if let Some(reached) = state.reaches(min, max)?
            && (beside == ANY || !reached)
        {
            return Ok(reached);
        }
        if self.completes_within(state, (min, max), beside)? {
            return Ok(true);
        }
        self.try_out(|languages| {
            if languages.is_ended(state, (min, max), beside)? {
                return Ok(true);
            }
            let state = languages.arena.intern(Expr::CustomDfa(state.clone()))?;
            let length = languages.arena.length(min, max)?;
            let all = languages.arena.and(vec![state, length, beside])?;
            Ok(!languages.is_empty_by_search(all)?)
        })
    }

    /// Whether the [ending](Arena::ending) of a custom DFA's state leads to a text of `min` to `max` characters that is of a language without
    /// custom DFAs, too.
    fn is_ended(
        &mut self,
        state: &CustomDfa,
        (min, max): (u64, u64),
        beside: LanguageId,
    ) -> Result<bool, LimitReached> {
        let Some((way, more)) = self.arena.ending(state)? else {
            return Ok(false);
        };
        let (mut left, mut read) = (beside, 0);
        for c in way.chars() {
            let Ok(next) = self.derivative(left, c) else {
                return Ok(false);
            };
            (left, read) = (next, read + 1);
        }
        if left == NONE || read > max {
            return Ok(false);
        }
        let max = if max == UNBOUNDED { max } else { max - read };
        let length = self.arena.length(min.saturating_sub(read), max)?;
        let all = self.arena.and(vec![more, length, left])?;
        Ok(self.is_empty(all) == Ok(false))
    }

    /// Whether [`completes`](Self::completes) holds, and a completion of `min` to `max` characters is among those that it speaks of.
    pub(in crate::strings) fn completes_within(
        &mut self,
        state: &CustomDfa,
        (min, max): (u64, u64),
        beside: LanguageId,
    ) -> Result<bool, LimitReached> {
        let has_room = match state {
            CustomDfa::Hostname(_) => min == 0 && max >= CustomDfa::HOST_SLACK + HOST_END,
            CustomDfa::IdnHostname(_) => min == 0 && max >= NAME as u64,
            // Before a whole expression is ended, any number of letters may be added.
            CustomDfa::RegexSyntax(_) => max == UNBOUNDED,
        };
        Ok(has_room && self.completes(state, beside)?)
    }

    /// Whether every text that may follow both a custom DFA's state and in the language `beside` can be completed in both at once, as
    /// far as that shows: first what the custom DFA has begun is completed, then the text of `beside`.
    pub(in crate::strings) fn completes(
        &mut self,
        state: &CustomDfa,
        beside: LanguageId,
    ) -> Result<bool, LimitReached> {
        let kind = match state {
            CustomDfa::Hostname(host) if host.is_plain_but_for_hyphens() => Completed::Hostname,
            CustomDfa::IdnHostname(idn) if idn.leaves(HOST_END as usize) => Completed::IdnHostname,
            CustomDfa::RegexSyntax(_) => Completed::RegexSyntax,
            CustomDfa::Hostname(_) | CustomDfa::IdnHostname(_) => return Ok(false),
        };
        let ranges = match self.completing.get(&(beside, kind)) {
            Some(known) => known.clone(),
            None => {
                // What takes long to find out does not show.
                let found = self.find_completing(beside, kind).unwrap_or(None);
                let found = found.map(|set| Arc::from(set.ranges()));
                self.completing.insert((beside, kind), found.clone());
                found
            }
        };
        let Some(ranges) = ranges else { return Ok(false) };
        let has = |c: char| ranges.iter().any(|range| (range.first()..=range.last()).contains(&c));
        Ok(match state {
            CustomDfa::RegexSyntax(regex) => regex.remembered_characters().all(has),
            CustomDfa::Hostname(_) | CustomDfa::IdnHostname(_) => true,
        })
    }

    /// Returns characters that every text of `id` may go on with for ever, where they are enough to complete anything, and texts can
    /// be ended by what leaves whole what is whole.
    fn find_completing(&mut self, id: LanguageId, kind: Completed) -> Result<Option<CharSet>, LimitReached> {
        let of = |rows: &[(CharRange, LanguageId)]| CharSet::from_char_ranges(rows.iter().map(|(range, _)| *range));
        let lacks = |set: &CharSet, of: &CharSet| !set.complement().intersection(of).is_empty();
        let possible = of(&self.transitions(id)?);
        let needed = match kind {
            Completed::Hostname => CharSet::of("a"),
            Completed::IdnHostname => CharSet::of(ENDINGS),
            Completed::RegexSyntax if lacks(&possible, &CharSet::range('!', '~')) => return Ok(None),
            // Names that have been read have to be written once more.
            Completed::RegexSyntax => possible,
        };
        let ends = match kind {
            Completed::RegexSyntax => {
                let fillers = self.arena.class(&RegexSyntax::fillers())?;
                self.arena.repeat(fillers, 0, UNBOUNDED)?
            }
            Completed::Hostname => {
                let labels = self.arena.more_labels(Side::Below)?;
                let short = self.arena.length(0, HOST_END)?;
                self.arena.and(vec![labels, short])?
            }
            Completed::IdnHostname => self.arena.below_idn(HOST_END as usize)?,
        };
        let mut states = vec![id];
        let mut seen = HashSet::from([id]);
        while let Some(state) = states.pop() {
            let rows = self.transitions(state)?;
            let ended = self.arena.and(vec![state, ends])?;
            let possible = of(&rows);
            let is_enough = match kind {
                Completed::Hostname | Completed::IdnHostname => !lacks(&possible, &needed),
                // With further characters, a reference could be written whose group cannot.
                Completed::RegexSyntax => possible == needed,
            };
            if !is_enough || self.is_empty(ended)? {
                return Ok(None);
            }
            for &(_, target) in rows.iter() {
                if seen.insert(target) {
                    if seen.len() > STATES {
                        return Ok(None);
                    }
                    states.push(target);
                }
            }
        }
        Ok(Some(needed))
    }
}
