//! [`FarTokens`]: the tokens that an unbounded over-approximation cannot judge: those beyond its horizon, those with two hyphens in a row
//! (as in the encoded labels of host names, `xn--`), and those that may end a part of a regular expression.

use hashbrown::HashMap;

use crate::TokenId;
use crate::strings::{Horizon, ends_what_is_remembered};

use super::contents::{CollectedTokens, Contents, PartialCodePoint};
use super::token_suffixes::TokenSuffixes;

/// The horizon up to which a language and its over-approximation have all texts in common. Few tokens of a vocabulary go further.
pub(crate) const HORIZON: Horizon = Horizon {
    characters: 16,
    blanks: 2,
    octets: 64,
};

/// The horizon for languages whose bounds are on octets: a token has more of these than characters, so that [`HORIZON`] is
/// too far for most of them.
pub(crate) const NARROW: Horizon = Horizon { octets: 32, ..HORIZON };

/// The numbers of the contents of far tokens, which are no node of a trie.
const ALL: u32 = u32::MAX;
const HYPHENS: u32 = u32::MAX - 1;
const WIDE: u32 = u32::MAX - 2;
const SYNTAX: u32 = u32::MAX - 3;

/// The tokens that stay inside of a string and go further than [`HORIZON`], or have two hyphens in a row, about which
/// the over-approximation of a custom DFA says nothing.
#[derive(Debug)]
pub(crate) struct FarTokens {
    /// All far tokens.
    pub(crate) contents: Contents,
    /// The far tokens with two hyphens in a row.
    pub(crate) hyphens: Contents,
    /// The tokens that go further than [`NARROW`] and are not far.
    pub(crate) wide: Contents,
    /// All far tokens, and those that may end a part of a regular expression that coarse states do not remember.
    pub(crate) syntax: Contents,
    /// The horizon of each token, and whether it has the hyphens.
    pub(crate) horizons: HashMap<TokenId, (Horizon, bool)>,
}

impl FarTokens {
    /// Chooses the far tokens among those of a vocabulary.
    pub(crate) fn new(tails: &CollectedTokens, suffixes: &TokenSuffixes) -> Self {
        let has_hyphens = |text: &[u32]| {
            let hyphens = |pair: &[u32]| pair.iter().all(|character| *character == u32::from('-'));
            text.windows(2).any(hyphens)
        };
        let is_far = |text: &[u32], horizon: Horizon| horizon.or(HORIZON) != HORIZON || has_hyphens(text);
        let far = tails.inside_where(|text, _, horizon| is_far(text, horizon));
        let wide = tails.inside_where(|text, _, horizon| !is_far(text, horizon) && horizon.or(NARROW) != NARROW);
        let hyphens = far.inside_where(|text, _, _| has_hyphens(text));
        let syntax = tails.inside_where(|text, begun, horizon| {
            let may_be_any = begun.is_some_and(PartialCodePoint::may_be_ascii);
            is_far(text, horizon) || may_be_any || ends_what_is_remembered(text, begun.is_some())
        });
        let all = far.horizons().map(|(token, horizon)| (token, (horizon, false)));
        let with_hyphens = hyphens.horizons().map(|(token, horizon)| (token, (horizon, true)));
        Self {
            horizons: all.chain(with_hyphens).collect(),
            contents: Contents::new(ALL, far, suffixes),
            hyphens: Contents::new(HYPHENS, hyphens, suffixes),
            wide: Contents::new(WIDE, wide, suffixes),
            syntax: Contents::new(SYNTAX, syntax, suffixes),
        }
    }
}
