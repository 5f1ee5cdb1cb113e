//! [`Walk::spread`]: most tokens within a string by their classes of characters, and only the others one by one.

use std::ops::Range;
use std::sync::Arc;

use crate::automaton::{Automaton, AutomatonError};

use crate::mask::index::contents::{Words, bit, set};
use crate::mask::index::posting_lists::{Class, DEEP, Members, gaps};
use crate::mask::index::tokens::{Combine, OfClass, Tokens};
use crate::mask::index::trie::{ROOT, Trie, first_child};
use crate::mask::strings::chain::{Chain, End};
use crate::mask::strings::residual::Residual;
use crate::mask::strings::states::{DEAD, FREE};
use crate::mask::strings::strategy::{Inside, Visit as _, Walk};

/// What is below the root, or below a space, behind a first character that leads to one state.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) state: u32,
    /// The children, those next to one another together.
    ranges: Vec<Range<u32>>,
    /// Texts below them.
    pub(crate) texts: usize,
}

impl Group {
    /// All of some groups.
    pub(crate) fn of(groups: &[Self]) -> Self {
        let mut ranges: Vec<Range<u32>> = groups.iter().flat_map(|group| group.ranges.iter().cloned()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        Self {
            state: groups.first().map_or(DEAD, |group| group.state),
            ranges,
            texts: groups.iter().map(|group| group.texts).sum(),
        }
    }

    /// Adds children next to one another, behind all others.
    fn add(&mut self, children: Range<u32>, trie: &Trie<u32>) {
        self.texts += trie.run(children.start, children.end).len();
        self.ranges.push(children);
    }

    /// The nodes behind a first character.
    pub(crate) fn children<'a>(&'a self, trie: &'a Trie<u32>) -> impl Iterator<Item = u32> + 'a {
        self.ranges.iter().flat_map(|range| {
            let next = |at: &u32| Some(trie.end(*at)).filter(|at| *at < range.end);
            std::iter::successors(Some(range.start), next)
        })
    }

    /// Whether a node is one of them or below one.
    pub(crate) fn has(&self, node: u32) -> bool {
        let place = self.ranges.partition_point(|range| range.end <= node);
        self.ranges.get(place).is_some_and(|range| range.start <= node)
    }
}

/// Texts of a group from which on it pays to look at a loop as a whole.
pub(crate) const MANY: usize = 1_000;

/// One of so many nodes at most may be outside of a loop.
const MOST_OUTSIDE: usize = 2;
/// Nodes outside of a loop that are looked at before another way is tried. Vocabularies of tests are small.
const FEW_NODES: usize = if cfg!(test) { 300 } else { 12_000 };

/// Texts of a group up to which those of a class are looked for one by one.
const FEW_TEXTS: usize = if cfg!(test) { 100 } else { 4_000 };

/// First characters up to which what follows is looked at behind each.
const MANY_FIRST: usize = 64;

/// Characters of a class up to which it is no loop to speak of.
const FEW: u32 = 8;

impl Walk<'_, Inside<'_>> {
    /// Visits what is below the root or a space, as [`visit`](Self::visit) does, but for most of what a loop takes.
    pub(crate) fn spread(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        node: u32,
        state: u32,
    ) -> Result<(), AutomatonError> {
        let trie = self.trie;
        self.at(automaton, node, state)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut spaced = None;
        let space = tokens.postings.space().filter(|_| node == ROOT);
        if self.is_in_class(state) {
            let mut groups = vec![self.whole(automaton, node, space, state)?];
            self.local(automaton, tokens, (node, state), &mut groups)?;
            if groups.is_empty() {
                return match space {
                    Some(space) => {
                        let next = self.after(automaton, state, ' '.into())?;
                        self.spread(automaton, tokens, space, next)
                    }
                    None => Ok(()),
                };
            }
        }
        let mut at = first_child(node);
        // Nodes may have more children than languages ranges: those of a range are visited at once.
        while at < trie.end(node) {
            let (next, last) = self.states.run_after(automaton, self.visitor, state, trie.label(at))?;
            let from = at;
            at = trie.child_from(node, last + 1);
            if matches!(next, DEAD | FREE) {
                self.visitor.run(trie.run(from, at), next == FREE);
                continue;
            }
            let mut ranges = [from..at, 0..0];
            if let Some(space) = space.filter(|space| (from..at).contains(space)) {
                spaced = Some((space, next));
                ranges = [from..space, trie.end(space)..at];
            }
            let group = match groups.iter().rposition(|group| group.state == next) {
                Some(place) => &mut groups[place],
                None => {
                    groups.push(Group {
                        state: next,
                        ..Group::default()
                    });
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                group.add(range, trie);
            }
        }
        let from = (node, state);
        let mut left: Vec<Group> = Vec::new();
        for group in groups {
            let is_done = group.texts >= MANY
                && (self.dense(automaton, tokens, node, &group)?
                    || self.follow(automaton, tokens, from, &group, FEW_NODES)?);
            if !is_done {
                left.push(group);
            }
        }
        self.local(automaton, tokens, from, &mut left)?;
        let mut singly = Vec::new();
        for group in left {
            if group.texts < MANY || !self.follow(automaton, tokens, from, &group, usize::MAX)? {
                singly.push(group);
            }
        }
        for group in &singly {
            for child in group.children(trie) {
                self.branch(automaton, tokens, child, group.state)?;
            }
        }
        match spaced {
            Some((child, next)) => self.spread(automaton, tokens, child, next),
            None => Ok(()),
        }
    }

    /// All children of a node within a [class](Self::is_in_class) that something goes on with, but for one.
    fn whole(
        &mut self,
        automaton: &mut Automaton,
        node: u32,
        but: Option<u32>,
        state: u32,
    ) -> Result<Group, AutomatonError> {
        let mut group = Group {
            state,
            ..Group::default()
        };
        for (first, last, _) in self.rows(automaton, state)?.unwrap_or_default() {
            let (from, to) = (self.trie.child_from(node, first), self.trie.child_from(node, last + 1));
            let ranges = match but.filter(|but| (from..to).contains(but)) {
                Some(but) => [from..but, self.trie.end(but)..to],
                None => [from..to, to..to],
            };
            for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                group.add(range, self.trie);
            }
        }
        Ok(group)
    }

