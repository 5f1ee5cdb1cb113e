//! Emptiness of a language: decided by the structure of its expression, by its lengths, or by a bounded search for an accepting state.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::strings::analysis::answers::{Emptiness, Horizon};
use crate::strings::analysis::custom_dfa_bounds::Side;
use crate::strings::derive::derivatives::Transitions;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, LanguageId, NONE, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// States to look at for a text before lengths are worked out instead.
const FIRST_LOOK: usize = 32;
/// States to look at for a short text before lengths are worked out instead.
const SHORT_LOOK: usize = 64;
/// States to look at for a short text before longer ones are followed.
const WIDE_LOOK: usize = 200;
/// Maximal number of states visited of combinations with custom DFAs: such states are large, and searches rarely end.
const CUSTOM_DFA_LOOK: usize = 1_000;

/// Maximal number of nodes of an expression visited to count its intersected conditions.
const ASKED_NODES: usize = 64;

/// The order in which a search visits states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Depth first.
    Deep,
    /// Breadth first.
    Wide,
    /// Best first: fewest conditions, then fewest characters to come.
    Near,
}

/// The outcome of a search through an automaton.
enum SearchEnd {
    Found,
    Exhausted,
    Cut,
}

impl Languages {
    /// Whether `id` has no text at all.
    pub(crate) fn is_empty(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        match self.judge(id)? {
            Emptiness::Empty => return Ok(true),
            Emptiness::Inhabited => return Ok(false),
            Emptiness::Unknown => {}
        }
        if self.arena.has_custom_dfa(id) {
            return self.is_custom_dfa_empty(id);
        }
        if self.asks_for_many(id) && self.open_class(id)?.is_some() {
            self.note_emptiness(id, false);
            return Ok(false);
        }
        if self.is_bounded(id) {
            // Both have the same beginnings, the empty one among them.
            let near = self.over_approximation(id, Horizon::default())?;
            if near != id {
                let empty = self.is_empty(near)?;
                self.note_emptiness(id, empty);
                return Ok(empty);
            }
            // Lengths are slow to compute where counters multiply, and a short text is often found soon, so a text is searched first.
            for (order, states) in [
                (Order::Near, SHORT_LOOK),
                (Order::Deep, FIRST_LOOK),
                (Order::Wide, SHORT_LOOK),
            ] {
                match self.search(id, states, order)? {
                    SearchEnd::Found => return Ok(false),
                    SearchEnd::Exhausted => return Ok(true),
                    SearchEnd::Cut => {}
                }
            }
        }
        // Counters would multiply the states: ask for the lengths of what they bound instead.
        if let Some((rest, min, max)) = self.split_length(id)?
            && let Some(lengths) = self.lengths(rest)?
        {
            let empty = !lengths.meets(min, max);
            self.note_emptiness(id, empty);
            return Ok(empty);
        }
        self.search_within(id, self.limits.states)
    }

    /// Judges a combination with custom DFAs: a state of one beside another language, or any other by an enumerable language that it
    /// contains, or else by a search. Only the answer is kept: there is such a combination for each text.
    fn is_custom_dfa_empty(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        let empty = match self.split_custom_dfa(id)? {
            Some((state, others)) => {
                let (beside, min, max) = self.split_length(others)?.unwrap_or((others, 0, UNBOUNDED));
                !self.meet(&state, (min, max), beside)?
            }
            None => self.try_out(|languages| {
                let below = languages.arena.approximated(id, Side::Below)?;
                Ok(languages.is_empty(below) != Ok(false) && languages.is_empty_by_search(id)?)
            })?,
        };
        self.note_emptiness(id, empty);
        Ok(empty)
    }

    /// Judges a combination with custom DFAs by an enumerable language that contains it, or by a search.
    pub(in crate::strings) fn is_empty_by_search(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        let above = self.arena.approximated(id, Side::Above)?;
        Ok(self.is_empty(above) == Ok(true) || self.search_within(id, self.limits.states.min(CUSTOM_DFA_LOOK))?)
    }

    fn search_within(&mut self, id: LanguageId, states: usize) -> Result<bool, LimitReached> {
        // Short texts first: where counters multiply, the depth is a maze. What asks for many things is left for what has
        // some of them.
        let mut found = SearchEnd::Cut;
        for (order, states) in [
            (Order::Near, WIDE_LOOK),
            (Order::Wide, WIDE_LOOK),
            (Order::Near, states / 4),
            (Order::Deep, states),
        ] {
            if matches!(found, SearchEnd::Cut) {
                found = self.search(id, states, order)?;
            }
        }
        match found {
            SearchEnd::Found => Ok(false),
            SearchEnd::Exhausted => Ok(true),
            SearchEnd::Cut => Err(LimitReached {
                what: "states to find whether any string is left",
                allowed: states,
            }),
        }
    }

