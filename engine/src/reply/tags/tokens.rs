//! [`TagTokens`]: the index of a vocabulary for structural tags: names, sets of tokens, and tokens that cross the end of a content.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::mask::cache::bounded::lock;
use crate::mask::index::base_sets::set;
use crate::mask::index::tokens::{Spelled, TokenIndex};
use crate::mask::index::trie::{ROOT, Trie, first_child};
use crate::{TokenId, TokenKind, Vocabulary};

use super::contents::Marks;
use super::format::Unit;
use super::literal::{SpecialNames, is_lead};
use super::program::ByteSet;
use super::region::Within;

/// Maximal number of cached lists of crossing tokens: mostly all tags of a model family share one list.
const MAX_CROSSING: usize = 64;

/// The index of a vocabulary for structural tags: names, single bytes, sets of tokens, and tokens that cross the end of a content.
#[derive(Debug)]
pub(in crate::reply) struct TagTokens {
    pub(super) names: SpecialNames,
    /// The bytes that are tokens by themselves.
    pub(super) bytes: ByteSet,
    /// The special tokens that end no sequence, 32 a word.
    pub(super) special: Box<[u32]>,
    /// The tokens of `special` and all tokens of text, 32 a word.
    pub(super) any: Box<[u32]>,
    /// The tokens of text that begin at the start of a character, and whose characters are whole except perhaps the last, 32 a word.
    pub(super) text: Box<[u32]>,
    pub(super) nodes: NodesByBytes,
    /// For each seam the tokens that cross it.
    crossing: Mutex<HashMap<Seam, Arc<Spelled>>>,
    /// The texts that documents in the styles of parameters never have in them.
    marks: Mutex<HashMap<&'static [&'static str], Arc<Marks>>>,
}

impl TagTokens {
    pub(in crate::reply) fn new(vocabulary: &Vocabulary, index: &TokenIndex) -> Self {
        let mut special = vec![0; vocabulary.len().div_ceil(32)];
        let (mut any, mut text) = (special.clone(), special.clone());
        for token in 0..vocabulary.len() as TokenId {
            if vocabulary.is_eos(token) {
                continue;
            }
            match vocabulary.kind(token) {
                TokenKind::Special => {
                    set(&mut special, token);
                    set(&mut any, token);
                }
                TokenKind::Text if !vocabulary.token_bytes(token).is_empty() => set(&mut any, token),
                TokenKind::Text | TokenKind::Unused => {}
            }
        }
        let Spelled { trie, tokens } = &index.every;
        for &token in tokens {
            let mut bytes = vocabulary.token_bytes(token).iter();
            let read = bytes.try_fold(Within::Between, |within, byte| match is_lead(*byte) {
                true => None,
                false => within.step(*byte, Unit::Text),
            });
            if read.is_some() {
                set(&mut text, token);
            }
        }
        let mut bytes = ByteSet::default();
        let single = (0..=u8::MAX).filter(|byte| vocabulary.token_of(&[*byte]).is_some());
        single.for_each(|byte| bytes.insert(byte));
        Self {
            names: SpecialNames::new(vocabulary),
            bytes,
            special: special.into(),
            any: any.into(),
            text: text.into(),
            nodes: NodesByBytes::new(trie),
            crossing: Mutex::default(),
            marks: Mutex::default(),
        }
    }

