//! Containers that end with a string, and what may come behind them.

use crate::automaton::error::AutomatonError;
use crate::automaton::step::{Automaton, Container, State, is_whitespace};

impl Automaton {
    /// Whether it is the same for all strings, but for those that [`after_most_texts`](Self::after_most_texts) gives
    /// beside the state `after` most of them, whether `rest` may come behind them. It has brackets that end containers.
    ///
    /// Two such strings make two containers that are as any other value to all values that the containers have to
    /// differ from, so it matters to these in nothing but their number, and as long as there is no end of values not
    /// even in that.
    pub(crate) fn ends_alike(&mut self, after: State, mut rest: &[u8]) -> Result<bool, AutomatonError> {
        // A string may make one of the containers around its own the same as another, if these agree so far.
        let mut around = self.frame(after.stack).map(|frame| frame.below);
        while let Some(stack) = around.filter(|stack| self.keeps_values(*stack)) {
            if !self.distinctness(stack)?.own.is_empty() {
                return Ok(false);
            }
            around = self.frame(stack).map(|frame| frame.below);
        }
        let mut at = after;
        while let Some((&byte, behind)) = rest.split_first()
            && (matches!(byte, b'}' | b']') || is_whitespace(byte))
        {
            at = match self.step(at, byte)? {
                Some(next) => next,
                // Where one container may not end, no other may.
                None => return Ok(true),
            };
            rest = behind;
        }
        match rest.split_first() {
            None => Ok(true),
            Some((b',', behind)) => {
                let behind = behind.trim_ascii_start();
                // What is no container differs from those that have ended, and what is one does not end here.
                let is_object = matches!(behind, b"{" | b"{\"");
                match is_object || !behind.iter().any(|byte| matches!(byte, b'{' | b'}' | b'[' | b']')) {
                    true => self.items_are_infinite(at, is_object),
                    false => Ok(false),
                }
            }
            // What may not come behind one may not come behind another.
            Some((byte, _)) => Ok(self.step(at, *byte)?.is_none()),
        }
    }

    /// Whether there is no end of values, or of objects only, that may come next in an array, if these have to differ
    /// from others.
    fn items_are_infinite(&mut self, at: State, only_objects: bool) -> Result<bool, AutomatonError> {
        let Some(frame) = self.frame(at.stack) else {
            return Ok(false);
        };
        if !matches!(frame.kind, Container::Array { .. }) || !self.search.algebra.asks_unique(&frame.formulas) {
            return Ok(true);
        }
        if !self.search.must_differ(frame.formulas[0]) {
            return Ok(false);
        }
        let Some(expected) = self.item(at.stack)? else {
            return Ok(false);
        };
        if !only_objects {
            return self.search.value_is_infinite(expected);
        }
        // Where no object may come it is the same as well.
        let Some(object) = self.begin_container(expected, at.stack, false)? else {
            return Ok(true);
        };
        match self.frame(object.stack) {
            Some(object) => self.search.is_infinite_object(object.formulas[0], &[]),
            None => Ok(false),
        }
    }
}
