//! Rules of the strict level beyond the public validator: keys given once, scalars of YAML that are read as they look, and the
//! keywords of JSON Schema that the walk leaves out.

use serde_json::{Map, Value};

use super::datum::{Content, Datum};
use super::failure::{FailureKind, Failures, preview};
use super::schema::{Null, Schema, SchemaError, SchemaKind};
use super::walk::{member, push_step};
use super::yaml::is_timestamp;
use crate::validate::{MAX_DEPTH, Problem, ProblemKind, Validator};

/// Keywords that the walk has judged, and annotations.
const JUDGED: [&str; 14] = [
    "type",
    "required",
    "enum",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Keywords that say something about one field where another has some value.
const CONDITIONS: [&str; 6] = [
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
];

/// The keywords of a schema that only the strict level judges.
pub(super) struct Strict {
    keywords: Option<Validator>,
}

impl Strict {
    /// # Errors
    ///
    /// Keywords that are not of their form.
    pub fn new(schema: &Map<String, Value>) -> Result<Self, SchemaError> {
        let compiled = beyond(schema).map(|schema| Validator::from_value(&Value::Object(schema)));
        let keywords = compiled.transpose().map_err(|problem| SchemaError {
            message: problem.message,
            pointer: problem.pointer,
        })?;
        Ok(Self { keywords })
    }

    /// Adds the strict failures of `list`, which is `datum` or is inside it.
    pub fn judge(&self, datum: &Datum, list: &Datum, schema: &Schema, failures: &mut Failures) {
        let mut look = Look {
            path: String::new(),
            failures,
        };
        if !std::ptr::eq(datum, list)
            && let Content::Mapping(mapping) = &datum.content
        {
            look.repeated(&mapping.repeated);
        }
        look.at(list, Some(schema));
        let Some(keywords) = &self.keywords else { return };
        let undecided = |message: String| (FailureKind::Undecided, String::new(), message);
        let problems = if list.depth > MAX_DEPTH {
            vec![undecided(format!("nested more than {MAX_DEPTH} levels deep"))]
        } else if let Some(value) = list.to_json() {
            let verdict = keywords.judge_value(&value);
            let named = verdict.problems.into_iter();
            named
                .map(|problem| (kind(&problem), path(&problem.instance, list), problem.message))
                .collect()
        } else {
            vec![undecided(
                "keywords do not apply: not all of the data is JSON".to_owned(),
            )]
        };
        for (kind, path, message) in problems {
            failures.add(kind, &path, || message);
        }
    }
}

/// The part of a schema that the walk does not judge; none where that is all.
fn beyond(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    // These keywords judge what `properties` and `items` do not name, so that what is left out stays named there, by a schema that allows all.
    let judges_unnamed = schema.contains_key("unevaluatedProperties")
        || schema.contains_key("unevaluatedItems")
        || schema
            .get("additionalProperties")
            .is_some_and(|value| !value.is_boolean());
    let named = || judges_unnamed.then(|| Value::Object(Map::new()));
    let mut rest = Map::new();
    for (keyword, value) in schema {
        let kept = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let kept = properties.iter().filter_map(|(name, schema)| {
                    let kept = schema.as_object().and_then(beyond).map(Value::Object);
                    Some((name.clone(), kept.or_else(named)?))
                });
                let kept: Map<String, Value> = kept.collect();
                (!kept.is_empty()).then_some(Value::Object(kept))
            }
            ("items", Value::Object(items)) => beyond(items).map(Value::Object).or_else(named),
            ("additionalProperties", Value::Bool(_)) => None,
            // Draft 4 asks for the bound beside the flag that excludes it.
            ("minimum", _) if schema.get("exclusiveMinimum").is_some_and(Value::is_boolean) => Some(value.clone()),
            ("maximum", _) if schema.get("exclusiveMaximum").is_some_and(Value::is_boolean) => Some(value.clone()),
            (keyword, _) if JUDGED.contains(&keyword) => None,
            _ => Some(value.clone()),
        };
        rest.extend(kept.map(|kept| (keyword.clone(), kept)));
    }
    let judges = rest.keys().any(|keyword| keyword != "$schema" && keyword != "$comment");
    judges.then_some(rest)
}

/// Returns the kind of failure for a problem that the `jsonschema` crate reports.
fn kind(problem: &Problem) -> FailureKind {
    if problem.kind != ProblemKind::Invalid {
        return FailureKind::Undecided;
    }
    let mut keyword = "";
    let mut segments = problem.keyword.split('/').skip(1);
    while let Some(segment) = segments.next() {
        keyword = segment;
        if CONDITIONS.contains(&segment) {
            return FailureKind::Condition;
        }
        if segment == "properties" {
            // The name of a field is no keyword.
            segments.next();
        }
    }
    match keyword {
        "pattern" => FailureKind::Pattern,
        "format" => FailureKind::Format,
        "minLength" | "maxLength" => FailureKind::StringLength,
        "uniqueItems" => FailureKind::NotUnique,
        _ => FailureKind::Keyword,
    }
}

