//! [`Contents`]: the tokens of a vocabulary as what they add to a string.
//!
//! Most places in a document are inside of strings. There a token without a closing quote is judged by the string's
//! language alone, and languages speak of characters. So tokens are decoded once, when a vocabulary is loaded, and kept
//! in a trie of characters. Siblings are sorted, so that a range of characters that lead to the same language is one run
//! of the trie, which is allowed or forbidden as a whole: a key that has left all known names, or a string of any kind,
//! costs next to nothing.

use std::collections::HashMap;

use toktrie::{TokRxInfo, TokTrie};

use crate::automaton::{Decode, Decoded};
use crate::{Escapes, TokenId, TokenKind, Vocabulary};

/// Characters that a token may add for which sets by number of characters are kept.
pub(super) const MAX_COUNTED: usize = 64;

/// The text tokens of a vocabulary, by what they do between two characters of a string.
pub(super) struct Contents {
    pub(super) escapes: Escapes,
    /// Characters that the longest of them adds.
    pub(super) longest: usize,
    /// Tokens that stay inside.
    pub(super) trie: CharacterTrie,
    /// All of them.
    pub(super) any: Box<[u32]>,
    /// Those that add at most so many characters, begun ones included.
    pub(super) up_to: Box<[Box<[u32]>]>,
    /// Tokens with the closing quote.
    pub(super) closing: TokTrie,
    /// Tokens with a quote that closes where they begin within a character.
    pub(super) closing_within: TokTrie,
}

/// Tokens in a trie of the characters they add. Nodes are in preorder; node 0 is the root.
pub(super) struct CharacterTrie {
    characters: Box<[u32]>,
    /// The node after each node's descendants.
    ends: Box<[u32]>,
    /// Where the tokens of each node begin among `tokens`; one more entry than nodes. A node's descendants' tokens follow
    /// its own.
    starts: Box<[u32]>,
    tokens: Box<[TokenId]>,
    /// The children of the root, which are many.
    roots: Box<[u32]>,
    /// What tokens that end within a character have read of it, by place among `tokens`.
    begun: HashMap<u32, Decode>,
}

/// A token inside of a string: the characters it adds, and what it has begun of one more.
struct Content {
    text: Vec<char>,
    begun: Option<Decode>,
    token: TokenId,
}

impl Contents {
    /// Sorts the tokens of a vocabulary. Takes about as long as building its trie.
    pub(super) fn new(vocabulary: &Vocabulary, escapes: Escapes) -> Self {
        let mut contents = Vec::new();
        let mut closing = vec![Vec::new(); vocabulary.len()];
        let mut closing_within = closing.clone();
        for token in 0..vocabulary.len() as TokenId {
            let bytes = vocabulary.token_bytes(token);
            let fits = bytes.len() <= Vocabulary::MAX_TRIE_TOKEN_BYTES && !bytes.is_empty();
            if vocabulary.kind(token) != TokenKind::Text || !fits {
                continue;
            }
            if bytes.contains(&b'"') {
                closing_within[token as usize] = bytes.to_vec();
            }
            match decode(bytes, escapes) {
                Read::Refused => {}
                Read::Closed => closing[token as usize] = bytes.to_vec(),
                Read::Inside { text, begun } => contents.push(Content { text, begun, token }),
            }
        }
        let words = vocabulary.len().div_ceil(32);
        let mut up_to = vec![vec![0_u32; words]; MAX_COUNTED + 1];
        let mut any = vec![0_u32; words];
        for content in &contents {
            let count = content.text.len() + usize::from(content.begun.is_some());
            set(&mut any, content.token);
            if let Some(exactly) = up_to.get_mut(count) {
                set(exactly, content.token);
            }
        }
        for count in 1..up_to.len() {
            let (fewer, more) = up_to.split_at_mut(count);
            for (word, fewer) in more[0].iter_mut().zip(&fewer[count - 1]) {
                *word |= fewer;
            }
        }
        let end = vocabulary.eos_tokens().first().copied().unwrap_or_default();
        let info = TokRxInfo::new(vocabulary.len() as u32, end);
        let longest = contents.iter().map(|content| content.text.len() + 1).max();
        Self {
            escapes,
            longest: longest.unwrap_or_default(),
            trie: CharacterTrie::new(contents),
            any: any.into(),
            up_to: up_to.into_iter().map(Vec::into).collect(),
            closing: TokTrie::from(&info, &closing),
            closing_within: TokTrie::from(&info, &closing_within),
        }
    }
}

