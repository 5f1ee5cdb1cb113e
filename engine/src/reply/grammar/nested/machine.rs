//! [`Machine`]: the automata of nested rules over bytes, with a stack of the calls that are open.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::{CompileError, CompileErrorKind};

use super::bodies::{Bodies, CallId, StateId};
use super::first::FirstBytes;
use super::skeleton::REPLY;

/// No state.
const NONE: u32 = u32::MAX;
/// Marks a call, by its number, in place of a state.
const CALL: u32 = 1 << 31;
/// Characters are made of so many states, at most.
const MAX_STATES: usize = 1 << 16;

/// A state over bytes.
#[derive(Clone, Debug)]
struct ByteState {
    /// What a byte leads to: a state, a call that reads it, or nothing.
    next: Box<[u32; 256]>,
    /// Whether the rule may end here, and may go on.
    may_end: bool,
    /// The exit by which the rule ends here and goes on nowhere.
    exit: Option<u32>,
    /// The call that is made here without a byte.
    enters: Option<CallId>,
    /// Number of exits of the rule.
    exits: u32,
}

/// A call of a rule.
#[derive(Debug)]
pub(super) struct Call {
    /// The state in which it is.
    pub(super) from: StateId,
    /// The state at which the rule starts.
    pub(super) start: StateId,
    /// The state behind it for each exit of the rule.
    pub(super) returns: Box<[StateId]>,
}

/// Nested rules over bytes.
#[derive(Debug)]
pub(super) struct Machine {
    states: Vec<ByteState>,
    pub(super) calls: Vec<Call>,
    /// The state before a reply.
    pub(super) start: StateId,
}

/// Where in a reply one stands: a state, the calls that were opened of late, and the stack of those before them.
#[derive(Clone, Debug)]
pub(super) struct Place<S> {
    pub(super) state: StateId,
    pub(super) opened: SmallVec<[CallId; 6]>,
    pub(super) below: S,
}

/// The calls that were open before.
pub(super) trait Below: Copy {
    /// What to look calls up in.
    type Source;

    /// The innermost call, and those around it; none where all are closed.
    fn pop(self, source: &Self::Source) -> Option<(CallId, Self)>;
}

/// Nothing is known of the calls that were open before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown;

impl Below for Unknown {
    type Source = ();

    fn pop(self, (): &()) -> Option<(CallId, Self)> {
        None
    }
}

/// What a byte leads to.
#[derive(Clone, Debug)]
pub(super) enum Step<S> {
    /// It cannot come.
    Refused,
    /// To a place.
    On(Place<S>),
    /// Out of all known calls by an exit; before the byte, or behind it.
    Out { exit: u32, is_before: bool },
}

impl Machine {
    /// The machine of some automata.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Unsupported`], where there are too many states.
    pub(super) fn new(bodies: &Bodies, first: &FirstBytes) -> Result<Self, CompileError> {
        let mut builder = ByteBuilder {
            states: Vec::new(),
            known: HashMap::new(),
        };
        for state in &bodies.states {
            builder.states.push(ByteState {
                next: Box::new([NONE; 256]),
                may_end: state.may_end,
                exit: state.exit.map(|exit| exit as u32),
                enters: state.enters,
                exits: bodies.exits[state.body].len() as u32,
            });
        }
        for (number, state) in bodies.states.iter().enumerate() {
            let mut texts: Vec<ByteRow> = Vec::new();
            for ((from, to), target) in &state.rows {
                for bytes in sequences(*from, *to) {
                    texts.push((bytes, *target));
                }
            }
            builder.fill(number, &texts)?;
            for &call in &state.calls {
                for byte in first.of(bodies.calls[call as usize].body).iter() {
                    builder.states[number].next[usize::from(byte)] = CALL | call;
                }
            }
        }
        let calls = bodies.calls.iter().map(|call| Call {
            from: call.from,
            start: call.start,
            returns: call.returns.clone().into(),
        });
        Ok(Self {
            states: builder.states,
            calls: calls.collect(),
            start: bodies.starts[REPLY],
        })
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// The states that bytes lead to from a state, in its rule.
    pub(super) fn own(&self, state: StateId) -> impl Iterator<Item = (u8, StateId)> + '_ {
        let next = (0..=u8::MAX).zip(self.states[state as usize].next.iter());
        next.filter(|(_, next)| **next & CALL == 0)
            .map(|(byte, next)| (byte, *next))
    }

    /// The state behind a byte of the rule's own; `Err` says whether the byte may still come, in a rule that is called or behind this one.
    pub(super) fn own_step(&self, from: StateId, byte: u8) -> Result<StateId, bool> {
        let state = &self.states[from as usize];
        let next = state.next[usize::from(byte)];
        if next & CALL != 0 {
            return Err(next != NONE || state.may_end);
        }
        let next_state = &self.states[next as usize];
        match next_state.exit.is_none() && next_state.enters.is_none() {
            true => Ok(next),
            false => Err(true),
        }
    }

    /// Number of exits of the rule of a state.
    pub(super) fn exits(&self, state: StateId) -> u32 {
        self.states[state as usize].exits
    }

