//! [`Contents`]: a trie of tokens by the characters that they add to a string.
//!
//! Most states of a document are within strings. There a token without a closing quote is judged by the string's
//! language alone, over characters. So tokens are decoded once, when a vocabulary is loaded, and kept
//! in a trie of characters. Siblings are sorted, so a range of characters with one derivative is one run
//! of the trie, which is allowed or forbidden as a whole: the mask of a string without constraints, or of a key that has left all known names,
//! costs next to nothing. Tokens with a closing quote are in a second such trie, each with its suffix behind the quote.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use hashbrown::HashMap;

use crate::automaton::{DecodeState, Decoded};
use crate::strings::{Horizon, is_blank};
use crate::{Escapes, TokenId};

use super::characters_below::CharactersBelow;
use super::phases::Phases;
use super::spelling::suffix;
use super::token_suffixes::{SuffixKind, TokenSuffixes};
use super::trie::{ROOT, Trie};

/// Number of hash values of texts ([`mark`]): some eight for each text that closes a string in o200k_base.
const MARKS: usize = 1 << 14;

/// Returns the mark of a text: a hash of its length and some of its bytes, as a quick test for inequality.
fn mark(text: &str) -> usize {
    let text = text.as_bytes();
    let byte = |place: usize| u32::from(text.get(place).copied().unwrap_or_default());
    let last = text.len().saturating_sub(1);
    let mixed = byte(0) | byte(last / 2) << 8 | byte(last) << 16 | (text.len() as u32) << 24;
    mixed.wrapping_mul(0x9E37_79B1) as usize >> (32 - MARKS.ilog2())
}

/// The tokens that begin at some position within a string.
#[derive(Debug)]
pub(crate) struct Contents {
    /// A number that no other contents of the vocabulary have.
    pub(crate) number: u32,
    /// The tokens that stay inside of the string, by the characters that they add.
    pub(crate) inside: Trie<u32>,
    /// The characters below the nodes of that trie; not kept for all tokens, which are too many.
    pub(crate) inside_below: Option<CharactersBelow>,
    /// The tokens that stay inside, in the order of the trie.
    pub(crate) tokens: Box<[TokenId]>,
    /// For each of these tokens the part that it has read of a character that it does not end: the number of a beginning, from
    /// one on, or zero where the token ends between two characters. At a node tokens with a beginning come last, first of all
    /// those that may become a character of ASCII.
    partial_number: Box<[u32]>,
    beginnings: Box<[PartialCodePoint]>,
    /// The tokens with a closing quote, by the characters before it.
    pub(crate) closing: Trie<u32>,
    /// The characters below the nodes of that trie.
    pub(crate) closing_below: CharactersBelow,
    /// The tokens with a closing quote in the order of their trie; of one text those first that have nothing behind the
    /// quote, then those that go on as behind a name.
    pub(crate) closings: Box<[Closing]>,
    /// The texts before closing quotes, each once, sorted.
    pub(crate) closed: Box<[Box<str>]>,
    /// The [marks](mark) of these texts, as bits: most other texts have none of them.
    closed_marks: Box<[u64]>,
    /// The tokens with a closing quote by their suffixes behind it, those with an empty one first.
    pub(crate) by_suffix: Box<[(u32, Box<[TokenId]>)]>,
    /// The tokens that go on behind the quote as behind a name, by the characters before it.
    pub(crate) names: Box<[NameClosings]>,
    /// The tokens that may have characters of another string behind a comma, or that end a container, by the characters
    /// before the quote.
    pub(crate) reaching: Box<[(Box<str>, Closing)]>,
    /// The reaching tokens that go on as behind a name.
    pub(crate) reaching_names: Box<[(Box<str>, Closing)]>,
    /// Characters that the longest token of either kind adds.
    pub(crate) longest: u64,
    /// The horizon of the tokens that stay inside.
    pub(crate) horizon: Horizon,
}

/// Tokens with a closing quote, by the characters before it.
pub(crate) type NameClosings = (Box<str>, Box<[Closing]>);

/// A character of which a token has read the first bytes, or part of an escape.
#[derive(Clone, Debug)]
pub(crate) struct PartialCodePoint {
    pub(crate) decode: DecodeState,
    /// The characters that the partial one may become, as inclusive ranges.
    pub(crate) possible: Box<[(u32, u32)]>,
}

