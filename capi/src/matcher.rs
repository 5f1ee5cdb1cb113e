//! [`MwMatcher`]: stands in one answer, for C.

use std::ffi::{CString, c_char};

use maskwright::TokenId;
use maskwright_serving::Matcher;

use crate::border::{Error, c_text, discard, guarded, read_items, write_items};
use crate::matcher_init::{MwMatcherInit, new_matcher};
use crate::tokenizer::MwToken;

/// Stands in one answer. One thread at a time may use one; different matchers may be used at once, clones of one another too.
///
/// A mask has a bit for each token: token t is allowed if bit t % 32 of word t / 32 is set, words being uint32_t.
#[derive(Debug)]
pub struct MwMatcher {
    /// The matcher; none where it could not be made, or the library failed. `error` says why for good.
    inner: Option<Matcher>,
    /// The error of the last call; none where that succeeded.
    error: Option<CString>,
    mask: Vec<u32>,
    /// Whether `mask` is that of the place where the matcher stands.
    has_mask: bool,
}

impl MwMatcher {
    fn new(made: Result<Matcher, Error>) -> Self {
        let (inner, error) = match made {
            Ok(matcher) => (Some(matcher), None),
            Err(error) => (None, Some(c_text(&error.to_string()))),
        };
        Self {
            inner,
            error,
            mask: Vec::new(),
            has_mask: false,
        }
    }

    /// Keeps an error for `mw_matcher_get_error`, unless the matcher has one for good.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.has_mask = false;
        if self.inner.is_some() {
            self.error = Some(c_text(&error.to_string()));
        }
    }

    /// Does `work`. None, with the error kept, where that fails; after a panic the matcher is of no use any more.
    fn call<T>(&mut self, work: impl FnOnce(&mut Matcher) -> Result<T, Error>) -> Option<T> {
        self.has_mask = false;
        let inner = self.inner.as_mut()?;
        match guarded(|| work(inner)) {
            Ok(result) => {
                self.error = None;
                Some(result)
            }
            Err(error) => {
                self.fail(&error);
                if matches!(error, Error::Panic(_)) {
                    let broken = self.inner.take();
                    discard(broken);
                }
                None
            }
        }
    }

    /// Bytes of a mask; 0 where the matcher could not be made.
    fn mask_bytes(&self) -> usize {
        let tokens = self.inner.as_ref().map_or(0, |inner| inner.vocabulary().len());
        tokens.div_ceil(32) * size_of::<u32>()
    }

    /// Writes the mask into `row`, and zeros behind it; zeros alone where it fails. Whether it succeeded.
    pub(crate) fn fill(&mut self, row: &mut [u32]) -> bool {
        let filled = self.call(|matcher| Ok(matcher.fill(row)?)).is_some();
        if !filled {
            row.fill(0);
        }
        filled
    }

    /// The memory for a mask.
    ///
    /// # Safety
    ///
    /// `mask_dest` is null or the address of `mask_byte_len` bytes that nothing else reads or writes for `'a`.
    pub(crate) unsafe fn row<'a>(&self, mask_dest: *mut u32, mask_byte_len: usize) -> Result<&'a mut [u32], Error> {
        let (given, needed) = (mask_byte_len, self.mask_bytes());
        if given < needed || !given.is_multiple_of(size_of::<u32>()) {
            return Err(Error::MaskBytes { given, needed });
        }
        // SAFETY: as the caller says.
        unsafe { write_items(mask_dest, given / size_of::<u32>(), "mask_dest") }
    }
}

/// 0 for success, -1 for a failure.
fn code<T>(result: Option<T>) -> i32 {
    match result {
        Some(_) => 0,
        None => -1,
    }
}

/// A count for C.
fn count(count: Option<usize>) -> i32 {
    count.map_or(-1, |count| i32::try_from(count).unwrap_or(i32::MAX))
}

/// Makes a matcher at the start of an answer. The result is never null: look at `mw_matcher_get_error`, and free it with
/// `mw_free_matcher` in any case. The tokenizer keeps what was compiled, so that the next matcher of the same data is made at once.
///
/// `kind` says what `data` is:
///
/// - "json_schema" or "json": the text of a JSON Schema
/// - "regex": a regular expression that the whole answer matches
/// - "choice": a JSON array of strings, of which the answer is one as it is
/// - "grammar": a grammar, in the notation that it is probably in; "ebnf" or "gbnf": in that of GBNF; "lark": in that of Lark
/// - "json_object": nothing; the answer is any JSON object, and `data` may be null
///
/// # Safety
///
/// `init` is null or points to options whose pointers are as their members say; `kind` and `data` are null, or texts with a zero byte
/// behind them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_new_matcher(
    init: *const MwMatcherInit,
    kind: *const c_char,
    data: *const c_char,
) -> *mut MwMatcher {
    // SAFETY: as the caller says.
    let made = guarded(|| unsafe { new_matcher(init, kind, data) });
    Box::into_raw(Box::new(MwMatcher::new(made)))
}

