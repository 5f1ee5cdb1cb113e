//! Which rests may come where a string has ended.

use smallvec::SmallVec;

use crate::automaton::{AutomatonError, NextMembers, State};

use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::token_suffixes::TokenSuffixes;
use crate::mask::index::trie::ROOT;
use crate::mask::structure::Walk;

/// Containers that are looked at to see what may come where all of them end.
const MOST_CLOSED: usize = 8;

/// Kinds of places after members that are kept.
const MOST_KEPT: usize = 1 << 10;

impl Walk<'_> {
    /// Whether each rest may come at a place.
    pub(crate) fn alive(&mut self, at: State) -> Result<SuffixSet, AutomatonError> {
        // What may come where a container ends is known from what may come around it.
        let mut chain = SmallVec::<[State; MOST_CLOSED]>::new();
        let (mut alive, mut next) = (None, Some(at));
        while let Some(at) = next {
            if let Some(known) = self.known.alive.get(&at) {
                alive = Some(known);
                break;
            }
            if chain.len() == MOST_CLOSED {
                break;
            }
            chain.push(at);
            next = self.automaton.closed(at)?;
        }
        while let Some(at) = chain.pop() {
            let found = match self.automaton.next_members(at)? {
                Some(members) => self.alive_after_member(at, members, alive)?,
                None => self.find_alive(at, alive.as_ref())?,
            };
            self.known.alive.keep(at, found.clone(), found.bytes());
            alive = Some(found);
        }
        Ok(alive.unwrap_or_default())
    }

    /// Whether one rest may come at a place.
    pub(crate) fn rest_is_alive(&mut self, at: State, rest: u32) -> Result<bool, AutomatonError> {
        match self.known.alive.get(&at) {
            Some(known) => Ok(known[rest as usize]),
            None => self.is_alive(at, &self.tokens.rests.texts[rest as usize]),
        }
    }

    /// Whether each rest may come after a member of a plain object: but for names that are spelled out that depends on
    /// little.
    fn alive_after_member(
        &mut self,
        at: State,
        members: NextMembers,
        around: Option<SuffixSet>,
    ) -> Result<SuffixSet, AutomatonError> {
        let key = (members, around);
        let mut alive = match self.known.after_member.get(&key) {
            Some(known) => known.clone(),
            None => {
                let alive = self.walk_rests(at, self.tokens.rests.next_name, key.1.as_ref())?;
                if self.known.after_member.len() == MOST_KEPT {
                    self.known.after_member.clear();
                }
                self.known.after_member.insert(key, alive.clone());
                alive
            }
        };
        match members {
            NextMembers::None => {}
            NextMembers::OfAnyName => {
                for (rest, text) in &self.tokens.rests.names {
                    alive.put(*rest as usize, self.is_alive(at, text)?);
                }
            }
            NextMembers::Some => self.begin_names(at, &mut alive)?,
        }
        Ok(alive)
    }

    /// Notes which of the rests that begin another name may come.
    fn begin_names(&mut self, at: State, alive: &mut SuffixSet) -> Result<(), AutomatonError> {
        let TokenSuffixes { trie, next_name, .. } = &self.tokens.rests;
        let Some(node) = next_name.filter(|node| !trie.is_leaf(*node)) else {
            return Ok(());
        };
        let mut open = SmallVec::<[_; 4]>::new();
        if let Some(comma) = self.automaton.step(at, b',')?
            && let Some(quote) = self.automaton.step(comma, b'"')?
        {
            open.push((node, quote));
        }
        for rest in trie.run(node, trie.end(node)).skip(trie.at(node).len()) {
            alive.put(rest, false);
        }
        while let Some((node, at)) = open.pop() {
            for child in trie.children(node) {
                let byte = trie.label(child);
                if !self.automaton.begins_no_name(at, byte)?
                    && let Some(next) = self.automaton.step(at, byte)?
                {
                    alive.put_all(trie.at(child));
                    open.push((child, next));
                }
            }
        }
        Ok(())
    }

    /// Whether each rest may come at a place around which, if that is given, it is known.
    pub(crate) fn find_alive(&mut self, at: State, around: Option<&SuffixSet>) -> Result<SuffixSet, AutomatonError> {
        match self.alive_behind_name(at)? {
            Some(alive) => Ok(alive),
            None => self.walk_rests(at, None, around),
        }
    }

    /// The same, step by step. Behind a node before a name of any kind all may come that do not end the name.
    pub(crate) fn walk_rests(
        &mut self,
        at: State,
        before_name: Option<u32>,
        around: Option<&SuffixSet>,
    ) -> Result<SuffixSet, AutomatonError> {
        let rests = &self.tokens.rests;
        let trie = &rests.trie;
        let mut alive = SuffixSet::none(rests.texts.len());
        alive.put_all(trie.at(ROOT));
        if let Some(around) = around {
            let bracket = self.automaton.bracket(at);
            for &(rest, with, behind) in &rests.closings {
                alive.put(rest as usize, Some(with) == bracket && around[behind as usize]);
            }
        }
        let mut open = SmallVec::<[_; 8]>::new();
        open.push((ROOT, at));
        while let Some((node, at)) = open.pop() {
            for child in trie.children(node) {
                let label = trie.label(child);
                if node == ROOT && around.is_some() && matches!(label, b'}' | b']') {
                    continue;
                }
                if let Some(next) = self.automaton.step(at, label)? {
                    alive.put_all(trie.at(child));
                    match before_name == Some(child) {
                        true => {
                            for (rest, may) in trie.run(child, trie.end(child)).zip(&rests.begun_names) {
                                alive.put(rest, *may);
                            }
                        }
                        false => open.push((child, next)),
                    }
                }
            }
        }
        Ok(alive)
    }
}
