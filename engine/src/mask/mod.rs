//! Token masks: for each state of a schema's automaton the set of vocabulary tokens after which the document can still be completed.
//!
//! `compiler` makes a `compiled_schema`, which computes masks on demand and caches them, and a `masker` that walks one document over it.
//! `index` sorts the vocabulary's tokens into tries and posting lists and never changes; `cache` keeps results within bounds of memory.
//! A mask is found by walking a trie of tokens beside the automaton: `structure` walks over tokens between the strings of a document, `strings`
//! over tokens within strings, `objects` over tokens within names.

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
