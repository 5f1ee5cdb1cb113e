//! Completions: short texts that end a document from a state.

mod document;
mod shortest;
