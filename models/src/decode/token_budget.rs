//! [`CompletionPlan`]: how a constrained answer can be ended before its token budget is used up.
//!
//! A token budget is the number of tokens that may follow a position in an answer, up to its limit and the model's context.

use maskwright::TokenId;

/// Tokens of a budget that are kept back: the completion from one position may be a few tokens longer than what is left of the
/// completion from the position before.
const RESERVED_TOKENS: usize = 8;
/// Tokens beyond the reserve that must be to spare where a token is taken before its completion is known.
const SPARE_TOKENS: usize = 32;

/// Tokens that are known to end the document from the current position, if any are.
#[derive(Debug, Default)]
pub(super) struct CompletionPlan {
    completion: Option<Vec<TokenId>>,
    /// Whether the budget has room for the completion and nothing else.
    binding: bool,
}

impl CompletionPlan {
    /// Whether tokens must be taken as planned, so that none may be added that are not part of the plan.
    pub(super) fn is_binding(&self) -> bool {
        self.binding
    }

    /// Whether the completion is so much shorter than `budget` that the next token may be taken before it is known how the
    /// document can be ended after it.
    pub(super) fn is_far_below(&self, budget: usize) -> bool {
        let planned = self.completion.as_ref().map(Vec::len);
        planned.is_some_and(|planned| planned + RESERVED_TOKENS + SPARE_TOKENS <= budget)
    }

    /// Whether `completion` is known and shorter than `budget` by the reserve.
    pub(super) fn fits(completion: Option<&[TokenId]>, budget: usize) -> bool {
        completion.is_some_and(|completion| completion.len() + RESERVED_TOKENS <= budget)
    }

    /// Notes that `completion` ends the document from the current position, where the budget is `budget`. A binding plan is
    /// left only for one that fits.
    pub(super) fn learn(&mut self, completion: Option<Vec<TokenId>>, budget: usize) {
        if Self::fits(completion.as_deref(), budget) || !self.binding {
            self.completion = completion;
            self.binding = false;
        }
    }

    /// Whether `token` may be taken, where `completion` is known to end the document after it and `budget` is the budget
    /// after it. If so, the plan is what ends the document from there.
    pub(super) fn admits(&mut self, token: TokenId, completion: Option<Vec<TokenId>>, budget: usize) -> bool {
        match (completion, &mut self.completion) {
            (completion, _) if Self::fits(completion.as_deref(), budget) => {
                self.completion = completion;
                self.binding = false;
                true
            }
            (_, Some(planned)) if planned.first() == Some(&token) => {
                planned.remove(0);
                self.binding = true;
                true
            }
            _ => false,
        }
    }

    /// Whether `forced` forced tokens may be taken beside the plan, where the budget is `budget`. Forced tokens are the
    /// tokenizer's own and may be more than the plan has for the same text, so none of the plan's are counted off.
    pub(super) fn leaves_room_for(&self, forced: usize, budget: usize) -> bool {
        let planned = self.completion.as_ref().map(Vec::len);
        planned.is_none_or(|planned| planned + forced + RESERVED_TOKENS <= budget)
    }

    /// The next token of the plan.
    pub(super) fn next(&self) -> Option<TokenId> {
        self.completion.as_ref()?.first().copied()
    }

    /// Whether it is known how the document can be ended.
    pub(super) fn is_known(&self) -> bool {
        self.completion.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_left_only_for_one_that_fits() {
        let mut plan = CompletionPlan::default();
        assert!(!plan.is_known());
        assert!(plan.admits(1, Some(vec![2, 3]), 2 + RESERVED_TOKENS));
        assert!(
            !plan.admits(9, Some(vec![2; 5]), 4 + RESERVED_TOKENS),
            "what follows is too long"
        );
        assert!(!plan.admits(9, None, 100), "nothing is known of what follows");
        assert!(!plan.is_binding());
        assert!(plan.admits(2, None, 1), "as planned");
        assert!(plan.is_binding());
        assert_eq!(plan.next(), Some(3));
        assert!(plan.admits(9, Some(Vec::new()), RESERVED_TOKENS) && !plan.is_binding());
        assert!(plan.admits(1, Some(vec![2, 3]), 20));
        assert!(plan.leaves_room_for(3, 5 + RESERVED_TOKENS) && !plan.leaves_room_for(4, 5 + RESERVED_TOKENS));
        assert!(
            CompletionPlan::default().leaves_room_for(100, 0),
            "nothing is known of what follows"
        );
    }

    #[test]
    fn what_is_learnt_replaces_a_plan_unless_it_is_all_there_is_room_for() {
        let mut plan = CompletionPlan::default();
        assert!(!plan.is_far_below(1000), "nothing is known");
        plan.learn(Some(vec![1, 2]), 0);
        assert_eq!(
            (plan.next(), plan.is_binding()),
            (Some(1), false),
            "whatever room there is"
        );
        assert!(
            plan.is_far_below(2 + RESERVED_TOKENS + SPARE_TOKENS)
                && !plan.is_far_below(1 + RESERVED_TOKENS + SPARE_TOKENS)
        );
        assert!(plan.admits(1, None, 2));
        plan.learn(Some(vec![3, 4, 5]), 2);
        assert_eq!((plan.next(), plan.is_binding()), (Some(2), true), "too long");
        plan.learn(Some(vec![3, 4, 5]), 3 + RESERVED_TOKENS);
        assert_eq!((plan.next(), plan.is_binding()), (Some(3), false));
        plan.learn(None, 100);
        assert!(!plan.is_known());
    }
}
