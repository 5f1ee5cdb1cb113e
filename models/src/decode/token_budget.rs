//! [`CompletionPlan`]: how a constrained answer can be ended before its token budget is used up.
//!
//! A token budget is the number of tokens that may follow a position in an answer, up to its limit and the model's context.

use maskwright::TokenId;

/// Tokens of a budget that are kept back: the completion from one position may be a few tokens longer than what is left of the
/// completion from the position before.
const RESERVED_TOKENS: usize = 8;
/// Tokens beyond the reserve that must be to spare where a token is taken before its completion is known.
const SPARE_TOKENS: usize = 32;

/// The completion of the document from the current position, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct CompletionPlan {
    /// Number of tokens that end the document; `None` where it is not known.
    length: Option<usize>,
    /// The tokens that end the document; `None` where they have not been written.
    tokens: Option<Vec<TokenId>>,
    /// Whether the budget has room for the completion and nothing else, so that it is followed.
    binding: bool,
}

impl CompletionPlan {
    /// Whether tokens must be taken as planned, so that none may be added that are not part of the plan.
    pub(super) fn is_binding(&self) -> bool {
        self.binding
    }

    /// Whether the document is known to have an end within `budget`. If no end is known, there is no plan to keep to.
    pub(super) fn is_in_reach(&self, budget: usize) -> bool {
        self.length.is_some_and(|length| length <= budget)
    }

    /// Whether the completion is so much shorter than `budget` that the next token may be taken before it is known how the
    /// document can be ended after it.
    pub(super) fn is_far_below(&self, budget: usize) -> bool {
        self.length
            .is_some_and(|length| length + RESERVED_TOKENS + SPARE_TOKENS <= budget)
    }

    /// Whether a completion of `length` tokens is known and shorter than `budget` by the reserve.
    pub(super) fn fits(length: Option<usize>, budget: usize) -> bool {
        length.is_some_and(|length| length + RESERVED_TOKENS <= budget)
    }

    /// Notes that `length` tokens end the document from the current position, where the budget is `budget`. A binding plan is
    /// left only for one that fits.
    pub(super) fn learn(&mut self, length: Option<usize>, budget: usize) {
        if Self::fits(length, budget) || !self.binding {
            *self = Self {
                length,
                ..Self::default()
            };
        }
    }

    /// Whether any token may be taken after which `length` tokens are known to end the document and `budget` is the budget. If
    /// so, these are the plan from there.
    pub(super) fn admits(&mut self, length: Option<usize>, budget: usize) -> bool {
        let admits = Self::fits(length, budget);
        if admits {
            *self = Self {
                length,
                ..Self::default()
            };
        }
        admits
    }

    /// Whether the tokens of the plan are known.
    pub(super) fn is_written(&self) -> bool {
        self.tokens.is_some()
    }

    /// Notes the tokens of the plan.
    pub(super) fn write(&mut self, tokens: Option<Vec<TokenId>>) {
        self.tokens = Some(tokens.unwrap_or_default());
    }

    /// Whether `token` is the next of the plan. If so, the plan is followed from there.
    pub(super) fn takes(&mut self, token: TokenId) -> bool {
        let Some(tokens) = self.tokens.as_mut().filter(|tokens| tokens.first() == Some(&token)) else {
            return false;
        };
        tokens.remove(0);
        self.length = Some(tokens.len());
        self.binding = true;
        true
    }

    /// Whether `forced` forced tokens may be taken beside the plan, where the budget is `budget`. Forced tokens are the
    /// tokenizer's own and may be more than the plan has for the same text, so none of the plan's are counted off.
    pub(super) fn leaves_room_for(&self, forced: usize, budget: usize) -> bool {
        !self.is_in_reach(budget)
            || self
                .length
                .is_none_or(|length| length + forced + RESERVED_TOKENS <= budget)
    }

    /// The next token of a plan whose tokens are known.
    pub(super) fn next(&self) -> Option<TokenId> {
        self.tokens.as_ref()?.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_left_only_for_one_that_fits() {
        let mut plan = CompletionPlan::default();
        assert!(!plan.is_in_reach(100), "nothing is known");
        assert!(plan.admits(Some(2), 2 + RESERVED_TOKENS));
        assert!(plan.is_in_reach(2) && !plan.is_in_reach(1));
        assert!(!plan.admits(Some(5), 4 + RESERVED_TOKENS), "what follows is too long");
        assert!(!plan.admits(None, 100), "nothing is known of what follows");
        assert!(!plan.is_binding() && !plan.is_written());
        plan.write(Some(vec![2, 3]));
        assert!(!plan.takes(9) && plan.takes(2), "as planned");
        assert!(plan.is_binding());
        assert_eq!(plan.next(), Some(3));
        assert!(plan.admits(Some(0), RESERVED_TOKENS) && !plan.is_binding() && !plan.is_written());
        assert!(plan.admits(Some(2), 20));
        assert!(plan.leaves_room_for(3, 5 + RESERVED_TOKENS) && !plan.leaves_room_for(4, 5 + RESERVED_TOKENS));
        assert!(plan.leaves_room_for(100, 1), "there is no end in reach to keep to");
        assert!(
            CompletionPlan::default().leaves_room_for(100, 0),
            "nothing is known of what follows"
        );
    }

    #[test]
    fn what_is_learnt_replaces_a_plan_unless_it_is_all_there_is_room_for() {
        let mut plan = CompletionPlan::default();
        assert!(!plan.is_far_below(1000), "nothing is known");
        plan.learn(Some(2), 0);
        assert!(plan.is_in_reach(2) && !plan.is_binding(), "whatever room there is");
        assert!(
            plan.is_far_below(2 + RESERVED_TOKENS + SPARE_TOKENS)
                && !plan.is_far_below(1 + RESERVED_TOKENS + SPARE_TOKENS)
        );
        plan.write(Some(vec![1, 2]));
        assert!(plan.takes(1));
        plan.learn(Some(3), 2);
        assert_eq!((plan.next(), plan.is_binding()), (Some(2), true), "too long");
        plan.learn(Some(3), 3 + RESERVED_TOKENS);
        assert!(!plan.is_binding() && plan.is_in_reach(3));
        plan.learn(None, 100);
        assert!(!plan.is_in_reach(100));
    }
}
