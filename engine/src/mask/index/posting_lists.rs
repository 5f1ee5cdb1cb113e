//! [`PostingLists`]: where characters occur in the tokens that stay inside of a string.
//!
//! Most languages of strings loop on a class of characters, and most tokens are of one class: letters, perhaps behind a
//! space. So the tokens that a loop takes whole are found by leaving out those with a character that it does not take,
//! of which sets are kept by character, and only those that leave the loop by a character with which something goes on
//! are looked at one by one. What a token begins with counts separately, and a space before it too: behind either the
//! language has often just begun to loop.

use std::ops::Range;
use std::sync::Arc;

use crate::TokenId;

use super::base_sets::{set, unset};
use super::contents::Contents;
use super::trie::{ROOT, Trie, first_child};

/// A class of characters, as sorted inclusive ranges that do not touch.
pub(crate) type Class = Arc<[(u32, u32)]>;

/// The last character there is.
const LAST: u32 = 0x10_FFFF;
const ASCII: usize = 0x80;
/// Places of sets by halves: the last are of eight characters each.
const HALVES: usize = 32;
/// Tokens in which a character occurs from which on they are kept as a set of bits.
const MANY: usize = 500;
/// Second characters up to which pairs are found by these.
const MANY_SECOND: usize = 64;
/// Tokens below characters beyond ASCII that are taken out of a set one by one.
const MOST_SINGLE: u32 = 60_000;

/// Characters behind the first, and a space before that, from which on tokens are long.
pub(crate) const LONG: usize = 16;

/// Where characters occur in tokens.
#[derive(Debug)]
pub(crate) struct PostingLists {
    parents: Box<[u32]>,
    /// The characters that occur, sorted.
    labels: Box<[u32]>,
    /// Where the nodes of each begin; one more entry than characters.
    starts: Box<[u32]>,
    nodes: Box<[u32]>,
    /// Tokens below the nodes of all characters before each, added up over the nodes; one more entry than characters.
    below: Box<[u32]>,
    /// The node of a space before all others.
    space: Option<u32>,
    /// Tokens that go on behind such a space, and those that begin otherwise, 32 a word; no begun ones.
    spaced: Box<[u32]>,
    others: Box<[u32]>,
    /// Tokens in which characters occur behind the first, by character of ASCII, and at last those with others. A space
    /// at the beginning does not count.
    behind: Box<[Set]>,
    /// Those of characters of ASCII by halves: of all at place 1, and of the halves of what is at a place at twice the
    /// place and the one after.
    halves: Box<[Box<[u32]>]>,
    /// What tokens begin with, and what those that begin with a space go on with.
    first: Firsts,
    first_behind_space: Firsts,
    /// Nodes at which tokens end within a character, and those of them at which it may be one of ASCII.
    begun: Box<[u32]>,
    begun_in_ascii: Box<[u32]>,
    /// The tokens that do.
    begun_tokens: Box<[BegunToken]>,
    /// Nodes behind [`LONG`] characters behind the first.
    deep: Box<[u32]>,
}

/// A token that ends within a character, behind others.
#[derive(Debug)]
struct BegunToken {
    place: usize,
    node: u32,
    /// Whether it begins with a space and goes on.
    is_spaced: bool,
    /// The characters of ASCII behind the first, as bits; a space at the beginning does not count.
    ascii: u128,
    /// Whether there are others behind the first.
    has_others: bool,
}

/// The tokens below a node by their first characters there; sets of 32 a word.
#[derive(Debug, Default)]
struct Firsts {
    /// Of characters of ASCII, by [halves](half).
    halves: Box<[Box<[u32]>]>,
    /// Of single ones of them, where they are many.
    ascii: Box<[Option<Box<[u32]>>]>,
    /// Of others.
    beyond: Box<[u32]>,
}

