//! Masks within strings that must differ from other texts (`uniqueItems`), for non-enumerable languages, which are read one character at a time.
//! For enumerable languages the remaining texts of tokens are counted instead (`objects/exhausted_keys.rs`).

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, group_by_first_character};

use crate::mask::index::contents::Contents;
use crate::mask::index::trie::ROOT;

/// Some of the texts that a string must not become, and a node that they lead to.
struct ExcludedSubtree<'a> {
    node: u32,
    /// The texts behind the node.
    language: LanguageId,
    /// The remainders, behind the node, of the texts that must not come.
    left: Vec<&'a str>,
    /// Whether the language has texts besides `left`.
    goes_on: bool,
}

/// Returns the tokens, sorted, that stay in the string and are prefixes of texts of a language, but only of texts in `left`, which is
/// sorted.
pub(crate) fn excluded(
    automaton: &mut Automaton,
    contents: &Contents,
    language: LanguageId,
    left: Vec<&str>,
) -> Result<Vec<TokenId>, AutomatonError> {
    let mut found = Vec::new();
    let mut open = vec![ExcludedSubtree {
        node: ROOT,
        language,
        goes_on: automaton.has_other_texts(language, &left)?,
        left,
    }];
    while let Some(excluded) = open.pop() {
        let ExcludedSubtree {
            node,
            language,
            left,
            goes_on,
        } = excluded;
        let places = contents.inside.at(node);
        if !goes_on {
            found.extend_from_slice(&contents.tokens[places.clone()]);
        }
        // Characters after which nothing is left but what must not come.
        let mut dead: SmallVec<[u32; 8]> = SmallVec::new();
        for (next, left) in group_by_first_character(&left) {
            let Some(target) = automaton.content_after(language, next)? else {
                continue;
            };
            let goes_on_otherwise = goes_on && automaton.has_other_texts(target, &left)?;
            if goes_on && !goes_on_otherwise {
                dead.push(next.into());
            }
            if let Some(node) = contents.inside.child(node, next.into()) {
                open.push(ExcludedSubtree {
                    node,
                    language: target,
                    left,
                    goes_on: goes_on_otherwise,
                });
            }
        }
        if dead.is_empty() {
            continue;
        }
        for place in contents.partial_from(places.clone())..places.end {
            let Some(begun) = contents.partial(place) else { continue };
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
