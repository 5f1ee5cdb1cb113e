//! Masks within a partial code point of a string: the tokens that continue it and stay in the string.

use std::ops::Range;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, DecodeState, Decoded};
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::base_sets::{Words, bit};
use crate::mask::index::tokens::TokenIndex;
use crate::mask::index::trie::ROOT;
use crate::strings::LanguageId;

use super::residual::Residual;
use super::residual_states::{DEAD, FREE, FreeLanguages, ResidualStates};

/// Returns the tokens that may follow a partial code point and stay in a string of `language`; `any` are those of a string without
/// constraints.
pub(crate) fn within(
    automaton: &mut Automaton,
    mut free: FreeLanguages<'_>,
    index: &TokenIndex,
    (begun, any): (DecodeState, Words),
    language: LanguageId,
) -> Result<TokenSet, AutomatonError> {
    let (escapes, trie, every) = (index.escapes, &index.every.trie, &index.every.tokens);
    let mut states = ResidualStates::default();
    let residual = Residual::new(automaton, language)?;
    let state = states.number(automaton, Some(&mut free), residual)?;
    // Tokens of which all that stay in any string may come, or none, and others that may come.
    let (mut all_may, mut none_may): (Vec<Range<usize>>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut found: Vec<TokenId> = Vec::new();
    trie.descend(ROOT, (begun, state), |node, &(begun, state)| {
        let (next, after) = match begun.step(trie.label(node), escapes) {
            Decoded::Refused | Decoded::End => return Ok(None),
            Decoded::Character(character) => {
                let after = states.after(automaton, Some(&mut free), state, character.into())?;
                (DecodeState::Between, after)
            }
            Decoded::Partial(next) => {
                let may = states.residual(state).may_begin(automaton, &next.possible(escapes))?;
                (next, if may { state } else { DEAD })
            }
        };
        if matches!(after, DEAD | FREE) {
            let below = trie.run(node, trie.end(node));
            if after == FREE { &mut all_may } else { &mut none_may }.push(below);
            return Ok(None);
        }
        found.extend_from_slice(&every[trie.at(node)]);
        Ok::<_, AutomatonError>(Some((next, after)))
    })?;
    let count = |runs: &[Range<usize>]| runs.iter().map(Range::len).sum::<usize>();
    let excludes = count(&none_may) < count(&all_may) + found.len();
    let (mut listed, more) = match excludes {
        true => (Vec::new(), none_may),
        false => (found, all_may),
    };
    listed.extend(more.into_iter().flat_map(|run| &every[run]));
    listed.retain(|token| bit(&any, *token));
    Ok(match excludes {
        true => TokenSet::over(Base::Words(any)).but_these(&listed),
        false => TokenSet::of(&listed, index.len),
    })
}
