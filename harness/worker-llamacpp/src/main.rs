//! `maskwright-worker-llamacpp`: the grammars of [llama.cpp](https://crates.io/crates/llama-cpp-2) as a worker of the
//! benchmarks.

mod compiler;
mod documented;
mod gguf;
#[cfg(test)]
mod tests;

use maskwright::Compiler;
use maskwright_worker::{Description, Setup, serve};

use crate::compiler::{LlamaCppCompiler, OPTIONS};

/// Version of the package llama-cpp-2, which Cargo.toml pins and which contains llama.cpp.
const VERSION: &str = "0.1.160";

fn main() -> std::io::Result<()> {
    let description = Description {
        name: "llamacpp".to_owned(),
        version: format!("llama-cpp-2 {VERSION}"),
        options: OPTIONS.to_owned(),
        accepts_documents: false,
        completes: false,
        structural_tags: false,
        documented: Some(documented::documented()),
    };
    // No tokenizer: it would serve forced tokens, of which there are none.
    serve(&description, &|_| None, &prepare)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Compiler>, String> {
    match LlamaCppCompiler::new(setup.vocabulary.clone()) {
        Ok(compiler) => Ok(Box::new(compiler)),
        Err(error) => Err(error.to_string()),
    }
}
