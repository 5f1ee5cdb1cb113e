//! Short texts that end a document.

mod document;
mod shortest;
