//! Tokens that a model is likely to choose next, guessed without asking it.

use maskwright::{TokenId, TokenMask};

/// Tokens that are guessed at once.
const GUESSES: usize = 24;
/// Tokens of the text that are looked back over.
const MEMORY: usize = 4096;

/// Guesses what comes next from what came before: prompts name what answers have in them, and answers repeat themselves.
#[derive(Debug, Default)]
pub(crate) struct LikelyTokens {
    /// The tokens of the prompt and of the answer so far.
    text: Vec<TokenId>,
    guesses: Vec<TokenId>,
}

impl LikelyTokens {
    /// Notes tokens of the prompt or the answer.
    pub(crate) fn observe(&mut self, tokens: &[TokenId]) {
        self.text.extend_from_slice(tokens);
    }

    /// The likeliest tokens that `mask` allows, best first: where it allows few all of them, otherwise those that came after
    /// the last two tokens before, after the last one, and those that came lately.
    pub(crate) fn among(&mut self, mask: &TokenMask) -> &[TokenId] {
        self.guesses.clear();
        let text = &self.text[self.text.len().saturating_sub(MEMORY)..];
        let Some((last, before)) = text.split_last() else {
            return &self.guesses;
        };
        let guesses = &mut self.guesses;
        let mut guess = |token: TokenId| {
            if guesses.len() < GUESSES && mask.allows(token) && !guesses.contains(&token) {
                guesses.push(token);
            }
        };
        if let Some(before_last) = before.last() {
            let likewise = text
                .windows(3)
                .rev()
                .filter(|three| three[..2] == [*before_last, *last]);
            likewise.for_each(|three| guess(three[2]));
        }
        if mask.iter().nth(GUESSES).is_none() {
            mask.iter().for_each(&mut guess);
        }
        let likewise = text.windows(2).rev().filter(|two| two[0] == *last);
        likewise.for_each(|two| guess(two[1]));
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
        let mut likely = LikelyTokens::default();
        assert!(likely.among(&mask(9, [1, 2])).is_empty(), "nothing is known");
        likely.observe(&[1, 2, 3, 7, 2, 4, 1, 2, 5]);
        likely.observe(&[1, 2]);
        assert_eq!(likely.among(&mask(9, [3, 4, 8])), [3, 4, 8], "a few are all guessed");
        let all = TokenMask::all(1000);
        assert_eq!(likely.among(&all), [5, 3, 4, 2, 1, 7], "after 1 and 2, after 2, lately");
        assert_eq!(
            likely.among(&mask(1000, 3..200)),
            [5, 3, 4, 7],
            "none that is not allowed"
        );
    }

    #[test]
    fn guesses_are_few() {
        let mut likely = LikelyTokens::default();
        let text: Vec<TokenId> = (0..10_000).collect();
        likely.observe(&text);
        let guesses = likely.among(&TokenMask::all(20_000)).to_vec();
        assert_eq!(
            guesses,
            (0..GUESSES as TokenId).map(|back| 9_999 - back).collect::<Vec<_>>()
        );
    }
}
