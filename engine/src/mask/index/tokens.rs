//! [`TokenIndex`]: a vocabulary's tokens, sorted by their effect on a document.
//!
//! The effect of a token depends on where it begins: within a string, within a number, or between the parts of a document.
//! For each of these there is a trie, made once per vocabulary and style, of the tokens that are possible there in some document: of
//! two hundred thousand a few hundred between parts, and a thousand in numbers. Where any amount of whitespace is
//! allowed it has no effect, so it is removed from the texts of these tries, and tokens that differ only in whitespace share a node.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::automaton::{self, AutomatonError, DecodeState, Decoded};
use crate::mask::tuning::Tuning;
use crate::{Escapes, Style, TokenId, TokenKind, Vocabulary, Whitespace};

use super::base_sets::{BaseSets, Words, bit, set};
use super::contents::{CollectedTokens, Contents};
use super::far_tokens::FarTokens;
use super::phases::Phases;
use super::posting_lists::PostingLists;
use super::spelling::{Extent, Read, is_of_number, read, suffix};
use super::token_suffixes::TokenSuffixes;
use super::trie::{ROOT, Trie};

/// The text tokens of a vocabulary, by their effect on a document.
#[derive(Debug)]
pub(crate) struct TokenIndex {
    /// The thresholds from which tokens are judged together.
    pub(crate) tuning: Tuning,
    /// The escapes that strings are read with.
    pub(crate) escapes: Escapes,
    /// Number of tokens of the vocabulary.
    pub(crate) len: usize,
    /// The tokens that begin between two characters of a string.
    pub(crate) inside: Contents,
    /// The tokens that over-approximations cannot judge.
    pub(crate) far: FarTokens,
    /// The tokens that begin between the parts of a document.
    pub(crate) between: Structures,
    /// The tokens that have only characters of numbers, and not only digits.
    pub(crate) numbers: Spelled,
    /// The tokens of digits only, and how many the longest has.
    pub(crate) digits: Spelled,
    pub(crate) longest_digits: u32,
    /// The tokens of digits only, without order, and those among them that do not begin with a zero.
    pub(crate) any_digits: Arc<[TokenId]>,
    pub(crate) nonzero_digits: Arc<[TokenId]>,
    /// The tokens with a quote.
    pub(crate) quoted: Spelled,
    /// All tokens of text.
    pub(crate) every: Spelled,
    /// The number of bytes of the longest token.
    pub(crate) longest: usize,
    /// Sets of tokens that many masks have in common.
    pub(crate) sets: BaseSets,
    /// The occurrences of characters in the tokens that stay inside of a string.
    pub(crate) postings: PostingLists,
    /// The parts of tokens behind a closing quote.
    pub(crate) suffixes: TokenSuffixes,
    /// The tokens that begin a value.
    pub(crate) values: ValueStarts,
}

/// The tokens that begin a value, by how far they go. Those that are numbers only are left out.
#[derive(Debug)]
pub(crate) struct ValueStarts {
    /// The tokens that end the value, by the value.
    pub(crate) trie: Trie<u8>,
    /// The tokens that end the value in the order of the trie, each with the number of its suffix behind the value.
    pub(crate) ends: Box<[(u32, TokenId)]>,
    /// The tokens for which the index does not tell whether they end the value.
    pub(crate) odd: Spelled,
    /// The tokens that end the value, or may; all others stay in it. 32 a word.
    pub(crate) not_open: Box<[u32]>,
}

/// The tokens that begin between the parts of a document, by their bytes up to the first opening quote.
#[derive(Debug)]
pub(crate) struct Structures {
    pub(crate) trie: Trie<u8>,
    /// The tokens in the order of the trie.
    pub(crate) tokens: Box<[TokenId]>,
    /// The parts of tokens behind the opening quote that leads to a node.
    pub(crate) strings: HashMap<u32, Contents>,
}

/// Tokens by their bytes.
#[derive(Debug)]
pub(crate) struct Spelled {
    pub(crate) trie: Trie<u8>,
    /// The tokens in the order of the trie.
    pub(crate) tokens: Box<[TokenId]>,
}

impl TokenIndex {
    /// Sorts the tokens of a vocabulary, which takes a fraction of a second.
    pub(crate) fn new(vocabulary: &Vocabulary, style: Style, tuning: Tuning) -> Self {
        Self::spelled(vocabulary, style, tuning, &|bytes| Cow::Borrowed(bytes))
    }