impl Firsts {
    fn new(contents: &Contents, node: u32, words: usize, listed: usize) -> Self {
        let trie = &contents.inside;
        let mut ascii = vec![Vec::new(); ASCII];
        let mut beyond = vec![0; words];
        for child in trie.children(node) {
            let tokens = &contents.tokens[trie.run(child, trie.end(child))];
            match ascii.get_mut(trie.label(child) as usize) {
                Some(ascii) => ascii.extend_from_slice(tokens),
                None => tokens.iter().for_each(|token| set(&mut beyond, *token)),
            }
        }
        let single = ascii.iter().map(|tokens: &Vec<TokenId>| {
            let mut many = (tokens.len() >= listed).then(|| vec![0; words])?;
            tokens.iter().for_each(|token| set(&mut many, *token));
            Some(many.into())
        });
        Self {
            ascii: single.collect(),
            halves: halves(&ascii, words),
            beyond: beyond.into(),
        }
    }
}

/// A set of tokens.
#[derive(Debug)]
enum Set {
    Few(Box<[TokenId]>),
    /// 32 a word.
    Many(Box<[u32]>),
}

impl Set {
    fn take_from(&self, words: &mut [u32]) {
        match self {
            Self::Few(tokens) => unset(words, tokens),
            Self::Many(many) => take(words, many),
        }
    }
}

impl PostingLists {
    /// Of the characters of tokens in a vocabulary of so many words of 32. From so many tokens on those that begin with a
    /// character are kept as a set of bits.
    pub(crate) fn new(contents: &Contents, words: usize, listed: usize) -> Self {
        let trie = &contents.inside;
        let space = trie.child(ROOT, ' '.into());
        let nodes = trie.end(ROOT);
        let mut parents = vec![ROOT; nodes as usize];
        let (mut spaced, mut others) = (vec![0; words], vec![0; words]);
        let mut behind = vec![Vec::new(); ASCII + 1];
        let (mut begun, mut deep) = (Vec::new(), Vec::new());
        let (mut begun_in_ascii, mut begun_tokens) = (Vec::new(), Vec::new());
        // The nodes on the way, with their ends.
        let mut path: Vec<(u32, u32)> = Vec::new();
        for node in first_child(ROOT)..nodes {
            while path.last().is_some_and(|(_, end)| *end <= node) {
                path.pop();
            }
            parents[node as usize] = path.last().map_or(ROOT, |(parent, _)| *parent);
            path.push((node, trie.end(node)));
            let is_spaced = path.len() > 1 && Some(path[0].0) == space;
            if path.len() == 1 + usize::from(is_spaced) + LONG {
                deep.push(node);
            }
            let (mut ends_within, mut may_be_ascii) = (false, false);
            for place in trie.at(node) {
                if let Some(begun) = contents.begun(place) {
                    ends_within = true;
                    may_be_ascii |= begun.may_be_ascii();
                    if Some(node) != space {
                        let behind = path.iter().skip(1 + usize::from(is_spaced));
                        let labels: Vec<u32> = behind.map(|(on_path, _)| trie.label(*on_path)).collect();
                        let ascii = labels.iter().filter(|label| **label < ASCII as u32);
                        begun_tokens.push(BegunToken {
                            place,
                            node,
                            is_spaced,
                            ascii: ascii.fold(0, |bits, label| bits | 1 << label),
                            has_others: labels.iter().any(|label| *label >= ASCII as u32),
                        });
                    }
                    continue;
                }
                let token = contents.tokens[place];
                if Some(node) != space {
                    set(if is_spaced { &mut spaced } else { &mut others }, token);
                }
                for (on_path, _) in path.iter().skip(1 + usize::from(is_spaced)) {
                    let tokens: &mut Vec<TokenId> = &mut behind[(trie.label(*on_path) as usize).min(ASCII)];
                    if tokens.last() != Some(&token) {
                        tokens.push(token);
                    }
                }
            }
            if ends_within {
                begun.push(node);
            }
            if may_be_ascii {
                begun_in_ascii.push(node);
            }
        }
        // Those of a character by the one before it.
        let mut by_label: Vec<(u32, u32)> = (first_child(ROOT)..nodes)
            .map(|node| (trie.label(node), node))
            .collect();
        by_label.sort_unstable_by_key(|&(label, node)| (label, trie.label(parents[node as usize]), node));
        let mut labels: Vec<u32> = by_label.iter().map(|(label, _)| *label).collect();
        labels.dedup();
        let starts = labels
            .iter()
            .map(|label| by_label.partition_point(|(other, _)| other < label) as u32);
        let starts: Box<[u32]> = starts.chain([by_label.len() as u32]).collect();
        let mut below = vec![0];
        for nodes in starts.windows(2) {
            let nodes = &by_label[nodes[0] as usize..nodes[1] as usize];
            let tokens = nodes.iter().map(|(_, node)| trie.run(*node, trie.end(*node)).len());
            below.push(below[below.len() - 1] + tokens.sum::<usize>() as u32);
        }
        let halves = halves(&behind[..ASCII], words);
        let behind = behind.into_iter().map(|tokens| match tokens.len() < MANY {
            true => Set::Few(tokens.into()),
            false => {
                let mut many = vec![0; words];
                tokens.iter().for_each(|token| set(&mut many, *token));
                Set::Many(many.into())
            }
        });
        Self {
            parents: parents.into(),
            labels: labels.into(),
            starts,
            below: below.into(),
            nodes: by_label.into_iter().map(|(_, node)| node).collect(),
            space,
            spaced: spaced.into(),
            others: others.into(),
            behind: behind.collect(),
            halves,
            first: Firsts::new(contents, ROOT, words, listed),
            first_behind_space: space.map_or_else(Firsts::default, |space| Firsts::new(contents, space, words, listed)),
            begun: begun.into(),
            begun_in_ascii: begun_in_ascii.into(),
            begun_tokens: begun_tokens.into(),
            deep: deep.into(),
        }
    }