    pub(in crate::strings) fn known_empty(&self, id: LanguageId) -> bool {
        id == NONE || self.emptiness.get(id) == Some(&Emptiness::Empty)
    }

    pub(in crate::strings) fn note_emptiness(&mut self, id: LanguageId, empty: bool) {
        let known = if empty { Emptiness::Empty } else { Emptiness::Inhabited };
        self.emptiness.put(id, known, self.arena.len());
    }

    /// Whether there is a bound on the number of characters beside others.
    fn is_bounded(&self, id: LanguageId) -> bool {
        let has_length = |member: &LanguageId| self.arena.as_length(*member).is_some();
        matches!(self.arena.node(id), Expr::And(members) if members.iter().any(has_length))
    }

    /// Splits the bound on the number of characters off an intersection: the language that it bounds, the least and the largest
    /// number ([`u64::MAX`] for no end). A caller that keeps tables by state can count for itself.
    pub(crate) fn split_length(&mut self, id: LanguageId) -> Result<Option<(LanguageId, u64, u64)>, LimitReached> {
        if let Some((min, max)) = self.arena.as_length(id) {
            return Ok(Some((ANY, min, max)));
        }
        let Expr::And(members) = self.arena.node(id) else {
            return Ok(None);
        };
        let bound = members.iter().find_map(|&member| self.arena.as_length(member));
        let Some((min, max)) = bound else { return Ok(None) };
        let rest: Vec<_> = members
            .iter()
            .copied()
            .filter(|&member| self.arena.as_length(member).is_none())
            .collect();
        let rest = self.arena.and(rest)?;
        Ok(Some((rest, min, max)))
    }

    /// Decides emptiness without a walk: cheap enough to be asked of every target of every state.
    pub(in crate::strings) fn judge(&mut self, id: LanguageId) -> Result<Emptiness, LimitReached> {
        if id == NONE {
            return Ok(Emptiness::Empty);
        }
        if self.arena.is_simple(id) || self.arena.nullable(id) {
            return Ok(Emptiness::Inhabited);
        }
        if let Some(known) = self.emptiness.get(id) {
            return Ok(*known);
        }
        if let Expr::And(members) = self.arena.node(id)
            && let Some((inner, min, max)) = self.arena.bounded(members)
            && let Expr::CustomDfa(state) = self.arena.node(inner)
        {
            let Some(reached) = state.reaches(min, max)? else {
                return Ok(Emptiness::Unknown);
            };
            let empty = !reached;
            self.note_emptiness(id, empty);
            return Ok(if empty { Emptiness::Empty } else { Emptiness::Inhabited });
        }
        // One alternative suffices; the lengths of another one may take long to find.
        if let Expr::Or(members) = self.arena.node(id)
            && members.iter().any(|member| self.arena.is_simple(*member))
        {
            self.note_emptiness(id, false);
            return Ok(Emptiness::Inhabited);
        }
        let empty = if self.arena.is_structural(id) {
            self.lengths(id)?.map(|lengths| lengths.min().is_none())
        } else {
            self.judge_bounded(id)?
        };
        if let Some(empty) = empty {
            self.note_emptiness(id, empty);
        }
        Ok(match empty {
            None => Emptiness::Unknown,
            Some(true) => Emptiness::Empty,
            Some(false) => Emptiness::Inhabited,
        })
    }

    /// Intersections with a bound on the length, by the lengths of those members that have them by structure.
    fn judge_bounded(&mut self, id: LanguageId) -> Result<Option<bool>, LimitReached> {
        let Expr::And(members) = self.arena.node(id) else {
            return Ok(None);
        };
        let Some((min, max)) = members.iter().find_map(|&member| self.arena.as_length(member)) else {
            return Ok(None);
        };
        let others: Vec<_> = members
            .iter()
            .copied()
            .filter(|&member| self.arena.as_length(member).is_none())
            .collect();
        let alone = others.len() == 1;
        for other in others {
            if let Expr::CustomDfa(state) = self.arena.node(other) {
                if state.reaches(min, max)? == Some(false) {
                    return Ok(Some(true));
                }
                continue;
            }
            let measured = self.arena.is_structural(other) || (alone && self.lengths.contains_key(&other));
            if !measured {
                continue;
            }
            if let Some(lengths) = self.lengths(other)? {
                let meets = lengths.meets(min, max);
                if !meets || alone {
                    return Ok(Some(!meets));
                }
            }
        }
        if alone {
            return Ok(None);
        }
        let Some((rest, min, max)) = self.split_length(id)? else {
            return Ok(None);
        };
        let known = self.lengths.get(&rest).cloned().flatten();
        Ok(known.map(|lengths| !lengths.meets(min, max)))
    }

