//! The tokens that may come within a character of a string, and stay in the string.

use std::ops::Range;

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, Decode, Decoded, is_plain};
use crate::strings::LanguageId;

use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::contents::bit;
use crate::mask::index::tokens::Tokens;
use crate::mask::index::trie::ROOT;
use crate::mask::strings::residual::{Freedom, Residual};
use crate::mask::strings::states::{AskFree, DEAD, FREE, States};
use crate::mask::strings::strategy::inside;

/// Tokens below a node from which on they are taken from those that may come between two characters. Vocabularies of tests
/// are small.
const MANY: usize = if cfg!(test) { 2 } else { 64 };

/// Asks whether anything may follow that a token can have behind a character: as many of them as it has bytes.
struct Ask<'a> {
    freedom: &'a mut Freedom,
    longest: u64,
}

impl AskFree for Ask<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, AutomatonError> {
        self.freedom.is_viable(automaton, language, self.longest)
    }
}

/// A node of the trie of all tokens.
struct Place {
    node: u32,
    begun: Decode,
    state: u32,
    /// The bytes that lead to it, as long as they end no character.
    read: Option<SmallVec<[u8; 8]>>,
}

/// Tokens next to one another in the trie of all tokens.
type Run = Range<usize>;

/// The tokens of a vocabulary that may follow where this is begun of a character, and stay in a string of `language`, of
/// which they may not all.
pub(crate) fn within(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    tokens: &Tokens,
    begun: Decode,
    language: LanguageId,
) -> Result<TokenSet, AutomatonError> {
    let all = tokens.within(begun);
    let (escapes, trie, every) = (tokens.escapes, &tokens.every.trie, &tokens.every.tokens);
    let mut states = freedom.states();
    let longest = tokens.longest as u64;
    let mut ask = Ask { freedom, longest };
    let rest = Residual::new(automaton, language)?;
    let state = states.number(automaton, &mut ask, rest)?;
    // Tokens of which all that stay in any string may come, or none, or those that may follow a language between two of its
    // characters; and others that may come.
    let (mut free, mut dead) = (Vec::new(), Vec::new());
    let mut between: Vec<(LanguageId, Run)> = Vec::new();
    let mut found: Vec<TokenId> = Vec::new();
    let mut open = vec![Place {
        node: ROOT,
        begun,
        state,
        read: Some(SmallVec::new()),
    }];
    while let Some(place) = open.pop() {
        for child in trie.children(place.node) {
            let label = trie.label(child);
            let mut read = place.read.clone();
            read.iter_mut().for_each(|read| read.push(label));
            let (next, after) = match place.begun.step(label, escapes) {
                Decoded::Refused | Decoded::End => continue,
                Decoded::Character(character) => {
                    let after = states.after(automaton, &mut ask, place.state, character.into())?;
                    (Decode::Between, after)
                }
                Decoded::Partial(next) => {
                    let rest = states.rest(place.state);
                    let may = rest.may_begin(automaton, &next.possible(escapes))?;
                    (next, if may { place.state } else { DEAD })
                }
            };
            let below = trie.run(child, trie.end(child));
            if matches!(after, DEAD | FREE) {
                if after == FREE { &mut free } else { &mut dead }.push(below);
                continue;
            }
            let ended = read.take_if(|_| next == Decode::Between);
            if let Some(read) = ended.filter(|_| below.len() >= MANY)
                && let Some(language) = stays(automaton, &mut ask, &mut states, after, &read)?
            {
                between.push((language, below));
                continue;
            }
            found.extend_from_slice(&every[trie.at(child)]);
            let (node, begun, state) = (child, next, after);
            open.push(Place {
                node,
                begun,
                state,
                read,
            });
        }
    }
    freedom.put_back(states);
    between.sort_unstable_by_key(|(language, run)| (*language, run.start));
    let mut left_out: Vec<TokenId> = Vec::new();
    for runs in between.chunk_by(|one, other| one.0 == other.0) {
        let words = inside(automaton, freedom, tokens, runs[0].0)?.words(&tokens.sets);
        let (may, may_not): (Vec<TokenId>, Vec<TokenId>) = runs
            .iter()
            .flat_map(|(_, run)| every[run.clone()].iter().copied())
            .partition(|token| bit(&words, *token));
        found.extend(may);
        left_out.extend(may_not);
    }
    let count = |runs: &[Run]| runs.iter().map(Run::len).sum::<usize>();
    let excludes = count(&dead) + left_out.len() < count(&free) + found.len();
    let (listed, more) = match excludes {
        true => (&mut left_out, dead),
        false => (&mut found, free),
    };
    listed.extend(more.into_iter().flat_map(|run| &every[run]));
    listed.retain(|token| bit(&all, *token));
    Ok(match excludes {
        true => TokenSet::over(Base::Words(all)).but_these(listed),
        false => TokenSet::of(listed, tokens.len),
    })
}

/// The language of a state, if the bytes of the character that led there would be characters that lead to it again: what
/// follows there is what follows those.
fn stays(
    automaton: &mut Automaton,
    ask: &mut Ask<'_>,
    states: &mut States,
    state: u32,
    read: &[u8],
) -> Result<Option<LanguageId>, AutomatonError> {
    for &byte in read {
        if !is_plain(byte) || states.after(automaton, ask, state, byte.into())? != state {
            return Ok(None);
        }
    }
    Ok(match states.rest(state) {
        Residual::Language(language) => Some(*language),
        Residual::Machine(_) => None,
    })
}