impl PartialCodePoint {
    fn new(decode: DecodeState, escapes: Escapes) -> Self {
        let possible = decode.possible(escapes)[..].into();
        Self { decode, possible }
    }

    /// Whether the character may be one of ASCII.
    pub(crate) fn may_be_ascii(&self) -> bool {
        self.possible.iter().any(|(first, _)| *first < 0x80)
    }

    /// Whether the character may be this one.
    pub(crate) fn may_be(&self, character: u32) -> bool {
        self.possible
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&character))
    }

    /// Whether the character may be one of a class, which is sorted.
    pub(crate) fn may_be_of(&self, class: &[(u32, u32)]) -> bool {
        self.possible.iter().any(|(first, last)| {
            let place = class.partition_point(|(_, end)| end < first);
            class.get(place).is_some_and(|(start, _)| start <= last)
        })
    }
}

/// A token with a closing quote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    pub(crate) token: TokenId,
    /// The number of the token's suffix behind the quote.
    pub(crate) suffix: u32,
}

/// Builder of [`Contents`].
#[derive(Debug, Default)]
pub(crate) struct CollectedTokens {
    inside: Vec<Tail>,
    closing: Vec<(Vec<u32>, Vec<u8>, TokenId)>,
}

/// The characters that a token adds to a string in which it stays.
#[derive(Clone, Debug)]
struct Tail {
    characters: Vec<u32>,
    /// The character that the token begins and does not end.
    begun: Option<PartialCodePoint>,
    token: TokenId,
}

impl Tail {
    /// The number of characters that the token adds, a partial one included.
    fn length(&self) -> usize {
        self.characters.len() + usize::from(self.begun.is_some())
    }

    /// Returns the horizon of the token; a partial character may be any.
    fn horizon(&self) -> Horizon {
        let words = self.characters.split(|character| !is_blank(*character));
        let begun = self.begun.iter().filter_map(|begun| begun.possible.last());
        let characters = self.characters.iter().chain(begun.map(|(_, last)| last));
        // Halves of surrogate pairs take more together.
        let octets = |character| char::from_u32(character).map_or(char::MAX.len_utf8(), char::len_utf8);
        Horizon {
            characters: self.length() as u64,
            blanks: words.filter(|blanks| !blanks.is_empty()).count() as u64 + u64::from(self.begun.is_some()),
            octets: characters.map(|character| octets(*character) as u64).sum(),
        }
    }

    /// The order of tails: by characters as in a trie, then by partial character.
    fn order(&self, other: &Self) -> Ordering {
        let begun = |tail: &Self| {
            let begun = tail.begun.as_ref();
            begun.map(|begun| (!begun.may_be_ascii(), begun.possible.clone()))
        };
        let characters = self.characters.cmp(&other.characters);
        characters.then_with(|| (begun(self), self.token).cmp(&(begun(other), other.token)))
    }
}

impl CollectedTokens {
    /// Adds a token by its bytes from within a string on; `is_free` tells that any amount of whitespace is allowed.
    pub(crate) fn push(&mut self, bytes: &[u8], token: TokenId, escapes: Escapes, is_free: bool) {
        let mut characters = Vec::with_capacity(bytes.len());
        let mut state = DecodeState::Between;
        for (at, &byte) in bytes.iter().enumerate() {
            match state.step(byte, escapes) {
                Decoded::Refused => return,
                Decoded::End => {
                    let suffix = suffix(&bytes[at + 1..], is_free);
                    let suffix = suffix.filter(|suffix| Phases::AFTER.or(Phases::COLON).admit(suffix));
                    self.closing.extend(suffix.map(|suffix| (characters, suffix, token)));
                    return;
                }
                Decoded::Partial(next) if next.possible(escapes).is_empty() => return,
                Decoded::Partial(next) => state = next,
                Decoded::Character(character) => {
                    characters.push(character.into());
                    state = DecodeState::Between;
                }
            }
        }
        let begun = (state != DecodeState::Between).then(|| PartialCodePoint::new(state, escapes));
        self.inside.push(Tail {
            characters,
            begun,
            token,
        });
    }

    /// The tokens that stay inside and are chosen by the characters that they end, and by how far they go.
    pub(crate) fn inside_where(&self, is_chosen: impl Fn(&[u32], Option<&PartialCodePoint>, Horizon) -> bool) -> Self {
        let chosen = |tail: &&Tail| is_chosen(&tail.characters, tail.begun.as_ref(), tail.horizon());
        Self {
            inside: self.inside.iter().filter(chosen).cloned().collect(),
            closing: Vec::new(),
        }
    }

