//! What the benchmarks of masks share: the states in which masks are measured, and how.
//!
//! `cargo bench -p maskwright-benches` runs the benchmarks in `benches/`; README.md has the others.

pub mod masks;
mod states;

use std::thread;

pub use states::{SCHEMAS_TO_COMPILE, State, Visit, states};

/// Stack of the thread that measures, as a worker of the harness has it: frameworks recurse over schemas.
const STACK_BYTES: usize = 256 << 20;

/// Runs `measure` on a large stack.
///
/// # Panics
///
/// If there is no memory for the stack, or `measure` panics.
pub fn on_large_stack(measure: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, measure).expect("memory for a stack");
        thread.join().expect("benchmarks do not panic");
    });
}
