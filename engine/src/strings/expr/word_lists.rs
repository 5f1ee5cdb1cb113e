//! Finite languages that are lists of words: their derivatives, and the words of one list without those of others.
//!
//! Schemas tell alternatives apart by the words of an `enum`. The words of one list without those of others are a list again, and
//! a list is easily compared with another and with the empty language.

use crate::strings::charset::{CharRange, index};
use crate::strings::derive::derivatives::target;
use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{EMPTY, LanguageId};
use crate::strings::limits::LimitReached;

/// Maximal number of words of a list that is intersected word by word.
const SHORT_LIST_WORDS: u64 = 32;
/// Maximal number of parts of a language against which a word is tested: nested parts may be reached by many paths.
const WORD_TEST_PARTS: usize = 64;

/// Maximal number of last characters of words that agree otherwise.
const LAST_CHARACTERS: u64 = 64;

/// The transitions from a state of a list of words.
#[derive(Clone)]
pub(crate) enum WordEdges<'a> {
    Edges(std::slice::Iter<'a, (CharRange, LanguageId)>),
    /// Last characters of words.
    Last(std::slice::Iter<'a, CharRange>),
}

impl Iterator for WordEdges<'_> {
    type Item = (CharRange, LanguageId);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Edges(edges) => edges.next().copied(),
            Self::Last(ranges) => ranges.next().map(|range| (*range, EMPTY)),
        }
    }
}

