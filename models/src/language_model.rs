//! [`LanguageModel`]: the interface between a model and the decode loop.

use std::sync::Arc;

use candle_core::{DType, Tensor};
use maskwright::{TokenId, TokenMask};
use rayon::ThreadPool;

use crate::choice::Choice;
use crate::error::ModelError;

/// A causal language model with one sequence of tokens in its key-value cache.
///
/// The sequence starts empty. [`append`](LanguageModel::append) lengthens it and returns the logits of the next token;
/// [`snapshot`](LanguageModel::snapshot) and [`restore`](LanguageModel::restore) take tokens back. Nothing is computed again, except in
/// models with recurrent layers or short convolutions, which after some rollbacks read a part of the sequence again with the next append.
///
/// ```no_run
/// use maskwright_models::{LanguageModel, LoadOptions, ModelError, ModelSource, load, logits_to_host};
///
/// # fn main() -> Result<(), ModelError> {
/// let mut loaded = load(&ModelSource::Builtin, &LoadOptions::default())?;
/// let prompt = loaded.encode_prompt("A JSON object: ")?;
/// let mut logits = Vec::new();
/// logits_to_host(&loaded.model.append(&prompt)?, &mut logits)?;
/// # Ok(())
/// # }
/// ```
pub trait LanguageModel: Send {
    /// Number of logits, which is the number of rows of the output matrix. It may exceed the tokenizer's
    /// number of tokens: many models pad it.
    fn vocab_size(&self) -> usize;

    /// The largest number of tokens the sequence can have.
    fn max_positions(&self) -> usize;

    /// Number of tokens in the sequence.
    fn position(&self) -> usize;

    /// Appends `tokens` to the sequence in one forward pass.
    ///
    /// Returns the logits (in nats, unnormalised) of the token that follows the last one, shape
    /// `[vocab_size]`, still on the device. On a GPU the pass is only launched: other work can be done before
    /// [`logits_to_host`] or [`choose`](Self::choose) waits for it. There, logits are kept as they are while three more passes
    /// are launched; later ones may overwrite them.
    ///
    /// # Errors
    ///
    /// [`ModelError::ContextFull`], [`ModelError::TokenOutOfRange`], [`ModelError::NothingToAppend`]: the
    /// sequence is then as before. [`ModelError::Compute`], where the device fails: the sequence is then as
    /// before as well, but the device may be lost. [`ModelError::NonFiniteLogits`], where the device is the
    /// CPU.
    fn append(&mut self, tokens: &[u32]) -> Result<Tensor, ModelError>;

    /// Appends `tokens` and returns the logits as [`append`](Self::append) does, unless `is_stopped` returns true between two of the parts
    /// that a long prompt is read in. Returns `None` then; the sequence is as before. The default implementation never asks.
    ///
    /// # Errors
    ///
    /// [`ModelError::ContextFull`], [`ModelError::TokenOutOfRange`], [`ModelError::NothingToAppend`], [`ModelError::Compute`] and
    /// [`ModelError::NonFiniteLogits`], as [`append`](Self::append) has them: the sequence is then as before.
    fn append_unless(&mut self, tokens: &[u32], _is_stopped: &dyn Fn() -> bool) -> Result<Option<Tensor>, ModelError> {
        self.append(tokens).map(Some)
    }

    /// Allocates memory for a sequence of `tokens` tokens, or as many as a sequence can have, so that none is allocated while an answer
    /// is timed. Longer sequences allocate more when they need it. The default implementation does nothing.
    ///
    /// # Errors
    ///
    /// [`ModelError::Compute`], where the device has not that much memory.
    fn reserve(&mut self, _tokens: usize) -> Result<(), ModelError> {
        Ok(())
    }

    /// Whether the model's device computes while the caller goes on: [`append`](Self::append) only launches a pass, and
    /// [`choose`](Self::choose) chooses where the logits are, so that they need not be brought to the host.
    fn chooses_on_device(&self) -> bool {
        false
    }