    /// The tokens that stay inside, with how far each goes.
    pub(crate) fn horizons(&self) -> impl Iterator<Item = (TokenId, Horizon)> {
        self.inside.iter().map(|tail| (tail.token, tail.horizon()))
    }

    /// The parts of tokens behind closing quotes.
    pub(crate) fn suffixes(&self) -> impl Iterator<Item = &[u8]> {
        self.closing.iter().map(|(_, suffix, _)| &suffix[..])
    }

    /// The tokens that stay inside, with the number of characters that each adds.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = (TokenId, usize)> {
        self.inside.iter().map(|tail| (tail.token, tail.length()))
    }

    /// The tokens that stay inside and end within a character.
    pub(crate) fn partial(&self) -> impl Iterator<Item = TokenId> {
        let partial = self.inside.iter().filter(|tail| tail.begun.is_some());
        partial.map(|tail| tail.token)
    }

    /// The tokens with nothing behind the closing quote.
    pub(crate) fn closing_only(&self) -> impl Iterator<Item = TokenId> {
        let only = self.closing.iter().filter(|(_, suffix, _)| suffix.is_empty());
        only.map(|(.., token)| *token)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.inside.is_empty() && self.closing.is_empty()
    }
}

impl Contents {
    /// Sorts the tokens that begin at one place.
    pub(crate) fn new(number: u32, mut tails: CollectedTokens, suffixes: &TokenSuffixes) -> Self {
        tails.inside.sort_by(Tail::order);
        let lengths = tails.inside.iter().map(Tail::length);
        let longest = lengths.chain(tails.closing.iter().map(|(text, ..)| text.len())).max();
        // All suffixes are there.
        let closing = tails.closing.iter().map(|(text, suffix, token)| {
            let (token, suffix) = (*token, suffixes.number(suffix).unwrap_or_default());
            (text, Closing { token, suffix })
        });
        let mut closing: Vec<_> = closing.collect();
        closing.sort_unstable_by_key(|(text, closing)| {
            (*text, suffixes.kind(closing.suffix), closing.suffix, closing.token)
        });
        let reaching = closing.iter().filter(|(_, closing)| {
            suffixes.reaches_text[closing.suffix as usize] || suffixes.closes[closing.suffix as usize]
        });
        let reaching: Box<[(Box<str>, Closing)]> = reaching
            .map(|(text, closing)| (text_of(text).into(), *closing))
            .collect();
        let is_of_name = |reaching: &&(_, Closing)| suffixes.is_of_name[reaching.1.suffix as usize];
        let reaching_names = reaching.iter().filter(is_of_name).cloned().collect();
        let mut by_suffix: BTreeMap<u32, Vec<TokenId>> = BTreeMap::new();
        for (_, closing) in &closing {
            by_suffix.entry(closing.suffix).or_default().push(closing.token);
        }
        let (mut beginnings, mut numbers) = (Vec::new(), HashMap::new());
        let mut partial = Vec::with_capacity(tails.inside.len());
        for tail in &tails.inside {
            partial.push(tail.begun.as_ref().map_or(0, |begun| {
                *numbers.entry(begun.decode).or_insert_with(|| {
                    beginnings.push(begun.clone());
                    beginnings.len() as u32
                })
            }));
        }
        let inside = Trie::new(tails.inside.iter().map(|tail| &tail.characters[..]));
        let closing_texts = Trie::new(closing.iter().map(|(text, _)| &text[..]));
        let mut closed: Vec<Box<str>> = closing.iter().map(|(text, _)| text_of(text).into()).collect();
        closed.sort_unstable();
        closed.dedup();
        let mut closed_marks = vec![0; MARKS / 64];
        for text in &closed {
            let mark = mark(text);
            closed_marks[mark / 64] |= 1 << (mark % 64);
        }
        Self {
            closed: closed.into(),
            closed_marks: closed_marks.into(),
            inside_below: (number != ROOT).then(|| CharactersBelow::new(&inside, |place| partial[place] > 0)),
            closing_below: CharactersBelow::new(&closing_texts, |_| false),
            number,
            partial_number: partial.into(),
            beginnings: beginnings.into(),
            inside,
            tokens: tails.inside.iter().map(|tail| tail.token).collect(),
            closing: closing_texts,
            closings: closing.iter().map(|(_, closing)| *closing).collect(),
            names: names(&closing, suffixes),
            reaching,
            reaching_names,
            by_suffix: by_suffix
                .into_iter()
                .map(|(suffix, tokens)| (suffix, tokens.into()))
                .collect(),
            longest: longest.unwrap_or_default() as u64,
            horizon: tails
                .horizons()
                .fold(Horizon::default(), |most, (_, horizon)| most.or(horizon)),
        }
    }

