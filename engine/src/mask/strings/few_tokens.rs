//! [`Loops`]: walks over few tokens within strings, beside a language that loops and perhaps has a bound.
//!
//! A string with a bound on the number of its characters is a language and a bound beside it, and every character read
//! makes another of the two together. So tokens are read by the language alone, which leads to few states; where one
//! ends, the lengths that the rest can have are held against what is left of the bound. Most tokens are of characters on
//! which such a language loops: what is below a node is then known where the loop begins.

use std::ops::Range;
use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, Lengths};

use crate::mask::index::contents::Contents;
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::trie::{ROOT, Trie, first_child};
use crate::mask::strings::residual::{Freedom, Residual};
use crate::mask::strings::states::{AskFree, DEAD, States};

/// Characters of ASCII.
const ASCII: u32 = 0x80;

/// What texts of a trie have below its nodes.
#[derive(Debug)]
pub(crate) struct Loops {
    below: Box<[Below]>,
    /// The characters of each text, by its place.
    lengths: Box<[u32]>,
}

/// What texts have below a node.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    /// The characters of ASCII, as bits.
    ascii: u128,
    /// Whether there are no others, whole or begun.
    is_ascii: bool,
}

impl Loops {
    /// Of the texts of a trie, with what says whether the one at a place ends within a character.
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

/// What may come where a text ends.
#[derive(Clone, Copy)]
struct Place<'a> {
    rest: LanguageId,
    /// The numbers of characters that the texts of it have; not asked for where there is no bound.
    lengths: Option<&'a Lengths>,
    /// The least and the most characters that are left of the bound, if there is one.
    left: Option<(u64, u64)>,
}

/// What is made of the texts that a language admits.
trait Visit {
    /// The texts that end where this may follow.
    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, place: Place<'_>) -> Result<(), AutomatonError>;
    /// The characters that are needed and those that are still allowed where this has followed for ever, for texts that lead
    /// back there; none where that is not easily seen.
    fn room(&self, automaton: &Automaton, place: Place<'_>) -> Option<(u64, u64)>;
    /// A text that may come.
    fn take(&mut self, place: usize);
}

/// A walk that looks at every text.
struct EveryText;

impl AskFree for EveryText {
    fn is_free(&mut self, _: &mut Automaton, _: LanguageId) -> Result<bool, AutomatonError> {
        Ok(false)
    }
}

/// The states that walks have come to, which serve those to come: the next characters of a string mostly lead to some of
/// them.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    states: States,
    /// By state, as far as it was needed.
    known: Vec<Known>,
}

impl Walked {
    /// Bytes that they take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.states.bytes() + self.known.capacity() * size_of::<Known>()
    }

    /// Forgets the states where they are too many.
    pub(crate) fn or_cleared(self) -> Self {
        match self.states.are_many() {
            true => Self::default(),
            false => self,
        }
    }
}

/// What is known of a state.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The characters of ASCII that lead back to it, as bits.
    loops: Option<u128>,
    /// The numbers of characters that may follow.
    lengths: Option<Arc<Lengths>>,
}

/// Visits the texts of a trie as far as they may come; false where a language is not of a kind for this, or the lengths of
/// what is left are not easily seen.
fn walk_on(
    automaton: &mut Automaton,
    Walked { states, known }: &mut Walked,
    (trie, loops): (&Trie<u32>, &Loops),
    language: LanguageId,
    visitor: &mut impl Visit,
) -> Result<bool, AutomatonError> {
    let bounds = automaton.split_length(language)?;
    let (unbounded, min, max) = bounds.unwrap_or((language, 0, u64::MAX));
    if automaton.is_read_singly(unbounded) || bounds.is_some() && automaton.plain_lengths(unbounded)?.is_none() {
        return Ok(false);
    }
    let root = states.number(automaton, &mut EveryText, Residual::Language(unbounded))?;
    // The ends of the nodes on the way to the one looked at, with the states there.
    let mut path: Vec<(u32, u32)> = Vec::new();
    let (mut at, mut next) = (ROOT, root);
    loop {
        let read = path.len() as u64;
        let Residual::Language(rest) = *states.rest(next) else {
            return Ok(false);
        };
        let (node, place) = (at, next as usize);
        path.push((trie.end(node), next));
        at = first_child(node);
        if !trie.at(node).is_empty() || !trie.is_leaf(node) {
            if known.len() <= place {
                known.resize(place + 1, Known::default());
            }
            let known = &mut known[place];
            if bounds.is_some() && known.lengths.is_none() {
                known.lengths = automaton.plain_lengths(rest)?;
                if known.lengths.is_none() {
                    return Ok(false);
                }
            }
            let left = (min.saturating_sub(read), if max == u64::MAX { max } else { max - read });
            let here = Place {
                rest,
                lengths: known.lengths.as_deref(),
                left: bounds.map(|_| left),
            };
            if !trie.at(node).is_empty() {
                visitor.at(automaton, trie.at(node), here)?;
            }
            let below = loops.below[node as usize];
            if !trie.is_leaf(node)
                && below.is_ascii
                && let Some((needed, allowed)) = visitor.room(automaton, here)
            {
                let looping = match known.loops {
                    Some(looping) => looping,
                    None => *known.loops.insert(looping(automaton, rest)?),
                };
                if below.ascii & !looping == 0 {
                    at = trie.end(node);
                    for place in trie.run(first_child(node), at) {
                        let more = u64::from(loops.lengths[place]) - read;
                        if (needed..=allowed).contains(&more) {
                            visitor.take(place);
                        }
                    }
                }
            }
        }
        // On to the next node that may come.
        loop {
            let Some(&(end, state)) = path.last() else {
                return Ok(true);
            };
            if at >= end {
                path.pop();
                continue;
            }
            next = states.after(automaton, &mut EveryText, state, trie.label(at))?;
            if next != DEAD && path.len() as u64 <= max {
                break;
            }
            at = trie.end(at);
        }
    }
}

