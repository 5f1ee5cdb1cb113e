//! [`MaskFinder`]: the token mask of a set of threads.
//!
//! A mask is the union of the masks of single threads:
//!
//! - At the beginning of free text it is the vocabulary's set of all tokens of text, corrected for tokens in which a pattern ends. At other
//!   places of free text only tokens are walked over for which the pattern automaton steps otherwise than from the beginning.
//! - In a content it is the engine's own mask, joined with a walk over the tokens that may cross the content's end: those with a byte that may
//!   end the content before a byte that may follow it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::automaton::AutomatonError;
use crate::mask::cache::sharded::ShardedCache;
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::base_sets::{BaseSets, Words, bit, set, unset};
use crate::mask::index::tokens::{Spelled, TokenIndex};
use crate::mask::index::trie::{ROOT, Trie, first_child};
use crate::{TokenId, Vocabulary};

use super::contents::Inside;
use super::format::Unit;
use super::literal::is_lead;
use super::program::{ByteSet, PointId, Program, Thread, Threads};
use super::region::{FreeStep, Place, Within};
use super::threads::Stepper;
use super::tokens::{Seam, TagTokens};

/// Maximal number of tokens that are read one by one instead of by a walk.
const MAX_SINGLE: usize = 64;

/// Whether bytes can be those of a token of text: not empty, and without an encoded token.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.iter().any(|byte| is_lead(*byte))
}

/// The tokens allowed in free text that the tag does not name, 32 a word.
#[derive(Debug)]
pub(super) struct UnnamedTokens {
    special: Words,
    any: Words,
}

impl UnnamedTokens {
    pub(super) fn new(tokens: &TagTokens, program: &Program) -> Self {
        let named: Vec<TokenId> = program.named.iter().map(|(token, _)| *token).collect();
        let without = |words: &[u32]| {
            let mut words = words.to_vec();
            unset(&mut words, &named);
            words.into()
        };
        Self {
            special: without(&tokens.special),
            any: without(&tokens.any),
        }
    }
}

/// Whether a set has a token in its base, which may be taken out of it.
fn is_of_base(tokens: &TokenSet, token: TokenId, sets: &BaseSets) -> bool {
    let words = tokens.base.words(sets);
    !words.is_empty() && bit(words, token)
}

/// Whether a set has a token.
pub(super) fn has(tokens: &TokenSet, token: TokenId, sets: &BaseSets) -> bool {
    is_of_base(tokens, token, sets) && !tokens.without.contains(&token)
        || tokens.with.iter().any(|list| list.contains(&token))
}

/// Computes the masks of sets of threads.
pub(super) struct MaskFinder<'a> {
    pub(super) stepper: Stepper<'a>,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) tokens: &'a TagTokens,
    pub(super) unnamed: &'a UnnamedTokens,
    pub(super) index: &'a TokenIndex,
    /// Cached masks of free text, by region and place.
    pub(super) free: &'a ShardedCache<(PointId, Place), Words>,
}

