//! The exceptions of the package, made from the errors of the engine.

use maskwright::CompileErrorKind;
use maskwright_serving::MatcherError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    maskwright,
    CompileError,
    PyValueError,
    "A schema cannot be compiled.\n\nAttributes: `kind` (\"malformed\", \"unsupported\", \"unsatisfiable\", \"limit_exceeded\", \"refused\" or \"internal\"), \
     `pointer` (a JSON Pointer into the schema, or None), `keyword` (or None) and `reason`."
);
pyo3::create_exception!(
    maskwright,
    MaskError,
    PyRuntimeError,
    "A matcher cannot do as asked. After a limit of the engine the answer cannot go on; otherwise the matcher is as it was."
);
pyo3::create_exception!(
    maskwright,
    TokenizerError,
    PyValueError,
    "A tokenizer's data does not make a vocabulary, or is of a kind that is not read."
);

/// The exception of an error of the compiler.
pub(crate) fn compile_error(py: Python<'_>, error: &maskwright::CompileError) -> PyErr {
    let exception = CompileError::new_err(error.to_string());
    let value = exception.value(py);
    let attributes = [
        ("kind", Some(kind(error.kind()))),
        ("pointer", error.pointer()),
        ("keyword", error.keyword()),
        ("reason", Some(error.message())),
    ];
    for (name, attribute) in attributes {
        if let Err(failed) = value.setattr(name, attribute) {
            return failed;
        }
    }
    exception
}

fn kind(kind: CompileErrorKind) -> &'static str {
    match kind {
        CompileErrorKind::Malformed => "malformed",
        CompileErrorKind::Unsupported => "unsupported",
        CompileErrorKind::Unsatisfiable => "unsatisfiable",
        CompileErrorKind::LimitExceeded => "limit_exceeded",
        CompileErrorKind::Refused => "refused",
        _ => "internal",
    }
}

/// The exception of an error of a matcher.
pub(crate) fn matcher_error(error: &MatcherError) -> PyErr {
    match error {
        MatcherError::Mask(_) | MatcherError::OnlyStopTokens { .. } => MaskError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception of a tokenizer that makes no vocabulary.
pub(crate) fn tokenizer_error(error: impl std::fmt::Display) -> PyErr {
    TokenizerError::new_err(error.to_string())
}
