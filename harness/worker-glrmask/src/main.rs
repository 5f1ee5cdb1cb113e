//! `maskwright-worker-glrmask`: [glrmask](https://crates.io/crates/glrmask) as a worker of the benchmarks.
//!
//! The executable is named so that glrmask does not take it for one of its tests; [`compiler::PrepareError`] has more.

// That a state of glrmask may go to another thread is shown only by way of deeply nested types.
#![recursion_limit = "256"]

mod compiler;
#[cfg(test)]
mod tests;

use maskwright::Compiler;
use maskwright_worker::{Description, Setup, serve};

use crate::compiler::{GlrmaskCompiler, OPTIONS};

/// Version of the package glrmask, which Cargo.toml pins.
const VERSION: &str = "0.5.0";

/// Allocator of all frameworks, so that none is measured with a different one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::io::Result<()> {
    let description = Description {
        name: "glrmask".to_owned(),
        version: VERSION.to_owned(),
        options: OPTIONS.to_owned(),
        accepts_documents: false,
        completes: false,
        structural_tags: false,
        // Up to this version its documentation names JSON Schema as a grammar format and lists no keywords.
        documented: None,
    };
    // No tokenizer: it would serve forced tokens, of which there are none.
    serve(&description, &|_| None, &prepare)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Compiler>, String> {
    match GlrmaskCompiler::new(setup.vocabulary.clone()) {
        Ok(compiler) => Ok(Box::new(compiler)),
        Err(error) => Err(error.to_string()),
    }
}
