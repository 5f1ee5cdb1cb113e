//! [`Ends`]: for each state and each exit of its rule, the shortest text that ends the rule by that exit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bodies::{CallId, StateId};
use super::machine::Machine;

/// Length that stands for "there is no text".
pub(super) const NEVER: u32 = u32::MAX;

/// The first step of a shortest text.
#[derive(Clone, Copy, Debug)]
enum First {
    /// The rule ends here.
    End,
    /// A byte, and the state behind it.
    Byte(u8, StateId),
    /// A shortest text of a call whose rule ends by an exit.
    Call(CallId, u32),
}

/// The lengths and first steps of all shortest texts.
#[derive(Debug)]
pub(super) struct Ends {
    /// For each state the index of its first exit in `lengths` and `first`.
    offsets: Box<[u32]>,
    /// For each state and exit the number of bytes.
    lengths: Box<[u32]>,
    first: Box<[First]>,
}

impl Ends {
    /// Computes all shortest texts by Knuth's generalisation of Dijkstra's algorithm to context-free grammars.
    pub(super) fn new(machine: &Machine) -> Self {
        let states = 0..machine.len() as StateId;
        let (mut offsets, mut owners) = (Vec::with_capacity(machine.len()), Vec::new());
        for state in states.clone() {
            offsets.push(owners.len() as u32);
            owners.extend((0..machine.exits(state)).map(|exit| (state, exit)));
        }
        let mut found = Self {
            offsets: offsets.into(),
            lengths: vec![NEVER; owners.len()].into(),
            first: vec![First::End; owners.len()].into(),
        };
        let mut before: Vec<Vec<(StateId, u8)>> = vec![Vec::new(); machine.len()];
        for state in states.clone() {
            for (byte, next) in machine.own(state) {
                let before = &mut before[next as usize];
                if before.last().is_none_or(|(last, _)| *last != state) {
                    before.push((state, byte));
                }
            }
        }
        let mut starting: Vec<Vec<CallId>> = vec![Vec::new(); machine.len()];
        let mut returning: Vec<Vec<(CallId, u32)>> = vec![Vec::new(); machine.len()];
        for (number, call) in (0..).zip(&machine.calls) {
            starting[call.start as usize].push(number);
            for (exit, state) in (0..).zip(&call.returns) {
                returning[*state as usize].push((number, exit));
            }
        }
        // Lengths with states and exits, and the first step.
        let mut open: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        let mut proposed: Vec<(u32, First)> = vec![(NEVER, First::End); owners.len()];
        let mut propose = |open: &mut BinaryHeap<_>, node: u32, length: u32, first: First| {
            let known = &mut proposed[node as usize];
            if length < known.0 {
                *known = (length, first);
                open.push(Reverse((length, node)));
            }
            *known
        };
        for state in states {
            if let Some(exit) = machine.ends(state) {
                propose(&mut open, found.offsets[state as usize] + exit, 0, First::End);
            }
        }
        while let Some(Reverse((length, node))) = open.pop() {
            if found.lengths[node as usize] != NEVER {
                continue;
            }
            let (_, first) = propose(&mut open, node, NEVER, First::End);
            (found.lengths[node as usize], found.first[node as usize]) = (length, first);
            let (state, exit) = owners[node as usize];
            for &(from, byte) in &before[state as usize] {
                let node = found.offsets[from as usize] + exit;
                propose(&mut open, node, length.saturating_add(1), First::Byte(byte, state));
            }
            for &number in &starting[state as usize] {
                let call = &machine.calls[number as usize];
                let behind = call.returns[exit as usize];
                for last in 0..machine.exits(behind) {
                    let length = length.saturating_add(found.length(behind, last));
                    let node = found.offsets[call.from as usize] + last;
                    propose(&mut open, node, length, First::Call(number, exit));
                }
            }
            for &(number, by) in &returning[state as usize] {
                let call = &machine.calls[number as usize];
                let length = length.saturating_add(found.length(call.start, by));
                let node = found.offsets[call.from as usize] + exit;
                propose(&mut open, node, length, First::Call(number, by));
            }
        }
        found
    }

    /// The number of bytes of the shortest text from a state to the end of its rule by an exit.
    pub(super) fn length(&self, state: StateId, exit: u32) -> u32 {
        self.lengths[(self.offsets[state as usize] + exit) as usize]
    }

    /// Appends the shortest text from a state to the end of its rule by an exit, which must exist.
    pub(super) fn write(&self, machine: &Machine, state: StateId, exit: u32, text: &mut Vec<u8>) {
        let mut open = vec![(state, exit)];
        while let Some((state, exit)) = open.pop() {
            match self.first[(self.offsets[state as usize] + exit) as usize] {
                First::End => {}
                First::Byte(byte, next) => {
                    text.push(byte);
                    open.push((next, exit));
                }
                First::Call(number, by) => {
                    let call = &machine.calls[number as usize];
                    open.push((call.returns[by as usize], exit));
                    open.push((call.start, by));
                }
            }
        }
    }

    /// Bytes of memory, roughly.
    pub(super) fn bytes(&self) -> usize {
        4 * self.offsets.len() + 20 * self.lengths.len()
    }
}
