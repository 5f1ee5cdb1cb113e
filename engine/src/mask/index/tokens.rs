//! [`Tokens`]: a vocabulary's tokens, sorted by what they do to a document.
//!
//! A token is read in one of three ways, by where it begins: within a string, within a number, or between the parts of a
//! document. For each there is a trie, made once per vocabulary and style, of the tokens that can be read so at all; of
//! two hundred thousand there are a few hundred that begin between parts, and a thousand in numbers. Where whitespace
//! may come in any amount it makes no difference, so it is left out of these texts and tokens that differ in nothing else
//! are told apart no more.

use std::sync::{Arc, Mutex};

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use crate::automaton::{self, AutomatonError, Decode, Decoded};
use crate::strings::Fingerprint;
use crate::{Escapes, Style, TokenId, TokenKind, Vocabulary, Whitespace};

use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::cache::token_set::{BufferPool, TokenSet};
use crate::mask::index::contents::{Contents, Sets, Tails, Words, bit, set};
use crate::mask::index::phases::Phases;
use crate::mask::index::posting_lists::{Class, PostingLists};
use crate::mask::index::spelling::{Extent, Read, is_of_number, read, rest};
use crate::mask::index::token_suffixes::TokenSuffixes;
use crate::mask::index::trie::{ROOT, Trie};
use crate::mask::objects::values::{CommonShapes, ValueSuffixes, ValueTokens};
use crate::mask::strings::over_approximation::{Far, Near};

/// Memory for sets of tokens within a character.
const WITHIN_BYTES: usize = 2 << 20;

/// Memory for the tokens that stay inside of strings, as all schemas share them.
const INSIDE_BYTES: usize = 16 << 20;

/// Memory for those of languages that many are near to.
const NEAR_BYTES: usize = 4 << 20;

/// Memory for those of them below one node.
const BRANCH_BYTES: usize = 4 << 20;

/// Memory for those that end within a character.
const BEGUN_BYTES: usize = 1 << 20;

/// Memory for the tokens of classes of characters.
const CLASSES_BYTES: usize = 8 << 20;

/// The first place of the tokens of a node that end within a character, whether those that may not follow are listed, and
/// the characters that may come there.
type BegunAt = (usize, bool, Class);

/// The root of the trie of contents, or the node of a space, and the characters that come behind the first below it.
type BehindFirst = (u32, Class);

/// The same with the children that come first, each with those up to a node next to it.
type OfGroup = (Class, BehindFirst);

/// The tokens below a node of characters of a class only, but for the first.
#[derive(Debug)]
pub(crate) struct OfClass {
    pub(crate) words: Words,
    /// Nodes of tokens that begin another character behind such ones.
    pub(crate) begun_beyond: Vec<u32>,
}

/// How two sets make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Combine {
    /// Tokens of either.
    Or,
    /// Tokens of both.
    And,
}

/// Two sets, by where they are; they are kept beside what they make.
type Combination = (Combine, usize, usize);

/// A node of the trie of contents, whether the tokens that may not follow are listed, and the language there.
type Branch = (u32, bool, Fingerprint);

/// The text tokens of a vocabulary, by what they do.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The escapes that they are read with.
    pub(crate) escapes: Escapes,
    /// Tokens of the vocabulary.
    pub(crate) len: usize,
    /// Those that begin between two characters of a string.
    pub(crate) inside: Contents,
    /// Those of them that stay inside about which near languages say nothing.
    pub(crate) far: Far,
    /// Those that begin between the parts of a document.
    pub(crate) between: Structures,
    /// Those of the characters of numbers only, but for digits only.
    pub(crate) numbers: Spelled,
    /// Those of digits only, and how many the longest has.
    pub(crate) digits: Spelled,
    pub(crate) longest_digits: u32,
    /// They, in no order, and those of them that do not begin with a zero.
    pub(crate) any_digits: Arc<[TokenId]>,
    pub(crate) nonzero_digits: Arc<[TokenId]>,
    /// Those with a quote.
    pub(crate) quoted: Spelled,
    /// All of them.
    pub(crate) every: Spelled,
    /// Bytes of the longest.
    pub(crate) longest: usize,
    /// Sets of them.
    pub(crate) sets: Sets,
    /// Masks to draw on.
    pub(crate) buffer_pool: BufferPool,
    /// The tokens that stay inside of a string of any kind, where a character has been begun.
    within: Mutex<BoundedCache<Decode, Words>>,
    /// The tokens that may follow inside of strings and stay there, in all schemas.
    insides: Mutex<BoundedCache<(Decode, Fingerprint), TokenSet>>,
    nears: Mutex<BoundedCache<Fingerprint, Near>>,
    /// Where characters occur in those that stay inside of a string.
    pub(crate) postings: PostingLists,
    /// What may follow below a node of the trie of contents, or may not, if that is what is listed; in all schemas.
    branches: Mutex<BoundedCache<Branch, Arc<[TokenId]>>>,
    /// The same of those that end within a character, at one node.
    begun: Mutex<BoundedCache<BegunAt, Arc<[TokenId]>>>,
    /// Those of characters of a class only but for the first, and those of them that begin with some.
    of_classes: Mutex<BoundedCache<BehindFirst, Arc<OfClass>>>,
    of_groups: Mutex<BoundedCache<OfGroup, Words>>,
    /// Sets made of two others.
    combined: Mutex<BoundedCache<Combination, [Words; 3]>>,
    /// What tokens have after a closing quote.
    pub(crate) rests: TokenSuffixes,
    /// Those that begin a value.
    pub(crate) values: Values,
    /// What begins values, and which rests may come behind a name before them, where that is the same in all schemas.
    pub(crate) common_tokens: CommonShapes<ValueTokens>,
    pub(crate) common_rests: CommonShapes<ValueSuffixes>,
}

