//! FIRST/FOLLOW conflicts: rules that may end or go on in a state, with a byte in common.

use super::bodies::{Bodies, BodyState};
use super::first::{ByteSet, FirstBytes};
use super::skeleton::{BodyId, Skeleton};

/// Returns the rules with a state in which the rule may go on with a byte that may also follow it, each with a message.
pub(super) fn conflicts_behind(bodies: &Bodies, skeleton: &Skeleton, first: &FirstBytes) -> Vec<(BodyId, String)> {
    let Bodies {
        states, calls, exits, ..
    } = bodies;
    let mut behind: Vec<Vec<ByteSet>> = exits
        .iter()
        .map(|exits| vec![ByteSet::default(); exits.len()])
        .collect();
    loop {
        let mut has_changed = false;
        for call in calls {
            for (exit, state) in call.returns.iter().enumerate() {
                let state = &states[*state as usize];
                let mut next = own(bodies, first, state);
                if let Some(exit) = state.exit.or(state.may_end.then_some(0)) {
                    next.join(&behind[state.body][exit]);
                }
                has_changed |= behind[call.body][exit].join(&next);
            }
        }
        if !has_changed {
            break;
        }
    }
    let mut conflicts = Vec::new();
    for state in states.iter().filter(|state| state.may_end) {
        if let Some(byte) = behind[state.body][0].common(&own(bodies, first, state)) {
            let byte = told_byte(byte);
            let message = format!(
                "{} what may go on and what may follow both begin with {byte}",
                skeleton.bodies[state.body].told()
            );
            conflicts.push((state.body, message));
        }
    }
    conflicts
}

/// A byte as error messages spell it.
pub(super) fn told_byte(byte: u8) -> String {
    match byte.is_ascii() {
        true => format!("{:?}", char::from(byte)),
        false => format!("the byte {byte:#04x}"),
    }
}

/// The bytes that the rule of a state can read next, itself or by a call.
fn own<'b>(bodies: &'b Bodies, first: &FirstBytes, mut state: &'b BodyState) -> ByteSet {
    while let Some(call) = state.enters {
        state = &bodies.states[bodies.calls[call as usize].start as usize];
    }
    let mut own = state.own;
    for call in &state.calls {
        own.join(first.of(bodies.calls[*call as usize].body));
    }
    own
}
