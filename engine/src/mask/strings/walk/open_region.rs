//! Open regions: sets of languages in which every text over a class of characters is a viable prefix.
//!
//! A language with several lookaheads (`(?=.*[a-z])(?=.*[0-9])`) has a state for each set of lookaheads
//! fulfilled so far, but in all of these states any character of a line may follow. So the tokens over that class are allowed
//! together, by the posting lists of their characters, and only tokens with another character are walked from their beginning.

use crate::automaton::{Automaton, AutomatonError};
use crate::mask::index::posting_lists::{Members, gaps, shared};
use crate::mask::index::trie::ROOT;

use super::character_walk::CharacterWalk;
use super::group::Group;
use crate::mask::strings::residual::Residual;
use crate::mask::strings::residual_states::{DEAD, FREE};

impl CharacterWalk<'_> {
    /// Visits the tokens below a node in a state that is open over a class of characters, except those that begin with a space
    /// below the root; false where the state is not open, or where too many tokens leave the class.
    pub(crate) fn open_region(
        &mut self,
        automaton: &mut Automaton,
        (node, state): (u32, u32),
    ) -> Result<bool, AutomatonError> {
        let (trie, postings) = (self.trie(), &self.index.postings);
        let Residual::Language(language) = *self.states.residual(state) else {
            return Ok(false);
        };
        if self.excludes || automaton.languages().is_non_enumerable(language) {
            return Ok(false);
        }
        // Languages of few requirements have few states, so that visiting the characters outside the class would cost more.
        if !automaton.languages().asks_for_many(language) {
            return Ok(false);
        }
        let Some(class) = automaton.languages_mut().open_class(language)? else {
            return Ok(false);
        };
        let class: Vec<(u32, u32)> = class.iter().map(|of| (of.first().into(), of.last().into())).collect();
        let class = postings.handy(&class);
        let leaving = shared(&gaps(&class), &automaton.languages().coarse_characters(language));
        let count = leaving.iter().map(|&(first, last)| postings.nodes(first, last).len());
        if count.sum::<usize>() > self.index.tuning.loop_exits {
            return Ok(false);
        }
        let members = Members::of(&class);
        let exits = leaving.iter().flat_map(|&(first, last)| postings.nodes(first, last));
        for &exit in exits {
            let next = match self.reached(automaton, (node, state), postings.parent(exit), &members)? {
                Some(FREE) => FREE,
                Some(from) => self.after(automaton, from, trie.label(exit))?,
                None => continue,
            };
            self.visit(automaton, exit, next)?;
        }
        let mut group = Group::empty(state);
        let space = postings.space().filter(|_| node == ROOT);
        for &(first, last) in class.iter() {
            let (from, to) = (trie.child_from(node, first), trie.child_from(node, last + 1));
            let ranges = match space.filter(|space| (from..to).contains(space)) {
                Some(space) => [from..space, trie.end(space)..to],
                None => [from..to, to..to],
            };
            for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                group.add(range, trie);
            }
        }
        let taken = self.take_class(node, &group, class.clone(), None);
        for &begun in &taken.partial_beyond {
            match self.reached(automaton, (node, state), begun, &members)? {
                Some(FREE) => self.run(trie.at(begun), true),
                Some(at) => self.at(automaton, begun, at)?,
                None => {}
            }
        }
        Ok(true)
    }

    /// The state that a node is reached in by characters of a class from another above it; none if it is not, or begins with
    /// a space below the root.
    fn reached(
        &mut self,
        automaton: &mut Automaton,
        (node, state): (u32, u32),
        mut at: u32,
        members: &Members<'_>,
    ) -> Result<Option<u32>, AutomatonError> {
        let postings = &self.index.postings;
        let mut labels = Vec::new();
        while at != node {
            let label = self.trie().label(at);
            if at == ROOT || !members.has(label) || node == ROOT && Some(at) == postings.space() {
                return Ok(None);
            }
            labels.push(label);
            at = postings.parent(at);
        }
        let mut reached = state;
        while let Some(label) = labels.pop().filter(|_| !matches!(reached, DEAD | FREE)) {
            reached = self.after(automaton, reached, label)?;
        }
        Ok(Some(reached).filter(|state| *state != DEAD))
    }
}