/// Tokens that begin a value, by how far they go. Those that are numbers only are left out.
#[derive(Debug)]
pub(crate) struct Values {
    /// Those that end it, by the value.
    pub(crate) trie: Trie<u8>,
    /// They in the order of the trie, with what they have behind it.
    pub(crate) ends: Box<[(u32, TokenId)]>,
    /// Those of which it is not easily said whether they do.
    pub(crate) odd: Spelled,
    /// All of these; the others stay in the value. 32 a word.
    pub(crate) not_open: Box<[u32]>,
}

/// Tokens by their bytes up to the first opening quote.
#[derive(Debug)]
pub(crate) struct Structures {
    pub(crate) trie: Trie<u8>,
    /// The tokens in the order of the trie.
    pub(crate) tokens: Box<[TokenId]>,
    /// What tokens have after the opening quote that leads to a node.
    pub(crate) strings: HashMap<u32, Contents>,
}

/// Tokens by their bytes.
#[derive(Debug)]
pub(crate) struct Spelled {
    pub(crate) trie: Trie<u8>,
    /// The tokens in the order of the trie.
    pub(crate) tokens: Box<[TokenId]>,
}

impl Tokens {
    /// Sorts the tokens of a vocabulary, which takes a fraction of a second.
    pub(crate) fn new(vocabulary: &Vocabulary, style: Style) -> Self {
        let is_free = style.whitespace == Whitespace::Any;
        let mut inside = Tails::default();
        let (mut plain, mut numbers, mut digits) = (Vec::new(), Vec::new(), Vec::new());
        let (mut with_quote, mut every) = (Vec::new(), Vec::new());
        let (mut whole, mut odd) = (Vec::new(), Vec::new());
        let mut quoted: HashMap<Vec<u8>, Tails> = HashMap::new();
        for token in 0..vocabulary.len() as TokenId {
            let bytes = vocabulary.token_bytes(token);
            if vocabulary.kind(token) != TokenKind::Text || bytes.is_empty() {
                continue;
            }
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
            if let Some(text) = rest(bytes, is_free).filter(|text| Phases::VALUE.admit(text)) {
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
            texts.extend(tails.rests().map(<[u8]>::to_vec));
        }
        texts.extend(whole.iter().map(|(text, length, _)| text[*length..].to_vec()));
        let rests = TokenSuffixes::new(texts, style.escapes);
        let spaces = plain.iter().filter(|(text, _): &&(Vec<u8>, TokenId)| text.is_empty());
        let spaces = spaces.map(|(_, token)| *token);
        let nonzero = digits.iter().filter(|(text, _): &&(Vec<u8>, TokenId)| text[0] != b'0');
        let nonzero_digits: Arc<[TokenId]> = nonzero.map(|(_, token)| *token).collect();
        let longest_digits = digits.iter().map(|(text, _)| text.len()).max();
        let digits = Spelled::new(digits);
        let any_digits: Arc<[TokenId]> = digits.tokens.as_ref().into();
        let mut sets = Sets::new(&inside, spaces, (&any_digits, &nonzero_digits), vocabulary.len());
        let between = Structures::new(plain, quoted, &rests);
        if let Some(names) = between.behind_quote() {
            sets.add_names(names, &rests.nothing);
        }
        let far = Far::new(&inside, &rests);
        let inside = Contents::new(ROOT, inside, &rests);
        Self {
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
            values: Values::new(whole, odd, &rests, vocabulary.len()),
            quoted: Spelled::new(with_quote),
            longest: every.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or_default(),
            every: Spelled::new(every),
            rests,
            buffer_pool: BufferPool::default(),
            common_tokens: CommonShapes::default(),
            common_rests: CommonShapes::default(),
            within: Mutex::new(BoundedCache::new(WITHIN_BYTES)),
            insides: Mutex::new(BoundedCache::new(INSIDE_BYTES)),
            nears: Mutex::new(BoundedCache::new(NEAR_BYTES)),
            branches: Mutex::new(BoundedCache::new(BRANCH_BYTES)),
            begun: Mutex::new(BoundedCache::new(BEGUN_BYTES)),
            of_classes: Mutex::new(BoundedCache::new(CLASSES_BYTES)),
            of_groups: Mutex::new(BoundedCache::new(CLASSES_BYTES)),
            combined: Mutex::new(BoundedCache::new(CLASSES_BYTES)),
        }
    }

    /// The tokens that stay inside of a string of any kind, where a character has been begun; 32 a word.
    pub(crate) fn within(&self, begun: Decode) -> Words {
        let escapes = self.escapes;
        if let Some(known) = lock(&self.within).get(&begun) {
            return known;
        }
        let mut words = vec![0; self.sets.any.len()];
        let trie = &self.every.trie;
        let mut open = vec![(ROOT, begun, true)];
        while let Some((node, begun, is_plain)) = open.pop() {
            for child in trie.children(node) {
                let label = trie.label(child);
                let is_plain = is_plain && automaton::is_plain(label);
                let next = match begun.step(label, escapes) {
                    Decoded::Refused | Decoded::End => continue,
                    Decoded::Partial(next) if next.possible(escapes).is_empty() => continue,
                    Decoded::Partial(next) => next,
                    // What goes on between two characters is known of those that could have begun there.
                    Decoded::Character(_) if is_plain => {
                        let below = &self.every.tokens[trie.run(child, trie.end(child))];
                        for &token in below.iter().filter(|token| bit(&self.sets.any, **token)) {
                            set(&mut words, token);
                        }
                        continue;
                    }
                    Decoded::Character(_) => Decode::Between,
                };
                for &token in &self.every.tokens[trie.at(child)] {
                    set(&mut words, token);
                }
                open.push((child, next, is_plain));
            }
        }
        let words: Words = words.into();
        lock(&self.within).keep(begun, words.clone(), 4 * words.len());
        words
    }

    /// What has been found, perhaps for another schema, to stay inside of a string where this is begun.
    pub(crate) fn known_inside(&self, begun: Decode, language: Fingerprint) -> Option<TokenSet> {
        lock(&self.insides).get(&(begun, language))
    }

    /// Keeps it for all schemas.
    pub(crate) fn keep_inside(&self, begun: Decode, language: Fingerprint, set: &TokenSet) {
        lock(&self.insides).keep((begun, language), set.clone(), set.bytes());
    }

    /// The tokens of a language that others are near to, perhaps found for another schema.
    pub(crate) fn known_near(&self, near: Fingerprint) -> Option<Near> {
        lock(&self.nears).get(&near)
    }

    /// Keeps them for all schemas.
    pub(crate) fn keep_near(&self, near: Fingerprint, tokens: &Near) {
        lock(&self.nears).keep(near, tokens.clone(), tokens.bytes());
    }

    /// What has been found to follow below a node, perhaps for another schema.
    pub(crate) fn known_branch(&self, branch: Branch) -> Option<Arc<[TokenId]>> {
        lock(&self.branches).get(&branch)
    }

    /// Keeps it for all schemas.
    pub(crate) fn keep_branch(&self, branch: Branch, tokens: &[TokenId]) {
        lock(&self.branches).keep(branch, tokens.into(), 4 * tokens.len());
    }

    /// Those of the tokens of a node that end within a character that may follow, or may not; in all schemas.
    pub(crate) fn known_begun(&self, begun: &BegunAt) -> Option<Arc<[TokenId]>> {
        lock(&self.begun).get(begun)
    }

    /// Keeps them for all schemas.
    pub(crate) fn keep_begun(&self, begun: BegunAt, tokens: &[TokenId]) {
        lock(&self.begun).keep(begun, tokens.into(), 4 * tokens.len());
    }

    /// The tokens of a class.
    pub(crate) fn of_class(&self, key: &BehindFirst) -> Arc<OfClass> {
        if let Some(known) = lock(&self.of_classes).get(key) {
            return known;
        }
        let (node, class) = key;
        let (words, begun_beyond) = self.postings.within(class, *node, &self.inside);
        let bytes = 4 * (words.len() + begun_beyond.len());
        let words = words.into();
        let found = Arc::new(OfClass { words, begun_beyond });
        lock(&self.of_classes).keep(key.clone(), found.clone(), bytes);
        found
    }

    /// Those of them that begin as a group does, as they are found where they are not known.
    pub(crate) fn of_group(&self, key: OfGroup, find: impl FnOnce() -> Vec<u32>) -> Words {
        if let Some(known) = lock(&self.of_groups).get(&key) {
            return known;
        }
        let found: Words = find().into();
        lock(&self.of_groups).keep(key, found.clone(), 4 * found.len());
        found
    }

    /// What two sets of as many words make.
    pub(crate) fn combined(&self, how: Combine, one: &Words, other: &Words) -> Words {
        let address = |words: &Words| Arc::as_ptr(words) as usize;
        let key = (how, address(one), address(other));
        if let Some([_, _, known]) = lock(&self.combined).get(&key) {
            return known;
        }
        let pairs = one.iter().zip(other.iter());
        let made: Vec<u32> = match how {
            Combine::Or => pairs.map(|(one, other)| one | other).collect(),
            Combine::And => pairs.map(|(one, other)| one & other).collect(),
        };
        let made: Words = made.into();
        // The second is mostly kept elsewhere as well.
        let bytes = 4 * (one.len() + made.len());
        lock(&self.combined).keep(key, [one.clone(), other.clone(), made.clone()], bytes);
        made
    }
}

impl Structures {
    fn new(mut plain: Vec<(Vec<u8>, TokenId)>, quoted: HashMap<Vec<u8>, Tails>, rests: &TokenSuffixes) -> Self {
        // Before an opening quote no token ends, but a node has to be there.
        let none = TokenId::MAX;
        plain.retain(|(text, _)| !text.is_empty());
        plain.extend(quoted.keys().map(|text| (text.clone(), none)));
        plain.sort_unstable();
        let trie = Trie::new(plain.iter().map(|(text, _)| &text[..]));
        let mut strings = HashMap::new();
        for (text, tails) in quoted {
            // It is among the texts of the trie.
            let node = trie.find(text).unwrap_or(ROOT);
            strings.insert(node, Contents::new(node, tails, rests));
        }
        Self {
            trie,
            tokens: plain.iter().map(|(_, token)| *token).collect(),
            strings,
        }
    }