    /// Searches for a text of `start` over at most `states` states, and remembers the result for every state met.
    fn search(&mut self, start: LanguageId, states: usize, order: Order) -> Result<SearchEnd, LimitReached> {
        let mut came_from: HashMap<LanguageId, LanguageId> = HashMap::new();
        let mut open = BinaryHeap::from([Reverse(((0, 0), 0, start))]);
        came_from.insert(start, start);
        let (mut visited, mut left_out) = (0, false);
        while let Some(Reverse((_, _, state))) = open.pop() {
            visited += 1;
            if visited > states {
                return Ok(SearchEnd::Cut);
            }
            let targets = match self.leads_to(state) {
                // Too many to look at: some of them may lead to a text.
                Err(_) if self.arena.has_custom_dfa(state) => {
                    left_out = true;
                    self.sampled_rows(state)?.iter().map(|row| row.1).collect()
                }
                targets => targets?,
            };
            for target in targets {
                if came_from.contains_key(&target) {
                    continue;
                }
                match self.judge(target)? {
                    Emptiness::Empty => {}
                    Emptiness::Inhabited => {
                        self.note_path(state, &came_from);
                        return Ok(SearchEnd::Found);
                    }
                    Emptiness::Unknown => {
                        let met = came_from.len();
                        let (rank, place) = match order {
                            Order::Deep => ((0, 0), usize::MAX - met),
                            Order::Wide => ((0, 0), met),
                            Order::Near => ((self.asked(target), self.characters_asked(target)?), met),
                        };
                        open.push(Reverse((rank, place, target)));
                        came_from.insert(target, state);
                    }
                }
            }
        }
        if left_out {
            return Ok(SearchEnd::Cut);
        }
        for &state in came_from.keys() {
            self.note_emptiness(state, true);
        }
        Ok(SearchEnd::Exhausted)
    }

    /// Estimates the number of conditions that a text of a language must meet at once: the intersected languages, in any
    /// equivalent form.
    fn asked(&self, id: LanguageId) -> usize {
        let (mut asked, mut looked_at) = (0, 0);
        let mut open = vec![(id, true)];
        while let Some((id, wanted)) = open.pop() {
            looked_at += 1;
            match (self.arena.node(id), wanted) {
                (Expr::Not(inner), _) => open.push((*inner, !wanted)),
                (Expr::And(members), true) | (Expr::Or(members), false) if looked_at < ASKED_NODES => {
                    open.extend(members.iter().map(|member| (*member, wanted)));
                }
                _ => asked += 1,
            }
        }
        asked
    }

    /// Adds up the shortest lengths of the languages that are intersected, in characters; 0 where there is no such length.
    fn characters_asked(&mut self, id: LanguageId) -> Result<u64, LimitReached> {
        let Expr::And(members) = self.arena.node(id).clone() else {
            return Ok(self.shortest_length(id)?.unwrap_or(0));
        };
        let mut asked = 0_u64;
        for member in members {
            asked = asked.saturating_add(self.shortest_length(member)?.unwrap_or(0));
        }
        Ok(asked)
    }

    fn note_path(&mut self, last: LanguageId, came_from: &HashMap<LanguageId, LanguageId>) {
        let mut state = last;
        loop {
            self.note_emptiness(state, false);
            match came_from.get(&state) {
                Some(&before) if before != state => state = before,
                _ => return,
            }
        }
    }

    /// Languages of which one at least has a text iff `state`, which is not nullable, has.
    fn leads_to(&mut self, state: LanguageId) -> Result<Vec<LanguageId>, LimitReached> {
        match self.arena.node(state) {
            Expr::Or(members) => return Ok(members.to_vec()),
            &Expr::Concat(first, rest) if self.arena.is_simple(first) && self.arena.is_closed(rest) => {
                return Ok(vec![rest]);
            }
            &Expr::Concat(first, rest) if self.arena.is_simple(rest) => return Ok(vec![first]),
            &Expr::Repeat { inner, .. } => return Ok(vec![inner]),
            _ => {}
        }
        let rows: Transitions = self.rows(state)?;
        let mut targets: Vec<_> = rows.iter().map(|row| row.1).collect();
        // The target of a whole range is less often a special case, and the target pushed last is looked at first.
        targets.dedup();
        if targets.contains(&ANY) {
            return Ok(vec![ANY]);
        }
        Ok(targets)
    }
}