    /// The node of a space before all others.
    pub(crate) fn space(&self) -> Option<u32> {
        self.space
    }

    /// The node before one that is not the root.
    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// Nodes at which tokens end within a character that may be one of some, but for the root; at least these.
    pub(crate) fn begun(&self, characters: &[(u32, u32)]) -> &[u32] {
        match characters.last() {
            None => &[],
            Some((_, last)) if *last < ASCII as u32 => &self.begun_in_ascii,
            Some(_) => &self.begun,
        }
    }

    /// The nodes behind so many characters behind the first, and a space before that, as [`LONG`] says.
    pub(crate) fn deep(&self) -> &[u32] {
        &self.deep
    }

    /// The nodes behind characters from `first` to `last`.
    pub(crate) fn nodes(&self, first: u32, last: u32) -> &[u32] {
        let place = |label: u32| self.starts[self.labels.partition_point(|other| *other < label)] as usize;
        &self.nodes[place(first)..place(last.saturating_add(1))]
    }

    /// Adds the nodes behind a character of a range and another of some ranges to others, up to about so many in all.
    pub(crate) fn pairs(
        &self,
        (first, last): (u32, u32),
        second: &[(u32, u32)],
        trie: &Trie<u32>,
        most: usize,
        found: &mut Vec<u32>,
    ) {
        let before = |node: &u32| trie.label(self.parent(*node));
        let place = |label: u32| self.labels.partition_point(|other| *other < label);
        let mut children_of: Vec<(u32, u32)> = Vec::new();
        for &(from, to) in second {
            let labels = place(from)..place(to.saturating_add(1));
            if labels.len() > MANY_SECOND {
                children_of.push((from, to));
                continue;
            }
            for label in labels {
                let nodes = &self.nodes[self.starts[label] as usize..self.starts[label + 1] as usize];
                let from = nodes.partition_point(|node| before(node) < first);
                let nodes = nodes[from..].iter().take_while(|node| before(node) <= last);
                found.extend(nodes.copied().filter(|node| self.parent(*node) != ROOT));
            }
        }
        if children_of.is_empty() {
            return;
        }
        for &node in self.nodes(first, last) {
            for &range in &children_of {
                found.extend(trie.children_within(node, range));
            }
            if found.len() > most {
                return;
            }
        }
    }

