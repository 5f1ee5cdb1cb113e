//! Objects that the style narrows: to declared keys, or to objects with all declared keys.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{FormulaId, OrderId};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{Automaton, StackId};

/// Depth from which on objects no longer have all members that are declared, so that no style asks for an endless document.
const ALL_REQUIRED_DEPTH: u32 = 128;

impl Automaton {
    /// The order of the keys of an object that begins, and the condition on it as far as the style narrows it.
    pub(in crate::automaton::step) fn begin_in_style(
        &mut self,
        expected: ExpectationId,
        stack: StackId,
        demand: FormulaId,
    ) -> Result<(OrderId, FormulaId), AutomatonError> {
        let mut planned = self.search.planned_order(expected)?;
        if self.is_too_deep(stack, ALL_REQUIRED_DEPTH) {
            planned = self.search.algebra.orders.opened(planned);
        }
        let must_differ = self.keeps_values(stack);
        self.search.begin_object(planned, demand, must_differ)
    }

    /// Whether a container at a stack is at least so deep where the style asks for all members that are declared.
    pub(in crate::automaton::step) fn is_too_deep(&self, stack: StackId, depth: u32) -> bool {
        let frame = self.frames.all.get(stack.0 as usize);
        self.search.algebra.style.all_required && frame.is_some_and(|frame| frame.depth >= depth)
    }
}
