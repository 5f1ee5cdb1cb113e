//! Completions: short texts that end a document from a state.
//!
//! A completion is a chain of pieces: the remainder of the innermost value, then one member or item of the container around it after
//! the other, then the containers further out. [`document`] follows the chain from state to state and memoises it, so that a
//! document that follows its completion costs a look-up per state. [`values`] spells whole values, [`objects`] and
//! [`arrays`] the remainders of containers, [`texts`] those of strings and numbers.
//!
//! Containers whose members are judged one by one need no search. Others are completed with the members or items of a
//! model, which the search for their end finds: few of them, each with no more asked of its value than is needed.

mod arrays;
mod document;
mod objects;
mod piece;
mod texts;
mod values;

pub(crate) use piece::{CompletionMemo, TextPiece};

/// Maximal number of bytes of a completion.
const MAX_BYTES: usize = 1 << 16;

/// Maximal number of models of a container tried to find one whose values have texts.
const MAX_MODELS: usize = 64;