impl MaskFinder<'_> {
    /// Returns the mask of some threads: the tokens of which some thread reads all bytes.
    pub(super) fn find(&self, threads: &[Thread]) -> Result<TokenSet, AutomatonError> {
        let (mut sets, mut words, mut found) = (Vec::new(), Vec::new(), Vec::new());
        let mut walked = Threads::new();
        let behind = self.stepper.behind_all(threads)?;
        for thread in threads.iter().chain(&behind) {
            match *thread {
                Thread::End => {}
                Thread::Branch(_) => walked.push(*thread),
                Thread::Free(point, place) => words.push(self.free_text(point, place)?),
                Thread::Content(point, state) => {
                    let Some((content, next)) = self.stepper.program.content(point) else {
                        continue;
                    };
                    let content = self.stepper.contents.get(content);
                    let mut inside = None;
                    match content.inside(state, self.vocabulary)? {
                        Inside::Tokens(tokens) => sets.push(tokens),
                        Inside::Text(tokens) => {
                            inside = Some(tokens.clone());
                            words.push(tokens);
                        }
                        Inside::Unknown => {
                            walked.push(*thread);
                            continue;
                        }
                    }
                    let first = self.stepper.program.entry(next).first;
                    if first != ByteSet::default() {
                        let seam = Seam {
                            last: content.last()?,
                            first,
                            text: self.stepper.program.fixed_text(next),
                        };
                        let crossing = self.tokens.crossing(seam, self.index, self.vocabulary);
                        self.walk_beyond(&crossing, *thread, inside.as_ref().map(|words| &words[..]), &mut found)?;
                    }
                }
            }
        }
        if !walked.is_empty() {
            self.walk(&self.index.every, &walked, &mut found)?;
        }
        for (token, bytes) in self.stepper.program.named.iter() {
            let is_end = self.vocabulary.is_eos(*token);
            let stepper = Stepper { is_end, ..self.stepper };
            if !stepper.step_all(threads, bytes)?.is_empty() {
                found.push(*token);
            }
        }
        if self.stepper.is_complete(threads)? {
            found.extend(self.vocabulary.eos_tokens());
        }
        found.sort_unstable();
        found.dedup();
        Ok(self.joined(sets, words, found))
    }

    /// Returns the union of sets, of words and of a list of tokens.
    fn joined(&self, sets: Vec<Arc<TokenSet>>, words: Vec<Words>, mut found: Vec<TokenId>) -> TokenSet {
        let base = &self.index.sets;
        let tokens = match (&sets[..], &words[..]) {
            ([], []) => return TokenSet::of(&found, self.index.len),
            ([tokens], []) => tokens.as_ref().clone(),
            ([], [words]) => TokenSet::over(Base::Kept(words.clone())),
            _ => {
                let mut all = vec![0; base.any.len()];
                let sets = sets.iter().map(|tokens| tokens.words(base));
                for more in sets.chain(words.iter().map(|words| words.to_vec())) {
                    all.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
                }
                TokenSet::over(Base::Words(all.into()))
            }
        };
        found.retain(|token| !has(&tokens, *token, base));
        match found.iter().any(|token| is_of_base(&tokens, *token, base)) {
            true => tokens.or(&found, base),
            false => tokens.and_these(&found),
        }
    }

    /// Adds the tokens among some that lead on from a thread in a content, where all that stay in it are known to be `inside`.
    fn walk_beyond(
        &self,
        crossing: &Spelled,
        thread: Thread,
        inside: Option<&[u32]>,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        // If nearly all texts are allowed inside, few tokens are left and are tried singly; otherwise a walk over the trie ends soon.
        let left = inside.and_then(|inside| {
            let left = crossing.tokens.iter().filter(|token| !bit(inside, **token));
            let left: SmallVec<[TokenId; MAX_SINGLE]> = left.copied().take(MAX_SINGLE + 1).collect();
            (left.len() <= MAX_SINGLE).then_some(left)
        });
        let Some(left) = left else {
            return self.walk(crossing, &[thread], found);
        };
        for token in left {
            let bytes = self.vocabulary.token_bytes(token);
            if is_text(bytes) && !self.stepper.step_all(&[thread], bytes)?.is_empty() {
                found.push(token);
            }
        }
        Ok(())
    }

    /// Adds the tokens of a trie that lead on from some threads.
    fn walk(&self, spelled: &Spelled, from: &[Thread], found: &mut Vec<TokenId>) -> Result<(), AutomatonError> {
        let step = |threads: &Threads, byte| {
            if is_lead(byte) {
                return Ok(None);
            }
            let next = self.stepper.step(threads, byte)?;
            Ok(Some(next).filter(|next| !next.is_empty()))
        };
        spelled.walk(Threads::from_slice(from), step, found)
    }

    /// The tokens that may come in free text, besides those that the tag names.
    fn free_text(&self, point: PointId, place: Place) -> Result<Words, AutomatonError> {
        if let Some(known) = self.free.get(&(point, place)) {
            return Ok(known);
        }
        let Some(region) = self.stepper.program.region(point) else {
            return Ok(Words::default());
        };
        let is_between = place.within == Within::Between;
        let words: Words = match region.unit() {
            Unit::Tokens if is_between => self.unnamed.any.clone(),
            // No token ends within one that stands for itself.
            Unit::Tokens => vec![0; self.index.sets.any.len()].into(),
            Unit::Text if is_between && place != region.begin() => {
                let begin = self.free_text(point, region.begin())?;
                let mut words = begin.to_vec();
                self.walk_free(point, place, Some(region.begin()), &mut words)?;
                words.into()
            }
            Unit::Text if is_between => {
                let mut words = self.tokens.text.to_vec();
                words
                    .iter_mut()
                    .zip(self.unnamed.special.iter())
                    .for_each(|(word, more)| *word |= more);
                self.cut_patterns(point, &mut words)?;
                words.into()
            }
            Unit::Text => {
                let mut words = vec![0; self.index.sets.any.len()];
                self.walk_free(point, place, None, &mut words)?;
                words.into()
            }
        };
        self.free.keep((point, place), words.clone(), 4 * words.len());
        Ok(words)
    }

    /// Sets the tokens of text that lead on from a place in free text, where `words` have those from `beside`, or none.
    fn walk_free(
        &self,
        point: PointId,
        from: Place,
        beside: Option<Place>,
        words: &mut [u32],
    ) -> Result<(), AutomatonError> {
        let Some(region) = self.stepper.program.region(point) else {
            return Ok(());
        };
        let Spelled { trie, tokens } = &self.index.every;
        let (mut path, mut node) = (Vec::new(), first_child(ROOT));
        let mut open = vec![(trie.end(ROOT), from, beside)];
        while let Some(&(end, place, other)) = open.last() {
            if node >= end {
                open.pop();
                path.pop();
                continue;
            }
            let (byte, behind) = (trie.label(node), trie.end(node));
            let step = match is_lead(byte) {
                true => FreeStep::Refused,
                false => region.step(place, byte),
            };
            let other = other.map(|other| match is_lead(byte) {
                true => FreeStep::Refused,
                false => region.step(other, byte),
            });
            let may_leave = match step {
                FreeStep::Found(_) => true,
                // A text that was followed for a pattern may end before it, where the pattern cannot be read on.
                FreeStep::Refused => region.cuts_characters() && !is_lead(byte),
                FreeStep::On(_) | FreeStep::Left => false,
            };
            if other == Some(step) && !may_leave {
                // The subtree has the same result as from the other place.
                node = behind;
                continue;
            }
            if beside.is_some() {
                unset(words, &tokens[trie.at(node)]);
            }
            if let FreeStep::On(next) = step {
                tokens[trie.at(node)].iter().for_each(|token| set(words, *token));
                if !trie.is_leaf(node) {
                    let other = match other {
                        Some(FreeStep::On(other)) => Some(other),
                        _ => None,
                    };
                    open.push((behind, next, other));
                    path.push(byte);
                }
                node += 1;
                continue;
            }
            if beside.is_some() {
                unset(words, &tokens[trie.run(node, behind)]);
            }
            if may_leave {
                path.push(byte);
                self.follow(point, from, &path, node, words)?;
                path.pop();
            }
            node = behind;
        }
        Ok(())
    }

    /// Corrects the set of all tokens of text at the beginning of free text: tokens in which a pattern ends are walked over.
    fn cut_patterns(&self, point: PointId, words: &mut [u32]) -> Result<(), AutomatonError> {
        let Some(region) = self.stepper.program.region(point) else {
            return Ok(());
        };
        let (trie, begin) = (&self.index.every.trie, region.begin());
        let mut firsts: Vec<u8> = region.firsts().filter(|byte| !is_lead(*byte)).collect();
        firsts.sort_unstable();
        firsts.dedup();
        for first in firsts {
            // A pattern is read from where it begins, as long as some pattern is.
            let nodes = self.tokens.nodes.of(first).iter();
            let mut open: Vec<(u32, FreeStep)> = nodes.map(|node| (*node, region.step(begin, first))).collect();
            while let Some((node, step)) = open.pop() {
                match step {
                    FreeStep::Found(_) | FreeStep::Refused => {
                        self.follow(point, begin, &path_to(trie, node), node, words)?;
                    }
                    FreeStep::On(place) if place.read != begin.read => {
                        let children = trie.children(node).map(|child| (child, trie.label(child)));
                        let children = children.filter(|(_, byte)| !is_lead(*byte));
                        open.extend(children.map(|(child, byte)| (child, region.step(place, byte))));
                    }
                    FreeStep::On(_) | FreeStep::Left => {}
                }
            }
        }
        Ok(())
    }

    /// Sets, of the tokens below a node and at it, those that lead on from a place in free text; `path` leads to the node.
    fn follow(
        &self,
        point: PointId,
        from: Place,
        path: &[u8],
        node: u32,
        words: &mut [u32],
    ) -> Result<(), AutomatonError> {
        let Spelled { trie, tokens } = &self.index.every;
        unset(words, &tokens[trie.run(node, trie.end(node))]);
        let threads = self.stepper.step_all(&[Thread::Free(point, from)], path)?;
        if threads.is_empty() {
            return Ok(());
        }
        tokens[trie.at(node)].iter().for_each(|token| set(words, *token));
        trie.descend(node, threads, |node, threads| {
            let byte = trie.label(node);
            let next = match is_lead(byte) {
                true => Threads::new(),
                false => self.stepper.step(threads, byte)?,
            };
            if next.is_empty() {
                return Ok(None);
            }
            tokens[trie.at(node)].iter().for_each(|token| set(words, *token));
            Ok(Some(next))
        })
    }
}

/// The bytes that lead to a node.
fn path_to(trie: &Trie<u8>, node: u32) -> Vec<u8> {
    let (mut at, mut path) = (ROOT, Vec::new());
    while at != node
        && let Some(child) = trie.children(at).find(|child| node < trie.end(*child))
    {
        path.push(trie.label(child));
        at = child;
    }
    path
}
