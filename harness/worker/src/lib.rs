//! A framework in a process of its own.
//!
//! A **worker** is a program that reads requests from its standard input and writes a reply to each on its standard
//! output: it compiles schemas, hands out masks, and replays documents with the time taken where the work is done.
//!
//! The messages are in [`protocol`]; they are lines of JSON, so a worker can be written in any language. One in Rust
//! implements [`maskwright::Compiler`] and [`maskwright::Masker`] and calls [`serve`]:
//!
//! ```no_run
//! # fn my_compiler(_: &maskwright_worker::Setup) -> Result<Box<dyn maskwright::Compiler>, String> { Err(String::new()) }
//! use maskwright_worker::{Description, serve};
//!
//! fn main() -> std::io::Result<()> {
//!     let description = Description {
//!         name: "mine".to_owned(),
//!         version: "0.1.0".to_owned(),
//!         options: "defaults".to_owned(),
//!         accepts_documents: false,
//!         completes: false,
//!         structural_tags: false,
//!         documented: None,
//!     };
//!     serve(&description, &|_| None, &my_compiler)
//! }
//! ```

mod channel;
mod clock;
mod history;
pub mod protocol;
mod serve;
pub mod style;
mod vocabulary;

pub use clock::Stopwatch;
pub use history::TokenHistory;
pub use protocol::{Description, Documented, Grammar, Purpose};
pub use serve::{MakeTokenizer, Prepare, Setup, serve};
pub use style::StyleChanges;
pub use vocabulary::{TokenizerSource, WireVocabulary};
