//! [`CharactersBelow`]: for each node of a trie the set of characters below it, and for each text its number of characters.
//!
//! Where a language loops on all characters below a node, the tokens below the node are judged at the node, without a walk.

use super::trie::{ROOT, Trie, first_child};

/// Characters of ASCII.
const ASCII: u32 = 0x80;

/// The characters that the texts of a trie have below its nodes.
#[derive(Debug)]
pub(crate) struct CharactersBelow {
    pub(crate) below: Box<[Below]>,
    /// The characters of each text, by its place.
    pub(crate) lengths: Box<[u32]>,
}

/// The characters of texts below a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Below {
    /// The characters of ASCII, as bits.
    pub(crate) ascii: u128,
    /// Whether there are no other characters, whole or partial.
    pub(crate) is_ascii: bool,
}

impl CharactersBelow {
    /// Collects the characters of a trie's texts; `is_begun` tells whether the text at a place ends with a partial character.
    pub(crate) fn new(trie: &Trie<u32>, is_begun: impl Fn(usize) -> bool) -> Self {
        let mut below = vec![Below::default(); trie.end(ROOT) as usize];
        let mut lengths = vec![0; trie.run(ROOT, trie.end(ROOT)).end];
        for node in (ROOT..trie.end(ROOT)).rev() {
            let mut all = Below {
                is_ascii: true,
                ..Below::default()
            };
            for child in trie.children(node) {
                let (label, behind) = (trie.label(child), below[child as usize]);
                all.is_ascii &= behind.is_ascii && label < ASCII && !trie.at(child).any(&is_begun);
                all.ascii |= behind.ascii | if label < ASCII { 1 << label } else { 0 };
            }
            below[node as usize] = all;
        }
        // The ends of the nodes on the way.
        let mut path: Vec<u32> = Vec::new();
        for node in first_child(ROOT)..trie.end(ROOT) {
            while path.last().is_some_and(|end| *end <= node) {
                path.pop();
            }
            path.push(trie.end(node));
            lengths[trie.at(node)].fill(path.len() as u32);
        }
        Self {
            below: below.into(),
            lengths: lengths.into(),
        }
    }
}
