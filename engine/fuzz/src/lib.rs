//! Random schemas, documents, vocabularies and texts against the engine, through its public interface.
//!
//! Everything is drawn from bytes by [`Choices`], so that the same bodies serve `cargo fuzz`, which looks for bytes that
//! reach new code, and `cargo test`, which takes them from a seeded generator:
//!
//! - [`targets::agreement`]: a document is accepted token by token if and only if the `jsonschema` crate finds it valid;
//! - [`targets::walk`]: random tokens among those allowed never lead to where no document ends, and what they spell is valid;
//! - [`targets::schema_text`]: no text makes compiling panic;
//! - [`targets::vocabulary_masks`]: masks over odd vocabularies are those that single bytes say.

pub mod choices;
pub mod document;
pub mod schema;
pub mod shrink;
pub mod spelling;
pub mod subject;
pub mod targets;

pub use choices::Choices;