/// The path that a JSON Pointer into `datum` is.
fn path(pointer: &str, datum: &Datum) -> String {
    let mut path = String::new();
    let mut at = Some(datum);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let (step, next) = match at.map(|datum| &datum.content) {
            Some(Content::List(items)) => (
                format!("[{name}]"),
                name.parse().ok().and_then(|at: usize| items.get(at)),
            ),
            Some(Content::Mapping(mapping)) => (member(&name), mapping.get(&name)),
            _ => (member(&name), None),
        };
        push_step(&mut path, &step);
        at = next.map(AsRef::as_ref);
    }
    path
}

/// Looks for keys given twice and misread scalars. Recurses with the data, whose depth is bounded.
struct Look<'f> {
    path: String,
    failures: &'f mut Failures,
}

impl Look<'_> {
    /// Looks at `datum` and all in it; where the schema describes it, also at how its scalars are read.
    fn at(&mut self, datum: &Datum, schema: Option<&Schema>) {
        if let (Some(plain), Some(schema)) = (&datum.plain, schema)
            && let Some(reading) = misread(&datum.content, plain, &schema.kind)
            // Where null will do, it is what was meant.
            && (!matches!(datum.content, Content::Null) || schema.null == Null::Refused)
        {
            let path = &self.path;
            self.failures.add(FailureKind::Coercion, path, || {
                format!(
                    "`{}` is read as {reading}: quote it, or write what is meant",
                    preview(plain)
                )
            });
        }
        match &datum.content {
            Content::List(items) => {
                let schema = match schema.map(|schema| &schema.kind) {
                    Some(SchemaKind::Array(array)) => array.items.as_ref(),
                    _ => None,
                };
                for (number, item) in items.iter().enumerate() {
                    self.below(&format!("[{number}]"), |look| look.at(item, schema));
                }
            }
            Content::Mapping(mapping) => {
                self.repeated(&mapping.repeated);
                for (key, value) in &mapping.entries {
                    let schema = match (&key.content, schema.map(|schema| &schema.kind)) {
                        (Content::Text(name), Some(SchemaKind::Object(object))) => {
                            object.positions.get(name).map(|&at| &object.properties[at].1)
                        }
                        _ => None,
                    };
                    self.below(&member(&key.key_text()), |look| {
                        look.key(key);
                        look.at(value, schema);
                    });
                }
            }
            _ => {}
        }
    }

    fn key(&mut self, key: &Datum) {
        if let Some(plain) = &key.plain
            && let Some(reading) = misread(&key.content, plain, &SchemaKind::String)
        {
            self.failures.add(FailureKind::Coercion, &self.path, || {
                format!("the key `{}` is read as {reading}: quote it", preview(plain))
            });
        }
    }

    fn repeated(&mut self, keys: &[String]) {
        for key in keys {
            self.below(&member(key), |look| {
                let message = || "the key is given more than once in its object".to_owned();
                look.failures.add(FailureKind::DuplicateKey, &look.path, message);
            });
        }
    }

    fn below(&mut self, step: &str, work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        push_step(&mut self.path, step);
        work(self);
        self.path.truncate(length);
    }
}

/// Describes the reading of the plain scalar `plain`, such as "a boolean", where people would not expect that reading in a field
/// of this kind.
fn misread(content: &Content, plain: &str, kind: &SchemaKind) -> Option<&'static str> {
    let digits = plain.trim_start_matches(['-', '+']);
    match (kind, content) {
        (_, Content::Integer(_) | Content::Float(_)) if digits.contains(':') && numeric(kind) => {
            Some("a number to the base of 60")
        }
        (_, Content::Integer(_))
            if digits.len() > 1
                && digits.bytes().all(|c| c.is_ascii_digit() || c == b'_')
                && digits.starts_with('0')
                && numeric(kind) =>
        {
            Some("an octal number")
        }
        (_, Content::Float(value)) if numeric(kind) && loses_digits(digits, value.abs()) => {
            Some("a number with other digits")
        }
        (_, Content::Text(_))
            if numeric(kind) && digits.parse::<f64>().is_ok() && plain.contains(|c: char| c.is_ascii_digit()) =>
        {
            Some("a string")
        }
        (SchemaKind::String, Content::Boolean(_)) => Some("a boolean"),
        (SchemaKind::String, Content::Integer(_)) => Some("an integer"),
        (SchemaKind::String, Content::Float(_)) => Some("a float"),
        (SchemaKind::String, Content::Null) if !plain.is_empty() => Some("null"),
        (SchemaKind::String, Content::Text(_)) if is_timestamp(plain) => Some("a date by loaders that know dates"),
        _ => None,
    }
}

fn numeric(kind: &SchemaKind) -> bool {
    matches!(kind, SchemaKind::Number | SchemaKind::Integer)
}

/// Whether the decimal `text`, without sign, is another number than the shortest decimal of the double `value`.
fn loses_digits(text: &str, value: f64) -> bool {
    if text.starts_with(".i") || text.starts_with(".I") || value.is_nan() {
        return false;
    }
    significant(&text.replace('_', "")) != significant(&format!("{value:e}"))
}

/// Digits without zeros around them, and the power of ten of the first.
fn significant(decimal: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = decimal.split_once(['e', 'E']).unwrap_or((decimal, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0').to_owned();
    let power = exponent + whole.len() as i64 - zeros as i64;
    Some(if digits.is_empty() {
        (digits, 0)
    } else {
        (digits, power)
    })
}
