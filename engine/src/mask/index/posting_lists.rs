//! [`PostingLists`]: for each character the nodes of the token trie at which it occurs, among tokens that stay within a string.
//!
//! Most languages of strings loop on a class of characters, and most tokens consist of one class: letters, perhaps behind a space. So
//! the tokens that a self-loop reads whole are all tokens without those that have a character outside of the class; such sets are
//! kept by character. Only tokens that leave the loop by a character with a live derivative are walked.
//! The first character of a token counts separately, and a space before it too: behind either the language has often just begun
//! to loop.

use std::sync::Arc;

use crate::TokenId;

use super::base_sets::{set, unset};
use super::contents::Contents;
use super::trie::{ROOT, Trie, first_child};

/// A class of characters, as sorted inclusive ranges that do not touch.
pub(crate) type Class = Arc<[(u32, u32)]>;

/// The last code point.
const LAST: u32 = 0x10_FFFF;
const ASCII: usize = 0x80;
/// Number of adjacent characters that share one set of tokens: classes mostly lack many adjacent characters.
const EIGHT: usize = 8;
const EIGHT_BITS: u128 = 0xFF;
/// Maximal number of tokens with a character that are kept as a list.
const MAX_LISTED: usize = 500;
/// Maximal number of second characters for which pairs are found by the second character rather than by the first.
const MAX_SECONDS: usize = 64;
/// Maximal number of tokens with characters beyond ASCII that are removed from a set one by one.
const MAX_TAKEN_SINGLY: u32 = 60_000;

/// Number of characters behind the first, and a space before that, from which on a token counts as long.
pub(crate) const LONG: usize = 16;

/// For each character the nodes of the token trie at which it occurs, and sets of tokens by their characters.
#[derive(Debug)]
pub(crate) struct PostingLists {
    parents: Box<[u32]>,
    /// The characters that occur, sorted.
    labels: Box<[u32]>,
    /// Indices at which the nodes of each character begin; one more entry than characters.
    starts: Box<[u32]>,
    nodes: Box<[u32]>,
    /// Prefix sums over characters of the numbers of tokens below their nodes; one more entry than characters.
    below: Box<[u32]>,
    /// The node of a space before all others.
    space: Option<u32>,
    /// Tokens that begin with a space and go on, and tokens that begin otherwise, 32 a word; none with a partial character.
    spaced: Box<[u32]>,
    others: Box<[u32]>,
    /// For each ASCII character the tokens that have it behind their first character, and last the tokens with characters beyond ASCII there. A space
    /// at the beginning does not count.
    behind: Box<[Set]>,
    /// For each run of [`EIGHT`] ASCII characters the tokens that have one of them behind their first character, 32 a word.
    eights: Box<[Box<[u32]>]>,
    /// Nodes at which tokens end within a character, and those of them at which it may be one of ASCII.
    partial: Box<[u32]>,
    partial_in_ascii: Box<[u32]>,
    /// The tokens that end within a character.
    partial_tokens: Box<[PartialToken]>,
    /// Nodes behind [`LONG`] characters behind the first.
    deep: Box<[u32]>,
}

/// A token that ends within a character, behind others.
#[derive(Debug)]
struct PartialToken {
    place: usize,
    node: u32,
    /// Whether the token begins with a space and goes on.
    is_spaced: bool,
    /// The characters of ASCII behind the first, as bits; a space at the beginning does not count.
    ascii: u128,
    /// Whether there are characters beyond ASCII behind the first.
    has_others: bool,
}

