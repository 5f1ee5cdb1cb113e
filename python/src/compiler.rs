//! The classes `Compiler` and `Compiled`.

use std::sync::Arc;

use maskwright::explain::Explainer;
use maskwright::lint::lint;
use maskwright::{CompileError, CompileErrorKind, GrammarSyntax};
use maskwright_serving::{CompiledSchema, MatcherOptions, SchemaCompiler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};

use crate::errors::{compile_error, matcher_error};
use crate::matcher::{Matcher, token_ids};
use crate::style::{json_text, options, tag_text};
use crate::tokenizer::Tokenizer;

/// Schema of any object, for `json_object`.
const ANY_OBJECT: &str = r#"{"type": "object"}"#;

/// Default memory for compiled schemas.
const CACHE_BYTES: usize = 1 << 30;

/// Compiles schemas for one tokenizer and keeps the compiled ones. Threads may share it.
#[pyclass(frozen, module = "maskwright")]
pub(crate) struct Compiler(Arc<SchemaCompiler>);

#[pymethods]
impl Compiler {
    #[new]
    #[pyo3(signature = (tokenizer, *, style=None, formats="annotation", patterns="common", draft=None, documents=None, memory_limit=None, cache_bytes=CACHE_BYTES))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        tokenizer: &Bound<'_, Tokenizer>,
        style: Option<&Bound<'_, PyAny>>,
        formats: &str,
        patterns: &str,
        draft: Option<&str>,
        documents: Option<&Bound<'_, PyMapping>>,
        memory_limit: Option<usize>,
        cache_bytes: usize,
    ) -> PyResult<Self> {
        let options = options(style, formats, patterns, draft, documents, memory_limit)?;
        let vocabulary = tokenizer.get().vocabulary().clone();
        let compiler = py.detach(|| SchemaCompiler::new(vocabulary, options, cache_bytes));
        Ok(Self(Arc::new(compiler)))
    }

    /// Compiles a JSON Schema: its text, a dict, or a Pydantic model.
    fn compile_json_schema(&self, py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<Compiled> {
        self.compile_schema(py, json_text(schema)?)
    }

    /// Compiles the schema of any JSON object.
    fn compile_json_object(&self, py: Python<'_>) -> PyResult<Compiled> {
        self.compile_schema(py, ANY_OBJECT.to_owned())
    }

    /// Compiles a regular expression: the reply is a text that it matches whole.
    fn compile_regex(&self, py: Python<'_>, pattern: String) -> PyResult<Compiled> {
        self.compile(py, pattern, SchemaCompiler::regex)
    }

    /// Compiles a choice: the reply is one of some texts, as it is.
    fn compile_choice(&self, py: Python<'_>, choices: Vec<String>) -> PyResult<Compiled> {
        let text = PyList::new(py, &choices)?.repr()?.to_string();
        self.compile(py, text, |compiler, _| compiler.choice(&choices))
    }

    /// Compiles a grammar: the reply is one of its texts.
    #[pyo3(signature = (grammar, *, syntax=None))]
    fn compile_grammar(&self, py: Python<'_>, grammar: String, syntax: Option<&str>) -> PyResult<Compiled> {
        let syntax = match syntax {
            None => None,
            Some("ebnf" | "gbnf") => Some(GrammarSyntax::Ebnf),
            Some("lark") => Some(GrammarSyntax::Lark),
            Some(other) => {
                let message = format!("syntax {other:?} is not known: it is \"ebnf\" or \"lark\"");
                return Err(PyValueError::new_err(message));
            }
        };
        self.compile(py, grammar, move |compiler, grammar| compiler.grammar(grammar, syntax))
    }

    /// Compiles a structural tag, given as JSON text, a dict or an instance of a Pydantic model.
    fn compile_structural_tag(&self, py: Python<'_>, tag: &Bound<'_, PyAny>) -> PyResult<Compiled> {
        self.compile(py, tag_text(tag)?, SchemaCompiler::structural_tag)
    }

    /// Checks a schema, and returns its errors in the words of the exceptions; empty where the schema can be compiled.
    fn check(&self, py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let schema = json_text(schema)?;
        Ok(py.detach(|| {
            let mut explainer = match Explainer::new(&schema, self.0.options()) {
                Ok(explainer) => explainer,
                Err(error) => return vec![error.to_string()],
            };
            let mut found: Vec<String> = explainer.refused().iter().map(ToString::to_string).collect();
            if found.is_empty()
                && let Err(error) = self.0.json_schema(&schema)
            {
                found.push(error.to_string());
            }
            found
        }))
    }

    /// The tokenizer of the masks.
    #[getter]
    fn tokenizer(&self) -> Tokenizer {
        Tokenizer::over(self.0.vocabulary().clone())
    }

    /// Number of compiled schemas that are kept.
    #[getter]
    fn cached_schemas(&self) -> usize {
        self.0.cache_size().0
    }

    /// Bytes that the compiled schemas took when they were asked for last, roughly.
    #[getter]
    fn cached_bytes(&self) -> usize {
        self.0.cache_size().1
    }

    /// Drops all kept schemas. Matchers keep their own.
    fn clear_cache(&self, py: Python<'_>) {
        py.detach(|| self.0.clear_cache());
    }

    fn __repr__(&self) -> String {
        format!("<maskwright.Compiler with {} schemas>", self.0.cache_size().0)
    }
}

