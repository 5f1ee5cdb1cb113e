//! Masks over few tokens within strings, beside a language that loops and may have a bound on its length.
//!
//! A string with a bound on the number of its characters is an unbounded language and a counter, and each character read
//! makes another state of the two together. So tokens are walked in the unbounded language, which has few states; at the end of each token
//! the possible lengths of the remaining text are compared with the counter. Most tokens consist of characters on
//! which such a language loops: the tokens below a node are then judged where the loop begins.

use std::ops::Range;
use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::mask::index::characters_below::CharactersBelow;
use crate::mask::index::contents::Contents;
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::trie::{ROOT, Trie, first_child};
use crate::strings::{LanguageId, Lengths};

use super::residual::Residual;
use super::residual_states::{DEAD, ResidualStates};

/// Characters of ASCII.
const ASCII: u32 = 0x80;

/// The states that walks have come to, which serve those to come: the next characters of a string mostly lead to some of
/// them.
#[derive(Debug, Default)]
pub(crate) struct FewTokensCache {
    states: ResidualStates,
    /// The facts about each state, as far as they were needed.
    known: Vec<KnownState>,
}

/// Facts about a state, as far as they were needed.
#[derive(Clone, Debug, Default)]
struct KnownState {
    /// The characters of ASCII that lead back to it, as bits.
    loops: Option<u128>,
    /// The numbers of characters that may follow.
    lengths: Option<Arc<Lengths>>,
}

impl FewTokensCache {
    /// Bytes that the states take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.states.bytes() + self.known.capacity() * size_of::<KnownState>()
    }
}

/// The tokens that a walk looks for.
#[derive(Clone, Copy)]
pub(crate) enum WantedTokens<'a> {
    /// The tokens that stay inside of the string.
    Inside,
    /// The tokens with a closing quote where the text may end, and one of these suffixes behind it.
    Closing(&'a SuffixSet),
}

/// The least and the most characters that are left of a bound.
type RemainingLengths = Option<(u64, u64)>;

/// The tokens that a walk has found.
struct FewTokens<'a> {
    contents: &'a Contents,
    wanted: WantedTokens<'a>,
    found: &'a mut Vec<TokenId>,
}

