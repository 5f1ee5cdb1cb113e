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

/// Appends the tokens of `contents` that stay inside of a string of `language`; false, and nothing, where that is not a
/// language and a bound whose lengths are easily seen.
pub(super) fn inside_bounded(
    automaton: &mut Automaton,
    contents: &Contents,
    language: LanguageId,
    found: &mut Vec<TokenId>,
) -> Result<bool, Trouble> {
    let Some((unbounded, min, max)) = automaton.split_length(language)? else {
        return Ok(false);
    };
    if automaton.is_read_singly(unbounded) || automaton.plain_lengths(unbounded)?.is_none() {
        return Ok(false);
    }
    let mut states = States::default();
    let root = states.number(automaton, &mut EveryText, Rest::Language(unbounded))?;
    let trie = &contents.inside;
    let mut lengths: Vec<Option<Arc<Lengths>>> = Vec::new();
    let from = found.len();
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
        let places = trie.at(at);
        if !places.is_empty() {
            let Rest::Language(rest) = *states.rest(next) else {
                return Ok(false);
            };
            if lengths.len() <= next as usize {
                lengths.resize(next as usize + 1, None);
            }
            let known = &mut lengths[next as usize];
            if known.is_none() {
                *known = automaton.plain_lengths(rest)?;
            }
            let Some(known) = known else {
                found.truncate(from);
                return Ok(false);
            };
            let left = (min.saturating_sub(read), if max == u64::MAX { max } else { max - read });
            let fits = known.meets(left.0, left.1);
            for place in places {
                let may = match contents.begun(place) {
                    None => fits,
                    Some(_) if !fits => false,
                    Some(begun) => {
                        let rest = automaton.bounded(rest, left)?;
                        automaton.may_follow(begun.decode, rest)?
                    }
                };
                if may {
                    found.push(contents.tokens[place]);
                }
            }
        }
        path.push((trie.end(at), next));
        at += 1;
    }
    Ok(true)
}