    /// A class, or what is in ASCII of it where tokens with other characters that it lacks are too many to be taken out
    /// one by one.
    pub(crate) fn handy(&self, class: &[(u32, u32)]) -> Class {
        let below = |(first, last): (u32, u32)| {
            let place = |label: u32| self.below[self.labels.partition_point(|other| *other < label)];
            place(last.saturating_add(1)) - place(first)
        };
        if self.lacking(class).map(below).sum::<u32>() <= MOST_SINGLE {
            return class.into();
        }
        let ascii = class.iter().filter(|(first, _)| *first < ASCII as u32);
        ascii
            .map(|(first, last)| (*first, (*last).min(ASCII as u32 - 1)))
            .collect()
    }

    /// The characters beyond ASCII that a class has not, if it has any.
    fn lacking(&self, class: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32)> {
        let has_any = class.last().is_some_and(|(_, last)| *last >= ASCII as u32);
        let gaps = gaps(class)
            .into_iter()
            .filter(move |(_, last)| has_any && *last >= ASCII as u32);
        gaps.map(|(first, last)| (first.max(ASCII as u32), last))
    }

    /// The tokens below a node, which is the root or [`space`](Self::space), that have no characters but those of a class
    /// behind the first, one that they begin and do not end included; 32 a word. Below the root those are left out that
    /// begin with a space. And the nodes of those that have only such characters but begin one that is not of the class.
    pub(crate) fn within(&self, class: &[(u32, u32)], node: u32, contents: &Contents) -> (Vec<u32>, Vec<u32>) {
        let all = match node {
            ROOT => &self.others,
            _ => &self.spaced,
        };
        let mut within = all.to_vec();
        let ascii = (0..ASCII as u32).filter(|label| contains(class, *label));
        let ascii = ascii.fold(0, |bits: u128, label| bits | 1 << label);
        take_lacking(ascii, &self.halves, &mut within, |character, within| {
            self.behind[character].take_from(within);
        });
        if class.last().is_none_or(|(_, last)| *last < ASCII as u32) {
            self.behind[ASCII].take_from(&mut within);
        }
        let trie = &contents.inside;
        let lacking = self.lacking(class);
        for &lacking in lacking.flat_map(|(first, last)| self.nodes(first, last)) {
            let parent = self.parent(lacking);
            if parent != ROOT && Some(parent) != self.space {
                unset(&mut within, &contents.tokens[trie.run(lacking, trie.end(lacking))]);
            }
        }
        let mut begun_beyond = Vec::new();
        for token in &self.begun_tokens {
            if token.is_spaced == (node != ROOT)
                && token.ascii & !ascii == 0
                && (!token.has_others || self.has_only(class, token, trie))
            {
                match contents.begun(token.place).is_some_and(|begun| begun.may_be_of(class)) {
                    true => set(&mut within, contents.tokens[token.place]),
                    false if begun_beyond.last() == Some(&token.node) => {}
                    false => begun_beyond.push(token.node),
                }
            }
        }
        (within, begun_beyond)
    }

    /// Leaves those of the tokens below a node, which is the root or [`space`](Self::space), that begin there with one of
    /// some of its children; 32 a word. What begins with a space is left out below the root.
    pub(crate) fn keep_below(&self, node: u32, children: &[u32], contents: &Contents, words: &mut [u32]) {
        let trie = &contents.inside;
        let firsts = match node {
            ROOT => &self.first,
            _ => &self.first_behind_space,
        };
        let tokens = |child: u32| &contents.tokens[trie.run(child, trie.end(child))];
        let mut ascii = 0_u128;
        for label in children.iter().map(|child| trie.label(*child)) {
            ascii |= u128::from(label < ASCII as u32) << label.min(ASCII as u32 - 1);
        }
        take_lacking(ascii, &firsts.halves, words, |character, words| {
            if let Some(Some(many)) = firsts.ascii.get(character) {
                take(words, many);
            } else if let Some(child) = trie.child(node, character as u32) {
                unset(words, tokens(child));
            }
        });
        let is_beyond = |child: &u32| trie.label(*child) >= ASCII as u32;
        match children.iter().any(is_beyond) {
            false => take(words, &firsts.beyond),
            true => {
                let mut kept = children.iter().peekable();
                for child in trie.children(node) {
                    if kept.next_if_eq(&&child).is_none() && is_beyond(&child) {
                        unset(words, tokens(child));
                    }
                }
            }
        }
    }

