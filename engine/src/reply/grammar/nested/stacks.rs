//! [`Stacks`]: hash-consed stacks of the calls that are open in replies.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::bodies::CallId;
use super::ends::Ends;
use super::machine::{Below, Machine};

/// Handle of a stack of open calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stack(u32);

impl Stack {
    /// No call is open.
    pub(super) const NONE: Self = Self(0);
}

#[derive(Debug)]
struct Frame {
    call: CallId,
    below: Stack,
    /// For each exit of the innermost call the bytes of the shortest text that ends the reply behind it.
    ends: SmallVec<[u32; 2]>,
}

/// The arena of all stacks that replies have reached.
#[derive(Debug)]
pub(super) struct Stacks {
    frames: Vec<Frame>,
    known: HashMap<(CallId, Stack), Stack>,
}

/// Bytes that a stack takes, roughly.
const STACK_BYTES: usize = size_of::<Frame>() + 24;

impl Stacks {
    /// The stack without calls.
    pub(super) fn new() -> Self {
        let none = Frame {
            call: 0,
            below: Stack::NONE,
            ends: SmallVec::from_slice(&[0]),
        };
        Self {
            frames: vec![none],
            known: HashMap::new(),
        }
    }

    /// A stack with one more call.
    pub(super) fn push(&mut self, machine: &Machine, ends: &Ends, call: CallId, below: Stack) -> Stack {
        if let Some(known) = self.known.get(&(call, below)) {
            return *known;
        }
        let behind = &self.frames[below.0 as usize].ends;
        let returns = machine.calls[call as usize].returns.iter();
        let shortest = returns.map(|state| {
            let lengths = (0..)
                .zip(behind)
                .map(|(exit, behind)| ends.length(*state, exit).saturating_add(*behind));
            lengths.min().unwrap_or(u32::MAX)
        });
        let shortest = shortest.collect();
        let stack = Stack(self.frames.len() as u32);
        self.frames.push(Frame {
            call,
            below,
            ends: shortest,
        });
        self.known.insert((call, below), stack);
        stack
    }

    /// For each exit of the innermost call the bytes of the shortest text that ends the reply behind it.
    pub(super) fn ends(&self, stack: Stack) -> &[u32] {
        &self.frames[stack.0 as usize].ends
    }

    /// Bytes of memory, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.frames.len() * STACK_BYTES
    }
}

impl Below for Stack {
    type Source = Stacks;

    fn pop(self, stacks: &Stacks) -> Option<(CallId, Self)> {
        let frame = &stacks.frames[self.0 as usize];
        (self != Self::NONE).then_some((frame.call, frame.below))
    }
}
