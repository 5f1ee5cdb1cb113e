//! A thread that computes masks while the model's forward pass runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use maskwright::{MaskError, Masker, TokenId};

use crate::likely::LikelyTokens;

/// Time for which a message that should come soon is looked for again and again before its receiver sleeps: to wake a
/// thread takes longer than most masks.
const ATTENTION: Duration = Duration::from_millis(10);
/// Looks in a row that do not offer the processor to others.
const LOOKS: usize = 64;

/// What is to be computed.
pub(crate) struct Job {
    pub(crate) masker: Box<dyn Masker>,
    /// Whether to ask how the document can be ended, too.
    pub(crate) completion: bool,
    /// The tokens that the model reads meanwhile, the prompt's first.
    pub(crate) tokens: Vec<TokenId>,
    /// Time for which the mask will hardly be waited for. What it leaves of that is for preparing tokens that are likely to
    /// be chosen.
    pub(crate) idle: Duration,
}

/// A masker whose mask has been computed, so that asking for it again costs nothing.
pub(crate) struct Masked {
    pub(crate) masker: Box<dyn Masker>,
    /// Tokens that end the document from there, if that was asked and the framework can tell.
    pub(crate) outcome: Result<Option<Vec<TokenId>>, MaskError>,
    /// Time that took.
    pub(crate) worked: Duration,
    /// Time for which tokens were prepared afterwards.
    pub(crate) prepared: Duration,
}

/// Computes the mask, prepares likely tokens if there is time, and says how long that takes.
pub(crate) fn compute(job: Job, likely: &mut LikelyTokens) -> Masked {
    let working = Instant::now();
    let mut masker = job.masker;
    let (mut worked, mut prepared) = (None, Duration::ZERO);
    let outcome = guard(|| {
        masker.mask()?;
        let mut tokens = Vec::new();
        let told = job.completion && masker.completion(&mut tokens)?;
        let by_then = *worked.insert(working.elapsed());
        likely.observe(&job.tokens);
        if by_then < job.idle {
            for token in likely.among(masker.mask()?) {
                masker.speculate(*token);
                prepared = working.elapsed() - by_then;
                if by_then + prepared >= job.idle {
                    break;
                }
            }
        }
        Ok(told.then_some(tokens))
    });
    Masked {
        masker,
        outcome,
        worked: worked.unwrap_or_else(|| working.elapsed()),
        prepared,
    }
}

/// Calls a framework, turning its panics into its errors.
pub(crate) fn guard<T>(call: impl FnOnce() -> Result<T, MaskError>) -> Result<T, MaskError> {
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
    jobs: Sender<Job>,
    done: Receiver<Masked>,
}

impl MaskThread {
    /// Starts the thread; `None` where the system has none to give.
    pub(crate) fn start() -> Option<Self> {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        thread::Builder::new()
            .name("masks".to_owned())
            .spawn(move || {
                let mut likely = LikelyTokens::default();
                let mut attention = ATTENTION;
                while let Some(job) = receive(&inbox, None, attention) {
                    // The next comes after the pass, of which this is half: a long one has use for the processor.
                    attention = if job.idle < ATTENTION / 2 {
                        ATTENTION
                    } else {
                        Duration::ZERO
                    };
                    if outbox.send(compute(job, &mut likely)).is_err() {
                        break;
                    }
                }
            })
            .ok()?;
        Some(Self { jobs, done })
    }

    /// Has it computed; gives the job back where the thread has died.
    pub(crate) fn submit(&self, job: Job) -> Result<(), Job> {
        self.jobs.send(job).map_err(|error| error.0)
    }

    /// Waits for the mask, until `deadline` where there is one. `None` where it did not come.
    pub(crate) fn receive(&self, deadline: Option<Instant>) -> Option<Masked> {
        receive(&self.done, deadline, ATTENTION)
    }
}

/// The next message, until `deadline` where there is one; `None` where it did not come. It is looked for for the time
/// `attention`; other threads that want the processor get it meanwhile.
fn receive<T>(messages: &Receiver<T>, deadline: Option<Instant>, attention: Duration) -> Option<T> {
    let waiting = Instant::now();
    let attentive = deadline.map_or(attention, |deadline| {
        attention.min(deadline.saturating_duration_since(waiting))
    });
    loop {
        for _ in 0..LOOKS {
            match messages.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        if waiting.elapsed() >= attentive {
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