    /// Whether a token has no characters but those of a class behind the first.
    fn has_only(&self, class: &[(u32, u32)], token: &BegunToken, trie: &Trie<u32>) -> bool {
        let mut at = token.node;
        loop {
            let parent = self.parent(at);
            if parent == ROOT || token.is_spaced && Some(parent) == self.space {
                return true;
            }
            if !contains(class, trie.label(at)) {
                return false;
            }
            at = parent;
        }
    }
}

/// Adds a set to another, both of 32 a word.
fn join(words: &mut [u32], others: &[u32]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
}

/// Takes a set out of another, both of 32 a word.
fn take(words: &mut [u32], others: &[u32]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word &= !other);
}

/// The characters at a place of [`PostingLists::halves`].
fn half(place: usize) -> Range<usize> {
    let frame = place.ilog2();
    let (first, size) = (place - (1 << frame), ASCII >> frame);
    first * size..(first + 1) * size
}

/// Takes out the sets of the characters of ASCII that are not among some, by halves and, where these do not do, one by
/// one.
fn take_lacking(ascii: u128, halves: &[Box<[u32]>], words: &mut [u32], mut one: impl FnMut(usize, &mut [u32])) {
    let mut open = vec![1_usize];
    while let Some(place) = open.pop() {
        let characters = half(place);
        let all = (u128::MAX >> (ASCII - characters.len())) << characters.start;
        match (ascii & all, halves.get(place)) {
            (0, Some(half)) => take(words, half),
            (some, _) if some == all => {}
            _ if 2 * place < halves.len() => open.extend([2 * place, 2 * place + 1]),
            _ => {
                let lacking = characters.filter(|character| ascii >> character & 1 == 0);
                lacking.for_each(|character| one(character, words));
            }
        }
    }
}

/// The sets of [`PostingLists::halves`], of tokens by characters; 32 a word.
fn halves(tokens: &[Vec<TokenId>], words: usize) -> Box<[Box<[u32]>]> {
    let mut halves = vec![vec![0; words]; HALVES];
    for place in (1..HALVES).rev() {
        let mut all = vec![0; words];
        match 2 * place < HALVES {
            true => {
                join(&mut all, &halves[2 * place]);
                join(&mut all, &halves[2 * place + 1]);
            }
            false => tokens[half(place)]
                .iter()
                .flatten()
                .for_each(|token| set(&mut all, *token)),
        }
        halves[place] = all;
    }
    halves.into_iter().map(Vec::into_boxed_slice).collect()
}

/// Whether a class has a character.
pub(crate) fn contains(class: &[(u32, u32)], character: u32) -> bool {
    let place = class.partition_point(|(_, last)| *last < character);
    class.get(place).is_some_and(|(first, _)| *first <= character)
}

/// The characters of two classes.
pub(crate) fn shared(one: &[(u32, u32)], other: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut both = Vec::new();
    for &(first, last) in one {
        let from = other.partition_point(|(_, end)| *end < first);
        let within = other[from..].iter().take_while(|(start, _)| *start <= last);
        both.extend(within.map(|(start, end)| (first.max(*start), last.min(*end))));
    }
    both
}

/// A class, which many characters are looked up in.
pub(crate) struct Members<'a> {
    class: &'a [(u32, u32)],
    ascii: [bool; ASCII],
}

impl<'a> Members<'a> {
    pub(crate) fn of(class: &'a [(u32, u32)]) -> Self {
        let ascii = std::array::from_fn(|character| contains(class, character as u32));
        Self { class, ascii }
    }

    pub(crate) fn has(&self, character: u32) -> bool {
        match self.ascii.get(character as usize) {
            Some(is) => *is,
            None => contains(self.class, character),
        }
    }
}

/// What is between the ranges of a class.
pub(crate) fn gaps(class: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut gaps = Vec::with_capacity(class.len() + 1);
    let mut next = 0;
    for &(first, last) in class {
        if first > next {
            gaps.push((next, first - 1));
        }
        next = last + 1;
    }
    if next <= LAST {
        gaps.push((next, LAST));
    }
    gaps
}
