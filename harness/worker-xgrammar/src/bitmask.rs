//! The masks of XGrammar, copied out of the tensor that it writes them into.

use std::cell::RefCell;

use dlpark::SafeManagedTensorVersioned;
use dlpark::traits::TensorView;
use maskwright::{MaskError, TokenMask};
use xgrammar::{GrammarMatcher, get_bitmask_size};

/// Writes the tokens that `matcher` allows into `mask`.
///
/// # Errors
///
/// [`MaskError::Internal`], where XGrammar fails.
pub fn fill(matcher: &mut GrammarMatcher, mask: &mut TokenMask) -> Result<(), MaskError> {
    thread_local! {
        /// The tensor that XGrammar writes masks into, kept from one mask to the next. It cannot go to another thread.
        static BITMASK: RefCell<Option<SafeManagedTensorVersioned>> = const { RefCell::new(None) };
    }
    let length = get_bitmask_size(i32::try_from(mask.len()).unwrap_or(i32::MAX - 31).max(1)) as usize;
    BITMASK.with_borrow_mut(|kept| {
        if kept.as_ref().is_none_or(|bitmask| bitmask.num_elements() != length) {
            *kept = Some(SafeManagedTensorVersioned::new(vec![0_i32; length]).map_err(failed)?);
        }
        let Some(bitmask) = kept.as_mut() else {
            return Ok(());
        };
        matcher.fill_next_token_bitmask(bitmask, None, None).map_err(failed)?;
        let filled: &[i32] = bitmask.as_slice_contiguous().map_err(failed)?;
        mask.fill_words(|words| {
            for (word, filled) in words.iter_mut().zip(filled) {
                *word = filled.cast_unsigned();
            }
        });
        Ok(())
    })
}

/// An error of XGrammar's as one of the masker's.
pub fn failed(error: impl std::fmt::Display) -> MaskError {
    MaskError::Internal(format!("xgrammar: {error}"))
}
