//! [`CharacterWalk::definite_region`]: regions of an automaton in which the last character alone mostly determines the state.
//!
//! A pattern that is searched for anywhere (`customer`, `^a.*b$`) or a format with pairs of characters has a state, here
//! called *centre*, to which most characters lead back, and other states from which all but a few characters lead to the same states as
//! from centre. Until one of those few comes, the state follows from the last character. So only the trie
//! nodes at which such a pair of characters stands are walked, as far as the state differs;
//! all other tokens are judged by their characters, as in a [loop](super::chain).

use crate::automaton::{Automaton, AutomatonError};
use crate::mask::index::posting_lists::{Members, gaps, shared};
use crate::mask::index::trie::ROOT;

use super::character_walk::CharacterWalk;
use super::group::{Group, WORTH_TAKING};
use crate::mask::strings::residual::Residual;
use crate::mask::strings::residual_states::{DEAD, FREE};

/// Maximal number of steps from a group's state to its centre.
const MAX_STEPS_TO_CENTRE: usize = 3;
/// Maximal number of other states to which characters lead from centre.
const MAX_OTHER_STATES: usize = 64;

/// The characters of ASCII.
const ASCII: u32 = 0x80;

/// Number of texts of a group from which on it is judged together with other groups.
const WORTH_JOINING: usize = 100;

/// Ranges of characters with the states that they lead to.
pub(crate) type Rows = Vec<(u32, u32, u32)>;

/// The set of visited nodes, as bits.
struct Seen(Vec<u64>);

impl Seen {
    fn has(&self, node: u32) -> bool {
        self.0[node as usize / 64] >> (node % 64) & 1 == 1
    }

    fn add(&mut self, from: u32, to: u32) {
        (from..to).for_each(|node| self.0[node as usize / 64] |= 1 << (node % 64));
    }
}

/// A node on the path to the current one.
struct Step {
    /// The node after all below it.
    end: u32,
    state: u32,
    /// Whether the path has a character outside of the class of characters that are judged together.
    is_outside: bool,
}

