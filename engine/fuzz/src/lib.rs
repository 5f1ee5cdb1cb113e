//! Random schemas, documents, vocabularies and texts against the engine, through its public interface.
//!
//! Everything is drawn from bytes by [`Choices`], so that the same bodies serve `cargo fuzz`, which looks for bytes that
//! reach new code, and `cargo test`, which takes them from a seeded generator:
//!
//! - [`targets::agreement`]: a document is accepted token by token if and only if the `jsonschema` crate finds it valid;
//! - [`targets::walk`]: random allowed tokens never lead to a dead end, and the documents that they spell are valid;
//! - [`targets::schema_text`]: no text makes compiling panic;
//! - [`targets::grammar_text`]: no text of a grammar does, and replies do not depend on how they are cut into tokens;
//! - [`targets::vocabulary_masks`]: masks over odd vocabularies are those that single bytes say;
//! - [`targets::work`]: no call allocates more memory than a bound, and a schema that compiles causes no limit error later.
//!
//! `cargo test` runs each target over a few seeded inputs. More of them, from another seed on:
//!
//! ```console
//! $ MASKWRIGHT_FUZZ_ROUNDS=100000 MASKWRIGHT_FUZZ_SEED=1000000 cargo test --release -p maskwright-fuzz --test targets -- --nocapture
//! ```
//!
//! With [cargo-fuzz](https://github.com/rust-fuzz/cargo-fuzz), which needs a nightly compiler:
//!
//! ```console
//! $ cargo +nightly fuzz run --fuzz-dir engine/fuzz --features libfuzzer agreement -- -timeout=60
//! ```
//!
//! The tests of this package are the other half of the evidence: whole masks against brute force (`tests/masks.rs`), the JSON
//! Schema Test Suite with the optional cases that are expected to fail (`tests/test_suite.rs`), and real documents, changed
//! ones among them (`tests/corpus.rs`).

pub mod choices;
pub mod document;
pub mod engine;
pub mod meter;
pub mod schema;
pub mod shrink;
pub mod spelling;
pub mod targets;

pub use choices::Choices;
