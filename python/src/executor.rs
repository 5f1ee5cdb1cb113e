//! The class `Executor`.

use std::sync::Arc;

use maskwright_serving::{DraftedRow, Executor as Inner, MatcherError, SharedMatcher};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::bitmask::{Bitmask, no_such_row};
use crate::errors::matcher_error;
use crate::matcher::{Matcher, token_id, token_ids};

/// Threads that one executor may have: more than any machine has processors, and few enough to be started at once.
const MAX_THREADS: usize = 1024;

/// Threads that fill the rows of a batch. Threads of Python may share it.
#[pyclass(frozen, module = "maskwright")]
pub(crate) struct Executor {
    inner: Arc<Inner>,
    /// The process that started the threads.
    process: u32,
}

impl Drop for Executor {
    /// Stops the threads, except in a child of their process: the child has none of them, and a lock that one held at the fork is never
    /// released there.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.inner.clone());
        }
    }
}

#[pymethods]
impl Executor {
    #[new]
    #[pyo3(signature = (num_threads=None))]
    fn new(num_threads: Option<i64>) -> PyResult<Self> {
        let num_threads = match num_threads.map(usize::try_from) {
            None => None,
            Some(Ok(number)) if number > MAX_THREADS => {
                let message = format!("num_threads is {number}: {MAX_THREADS} threads at most");
                return Err(PyValueError::new_err(message));
            }
            Some(Ok(number)) if number > 0 => Some(number),
            Some(_) => return Err(PyValueError::new_err("num_threads is below 1: one thread at least")),
        };
        let executor = Inner::new(num_threads).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self {
            inner: Arc::new(executor),
            process: std::process::id(),
        })
    }

    /// Number of threads.
    #[getter]
    fn num_threads(&self) -> usize {
        self.inner.threads()
    }

    /// Writes the mask of each matcher into its row.
    #[pyo3(signature = (matchers, bitmask, rows=None))]
    fn fill(
        &self,
        py: Python<'_>,
        matchers: Vec<Bound<'_, Matcher>>,
        bitmask: &Bound<'_, PyAny>,
        rows: Option<Vec<i64>>,
    ) -> PyResult<()> {
        let rows = rows.unwrap_or_else(|| (0..).take(matchers.len()).collect());
        if rows.len() != matchers.len() {
            let message = format!("there are {} matchers and {} rows", matchers.len(), rows.len());
            return Err(PyValueError::new_err(message));
        }
        let mut bitmask = Bitmask::of(bitmask)?;
        let (count, words) = (bitmask.rows, bitmask.words);
        let mut free: Vec<Option<&mut [u32]>> = bitmask.all_words().chunks_mut(words.max(1)).map(Some).collect();
        let mut work = Vec::with_capacity(matchers.len());
        for (matcher, row) in matchers.iter().zip(rows) {
            work.push((shared(matcher), take(&mut free, row, count)?));
        }
        py.detach(|| self.inner.fill(work))
            .map_err(|error| matcher_error(&error))
    }

    /// Writes the mask of each matcher into its row, and the masks after each of its drafted tokens into the following rows.
    fn fill_with_drafts(
        &self,
        py: Python<'_>,
        requests: Vec<(Bound<'_, Matcher>, i64, Vec<i64>)>,
        bitmask: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let mut bitmask = Bitmask::of(bitmask)?;
        let (count, words) = (bitmask.rows, bitmask.words);
        let mut requests = requests;
        requests.sort_by_key(|(_, row, _)| *row);
        let (mut left, mut begin) = (bitmask.all_words(), 0);
        let mut work = Vec::with_capacity(requests.len());
        for (matcher, row, drafted) in requests {
            let row = usize::try_from(row).map_err(|_| no_such_row(row, count))?;
            let end = row.saturating_add(drafted.len() + 1);
            if row < begin {
                return Err(PyValueError::new_err(format!("row {row} is asked for twice")));
            }
            if end > count {
                return Err(no_such_row(i64::try_from(end - 1).unwrap_or(i64::MAX), count));
            }
            let (_, from_row) = left.split_at_mut((row - begin) * words);
            let (rows, behind) = from_row.split_at_mut((end - row) * words);
            (left, begin) = (behind, end);
            let matcher = shared(&matcher);
            work.push(DraftedRow {
                matcher,
                drafted: token_ids(&drafted),
                rows,
                words,
            });
        }
        py.detach(|| self.inner.fill_drafted(work))
            .map_err(|error| matcher_error(&error))
    }

    /// Accepts a token in each matcher. Returns for each whether the token was allowed.
    fn accept(&self, py: Python<'_>, tokens: Vec<(Bound<'_, Matcher>, i64)>) -> PyResult<Vec<bool>> {
        let tokens: Vec<(SharedMatcher, u32)> = tokens
            .iter()
            .map(|(matcher, token)| (shared(matcher), token_id(*token)))
            .collect();
        let accepted = py.detach(|| {
            let accept = |(matcher, token): &(SharedMatcher, u32)| matcher.lock().accept(*token);
            // All take their token, those behind one that fails as well.
            let accepted: Vec<Result<bool, MatcherError>> = tokens.iter().map(accept).collect();
            accepted.into_iter().collect::<Result<_, MatcherError>>()
        });
        accepted.map_err(|error| matcher_error(&error))
    }
}

fn shared(matcher: &Bound<'_, Matcher>) -> SharedMatcher {
    matcher.get().shared().clone()
}

/// Takes a row out of the rows that no other matcher writes into.
fn take<'a>(free: &mut [Option<&'a mut [u32]>], row: i64, count: usize) -> PyResult<&'a mut [u32]> {
    let place = usize::try_from(row).ok().and_then(|row| free.get_mut(row));
    let place = place.ok_or_else(|| no_such_row(row, count))?;
    place
        .take()
        .ok_or_else(|| PyValueError::new_err(format!("row {row} is asked for twice")))
}
