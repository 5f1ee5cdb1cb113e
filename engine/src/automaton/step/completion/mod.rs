//! Completions: short texts that end a document from a state.
//!
//! A completion is a chain of pieces: the rest of the innermost value, then one member or item of the container around it
//! after the other, then the containers further out. [`document`] follows the chain from state to state, and remembers it,
//! so that a document that goes on as its completion would costs a look-up per state. [`values`] spells whole values,
//! [`objects`] and [`arrays`] what is left of containers, [`texts`] what is left of strings and numbers.
//!
//! Containers whose members are judged one by one need no search. For others a cheapest-first search over residual
//! formulas is cut off early; then members and items are taken greedily, each of them one after which the container can
//! still be completed. A member or item that leaves the residual formula unchanged is never needed, and every other one
//! takes the formula nearer to its end, so that this finds an end wherever there is one.

mod arrays;
mod document;
mod objects;
mod piece;
mod texts;
mod values;

pub(crate) use piece::{CompletionMemo, TextPiece};
use values::ValueChoice;

/// Number of bytes up to which completions are looked for.
const MAX_BYTES: usize = 1 << 16;

/// Number of partial containers that a cheapest-first search looks at.
const MAX_PARTIALS: usize = 256;
