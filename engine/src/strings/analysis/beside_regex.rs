//! Regular expressions beside another language: texts that `format: regex` and a `pattern` ask for at once.
//!
//! The texts of regular expressions have too many states to search all pairs of them with those of the other language. Most languages that are asked
//! for beside them let every expression be completed, wherever in it a text is: then the beginnings of texts of both are those
//! that are beginnings of texts of each.

use std::collections::HashSet;
use std::sync::Arc;

use crate::strings::charset::{CharRange, CharSet};
use crate::strings::custom_dfa::CustomDfa;
use crate::strings::custom_dfa::regex::RegexSyntax;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{LanguageId, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// Maximal number of states of the other language.
const STATES: usize = 64;

impl Languages {
    /// Splits an intersection into regular expressions and the other languages, which have no custom DFA; none of other languages.
    pub(in crate::strings) fn split_regex(
        &mut self,
        id: LanguageId,
    ) -> Result<Option<(RegexSyntax, LanguageId)>, LimitReached> {
        let Expr::And(members) = self.arena.node(id) else {
            return Ok(None);
        };
        let mut custom = members.iter().filter(|&&member| self.arena.has_custom_dfa(member));
        let (Some(&place), None) = (custom.next(), custom.next()) else {
            return Ok(None);
        };
        let Expr::CustomDfa(CustomDfa::RegexSyntax(regex)) = self.arena.node(place) else {
            return Ok(None);
        };
        let regex = regex.clone();
        let others = members.iter().copied().filter(|&member| member != place).collect();
        Ok(Some((regex, self.arena.and(others)?)))
    }

    /// Whether a text of a custom DFA's state is of a language without custom DFAs, too.
    pub(in crate::strings) fn meet(&mut self, state: &CustomDfa, beside: LanguageId) -> Result<bool, LimitReached> {
        if let CustomDfa::RegexSyntax(regex) = state
            && self.completes_regex(regex, beside)?
        {
            return Ok(true);
        }
        let state = self.arena.intern(Expr::CustomDfa(state.clone()))?;
        let both = self.arena.and(vec![state, beside])?;
        Ok(!self.is_empty(both)?)
    }

    /// Whether every text that may follow in both an expression and the language `beside` can be completed in both at once, as far as
    /// that shows.
    pub(in crate::strings) fn completes_regex(
        &mut self,
        regex: &RegexSyntax,
        beside: LanguageId,
    ) -> Result<bool, LimitReached> {
        let ranges = match self.completing.get(&beside) {
            Some(known) => known.clone(),
            None => {
                let found = self.find_completing(beside)?;
                let found = found.map(|set| Arc::from(set.ranges()));
                self.completing.insert(beside, found.clone());
                found
            }
        };
        let Some(ranges) = ranges else { return Ok(false) };
        let has = |c: char| ranges.iter().any(|range| (range.first()..=range.last()).contains(&c));
        Ok(regex.remembered_characters().all(has))
    }

    /// The characters that every text of `id` may go on with for ever, where they are enough to complete any expression, and its
    /// texts can be ended by characters that leave a whole expression whole: first the expression is completed, then the text.
    fn find_completing(&mut self, id: LanguageId) -> Result<Option<CharSet>, LimitReached> {
        let fillers = self.arena.class(&RegexSyntax::fillers())?;
        let fillers = self.arena.repeat(fillers, 0, UNBOUNDED)?;
        let of = |rows: &[(CharRange, LanguageId)]| {
            CharSet::from_ranges(rows.iter().map(|(range, _)| (range.first(), range.last())))
        };
        let needed = of(&self.transitions(id)?);
        let lacks = |set: &CharSet, of: &CharSet| !set.complement().intersection(of).is_empty();
        if lacks(&needed, &CharSet::range('!', '~')) {
            return Ok(None);
        }
        let mut states = vec![id];
        let mut seen = HashSet::from([id]);
        while let Some(state) = states.pop() {
            let rows = self.transitions(state)?;
            let ended = self.arena.and(vec![state, fillers])?;
            // What takes long to find out does not show.
            if lacks(&of(&rows), &needed) || self.is_empty(ended) != Ok(false) {
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
