//! [`TokenHistory`]: the tokens that a masker has accepted, for frameworks that do not count them.

use maskwright::{MaskError, TokenId};

/// The tokens that a masker has accepted, in order. A framework without a rollback of its own starts anew from the tokens that are left after
/// [`take_back`](Self::take_back).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenHistory {
    tokens: Vec<TokenId>,
}

impl TokenHistory {
    /// The tokens accepted so far.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// The number of tokens accepted so far.
    pub fn position(&self) -> usize {
        self.tokens.len()
    }

    /// Notes that `token` was accepted.
    pub fn push(&mut self, token: TokenId) {
        self.tokens.push(token);
    }

    /// Returns the error for a token that is refused at the current position.
    pub fn refusal(&self, token: TokenId) -> MaskError {
        MaskError::TokenRefused {
            token,
            position: self.position(),
        }
    }

    /// Removes the last `count` tokens, and returns whether `count` is above 0.
    ///
    /// # Errors
    ///
    /// [`MaskError::RollbackTooFar`], where fewer tokens were accepted. The history stays as it was.
    pub fn take_back(&mut self, count: usize) -> Result<bool, MaskError> {
        let available = self.tokens.len();
        let Some(position) = available.checked_sub(count) else {
            return Err(MaskError::RollbackTooFar {
                asked: count,
                available,
            });
        };
        self.tokens.truncate(position);
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_back_from_the_end_and_never_too_many() {
        let mut history = TokenHistory::default();
        for token in [7, 8, 9] {
            history.push(token);
        }
        assert_eq!(history.take_back(0), Ok(false));
        assert_eq!(history.take_back(2), Ok(true));
        assert_eq!((history.tokens(), history.position()), (&[7][..], 1));
        let too_far = MaskError::RollbackTooFar { asked: 2, available: 1 };
        assert_eq!(history.take_back(2), Err(too_far));
        assert_eq!(history.tokens(), [7]);
        assert_eq!(history.refusal(3), MaskError::TokenRefused { token: 3, position: 1 });
    }
}