impl CharacterWalk<'_> {
    /// Judges the tokens below a node in groups in which the last character mostly determines the state. Leaves the groups over that
    /// are better walked node by node.
    pub(crate) fn definite_region(
        &mut self,
        automaton: &mut Automaton,
        (node, state): (u32, u32),
        groups: &mut Vec<Group>,
    ) -> Result<(), AutomatonError> {
        let most_texts = groups.iter().max_by_key(|group| group.texts);
        let Some(most_texts) = most_texts.filter(|group| group.texts >= WORTH_TAKING) else {
            return Ok(());
        };
        let Some((centre, rows)) = self.centre(automaton, most_texts.state)? else {
            return Ok(());
        };
        let (mut same, mut others) = (Vec::new(), Vec::new());
        for group in std::mem::take(groups) {
            let is_same = group.texts >= WORTH_JOINING
                && matches!(self.centre(automaton, group.state)?, Some((at, _)) if at == centre);
            if is_same { &mut same } else { &mut others }.push(group);
        }
        match self.around(automaton, (node, state), (centre, &rows), &Group::of(&same))? {
            true => self.taken.definite_regions += 1,
            false => others.append(&mut same),
        }
        *groups = others;
        Ok(())
    }

    /// Judges the tokens below a node in one group, most of which lead back to its centre; false if these are too few.
    fn around(
        &mut self,
        automaton: &mut Automaton,
        (node, state): (u32, u32),
        (centre, rows): (u32, &Rows),
        group: &Group,
    ) -> Result<bool, AutomatonError> {
        let (trie, postings) = (self.trie(), &self.index.postings);
        let excludes = self.excludes;
        let class: Vec<(u32, u32)> = rows.iter().map(|(first, last, _)| (*first, *last)).collect();
        // Those judged together, and those that are looked at wherever they stand.
        let together = match excludes {
            true => class.clone().into(),
            false => postings.handy(&class),
        };
        let outside = match excludes {
            true => gaps(&class),
            false => shared(&gaps(&together), &class),
        };
        // Most nodes that would be looked at one by one are behind characters of the class.
        let nodes = rows.iter().map(|(first, last, _)| postings.nodes(*first, *last).len());
        let share = nodes.sum::<usize>() as f64 / f64::from(trie.end(ROOT));
        let singly = (group.texts as f64 * share * share) as usize;
        if singly < self.index.tuning.walked_nodes {
            return Ok(false);
        }
        let Some(exits) = self.exits(automaton, state, (centre, rows), (group, &outside), singly / 2)? else {
            return Ok(false);
        };
        let mut seen = Seen(vec![0; trie.end(ROOT) as usize / 64 + 1]);
        let members = Members::of(&together);
        // Whether a node has only such characters before it, and itself, but for the first.
        let is_reached = |mut at: u32| {
            excludes
                || loop {
                    let parent = postings.parent(at);
                    if parent == node {
                        break true;
                    }
                    if !members.has(trie.label(at)) {
                        break false;
                    }
                    at = parent;
                }
        };
        // Of what is judged together some are found not to come.
        self.notes_taken_out = !excludes;
        for exit in exits {
            let parent = postings.parent(exit);
            if !group.has(exit) || parent != node && (seen.has(parent) || !is_reached(parent)) {
                continue;
            }
            let from = match parent == node {
                true => state,
                false => self.after(automaton, centre, trie.label(parent))?,
            };
            if matches!(from, DEAD | FREE) {
                continue;
            }
            self.leave(automaton, (exit, parent == node), from, centre, &members, &mut seen)?;
        }
        if !excludes {
            self.take_class(node, group, together.clone(), None);
        }
        // Tokens that end within a character depend on where they are.
        for &begun in postings.partial(&[(0, u32::from(char::MAX))]) {
            if !group.has(begun) || seen.has(begun) || !is_reached(begun) {
                continue;
            }
            let at = self.after(automaton, centre, trie.label(begun))?;
            if matches!(at, DEAD | FREE) {
                continue;
            }
            let places = trie.at(begun);
            let from = self.contents().partial_from(places.clone());
            self.at_partial(automaton, from..places.end, at)?;
        }
        self.notes_taken_out = false;
        Ok(true)
    }

    /// Returns the nodes, sorted, at which the last character may no longer determine the state, or with one of the characters that
    /// are walked wherever they stand; none where they are too many.
    fn exits(
        &mut self,
        automaton: &mut Automaton,
        state: u32,
        (centre, rows): (u32, &Rows),
        (group, outside): (&Group, &[(u32, u32)]),
        most: usize,
    ) -> Result<Option<Vec<u32>>, AutomatonError> {
        let (trie, postings) = (self.trie(), &self.index.postings);
        let mut exits: Vec<u32> = Vec::new();
        for &(first, last) in outside {
            exits.extend_from_slice(postings.nodes(first, last));
        }
        let mut known: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
        for &(first, last, away) in rows.iter().filter(|(.., away)| *away != centre) {
            if exits.len() > most {
                return Ok(None);
            }
            if away == FREE {
                exits.extend_from_slice(postings.nodes(first, last));
                continue;
            }
            let place = match known.iter().position(|(other, _)| *other == away) {
                Some(place) => place,
                None if known.len() == MAX_OTHER_STATES => return Ok(None),
                None => {
                    let differing = match self.rows(automaton, away)? {
                        Some(away) => differing(&away, rows),
                        None => vec![(0, u32::from(char::MAX))],
                    };
                    known.push((away, differing));
                    known.len() - 1
                }
            };
            postings.pairs((first, last), &known[place].1, trie, most, &mut exits);
        }
        for child in group.children(trie) {
            let label = trie.label(child);
            if self.after(automaton, centre, label)? != self.after(automaton, state, label)? {
                exits.push(child);
            }
        }
        if exits.len() > most {
            return Ok(None);
        }
        exits.sort_unstable();
        exits.dedup();
        Ok(Some(exits))
    }

    /// Returns the state to which most characters lead back from a group's state, with the targets of characters from it.
    fn centre(&mut self, automaton: &mut Automaton, mut state: u32) -> Result<Option<(u32, Rows)>, AutomatonError> {
        for _ in 0..MAX_STEPS_TO_CENTRE {
            let Some(rows) = self.rows(automaton, state)? else {
                return Ok(None);
            };
            let mut counts: Vec<(u32, u32)> = Vec::new();
            for &(first, last, target) in &rows {
                match counts.iter_mut().find(|(other, _)| *other == target) {
                    Some((_, count)) => *count += last - first + 1,
                    None => counts.push((target, last - first + 1)),
                }
            }
            match counts.into_iter().max_by_key(|(_, count)| *count) {
                Some((FREE, _)) | None => return Ok(None),
                Some((next, _)) if next == state => return Ok(Some((state, rows))),
                Some((next, _)) => state = next,
            }
        }
        Ok(None)
    }

    /// Returns the targets of characters from a state, as ranges with the states behind them; none where they are not known
    /// without trying each character.
    pub(crate) fn rows(&mut self, automaton: &mut Automaton, state: u32) -> Result<Option<Rows>, AutomatonError> {
        let mut rows = Rows::new();
        let language = match self.states.residual(state) {
            Residual::Language(language) if automaton.languages().is_non_enumerable(*language) => return Ok(None),
            Residual::Language(language) => *language,
            Residual::CustomDfa(machine) if machine.is_narrow() => {
                let beyond = (ASCII, u32::from(char::MAX));
                for (first, last) in (0..ASCII).map(|character| (character, character)).chain([beyond]) {
                    let target = self.after(automaton, state, first)?;
                    match rows.last_mut() {
                        _ if target == DEAD => {}
                        Some((_, end, same)) if *same == target && *end + 1 == first => *end = last,
                        _ => rows.push((first, last, target)),
                    }
                }
                return Ok(Some(rows));
            }
            Residual::CustomDfa(_) => return Ok(None),
        };
        for &(range, target) in automaton.languages_mut().transitions(language)?.iter() {
            let target = self.number(automaton, Residual::Language(target))?;
            rows.push((range.first().into(), range.last().into(), target));
        }
        Ok(Some(rows))
    }

    /// Walks over the tokens at a node and below it as long as the last character does not determine the state.
    fn leave(
        &mut self,
        automaton: &mut Automaton,
        (node, is_first): (u32, bool),
        state: u32,
        centre: u32,
        members: &Members<'_>,
        seen: &mut Seen,
    ) -> Result<(), AutomatonError> {
        let (trie, excludes) = (self.trie(), self.excludes);
        let end = trie.end(node);
        let mut path: Vec<Step> = vec![Step {
            end,
            state,
            is_outside: false,
        }];
        let mut at = node;
        while at < end {
            while path.len() > 1 && path[path.len() - 1].end <= at {
                path.pop();
            }
            let here = &path[path.len() - 1];
            let label = trie.label(at);
            // The first character may be any.
            let may_be_any = excludes || is_first && at == node;
            let is_outside = here.is_outside || !may_be_any && !members.has(label);
            let next = self.after(automaton, here.state, label)?;
            if matches!(next, DEAD | FREE) {
                let after = trie.end(at);
                // A token outside is not judged together with others, so that it need not be taken out.
                if excludes || next == FREE || !is_outside {
                    self.run(trie.run(at, after), next == FREE);
                }
                seen.add(at, after);
                at = after;
                continue;
            }
            if !is_outside && next == self.after(automaton, centre, label)? {
                at = trie.end(at);
                continue;
            }
            seen.add(at, at + 1);
            self.at(automaton, at, next)?;
            if !trie.is_leaf(at) {
                path.push(Step {
                    end: trie.end(at),
                    state: next,
                    is_outside,
                });
            }
            at += 1;
        }
        Ok(())
    }
}

/// The characters that lead elsewhere from one state than from another.
fn differing(one: &Rows, other: &Rows) -> Vec<(u32, u32)> {
    let mut differing: Vec<(u32, u32)> = Vec::new();
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut next = 0;
    loop {
        // Up to which character both lead the same way from `next` on, and where.
        let part = |row: Option<&&(u32, u32, u32)>| match row {
            None => (u32::from(char::MAX), DEAD),
            Some((first, ..)) if *first > next => (first - 1, DEAD),
            Some((_, last, target)) => (*last, *target),
        };
        let ((one_end, one_target), (other_end, other_target)) = (part(one.peek()), part(other.peek()));
        let end = one_end.min(other_end);
        if one_target != other_target {
            match differing.last_mut() {
                Some((_, last)) if *last + 1 == next => *last = end,
                _ => differing.push((next, end)),
            }
        }
        if end >= u32::from(char::MAX) {
            return differing;
        }
        next = end + 1;
        one.next_if(|(_, last, _)| *last < next);
        other.next_if(|(_, last, _)| *last < next);
    }
}