    /// Visits what is at a node and below it. Where that is much it is kept: the same may follow a character in many
    /// languages, as those of the names of an object after each member.
    fn branch(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        node: u32,
        state: u32,
    ) -> Result<(), AutomatonError> {
        let texts = self.trie.run(node, self.trie.end(node)).len();
        let fingerprint = match *self.states.rest(state) {
            Residual::Language(language) if texts >= MANY => automaton.fingerprint(language),
            _ => None,
        };
        let key = fingerprint.map(|fingerprint| (node, self.visitor.excludes, fingerprint));
        if let Some(known) = key.and_then(|key| tokens.known_branch(key)) {
            self.visitor.found.extend_from_slice(&known);
            return Ok(());
        }
        let before = self.visitor.found.len();
        self.at(automaton, node, state)?;
        self.below(automaton, node, state)?;
        if let Some(key) = key {
            tokens.keep_branch(key, &self.visitor.found[before..]);
        }
        Ok(())
    }

    /// Visits what is below a node and in a group, if that loops on characters of a class or goes on with few; false if it
    /// is better looked at one by one, because more nodes than so many, or than every second text, leave it.
    fn follow(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        (node, state): (u32, u32),
        group: &Group,
        most: usize,
    ) -> Result<bool, AutomatonError> {
        let (trie, postings) = (self.trie, &tokens.postings);
        let Residual::Language(language) = *self.states.rest(group.state) else {
            return Ok(false);
        };
        let is_read_singly =
            matches!(*self.states.rest(state), Residual::Language(from) if automaton.is_read_singly(from));
        if is_read_singly || automaton.is_read_singly(language) {
            return Ok(false);
        }
        let chain = Chain::new(automaton, language, DEEP)?.filter(|chain| chain.characters() > FEW);
        // Where there is no loop but few ways on from many characters, what goes on is found by these as well.
        let chain = match chain {
            Some(chain) => chain,
            None if group.children(trie).nth(MANY_FIRST).is_some() => Chain::single(language),
            None => return Ok(false),
        };
        let excludes = self.visitor.excludes;
        // The tokens that a chain with an end has room for.
        let before = 1 + usize::from(node != ROOT);
        let up_to = match chain.end() {
            End::Same => None,
            End::Nothing if excludes => return Ok(false),
            End::Nothing | End::More => tokens.sets.up_to.get(before + chain.len() - 1),
        };
        let class = postings.handy(&chain.class);
        let leaving = match excludes {
            true => gaps(&class),
            false => chain.leaving(automaton, &class)?,
        };
        let is_loop = !chain.class.is_empty();
        let leave = leaving.iter().map(|&(first, last)| match is_loop {
            true => postings.nodes(first, last).len(),
            false => postings.seconds(node, (first, last)).len(),
        });
        let leave = leave.sum::<usize>();
        if leave > most.min(group.texts / MOST_OUTSIDE) {
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
        let leaves = leaving.iter().filter(|_| is_loop);
        let exits = leaves.flat_map(|(first, last)| postings.nodes(*first, *last));
        let leaves = leaving.iter().filter(|_| !is_loop);
        let seconds = leaves.flat_map(|range| postings.seconds(node, *range));
        let seconds = seconds.map(|(_, node)| node);
        for &exit in exits.chain(seconds).chain(deep) {
            let parent = postings.parent(exit);
            let length = self.length(automaton, tokens, (node, state), group, parent, &members)?;
            let next = match length.and_then(link) {
                None => continue,
                Some(FREE) => FREE,
                Some(from) => self.after(automaton, from, trie.label(exit))?,
            };
            self.visit(automaton, exit, next)?;
        }
        let sure = match excludes {
            true => None,
            false => Some(self.take_class(tokens, node, group, class.clone(), up_to)),
        };
        // Those that may go on with a character of the class come with it, but behind the last that is looked at.
        let begun = match (chain.end(), &sure) {
            (End::Same, Some(sure)) => &sure.begun_beyond[..],
            (End::Nothing, Some(_)) => postings.begun(&leaving),
            _ => postings.begun(&[(0, u32::from(char::MAX))]),
        };
        for &begun in begun {
            let length = self.length(automaton, tokens, (node, state), group, begun, &members)?;
            match length.and_then(link) {
                None => {}
                Some(FREE) => self.visitor.run(trie.at(begun), true),
                Some(from) => self.at(automaton, begun, from)?,
            }
        }
        Ok(true)
    }

    /// Visits what is below a node and in a group after which texts may go on with any characters of a class; false if they
    /// may not.
    fn dense(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        node: u32,
        group: &Group,
    ) -> Result<bool, AutomatonError> {
        let (trie, postings) = (self.trie, &tokens.postings);
        let Residual::Language(language) = *self.states.rest(group.state) else {
            return Ok(false);
        };
        if automaton.is_read_singly(language) {
            return Ok(false);
        }
        let Some(class) = automaton.dense_class(language)? else {
            return Ok(false);
        };
        let excludes = self.visitor.excludes;
        let together = match excludes {
            true => class.into(),
            false => postings.handy(&class),
        };
        let outside = gaps(&together);
        let exits = outside.iter().map(|(first, last)| postings.nodes(*first, *last));
        if exits.clone().map(<[u32]>::len).sum::<usize>() > group.texts / MOST_OUTSIDE {
            return Ok(false);
        }
        let members = Members::of(&together);
        let mut way = Vec::new();
        for &exit in exits.flatten() {
            if let Some(from) = self.behind(
                automaton,
                tokens,
                (node, group),
                postings.parent(exit),
                &members,
                &mut way,
            )? {
                let next = match from {
                    FREE => FREE,
                    from => self.after(automaton, from, trie.label(exit))?,
                };
                self.visit(automaton, exit, next)?;
            }
        }
        let sure = match excludes {
            true => None,
            false => Some(self.take_class(tokens, node, group, together.clone(), None)),
        };
        let begun = match &sure {
            Some(sure) => &sure.begun_beyond[..],
            None => postings.begun(&[(0, u32::from(char::MAX))]),
        };
        for &begun in begun {
            let places = trie.at(begun);
            let places = self.visitor.contents.begun_from(places.clone())..places.end;
            let is_sure = |place: usize| {
                let begun = self.visitor.contents.begun(place);
                begun.is_none_or(|begun| begun.may_be_of(&together))
            };
            if excludes && places.clone().all(is_sure) {
                continue;
            }
            match self.behind(automaton, tokens, (node, group), begun, &members, &mut way)? {
                None => {}
                Some(FREE) => self.visitor.run(places, true),
                Some(at) => self.visitor.at_begun(automaton, places, self.states.rest(at))?,
            }
        }
        Ok(true)
    }

    /// Where a node is that characters of a class lead to behind a first one of a group, if nothing else does.
    fn behind(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        (node, group): (u32, &Group),
        mut at: u32,
        members: &Members<'_>,
        way: &mut Vec<u32>,
    ) -> Result<Option<u32>, AutomatonError> {
        if !group.has(at) {
            return Ok(None);
        }
        way.clear();
        loop {
            let parent = tokens.postings.parent(at);
            if parent == node {
                break;
            }
            let label = self.trie.label(at);
            if !members.has(label) {
                return Ok(None);
            }
            way.push(label);
            at = parent;
        }
        let mut state = group.state;
        for &label in way.iter().rev() {
            if matches!(state, DEAD | FREE) {
                break;
            }
            state = self.after(automaton, state, label)?;
        }
        Ok(Some(state).filter(|state| *state != DEAD))
    }

    /// Adds a set of tokens that may come.
    fn take_in(&mut self, tokens: &Tokens, sure: Words) {
        let words = &mut self.visitor.words;
        *words = Some(match words.take() {
            Some(others) => tokens.combined(Combine::Or, &others, &sure),
            None => sure,
        });
    }

    /// Adds the tokens below a node and in a group that have no characters but those of a class behind the first, if they
    /// are among some.
    pub(crate) fn take_class(
        &mut self,
        tokens: &Tokens,
        node: u32,
        group: &Group,
        class: Class,
        among: Option<&Words>,
    ) -> Arc<OfClass> {
        let key = (node, class);
        let all = tokens.of_class(&key);
        let first = group.ranges.iter().map(|range| (range.start, range.end)).collect();
        let words = tokens.of_group((first, key), || {
            let contents = &tokens.inside;
            if group.texts < FEW_TEXTS {
                let mut words = vec![0; all.words.len()];
                for range in &group.ranges {
                    let below = contents.tokens[self.trie.run(range.start, range.end)].iter();
                    for &token in below.filter(|token| bit(&all.words, **token)) {
                        set(&mut words, token);
                    }
                }
                return words;
            }
            let mut words = all.words.to_vec();
            let children: Vec<u32> = group.children(self.trie).collect();
            tokens.postings.keep_below(node, &children, contents, &mut words);
            words
        });
        match among {
            Some(among) => self.take_in(tokens, tokens.combined(Combine::And, &words, among)),
            None => self.take_in(tokens, words),
        }
        all
    }

    /// How many characters of a class lead to a node behind a first one of a group, if nothing else does.
    fn length(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        (node, state): (u32, u32),
        group: &Group,
        mut at: u32,
        members: &Members<'_>,
    ) -> Result<Option<usize>, AutomatonError> {
        let postings = &tokens.postings;
        let mut length = 0;
        while at != ROOT {
            let parent = postings.parent(at);
            let label = self.trie.label(at);
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