impl Arena {
    /// Returns the characters that may come first in words of a list, each with the remaining words behind it; none for languages
    /// that are no such list, or do not look like one.
    pub(in crate::strings) fn word_edges(&self, language: LanguageId) -> Option<WordEdges<'_>> {
        match self.node(language) {
            Expr::Branch { edges, .. } => Some(WordEdges::Edges(edges.iter())),
            // Last characters of words.
            Expr::Class(ranges) if ranges.iter().map(|range| range.count()).sum::<u64>() <= LAST_CHARACTERS => {
                Some(WordEdges::Last(ranges.iter()))
            }
            Expr::Empty => Some(WordEdges::Edges([].iter())),
            _ => None,
        }
    }

    /// Returns the remaining words of a list behind the character numbered `c`; none for languages that do not look like a list.
    pub(in crate::strings) fn after_in_list(&self, language: LanguageId, c: u32) -> Option<LanguageId> {
        match self.node(language) {
            Expr::Branch { edges, .. } => Some(target(edges, c)),
            _ => None,
        }
    }

    /// Returns up to `n` words of a list; none for languages that are no such list, or do not look like one.
    pub(in crate::strings) fn listed(&self, language: LanguageId, n: usize) -> Option<Vec<String>> {
        let mut words = Vec::new();
        // The beginning of a word, as long as the number beside the remainder says.
        let mut text = String::new();
        let mut open = vec![(0, None, language)];
        while let Some((length, character, rest)) = open.pop() {
            text.truncate(length);
            text.extend(character);
            let edges = self.word_edges(rest)?;
            if self.nullable(rest) {
                words.push(text.clone());
            }
            // No rest is empty, so that each makes a word.
            if words.len() >= n {
                break;
            }
            for (range, target) in edges {
                let characters = (range.first()..=range.last()).take(n);
                open.extend(characters.map(|character| (text.len(), Some(character), target)));
            }
        }
        Some(words)
    }

    /// Returns the number of words of a short list that is no state of a trie; 0 for other languages.
    pub(super) fn words_of(&self, node: &Expr) -> u8 {
        short_list(match node {
            Expr::Empty => Some(1),
            Expr::Class(ranges) => Some(ranges.iter().map(|range| range.count()).sum()),
            _ => None,
        })
    }

    /// The words of a short list.
    fn short_list(&self, language: LanguageId) -> Option<Vec<String>> {
        match self.facts(language).words {
            0 => None,
            words => self.listed(language, words.into()),
        }
    }

    /// Whether a word is in a language of lists and bounds on lengths; none where that does not show.
    pub(in crate::strings) fn has_word(&self, language: LanguageId, word: &str) -> Option<bool> {
        self.has_word_within(language, word, &mut { WORD_TEST_PARTS })
    }

    /// Whether a word is in a language of lists and bounds on lengths, of which so many parts are `left` to look at; none
    /// where that does not show.
    fn has_word_within(&self, language: LanguageId, word: &str, left: &mut usize) -> Option<bool> {
        *left = left.checked_sub(1)?;
        if let Some((min, max)) = self.as_length(language) {
            return Some((min..=max).contains(&(word.chars().count() as u64)));
        }
        let (mut at, mut rest) = (language, word.chars());
        loop {
            let edges: &[(CharRange, LanguageId)] = match self.node(at) {
                Expr::None => return Some(false),
                Expr::Empty => return Some(rest.as_str().is_empty()),
                Expr::Branch { accepts, .. } if rest.as_str().is_empty() => return Some(*accepts),
                Expr::Branch { edges, .. } => edges,
                Expr::Class(ranges) => {
                    let first = rest.next().map(index);
                    let is_of = |first| ranges.iter().any(|range| (range.first..=range.last).contains(&first));
                    return Some(rest.as_str().is_empty() && first.is_some_and(is_of));
                }
                Expr::Not(inner) => return Some(!self.has_word_within(*inner, rest.as_str(), left)?),
                Expr::And(members) => {
                    return members.iter().try_fold(true, |all, member| {
                        Some(all && self.has_word_within(*member, rest.as_str(), left)?)
                    });
                }
                Expr::Or(members) => {
                    return members.iter().try_fold(false, |any, member| {
                        Some(any || self.has_word_within(*member, rest.as_str(), left)?)
                    });
                }
                _ => return None,
            };
            let Some(first) = rest.next().map(index) else {
                return Some(false);
            };
            let place = edges.partition_point(|(range, _)| range.last < first);
            match edges.get(place) {
                Some((range, target)) if range.first <= first => at = *target,
                _ => return Some(false),
            }
        }
    }

    /// Whether it mostly shows which words are in a language, of which so many parts are `left` to look at.
    fn tells_words(&self, language: LanguageId, left: &mut usize) -> bool {
        let Some(fewer) = left.checked_sub(1) else {
            return false;
        };
        *left = fewer;
        match self.node(language) {
            Expr::Branch { .. } | Expr::Class(_) | Expr::Empty => true,
            Expr::Not(inner) => self.tells_words(*inner, left),
            Expr::And(members) | Expr::Or(members) => members.iter().all(|member| self.tells_words(*member, left)),
            _ => self.as_length(language).is_some(),
        }
    }

    /// Makes a list of members of an intersection of which one is a short list. Returns whether it did.
    pub(in crate::strings) fn intersect_lists(&mut self, members: &mut Vec<LanguageId>) -> Result<bool, LimitReached> {
        let lists = members.iter().copied().filter(|list| self.facts(*list).words > 0);
        let Some(list) = lists.min_by_key(|list| self.facts(*list).words) else {
            return Ok(false);
        };
        let told = |member: &LanguageId| self.tells_words(*member, &mut { WORD_TEST_PARTS });
        if !members.iter().all(told) {
            return Ok(false);
        }
        let words = self.short_list(list).unwrap_or_default();
        let mut left = Vec::with_capacity(words.len());
        for word in &words {
            let others = members.iter().filter(|member| **member != list);
            let mut others = others.map(|member| self.has_word(*member, word));
            match others.try_fold(true, |all, has| Some(all && has?)) {
                Some(true) => left.push(&word[..]),
                Some(false) => {}
                None => return Ok(false),
            }
        }
        *members = vec![self.words(left)?];
        Ok(true)
    }

    /// Makes one list of the short lists of a union.
    pub(in crate::strings) fn unite_lists(&mut self, members: &mut Vec<LanguageId>) -> Result<(), LimitReached> {
        let short = members.iter().map(|list| u64::from(self.facts(*list).words));
        let lists = short.clone().filter(|words| *words > 0).count();
        if lists < 2 || short.sum::<u64>() > SHORT_LIST_WORDS {
            return Ok(());
        }
        let words: Vec<String> = members
            .iter()
            .filter_map(|list| self.short_list(*list))
            .flatten()
            .collect();
        let list = self.words(words.iter().map(|word| &word[..]).collect())?;
        members.retain(|member| self.facts(*member).words == 0);
        members.push(list);
        members.sort_unstable();
        Ok(())
    }
}

/// The number of words of a short list; 0 where they are more, or unknown.
pub(super) fn short_list(words: Option<u64>) -> u8 {
    match words {
        Some(words @ 1..=SHORT_LIST_WORDS) => words as u8,
        _ => 0,
    }
}

/// Groups sorted texts by their first character, and returns the remainder of each text behind it.
pub(crate) fn group_by_first_character<'a>(texts: &[&'a str]) -> Vec<(char, Vec<&'a str>)> {
    let mut behind: Vec<(char, Vec<&str>)> = Vec::new();
    for text in texts {
        let mut rest = text.chars();
        let Some(next) = rest.next() else { continue };
        match behind.last_mut() {
            Some((last, rests)) if *last == next => rests.push(rest.as_str()),
            _ => behind.push((next, vec![rest.as_str()])),
        }
    }
    behind
}
