//! [`Contents`]: tokens by what they add to a string.
//!
//! Most places in a document are inside of strings. There a token without a closing quote is judged by the string's
//! language alone, and languages speak of characters. So tokens are decoded once, when a vocabulary is loaded, and kept
//! in a trie of characters. Siblings are sorted, so that a range of characters that lead to the same language is one run
//! of the trie, which is allowed or forbidden as a whole: a key that has left all known names, or a string of any kind,
//! costs next to nothing. Tokens with a closing quote are in a second such trie, each with what it has behind the quote.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::automaton::{Decode, Decoded};
use crate::strings::{Horizon, is_blank};
use crate::{Escapes, TokenId};

use crate::mask::index::phases::Phases;
use crate::mask::index::spelling::rest;
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::token_suffixes::{SuffixKind, TokenSuffixes};
use crate::mask::index::trie::{ROOT, Trie};
use crate::mask::strings::few_tokens::Loops;

/// Characters that a token may add for which sets by number of characters are kept.
const MAX_COUNTED: usize = 256;

/// Numbers that texts are told apart by at first sight.
const MARKS: usize = 1 << 14;

/// What a text is told from most others by: how long it is, and some of its bytes.
fn mark(text: &str) -> usize {
    let text = text.as_bytes();
    let byte = |place: usize| u32::from(text.get(place).copied().unwrap_or_default());
    let last = text.len().saturating_sub(1);
    let mixed = byte(0) | byte(last / 2) << 8 | byte(last) << 16 | (text.len() as u32) << 24;
    mixed.wrapping_mul(0x9E37_79B1) as usize >> (32 - MARKS.ilog2())
}

/// What tokens have from a place within a string on.
#[derive(Debug)]
pub(crate) struct Contents {
    /// Tells them apart.
    pub(crate) number: u32,
    /// Those that stay inside, by the characters they add.
    pub(crate) inside: Trie<u32>,
    /// What is below its nodes; not of all tokens, which are too many.
    pub(crate) inside_loops: Option<Loops>,
    /// They, in the order of the trie.
    pub(crate) tokens: Box<[TokenId]>,
    /// The places of those that end within a character, 32 a word, and how many there are before each word. At a node they
    /// come last, first of all those that may become a character of ASCII.
    is_begun: Box<[u32]>,
    begun_before: Box<[u32]>,
    /// What they have read of it, in their order, as places among all there is.
    begun: Box<[u32]>,
    kinds: Box<[PartialCodePoint]>,
    /// Those with a closing quote, by the characters before it.
    pub(crate) closing: Trie<u32>,
    /// What is below its nodes.
    pub(crate) closing_loops: Loops,
    /// They, in the order of the trie, and of one text those first that have nothing behind the quote, then those that go
    /// on as behind a name.
    pub(crate) closings: Box<[Closing]>,
    /// The characters before the quote, each text once, sorted.
    pub(crate) closed: Box<[Box<str>]>,
    /// [Marks](mark) of them, as bits: most texts have none of these.
    closed_marks: Box<[u64]>,
    /// They by their rests, those that have none first.
    pub(crate) by_rest: Box<[(u32, Box<[TokenId]>)]>,
    /// Those that go on behind the quote as behind a name, by the characters before it.
    pub(crate) names: Box<[NameClosings]>,
    /// Those that may have characters of another string behind a comma, or that end a container, by the characters before
    /// the quote.
    pub(crate) reaching: Box<[(Box<str>, Closing)]>,
    /// Those of them that go on as behind a name.
    pub(crate) reaching_names: Box<[(Box<str>, Closing)]>,
    /// Characters that the longest token of either kind adds.
    pub(crate) longest: u64,
    /// Up to where those that stay inside go.
    pub(crate) horizon: Horizon,
}

/// Tokens with a closing quote, by the characters before it.
pub(crate) type NameClosings = (Box<str>, Box<[Closing]>);

/// A character that has been begun.
#[derive(Clone, Debug)]
pub(crate) struct PartialCodePoint {
    pub(crate) decode: Decode,
    /// The characters that it may become, as inclusive ranges.
    pub(crate) possible: Box<[(u32, u32)]>,
}

impl PartialCodePoint {
    fn new(decode: Decode, escapes: Escapes) -> Self {
        let possible = decode.possible(escapes)[..].into();
        Self { decode, possible }
    }

