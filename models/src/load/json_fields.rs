//! [`JsonFields`]: the members of a JSON object in a configuration file, read with checks and errors that name them.

use maskwright_json_text::{GIT_LFS_POINTER, is_git_lfs_pointer};
use serde_json::{Map, Value};

use crate::error::ModelError;

/// The members of one JSON object. Errors name the file, and members of nested objects with dots.
pub(crate) struct JsonFields<'a> {
    file: &'a str,
    /// The names of the objects around this one, each with a dot behind it.
    prefix: String,
    map: Map<String, Value>,
}

impl<'a> JsonFields<'a> {
    /// Reads `bytes`, the contents of the file that errors call `file`.
    ///
    /// # Errors
    ///
    /// [`ModelError::Json`], where they are not a JSON object.
    pub(crate) fn parse(file: &'a str, bytes: &[u8]) -> Result<Self, ModelError> {
        let failed = |message: String| ModelError::Json {
            file: file.to_owned(),
            message,
        };
        if is_git_lfs_pointer(bytes) {
            return Err(failed(GIT_LFS_POINTER.to_owned()));
        }
        match parse_json(file, bytes)? {
            Value::Object(map) => Ok(Self {
                file,
                prefix: String::new(),
                map,
            }),
            other => Err(failed(format!("{} where an object was expected", shown(&other)))),
        }
    }

    /// All members.
    pub(crate) fn into_map(self) -> Map<String, Value> {
        self.map
    }

    /// The error of a field that is missing or has a wrong value.
    pub(crate) fn error(&self, field: &str, message: impl Into<String>) -> ModelError {
        ModelError::Config {
            file: self.file.to_owned(),
            field: format!("{}{field}", self.prefix),
            message: message.into(),
        }
    }

    /// The error of a model that is well formed, but of a kind that cannot be run.
    pub(crate) fn unsupported(&self, what: impl Into<String>, hint: impl Into<String>) -> ModelError {
        ModelError::Unsupported {
            file: self.file.to_owned(),
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// The field's value, where it is written and not `null`. For most fields `null` says the same as nothing; for those where it
    /// means "none" and their absence means a default, see [`is_absent`](Self::is_absent).
    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    /// Whether the field is not written at all, not even as `null`.
    pub(crate) fn is_absent(&self, field: &str) -> bool {
        !self.map.contains_key(field)
    }

    /// The names of all members.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str)
    }

    /// The text in `field`, where there is one.
    pub(crate) fn text(&self, field: &str) -> Result<Option<&str>, ModelError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value) => Err(self.error(field, format!("{} is not a string", shown(value)))),
        }
    }

    /// Returns these members, with `defaults` for the absent ones.
    pub(crate) fn or(mut self, defaults: &[(&str, u64)]) -> Self {
        for (field, value) in defaults {
            if self.get(field).is_none() {
                self.map.insert((*field).to_owned(), (*value).into());
            }
        }
        self
    }

    /// The object in `field`, where there is one.
    pub(crate) fn object(&self, field: &str) -> Result<Option<Self>, ModelError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self {
                file: self.file,
                prefix: format!("{}{field}.", self.prefix),
                map: map.clone(),
            })),
            Some(_) => Err(self.error(field, "expected an object")),
        }
    }

    /// A whole number from 1 to `limit`, where there is one.
    pub(crate) fn size(&self, field: &str, limit: usize) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.as_u64() {
            Some(size) if size >= 1 && size <= limit as u64 => Ok(Some(size as usize)),
            _ => {
                let message = format!("{} is not a whole number from 1 to {limit}", shown(value));
                Err(self.error(field, message))
            }
        }
    }

    /// A whole number from 1 to `limit`; `default` where there is none.
    pub(crate) fn size_or(&self, field: &str, limit: usize, default: usize) -> Result<usize, ModelError> {
        Ok(self.size(field, limit)?.unwrap_or(default))
    }

    /// A finite number over `low` (exclusive) and up to `high`, where there is one.
    pub(crate) fn number(&self, field: &str, low: f64, high: f64) -> Result<Option<f64>, ModelError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.as_f64() {
            Some(number) if number > low && number <= high => Ok(Some(number)),
            _ => {
                let message = format!("{} is not a number over {low} and up to {high}", shown(value));
                Err(self.error(field, message))
            }
        }
    }

    /// A number as [`number`](Self::number) reads it, which must not be absent.
    pub(crate) fn required_number(&self, field: &str, low: f64, high: f64) -> Result<f64, ModelError> {
        let number = self.number(field, low, high)?;
        number.ok_or_else(|| self.error(field, "missing; expected a number"))
    }

    /// A switch, or `default` where it is absent.
    pub(crate) fn flag(&self, field: &str, default: bool) -> Result<bool, ModelError> {
        match self.get(field) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => Err(self.error(field, format!("{} is not true or false", shown(value)))),
        }
    }

    /// The items of a list of names; none where it is absent.
    pub(crate) fn list(&self, field: &str) -> Result<&[Value], ModelError> {
        match self.get(field) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.error(field, "expected a list")),
        }
    }

    /// A whole number, zero included, where there is one.
    pub(crate) fn whole_number(&self, field: &str) -> Result<Option<usize>, ModelError> {
        let number = self.get(field).map(|value| self.as_whole_number(field, value));
        number.transpose()
    }

    /// `value`, which stands in `field`, as a whole number.
    fn as_whole_number(&self, field: &str, value: &Value) -> Result<usize, ModelError> {
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| self.error(field, format!("{} is not a whole number", shown(value))))
    }

    /// The items of a list of whole numbers; none where it is absent.
    pub(crate) fn whole_numbers(&self, field: &str) -> Result<Vec<usize>, ModelError> {
        let numbers = self.list(field)?.iter();
        numbers.map(|value| self.as_whole_number(field, value)).collect()
    }

    /// The items of a list of `len` positive numbers, which must not be absent.
    pub(crate) fn numbers(&self, field: &str, len: usize) -> Result<Vec<f32>, ModelError> {
        let numbers = self.list(field)?.iter().map(|value| match value.as_f64() {
            Some(number) if number > 0.0 && number < 1e9 => Ok(number as f32),
            _ => Err(self.error(field, format!("{} is not a positive number", shown(value)))),
        });
        let numbers = numbers.collect::<Result<Vec<f32>, _>>()?;
        match numbers.len() == len {
            true => Ok(numbers),
            false => Err(self.error(field, format!("{} numbers where {len} were expected", numbers.len()))),
        }
    }

    /// A field that holds one token id or a list of them; empty where absent.
    pub(crate) fn token_ids(&self, field: &str) -> Result<Vec<u32>, ModelError> {
        let one = |value: &Value| {
            let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
            id.ok_or_else(|| self.error(field, format!("{} is not a token id", shown(value))))
        };
        match self.get(field) {
            None => Ok(Vec::new()),
            Some(Value::Array(ids)) => ids.iter().map(one).collect(),
            Some(value) => Ok(vec![one(value)?]),
        }
    }
}

