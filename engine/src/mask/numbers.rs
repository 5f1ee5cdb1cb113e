//! [`Numbers`]: masks within numbers: the tokens that continue a number without ending it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, NumberClass, PartialNumber, State};
use crate::mask::cache::bounded::BoundedCache;
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::base_sets::BaseSets;
use crate::mask::index::tokens::{Spelled, TokenIndex};
use crate::mask::index::trie::ROOT;
use crate::numbers::{NextDigits, NumberState};

/// Memory for the tokens of numbers that one schema remembers.
const BYTES: usize = 2 << 20;

/// A cache of the tokens of numbers in one schema.
#[derive(Debug)]
pub(crate) struct NumberCache {
    numbers: BoundedCache<NumberState, NumberTokens>,
    doubtful: BoundedCache<(NumberState, PartialNumber), DoubtfulTokens>,
    /// Number of bit sets that may still be made. Masks share these sets and do not count their memory.
    sets_left: usize,
}

impl Default for NumberCache {
    fn default() -> Self {
        Self {
            numbers: BoundedCache::new(BYTES),
            doubtful: BoundedCache::new(BYTES),
            sets_left: MAX_SETS,
        }
    }
}

impl NumberCache {
    /// Returns the bytes that the cache takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.bytes() + self.doubtful.bytes()
    }
}

/// Tokens behind which few numbers may come, with their bytes.
type DoubtfulTokens = Arc<[(Box<[u8]>, TokenId)]>;

/// The tokens that continue a number without ending it.
#[derive(Clone, Debug)]
pub(crate) struct NumberTokens {
    /// Digits that all numbers of a kind go on with, as they are without whitespace and with it.
    digits: Arc<[TokenId]>,
    base: Base,
    /// Tokens besides the base.
    others: Arc<[TokenId]>,
}

/// Sets of bits that are made of the tokens of numbers, of 25 KB each in a vocabulary of 200,000 tokens.
const MAX_SETS: usize = 40;

/// Tokens of a number up to which they are kept as a list only: drawing these takes no longer than a set.
const LISTED: usize = 400;

impl NumberTokens {
    /// The tokens of `digits`, and others.
    fn new(digits: NextDigits, others: Vec<TokenId>, tokens: &TokenIndex) -> Self {
        let (digits, base) = match digits {
            NextDigits::Any => (tokens.any_digits.clone(), Base::Digits),
            NextDigits::NonZero => (tokens.nonzero_digits.clone(), Base::NonZeroDigits),
            NextDigits::Some => (Arc::default(), Base::Spaces),
        };
        let others = others.into();
        Self { digits, base, others }
    }

    /// The tokens as a set of bits, if they are many, as long as there are some sets `left`.
    fn or_set(self, sets: &BaseSets, left: &mut usize) -> Self {
        if self.others.len() < LISTED || *left == 0 {
            return self;
        }
        *left -= 1;
        let words = self.and_spaces().words(sets);
        let base = Base::Kept(words.into());
        let (digits, others) = ([&self.digits[..], &self.others].concat().into(), Arc::default());
        Self { digits, base, others }
    }

    fn bytes(&self) -> usize {
        let words = match &self.base {
            Base::Kept(words) => words.len() + self.digits.len(),
            _ => 0,
        };
        4 * (self.others.len() + words)
    }

    /// The tokens alone.
    pub(crate) fn alone(self) -> TokenSet {
        TokenSet::none().and(self.digits).and(self.others)
    }

    /// The tokens, and those that are whitespace only.
    pub(crate) fn and_spaces(&self) -> TokenSet {
        TokenSet::over(self.base.clone()).and(self.others.clone())
    }
}

/// Finds the tokens of numbers.
pub(crate) struct Numbers<'a> {
    pub(crate) automaton: &'a mut Automaton,
    pub(crate) cache: &'a mut NumberCache,
    pub(crate) index: &'a TokenIndex,
}

