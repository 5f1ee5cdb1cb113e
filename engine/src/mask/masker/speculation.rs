//! [`Speculation`]: states behind the tokens that may be accepted next, computed ahead, with the tokens that each of them forces.

use std::ops::Range;

use crate::TokenId;

/// Tokens that are speculated on at one state: more than a model is likely to choose from.
const MAX_TOKENS: usize = 64;

/// A token, and those that it forces, with the state that each leads to.
pub(crate) type Way<P> = Vec<(TokenId, P)>;

/// Tokens that may come next, and the tokens that they force, with the states behind them. Nothing is given back to the allocator
/// when one of the tokens is accepted.
#[derive(Debug)]
pub(crate) struct Speculation<P> {
    /// Tokens, and behind each those that it forces, with the states that they lead to.
    steps: Vec<(TokenId, P)>,
    /// The tokens that may come at the present state, with their part of the steps.
    ways: Vec<(TokenId, Range<usize>)>,
    /// The remaining steps behind the token that was accepted.
    ahead: Range<usize>,
    /// Whether these steps are all forced tokens of the present state.
    is_forced: bool,
}

impl<P> Default for Speculation<P> {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            ways: Vec::new(),
            ahead: 0..0,
            is_forced: false,
        }
    }
}

impl<P: Clone> Speculation<P> {
    /// Whether `token` may still be speculated on.
    pub(crate) fn wants(&self, token: TokenId) -> bool {
        self.ways.len() < MAX_TOKENS && self.ways.iter().all(|(known, _)| *known != token)
    }

    /// Notes a token that may come at the present state, and the tokens that are forced behind it.
    pub(crate) fn add(&mut self, token: TokenId, way: Way<P>) {
        if self.ways.is_empty() {
            self.steps.clear();
            (self.ahead, self.is_forced) = (0..0, false);
        }
        let start = self.steps.len();
        self.steps.extend(way);
        self.ways.push((token, start..self.steps.len()));
    }

    /// Returns the state after `token`, where it is known. Results for other tokens are dropped.
    pub(crate) fn advance(&mut self, token: TokenId) -> Option<P> {
        let way = self.ways.iter().find(|(known, _)| *known == token);
        self.is_forced = way.is_some();
        if let Some((_, way)) = way {
            self.ahead = way.clone();
        }
        self.ways.clear();
        let step = self.ahead.next().map(|step| &self.steps[step]);
        let step = step.filter(|(next, _)| *next == token);
        if step.is_none() {
            self.ahead = 0..0;
        }
        step.map(|(_, place)| place.clone())
    }

    /// The tokens that are forced at the present state, where that is known.
    pub(crate) fn forced(&self) -> Option<impl Iterator<Item = TokenId> + '_> {
        let ahead = self.is_forced.then_some(&self.steps[self.ahead.clone()])?;
        Some(ahead.iter().map(|(token, _)| *token))
    }
}
