//! Self-loop acceleration: where all characters of a class lead back to the same state, the tokens of that class are allowed together, by the
//! posting lists of their characters. Only tokens that leave the loop are walked.

use crate::automaton::{Automaton, AutomatonError};
use crate::mask::index::posting_lists::{LONG, Members, gaps};
use crate::mask::index::trie::ROOT;

use super::chain::{Chain, End};
use super::character_walk::CharacterWalk;
use super::group::Group;
use crate::mask::strings::residual::Residual;
use crate::mask::strings::residual_states::FREE;

/// Reciprocal of the share of texts that may leave a loop: where more do, a walk over all texts takes no longer.
const SHARE_OUTSIDE: usize = 2;

/// Maximal number of characters of a class whose tokens, which are few, are walked.
const MAX_WALKED_CLASS: u32 = 8;

impl CharacterWalk<'_> {
    /// Judges the tokens below a node in a group whose state loops on a class of characters; false if the tokens are better
    /// walked one by one, because they leave the loop at more nodes than the bound, or more than every second token does.
    pub(crate) fn follow(
        &mut self,
        automaton: &mut Automaton,
        (node, state): (u32, u32),
        group: &Group,
        most: usize,
    ) -> Result<bool, AutomatonError> {
        let (trie, postings) = (self.trie(), &self.index.postings);
        let Residual::Language(language) = *self.states.residual(group.state) else {
            return Ok(false);
        };
        let is_read_singly = matches!(*self.states.residual(state), Residual::Language(from) if automaton.languages().is_non_enumerable(from));
        if is_read_singly || automaton.languages().is_non_enumerable(language) {
            return Ok(false);
        }
        let chain = Chain::new(automaton, language, LONG)?.filter(|chain| chain.characters() > MAX_WALKED_CLASS);
        let Some(chain) = chain else {
            return Ok(false);
        };
        let excludes = self.excludes;
        // The tokens that a chain with an end has room for.
        let before = 1 + usize::from(node != ROOT);
        let up_to = match chain.end() {
            End::Same => None,
            End::Nothing if excludes => return Ok(false),
            End::Nothing | End::More => self.index.sets.up_to.get(before + chain.len() - 1),
        };
        let class = postings.handy(&chain.class);
        let leaving = match excludes {
            true => gaps(&class),
            false => chain.leaving(automaton, &class)?,
        };
        let leave = leaving.iter().map(|&(first, last)| postings.nodes(first, last).len());
        let leave = leave.sum::<usize>();
        if leave > most.min(group.texts / SHARE_OUTSIDE) {
            return Ok(false);
        }
        let mut links = Vec::with_capacity(chain.len());
        for language in chain.languages() {
            links.push(self.number(automaton, Residual::Language(language))?);
        }
        let link = |length: usize| match chain.end() {
            End::Same => links.get(length).or(links.last()).copied(),
            End::Nothing | End::More => links.get(length).copied(),
        };
        let members = Members::of(&class);
        let deep: &[u32] = match chain.end() {
            End::More => postings.deep(),
            End::Same | End::Nothing => &[],
        };
        let deep = deep.iter().filter(|node| members.has(trie.label(**node)));
        let exits = leaving.iter().flat_map(|(first, last)| postings.nodes(*first, *last));
        for &exit in exits.chain(deep) {
            let parent = postings.parent(exit);
            let length = self.length(automaton, (node, state), group, parent, &members)?;
            let next = match length.and_then(link) {
                None => continue,
                Some(FREE) => FREE,
                Some(from) => self.after(automaton, from, trie.label(exit))?,
            };
            self.visit(automaton, exit, next)?;
        }
        let sure = match excludes {
            true => None,
            false => Some(self.take_class(node, group, class.clone(), up_to)),
        };
        // Those that may go on with a character of the class come with it, but behind the last that is looked at.
        let begun = match (chain.end(), &sure) {
            (End::Same, Some(sure)) => &sure.partial_beyond[..],
            (End::Nothing, Some(_)) => postings.partial(&leaving),
            _ => postings.partial(&[(0, u32::from(char::MAX))]),
        };
        for &begun in begun {
            let length = self.length(automaton, (node, state), group, begun, &members)?;
            match length.and_then(link) {
                None => {}
                Some(FREE) => self.run(trie.at(begun), true),
                Some(from) => self.at(automaton, begun, from)?,
            }
        }
        Ok(true)
    }

    /// Returns the number of characters between the first character below `node` and the node `at`, if the first leads to the
    /// state of `group` and all others are of a class.
    fn length(
        &mut self,
        automaton: &mut Automaton,
        (node, state): (u32, u32),
        group: &Group,
        mut at: u32,
        members: &Members<'_>,
    ) -> Result<Option<usize>, AutomatonError> {
        let postings = &self.index.postings;
        let mut length = 0;
        while at != ROOT {
            let parent = postings.parent(at);
            let label = self.trie().label(at);
            if parent == node {
                let is_first = Some(at) != postings.space() && self.after(automaton, state, label)? == group.state;
                return Ok(is_first.then_some(length));
            }
            if !members.has(label) {
                break;
            }
            length += 1;
            at = parent;
        }
        Ok(None)
    }
}
