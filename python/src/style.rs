//! Reads the options of a compiler.

use std::collections::BTreeMap;

use maskwright::{Draft, ExactOptions, Formats, Limits, PatternSyntax, Style};
use maskwright_worker::StyleChanges;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

/// Returns the text of a JSON value: a `str` as it is, a Pydantic model's schema, and any other value as Python's `json` writes it.
pub(crate) fn json_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    let value = if value.hasattr("model_json_schema")? {
        value.call_method0("model_json_schema")?
    } else if !value.is_instance_of::<PyDict>()
        && let Ok(mapping) = value.cast::<PyMapping>()
    {
        // Python's `json` writes dicts and no other mappings.
        dict(mapping)?.into_any()
    } else {
        value.clone()
    };
    value.py().import("json")?.call_method1("dumps", (value,))?.extract()
}

/// A dict with the members of a mapping.
pub(crate) fn dict<'py>(mapping: &Bound<'py, PyMapping>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(mapping.py());
    dict.update(mapping)?;
    Ok(dict)
}

/// Returns the text of a structural tag: that of an instance of a Pydantic model by the names that its fields have in JSON, and that of any
/// other value as [`json_text`] does.
pub(crate) fn tag_text(tag: &Bound<'_, PyAny>) -> PyResult<String> {
    if !tag.hasattr("model_dump_json")? {
        return json_text(tag);
    }
    let options = PyDict::new(tag.py());
    options.set_item("by_alias", true)?;
    tag.call_method("model_dump_json", (), Some(&options))?.extract()
}

/// The options that the arguments give.
pub(crate) fn options(
    style: Option<&Bound<'_, PyAny>>,
    formats: &str,
    patterns: &str,
    draft: Option<&str>,
    documents: Option<&Bound<'_, PyMapping>>,
    memory_limit: Option<usize>,
) -> PyResult<ExactOptions> {
    let formats = match formats {
        "annotation" => Formats::Annotation,
        "asserted" => Formats::Asserted,
        other => return Err(unknown("formats", other, "annotation, asserted")),
    };
    let syntax = PatternSyntax::from_name(patterns);
    let patterns = syntax.ok_or_else(|| unknown("patterns", patterns, "common, ecma, rust, python"))?;
    let mut options = ExactOptions::default().formats(formats).patterns(patterns);
    if let Some(draft) = draft {
        options = options.default_draft(named_draft(draft)?);
    }
    if let Some(documents) = documents {
        let documents: BTreeMap<String, Bound<'_, PyAny>> = dict(documents)?.extract()?;
        for (uri, document) in documents {
            options = options.document(uri, json_text(&document)?);
        }
    }
    if let Some(bytes) = memory_limit {
        let mut limits = Limits::default();
        limits.memory_bytes = bytes;
        options = options.limits(limits);
    }
    let Some(style) = style else {
        return Ok(options);
    };
    match style.extract::<String>().as_deref() {
        Ok("generation") => Ok(options),
        Ok("rfc8259") => Ok(options.style(Style::rfc8259())),
        Ok(other) => Err(unknown("style", other, "generation, rfc8259, or a mapping of changes")),
        Err(_) => {
            let changes: StyleChanges = serde_json::from_str(&json_text(style)?)
                .map_err(|error| PyValueError::new_err(format!("the style: {error}")))?;
            Ok(changes.applied(options))
        }
    }
}

fn named_draft(name: &str) -> PyResult<Draft> {
    match name {
        "4" => Ok(Draft::Draft4),
        "6" => Ok(Draft::Draft6),
        "7" => Ok(Draft::Draft7),
        "2019-09" => Ok(Draft::Draft201909),
        "2020-12" => Ok(Draft::Draft202012),
        "openapi-3.0" => Ok(Draft::OpenApi30),
        "openapi-3.1" => Ok(Draft::OpenApi31),
        other => Err(unknown(
            "draft",
            other,
            "4, 6, 7, 2019-09, 2020-12, openapi-3.0, openapi-3.1",
        )),
    }
}

fn unknown(what: &str, found: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{what} {found:?} is not known; one of: {known}"))
}