/// A copy at the same place, which goes its own way and is to be freed on its own. Null for null.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_clone_matcher(matcher: *const MwMatcher) -> *mut MwMatcher {
    // SAFETY: as the caller says.
    let Some(matcher) = (unsafe { matcher.as_ref() }) else {
        return std::ptr::null_mut();
    };
    let copy = match &matcher.inner {
        Some(inner) => MwMatcher::new(guarded(|| Ok(inner.fork()?))),
        None => MwMatcher {
            error: matcher.error.clone(),
            inner: None,
            mask: Vec::new(),
            has_mask: false,
        },
    };
    Box::into_raw(Box::new(copy))
}

/// Frees a matcher. Null is left alone.
///
/// # Safety
///
/// `matcher` is null, or one that was made, was not freed, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_free_matcher(matcher: *mut MwMatcher) {
    if !matcher.is_null() {
        // SAFETY: it came from `Box::into_raw`, and is freed once.
        discard(unsafe { Box::from_raw(matcher) });
    }
}

/// The error of the last call on the matcher, or null where that succeeded. A matcher that could not be made keeps its error, and every
/// call on it fails. The text stays until the next call on the matcher. Functions that only look (`get_error`, `is_error`, `is_stopped`,
/// `get_mask`, `get_mask_byte_size`, `clone`) count as no calls here.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_get_error(matcher: *const MwMatcher) -> *const c_char {
    // SAFETY: as the caller says.
    match unsafe { matcher.as_ref() } {
        Some(matcher) => matcher.error.as_ref().map_or(std::ptr::null(), |error| error.as_ptr()),
        None => c"the matcher is null".as_ptr(),
    }
}

/// Whether the matcher is of no use: it could not be made, or the library failed. Other errors, such as a token that is not allowed, leave
/// it where it was.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_is_error(matcher: *const MwMatcher) -> bool {
    // SAFETY: as the caller says.
    unsafe { matcher.as_ref() }.is_none_or(|matcher| matcher.inner.is_none())
}

/// Computes the mask of the next token, which `mw_matcher_get_mask` then gives. Behind the end of the answer the tokens that end it are
/// allowed, as samplers need some token, and `mw_matcher_consume_token` refuses them. Returns 0, or -1 on failure.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_compute_mask(matcher: *mut MwMatcher) -> i32 {
    // SAFETY: as the caller says.
    let Some(matcher) = (unsafe { matcher.as_mut() }) else {
        return -1;
    };
    let mut mask = std::mem::take(&mut matcher.mask);
    mask.resize(matcher.mask_bytes() / size_of::<u32>(), 0);
    let filled = matcher.fill(&mut mask);
    matcher.mask = mask;
    matcher.has_mask = filled;
    code(filled.then_some(()))
}

/// The mask that was computed last, of `mw_matcher_get_mask_byte_size` bytes; null where another call on the matcher came behind that. It
/// stays until the next call on the matcher.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_get_mask(matcher: *const MwMatcher) -> *const u32 {
    // SAFETY: as the caller says.
    match unsafe { matcher.as_ref() } {
        Some(matcher) if matcher.has_mask => matcher.mask.as_ptr(),
        _ => std::ptr::null(),
    }
}

/// Bytes of a mask: 4 for each 32 tokens that begin. 0 for a matcher that is of no use.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_get_mask_byte_size(matcher: *const MwMatcher) -> usize {
    // SAFETY: as the caller says.
    unsafe { matcher.as_ref() }.map_or(0, MwMatcher::mask_bytes)
}

/// Computes the mask of the next token into memory of the caller's, of `mask_byte_len` bytes: a multiple of 4, and
/// `mw_matcher_get_mask_byte_size` at least. Words behind the mask become zero. Returns 0; or -1 on failure, where nothing is allowed
/// in what was written.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it; `mask_dest` is null or has `mask_byte_len` bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_compute_mask_into(
    matcher: *mut MwMatcher,
    mask_dest: *mut u32,
    mask_byte_len: usize,
) -> i32 {
    // SAFETY: as the caller says.
    let Some(matcher) = (unsafe { matcher.as_mut() }) else {
        return -1;
    };
    // SAFETY: as the caller says.
    match unsafe { matcher.row(mask_dest, mask_byte_len) } {
        Ok(row) => code(matcher.fill(row).then_some(())),
        Err(error) => {
            matcher.fail(&error);
            -1
        }
    }
}