impl Compiler {
    /// Compiles the text of a JSON Schema.
    fn compile_schema(&self, py: Python<'_>, schema: String) -> PyResult<Compiled> {
        let compiled = self.compile(py, schema, SchemaCompiler::json_schema)?;
        Ok(Compiled {
            is_schema: true,
            ..compiled
        })
    }

    /// Compiles a text of any kind. The result is not marked as that of a JSON Schema.
    fn compile(
        &self,
        py: Python<'_>,
        source: String,
        compile: impl FnOnce(&SchemaCompiler, &str) -> Result<Arc<CompiledSchema>, CompileError> + Send,
    ) -> PyResult<Compiled> {
        let compiled = py.detach(|| compile(&self.0, &source));
        Ok(Compiled {
            inner: compiled.map_err(|error| compile_error(py, &error))?,
            compiler: self.0.clone(),
            source,
            is_schema: false,
        })
    }
}

/// A compiled schema. Its matchers share the masks that have been worked out. Threads may share it.
#[pyclass(frozen, module = "maskwright")]
pub(crate) struct Compiled {
    inner: Arc<CompiledSchema>,
    compiler: Arc<SchemaCompiler>,
    source: String,
    /// Whether the source is the text of a JSON Schema.
    is_schema: bool,
}

#[pymethods]
impl Compiled {
    /// Makes a matcher at the start of an answer.
    #[pyo3(signature = (*, stop_token_ids=None, max_tokens=None))]
    pub(crate) fn matcher(
        &self,
        py: Python<'_>,
        stop_token_ids: Option<Vec<i64>>,
        max_tokens: Option<i64>,
    ) -> PyResult<Matcher> {
        let options = MatcherOptions {
            stop_tokens: stop_token_ids.map(|ids| token_ids(&ids)),
            // A negative number is too small for any answer.
            max_tokens: max_tokens.map(|most| usize::try_from(most).unwrap_or(0)),
        };
        let matcher = py.detach(|| self.inner.matcher(&options));
        Ok(Matcher::new(matcher.map_err(|error| matcher_error(&error))?))
    }

    /// Number of token ids: bits of a mask.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.inner.vocabulary().len()
    }

    /// Returns the bytes that the schema takes with the masks and states worked out for it, roughly.
    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.inner.memory_bytes())
    }

    /// Whether answers have reached a limit of the engine or come near one, so that the schema has to be compiled again for answers to come.
    #[getter]
    fn is_limit_reached(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.is_limit_reached())
    }

    /// The text of the schema, the regular expression, or the list of texts.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// Reports on the schema: the draft by which it is read, the number of its subschemas, the values that the style leaves out,
    /// and the parts that are probably not meant.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !self.is_schema {
            let error = CompileError::new(CompileErrorKind::Unsupported, "only JSON Schemas have a report");
            return Err(compile_error(py, &error));
        }
        let found = py.detach(|| {
            let mut explainer = Explainer::new(&self.source, self.compiler.options())?;
            let narrowings = explainer.narrowings();
            let warnings = lint(&self.source, self.compiler.options());
            Ok((explainer.draft(), explainer.subschemas(), narrowings, warnings))
        });
        let (draft, subschemas, narrowings, warnings) = found.map_err(|error| compile_error(py, &error))?;
        let report = PyDict::new(py);
        report.set_item("draft", draft.to_string())?;
        report.set_item("subschemas", subschemas)?;
        let list = PyList::empty(py);
        for narrowing in &narrowings.found {
            let entry = PyDict::new(py);
            let places: Vec<String> = narrowing.places.iter().map(ToString::to_string).collect();
            entry.set_item("kind", narrowing.kind.code())?;
            entry.set_item("what", narrowing.what())?;
            entry.set_item("places", places)?;
            entry.set_item("count", narrowing.count)?;
            list.append(entry)?;
        }
        report.set_item("narrowings", list)?;
        report.set_item("narrowings_complete", narrowings.is_complete)?;
        let list = PyList::empty(py);
        for warning in &warnings {
            let entry = PyDict::new(py);
            entry.set_item("kind", warning.kind().code())?;
            entry.set_item("pointer", warning.pointer())?;
            entry.set_item("message", warning.message())?;
            list.append(entry)?;
        }
        report.set_item("warnings", list)?;
        Ok(report)
    }
}
