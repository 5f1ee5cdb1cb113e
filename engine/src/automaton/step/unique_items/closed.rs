//! Containers that must differ from others (`uniqueItems`) and end with a string, and the tokens that may follow the string.
//!
//! Nearly every text of that string makes a container that differs from all others. So one check of the bytes after the closing
//! quote serves all strings, unless an enclosing container still agrees with a value that it must not equal, or values may run out.

use crate::automaton::error::AutomatonError;
use crate::automaton::step::{Automaton, Container, State, is_whitespace};

impl Automaton {
    /// Whether all strings, except the [exceptional](super::super::ExceptionalTexts) ones, agree on whether `rest` may
    /// follow the closing quote. `after` is the state after most strings, and `rest` contains brackets that
    /// close containers.
    ///
    /// Two such strings produce two containers, each different from all values that the containers have to differ from.
    /// So they count only by their number, and not even by that as long as infinitely many values are possible.
    pub(crate) fn ends_alike(&mut self, after: State, mut rest: &[u8]) -> Result<bool, AutomatonError> {
        let mut at = after;
        while let Some((&byte, behind)) = rest.split_first()
            && (matches!(byte, b'}' | b']') || is_whitespace(byte))
        {
            at = match self.step(at, byte)? {
                Some(next) => next,
                // If one such container may not end here, neither may any other.
                None => return Ok(true),
            };
            rest = behind;
        }
        match rest.split_first() {
            None => Ok(true),
            Some((b',', behind)) => {
                let behind = behind.trim_ascii_start();
                // A scalar differs from the containers that have ended, and a new container does not end within these
                // bytes.
                let is_object = matches!(behind, b"{" | b"{\"");
                match is_object || !behind.iter().any(|byte| matches!(byte, b'{' | b'}' | b'[' | b']')) {
                    true => self.items_are_infinite(at, is_object),
                    false => Ok(false),
                }
            }
            // A byte that may not follow one string may not follow another.
            Some((byte, _)) => Ok(self.step(at, *byte)?.is_none()),
        }
    }

    /// Whether infinitely many values, or objects if `only_objects`, may come next in an array; `true` also if items
    /// need not differ.
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
        // If no object may come, the answer is the same for all strings as well.
        let Some(object) = self.begin_container(expected, at.stack, false)? else {
            return Ok(true);
        };
        match self.frame(object.stack) {
            Some(object) => self.search.is_infinite_object(object.formulas[0], &[]),
            None => Ok(false),
        }
    }
}
