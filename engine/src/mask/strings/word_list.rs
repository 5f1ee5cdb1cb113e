//! Masks within strings that have finitely many texts in a list, such as those of an `enum`: the words are looked up in the token tries,
//! which is less work than a derivative for each token.

use std::ops::Range;

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::Automaton;
use crate::strings::LanguageId;

use crate::mask::index::contents::Contents;
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::trie::{ROOT, Trie};

/// Maximal number of characters with one target in a list of words that are tried one by one.
const MAX_SINGLE_CHARACTERS: u64 = 64;

/// The nodes of a trie that words begin with; none where the language is no list of words.
struct WordWalk<'a> {
    automaton: &'a Automaton,
    trie: &'a Trie<u32>,
    open: SmallVec<[(u32, LanguageId); 8]>,
}

impl<'a> WordWalk<'a> {
    fn new(automaton: &'a Automaton, trie: &'a Trie<u32>, language: LanguageId) -> Self {
        let open = SmallVec::from_slice(&[(ROOT, language)]);
        Self { automaton, trie, open }
    }

    /// Calls `at` for each node, with the places of the tokens that end there, the language of the remaining words, and the
    /// characters that these begin with; none where a language turns out to be no list.
    fn each(
        mut self,
        mut at: impl FnMut(Range<usize>, LanguageId, &mut dyn Iterator<Item = (u32, u32)>),
    ) -> Option<()> {
        while let Some((node, language)) = self.open.pop() {
            let edges = self.automaton.languages().word_edges(language)?;
            let ranges = || {
                edges
                    .clone()
                    .map(|(range, _)| (range.first().into(), range.last().into()))
            };
            let places = self.trie.at(node);
            if !places.is_empty() {
                at(places, language, &mut ranges());
            }
            if self.trie.is_leaf(node) {
                continue;
            }
            for (range, target) in edges {
                if range.count() > MAX_SINGLE_CHARACTERS {
                    return None;
                }
                for character in range.first()..=range.last() {
                    let child = self.trie.child(node, character.into());
                    self.open.extend(child.map(|child| (child, target)));
                }
            }
        }
        Some(())
    }
}

/// Returns the tokens that are prefixes of words and stay in the string; none where the language is no list of words.
pub(crate) fn inside(
    automaton: &Automaton,
    contents: &Contents,
    language: LanguageId,
    found: &mut Vec<TokenId>,
) -> Option<()> {
    automaton.languages().word_edges(language)?;
    let from = found.len();
    let mut class: SmallVec<[(u32, u32); 8]> = SmallVec::new();
    let all = WordWalk::new(automaton, &contents.inside, language).each(|places, _, ranges| {
        // Those that have begun a character come last, and of these those that cannot become one of ASCII.
        let begun_from = contents.partial_from(places.clone());
        found.extend_from_slice(&contents.tokens[places.start..begun_from]);
        if begun_from == places.end {
            return;
        }
        class.clear();
        class.extend(ranges);
        let only_ascii = class.last().is_none_or(|(_, last)| *last < 0x80);
        for place in begun_from..places.end {
            let Some(begun) = contents.partial(place) else { continue };
            if only_ascii && !begun.may_be_ascii() {
                break;
            }
            if begun.may_be_of(&class) {
                found.push(contents.tokens[place]);
            }
        }
    });
    if all.is_none() {
        found.truncate(from);
    }
    all
}

/// Whether a token ends a word and closes the string, whatever stands behind the quote; none where the language is no list of
/// words.
pub(crate) fn can_close(automaton: &Automaton, contents: &Contents, language: LanguageId) -> Option<bool> {
    automaton.languages().word_edges(language)?;
    let mut closes = false;
    WordWalk::new(automaton, &contents.closing, language)
        .each(|_, language, _| closes |= automaton.languages().accepts_empty(language))?;
    Some(closes)
}

/// The tokens that end words and close the string, with a viable suffix; none where the language is no list of
/// words.
pub(crate) fn closings(
    automaton: &Automaton,
    contents: &Contents,
    language: LanguageId,
    viable: &SuffixSet,
    found: &mut Vec<TokenId>,
) -> Option<()> {
    automaton.languages().word_edges(language)?;
    let from = found.len();
    let all = WordWalk::new(automaton, &contents.closing, language).each(|places, language, _| {
        if automaton.languages().accepts_empty(language) {
            let closings = contents.closings[places].iter();
            let closings = closings.filter(|closing| viable[closing.suffix as usize]);
            found.extend(closings.map(|closing| closing.token));
        }
    });
    if all.is_none() {
        found.truncate(from);
    }
    all
}