    /// The exit by which a rule may end in a state.
    pub(super) fn ends(&self, state: StateId) -> Option<u32> {
        let state = &self.states[state as usize];
        state.exit.or(state.may_end.then_some(0))
    }

    /// Whether several bytes may come in a state, whatever is around its rule.
    pub(super) fn has_choice(&self, state: StateId) -> bool {
        self.states[state as usize]
            .next
            .iter()
            .filter(|next| **next != NONE)
            .nth(1)
            .is_some()
    }

    /// Bytes of memory, roughly.
    pub(super) fn bytes(&self) -> usize {
        let calls = self.calls.iter().map(|call| size_of::<Call>() + 4 * call.returns.len());
        self.states.len() * (1024 + size_of::<ByteState>()) + calls.sum::<usize>()
    }

    /// The place behind a byte.
    pub(super) fn step<S: Below>(&self, place: &Place<S>, byte: u8, source: &S::Source) -> Step<S> {
        let mut place = place.clone();
        loop {
            let state = &self.states[place.state as usize];
            match state.next[usize::from(byte)] {
                NONE if state.may_end => match self.leave(place, 0, source) {
                    Ok(left) => place = left,
                    Err(exit) => return Step::Out { exit, is_before: true },
                },
                NONE => return Step::Refused,
                call if call & CALL != 0 => {
                    place.opened.push(call & !CALL);
                    place.state = self.calls[(call & !CALL) as usize].start;
                }
                next => {
                    place.state = next;
                    let Some(exit) = self.states[next as usize].exit else {
                        self.enter(&mut place);
                        return Step::On(place);
                    };
                    return match self.leave(place, exit, source) {
                        Ok(left) => Step::On(left),
                        Err(exit) => Step::Out { exit, is_before: false },
                    };
                }
            }
        }
    }

    /// The place behind a rule that ends by an exit, or the exit out of all known calls.
    pub(super) fn leave<S: Below>(
        &self,
        mut place: Place<S>,
        mut exit: u32,
        source: &S::Source,
    ) -> Result<Place<S>, u32> {
        loop {
            let call = match place.opened.pop() {
                Some(call) => call,
                None => {
                    let Some((call, below)) = place.below.pop(source) else {
                        return Err(exit);
                    };
                    place.below = below;
                    call
                }
            };
            place.state = self.calls[call as usize].returns[exit as usize];
            match self.states[place.state as usize].exit {
                Some(next) => exit = next,
                None => {
                    self.enter(&mut place);
                    return Ok(place);
                }
            }
        }
    }

    /// Makes the calls that are made without a byte.
    fn enter<S>(&self, place: &mut Place<S>) {
        while let Some(call) = self.states[place.state as usize].enters {
            place.opened.push(call);
            place.state = self.calls[call as usize].start;
        }
    }
}

/// Bytes that a character may have, place by place, and the state behind it.
type ByteRow = (SmallVec<[(u8, u8); 4]>, StateId);

/// Adds the states within characters.
struct ByteBuilder {
    states: Vec<ByteState>,
    /// The states within a character, by what may follow.
    known: HashMap<Vec<ByteRow>, StateId>,
}

impl ByteBuilder {
    /// Fills the edges of a state.
    fn fill(&mut self, state: usize, rows: &[ByteRow]) -> Result<(), CompileError> {
        // A character has at most three bytes behind the first.
        let mut open = vec![(state, rows.to_vec())];
        while let Some((state, rows)) = open.pop() {
            let mut by_byte: Vec<Vec<ByteRow>> = vec![Vec::new(); 256];
            for (bytes, target) in &rows {
                let (first, last) = bytes[0];
                for byte in first..=last {
                    by_byte[usize::from(byte)].push((bytes[1..].into(), *target));
                }
            }
            for (byte, rest) in by_byte.into_iter().enumerate() {
                let Some((bytes, target)) = rest.first() else { continue };
                let next = match bytes.is_empty() {
                    true => *target,
                    false => match self.known.get(&rest) {
                        Some(known) => *known,
                        None => {
                            let number = self.states.len();
                            if number >= MAX_STATES {
                                let message =
                                    format!("more than {MAX_STATES} states of rules that are nested in themselves");
                                return Err(
                                    CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar")
                                );
                            }
                            self.states.push(ByteState {
                                next: Box::new([NONE; 256]),
                                may_end: false,
                                exit: None,
                                enters: None,
                                exits: self.states[state].exits,
                            });
                            self.known.insert(rest.clone(), number as StateId);
                            open.push((number, rest));
                            number as StateId
                        }
                    },
                };
                self.states[state].next[byte] = next;
            }
        }
        Ok(())
    }
}

/// The bytes of all characters from one to another, as ranges place by place.
fn sequences(from: char, to: char) -> Vec<SmallVec<[(u8, u8); 4]>> {
    regex_syntax::utf8::Utf8Sequences::new(from, to)
        .map(|sequence| {
            sequence
                .as_slice()
                .iter()
                .map(|range| (range.start, range.end))
                .collect()
        })
        .collect()
}
