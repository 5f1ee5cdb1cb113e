//! The constrained-decoding frameworks within the program `maskwright`, one file each, behind the traits [`Compiler`] and
//! [`Masker`](::maskwright::Masker).
//!
//! This package, `maskwright-worker` and `maskwright-models` have the code that runs while a framework or a model is measured, and are
//! optimised like the engine. The package `maskwright-harness` is not, because it compiles in a fifth of the time so.

mod documented;
mod judging;
mod lark;
mod llguidance;
mod maskwright;
mod outlines_core;
mod spelling;
#[cfg(test)]
mod tests;
mod token_trie;

use ::maskwright::Compiler;
use maskwright_worker::{Description, Setup};

pub use documented::{Documented, Keyword, Restriction};
pub use judging::{Judging, Spelling};

/// The allocator of every program that this package is part of. Compilers come and go in a run, and the C library's allocator gives
/// their memory back each time; every program in Rust that serves frameworks has this one, so that none is measured with another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A constrained-decoding framework of this program: its name and version, and the function that makes it ready.
pub struct BuiltInFramework {
    /// Name in commands, records and tables.
    pub name: &'static str,
    /// Description of the framework in one line, for `maskwright list`.
    pub description: &'static str,
    /// Version of the framework's package.
    pub version: &'static str,
    /// The options that the framework runs with, as its own documentation calls them.
    pub options: &'static str,
    /// Whether the framework resolves `$ref` to documents that come with the setup.
    pub accepts_documents: bool,
    /// Whether the framework can be trusted in the process of the benchmark itself: it neither crashes nor hangs on any schema we know. All others
    /// run in workers only.
    pub in_process: bool,
    /// Whether the framework can tell tokens that end a document.
    pub completes: bool,
    /// Whether it compiles structural tags.
    pub structural_tags: bool,
    /// Keywords and formats that the framework documents as supported.
    pub documented: &'static Documented,
    /// Function that writes documents in the form that the framework takes; none where it takes every text of a value.
    pub spelling: Option<Spelling>,
    /// Function that makes the framework ready for a vocabulary.
    pub prepare: fn(&Setup) -> Result<Box<dyn Compiler>, String>,
}

impl BuiltInFramework {
    /// Returns the description that the framework's worker sends.
    pub fn describe(&self) -> Description {
        Description {
            name: self.name.to_owned(),
            version: self.version.to_owned(),
            options: self.options.to_owned(),
            accepts_documents: self.accepts_documents,
            completes: self.completes,
            structural_tags: self.structural_tags,
            documented: Some(self.documented.into()),
        }
    }
}

/// Every framework of this program, in the order of tables.
pub static BUILT_IN_FRAMEWORKS: &[BuiltInFramework] = &[
    maskwright::FRAMEWORK,
    maskwright::GENERATION,
    llguidance::FRAMEWORK,
    outlines_core::FRAMEWORK,
];
