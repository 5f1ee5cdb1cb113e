//! The tokens of one string made out of those of another that is mostly like it.

use crate::automaton::{Automaton, Trouble};
use crate::strings::{CharRange, LanguageId};

use super::chain::most_common;
use super::rest::{Freedom, Rest};
use super::tokens::Tokens;
use super::trie::ROOT;

/// A language in which almost any character leads back to it, and that almost any character of `language` leads to.
pub(super) fn mostly_like(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    language: LanguageId,
    longest: u64,
) -> Result<Option<LanguageId>, Trouble> {
    if automaton.is_read_singly(language) || freedom.is_viable(automaton, language, longest)? {
        return Ok(None);
    }
    let like = most_common(&automaton.content_transitions(language)?, HALF);
    let Some(like) = like.filter(|like| *like != language) else {
        return Ok(None);
    };
    let back = most_common(&automaton.content_transitions(like)?, HALF);
    Ok((back == Some(like)).then_some(like))
}

/// Half of all characters.
const HALF: u32 = 0x11_0000 / 2;

/// Makes the tokens of one language out of those of another, by what they do not have in common.
pub(super) fn differ(
    automaton: &mut Automaton,
    tokens: &Tokens,
    languages: (LanguageId, LanguageId),
    words: &mut [u32],
) -> Result<(), Trouble> {
    let contents = &tokens.inside;
    let trie = &contents.inside;
    let mut put = |place: usize, may: bool| {
        let token = contents.tokens[place] as usize;
        words[token / 32] &= !(1 << (token % 32));
        words[token / 32] |= u32::from(may) << (token % 32);
    };
    let mut open = vec![(ROOT, Some(languages.0), Some(languages.1))];
    while let Some((node, one, other)) = open.pop() {
        let Some(language) = one else {
            for place in trie.run(node, trie.end(node)) {
                put(place, false);
            }
            continue;
        };
        for place in trie.at(node) {
            let may = match contents.begun(place) {
                None => true,
                Some(begun) => Rest::Language(language).may_follow(automaton, begun.decode, tokens.escapes)?,
            };
            put(place, may);
        }
        let ones = automaton.content_transitions(language)?;
        let others = match other {
            Some(other) => automaton.content_transitions(other)?,
            None => [].into(),
        };
        let (mut ones, mut others) = (&ones[..], &others[..]);
        for child in trie.children(node) {
            let label = trie.label(child);
            let (one, other) = (target(&mut ones, label), target(&mut others, label));
            if one != other {
                open.push((child, one, other));
            }
        }
    }
    Ok(())
}

/// Where a character leads; those asked for come in order.
fn target(transitions: &mut &[(CharRange, LanguageId)], label: u32) -> Option<LanguageId> {
    while let Some((range, target)) = transitions.first() {
        if u32::from(range.last()) < label {
            *transitions = &transitions[1..];
        } else {
            return (u32::from(range.first()) <= label).then_some(*target);
        }
    }
    None
}