/// Takes a token into the answer. Returns 0; or -1 where it is not allowed, and then the matcher stays where it was.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_consume_token(matcher: *mut MwMatcher, token: MwToken) -> i32 {
    // SAFETY: as the caller says.
    unsafe { mw_matcher_consume_tokens(matcher, &raw const token, 1) }
}

/// Takes `tokens_len` tokens into the answer. Returns 0; or -1 where one of them is not allowed, and then the matcher stays where it was.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it; `tokens` is null or has `tokens_len` tokens.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_consume_tokens(
    matcher: *mut MwMatcher,
    tokens: *const MwToken,
    tokens_len: usize,
) -> i32 {
    // SAFETY: as the caller says.
    code(unsafe {
        with_tokens(matcher, tokens, tokens_len, |matcher, tokens| {
            let before = matcher.position();
            let number = match matcher.accept_all(tokens) {
                Ok(number) => number,
                Err(error) => {
                    matcher.rollback(matcher.position() - before)?;
                    return Err(error.into());
                }
            };
            match tokens.get(number) {
                None => Ok(()),
                Some(&token) => {
                    matcher.rollback(number)?;
                    Err(Error::NotAllowed { token, number })
                }
            }
        })
    })
}

/// Counts how many of `tokens_len` tokens can be taken one after the other. The matcher stays where it is. -1 on failure.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it; `tokens` is null or has `tokens_len` tokens.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_validate_tokens(
    matcher: *mut MwMatcher,
    tokens: *const MwToken,
    tokens_len: usize,
) -> i32 {
    // SAFETY: as the caller says.
    count(unsafe {
        with_tokens(matcher, tokens, tokens_len, |matcher, tokens| {
            Ok(matcher.validate(tokens)?)
        })
    })
}

/// Does `work` with a matcher and tokens.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it; `tokens` is null or has `tokens_len` tokens.
unsafe fn with_tokens<T>(
    matcher: *mut MwMatcher,
    tokens: *const MwToken,
    tokens_len: usize,
    work: impl FnOnce(&mut Matcher, &[TokenId]) -> Result<T, Error>,
) -> Option<T> {
    // SAFETY: as the caller says.
    let (matcher, tokens) = unsafe { (matcher.as_mut()?, read_items(tokens, tokens_len, "tokens")) };
    matcher.call(|matcher| work(matcher, tokens?))
}

/// Takes back the last `tokens` tokens, one that ends the answer among them. Returns 0; or -1 where there are fewer, and then the
/// matcher stays where it was.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_rollback(matcher: *mut MwMatcher, tokens: usize) -> i32 {
    // SAFETY: as the caller says.
    let matcher = unsafe { matcher.as_mut() };
    code(matcher.and_then(|matcher| matcher.call(|inner| Ok(inner.rollback(tokens)?))))
}

/// Goes back to the start of the answer. Returns 0, or -1 on failure.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_reset(matcher: *mut MwMatcher) -> i32 {
    // SAFETY: as the caller says.
    let matcher = unsafe { matcher.as_mut() };
    code(matcher.and_then(|matcher| matcher.call(|inner| Ok(inner.reset()?))))
}

/// Whether the answer may end here, or has ended; false on failure.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_is_accepting(matcher: *mut MwMatcher) -> bool {
    // SAFETY: as the caller says.
    let matcher = unsafe { matcher.as_mut() };
    matcher.and_then(|matcher| matcher.call(|inner| Ok(inner.is_completed()?))) == Some(true)
}

/// Whether nothing can come any more: a token was taken that ends the answer, or the matcher is of no use.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_is_stopped(matcher: *const MwMatcher) -> bool {
    // SAFETY: as the caller says.
    let inner = unsafe { matcher.as_ref() }.and_then(|matcher| matcher.inner.as_ref());
    inner.is_none_or(Matcher::is_terminated)
}

/// Writes up to `output_len` of the forced tokens: those that must come next whatever is sampled, as the tokenizer writes them. The
/// matcher stays where it is. Returns how many were written, which is 0 for a tokenizer without `tokenize_fn`; -1 on failure.
///
/// # Safety
///
/// `matcher` is null, or one that was made and not freed, and no other thread uses it; `output` is null or has room for `output_len`
/// tokens.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn mw_matcher_compute_ff_tokens(
    matcher: *mut MwMatcher,
    output: *mut MwToken,
    output_len: usize,
) -> i32 {
    // SAFETY: as the caller says.
    let (matcher, output) = unsafe { (matcher.as_mut(), write_items(output, output_len, "output")) };
    count(matcher.and_then(|matcher| {
        matcher.call(|inner| {
            let output = output?;
            let forced = inner.forced_tokens()?;
            let written = forced.len().min(output.len());
            output[..written].copy_from_slice(&forced[..written]);
            Ok(written)
        })
    }))
}
