//! [`Choice`]: the ways to choose a token that need no more than one look at all logits, so that a GPU can do it, too.

use maskwright::{TokenId, TokenMask};

/// Method by which a token is chosen among those that a mask allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// The likeliest token; of equals, that with the lowest id.
    Likeliest,
    /// A token drawn by its probability.
    Draw {
        /// Multiplies the logits.
        inverse_temperature: f32,
        /// Tokens less than this many times as likely as the likeliest one are left out; 0 leaves out none.
        min_p: f32,
        /// Random number from 0 up to 1, exclusive: the first token, in the order of ids, is drawn at which the sum of the
        /// probabilities up to it exceeds this number.
        random: f64,
    },
}

impl Choice {
    /// The token chosen by `logits` on the host (nats, one per token id, finite) among those that `mask` allows, all where there
    /// is none; `None` where no token with a logit is allowed.
    pub fn among(self, logits: &[f32], mask: Option<&TokenMask>) -> Option<TokenId> {
        let likeliest = likeliest(logits, mask)?;
        let Self::Draw {
            inverse_temperature,
            min_p,
            random,
        } = self
        else {
            return Some(likeliest);
        };
        let highest = logits[likeliest as usize] * inverse_temperature;
        let weight = |token: TokenId| {
            let weight = (logits[token as usize] * inverse_temperature - highest).exp();
            if weight >= min_p { f64::from(weight) } else { 0.0 }
        };
        let mut total = 0.0;
        for_each_allowed(logits.len(), mask, |token| {
            total += weight(token);
            true
        });
        let mut rest = random * total;
        let mut drawn = likeliest;
        for_each_allowed(logits.len(), mask, |token| {
            let weight = weight(token);
            if weight > 0.0 {
                drawn = token;
                rest -= weight;
            }
            rest >= 0.0
        });
        Some(drawn)
    }
}

/// The likeliest of the allowed tokens, ties to the lowest id.
fn likeliest(logits: &[f32], mask: Option<&TokenMask>) -> Option<TokenId> {
    let mut best: Option<(TokenId, f32)> = None;
    for_each_allowed(logits.len(), mask, |token| {
        let logit = logits[token as usize];
        if best.is_none_or(|(_, highest)| logit > highest) {
            best = Some((token, logit));
        }
        true
    });
    best.map(|(token, _)| token)
}

/// Hands the allowed tokens that have one of `count` logits to `visit`, in the order of ids, until it returns false.
pub(crate) fn for_each_allowed(count: usize, mask: Option<&TokenMask>, mut visit: impl FnMut(TokenId) -> bool) {
    match mask {
        Some(mask) => {
            let allowed = mask.iter().take_while(|&token| (token as usize) < count);
            allowed.take_while(|&token| visit(token)).for_each(drop);
        }
        None => (0..count as TokenId).take_while(|&token| visit(token)).for_each(drop),
    }
}
