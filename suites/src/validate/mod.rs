//! Judges a generated text: is it one JSON document, and is that valid under the schema?
//!
//! [`Validator::new`] compiles a schema, [`Validator::judge`] judges texts. Validity is that of the `jsonschema` crate, in
//! the draft that `$schema` names (draft 2020-12 if it names none that is known). Nothing is fetched: a reference to a schema
//! elsewhere is a [`SchemaProblem`], unless the caller hands that schema over. Beyond the letter of the drafts:
//!
//! - Formats are asserted, in every draft all those that any draft defines; the labels of MaskBench are made this way.
//! - Numbers are compared by their digits, but a fraction with a bound past 2^53, or with a whole `multipleOf`, as doubles.
//! - Brackets in a pattern that can only stand for themselves need no backslash.
//!
//! That is [`Scoring::Strict`]; a [`Judge`] judges by [`Scoring::Paper`] too.
//!
//! # What counts as the document
//!
//! - The text is exactly one JSON document (RFC 8259), with whitespace around it if need be.
//! - If the whole text is one fenced code block, opened by three or more backticks with at most one word after them, its
//!   content is judged instead, and [`Verdict::fenced`] says so. A block among other text is not looked for.
//! - An object that has a name twice is JSON but not valid, as schemas say nothing about the lost value.
//!
//! # Untrusted input
//!
//! Schemas and texts may be anything. Nesting beyond [`MAX_DEPTH`] is refused, validation that may recurse far runs on a
//! thread of its own with a stack to match, a pattern gives up after a number of steps, and a panic of the crate beneath becomes a [`Problem`]. What is not bounded here is time: a schema can ask for work
//! that grows exponentially with its size, so a caller that takes schemas from strangers sets a time limit.

mod documents;
mod literal_brackets;
mod scoring;
#[cfg(test)]
mod tests;

pub use scoring::{Judge, Scoring, Verdicts};

use documents::Documents;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ReferencingError, ValidationError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::strict_json;

/// Largest nesting depth of arrays and objects in a schema or a judged text.
///
/// Reading a schema and validating recurse with it. The deepest schema of
/// JSONSchemaBench seen so far has 26 levels.
pub const MAX_DEPTH: usize = 256;

/// Largest number of problems that a [`Verdict`] lists.
pub const MAX_PROBLEMS: usize = 16;

/// Length to which messages are cut, in characters: they quote the instance.
const MAX_MESSAGE: usize = 400;

/// Steps that a pattern with lookaround or backreferences may take on one string.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// Largest compiled pattern in bytes; `^[a-z]{1,32767}$` takes about 3 MB, and its Unicode relatives more.
const PATTERN_SIZE_LIMIT: usize = 256 << 20;

/// Stack that validation may need for one subschema applied at one level of the instance, in bytes, with room to spare.
const FRAME_BYTES: usize = 4 << 10;

/// Stack that is taken for granted, in bytes: a quarter of a Rust thread's default stack.
const USUAL_STACK: usize = 512 << 10;

/// Largest stack that is asked for, in bytes. Only the used part takes memory.
const STACK_BYTES_LIMIT: usize = 1 << 30;

/// A schema ready to judge texts.
#[derive(Clone, Debug)]
pub struct Validator {
    compiled: Arc<jsonschema::Validator>,
    /// Number of objects in the schema: at least the number of its subschemas.
    subschemas: usize,
    scoring: Scoring,
}

/// Error of a schema that cannot be used to judge texts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", .kind.describe(), match &pointer[..] {
    "" => String::new(),
    pointer => format!(" at `{pointer}`"),
})]
pub struct SchemaProblem {
    /// Kind of the problem.
    pub kind: SchemaProblemKind,
    /// JSON Pointer into the schema; empty for the root, and where no place is known.
    pub pointer: String,
    /// The reason.
    pub message: String,
}

/// The ways in which a schema cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SchemaProblemKind {
    /// The text is not one JSON document, or nested deeper than [`MAX_DEPTH`].
    NotJson,
    /// The document breaks the rules of its draft.
    NotASchema,
    /// A reference leads nowhere, or out of the document.
    Reference,
    /// The crate beneath failed.
    Internal,
}

impl SchemaProblemKind {
    fn describe(self) -> &'static str {
        match self {
            Self::NotJson => "the schema is not JSON",
            Self::NotASchema => "the document is not a schema of its draft",
            Self::Reference => "a reference cannot be resolved",
            Self::Internal => "the validator failed on the schema",
        }
    }
}

/// Verdict on a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the text is one JSON document.
    pub parsed: bool,
    /// Whether the document is valid under the schema, and names nothing twice.
    pub valid: bool,
    /// Whether the document was the content of a fenced code block.
    pub fenced: bool,
    /// The problems: none if `valid`, else at least one and at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
}

