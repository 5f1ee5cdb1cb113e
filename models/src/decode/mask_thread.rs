//! [`MaskThread`]: a thread that computes masks while the model's forward pass runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{MaskError, Masker, TokenId};

use crate::decode::speculation::TokenGuesser;

/// Time for which a receiver spins before it sleeps: to wake a thread takes longer than most masks.
const SPIN_TIME: Duration = Duration::from_millis(10);
/// Looks at the channel between two offers of the processor to other threads.
const SPINS_PER_YIELD: usize = 64;

/// A mask to be computed.
pub(super) struct MaskJob {
    pub(super) masker: Box<dyn Masker>,
    /// Whether to ask how the document can be ended, too.
    pub(super) completion: bool,
    /// The tokens that the model reads meanwhile, the prompt's first.
    pub(super) tokens: Vec<TokenId>,
    /// Time within which the mask will hardly be waited for. What the mask leaves of it is for speculation: preparing tokens
    /// that are likely to be chosen.
    pub(super) idle: Duration,
}

/// A masker whose mask has been computed, so that asking for it again costs nothing.
pub(super) struct MaskJobResult {
    pub(super) masker: Box<dyn Masker>,
    /// Number of tokens that end the document; `None` if that was not asked for or the framework cannot tell.
    pub(super) completion: Result<Option<usize>, MaskError>,
    /// Time that the mask and the completion took.
    pub(super) work: Duration,
    /// Time for which tokens were prepared afterwards.
    pub(super) speculation: Duration,
}

impl MaskJob {
    /// Computes the mask, prepares the tokens that `guesser` expects if there is time, and says how long both took.
    pub(super) fn run(self, guesser: &mut TokenGuesser) -> MaskJobResult {
        let start = Instant::now();
        let mut masker = self.masker;
        let (mut work, mut speculation) = (None, Duration::ZERO);
        let completion = catch_panics(|| {
            masker.mask()?;
            let length = match self.completion {
                true => masker.completion_length()?,
                false => None,
            };
            let work = *work.insert(start.elapsed());
            guesser.observe(&self.tokens);
            if work < self.idle {
                for token in guesser.guesses(masker.mask()?) {
                    masker.speculate(*token);
                    speculation = start.elapsed() - work;
                    if work + speculation >= self.idle {
                        break;
                    }
                }
            }
            Ok(length)
        });
        MaskJobResult {
            masker,
            completion,
            work: work.unwrap_or_else(|| start.elapsed()),
            speculation,
        }
    }
}

/// Calls a framework, whose panics become its errors.
pub(super) fn catch_panics<T>(call: impl FnOnce() -> Result<T, MaskError>) -> Result<T, MaskError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".to_owned());
        Err(MaskError::Internal(format!("panicked: {text}")))
    })
}

/// The decode loop's end of the thread. Dropping it ends the thread once its mask, if any, is done; a thread that hangs in a
/// framework is left behind.
pub(super) struct MaskThread {
    jobs: Sender<MaskJob>,
    done: Receiver<MaskJobResult>,
}

impl MaskThread {
    /// Starts the thread; `None` where the system has none to give.
    pub(super) fn start() -> Option<Self> {
        let (jobs, inbox) = channel::<MaskJob>();
        let (outbox, done) = channel();
        thread::Builder::new()
            .name("masks".to_owned())
            .spawn(move || {
                let mut guesser = TokenGuesser::default();
                let mut spin_time = SPIN_TIME;
                while let Some(job) = receive(&inbox, None, spin_time) {
                    // The next job comes after the forward pass, which takes twice the job's idle time. A long pass has use
                    // for the processor.
                    spin_time = if job.idle < SPIN_TIME / 2 {
                        SPIN_TIME
                    } else {
                        Duration::ZERO
                    };
                    if outbox.send(job.run(&mut guesser)).is_err() {
                        break;
                    }
                }
            })
            .ok()?;
        Some(Self { jobs, done })
    }

    /// Hands `job` to the thread, or back to the caller where the thread has died.
    pub(super) fn submit(&self, job: MaskJob) -> Result<(), MaskJob> {
        self.jobs.send(job).map_err(|error| error.0)
    }

    /// Waits for the result of a job, until `deadline` where there is one. `None` where it did not come.
    pub(super) fn receive(&self, deadline: Option<Instant>) -> Option<MaskJobResult> {
        receive(&self.done, deadline, SPIN_TIME)
    }
}

/// The next message, until `deadline` where there is one; `None` where it did not come. The receiver spins for `spin_time`
/// before it sleeps, and leaves the processor to other threads that want it.
fn receive<T>(messages: &Receiver<T>, deadline: Option<Instant>, spin_time: Duration) -> Option<T> {
    let waiting = Instant::now();
    let spin_time = deadline.map_or(spin_time, |deadline| {
        spin_time.min(deadline.saturating_duration_since(waiting))
    });
    loop {
        for _ in 0..SPINS_PER_YIELD {
            match messages.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        if waiting.elapsed() >= spin_time {
            break;
        }
        thread::yield_now();
    }
    match deadline {
        None => messages.recv().ok(),
        Some(deadline) => messages
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            .ok(),
    }
}
