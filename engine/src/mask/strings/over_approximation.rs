//! [`Near`]: the tokens of languages that many are [near](crate::strings::Languages::near) to; [`Far`]: those about which
//! these say nothing of the others.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{Horizon, LanguageId};

use crate::mask::cache::token_set::TokenSet;
use crate::mask::index::contents::{Contents, Tails};
use crate::mask::index::token_suffixes::TokenSuffixes;
use crate::mask::index::tokens::Tokens;
use crate::mask::strings::residual::Freedom;
use crate::mask::strings::strategy::{inside, inside_few};

/// Up to where near languages are the same: few tokens go further.
const HORIZON: Horizon = Horizon {
    characters: 16,
    blanks: 2,
    octets: 64,
};
/// The same for languages whose bounds are on octets, of which these are too many.
const NARROW: Horizon = Horizon { octets: 32, ..HORIZON };

/// The numbers of the contents of far tokens.
const FAR: u32 = u32::MAX;
const HYPHENS: u32 = u32::MAX - 1;
const WIDE: u32 = u32::MAX - 2;

/// The tokens that stay inside of a string and go further than near languages look, or have two hyphens in a row, about
/// which those that are near to machines say nothing.
#[derive(Debug)]
pub(crate) struct Far {
    contents: Contents,
    /// Those with the hyphens.
    hyphens: Contents,
    /// Others that only [`NARROW`] leaves out.
    wide: Contents,
    /// Up to where each goes, and whether it has the hyphens.
    horizons: HashMap<TokenId, (Horizon, bool)>,
}

impl Far {
    /// Those among some tokens.
    pub(crate) fn new(tails: &Tails, rests: &TokenSuffixes) -> Self {
        let has_hyphens = |text: &[u32]| {
            let hyphens = |pair: &[u32]| pair.iter().all(|character| *character == u32::from('-'));
            text.windows(2).any(hyphens)
        };
        let is_far = |text: &[u32], horizon: Horizon| horizon.or(HORIZON) != HORIZON || has_hyphens(text);
        let far = tails.inside_where(is_far);
        let wide = tails.inside_where(|text, horizon| !is_far(text, horizon) && horizon.or(NARROW) != NARROW);
        let hyphens = far.inside_where(|text, _| has_hyphens(text));
        let mut horizons: HashMap<_, _> = far
            .horizons()
            .map(|(token, horizon)| (token, (horizon, false)))
            .collect();
        for (token, horizon) in hyphens.horizons() {
            horizons.insert(token, (horizon, true));
        }
        Self {
            horizons,
            contents: Contents::new(FAR, far, rests),
            hyphens: Contents::new(HYPHENS, hyphens, rests),
            wide: Contents::new(WIDE, wide, rests),
        }
    }
}

/// The tokens that stay inside of a string of a language that others are near to.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    all: TokenSet,
    /// The far ones of them.
    far: Arc<[TokenId]>,
    /// Those of these with hyphens.
    hyphens: Arc<[TokenId]>,
    /// Up to where all go.
    horizon: Horizon,
}

impl Near {
    fn of(
        automaton: &mut Automaton,
        freedom: &mut Freedom,
        tokens: &Tokens,
        language: LanguageId,
    ) -> Result<Self, AutomatonError> {
        let mut far = Vec::new();
        inside_few(automaton, freedom, &tokens.far.contents, language, &mut far)?;
        let (mut horizon, mut hyphens) = (HORIZON, Vec::new());
        for token in &far {
            if let Some((other, has_hyphens)) = tokens.far.horizons.get(token) {
                horizon = horizon.or(*other);
                hyphens.extend(has_hyphens.then_some(*token));
            }
        }
        Ok(Self {
            all: inside(automaton, freedom, tokens, language)?,
            horizon,
            far: far.into(),
            hyphens: hyphens.into(),
        })
    }

    /// All, but that of some of them only these are left.
    fn with(&self, all: &[TokenId], left: &[TokenId], tokens: &Tokens) -> TokenSet {
        let mut same = left.iter().peekable();
        let mut missing = all.to_vec();
        missing.retain(|token| same.next_if_eq(&token).is_none());
        match same.peek() {
            None => self.all.but(&missing, &tokens.sets),
            // They are not in the same order.
            Some(_) => self.all.but(all, &tokens.sets).or(left, &tokens.sets),
        }
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.all.bytes() + 4 * (self.far.len() + self.hyphens.len())
    }
}

/// The tokens that stay inside of a string, from a language that is near, which many may be near to; none where there is no
/// other. The tokens that that says nothing about are looked at besides.
pub(crate) fn inside_of_near(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    tokens: &Tokens,
    language: LanguageId,
) -> Result<Option<TokenSet>, AutomatonError> {
    let mut near = automaton.near(language, HORIZON)?;
    let is_narrow = near == language;
    if is_narrow {
        near = automaton.near(language, NARROW)?;
        if near == language {
            return Ok(None);
        }
    }
    let has_machines = automaton.is_read_singly(language);
    if !has_machines && near == automaton.near(language, tokens.inside.horizon.or(HORIZON))? {
        // What is near is near itself: this calls itself once.
        return Ok(Some(inside(automaton, freedom, tokens, near)?));
    }
    let fingerprint = automaton.fingerprint(near);
    let known = match fingerprint {
        Some(fingerprint) => tokens.known_near(fingerprint),
        None => freedom.near(near),
    };
    let known = match known {
        Some(known) => known,
        None => {
            let known = Near::of(automaton, freedom, tokens, near)?;
            match fingerprint {
                Some(fingerprint) => tokens.keep_near(fingerprint, &known),
                None => freedom.keep_near(near, &known),
            }
            known
        }
    };
    // What is near has all tokens that the language has, so that no others need to be looked at.
    let (contents, all) = match near == automaton.near(language, known.horizon)? {
        true if !has_machines => return Ok(Some(known.all)),
        true => (&tokens.far.hyphens, &known.hyphens),
        false => (&tokens.far.contents, &known.far),
    };
    let mut left = Vec::new();
    inside_few(automaton, freedom, contents, language, &mut left)?;
    if !is_narrow {
        return Ok(Some(known.with(all, &left, tokens)));
    }
    let mut all = all.to_vec();
    inside_few(automaton, freedom, &tokens.far.wide, near, &mut all)?;
    inside_few(automaton, freedom, &tokens.far.wide, language, &mut left)?;
    Ok(Some(known.with(&all, &left, tokens)))
}
