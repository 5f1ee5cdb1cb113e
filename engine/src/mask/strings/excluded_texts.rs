//! Tokens within strings that have to differ from others, of languages that are read one character at a time. How many texts
//! tokens have left is [counted](crate::mask::objects::exhausted_keys) only where the characters of a language are easily told.

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, by_next};

use crate::mask::index::contents::Contents;
use crate::mask::index::trie::ROOT;

/// Some of the texts that a string must not become, and a node that they lead to.
struct Avoided<'a> {
    node: u32,
    /// The texts behind the node.
    language: LanguageId,
    /// What is left behind the node of those that must not come.
    rests: Vec<&'a str>,
    /// Whether there are others.
    is_alive: bool,
}

/// The tokens, sorted, that texts of a language begin with and that stay in them, but leave only such as are among `rests`,
/// which are sorted.
pub(crate) fn avoided(
    automaton: &mut Automaton,
    contents: &Contents,
    language: LanguageId,
    rests: Vec<&str>,
) -> Result<Vec<TokenId>, AutomatonError> {
    let mut found = Vec::new();
    let mut open = vec![Avoided {
        node: ROOT,
        language,
        is_alive: automaton.has_other_texts(language, &rests)?,
        rests,
    }];
    while let Some(avoided) = open.pop() {
        let Avoided {
            node,
            language,
            rests,
            is_alive,
        } = avoided;
        let places = contents.inside.at(node);
        if !is_alive {
            found.extend_from_slice(&contents.tokens[places.clone()]);
        }
        // Characters after which nothing is left but what must not come.
        let mut dead: SmallVec<[u32; 8]> = SmallVec::new();
        for (next, rests) in by_next(&rests) {
            let Some(target) = automaton.content_after(language, next)? else {
                continue;
            };
            let has_extension_alive = is_alive && automaton.has_other_texts(target, &rests)?;
            if is_alive && !has_extension_alive {
                dead.push(next.into());
            }
            if let Some(node) = contents.inside.child(node, next.into()) {
                open.push(Avoided {
                    node,
                    language: target,
                    rests,
                    is_alive: has_extension_alive,
                });
            }
        }
        if dead.is_empty() {
            continue;
        }
        for place in contents.begun_from(places.clone())..places.end {
            let Some(begun) = contents.begun(place) else { continue };
            if dead.iter().any(|character| begun.may_be(*character))
                && !automaton.may_begin_otherwise(language, &begun.possible, &dead)?
            {
                found.push(contents.tokens[place]);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}