    /// What tokens have behind an opening quote that they begin with.
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
    /// Tokens by their bytes.
    pub(crate) fn new(mut texts: Vec<(Vec<u8>, TokenId)>) -> Self {
        texts.sort_unstable();
        Self {
            trie: Trie::new(texts.iter().map(|(text, _)| &text[..])),
            tokens: texts.iter().map(|(_, token)| *token).collect(),
        }
    }

    /// The tokens that lead from a place to another, by the place after each byte.
    pub(crate) fn walk<P>(
        &self,
        from: P,
        mut step: impl FnMut(&P, u8) -> Result<Option<P>, AutomatonError>,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let mut open: SmallVec<[_; 8]> = smallvec![(ROOT, from)];
        while let Some((node, place)) = open.pop() {
            for child in self.trie.children(node) {
                if let Some(next) = step(&place, self.trie.label(child))? {
                    found.extend_from_slice(&self.tokens[self.trie.at(child)]);
                    if !self.trie.is_leaf(child) {
                        open.push((child, next));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a token begins with `text`, goes on, and leads from a place to another with what it has besides.
    pub(crate) fn goes_beyond<P>(
        &self,
        text: &[u8],
        from: P,
        mut step: impl FnMut(&P, u8) -> Result<Option<P>, AutomatonError>,
    ) -> Result<bool, AutomatonError> {
        let Some(node) = self.trie.find(text.iter().copied()) else {
            return Ok(false);
        };
        let mut open = vec![(node, from)];
        while let Some((node, place)) = open.pop() {
            for child in self.trie.children(node) {
                if let Some(next) = step(&place, self.trie.label(child))? {
                    if !self.trie.at(child).is_empty() {
                        return Ok(true);
                    }
                    open.push((child, next));
                }
            }
        }
        Ok(false)
    }
}

impl Values {
    fn new(
        mut whole: Vec<(Vec<u8>, usize, TokenId)>,
        odd: Vec<(Vec<u8>, TokenId)>,
        rests: &TokenSuffixes,
        tokens: usize,
    ) -> Self {
        let mut not_open = vec![0; tokens.div_ceil(32)];
        for token in whole.iter().map(|whole| whole.2).chain(odd.iter().map(|odd| odd.1)) {
            set(&mut not_open, token);
        }
        whole.sort_by(|one, other| one.0[..one.1].cmp(&other.0[..other.1]));
        // All rests are there.
        let ends = whole
            .iter()
            .map(|(text, length, token)| (rests.number(&text[*length..]).unwrap_or_default(), *token));
        Self {
            ends: ends.collect(),
            trie: Trie::new(whole.iter().map(|(text, length, _)| &text[..*length])),
            odd: Spelled::new(odd),
            not_open: not_open.into(),
        }
    }
}
