//! Ending a constrained answer before its limit on tokens.

use maskwright::TokenId;

/// Tokens kept back: a completion from one place may have a few more than what is left of one from before.
const RESERVE: usize = 8;
/// Tokens to spare beyond the reserve, while a token is taken first and looked at afterwards.
const SPARE: usize = 32;

/// Tokens that are known to end the document from the place reached, if any are.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    rest: Option<Vec<TokenId>>,
    /// Whether the plan is all that there is room for.
    binding: bool,
}

impl Plan {
    /// Whether tokens must be taken as the plan has them, so that none may be added that are not part of it.
    pub(crate) fn is_binding(&self) -> bool {
        self.binding
    }

    /// Whether there is so much room that the next token may be taken before it is known how the document can be ended after it.
    pub(crate) fn is_roomy(&self, room: usize) -> bool {
        let planned = self.rest.as_ref().map(Vec::len);
        planned.is_some_and(|planned| planned + RESERVE + SPARE <= room)
    }

    /// Whether the document can surely be ended in time at a place from which `rest` ends it and `room` tokens may follow.
    pub(crate) fn fits(rest: Option<&[TokenId]>, room: usize) -> bool {
        rest.is_some_and(|rest| rest.len() + RESERVE <= room)
    }

    /// Notes that `rest` ends the document from the place reached, where `room` tokens may follow.
    pub(crate) fn learn(&mut self, rest: Option<Vec<TokenId>>, room: usize) {
        if Self::fits(rest.as_deref(), room) || !self.binding {
            self.rest = rest;
            self.binding = false;
        }
    }

    /// Whether `token` may be taken, where `rest` is known to end the document after it and `room` tokens may follow.
    /// If so, the plan is what ends it from there.
    pub(crate) fn admits(&mut self, token: TokenId, rest: Option<Vec<TokenId>>, room: usize) -> bool {
        match (rest, &mut self.rest) {
            (rest, _) if Self::fits(rest.as_deref(), room) => {
                self.rest = rest;
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

    /// Whether so many forced tokens may be taken, where `room` tokens may follow. They are the tokenizer's own, and may be more
    /// than the plan has for the same text; none of its tokens are counted off, so that they surely fit.
    pub(crate) fn has_room_for(&self, forced: usize, room: usize) -> bool {
        let planned = self.rest.as_ref().map(Vec::len);
        planned.is_none_or(|planned| planned + forced + RESERVE <= room)
    }

    /// The next token of the plan.
    pub(crate) fn next(&self) -> Option<TokenId> {
        self.rest.as_ref()?.first().copied()
    }

    /// Whether it is known how the document can be ended.
    pub(crate) fn is_known(&self) -> bool {
        self.rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_left_only_for_one_that_fits() {
        let mut plan = Plan::default();
        assert!(!plan.is_known());
        assert!(plan.admits(1, Some(vec![2, 3]), 2 + RESERVE));
        assert!(
            !plan.admits(9, Some(vec![2; 5]), 4 + RESERVE),
            "what follows is too long"
        );
        assert!(!plan.admits(9, None, 100), "nothing is known of what follows");
        assert!(!plan.is_binding());
        assert!(plan.admits(2, None, 1), "as planned");
        assert!(plan.is_binding());
        assert_eq!(plan.next(), Some(3));
        assert!(plan.admits(9, Some(Vec::new()), RESERVE) && !plan.is_binding());
        assert!(plan.admits(1, Some(vec![2, 3]), 20));
        assert!(plan.has_room_for(3, 5 + RESERVE) && !plan.has_room_for(4, 5 + RESERVE));
        assert!(Plan::default().has_room_for(100, 0), "nothing is known of what follows");
    }

    #[test]
    fn what_is_learnt_replaces_a_plan_unless_it_is_all_there_is_room_for() {
        let mut plan = Plan::default();
        assert!(!plan.is_roomy(1000), "nothing is known");
        plan.learn(Some(vec![1, 2]), 0);
        assert_eq!(
            (plan.next(), plan.is_binding()),
            (Some(1), false),
            "whatever room there is"
        );
        assert!(plan.is_roomy(2 + RESERVE + SPARE) && !plan.is_roomy(1 + RESERVE + SPARE));
        assert!(plan.admits(1, None, 2));
        plan.learn(Some(vec![3, 4, 5]), 2);
        assert_eq!((plan.next(), plan.is_binding()), (Some(2), true), "too long");
        plan.learn(Some(vec![3, 4, 5]), 3 + RESERVE);
        assert_eq!((plan.next(), plan.is_binding()), (Some(3), false));
        plan.learn(None, 100);
        assert!(!plan.is_known());
    }
}
