//! The native module of the Python package `maskwright`: thin classes over the engine and `maskwright-serving`.
//!
//! Each class is frozen, and what changes stands behind a lock of its own, so that threads may share every object. Work of more than
//! a few nanoseconds is done without the interpreter's lock.

mod bitmask;
mod compiler;
mod errors;
mod executor;
mod matcher;
mod style;
mod tokenizer;
mod tokenizer_files;

use pyo3::pymodule;

/// The native part of the package `maskwright`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::compiler::{Compiled, Compiler};
    #[pymodule_export]
    use super::errors::{CompileError, MaskError, TokenizerError};
    #[pymodule_export]
    use super::executor::Executor;
    #[pymodule_export]
    use super::matcher::Matcher;
    #[pymodule_export]
    use super::tokenizer::Tokenizer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