    /// Whether it may become a character of ASCII.
    pub(crate) fn may_be_ascii(&self) -> bool {
        self.possible.iter().any(|(first, _)| *first < 0x80)
    }

    /// Whether it may become this character.
    pub(crate) fn may_be(&self, character: u32) -> bool {
        self.possible
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&character))
    }

    /// Whether it may become a character of a class, which is sorted.
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
    /// What it has behind the quote.
    pub(crate) rest: u32,
}

/// A set of tokens, 32 a word, which is not copied where it is kept.
pub(crate) type Words = Arc<Vec<u32>>;

/// Sets of tokens, 32 a word.
#[derive(Debug)]
pub(crate) struct Sets {
    /// Those that are whitespace only, where any may come.
    pub(crate) spaces: Words,
    /// They, and those of digits only.
    pub(crate) digits: Words,
    /// The same without digits that begin with a zero.
    pub(crate) nonzero_digits: Words,
    /// All that stay inside.
    pub(crate) any: Words,
    /// All that stay inside or end with the closing quote.
    pub(crate) any_or_quote: Words,
    /// Those that are whitespace only, and those that begin a name of any kind and stay in it or end with its quote.
    pub(crate) names: Words,
    /// Those that add at most so many characters, begun ones included.
    pub(crate) up_to: Box<[Words]>,
}

/// Tokens from a place within a string on, as they are collected.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    inside: Vec<Tail>,
    closing: Vec<(Vec<u32>, Vec<u8>, TokenId)>,
}

/// What a token adds to a string that it stays in.
#[derive(Clone, Debug)]
struct Tail {
    characters: Vec<u32>,
    /// A character that it begins and does not end.
    begun: Option<PartialCodePoint>,
    token: TokenId,
}

impl Tail {
    /// Characters that it adds, a begun one included.
    fn length(&self) -> usize {
        self.characters.len() + usize::from(self.begun.is_some())
    }

    /// Up to where it goes; a begun character may be any.
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

    /// Tails in order stand as a trie has them, and those that have begun the same stand together.
    fn order(&self, other: &Self) -> Ordering {
        let begun = |tail: &Self| {
            let begun = tail.begun.as_ref();
            begun.map(|begun| (!begun.may_be_ascii(), begun.possible.clone()))
        };
        let characters = self.characters.cmp(&other.characters);
        characters.then_with(|| (begun(self), self.token).cmp(&(begun(other), other.token)))
    }
}

impl Tails {
    /// Takes a token in by its bytes from a place within a string on.
    pub(crate) fn push(&mut self, bytes: &[u8], token: TokenId, escapes: Escapes, is_free: bool) {
        let mut characters = Vec::with_capacity(bytes.len());
        let mut state = Decode::Between;
        for (at, &byte) in bytes.iter().enumerate() {
            match state.step(byte, escapes) {
                Decoded::Refused => return,
                Decoded::End => {
                    let rest = rest(&bytes[at + 1..], is_free);
                    let rest = rest.filter(|rest| Phases::AFTER.or(Phases::COLON).admit(rest));
                    self.closing.extend(rest.map(|rest| (characters, rest, token)));
                    return;
                }
                Decoded::Partial(next) if next.possible(escapes).is_empty() => return,
                Decoded::Partial(next) => state = next,
                Decoded::Character(character) => {
                    characters.push(character.into());
                    state = Decode::Between;
                }
            }
        }
        let begun = (state != Decode::Between).then(|| PartialCodePoint::new(state, escapes));
        self.inside.push(Tail {
            characters,
            begun,
            token,
        });
    }

    /// Those that stay inside and are chosen by the characters that they end, and by how far they go.
    pub(crate) fn inside_where(&self, is_chosen: impl Fn(&[u32], Horizon) -> bool) -> Self {
        let chosen = |tail: &&Tail| is_chosen(&tail.characters, tail.horizon());
        Self {
            inside: self.inside.iter().filter(chosen).cloned().collect(),
            closing: Vec::new(),
        }
    }

    /// Those that stay inside, with how far they go.
    pub(crate) fn horizons(&self) -> impl Iterator<Item = (TokenId, Horizon)> {
        self.inside.iter().map(|tail| (tail.token, tail.horizon()))
    }

