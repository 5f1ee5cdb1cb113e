//! [`Executor`]: fills the rows of many matchers at once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maskwright::TokenId;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::matcher::{Matcher, MatcherError};

/// Rows that one thread takes at least: a known mask takes about as long as waking a thread.
const ROWS_PER_THREAD: usize = 16;

/// A matcher that threads share.
#[derive(Clone, Debug)]
pub struct SharedMatcher(Arc<Mutex<Matcher>>);

impl SharedMatcher {
    /// Makes a matcher one that threads share.
    pub fn new(matcher: Matcher) -> Self {
        Self(Arc::new(Mutex::new(matcher)))
    }

    /// Locks the matcher until the guard is dropped; waits while another thread holds it. A panic of an earlier holder is ignored,
    /// because the engine's states stay whole.
    pub fn lock(&self) -> MutexGuard<'_, Matcher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rows of a batch for one matcher: one for its current state, and one for the state after each drafted token.
#[derive(Debug)]
pub struct DraftedRow<'a> {
    /// The matcher.
    pub matcher: SharedMatcher,
    /// Drafted tokens.
    pub drafted: Vec<TokenId>,
    /// Rows of the batch: one more than there are drafted tokens.
    pub rows: &'a mut [u32],
    /// Words of one row.
    pub words: usize,
}

/// Threads that work out masks side by side.
pub struct Executor {
    /// None where one thread is asked for: the caller's does the work then.
    threads: Option<ThreadPool>,
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("threads", &self.threads()).finish()
    }
}

impl Executor {
    /// Creates an executor with `threads` threads; `None` stands for as many as there are processors. With `Some(1)`, the caller's own
    /// thread does the work.
    ///
    /// # Errors
    ///
    /// [`ThreadPoolBuildError`], where the threads cannot be started.
    pub fn new(threads: Option<usize>) -> Result<Self, ThreadPoolBuildError> {
        if threads == Some(1) {
            return Ok(Self { threads: None });
        }
        let builder = ThreadPoolBuilder::new().thread_name(|number| format!("maskwright-{number}"));
        let threads = builder.num_threads(threads.unwrap_or_default()).build()?;
        Ok(Self { threads: Some(threads) })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Does `work` for each item, side by side where there are many, and gives the results in the order of the items.
    pub fn map<I: Send, R: Send>(&self, items: Vec<I>, work: impl Fn(I) -> R + Send + Sync) -> Vec<R> {
        match &self.threads {
            Some(threads) if items.len() > ROWS_PER_THREAD => threads.install(|| {
                let items = items.into_par_iter().with_min_len(ROWS_PER_THREAD);
                items.map(work).collect()
            }),
            _ => items.into_iter().map(work).collect(),
        }
    }

    /// Starts `work`, which must not panic, on one of the threads and returns at once. An executor made with `Some(1)` does the work on
    /// the caller's thread before it returns.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        match &self.threads {
            Some(threads) => threads.spawn(work),
            None => work(),
        }
    }

    /// Fills a row for each matcher.
    ///
    /// # Errors
    ///
    /// The first error of [`Matcher::fill`]; the other rows are filled all the same.
    pub fn fill(&self, rows: Vec<(SharedMatcher, &mut [u32])>) -> Result<(), MatcherError> {
        let results = self.map(rows, |(matcher, row)| matcher.lock().fill(row).map(drop));
        results.into_iter().collect()
    }

    /// Fills the rows of matchers with drafted tokens.
    ///
    /// # Errors
    ///
    /// The first error of [`Matcher::fill_drafted`]; the other rows are filled all the same.
    pub fn fill_drafted(&self, rows: Vec<DraftedRow<'_>>) -> Result<(), MatcherError> {
        let results = self.map(rows, |row| {
            let mut matcher = row.matcher.lock();
            matcher.fill_drafted(&row.drafted, row.rows, row.words).map(drop)
        });
        results.into_iter().collect()
    }
}
