//! Long tokens within strings that have a bound on the number of their characters.
//!
//! Such a string is a language and a bound beside it, and every character read makes another of the two together. Long
//! tokens are read by the language alone, which leads to few states; where one ends, the lengths that the rest can have
//! are held against what is left of the bound.

use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, Trouble};
use crate::strings::{LanguageId, Lengths};

use super::contents::Contents;
use super::rest::Rest;
use super::states::{AskFree, DEAD, States};
use super::trie::{ROOT, first_child};

/// A walk that looks at every text.
struct EveryText;

impl AskFree for EveryText {
    fn is_free(&mut self, _: &mut Automaton, _: LanguageId) -> Result<bool, Trouble> {
        Ok(false)
    }
}

/// The tokens of `contents` that stay inside of a string of `language`; none where that is not a language and a bound, or
/// the lengths of what is left are not easily seen.
pub(super) fn inside_bounded(
    automaton: &mut Automaton,
    contents: &Contents,
    language: LanguageId,
) -> Result<Option<Vec<TokenId>>, Trouble> {
    let Some((unbounded, min, max)) = automaton.split_length(language)? else {
        return Ok(None);
    };
    if automaton.is_read_singly(unbounded) || automaton.plain_lengths(unbounded)?.is_none() {
        return Ok(None);
    }
    let mut states = States::default();
    let root = states.number(automaton, &mut EveryText, Rest::Language(unbounded))?;
    let trie = &contents.inside;
    // By state, as far as they were needed.
    let mut lengths: Vec<Option<Arc<Lengths>>> = Vec::new();
    let mut found = Vec::new();
    // The ends of the nodes on the way to the one looked at, with the states there.
    let mut path = vec![(trie.end(ROOT), root)];
    let mut at = first_child(ROOT);
    while let Some(&(end, state)) = path.last() {
        if at >= end {
            path.pop();
            continue;
        }
        let next = states.after(automaton, &mut EveryText, state, trie.label(at))?;
        let read = path.len() as u64;
        if next == DEAD || read > max {
            at = trie.end(at);
            continue;
        }
        let (places, place) = (trie.at(at), next as usize);
        path.push((trie.end(at), next));
        at += 1;
        if places.is_empty() {
            continue;
        }
        let Rest::Language(rest) = *states.rest(next) else {
            return Ok(None);
        };
        if lengths.len() <= place {
            lengths.resize(place + 1, None);
        }
        if lengths[place].is_none() {
            lengths[place] = automaton.plain_lengths(rest)?;
        }
        let Some(known) = &lengths[place] else {
            return Ok(None);
        };
        let left = (min.saturating_sub(read), if max == u64::MAX { max } else { max - read });
        if !known.meets(left.0, left.1) {
            continue;
        }
        for place in places {
            let may = match contents.begun(place) {
                None => true,
                Some(begun) => {
                    let rest = automaton.bounded(rest, left)?;
                    automaton.content_may_begin(rest, &begun.possible)?
                }
            };
            if may {
                found.push(contents.tokens[place]);
            }
        }
    }
    Ok(Some(found))
}