    /// Sorts the tokens of a vocabulary by the bytes that stand for theirs.
    pub(crate) fn spelled(
        vocabulary: &Vocabulary,
        style: Style,
        tuning: Tuning,
        spelling: &dyn for<'b> Fn(&'b [u8]) -> Cow<'b, [u8]>,
    ) -> Self {
        let is_free = style.whitespace == Whitespace::Any;
        let mut inside = CollectedTokens::default();
        let (mut plain, mut numbers, mut digits) = (Vec::new(), Vec::new(), Vec::new());
        let (mut with_quote, mut every) = (Vec::new(), Vec::new());
        let (mut whole, mut odd) = (Vec::new(), Vec::new());
        let mut quoted: HashMap<Vec<u8>, CollectedTokens> = HashMap::new();
        for token in 0..vocabulary.len() as TokenId {
            let bytes = vocabulary.token_bytes(token);
            if vocabulary.kind(token) != TokenKind::Text || bytes.is_empty() {
                continue;
            }
            let bytes = &*spelling(bytes);
            every.push((bytes.to_vec(), token));
            if bytes.contains(&b'"') {
                with_quote.push((bytes.to_vec(), token));
            }
            inside.push(bytes, token, style.escapes, is_free);
            if bytes.iter().all(|byte| is_of_number(*byte)) {
                match bytes.iter().all(u8::is_ascii_digit) {
                    true => digits.push((bytes.to_vec(), token)),
                    false if !Phases::ALL.admit(bytes) => {}
                    false => numbers.push((bytes.to_vec(), token)),
                }
                continue;
            }
            if let Some(text) = suffix(bytes, is_free).filter(|text| Phases::VALUE.admit(text)) {
                match Extent::of(&text) {
                    Extent::Open => {}
                    Extent::Whole(length) => whole.push((text, length, token)),
                    Extent::Odd => odd.push((text, token)),
                }
            }
            match read(bytes, is_free) {
                Read::Refused => {}
                Read::Plain(text) | Read::Quoted(text, _) if !Phases::ALL.admit(&text) => {}
                Read::Plain(text) => plain.push((text, token)),
                Read::Quoted(text, at) => {
                    let tails = quoted.entry(text).or_default();
                    tails.push(&bytes[at..], token, style.escapes, is_free);
                }
            }
        }
        quoted.retain(|_, tails| !tails.is_empty());
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for tails in quoted.values().chain([&inside]) {
            texts.extend(tails.suffixes().map(<[u8]>::to_vec));
        }
        texts.extend(whole.iter().map(|(text, length, _)| text[*length..].to_vec()));
        let mut suffixes = TokenSuffixes::new(texts, style.escapes);
        if matches!(style.whitespace, Whitespace::Fixed(layout) if layout.colon.before > 0) {
            // A colon right behind a key never comes: whitespace is before it.
            suffixes.colon = None;
        }
        let spaces = plain.iter().filter(|(text, _): &&(Vec<u8>, TokenId)| text.is_empty());
        let spaces = spaces.map(|(_, token)| *token);
        let nonzero = digits.iter().filter(|(text, _): &&(Vec<u8>, TokenId)| text[0] != b'0');
        let nonzero_digits: Arc<[TokenId]> = nonzero.map(|(_, token)| *token).collect();
        let longest_digits = digits.iter().map(|(text, _)| text.len()).max();
        let digits = Spelled::new(digits);
        let any_digits: Arc<[TokenId]> = digits.tokens.as_ref().into();
        let mut sets = BaseSets::new(&inside, spaces, (&any_digits, &nonzero_digits), vocabulary.len());
        let between = Structures::new(plain, quoted, &suffixes);
        if let Some(names) = between.behind_quote() {
            sets.add_names(names, &suffixes.nothing);
        }
        let far = FarTokens::new(&inside, &suffixes);
        let inside = Contents::new(ROOT, inside, &suffixes);
        Self {
            tuning,
            escapes: style.escapes,
            len: vocabulary.len(),
            postings: PostingLists::new(&inside, sets.any.len()),
            sets,
            inside,
            far,
            digits,
            longest_digits: longest_digits.unwrap_or_default() as u32,
            any_digits,
            nonzero_digits,
            between,
            numbers: Spelled::new(numbers),
            values: ValueStarts::new(whole, odd, &suffixes, vocabulary.len()),
            quoted: Spelled::new(with_quote),
            longest: every.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or_default(),
            every: Spelled::new(every),
            suffixes,
        }
    }

    /// The tokens that stay inside of a string without constraints, behind a partial code point; 32 a word.
    pub(crate) fn within_any_string(&self, begun: DecodeState) -> Words {
        let escapes = self.escapes;
        let mut words = vec![0; self.sets.any.len()];
        let Spelled { trie, tokens } = &self.every;
        let enter = |node, (begun, is_plain): &(DecodeState, bool)| {
            let label = trie.label(node);
            let is_plain = *is_plain && automaton::is_plain(label);
            let next = match begun.step(label, escapes) {
                Decoded::Refused | Decoded::End => return Ok(None),
                Decoded::Partial(next) if next.possible(escapes).is_empty() => return Ok(None),
                Decoded::Partial(next) => next,
                // Tokens that go on between two characters are known from those that could have begun there.
                Decoded::Character(_) if is_plain => {
                    let below = &tokens[trie.run(node, trie.end(node))];
                    for &token in below.iter().filter(|token| bit(&self.sets.any, **token)) {
                        set(&mut words, token);
                    }
                    return Ok(None);
                }
                Decoded::Character(_) => DecodeState::Between,
            };
            for &token in &tokens[trie.at(node)] {
                set(&mut words, token);
            }
            Ok::<_, std::convert::Infallible>(Some((next, is_plain)))
        };
        let Ok(()) = trie.descend(ROOT, (begun, true), enter);
        words.into()
    }
}