/// One problem with a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// JSON Pointer into the instance; empty for the root, and where the text is not JSON.
    pub instance: String,
    /// JSON Pointer to the keyword in the schema; empty where no keyword is concerned.
    pub keyword: String,
    /// The reason.
    pub message: String,
}

/// The ways in which a text fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not one JSON document.
    NotJson,
    /// An object has a name twice.
    DuplicateName,
    /// The document breaks the schema.
    Invalid,
    /// The validator failed, so that nothing is known; the text counts as not valid.
    Undecided,
    /// Under this scoring the schema is none, so that no text counts as valid.
    UnusableSchema,
}

impl Validator {
    /// Compiles a schema. See the [module](self) for the draft and the formats.
    pub fn new(schema: &str) -> Result<Self, SchemaProblem> {
        Self::with_documents(schema, &BTreeMap::new())
    }

    /// Compiles a schema that may refer to `documents`, JSON texts by URI.
    pub fn with_documents(schema: &str, documents: &BTreeMap<String, String>) -> Result<Self, SchemaProblem> {
        let document = strict_json::parse(schema, MAX_DEPTH).map_err(|error| not_json(&error))?;
        Self::for_scoring(&document.value, Scoring::Strict, &Documents::read(documents))
    }

    /// Compiles a schema that has been read already, nested at most [`MAX_DEPTH`] deep.
    pub fn from_value(schema: &Value) -> Result<Self, SchemaProblem> {
        Self::for_scoring(schema, Scoring::Strict, &Documents::default())
    }

    /// Like [`Self::from_value`], to judge by `scoring`, with documents that the schema may refer to.
    fn for_scoring(schema: &Value, scoring: Scoring, documents: &Documents) -> Result<Self, SchemaProblem> {
        let built = catch_unwind(AssertUnwindSafe(|| {
            build(schema, scoring, documents).or_else(|error| match literal_brackets::escaped(schema) {
                Some(escaped) => build(&escaped, scoring, documents).map_err(|_| error),
                None => Err(error),
            })
        }));
        match built {
            Ok(Ok(compiled)) => Ok(Self {
                compiled: Arc::new(compiled),
                subschemas: objects(schema) + documents.objects(),
                scoring,
            }),
            Ok(Err(error)) => Err(schema_problem(&error)),
            Err(panic) => Err(SchemaProblem {
                kind: SchemaProblemKind::Internal,
                pointer: String::new(),
                message: panic_message(panic.as_ref()),
            }),
        }
    }

    /// Judges a text as a model wrote it.
    pub fn judge(&self, text: &str) -> Verdict {
        let (fenced, text) = match unfenced(text) {
            Some(content) => (true, content),
            None => (false, text),
        };
        let document = match strict_json::parse(text, MAX_DEPTH) {
            Ok(document) => document,
            Err(error) => {
                let problem = Problem {
                    kind: ProblemKind::NotJson,
                    instance: String::new(),
                    keyword: String::new(),
                    message: error.to_string(),
                };
                return Verdict {
                    parsed: false,
                    valid: false,
                    fenced,
                    problems: vec![problem],
                };
            }
        };
        let mut problems: Vec<Problem> = match self.scoring {
            Scoring::Strict => document.duplicates.into_iter().map(duplicate_name).collect(),
            Scoring::Paper => Vec::new(),
        };
        problems.extend(self.problems(&document.value));
        problems.truncate(MAX_PROBLEMS);
        Verdict {
            parsed: true,
            valid: problems.is_empty(),
            fenced,
            problems,
        }
    }

    /// Judges a value that has been read already, nested at most [`MAX_DEPTH`] deep.
    pub fn judge_value(&self, value: &Value) -> Verdict {
        let problems = self.problems(value);
        Verdict {
            parsed: true,
            valid: problems.is_empty(),
            fenced: false,
            problems,
        }
    }

    fn problems(&self, value: &Value) -> Vec<Problem> {
        // Between two levels of the instance, validation can pass through every subschema once.
        let levels = depth(value) + 1;
        let stack = self.subschemas.saturating_mul(levels).saturating_mul(FRAME_BYTES);
        if stack <= USUAL_STACK {
            return self.problems_here(value);
        }
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(stack.min(STACK_BYTES_LIMIT) + USUAL_STACK);
            match builder
                .spawn_scoped(scope, || self.problems_here(value))
                .map(|thread| thread.join())
            {
                Ok(Ok(problems)) => problems,
                Ok(Err(panic)) => vec![undecided(panic_message(panic.as_ref()))],
                Err(error) => vec![undecided(format!("no thread to validate on: {error}"))],
            }
        })
    }

    fn problems_here(&self, value: &Value) -> Vec<Problem> {
        let found = catch_unwind(AssertUnwindSafe(|| {
            if self.compiled.is_valid(value) {
                return Vec::new();
            }
            let errors = self.compiled.iter_errors(value);
            let problems: Vec<Problem> = errors.take(MAX_PROBLEMS).map(|error| problem(&error)).collect();
            if problems.is_empty() {
                return vec![undecided("not valid, for reasons unknown".to_owned())];
            }
            problems
        }));
        found.unwrap_or_else(|panic| vec![undecided(panic_message(panic.as_ref()))])
    }
}