impl Numbers<'_> {
    /// The tokens that continue a number without ending it.
    pub(crate) fn tokens(&mut self, at: State, digits: NumberClass) -> Result<NumberTokens, AutomatonError> {
        let mut found = Vec::new();
        let number = match digits {
            NumberClass::Any(number) => number,
            NumberClass::Distinct(number) => return self.distinct(at, number),
        };
        if let Some(known) = self.cache.numbers.get(&number) {
            return Ok(known);
        }
        let automaton = &mut *self.automaton;
        let step = |number: &NumberState, byte| Ok(automaton.number_step(*number, byte));
        self.index.numbers.walk(number, step, &mut found)?;
        let next = self.automaton.next_digits(number, self.index.longest_digits);
        self.digits(number, next, &mut found);
        let tokens = NumberTokens::new(next, found, self.index);
        let tokens = tokens.or_set(&self.index.sets, &mut self.cache.sets_left);
        self.cache.numbers.keep(number, tokens.clone(), tokens.bytes());
        Ok(tokens)
    }

    /// The tokens that go on with a number that has to differ from others: those that go on with any number, but for those
    /// behind which all numbers that may come are among the others.
    fn distinct(&mut self, at: State, number: NumberState) -> Result<NumberTokens, AutomatonError> {
        let any = self.tokens(at, NumberClass::Any(number))?;
        let begun = self.automaton.partial_number(at)?;
        let doubtful = match self.cache.doubtful.get(&(number, begun)) {
            Some(known) => known,
            None => {
                let doubtful = self.doubtful(number, begun)?;
                let bytes = doubtful.iter().map(|(text, _)| 32 + text.len()).sum();
                self.cache.doubtful.keep((number, begun), doubtful.clone(), bytes);
                doubtful
            }
        };
        let mut excluded = Vec::new();
        for (text, token) in doubtful.iter() {
            if self.automaton.read_bytes(at, text)?.is_none() {
                excluded.push(*token);
            }
        }
        if excluded.is_empty() {
            return Ok(any);
        }
        excluded.sort_unstable();
        let tokens = any.digits.iter().chain(any.others.iter()).copied();
        let left = tokens.filter(|token| excluded.binary_search(token).is_err()).collect();
        Ok(NumberTokens::new(NextDigits::Some, left, self.index))
    }

    /// The tokens, with their bytes, that may go on with a number and behind which few numbers may come.
    fn doubtful(&mut self, number: NumberState, begun: PartialNumber) -> Result<DoubtfulTokens, AutomatonError> {
        let automaton = &mut *self.automaton;
        let mut found = Vec::new();
        for Spelled { trie, tokens } in [&self.index.numbers, &self.index.digits] {
            let from = (number, begun, SmallVec::<[u8; 16]>::new());
            trie.descend(ROOT, from, |node, (number, begun, text)| {
                let byte = trie.label(node);
                let Some(next) = automaton.number_step(*number, byte) else {
                    return Ok::<_, AutomatonError>(None);
                };
                let (begun, mut text) = (begun.after(byte), text.clone());
                text.push(byte);
                if !automaton.has_many_numbers(next, begun) {
                    found.extend(tokens[trie.at(node)].iter().map(|token| (text[..].into(), *token)));
                }
                Ok(Some((next, begun, text)))
            })?;
        }
        Ok(found.into())
    }

    /// The tokens of digits only that go on with a number, but for those that are known to.
    fn digits(&mut self, number: NumberState, known: NextDigits, found: &mut Vec<TokenId>) {
        let Spelled { trie, tokens } = &self.index.digits;
        let mut open = vec![(ROOT, self.index.longest_digits, number, known)];
        while let Some((node, longest, number, known)) = open.pop() {
            for child in trie.children(node) {
                let label = trie.label(child);
                let is_known = match known {
                    NextDigits::Any => true,
                    NextDigits::NonZero => label != b'0',
                    NextDigits::Some => false,
                };
                match is_known {
                    // At the root there is a set of them.
                    true if node == ROOT => {}
                    true => found.extend_from_slice(&tokens[trie.run(child, trie.end(child))]),
                    false => {
                        if let Some(next) = self.automaton.number_step(number, label) {
                            found.extend_from_slice(&tokens[trie.at(child)]);
                            let longest = longest - 1;
                            open.push((child, longest, next, self.automaton.next_digits(next, longest)));
                        }
                    }
                }
            }
        }
    }
}