    /// What tokens have behind closing quotes.
    pub(crate) fn rests(&self) -> impl Iterator<Item = &[u8]> {
        self.closing.iter().map(|(_, rest, _)| &rest[..])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inside.is_empty() && self.closing.is_empty()
    }
}

impl Contents {
    /// Sorts tokens.
    pub(crate) fn new(number: u32, mut tails: Tails, rests: &TokenSuffixes) -> Self {
        tails.inside.sort_by(Tail::order);
        let lengths = tails.inside.iter().map(Tail::length);
        let longest = lengths.chain(tails.closing.iter().map(|(text, ..)| text.len())).max();
        // All rests are there.
        let closing = tails.closing.iter().map(|(text, rest, token)| {
            let (token, rest) = (*token, rests.number(rest).unwrap_or_default());
            (text, Closing { token, rest })
        });
        let mut closing: Vec<_> = closing.collect();
        closing.sort_unstable_by_key(|(text, closing)| (*text, rests.kind(closing.rest), closing.rest, closing.token));
        let reaching = closing
            .iter()
            .filter(|(_, closing)| rests.reaches_text[closing.rest as usize] || rests.closes[closing.rest as usize]);
        let reaching: Box<[(Box<str>, Closing)]> = reaching
            .map(|(text, closing)| (text_of(text).into(), *closing))
            .collect();
        let is_of_name = |reaching: &&(_, Closing)| rests.is_of_name[reaching.1.rest as usize];
        let reaching_names = reaching.iter().filter(is_of_name).cloned().collect();
        let mut by_rest: BTreeMap<u32, Vec<TokenId>> = BTreeMap::new();
        for (_, closing) in &closing {
            by_rest.entry(closing.rest).or_default().push(closing.token);
        }
        let mut is_begun = vec![0; tails.inside.len().div_ceil(32)];
        let mut begun = Vec::new();
        let (mut kinds, mut numbers) = (Vec::new(), HashMap::new());
        for (place, tail) in (0..).zip(&tails.inside) {
            if let Some(kind) = &tail.begun {
                set(&mut is_begun, place);
                let number = numbers.entry(kind.decode).or_insert_with(|| {
                    kinds.push(kind.clone());
                    kinds.len() as u32 - 1
                });
                begun.push(*number);
            }
        }
        let mut count = 0;
        let before = is_begun.iter().map(|word: &u32| {
            let before = count;
            count += word.count_ones();
            before
        });
        let begun_before = before.collect();
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
            inside_loops: (number != ROOT).then(|| Loops::new(&inside, |place| bit(&is_begun, place as u32))),
            closing_loops: Loops::new(&closing_texts, |_| false),
            number,
            is_begun: is_begun.into(),
            begun_before,
            begun: begun.into(),
            kinds: kinds.into(),
            inside,
            tokens: tails.inside.iter().map(|tail| tail.token).collect(),
            closing: closing_texts,
            closings: closing.iter().map(|(_, closing)| *closing).collect(),
            names: names(&closing, rests),
            reaching,
            reaching_names,
            by_rest: by_rest
                .into_iter()
                .map(|(rest, tokens)| (rest, tokens.into()))
                .collect(),
            longest: longest.unwrap_or_default() as u64,
            horizon: tails
                .horizons()
                .fold(Horizon::default(), |most, (_, horizon)| most.or(horizon)),
        }
    }

    /// What the token at a place has read of a character that it does not end: one and the same for all that have read the
    /// same.
    pub(crate) fn begun(&self, place: usize) -> Option<&PartialCodePoint> {
        let (word, bit) = (place / 32, place % 32);
        let begun = self.is_begun.get(word).filter(|begun| **begun >> bit & 1 == 1)?;
        let before = (begun & ((1 << bit) - 1)).count_ones();
        let number = self.begun[(self.begun_before[word] + before) as usize];
        Some(&self.kinds[number as usize])
    }

    /// The first of some places of one node whose token ends within a character: those come last.
    pub(crate) fn begun_from(&self, places: Range<usize>) -> usize {
        let (mut from, mut to) = (places.start, places.end);
        while from < to {
            let middle = from.midpoint(to);
            match bit(&self.is_begun, middle as u32) {
                true => to = middle,
                false => from = middle + 1,
            }
        }
        from
    }

    /// The tokens that add these characters and then close the string, with the characters.
    pub(crate) fn closings_with<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Box<str>, Closing)> + 'a {
        let closings = self.closings[self.closings_after(text)].iter();
        closings.map(|closing| (text.into(), *closing))
    }

    /// Those of some tokens that close the same string which have nothing behind the quote, and those that go on as behind a
    /// name.
    pub(crate) fn by_kind<'a>(closings: &'a [Closing], rests: &TokenSuffixes) -> [&'a [Closing]; 2] {
        let up_to = |kind| closings.partition_point(|closing| rests.kind(closing.rest) <= kind);
        let nothing = up_to(SuffixKind::Nothing);
        [&closings[..nothing], &closings[nothing..up_to(SuffixKind::OfName)]]
    }

    /// Places of the tokens that add these characters and then close the string.
    pub(crate) fn closings_after(&self, text: &str) -> Range<usize> {
        let mark = mark(text);
        match self.closed_marks[mark / 64] >> (mark % 64) & 1 {
            0 => 0..0,
            _ => self.closing.places(text.chars().map(u32::from)),
        }
    }
}