    /// Chooses a token by logits from [`append`](Self::append); waits for the pass that computes them.
    ///
    /// Forbidden are the tokens that `mask` does not allow, those past its end included; `None` where no token is allowed.
    ///
    /// # Errors
    ///
    /// [`ModelError::Compute`], where the device fails; [`ModelError::NonFiniteLogits`], where a logit is infinite or NaN, be its
    /// token allowed or not.
    fn choose(
        &mut self,
        logits: &Tensor,
        mask: Option<&TokenMask>,
        choice: Choice,
    ) -> Result<Option<TokenId>, ModelError> {
        let mut host = Vec::new();
        logits_to_host(logits, &mut host)?;
        Ok(choice.among(&host, mask))
    }

    /// Whether a forward pass that was launched is still being computed.
    fn is_computing(&self) -> bool {
        false
    }

    /// Marks the current end of the sequence, to return to it later. Costs nothing.
    fn snapshot(&self) -> Snapshot;

    /// Takes back all tokens appended after `snapshot` was taken.
    ///
    /// A snapshot stays valid until the sequence is rolled back to before it, or reset.
    ///
    /// # Errors
    ///
    /// [`ModelError::StaleSnapshot`], where the snapshot is not part of this sequence; the sequence is then
    /// as before.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), ModelError>;

    /// Empties the sequence. Memory is kept for the next one.
    fn reset(&mut self);

    /// The thread pool that forward passes run in, where it is not rayon's global pool. A caller that runs on one of its
    /// threads need not be woken after each pass.
    fn thread_pool(&self) -> Option<Arc<ThreadPool>> {
        None
    }
}

/// A position in a model's sequence, see [`LanguageModel::snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    position: usize,
    mark: u64,
}

impl Snapshot {
    /// A snapshot at `position` tokens. `mark` must be unique to the append that ended there, in all
    /// sequences of all models; 0 for the start of any sequence.
    pub fn new(position: usize, mark: u64) -> Self {
        Self { position, mark }
    }

    /// Number of tokens in the sequence when the snapshot was taken.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The number that tells this snapshot from others at the same position.
    pub fn mark(&self) -> u64 {
        self.mark
    }
}

/// Copies logits from the device into `host`, as 32-bit floats. Waits for the forward pass that computes them.
///
/// `logits` has the shape `[vocab_size]`; `host` is overwritten and its memory reused.
///
/// # Errors
///
/// [`ModelError::Compute`], where the device fails; [`ModelError::NonFiniteLogits`], where a logit is infinite
/// or NaN.
pub fn logits_to_host(logits: &Tensor, host: &mut Vec<f32>) -> Result<(), ModelError> {
    const NAME: &str = "the model";
    let failed = |error| ModelError::compute(NAME, "logits", &error);
    host.clear();
    let dtype = logits.dtype();
    let logits = logits.to_dtype(DType::F32).map_err(failed)?;
    if logits.device().is_cpu() {
        let (storage, layout) = logits.storage_and_layout();
        if let (candle_core::Storage::Cpu(storage), Some((start, end))) = (&*storage, layout.contiguous_offsets()) {
            host.extend_from_slice(&storage.as_slice::<f32>().map_err(failed)?[start..end]);
            return check_finite(NAME, dtype, host);
        }
    }
    host.extend(
        logits
            .flatten_all()
            .and_then(|flat| flat.to_vec1::<f32>())
            .map_err(failed)?,
    );
    check_finite(NAME, dtype, host)
}

/// Errs if a logit is infinite or NaN, naming `model`, whose number format is `dtype`.
pub(crate) fn check_finite(model: &str, dtype: DType, logits: &[f32]) -> Result<(), ModelError> {
    // `x * 0` is 0 for finite numbers and NaN for the others; the sum has no branch and vectorises.
    let probe: f32 = logits
        .chunks(16)
        .map(|chunk| chunk.iter().map(|x| x * 0.0).sum::<f32>())
        .sum();
    if probe == 0.0 {
        return Ok(());
    }
    let bad = logits.iter().enumerate().find(|(_, logit)| !logit.is_finite());
    match bad {
        Some((token, &value)) => Err(ModelError::NonFiniteLogits {
            model: model.to_owned(),
            dtype,
            token,
            value,
        }),
        None => Ok(()),
    }
}