/// What a token does between two characters of a string.
enum Read {
    Refused,
    Closed,
    Inside { text: Vec<char>, begun: Option<Decode> },
}

fn decode(bytes: &[u8], escapes: Escapes) -> Read {
    let mut text = Vec::with_capacity(bytes.len());
    let mut state = Decode::Between;
    for &byte in bytes {
        match state.step(byte, escapes) {
            Decoded::Refused => return Read::Refused,
            Decoded::End => return Read::Closed,
            Decoded::Partial(next) if next.possible(escapes).is_empty() => return Read::Refused,
            Decoded::Partial(next) => state = next,
            Decoded::Character(character) => {
                text.push(character);
                state = Decode::Between;
            }
        }
    }
    let begun = (state != Decode::Between).then_some(state);
    Read::Inside { text, begun }
}

/// Adds a token to a set.
pub(super) fn set(words: &mut [u32], token: TokenId) {
    words[token as usize / 32] |= 1 << (token % 32);
}

/// Takes a token out of a set.
pub(super) fn unset(words: &mut [u32], token: TokenId) {
    words[token as usize / 32] &= !(1 << (token % 32));
}

impl CharacterTrie {
    fn new(mut contents: Vec<Content>) -> Self {
        contents.sort_by(|a, b| (&a.text, a.begun.is_some()).cmp(&(&b.text, b.begun.is_some())));
        let (mut characters, mut ends, mut starts) = (vec![0], vec![0], vec![0]);
        let mut tokens = Vec::with_capacity(contents.len());
        let mut begun = HashMap::new();
        // The nodes on the way to the last token.
        let mut path: Vec<u32> = vec![0];
        let mut before: Vec<char> = Vec::new();
        for content in contents {
            let shared = before.iter().zip(&content.text).take_while(|(a, b)| a == b).count();
            for node in path.drain(shared + 1..) {
                ends[node as usize] = characters.len() as u32;
            }
            for &character in &content.text[shared..] {
                path.push(characters.len() as u32);
                characters.push(u32::from(character));
                ends.push(0);
                starts.push(tokens.len() as u32);
            }
            if let Some(decode) = content.begun {
                begun.insert(tokens.len() as u32, decode);
            }
            tokens.push(content.token);
            before = content.text;
        }
        for node in path {
            ends[node as usize] = characters.len() as u32;
        }
        starts.push(tokens.len() as u32);
        let mut roots = Vec::new();
        let mut child = Self::first_child(Self::ROOT);
        while (child as usize) < ends.len() {
            roots.push(child);
            child = ends[child as usize];
        }
        Self {
            roots: roots.into(),
            characters: characters.into(),
            ends: ends.into(),
            starts: starts.into(),
            tokens: tokens.into(),
            begun,
        }
    }

    /// The root.
    pub(super) const ROOT: u32 = 0;

    /// The first child of a node; the end of its children where it has none.
    pub(super) fn first_child(node: u32) -> u32 {
        node + 1
    }

    /// The node after the last descendant: where its children end, and where its next sibling is.
    pub(super) fn end(&self, node: u32) -> u32 {
        self.ends[node as usize]
    }

    /// The character that leads to a node.
    pub(super) fn character(&self, node: u32) -> u32 {
        self.characters[node as usize]
    }

    /// The first child of the root whose character is at least `character`; the end of its children where none is.
    pub(super) fn root_from(&self, character: u32) -> u32 {
        let place = self.roots.partition_point(|root| self.character(*root) < character);
        self.roots.get(place).copied().unwrap_or(self.end(Self::ROOT))
    }

    /// The tokens of a run of siblings and all their descendants.
    pub(super) fn run(&self, from: u32, to: u32) -> &[TokenId] {
        &self.tokens[self.starts[from as usize] as usize..self.starts[to as usize] as usize]
    }

    /// The tokens that end at a node, each with what it has begun of one more character.
    pub(super) fn at(&self, node: u32) -> impl Iterator<Item = (TokenId, Option<Decode>)> + '_ {
        let places = self.starts[node as usize]..self.starts[node as usize + 1];
        places.map(|place| (self.tokens[place as usize], self.begun.get(&place).copied()))
    }
}
