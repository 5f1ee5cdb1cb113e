//! [`Runs`]: the tokens that are characters of one class, and where others leave it.
//!
//! Most patterns are loops over a class of characters (`\S+`, `[a-z0-9-]*`, `[^/]+`), and most tokens stay in such a loop
//! from their beginning to their end. Which ones do depends on the class alone. So for a class they are found once per
//! vocabulary, sorted by length; from a state of a language it is then enough to follow the loop once, and to look at the
//! tokens that leave it by a character that does not end it all.

use std::sync::Arc;

use crate::TokenId;
use crate::automaton::Decode;

use super::contents::{Contents, set};
use super::trie::first_child;

/// A class of characters, as sorted inclusive ranges.
pub(super) type Class = Arc<[(u32, u32)]>;

/// What begins below a node of the trie of contents with characters of a class.
#[derive(Debug)]
pub(super) struct Runs {
    /// By number of characters of the class, from none on.
    pub(super) lengths: Box<[Length]>,
    /// The tokens of the class only, 32 a word.
    pub(super) all: Box<[u32]>,
    /// Tokens that have begun a character after so many of the class, by what they have begun.
    pub(super) begun: Box<[Begun]>,
}

/// A character that is begun behind characters of a class.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) decode: Decode,
    /// The tokens, each with the number of characters before; sorted.
    pub(super) tokens: Box<[(u32, TokenId)]>,
}

/// What follows a number of characters of a class.
#[derive(Debug, Default)]
pub(super) struct Length {
    /// The tokens that end there.
    pub(super) tokens: Vec<TokenId>,
    /// Nodes behind a character that is not of the class, by that.
    pub(super) exits: Vec<(u32, u32)>,
}

impl Runs {
    /// Finds what begins below a node.
    pub(super) fn new(contents: &Contents, node: u32, class: &Class, words: usize) -> Self {
        let trie = &contents.inside;
        let mut lengths: Vec<Length> = vec![Length::default()];
        let mut all = vec![0; words];
        let mut begun: hashbrown::HashMap<Decode, Vec<(u32, TokenId)>> = hashbrown::HashMap::new();
        let mut is_ascii = [false; 128];
        for (character, is) in (0..).zip(&mut is_ascii) {
            *is = contains(class, character);
        }
        // Nodes stand in the order of the texts, so that one pass sees them all. Where the nodes of the class end that lead
        // to the one looked at.
        let mut path: Vec<u32> = Vec::new();
        let mut at = first_child(node);
        while at < trie.end(node) {
            while path.last().is_some_and(|end| *end <= at) {
                path.pop();
            }
            let (label, length) = (trie.label(at), path.len());
            let is_of_class = match is_ascii.get(label as usize) {
                Some(is) => *is,
                None => contains(class, label),
            };
            if !is_of_class {
                lengths[length].exits.push((label, at));
                at = trie.end(at);
                continue;
            }
            if length + 1 == lengths.len() {
                lengths.push(Length::default());
            }
            for place in trie.at(at) {
                let token = contents.tokens[place];
                match contents.begun(place) {
                    None => {
                        lengths[length + 1].tokens.push(token);
                        set(&mut all, token);
                    }
                    Some(one) => begun.entry(one.decode).or_default().push((length as u32 + 1, token)),
                }
            }
            path.push(trie.end(at));
            at = first_child(at);
        }
        for length in &mut lengths {
            length.exits.sort_unstable();
        }
        let begun = begun.into_iter().map(|(decode, mut tokens)| {
            tokens.sort_unstable();
            let tokens = tokens.into();
            Begun { decode, tokens }
        });
        Self {
            lengths: lengths.into(),
            all: all.into(),
            begun: begun.collect(),
        }
    }

    /// Bytes that it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let lengths = self
            .lengths
            .iter()
            .map(|length| 4 * length.tokens.len() + 8 * length.exits.len());
        let begun = self.begun.iter().map(|begun| 8 * begun.tokens.len());
        lengths.chain(begun).sum::<usize>() + 4 * self.all.len()
    }
}

fn contains(class: &Class, character: u32) -> bool {
    let place = class.partition_point(|(_, last)| *last < character);
    class.get(place).is_some_and(|(first, _)| *first <= character)
}
