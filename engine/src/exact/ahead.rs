//! What is worked out when a schema is compiled, before it is asked for.
//!
//! The first mask at a place takes longer than those after it, and what takes long is mostly the same in all documents:
//! which tokens begin a value of each kind that the schema speaks of, which may come first in its strings, numbers and
//! names. A compiler has time for that where a decode loop has not, so the kinds nearest to the root are looked at, as
//! many as fit a bound on work.

use std::collections::VecDeque;

use crate::automaton::{NameRests, PlaceKind, State, Trouble};

use super::work::{Shared, Work};

/// Kinds of values that are looked at.
const MOST_VALUES: usize = 48;
/// Names of an object.
const MOST_NAMES: usize = 48;
/// Memory from which on no more is looked at: it grows with the work, which it is a measure of.
const MOST_BYTES: usize = 40 << 10;
/// Memory that a single look may take. Where the schema itself has taken more all looks are long.
const MOST_OF_ONE: usize = 1 << 20;

impl Work {
    /// Looks at values, nearest to the root first, from the place before a document on.
    pub(super) fn look_ahead(&mut self, start: State, shared: &Shared) {
        let memory = self.automaton.memory();
        if memory > MOST_OF_ONE {
            return;
        }
        let allowed = self.automaton.allow_memory(usize::MAX);
        self.automaton.allow_memory(allowed.min(memory + MOST_OF_ONE));
        // What fails here is asked again where it is needed.
        let _ = self.values_ahead(start, memory + MOST_BYTES, shared);
        self.automaton.allow_memory(allowed);
    }

    /// Values of one kind are looked at once, so that schemas that lead back to themselves come to an end.
    fn values_ahead(&mut self, start: State, allowed: usize, shared: &Shared) -> Result<(), Trouble> {
        let mut open = VecDeque::from([(None, start)]);
        let mut values = 0;
        while let Some((name, at)) = open.pop_front() {
            if values == MOST_VALUES || self.automaton.memory() > allowed {
                break;
            }
            if !self.walk(shared).value_ahead(name, at)? {
                continue;
            }
            values += 1;
            if let Some(text) = self.automaton.step(at, b'"')? {
                self.tokens(text, shared)?;
            }
            if let PlaceKind::Between(Some(digits)) = self.automaton.kind(at)? {
                self.walk(shared).numbers(at, digits)?;
            }
            if let Some(number) = self.automaton.step(at, b'1')? {
                self.tokens(number, shared)?;
            }
            if let Some(object) = self.automaton.step(at, b'{')? {
                self.names_ahead(object, allowed, shared, &mut open)?;
            }
            if let Some(array) = self.automaton.step(at, b'[')? {
                let item = self.automaton.first_item(array)?;
                open.extend(item.map(|item| (None, item)));
            }
        }
        Ok(())
    }

    /// Looks at the first name of an object, and goes on with the values of those that are listed.
    fn names_ahead(
        &mut self,
        object: State,
        allowed: usize,
        shared: &Shared,
        open: &mut VecDeque<(Option<State>, State)>,
    ) -> Result<(), Trouble> {
        let Some(at) = self.automaton.step(object, b'"')? else {
            return Ok(());
        };
        self.tokens(at, shared)?;
        let names = match self.automaton.name_rests(at)? {
            NameRests::These(names, _) => names.into_vec(),
            _ => match self.automaton.begun_name(at)? {
                Some(begun) => self.automaton.only_listed_differ(&begun).unwrap_or_default().to_vec(),
                None => Vec::new(),
            },
        };
        for name in names.into_iter().take(MOST_NAMES) {
            if self.automaton.memory() > allowed {
                break;
            }
            let name = self.automaton.after_name(at, name);
            let value = self.automaton.value_of_name(name)?;
            open.extend(value.map(|value| (Some(name), value)));
        }
        Ok(())
    }
}
