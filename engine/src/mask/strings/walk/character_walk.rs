//! [`CharacterWalk`]: a walk over the trie of a vocabulary's tokens, by characters, beside the residual states of a language.

use std::ops::Range;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::mask::index::base_sets::Words;
use crate::mask::index::contents::{Contents, PartialCodePoint};
use crate::mask::index::tokens::TokenIndex;
use crate::mask::index::trie::{Trie, first_child};

use super::class_sets::ClassSets;
use crate::mask::strings::residual::Residual;
use crate::mask::strings::residual_states::{DEAD, FREE, FreeLanguages, ResidualStates};

/// A walk over the tokens that stay inside of a string, with the tokens found so far.
pub(crate) struct CharacterWalk<'a> {
    pub(crate) index: &'a TokenIndex,
    pub(crate) classes: &'a ClassSets,
    pub(crate) states: ResidualStates,
    free: FreeLanguages<'a>,
    /// Whether the tokens that may not come are listed rather than those that may.
    pub(crate) excludes: bool,
    /// The tokens that may come, or that may not.
    pub(crate) found: Vec<TokenId>,
    /// More tokens that may come, 32 a word.
    pub(crate) words: Option<Words>,
    /// Tokens of [`words`](Self::words) that may not come, and others, as far as they are noted.
    pub(crate) taken_out: Vec<TokenId>,
    /// Whether tokens that may not come are noted.
    pub(crate) notes_taken_out: bool,
    pub(crate) taken: GroupsTaken,
}

/// Numbers of groups of tokens that a walk has judged by each algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupsTaken {
    pub(crate) self_loops: u32,
    pub(crate) definite_regions: u32,
    pub(crate) open_regions: u32,
    /// Groups that were walked node by node.
    pub(crate) walked: u32,
}

/// The children of a node that a walk visits.
struct Siblings<'a> {
    /// The node after the siblings and all nodes below them.
    end: u32,
    /// The state of the siblings' parent.
    state: u32,
    /// The children with their labels, if they are many.
    siblings: &'a [(u32, u32)],
}

impl<'a> Siblings<'a> {
    fn below(trie: &'a Trie<u32>, node: u32, state: u32) -> Self {
        let (end, siblings) = (trie.end(node), trie.listed(node));
        Self { end, state, siblings }
    }

    /// The first with a label beyond this one.
    fn sibling_after(&self, label: u32) -> u32 {
        let place = self.siblings.partition_point(|(other, _)| *other <= label);
        self.siblings.get(place).map_or(self.end, |(_, sibling)| *sibling)
    }
}

impl<'a> CharacterWalk<'a> {
    /// A walk that has found no token yet, with the states that earlier walks have reached.
    pub(crate) fn new(
        (index, classes): (&'a TokenIndex, &'a ClassSets),
        free: FreeLanguages<'a>,
        states: ResidualStates,
        excludes: bool,
    ) -> Self {
        Self {
            index,
            classes,
            states,
            free,
            excludes,
            found: Vec::new(),
            words: None,
            taken_out: Vec::new(),
            notes_taken_out: false,
            taken: GroupsTaken::default(),
        }
    }

    /// The tokens by their characters.
    pub(crate) fn trie(&self) -> &'a Trie<u32> {
        &self.contents().inside
    }

    pub(crate) fn contents(&self) -> &'a Contents {
        &self.index.inside
    }

    /// Returns the number of the state with a residual.
    pub(crate) fn number(&mut self, automaton: &mut Automaton, residual: Residual) -> Result<u32, AutomatonError> {
        self.states.number(automaton, Some(&mut self.free), residual)
    }

    /// The state that a character leads to.
    pub(crate) fn after(&mut self, automaton: &mut Automaton, state: u32, label: u32) -> Result<u32, AutomatonError> {
        self.states.after(automaton, Some(&mut self.free), state, label)
    }

    /// The state that a character leads to, and the last character up to which all lead there.
    pub(crate) fn run_after(
        &mut self,
        automaton: &mut Automaton,
        state: u32,
        label: u32,
    ) -> Result<(u32, u32), AutomatonError> {
        self.states.run_after(automaton, Some(&mut self.free), state, label)
    }

    /// Visits the tokens that end at a node.
    pub(crate) fn at(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
        let places = self.trie().at(node);
        if places.is_empty() {
            return Ok(());
        }
        // Those that end within a character come last.
        let begun = self.contents().partial_from(places.clone());
        self.run(places.start..begun, true);
        self.at_partial(automaton, begun..places.end, state)
    }

    /// Records the tokens of a run of places, of which either all are allowed (`may`) or none.
    pub(crate) fn run(&mut self, places: Range<usize>, may: bool) {
        let tokens = &self.contents().tokens[places];
        if may != self.excludes {
            self.found.extend_from_slice(tokens);
        } else if self.notes_taken_out {
            self.taken_out.extend_from_slice(tokens);
        }
    }

    /// Visits the tokens of a node that end within a character.
    pub(crate) fn at_partial(
        &mut self,
        automaton: &mut Automaton,
        places: Range<usize>,
        state: u32,
    ) -> Result<(), AutomatonError> {
        if places.is_empty() {
            return Ok(());
        }
        let only_ascii = match *self.states.residual(state) {
            Residual::Language(language) if !automaton.languages().is_non_enumerable(language) => {
                automaton.languages().coarse_first_characters(language).are_ascii() || {
                    let transitions = automaton.languages_mut().transitions(language)?;
                    transitions.last().is_none_or(|(range, _)| range.last().is_ascii())
                }
            }
            _ => false,
        };
        // Those that have begun the same stand together.
        let mut known: Option<(&PartialCodePoint, bool)> = None;
        let end = places.end;
        for place in places {
            let Some(begun) = self.contents().partial(place) else {
                self.run(place..place + 1, true);
                continue;
            };
            if only_ascii && !begun.may_be_ascii() {
                self.run(place..end, false);
                break;
            }
            let may = match known {
                Some((same, may)) if std::ptr::eq(same, begun) => may,
                _ => self.states.residual(state).may_begin(automaton, &begun.possible)?,
            };
            known = Some((begun, may));
            self.run(place..place + 1, may);
        }
        Ok(())
    }

    /// Visits the tokens at a node and below it.
    pub(crate) fn visit(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
        if matches!(state, DEAD | FREE) {
            self.run(self.trie().run(node, self.trie().end(node)), state == FREE);
            return Ok(());
        }
        self.at(automaton, node, state)?;
        self.below(automaton, node, state)
    }

    /// Visits the tokens below a node, in the order of the nodes.
    fn below(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
        let trie = self.trie();
        let end = trie.end(node);
        // Those on the way to the node looked at.
        let mut path: Vec<Siblings> = Vec::new();
        let mut here = Siblings::below(trie, node, state);
        let mut at = first_child(node);
        while at < end {
            while here.end <= at
                && let Some(before) = path.pop()
            {
                here = before;
            }
            let label = trie.label(at);
            let next = self.after(automaton, here.state, label)?;
            if matches!(next, DEAD | FREE) {
                let after = match here.siblings.is_empty() {
                    true => trie.end(at),
                    false => here.sibling_after(self.run_after(automaton, here.state, label)?.1),
                };
                self.run(trie.run(at, after), next == FREE);
                at = after;
                continue;
            }
            self.at(automaton, at, next)?;
            if !trie.is_leaf(at) {
                path.push(here);
                here = Siblings::below(trie, at, next);
            }
            at += 1;
        }
        Ok(())
    }
}
