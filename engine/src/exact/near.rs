//! [`Near`]: the tokens of languages that many are [near](crate::strings::Languages::near) to.

use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, Trouble};
use crate::strings::LanguageId;

use super::content::{inside, inside_few};
use super::contents::{HORIZON, Sets};
use super::rest::Freedom;
use super::token_set::TokenSet;
use super::tokens::Tokens;

/// The tokens that stay inside of a string of a language that others are near to.
#[derive(Clone, Debug)]
pub(super) struct Near {
    all: TokenSet,
    /// Those of them about which it says nothing of the others.
    far: Arc<[TokenId]>,
}

impl Near {
    /// Those of a language that it is near to, with these far tokens.
    fn with(&self, far: &[TokenId], sets: &Sets) -> TokenSet {
        let mut same = far.iter().peekable();
        let mut missing = self.far.to_vec();
        missing.retain(|token| same.next_if_eq(&token).is_none());
        match same.peek() {
            None => self.all.but(&missing, sets),
            // They are not in the same order, or there are others.
            Some(_) => self.all.but(&self.far, sets).or(far, sets),
        }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.all.bytes() + 4 * self.far.len()
    }
}

/// The tokens that stay inside of a string, from a language that is near, which many may be near to; none where there is no
/// other. The tokens that that says nothing about are looked at besides.
pub(super) fn inside_of_near(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    tokens: &Tokens,
    language: LanguageId,
) -> Result<Option<TokenSet>, Trouble> {
    let near = automaton.near(language, HORIZON)?;
    if near == language {
        return Ok(None);
    }
    if !automaton.is_read_singly(language) && near == automaton.near(language, tokens.inside.longest)? {
        // What is near is near itself: this calls itself once.
        return Ok(Some(inside(automaton, freedom, tokens, near)?));
    }
    let mut far = Vec::new();
    inside_few(automaton, freedom, &tokens.far, language, &mut far)?;
    let fingerprint = automaton.fingerprint(near);
    let known = match fingerprint {
        Some(fingerprint) => tokens.known_near(fingerprint),
        None => freedom.near(near),
    };
    let known = match known {
        Some(known) => known,
        None => {
            let mut far = Vec::new();
            inside_few(automaton, freedom, &tokens.far, near, &mut far)?;
            let all = inside(automaton, freedom, tokens, near)?;
            let known = Near { all, far: far.into() };
            match fingerprint {
                Some(fingerprint) => tokens.keep_near(fingerprint, &known),
                None => freedom.keep_near(near, &known),
            }
            known
        }
    };
    Ok(Some(known.with(&far, &tokens.sets)))
}