/// The JSON of the file that errors call `file`. `Infinity`, `-Infinity` and `NaN`, which Python writes and JSON lacks, are read as the objects
/// that transformers writes in their place, such as `{"__float__": "Infinity"}`.
///
/// # Errors
///
/// [`ModelError::Json`], with the place where it does not parse.
pub(crate) fn parse_json(file: &str, bytes: &[u8]) -> Result<Value, ModelError> {
    let strict = serde_json::from_slice(bytes);
    let parsed = strict.or_else(|error| serde_json::from_slice(&with_tagged_floats(bytes)).map_err(|_| error));
    parsed.map_err(|error| ModelError::Json {
        file: file.to_owned(),
        message: error.to_string(),
    })
}

/// Returns `json` with an object in place of each `Infinity`, `-Infinity` and `NaN` that stands outside of strings.
fn with_tagged_floats(json: &[u8]) -> Vec<u8> {
    const FLOATS: [&str; 3] = ["Infinity", "-Infinity", "NaN"];
    let mut tagged = Vec::with_capacity(json.len());
    let mut rest = json;
    let mut is_in_string = false;
    while let Some(byte) = rest.first() {
        let mut floats = FLOATS.iter().filter(|_| !is_in_string);
        if let Some(float) = floats.find(|float| rest.starts_with(float.as_bytes())) {
            tagged.extend_from_slice(format!(r#"{{"__float__": "{float}"}}"#).as_bytes());
            rest = &rest[float.len()..];
            continue;
        }
        is_in_string ^= *byte == b'"';
        // A backslash goes with the character behind it, which may be a quote.
        let length = if *byte == b'\\' { 2 } else { 1 };
        let (read, unread) = rest.split_at(length.min(rest.len()));
        tagged.extend_from_slice(read);
        rest = unread;
    }
    tagged
}

/// Returns a value as an error message shows it: short, however long the value in the file is.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_that_python_writes_and_json_lacks_are_read() {
        let text =
            br#"{"limits": [0.5, Infinity,-Infinity, NaN], "Infinity": "\"Infinity\\", "text": "-Infinity, NaN"}"#;
        let float = |name: &str| json!({"__float__": name});
        let limits = json!([0.5, float("Infinity"), float("-Infinity"), float("NaN")]);
        let expected = json!({"limits": limits, "Infinity": "\"Infinity\\", "text": "-Infinity, NaN"});
        assert_eq!(parse_json("config.json", text).unwrap(), expected);
    }

    #[test]
    fn what_is_not_python_either_is_refused_with_the_first_error() {
        for text in ["[Infinity, 1 2]", "[Infinit]", "[NaN1]", "[1, \"Infinity]", "\\"] {
            let strict = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            let error = parse_json("config.json", text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&strict), "{text}: {error}");
        }
    }
}