/// Returns the nesting depth of arrays and objects in `value`.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Number of objects in `value`.
fn objects(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(objects).sum(),
        Value::Object(members) => 1 + members.values().map(objects).sum::<usize>(),
        _ => 0,
    }
}

/// Formats that not all drafts define, each with a schema that asserts it.
static LATER_FORMATS: LazyLock<Vec<(&str, Arc<jsonschema::Validator>)>> = LazyLock::new(|| {
    let names = [
        "duration",
        "idn-hostname",
        "iri",
        "iri-reference",
        "json-pointer",
        "relative-json-pointer",
        "uri-reference",
        "uri-template",
        "uuid",
    ];
    let compiled = |name| {
        let options = jsonschema::options().should_validate_formats(true).offline();
        options.build(&serde_json::json!({ "format": name })).ok().map(Arc::new)
    };
    names
        .into_iter()
        .filter_map(|name| Some((name, compiled(name)?)))
        .collect()
});

fn build(
    schema: &Value,
    scoring: Scoring,
    documents: &Documents,
) -> Result<jsonschema::Validator, ValidationError<'static>> {
    if scoring == Scoring::Paper {
        let mut options = options(Draft::Draft202012)
            .with_retriever(documents.clone())
            .with_keyword(scoring::IGNORED_KEYWORD, |_, _, _| Ok(Box::new(scoring::Ignored)));
        for name in scoring::BROKEN_FORMATS {
            options = options.with_format(name, |_: &str| false);
        }
        return options.build(&scoring::without_draft(schema));
    }
    match Draft::default().detect(schema) {
        Draft::Unknown => options(Draft::Draft202012),
        known => options(known),
    }
    .with_retriever(documents.clone())
    .build(schema)
}

/// Returns the options with which schemas of `draft` are compiled.
fn options(draft: Draft) -> jsonschema::ValidationOptions<'static> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_SIZE_LIMIT);
    let mut options = jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .with_pattern_options(patterns)
        .offline();
    for (name, asserted) in LATER_FORMATS.iter() {
        if !options.is_known_format(draft, name) {
            options = options.with_format(*name, |text: &str| asserted.is_valid(&Value::from(text)));
        }
    }
    options
}

fn not_json(error: &strict_json::JsonError) -> SchemaProblem {
    SchemaProblem {
        kind: SchemaProblemKind::NotJson,
        pointer: String::new(),
        message: error.to_string(),
    }
}

fn schema_problem(error: &ValidationError<'_>) -> SchemaProblem {
    let kind = match error.kind() {
        ValidationErrorKind::Referencing(_) => SchemaProblemKind::Reference,
        _ => SchemaProblemKind::NotASchema,
    };
    let message = match error.kind() {
        // A relative reference in a schema without an identifier cannot even be looked up.
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => documents::not_at_hand(uri),
        _ => shortened(&error.to_string()),
    };
    SchemaProblem {
        kind,
        pointer: error.instance_path().to_string(),
        message,
    }
}

fn problem(error: &ValidationError<'_>) -> Problem {
    let kind = match error.kind() {
        ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. } => {
            ProblemKind::Undecided
        }
        _ => ProblemKind::Invalid,
    };
    Problem {
        kind,
        instance: error.instance_path().to_string(),
        keyword: error.schema_path().to_string(),
        message: shortened(&error.to_string()),
    }
}

fn duplicate_name(pointer: String) -> Problem {
    Problem {
        kind: ProblemKind::DuplicateName,
        message: "the name occurs more than once in its object".to_owned(),
        instance: pointer,
        keyword: String::new(),
    }
}

fn undecided(message: String) -> Problem {
    Problem {
        kind: ProblemKind::Undecided,
        instance: String::new(),
        keyword: String::new(),
        message,
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "panic in the jsonschema crate: {}",
        shortened(text.unwrap_or("no message"))
    )
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

/// The content of the fenced code block that `text` consists of, if it does.
fn unfenced(text: &str) -> Option<&str> {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let info_start = text.find(|c| c != '`')?;
    let (fence, rest) = text.split_at(info_start);
    let (info, rest) = rest.split_once('\n')?;
    let one_word = !info.trim().contains(char::is_whitespace) && !info.contains('`');
    let content = rest.strip_suffix(fence)?;
    let closed = content.is_empty() || content.trim_end_matches([' ', '\t']).ends_with('\n');
    (fence.len() >= 3 && one_word && closed).then_some(content)
}