    /// Returns the part that the token at a place has read of a character that it does not end; tokens that have read the same
    /// have one object.
    pub(crate) fn partial(&self, place: usize) -> Option<&PartialCodePoint> {
        let beginning = (self.partial_number[place] as usize).checked_sub(1)?;
        Some(&self.beginnings[beginning])
    }

    /// The first of some places of one node whose token ends within a character: those come last.
    pub(crate) fn partial_from(&self, places: Range<usize>) -> usize {
        places.start + self.partial_number[places].partition_point(|beginning| *beginning == 0)
    }

    /// Adds the tokens that a text begins with and that stay in the string.
    pub(crate) fn beginnings(&self, text: &str, found: &mut Vec<TokenId>) {
        let mut node = Some(ROOT);
        for character in text.chars().map(u32::from) {
            let Some(at) = node else { return };
            found.extend(self.ending_at(at, Some(character)).map(|place| self.tokens[place]));
            node = self.inside.child(at, character);
        }
        if let Some(at) = node {
            found.extend(self.ending_at(at, None).map(|place| self.tokens[place]));
        }
    }

    /// The places of the tokens that end at a node where this character comes next: that of a partial character may
    /// become it.
    pub(crate) fn ending_at(&self, node: u32, next: Option<u32>) -> impl Iterator<Item = usize> {
        let may = move |place: &usize| match (self.partial(*place), next) {
            (None, _) => Some(true),
            (Some(_), None) => None,
            (Some(begun), Some(0..0x80)) if !begun.may_be_ascii() => None,
            (Some(begun), Some(next)) => Some(begun.may_be(next)),
        };
        let places = self.inside.at(node).map_while(move |place| Some((place, may(&place)?)));
        places.filter(|(_, may)| *may).map(|(place, _)| place)
    }

    /// The tokens that add these characters and then close the string, with the characters.
    pub(crate) fn closings_with<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Box<str>, Closing)> + 'a {
        let closings = self.closings[self.closings_after(text)].iter();
        closings.map(|closing| (text.into(), *closing))
    }

    /// Picks, of tokens that close the same string, those that have nothing behind the quote, and those that go on as behind a
    /// name.
    pub(crate) fn by_kind<'a>(closings: &'a [Closing], suffixes: &TokenSuffixes) -> [&'a [Closing]; 2] {
        let up_to = |kind| closings.partition_point(|closing| suffixes.kind(closing.suffix) <= kind);
        let nothing = up_to(SuffixKind::Nothing);
        [&closings[..nothing], &closings[nothing..up_to(SuffixKind::OfName)]]
    }

    /// The places of the tokens that add these characters and then close the string.
    pub(crate) fn closings_after(&self, text: &str) -> Range<usize> {
        let mark = mark(text);
        match self.closed_marks[mark / 64] >> (mark % 64) & 1 {
            0 => 0..0,
            _ => self.closing.places(text.chars().map(u32::from)),
        }
    }
}

/// The tokens with a closing quote that go on as behind a name, by the characters before the quote.
fn names(closing: &[(&Vec<u32>, Closing)], suffixes: &TokenSuffixes) -> Box<[NameClosings]> {
    let of_names = closing
        .iter()
        .filter(|(_, closing)| suffixes.is_of_name[closing.suffix as usize]);
    let of_names: Vec<_> = of_names.collect();
    let groups = of_names.chunk_by(|one, other| one.0 == other.0);
    groups
        .map(|group| {
            (
                text_of(group[0].0).into(),
                group.iter().map(|(_, closing)| *closing).collect(),
            )
        })
        .collect()
}

fn text_of(characters: &[u32]) -> String {
    characters.iter().filter_map(|c| char::from_u32(*c)).collect()
}