    /// Returns what is known of some texts that documents never have in them.
    pub(super) fn marks(&self, texts: &'static [&'static str]) -> Arc<Marks> {
        let mut marks = lock(&self.marks);
        marks
            .entry(texts)
            .or_insert_with(|| Arc::new(Marks::new(texts)))
            .clone()
    }

    /// Returns the tokens that may cross a seam.
    pub(super) fn crossing(&self, seam: Seam, index: &TokenIndex, vocabulary: &Vocabulary) -> Arc<Spelled> {
        if let Some(known) = lock(&self.crossing).get(&seam) {
            return known.clone();
        }
        let Spelled { trie, tokens } = &index.every;
        let mut runs: Vec<Range<u32>> = Vec::new();
        for byte in (0..=u8::MAX).filter(|byte| seam.first.contains(*byte)) {
            for before in (0..=u8::MAX).filter(|before| seam.last.contains(*before)) {
                for &node in self.nodes.behind(before, byte) {
                    // Tokens end within the text, or go on behind it.
                    let mut at = node;
                    for &next in seam.text.iter().skip(1) {
                        let Some(child) = trie.child(at, next) else {
                            runs.push(at..first_child(at));
                            at = ROOT;
                            break;
                        };
                        runs.push(at..first_child(at));
                        at = child;
                    }
                    if at != ROOT {
                        runs.push(at..trie.end(at));
                    }
                }
            }
        }
        // Of runs one within the other, the inner one comes later.
        runs.sort_unstable_by_key(|run| (run.start, Reverse(run.end)));
        let (mut spelled, mut end) = (Vec::new(), 0);
        for run in runs.into_iter() {
            if run.start < end {
                continue;
            }
            end = run.end;
            let tokens = tokens[trie.run(run.start, run.end)].iter();
            spelled.extend(tokens.map(|token| (vocabulary.token_bytes(*token).to_vec(), *token)));
        }
        let spelled = Arc::new(Spelled::new(spelled));
        let mut crossing = lock(&self.crossing);
        if crossing.len() >= MAX_CROSSING {
            crossing.clear();
        }
        crossing.insert(seam, spelled.clone());
        spelled
    }
}

/// The boundary between a content and the text behind it, by the bytes on either side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seam {
    /// The last bytes of the content's texts, or a superset of these bytes.
    pub(super) last: ByteSet,
    /// The bytes that may follow the content.
    pub(super) first: ByteSet,
    /// The fixed text with which everything behind the content begins.
    pub(super) text: SmallVec<[u8; 16]>,
}

/// The nodes of the trie of all tokens of text by the byte that leads to them and the one before it.
#[derive(Debug)]
pub(super) struct NodesByBytes {
    nodes: Box<[u32]>,
    /// Indices at which the nodes of each pair of a byte and the byte before it begin; one more than there are pairs.
    starts: Box<[u32]>,
}

/// Bytes that may come before one, and none.
const BEFORE: usize = 257;

impl NodesByBytes {
    fn new(trie: &Trie<u8>) -> Self {
        // The index of each node's pair. A node's children come after it.
        let mut pairs = vec![0; trie.end(ROOT) as usize];
        for parent in ROOT..trie.end(ROOT) {
            let before = match parent {
                ROOT => BEFORE - 1,
                parent => usize::from(trie.label(parent)),
            };
            for child in trie.children(parent) {
                pairs[child as usize] = (usize::from(trie.label(child)) * BEFORE + before) as u32;
            }
        }
        let mut starts = vec![0; 256 * BEFORE + 1];
        let of_children = first_child(ROOT)..trie.end(ROOT);
        of_children
            .clone()
            .for_each(|node| starts[pairs[node as usize] as usize + 1] += 1);
        for pair in 1..starts.len() {
            starts[pair] += starts[pair - 1];
        }
        let (mut nodes, mut next) = (vec![0; of_children.len()], starts.clone());
        for node in of_children {
            let place = &mut next[pairs[node as usize] as usize];
            nodes[*place as usize] = node;
            *place += 1;
        }
        Self {
            nodes: nodes.into(),
            starts: starts.into(),
        }
    }

    /// The nodes that a byte leads to.
    pub(super) fn of(&self, byte: u8) -> &[u32] {
        let from = usize::from(byte) * BEFORE;
        &self.nodes[self.starts[from] as usize..self.starts[from + BEFORE] as usize]
    }

    /// The nodes that are reached by the byte `before` and then `byte`.
    fn behind(&self, before: u8, byte: u8) -> &[u32] {
        let pair = usize::from(byte) * BEFORE + usize::from(before);
        &self.nodes[self.starts[pair] as usize..self.starts[pair + 1] as usize]
    }
}