impl Structures {
    fn new(
        mut plain: Vec<(Vec<u8>, TokenId)>,
        quoted: HashMap<Vec<u8>, CollectedTokens>,
        suffixes: &TokenSuffixes,
    ) -> Self {
        // Before an opening quote no token ends, but a node has to be there.
        let none = TokenId::MAX;
        plain.retain(|(text, _)| !text.is_empty());
        plain.extend(quoted.keys().map(|text| (text.clone(), none)));
        plain.sort_unstable();
        let trie = Trie::new(plain.iter().map(|(text, _)| &text[..]));
        let mut strings = HashMap::new();
        for (text, tails) in quoted {
            // The text is among those of the trie.
            let node = trie.find(text).unwrap_or(ROOT);
            strings.insert(node, Contents::new(node, tails, suffixes));
        }
        Self {
            trie,
            tokens: plain.iter().map(|(_, token)| *token).collect(),
            strings,
        }
    }

    /// Returns the parts, behind the quote, of tokens that begin with an opening quote.
    pub(crate) fn behind_quote(&self) -> Option<&Contents> {
        self.trie.find([b'"']).and_then(|node| self.strings.get(&node))
    }

    /// The tokens that end at a node.
    pub(crate) fn at(&self, node: u32) -> impl Iterator<Item = TokenId> + '_ {
        let tokens = self.tokens[self.trie.at(node)].iter().copied();
        tokens.filter(|token| *token != TokenId::MAX)
    }
}

impl Spelled {
    /// Sorts tokens by their bytes.
    pub(crate) fn new(mut texts: Vec<(Vec<u8>, TokenId)>) -> Self {
        texts.sort_unstable();
        Self {
            trie: Trie::new(texts.iter().map(|(text, _)| &text[..])),
            tokens: texts.iter().map(|(_, token)| *token).collect(),
        }
    }

    /// Adds the tokens that lead on from a state, by the state after each byte.
    pub(crate) fn walk<P>(
        &self,
        from: P,
        mut step: impl FnMut(&P, u8) -> Result<Option<P>, AutomatonError>,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        self.trie.descend(ROOT, from, |node, state| {
            let next = step(state, self.trie.label(node))?;
            if next.is_some() {
                found.extend_from_slice(&self.tokens[self.trie.at(node)]);
            }
            Ok(next)
        })
    }

    /// Whether a token begins with `text` and leads on from a state by its remaining bytes.
    pub(crate) fn goes_beyond<P>(
        &self,
        text: &[u8],
        from: P,
        mut step: impl FnMut(&P, u8) -> Result<Option<P>, AutomatonError>,
    ) -> Result<bool, AutomatonError> {
        let Some(node) = self.trie.find(text.iter().copied()) else {
            return Ok(false);
        };
        let mut is_beyond = false;
        self.trie.descend(node, from, |node, state| match is_beyond {
            true => Ok::<_, AutomatonError>(None),
            false => {
                let next = step(state, self.trie.label(node))?;
                is_beyond = next.is_some() && !self.trie.at(node).is_empty();
                Ok(next)
            }
        })?;
        Ok(is_beyond)
    }
}

impl ValueStarts {
    fn new(
        mut whole: Vec<(Vec<u8>, usize, TokenId)>,
        odd: Vec<(Vec<u8>, TokenId)>,
        suffixes: &TokenSuffixes,
        tokens: usize,
    ) -> Self {
        let mut not_open = vec![0; tokens.div_ceil(32)];
        for token in whole.iter().map(|whole| whole.2).chain(odd.iter().map(|odd| odd.1)) {
            set(&mut not_open, token);
        }
        whole.sort_by(|one, other| one.0[..one.1].cmp(&other.0[..other.1]));
        // All suffixes are there.
        let ends = whole
            .iter()
            .map(|(text, length, token)| (suffixes.number(&text[*length..]).unwrap_or_default(), *token));
        Self {
            ends: ends.collect(),
            trie: Trie::new(whole.iter().map(|(text, length, _)| &text[..*length])),
            odd: Spelled::new(odd),
            not_open: not_open.into(),
        }
    }
}
