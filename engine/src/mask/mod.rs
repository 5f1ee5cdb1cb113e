//! Masks of tokens, from the automaton of a schema: the tokens of a vocabulary that may come at each state of a document.
//!
//! `compiler` makes a `compiled_schema`, which works masks out and keeps them, and a `masker` over it. `index` sorts the tokens
//! of a vocabulary and never changes, `cache` keeps results within bounds of memory. `structure` walks over the tokens between
//! the strings of a document, `strings` over those within strings, `objects` over those of names.

pub(crate) mod cache;
pub(crate) mod compiled_schema;
pub(crate) mod compiler;
pub(crate) mod completions;
pub(crate) mod forced_tokens;
pub(crate) mod index;
pub(crate) mod masker;
mod numbers;
mod objects;
mod options;
pub(crate) mod shared_tokens;
mod strings;
mod structure;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tuning;
mod value_tokens;
pub(crate) mod warm_up;

pub use compiler::ExactCompiler;
pub use options::ExactOptions;
