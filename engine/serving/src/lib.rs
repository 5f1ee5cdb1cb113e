//! The parts that a server of language models needs around the engine: compiled schemas that are kept, matchers that write into rows of
//! a batch, and threads that fill a batch.
//!
//! 1. [`SchemaCompiler`] compiles schemas for one vocabulary and caches them within a bound on memory. Threads share it.
//! 2. [`CompiledSchema`] makes any number of [`Matcher`]s.
//! 3. [`Matcher`] is the position in one answer. It writes masks into the caller's words, has stop tokens of its own and, where
//!    that is asked for, a limit on tokens within which the answer ends.
//! 4. [`Executor`] fills the rows of many matchers at once.
//!
//! [`tools`] turns a list of tools into a structural tag, in the format in which a family of models calls them.
//!
//! Bindings for other languages stand on this crate. It knows nothing of them.

mod cache;
mod compiler;
mod executor;
mod matcher;
pub mod tools;

pub use compiler::{CompiledSchema, SchemaCompiler};
pub use executor::{DraftedRow, Executor, SharedMatcher};
pub use matcher::{DraftTree, Matcher, MatcherError, MatcherOptions};