impl FewTokens<'_> {
    /// Looks at the tokens that end where this may follow. Its lengths are given where there is a bound.
    fn at(
        &mut self,
        automaton: &mut Automaton,
        places: Range<usize>,
        residual: &Residual,
        (lengths, left): (Option<&Lengths>, RemainingLengths),
    ) -> Result<(), AutomatonError> {
        if let WantedTokens::Closing(_) = self.wanted {
            if residual.accepts(automaton) && left.is_none_or(|(min, _)| min == 0) {
                self.take(places);
            }
            return Ok(());
        }
        if let Some((lengths, (min, max))) = lengths.zip(left)
            && !lengths.meets(min, max)
        {
            return Ok(());
        }
        let begun = self.contents.partial_from(places.clone());
        self.found.extend_from_slice(&self.contents.tokens[places.start..begun]);
        for at in begun..places.end {
            let Some(begun) = self.contents.partial(at) else {
                continue;
            };
            let may = match (residual, left) {
                (Residual::CustomDfa(machine), Some(left)) => {
                    let bounded = machine.within(left);
                    bounded.may_begin(automaton.languages_mut(), &begun.possible)?
                }
                (Residual::Language(language), Some(left)) => {
                    let bounded = automaton.bounded(*language, left)?;
                    automaton.languages_mut().may_begin(bounded, &begun.possible)?
                }
                _ => residual.may_begin(automaton, &begun.possible)?,
            };
            if may {
                self.found.push(self.contents.tokens[at]);
            }
        }
        Ok(())
    }

    /// The characters that are needed and those that are still allowed where this follows for ever, for texts that lead back
    /// there; none where that is not easily seen.
    fn room(
        &self,
        automaton: &Automaton,
        language: LanguageId,
        lengths: Option<&Lengths>,
        left: RemainingLengths,
    ) -> RemainingLengths {
        match self.wanted {
            WantedTokens::Inside => {
                let Some((lengths, (_, max))) = lengths.zip(left) else {
                    return Some((0, u64::MAX));
                };
                // Texts that go on without end are long enough at last.
                let least = lengths.all_from()?;
                Some((0, max.checked_sub(least)?))
            }
            WantedTokens::Closing(_) if automaton.languages().accepts_empty(language) => {
                Some(left.unwrap_or((0, u64::MAX)))
            }
            // The language does not accept the empty text, so a text that leads back to it cannot end the string.
            WantedTokens::Closing(_) => Some((u64::MAX, 0)),
        }
    }

    /// Takes the tokens at some places.
    #[inline]
    fn take(&mut self, places: impl Iterator<Item = usize>) {
        match self.wanted {
            WantedTokens::Inside => self.found.extend(places.map(|place| self.contents.tokens[place])),
            WantedTokens::Closing(viable) => {
                for place in places {
                    let closing = self.contents.closings[place];
                    if viable[closing.suffix as usize] {
                        self.found.push(closing.token);
                    }
                }
            }
        }
    }

    /// Walks over the tokens as far as a language, without its bound, admits them; false where the remaining lengths are not easily
    /// seen, so that the bound has to be read with the language.
    fn walk(
        &mut self,
        automaton: &mut Automaton,
        FewTokensCache { states, known }: &mut FewTokensCache,
        root: Residual,
        bound: RemainingLengths,
    ) -> Result<bool, AutomatonError> {
        let (trie, below): (&Trie<u32>, Option<&CharactersBelow>) = match self.wanted {
            WantedTokens::Inside => (&self.contents.inside, self.contents.inside_below.as_ref()),
            WantedTokens::Closing(_) => (&self.contents.closing, Some(&self.contents.closing_below)),
        };
        let (min, max) = bound.unwrap_or((0, u64::MAX));
        // A custom DFA, or what it is part of, is read one character at a time wherever it has come to.
        let may_loop =
            matches!(root, Residual::Language(language) if !automaton.languages().is_non_enumerable(language));
        // The ends of the nodes on the way to the one looked at, with the states there.
        let mut path: Vec<(u32, u32)> = Vec::new();
        let (mut at, mut next) = (ROOT, states.number(automaton, None, root)?);
        loop {
            let read = path.len() as u64;
            let (node, place) = (at, next as usize);
            path.push((trie.end(node), next));
            at = first_child(node);
            if !trie.at(node).is_empty() || !trie.is_leaf(node) {
                if known.len() <= place {
                    known.resize(place + 1, KnownState::default());
                }
                let (known, residual) = (&mut known[place], states.residual(next));
                if bound.is_some() && known.lengths.is_none() {
                    known.lengths = residual.lengths(automaton)?;
                    if known.lengths.is_none() {
                        return Ok(false);
                    }
                }
                let left = bound.map(|_| (min.saturating_sub(read), if max == u64::MAX { max } else { max - read }));
                if !trie.at(node).is_empty() {
                    self.at(automaton, trie.at(node), residual, (known.lengths.as_deref(), left))?;
                }
                if may_loop
                    && !trie.is_leaf(node)
                    && let Some(below) = below
                    && below.below[node as usize].is_ascii
                    && let Residual::Language(language) = *residual
                    && let Some((needed, allowed)) = self.room(automaton, language, known.lengths.as_deref(), left)
                {
                    let looping = match known.loops {
                        Some(looping) => looping,
                        None => *known.loops.insert(looping(automaton, language)?),
                    };
                    if below.below[node as usize].ascii & !looping == 0 {
                        at = trie.end(node);
                        let places = trie.run(first_child(node), at);
                        self.take(places.filter(|place| {
                            let more = u64::from(below.lengths[*place]) - read;
                            (needed..=allowed).contains(&more)
                        }));
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
                next = states.after(automaton, None, state, trie.label(at))?;
                if next != DEAD && path.len() as u64 <= max {
                    break;
                }
                at = trie.end(at);
            }
        }
    }

    /// Finds the tokens, with the states that walks before have come to.
    fn find(
        mut self,
        automaton: &mut Automaton,
        cache: &mut FewTokensCache,
        language: LanguageId,
    ) -> Result<(), AutomatonError> {
        // Each token leads to a language of its own where these cannot be enumerated.
        let is_trial = automaton.languages().is_non_enumerable(language);
        if is_trial {
            automaton.languages_mut().begin();
        }
        let found = self.find_within(automaton, cache, language);
        if (is_trial && automaton.languages_mut().end()) || cache.states.are_many() {
            *cache = FewTokensCache::default();
        }
        found
    }

    fn find_within(
        &mut self,
        automaton: &mut Automaton,
        cache: &mut FewTokensCache,
        language: LanguageId,
    ) -> Result<(), AutomatonError> {
        let from = self.found.len();
        if let Some((root, bound)) = bound_beside(automaton, language)? {
            if self.walk(automaton, cache, root, Some(bound))? {
                return Ok(());
            }
            self.found.truncate(from);
        }
        let root = Residual::new(automaton, language)?;
        self.walk(automaton, cache, root, None).map(drop)
    }
}

/// The unbounded part of a language that has a bound on its characters, and the least and the greatest number of these.
type Bounded = (Residual, (u64, u64));

/// Splits a language into a bound on its characters and the rest; `None` if it has no bound, or if the lengths of texts of
/// the rest are not easily seen.
fn bound_beside(automaton: &mut Automaton, language: LanguageId) -> Result<Option<Bounded>, AutomatonError> {
    let Some((unbounded, min, max)) = automaton.languages_mut().split_length(language)? else {
        return Ok(None);
    };
    let root = Residual::new(automaton, unbounded)?;
    Ok(root.lengths(automaton)?.map(|_| (root, (min, max))))
}

/// Whether the bound of a language can be counted beside its unbounded part.
pub(crate) fn reads_bound_beside(automaton: &mut Automaton, language: LanguageId) -> Result<bool, AutomatonError> {
    Ok(bound_beside(automaton, language)?.is_some())
}

/// The characters of ASCII that lead from a language to itself, as bits.
fn looping(automaton: &mut Automaton, language: LanguageId) -> Result<u128, AutomatonError> {
    let mut looping = 0;
    for (range, target) in automaton.languages_mut().transitions(language)?.iter() {
        let (first, last) = (u32::from(range.first()), u32::from(range.last()).min(ASCII - 1));
        if *target == language && first < ASCII {
            looping |= (u128::MAX >> (ASCII - 1 - (last - first))) << first;
        }
    }
    Ok(looping)
}

/// Adds the wanted tokens of a string of `language`.
pub(crate) fn find(
    automaton: &mut Automaton,
    cache: &mut FewTokensCache,
    contents: &Contents,
    wanted: WantedTokens<'_>,
    language: LanguageId,
    found: &mut Vec<TokenId>,
) -> Result<(), AutomatonError> {
    let tokens = FewTokens {
        contents,
        wanted,
        found,
    };
    tokens.find(automaton, cache, language)
}
