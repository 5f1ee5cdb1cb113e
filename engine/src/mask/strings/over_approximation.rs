//! Masks of languages with a bound on their length, by an unbounded over-approximation.
//!
//! Each count of characters left is another state with a mask of its own. While the bound is far away, the language has the same short
//! prefixes as the unbounded one, whose mask is shared. Only the few tokens longer than that horizon are judged in the bounded language, and
//! only those that the unbounded language allows.

use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError};
use crate::mask::cache::token_set::TokenSet;
use crate::mask::index::base_sets::BaseSets;
use crate::mask::index::contents::Contents;
use crate::mask::index::far_tokens::{HORIZON, NARROW};
use crate::mask::index::tokens::TokenIndex;
use crate::strings::LanguageId;

/// The language that another is like for some characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverApproximation {
    pub(crate) language: LanguageId,
    /// Whether all tokens are within the horizon, so that language and over-approximation have the same tokens.
    pub(crate) is_exact: bool,
    /// Whether both are alike only for the fewer octets of [`NARROW`].
    pub(crate) is_narrow: bool,
    /// Whether the over-approximation contains coarse states of regular expressions.
    pub(crate) is_coarse: bool,
}

impl OverApproximation {
    /// The over-approximation of a language; none where that is the language itself.
    pub(crate) fn of(
        automaton: &mut Automaton,
        index: &TokenIndex,
        exact: LanguageId,
    ) -> Result<Option<Self>, AutomatonError> {
        let mut language = automaton.languages_mut().over_approximation(exact, HORIZON)?;
        let is_narrow = language == exact;
        if is_narrow {
            language = automaton.languages_mut().over_approximation(exact, NARROW)?;
            if language == exact {
                return Ok(None);
            }
        }
        let is_coarse = automaton.languages().is_coarse(language);
        if !is_coarse && automaton.languages().is_non_enumerable(language) {
            // A walk would make a language of each text.
            return Ok(None);
        }
        let is_exact = !automaton.languages().is_non_enumerable(exact)
            && language
                == automaton
                    .languages_mut()
                    .over_approximation(exact, index.inside.horizon.or(HORIZON))?;
        Ok(Some(Self {
            language,
            is_exact,
            is_narrow,
            is_coarse,
        }))
    }

    /// Returns the tokens that the over-approximation cannot judge.
    pub(crate) fn far<'a>(&self, index: &'a TokenIndex) -> &'a Contents {
        match self.is_coarse {
            true => &index.far.syntax,
            false => &index.far.contents,
        }
    }
}

/// The tokens of an over-approximation, and those among them that must be judged by the language itself.
#[derive(Clone, Debug)]
pub(crate) struct ApproximateTokens {
    all: TokenSet,
    /// The far tokens among all.
    far: Arc<[TokenId]>,
    /// The far tokens with hyphens.
    hyphens: Arc<[TokenId]>,
    /// The horizon of the tokens, and at least that of over-approximations.
    horizon: crate::strings::Horizon,
}

/// The tokens that must be judged by the language itself, and those of its over-approximation among them.
pub(crate) type Doubtful<'a> = (&'a Contents, &'a [TokenId]);

impl ApproximateTokens {
    /// Puts together all tokens of an over-approximation and the far ones among them.
    pub(crate) fn new(index: &TokenIndex, all: TokenSet, far: &[TokenId]) -> Self {
        let (mut horizon, mut hyphens) = (HORIZON, Vec::new());
        for token in far {
            if let Some((other, has_hyphens)) = index.far.horizons.get(token) {
                horizon = horizon.or(*other);
                hyphens.extend(has_hyphens.then_some(*token));
            }
        }
        Self {
            all,
            horizon,
            far: far.into(),
            hyphens: hyphens.into(),
        }
    }

    /// The tokens on which a language and its over-approximation may differ; none where they agree on all.
    pub(crate) fn doubtful<'a>(
        &'a self,
        automaton: &mut Automaton,
        index: &'a TokenIndex,
        exact: LanguageId,
        approximation: &OverApproximation,
    ) -> Result<Option<Doubtful<'a>>, AutomatonError> {
        if approximation.is_coarse {
            return Ok(Some((&index.far.syntax, &self.far)));
        }
        // The over-approximation has all tokens that the language has, so that no others need to be looked at.
        Ok(
            match approximation.language == automaton.languages_mut().over_approximation(exact, self.horizon)? {
                true if !automaton.languages().is_non_enumerable(exact) => None,
                true => Some((&index.far.hyphens, &self.hyphens)),
                false => Some((&index.far.contents, &self.far)),
            },
        )
    }

    /// The tokens of the language: those of the over-approximation, with `left` in place of the doubtful ones.
    pub(crate) fn with(&self, doubtful: Vec<TokenId>, left: &[TokenId], sets: &BaseSets) -> TokenSet {
        let mut same = left.iter().peekable();
        let mut missing = doubtful.clone();
        missing.retain(|token| same.next_if_eq(&token).is_none());
        match same.peek() {
            None => self.all.but(&missing, sets),
            // The far tokens and all tokens are not in the same order.
            Some(_) => self.all.but(&doubtful, sets).or(left, sets),
        }
    }

    /// All tokens of the over-approximation.
    pub(crate) fn all(&self) -> &TokenSet {
        &self.all
    }

    /// Bytes that the tokens take.
    pub(crate) fn bytes(&self) -> usize {
        self.all.bytes() + 4 * (self.far.len() + self.hyphens.len())
    }
}
