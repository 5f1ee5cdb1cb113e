//! `maskwright-worker-xgrammar`: [XGrammar](https://crates.io/crates/xgrammar) as a worker of the benchmarks.
//!
//! Without an argument it runs with XGrammar's defaults, with `--standard` it reads schemas as JSON Schema defines them.

mod bitmask;
mod compiler;
mod documented;
mod forced;
mod jump_forward;
#[cfg(test)]
mod tests;
mod tokenizers;
mod tokens;

use std::io;

use maskwright::Compiler;
use maskwright_worker::{Description, Setup, serve};

use crate::compiler::{Mode, XgrammarCompiler};

/// Version of the package xgrammar, which Cargo.toml pins, and of the C++ library in it.
const VERSION: &str = "0.6.0 (C++ 0.2.8)";

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = match arguments.as_slice() {
        [] => Mode::Strict,
        [argument] if argument == "--standard" => Mode::Standard,
        _ => return Err(io::Error::other("expected no argument, or --standard")),
    };
    let description = Description {
        name: mode.name().to_owned(),
        version: VERSION.to_owned(),
        options: mode.options().to_owned(),
        accepts_documents: false,
        completes: false,
        structural_tags: true,
        documented: Some(documented::documented()),
    };
    serve(&description, &tokenizers::tokenizer, &|setup| prepare(setup, mode))
}

fn prepare(setup: &Setup, mode: Mode) -> Result<Box<dyn Compiler>, String> {
    match XgrammarCompiler::new(setup.vocabulary.clone(), mode, setup.grammar) {
        Ok(compiler) => Ok(Box::new(compiler)),
        Err(error) => Err(error.to_string()),
    }
}
