//! A thread that computes masks while the model's forward pass runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{MaskError, Masker};

/// A masker whose mask has been computed, so that asking for it again costs nothing.
pub(crate) struct Masked {
    pub(crate) masker: Box<dyn Masker>,
    pub(crate) outcome: Result<(), MaskError>,
    /// Time the mask took.
    pub(crate) worked: Duration,
}

/// Computes the mask, and how long that takes.
pub(crate) fn compute(mut masker: Box<dyn Masker>) -> Masked {
    let working = Instant::now();
    let outcome = guard(|| masker.mask().map(|_| ()));
    Masked {
        masker,
        outcome,
        worked: working.elapsed(),
    }
}

/// Calls a framework, turning its panics into its errors.
pub(crate) fn guard(call: impl FnOnce() -> Result<(), MaskError>) -> Result<(), MaskError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".to_owned());
        Err(MaskError::Internal(format!("panicked: {text}")))
    })
}

/// The other end of the thread. Dropping it ends the thread once its mask, if any, is done; a thread that hangs
/// in a framework is left behind.
pub(crate) struct MaskThread {
    jobs: Sender<Box<dyn Masker>>,
    done: Receiver<Masked>,
}

impl MaskThread {
    /// Starts the thread; `None` where the system has none to give.
    pub(crate) fn start() -> Option<Self> {
        let (jobs, inbox) = channel::<Box<dyn Masker>>();
        let (outbox, done) = channel();
        thread::Builder::new()
            .name("masks".to_owned())
            .spawn(move || {
                for masker in inbox {
                    if outbox.send(compute(masker)).is_err() {
                        break;
                    }
                }
            })
            .ok()?;
        Some(Self { jobs, done })
    }

    /// Has the mask computed; gives the masker back where the thread has died.
    pub(crate) fn submit(&self, masker: Box<dyn Masker>) -> Result<(), Box<dyn Masker>> {
        self.jobs.send(masker).map_err(|error| error.0)
    }

    /// Waits for the mask, until `deadline` where there is one. `None` where it did not come.
    pub(crate) fn receive(&self, deadline: Option<Instant>) -> Option<Masked> {
        let Some(deadline) = deadline else {
            return self.done.recv().ok();
        };
        let rest = deadline.saturating_duration_since(Instant::now());
        self.done.recv_timeout(rest).ok()
    }
}
