//! Shared parts of the benchmarks of masks: the states in which masks are measured, and the measurement.
//!
//! `cargo bench -p maskwright-benches` runs the benchmarks in `benches/`; README.md has the others.

#[path = "../../harness/src/vocabularies/encodings.rs"]
#[expect(dead_code, reason = "the program knows other encodings, and gives out tokenizers")]
mod encodings;
mod families;
pub mod masks;
mod states;
mod tags;

use std::sync::Arc;
use std::thread;

use maskwright::Vocabulary;

pub use families::{FAMILIES, Family, tools};
pub use states::{SCHEMAS_TO_COMPILE, State, Visit, states};
pub use tags::{CallFormat, TAGS_HEADER, measure_tags};

/// Stack of the thread that measures, as a worker of the harness has it: frameworks recurse over schemas.
const STACK_BYTES: usize = 256 << 20;

/// The vocabulary of all measurements, o200k_base.
///
/// # Panics
///
/// If the encoding's data, which are part of the program, are damaged.
pub fn vocabulary() -> Arc<Vocabulary> {
    let [o200k_base, ..] = encodings::ENCODINGS;
    Arc::new(o200k_base.vocabulary().expect("sound data"))
}

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
