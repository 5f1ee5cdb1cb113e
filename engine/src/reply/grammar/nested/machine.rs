//! [`Machine`]: the deterministic pushdown automaton of a grammar with nested rules: byte transitions, and a stack of open calls.

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
/// Maximal number of states, those within characters included.
const MAX_STATES: usize = 1 << 16;

/// A state of the automaton over bytes.
#[derive(Clone, Debug)]
struct ByteState {
    /// For each byte its target: a state, a call that reads the byte (marked [`CALL`]), or [`NONE`].
    next: Box<[u32; 256]>,
    /// Whether the rule may end here and may go on as well.
    may_end: bool,
    /// The exit by which the rule must end here.
    exit: Option<u32>,
    /// The call that is made here without a byte.
    enters: Option<CallId>,
    /// Number of exits of the rule.
    exits: u32,
}

/// A call of a rule.
#[derive(Debug)]
pub(super) struct Call {
    /// The state that calls.
    pub(super) from: StateId,
    /// The state at which the rule starts.
    pub(super) start: StateId,
    /// The state behind the call for each exit of the called rule.
    pub(super) returns: Box<[StateId]>,
}

/// The byte automata of all nested rules, and their calls.
#[derive(Debug)]
pub(super) struct Machine {
    states: Vec<ByteState>,
    pub(super) calls: Vec<Call>,
    /// The state before a reply.
    pub(super) start: StateId,
}

/// A configuration of the pushdown automaton: a state, the calls opened since a stack, and that stack.
#[derive(Clone, Debug)]
pub(super) struct Place<S> {
    pub(super) state: StateId,
    pub(super) opened: SmallVec<[CallId; 6]>,
    pub(super) below: S,
}

/// The stack of calls below those that a [`Place`] has opened itself.
pub(super) trait Below: Copy {
    /// Storage in which the stack is looked up.
    type Source;

    /// Returns the innermost call and the stack below it; none where the stack is empty or unknown.
    fn pop(self, source: &Self::Source) -> Option<(CallId, Self)>;
}

/// An unknown stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown;

impl Below for Unknown {
    type Source = ();

    fn pop(self, (): &()) -> Option<(CallId, Self)> {
        None
    }
}

/// The result of reading a byte.
#[derive(Clone, Debug)]
pub(super) enum Step<S> {
    /// The byte is not allowed.
    Refused,
    /// The byte leads to a place.
    On(Place<S>),
    /// All known calls end, the outermost by `exit`, either before the byte is read (`is_before`) or with it.
    Out { exit: u32, is_before: bool },
}

impl Machine {
    /// Compiles the automata of `bodies` from characters to bytes.
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

    /// The byte transitions of a state within its rule, calls left out.
    pub(super) fn own(&self, state: StateId) -> impl Iterator<Item = (u8, StateId)> + '_ {
        let next = (0..=u8::MAX).zip(self.states[state as usize].next.iter());
        next.filter(|(_, next)| **next & CALL == 0)
            .map(|(byte, next)| (byte, *next))
    }

    /// Returns the target of a byte transition within the rule. `Err` says whether the byte may be allowed otherwise: by a call or an end of it.
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

    /// Whether a state allows several bytes, whatever the stack.
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

    /// Reads a byte at a place.
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

    /// Returns from a rule that ends by an exit: the place behind it, or as an error the exit by which the outermost known call ends.
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

/// Ranges of the bytes of some characters, one range for each byte, and the state behind these characters.
type ByteRow = (SmallVec<[(u8, u8); 4]>, StateId);

/// Compiles transitions by characters to transitions by bytes.
struct ByteBuilder {
    states: Vec<ByteState>,
    /// The states within a character, by the byte rows that are left.
    known: HashMap<Vec<ByteRow>, StateId>,
}

impl ByteBuilder {
    /// Fills the byte transitions of a state.
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

/// The UTF-8 sequences of all characters of a range, as sequences of byte ranges.
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