/// Those of the sorted tokens with a closing quote that go on as behind a name, by the characters before the quote.
fn names(closing: &[(&Vec<u32>, Closing)], rests: &TokenSuffixes) -> Box<[NameClosings]> {
    let of_names = closing
        .iter()
        .filter(|(_, closing)| rests.is_of_name[closing.rest as usize]);
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

impl Sets {
    /// Sets of the tokens that stay inside, that are whitespace, and that are digits of any kind or begin with no zero; of
    /// so many in all.
    pub(crate) fn new(
        tails: &Tails,
        spaces: impl Iterator<Item = TokenId>,
        (any_digits, nonzero_digits): (&[TokenId], &[TokenId]),
        tokens: usize,
    ) -> Self {
        let longest = tails
            .inside
            .iter()
            .map(Tail::length)
            .max()
            .unwrap_or_default()
            .min(MAX_COUNTED);
        let mut up_to = vec![vec![0_u32; tokens.div_ceil(32)]; longest + 1];
        let mut any = vec![0_u32; tokens.div_ceil(32)];
        let mut blank = any.clone();
        for token in spaces {
            set(&mut blank, token);
        }
        let and_spaces = |tokens: &[TokenId]| {
            let mut words = blank.clone();
            for &token in tokens {
                set(&mut words, token);
            }
            words.into()
        };
        let (digits, nonzero_digits) = (and_spaces(any_digits), and_spaces(nonzero_digits));
        for tail in &tails.inside {
            set(&mut any, tail.token);
            if let Some(exactly) = up_to.get_mut(tail.length()) {
                set(exactly, tail.token);
            }
        }
        for count in 1..up_to.len() {
            let (fewer, more) = up_to.split_at_mut(count);
            for (word, fewer) in more[0].iter_mut().zip(&fewer[count - 1]) {
                *word |= fewer;
            }
        }
        let mut any_or_quote = any.clone();
        for (_, rest, token) in &tails.closing {
            if rest.is_empty() {
                set(&mut any_or_quote, *token);
            }
        }
        let spaces: Words = blank.into();
        Self {
            any_or_quote: any_or_quote.into(),
            names: spaces.clone(),
            spaces,
            digits,
            nonzero_digits,
            any: any.into(),
            up_to: up_to.into_iter().map(Vec::into).collect(),
        }
    }

    /// Adds the tokens that begin names, by what they have behind the opening quote.
    pub(crate) fn add_names(&mut self, contents: &Contents, nothing: &SuffixSet) {
        let mut words = self.names.to_vec();
        let quotes = contents.by_rest.iter().filter(|(rest, _)| nothing[*rest as usize]);
        for &token in quotes.flat_map(|(_, tokens)| tokens).chain(&*contents.tokens) {
            set(&mut words, token);
        }
        self.names = words.into();
    }
}

/// Adds a token to a set, 32 a word.
pub(crate) fn set(words: &mut [u32], token: TokenId) {
    words[token as usize / 32] |= 1 << (token % 32);
}

/// Whether a token is in a set.
pub(crate) fn bit(words: &[u32], token: TokenId) -> bool {
    words[token as usize / 32] >> (token % 32) & 1 == 1
}
