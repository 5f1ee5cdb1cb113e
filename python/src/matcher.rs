//! The class `Matcher`.

use maskwright::TokenId;
use maskwright_serving::{DraftTree, Matcher as Inner, MatcherError, SharedMatcher};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bitmask::Bitmask;
use crate::compiler::Compiled;
use crate::errors::matcher_error;

/// The state of one answer. Threads may share it; calls run one at a time.
#[pyclass(frozen, module = "maskwright")]
pub(crate) struct Matcher(SharedMatcher);

impl Matcher {
    pub(crate) fn new(matcher: Inner) -> Self {
        Self(SharedMatcher::new(matcher))
    }

    pub(crate) fn shared(&self) -> &SharedMatcher {
        &self.0
    }

    /// Does `work` with the matcher and without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Inner) -> Result<T, MatcherError> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut self.0.lock()))
            .map_err(|error| matcher_error(&error))
    }
}

/// The token of a number. A number that is no id, such as the -1 of padded drafts, becomes an id that no vocabulary has.
pub(crate) fn token_id(number: i64) -> TokenId {
    TokenId::try_from(number).unwrap_or(TokenId::MAX)
}

/// The tokens of numbers, as [`token_id`] reads each.
pub(crate) fn token_ids(numbers: &[i64]) -> Vec<TokenId> {
    numbers.iter().map(|number| token_id(*number)).collect()
}

#[pymethods]
impl Matcher {
    #[new]
    #[pyo3(signature = (compiled, *, stop_token_ids=None, max_tokens=None))]
    fn create(
        compiled: &Bound<'_, Compiled>,
        stop_token_ids: Option<Vec<i64>>,
        max_tokens: Option<i64>,
    ) -> PyResult<Self> {
        compiled.get().matcher(compiled.py(), stop_token_ids, max_tokens)
    }

    /// Accepts a token. Returns False, and changes nothing, if it is not allowed.
    fn accept_token(&self, py: Python<'_>, token: i64) -> PyResult<bool> {
        self.with(py, |matcher| matcher.accept(token_id(token)))
    }

    /// Accepts tokens up to the first that is not allowed, and returns the number of accepted ones.
    fn accept_tokens(&self, py: Python<'_>, tokens: Vec<i64>) -> PyResult<usize> {
        self.with(py, |matcher| matcher.accept_all(&token_ids(&tokens)))
    }

    /// Returns the number of tokens that `accept_tokens` would accept. The matcher does not change.
    fn validate_tokens(&self, py: Python<'_>, tokens: Vec<i64>) -> PyResult<usize> {
        self.with(py, |matcher| matcher.validate(&token_ids(&tokens)))
    }

    /// Writes the mask into a row of a bitmask. Returns False if every token is allowed.
    #[pyo3(signature = (bitmask, index=0))]
    fn fill_next_token_bitmask(&self, py: Python<'_>, bitmask: &Bound<'_, PyAny>, index: i64) -> PyResult<bool> {
        let mut bitmask = Bitmask::of(bitmask)?;
        let row = bitmask.row(index)?;
        self.with(py, |matcher| matcher.fill(row))
    }

    /// Takes back the last accepted tokens.
    #[pyo3(signature = (num_tokens=1))]
    fn rollback(&self, py: Python<'_>, num_tokens: i64) -> PyResult<()> {
        let num_tokens = usize::try_from(num_tokens).map_err(|_| PyValueError::new_err("num_tokens is negative"))?;
        self.with(py, |matcher| matcher.rollback(num_tokens))
    }

    /// Goes back to the start of the answer.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Inner::reset)
    }

    /// Sets the number of tokens that the answer may have from its beginning on; None for any number.
    fn set_max_tokens(&self, py: Python<'_>, max_tokens: Option<i64>) -> PyResult<()> {
        let max_tokens = max_tokens.map(|most| usize::try_from(most).unwrap_or(0));
        self.with(py, |matcher| {
            matcher.set_max_tokens(max_tokens);
            Ok(())
        })
    }

    /// Makes an independent copy at the same place.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |matcher| matcher.fork()).map(Self::new)
    }

    /// Whether a stop token was accepted.
    fn is_terminated(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.lock().is_terminated())
    }

    /// Whether the answer may end here, or has ended.
    fn is_completed(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, Inner::is_completed)
    }

    /// Returns the text that must come next; empty if there is a choice.
    fn find_jump_forward_string(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, Inner::forced_text)
    }

    /// Returns the tokens that must come next, as the tokenizer writes them.
    fn forced_tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.with(py, Inner::forced_tokens)
    }

    /// Returns tokens that end the answer, without the stop token; None if none are known.
    fn completion(&self, py: Python<'_>) -> PyResult<Option<Vec<u32>>> {
        self.with(py, Inner::completion)
    }

    /// Fills one row for each node of a tree of drafted tokens. Returns True if every node can be reached.
    fn traverse_draft_tree(
        &self,
        py: Python<'_>,
        next_token: Vec<i64>,
        next_sibling: Vec<i64>,
        draft: Vec<i64>,
        bitmask: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let mut bitmask = Bitmask::of(bitmask)?;
        if bitmask.rows < draft.len() {
            let message = format!("the bitmask has {} rows, the tree {} nodes", bitmask.rows, draft.len());
            return Err(PyValueError::new_err(message));
        }
        let words = bitmask.words;
        let rows = bitmask.all_words();
        self.with(py, |matcher| {
            let tree = DraftTree {
                next_token: &next_token,
                next_sibling: &next_sibling,
                tokens: &draft,
            };
            matcher.fill_tree(tree, rows, words)
        })
    }

    /// Number of token ids: bits of a mask.
    #[getter]
    fn vocab_size(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.lock().vocabulary().len())
    }

    /// Number of tokens that were accepted and not taken back.
    #[getter]
    fn num_accepted_tokens(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.lock().position())
    }

    /// The tokens that end the answer.
    #[getter]
    fn stop_token_ids(&self, py: Python<'_>) -> Vec<u32> {
        py.detach(|| self.0.lock().stop_tokens().to_vec())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<maskwright.Matcher after {} tokens>", self.num_accepted_tokens(py))
    }
}
