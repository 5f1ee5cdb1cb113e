//! Ctrl-C and termination: finish the record in hand or drop it, never half-write one.

use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a command that the user interrupted.
pub const EXIT_CODE: u8 = 130;

/// Set once the user asked to stop.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C from now on: the first sets [`INTERRUPTED`], and the second ends the process with the exit code of the first.
pub fn watch() {
    #[expect(clippy::exit, reason = "the run does not come back to where it could return a code")]
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE.into());
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("Ctrl-C will end the run at once: {error}");
    }
}

/// Whether the user asked to stop.
pub fn requested() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
