//! Ctrl-C and termination: finish the record in hand or drop it, never half-write one.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set once the user asked to stop.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C sets [`INTERRUPTED`] and the second ends the process.
pub fn watch() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::abort();
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
