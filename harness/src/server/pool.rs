//! [`ask_all`]: several questions in flight at once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::answer::{Answer, Question};
use super::client::Client;
use super::error::{ServerError, Unanswered};

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask on.
    Go,
    /// Ask nothing more; requests in flight are waited for.
    Stop,
}

/// Reason for which [`ask_all`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every question was asked, or [`Next::Stop`] was obeyed.
    Done,
    /// The caller was interrupted; requests in flight are lost.
    Interrupted,
}

/// Asks `questions`, in order, `concurrency` of them at once at each of the server's addresses, and hands each result with the question's number to
/// `take` as soon as it arrives. After [`Next::Stop`], results of requests in flight are handed over, too; a request that failed is not repeated.
///
/// # Errors
///
/// Returns the first error of `take` at once.
pub fn ask_all<E>(
    client: &Arc<Client>,
    questions: Vec<Question>,
    concurrency: usize,
    interrupted: fn() -> bool,
    mut take: impl FnMut(usize, Result<Answer, Unanswered>) -> Result<Next, E>,
) -> Result<Ended, E> {
    let threads = client.allow(concurrency).min(questions.len());
    let queue: VecDeque<(usize, Question)> = questions.into_iter().enumerate().collect();
    let queue = Arc::new(Mutex::new(queue));
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    for number in 0..threads {
        let (client, queue, stop, sender) = (client.clone(), queue.clone(), stop.clone(), sender.clone());
        let work = move || {
            let stopped = || stop.load(Ordering::Relaxed);
            while !stopped() {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some((number, question)) = next else { return };
                let result = client.ask(&question, &stopped);
                let (taken, is_taken) = channel::<()>();
                // Nobody waits for it any more where the run was interrupted.
                if sender.send((number, result, taken)).is_err() {
                    return;
                }
                // Until the result was looked at, nobody knows whether there is to be another question. The other end is
                // dropped then.
                let _ = is_taken.recv();
            }
        };
        let spawned = thread::Builder::new().name(format!("request-{number}")).spawn(work);
        // With fewer threads there is less in flight; without any there is no answer.
        if let Err(error) = spawned
            && number == 0
        {
            let message = format!("no thread to ask on: {error}");
            let error = ServerError::Unreachable { message };
            return take(0, Err(Unanswered { error, attempts: 0 })).map(|_| Ended::Done);
        }
    }
    drop(sender);
    loop {
        if interrupted() {
            stop.store(true, Ordering::Relaxed);
            return Ok(Ended::Interrupted);
        }
        let (number, result, taken) = match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Done),
        };
        if matches!(&result, Err(unanswered) if unanswered.error == ServerError::Stopped) {
            continue;
        }
        match take(number, result) {
            Ok(Next::Go) => {}
            Ok(Next::Stop) => stop.store(true, Ordering::Relaxed),
            Err(error) => {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        drop(taken);
    }
}
