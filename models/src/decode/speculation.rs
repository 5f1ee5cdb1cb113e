//! [`TokenGuesser`]: tokens that a model is likely to choose next, guessed without asking it, so that a masker can prepare for
//! them while nobody waits.

use maskwright::{TokenId, TokenMask};

/// Tokens that are guessed for one mask: few masks leave time to prepare more.
const GUESSES_PER_MASK: usize = 24;
/// Tokens of the text that guesses are taken from, counted from its end: to look through them takes microseconds.
const TOKENS_LOOKED_BACK: usize = 4096;

/// Guesses the next tokens from the text so far: prompts name what answers have in them, and answers repeat themselves.
#[derive(Debug, Default)]
pub(super) struct TokenGuesser {
    /// The tokens of the prompt and of the answer so far.
    text: Vec<TokenId>,
    guesses: Vec<TokenId>,
}

impl TokenGuesser {
    /// Notes tokens of the prompt or the answer.
    pub(super) fn observe(&mut self, tokens: &[TokenId]) {
        self.text.extend_from_slice(tokens);
    }

    /// The likeliest tokens that `mask` allows, best first: tokens that followed the last two tokens earlier in the text, then
    /// all allowed ones where they are few, then tokens that followed the last one, then recent ones.
    pub(super) fn guesses(&mut self, mask: &TokenMask) -> &[TokenId] {
        self.guesses.clear();
        let text = &self.text[self.text.len().saturating_sub(TOKENS_LOOKED_BACK)..];
        let Some((last, before)) = text.split_last() else {
            return &self.guesses;
        };
        let guesses = &mut self.guesses;
        let mut guess = |token: TokenId| {
            if guesses.len() < GUESSES_PER_MASK && mask.allows(token) && !guesses.contains(&token) {
                guesses.push(token);
            }
        };
        if let Some(before_last) = before.last() {
            let after_both = text
                .windows(3)
                .rev()
                .filter(|three| three[..2] == [*before_last, *last]);
            after_both.for_each(|three| guess(three[2]));
        }
        if mask.iter().nth(GUESSES_PER_MASK).is_none() {
            mask.iter().for_each(&mut guess);
        }
        let after_last = text.windows(2).rev().filter(|two| two[0] == *last);
        after_last.for_each(|two| guess(two[1]));
        text.iter().rev().copied().for_each(&mut guess);
        &self.guesses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(len: usize, tokens: impl IntoIterator<Item = TokenId>) -> TokenMask {
        let mut mask = TokenMask::none(len);
        assert!(tokens.into_iter().all(|token| mask.allow(token)));
        mask
    }

    #[test]
    fn what_came_before_comes_first() {
        let mut guesser = TokenGuesser::default();
        assert!(guesser.guesses(&mask(9, [1, 2])).is_empty(), "nothing is known");
        guesser.observe(&[1, 2, 3, 7, 2, 4, 1, 2, 5]);
        guesser.observe(&[1, 2]);
        assert_eq!(guesser.guesses(&mask(9, [3, 4, 8])), [3, 4, 8], "a few are all guessed");
        let all = TokenMask::all(1000);
        assert_eq!(
            guesser.guesses(&all),
            [5, 3, 4, 2, 1, 7],
            "after 1 and 2, after 2, lately"
        );
        assert_eq!(
            guesser.guesses(&mask(1000, 3..200)),
            [5, 3, 4, 7],
            "none that is not allowed"
        );
    }

    #[test]
    fn guesses_are_few() {
        let mut guesser = TokenGuesser::default();
        let text: Vec<TokenId> = (0..10_000).collect();
        guesser.observe(&text);
        let guesses = guesser.guesses(&TokenMask::all(20_000)).to_vec();
        assert_eq!(
            guesses,
            (0..GUESSES_PER_MASK as TokenId)
                .map(|back| 9_999 - back)
                .collect::<Vec<_>>()
        );
    }
}
