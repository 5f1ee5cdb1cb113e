//! The engine maskwright for programs in C. `include/maskwright.h` is generated from this crate, and `README.md` shows its use.
//!
//! 1. [`MwTokenizer`](tokenizer::MwTokenizer) is the vocabulary of a model, with the compiled schemas that are kept for it.
//! 2. [`MwMatcher`](matcher::MwMatcher) stands in one answer: it computes masks and takes tokens.
//! 3. [`mw_par_compute_mask`](parallel::mw_par_compute_mask) computes the masks of many matchers on several threads.
//!
//! The names and their meaning follow llguidance's C interface, with the prefix `mw_`.
//!
//! [`border`] checks what comes from C where it can be checked: null pointers, lengths, alignment, encodings and panics become errors.

pub mod border;
pub mod matcher;
pub mod matcher_init;
pub mod parallel;
pub mod tokenizer;
