//! [`History`]: the states of a text, one for each accepted token, for rollback.

use std::sync::Arc;

/// Number of states that are kept together.
const CHUNK: usize = 128;

/// Number of states that room is made for at once.
const ROOM: usize = 64;

/// States, of which there is always a first. Neither a copy nor one more state takes longer the more there are, because whole
/// chunks stay where they are and are shared.
#[derive(Clone, Debug)]
pub(crate) struct History<S> {
    /// Chunks that are full.
    full: Vec<Arc<Vec<S>>>,
    /// The states behind these, at least one.
    open: Vec<S>,
}

impl<S: Clone> History<S> {
    /// A single state.
    pub(crate) fn new(first: S) -> Self {
        Self {
            full: Vec::new(),
            open: vec![first],
        }
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.full.len() * CHUNK + self.open.len()
    }

    /// The last state.
    pub(crate) fn last(&self) -> &S {
        &self.open[self.open.len() - 1]
    }

    /// The state with so many before it, of which there is one.
    pub(crate) fn get(&self, before: usize) -> &S {
        match self.full.get(before / CHUNK) {
            Some(chunk) => &chunk[before % CHUNK],
            None => &self.open[before - self.full.len() * CHUNK],
        }
    }

    /// Adds a state.
    pub(crate) fn push(&mut self, state: S) {
        if self.open.len() == CHUNK {
            self.full.push(Arc::new(std::mem::take(&mut self.open)));
        }
        if self.open.len() == self.open.capacity() {
            self.open.reserve(ROOM);
        }
        self.open.push(state);
    }

    /// Forgets all states but so many, at least one.
    pub(crate) fn truncate(&mut self, states: usize) {
        let (states, whole) = (states.max(1), self.full.len() * CHUNK);
        if states > whole {
            self.open.truncate(states - whole);
            return;
        }
        let chunks = (states - 1) / CHUNK;
        self.open = self.full[chunks][..states - chunks * CHUNK].to_vec();
        self.full.truncate(chunks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_those_of_a_list() {
        let (mut history, mut list) = (History::new(0), vec![0]);
        for step in 1..2_000_usize {
            match step % 7 {
                6 => {
                    let states = list.len().saturating_sub(step * 31 % 300).max(1);
                    let copy = history.clone();
                    history.truncate(states);
                    assert_eq!((copy.len(), copy.last()), (list.len(), &list[list.len() - 1]));
                    list.truncate(states);
                }
                _ => (0..step % 90).for_each(|more| {
                    history.push(step + more);
                    list.push(step + more);
                }),
            }
            assert_eq!((history.len(), history.last()), (list.len(), &list[list.len() - 1]));
        }
    }
}