/// A set of tokens.
#[derive(Debug)]
enum Set {
    Few(Box<[TokenId]>),
    /// A set of bits, 32 tokens a word.
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
    /// Builds the posting lists of a vocabulary, whose sets of tokens have so many words of 32 tokens.
    pub(crate) fn new(contents: &Contents, words: usize) -> Self {
        let trie = &contents.inside;
        let space = trie.child(ROOT, ' '.into());
        let nodes = trie.end(ROOT);
        let mut parents = vec![ROOT; nodes as usize];
        let (mut spaced, mut others) = (vec![0; words], vec![0; words]);
        let mut behind = vec![Vec::new(); ASCII + 1];
        let (mut begun, mut deep) = (Vec::new(), Vec::new());
        let (mut partial_in_ascii, mut partial_tokens) = (Vec::new(), Vec::new());
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
                if let Some(begun) = contents.partial(place) {
                    ends_within = true;
                    may_be_ascii |= begun.may_be_ascii();
                    if Some(node) != space {
                        let behind = path.iter().skip(1 + usize::from(is_spaced));
                        let labels: Vec<u32> = behind.map(|(on_path, _)| trie.label(*on_path)).collect();
                        let ascii = labels.iter().filter(|label| **label < ASCII as u32);
                        partial_tokens.push(PartialToken {
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
                partial_in_ascii.push(node);
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
        let eight = |tokens: &[Vec<TokenId>]| {
            let mut all = vec![0; words];
            tokens.iter().flatten().for_each(|token| set(&mut all, *token));
            all.into()
        };
        let eights = behind[..ASCII].chunks(EIGHT).map(eight).collect();
        let behind = behind.into_iter().map(|tokens| match tokens.len() < MAX_LISTED {
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
            eights,
            partial: begun.into(),
            partial_in_ascii: partial_in_ascii.into(),
            partial_tokens: partial_tokens.into(),
            deep: deep.into(),
        }
    }

    /// The node of a space before all others.
    pub(crate) fn space(&self) -> Option<u32> {
        self.space
    }

    /// The parent of a node that is not the root.
    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// A superset of the nodes, without the root, at which tokens end within a character that may be one of some.
    pub(crate) fn partial(&self, characters: &[(u32, u32)]) -> &[u32] {
        match characters.last() {
            None => &[],
            Some((_, last)) if *last < ASCII as u32 => &self.partial_in_ascii,
            Some(_) => &self.partial,
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

    /// Adds the nodes behind a character of a range and then one of some ranges to others, up to about so many in all.
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
            if labels.len() > MAX_SECONDS {
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

    /// Returns a class, or only its part in ASCII where the tokens with other characters that it lacks are too many to be taken
    /// out one by one.
    pub(crate) fn handy(&self, class: &[(u32, u32)]) -> Class {
        let below = |(first, last): (u32, u32)| {
            let place = |label: u32| self.below[self.labels.partition_point(|other| *other < label)];
            place(last.saturating_add(1)) - place(first)
        };
        if self.lacking(class).map(below).sum::<u32>() <= MAX_TAKEN_SINGLY {
            return class.into();
        }
        let ascii = class.iter().filter(|(first, _)| *first < ASCII as u32);
        ascii
            .map(|(first, last)| (*first, (*last).min(ASCII as u32 - 1)))
            .collect()
    }

    /// The characters beyond ASCII that a class lacks, if it has any beyond ASCII.
    fn lacking(&self, class: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32)> {
        let has_any = class.last().is_some_and(|(_, last)| *last >= ASCII as u32);
        let gaps = gaps(class)
            .into_iter()
            .filter(move |(_, last)| has_any && *last >= ASCII as u32);
        gaps.map(|(first, last)| (first.max(ASCII as u32), last))
    }

    /// Returns the tokens below a node, which is the root or [`space`](Self::space), whose characters behind the first are all of a class,
    /// partial ones included; 32 a word. Below the root tokens are left out that begin with a space. Returns as well the nodes of tokens
    /// whose whole characters are of the class but whose partial character is not.
    pub(crate) fn within(&self, class: &[(u32, u32)], node: u32, contents: &Contents) -> (Vec<u32>, Vec<u32>) {
        let all = match node {
            ROOT => &self.others,
            _ => &self.spaced,
        };
        let mut within = all.to_vec();
        let ascii = (0..ASCII as u32).filter(|label| contains(class, *label));
        let ascii = ascii.fold(0, |bits: u128, label| bits | 1 << label);
        for (characters, eight) in (0..ASCII).step_by(EIGHT).zip(&self.eights) {
            match ascii >> characters & EIGHT_BITS {
                0 => take(&mut within, eight),
                EIGHT_BITS => {}
                some => {
                    let lacking = (0..EIGHT).filter(|character| some >> character & 1 == 0);
                    lacking.for_each(|character| self.behind[characters + character].take_from(&mut within));
                }
            }
        }
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
        let mut partial_beyond = Vec::new();
        for token in &self.partial_tokens {
            if token.is_spaced == (node != ROOT)
                && token.ascii & !ascii == 0
                && (!token.has_others || self.has_only(class, token, trie))
            {
                match contents
                    .partial(token.place)
                    .is_some_and(|begun| begun.may_be_of(class))
                {
                    true => set(&mut within, contents.tokens[token.place]),
                    false if partial_beyond.last() == Some(&token.node) => {}
                    false => partial_beyond.push(token.node),
                }
            }
        }
        (within, partial_beyond)
    }

    /// Whether a token has no characters but those of a class behind the first.
    fn has_only(&self, class: &[(u32, u32)], token: &PartialToken, trie: &Trie<u32>) -> bool {
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

/// Removes a set from another, both of 32 tokens a word.
fn take(words: &mut [u32], others: &[u32]) {
    words.iter_mut().zip(others).for_each(|(word, other)| *word &= !other);
}

/// Whether a class has a character.
pub(crate) fn contains(class: &[(u32, u32)], character: u32) -> bool {
    let place = class.partition_point(|(_, last)| *last < character);
    class.get(place).is_some_and(|(first, _)| *first <= character)
}

/// The intersection of two classes.
pub(crate) fn shared(one: &[(u32, u32)], other: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut both = Vec::new();
    for &(first, last) in one {
        let from = other.partition_point(|(_, end)| *end < first);
        let within = other[from..].iter().take_while(|(start, _)| *start <= last);
        both.extend(within.map(|(start, end)| (first.max(*start), last.min(*end))));
    }
    both
}

/// A class prepared for look-ups of many characters.
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

/// The ranges of characters that are not in a class.
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