/// The same as [`walk_on`], from what walks before have come to.
fn walk(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    texts: (&Trie<u32>, &Loops),
    language: LanguageId,
    visitor: &mut impl Visit,
) -> Result<bool, AutomatonError> {
    let mut walked = freedom.walked();
    let all = walk_on(automaton, &mut walked, texts, language, visitor);
    freedom.put_back_walked(walked);
    all
}

/// The characters of ASCII that lead from a language to itself, as bits.
fn looping(automaton: &mut Automaton, language: LanguageId) -> Result<u128, AutomatonError> {
    let mut looping = 0;
    for (range, target) in automaton.content_transitions(language)?.iter() {
        let (first, last) = (u32::from(range.first()), u32::from(range.last()).min(ASCII - 1));
        if *target == language && first < ASCII {
            looping |= (u128::MAX >> (ASCII - 1 - (last - first))) << first;
        }
    }
    Ok(looping)
}

/// The tokens that stay inside of a string, as they are found.
struct Inside<'a> {
    contents: &'a Contents,
    found: &'a mut Vec<TokenId>,
}

impl Visit for Inside<'_> {
    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, place: Place<'_>) -> Result<(), AutomatonError> {
        if let Some((lengths, (min, max))) = place.lengths.zip(place.left)
            && !lengths.meets(min, max)
        {
            return Ok(());
        }
        let begun = self.contents.begun_from(places.clone());
        self.found.extend_from_slice(&self.contents.tokens[places.start..begun]);
        for at in begun..places.end {
            let Some(begun) = self.contents.begun(at) else { continue };
            let rest = match place.left {
                Some(left) => automaton.bounded(place.rest, left)?,
                None => place.rest,
            };
            if automaton.content_may_begin(rest, &begun.possible)? {
                self.take(at);
            }
        }
        Ok(())
    }

    fn room(&self, _: &Automaton, place: Place<'_>) -> Option<(u64, u64)> {
        let Some((lengths, (_, max))) = place.lengths.zip(place.left) else {
            return Some((0, u64::MAX));
        };
        // What goes on for ever is long enough at last.
        let least = lengths.all_from()?;
        Some((0, max.checked_sub(least)?))
    }

    fn take(&mut self, place: usize) {
        self.found.push(self.contents.tokens[place]);
    }
}

/// The tokens that stay inside of a string of `language`; none where they have to be looked for otherwise.
pub(crate) fn inside(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    found: &mut Vec<TokenId>,
) -> Result<Option<()>, AutomatonError> {
    let Some(loops) = &contents.inside_loops else {
        return Ok(None);
    };
    let from = found.len();
    let mut visitor = Inside { contents, found };
    let all = walk(automaton, freedom, (&contents.inside, loops), language, &mut visitor)?;
    Ok(kept(all, from, found))
}

/// The tokens with a closing quote where the text may end, as they are found.
struct Closings<'a> {
    contents: &'a Contents,
    /// Whether each rest may come behind the quote.
    alive: &'a SuffixSet,
    found: &'a mut Vec<TokenId>,
}

impl Visit for Closings<'_> {
    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, place: Place<'_>) -> Result<(), AutomatonError> {
        if automaton.accepts_empty(place.rest) && place.left.is_none_or(|(min, _)| min == 0) {
            places.for_each(|at| self.take(at));
        }
        Ok(())
    }

    fn room(&self, automaton: &Automaton, place: Place<'_>) -> Option<(u64, u64)> {
        match automaton.accepts_empty(place.rest) {
            true => Some(place.left.unwrap_or((0, u64::MAX))),
            // Where one may not end none may.
            false => Some((u64::MAX, 0)),
        }
    }

    fn take(&mut self, place: usize) {
        let closing = self.contents.closings[place];
        if self.alive[closing.rest as usize] {
            self.found.push(closing.token);
        }
    }
}

/// The tokens that close a string of `language`, with a rest that is alive; none where they have to be looked for otherwise.
pub(crate) fn closings(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    alive: &SuffixSet,
    found: &mut Vec<TokenId>,
) -> Result<Option<()>, AutomatonError> {
    let from = found.len();
    let mut visitor = Closings { contents, alive, found };
    let texts = (&contents.closing, &contents.closing_loops);
    let all = walk(automaton, freedom, texts, language, &mut visitor)?;
    Ok(kept(all, from, found))
}

/// What was found after so many, if that is all there is.
fn kept(all: bool, from: usize, found: &mut Vec<TokenId>) -> Option<()> {
    if !all {
        found.truncate(from);
    }
    all.then_some(())
}
