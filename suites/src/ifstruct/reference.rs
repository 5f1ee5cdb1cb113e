//! Replies that satisfy a sample: proof that it can be satisfied, and something to break in tests of a judge.
//!
//! The values mean nothing, but the strings are such as break naive writers: quotation marks, backslashes, line breaks, words that
//! YAML reads as something else.

use serde_json::{Map, Number, Value};

use crate::json_text;
use crate::strict_json::pointer_token;

use super::draw::Draw;
use super::{Count, OutputFormat, Sample, block_yaml};

/// A schema that replies cannot be made for.
#[derive(Debug, thiserror::Error)]
#[error("sample {seed}: json_schema{pointer}: {problem}")]
pub struct ReferenceError {
    /// The sample's `seed`.
    pub seed: u64,
    /// The place in its `json_schema`, as a JSON Pointer.
    pub pointer: String,
    /// The defect found there.
    pub problem: &'static str,
}

/// Deepest nesting of schemas that replies are made for.
const MAX_DEPTH: usize = 64;

/// A reply that satisfies `sample`, one of many: another `seed` gives another.
///
/// # Errors
///
/// [`ReferenceError`], where the schema is not of the kind that samples have.
pub fn reply(sample: &Sample, seed: u64) -> Result<String, ReferenceError> {
    let items = items(sample, seed)?;
    let fence = sample.require_code_block || (!sample.forbid_code_block && seed % 2 == 1);
    Ok(write(sample, items, fence))
}

/// Returns the reply to `sample` that is easiest to learn: short, always the same, and JSON on one line as `json.dumps` of Python writes it.
///
/// Lists have the fewest items allowed but one at least. The strings of a list's last item are the first of a fixed list of words, those
/// of the item before it the second, and so on. A model then need not count: its first word says how many items there are, and each word says
/// how many are left. Numbers are their lower bound, to which they go down by one in a list of numbers. A code fence is written only where
/// one is required.
///
/// # Errors
///
/// [`ReferenceError`], where the schema is not of the kind that samples have.
pub fn plain_reply(sample: &Sample) -> Result<String, ReferenceError> {
    let data = wrapped(sample, items_of(sample, Values::Plain)?);
    let text = match sample.output_format {
        OutputFormat::Json => json_text::to_string(&data).unwrap_or_else(|_| data.to_string()),
        OutputFormat::Yaml => block_yaml::to_string(&data),
    };
    Ok(fenced(sample, text, sample.require_code_block))
}

/// Items that satisfy `sample`, one reply's.
///
/// # Errors
///
/// [`ReferenceError`], where the schema is not of the kind that samples have.
pub fn items(sample: &Sample, seed: u64) -> Result<Vec<Value>, ReferenceError> {
    let draw = Draw::new(sample.seed, 1 << 32 | seed & 0xFFFF_FFFF);
    items_of(sample, Values::Drawn(Box::new(draw)))
}

/// The choice among the values that satisfy a schema.
enum Values {
    /// Any, and strings that naive writers break.
    Drawn(Box<Draw>),
    /// The values of [`plain_reply`].
    Plain,
}

impl Values {
    /// The length of a list that may have `low` to `high` items.
    fn length(&mut self, low: u64, high: u64) -> u64 {
        match self {
            Self::Drawn(draw) => draw.between(low, high),
            Self::Plain => low.max(1).min(high),
        }
    }

    /// True in `percent` of a hundred cases where values are drawn, else never.
    fn chance(&mut self, percent: u32) -> bool {
        match self {
            Self::Drawn(draw) => draw.chance(percent),
            Self::Plain => false,
        }
    }
}

fn items_of(sample: &Sample, mut values: Values) -> Result<Vec<Value>, ReferenceError> {
    let count = match sample.top_level_count {
        None => values.length(1, 3),
        Some(Count::Exactly(exact)) => exact,
        Some(Count::Between(low, high)) => values.length(low, high),
    };
    let mut writer = ReplyWriter {
        seed: sample.seed,
        values,
        left: 0,
        pointer: vec!["items".to_owned()],
    };
    let Some(schema) = sample.json_schema.get("items") else {
        return Err(writer.error("no items"));
    };
    writer.list(schema, count)
}

/// Writes `items` as `sample` wants its reply: wrapped or not, in its format, with a fence or without. Nothing is checked.
#[must_use]
pub fn write(sample: &Sample, items: Vec<Value>, fence: bool) -> String {
    let data = wrapped(sample, items);
    let text = match sample.output_format {
        OutputFormat::Json => format!("{data:#}"),
        OutputFormat::Yaml => block_yaml::to_string(&data),
    };
    fenced(sample, text, fence)
}

/// `items` as `sample` wants its data: a list, or the only member of an object.
fn wrapped(sample: &Sample, items: Vec<Value>) -> Value {
    match sample.require_wrapper_key {
        true => {
            let key = sample.top_level_key.clone().unwrap_or_else(|| "items".to_owned());
            Value::Object(Map::from_iter([(key, Value::Array(items))]))
        }
        false => Value::Array(items),
    }
}

/// `text` in a fence with the language that `sample` wants, or as it is.
fn fenced(sample: &Sample, text: String, fence: bool) -> String {
    if !fence {
        return text;
    }
    let language = match sample.output_format {
        OutputFormat::Json => "json",
        OutputFormat::Yaml => "yaml",
    };
    let language = sample.code_block_language.as_deref().unwrap_or(language);
    format!("```{language}\n{text}\n```")
}

/// Largest magnitude up to which all integers are exact as 64-bit floats: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

struct ReplyWriter {
    seed: u64,
    values: Values,
    /// Number of items that come behind the one that is being written in the innermost list.
    left: usize,
    /// Place in the schema, as the tokens of a JSON Pointer.
    pointer: Vec<String>,
}

impl ReplyWriter {
    fn error(&self, problem: &'static str) -> ReferenceError {
        let tokens = self.pointer.iter();
        ReferenceError {
            seed: self.seed,
            pointer: tokens.map(|token| format!("/{}", pointer_token(token))).collect(),
            problem,
        }
    }

    /// A value of `schema`, behind which `left` more such values come in a list of them; behind members of objects none do.
    fn value(&mut self, schema: &Value, left: usize) -> Result<Value, ReferenceError> {
        if self.pointer.len() > MAX_DEPTH {
            return Err(self.error("nested too deep"));
        }
        let (name, nullable) = match &schema["type"] {
            Value::String(name) => (name.as_str(), false),
            Value::Array(names) => {
                let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                (others.next().unwrap_or("null"), names.iter().any(|name| name == "null"))
            }
            _ => return Err(self.error("no type")),
        };
        if nullable && self.values.chance(30) {
            return Ok(Value::Null);
        }
        if let Some(values) = schema.get("enum") {
            let values = values.as_array().filter(|values| !values.is_empty());
            let values = values.ok_or_else(|| self.error("enum is no list of values"))?;
            return Ok(match &mut self.values {
                Values::Drawn(draw) => values[draw.below(values.len())].clone(),
                Values::Plain => values[0].clone(),
            });
        }
        match name {
            "string" => Ok(Value::from(match &mut self.values {
                Values::Drawn(draw) => draw.pick(STRINGS),
                Values::Plain => WORDS[self.left % WORDS.len()],
            })),
            "boolean" => Ok(Value::from(match &mut self.values {
                Values::Drawn(draw) => draw.chance(50),
                Values::Plain => true,
            })),
            "integer" => self.integer(schema, left),
            "number" => self.number(schema, left),
            "array" => self.array(schema),
            "object" => self.object(schema),
            "null" => Ok(Value::Null),
            _ => Err(self.error("an unknown type")),
        }
    }

    fn bounds(&self, schema: &Value) -> Result<(f64, f64), ReferenceError> {
        let bound = |keyword| schema.get(keyword).and_then(Value::as_f64);
        let min = bound("minimum").unwrap_or_else(|| bound("maximum").map_or(0.0, |max| max.min(0.0) - 8.0));
        let max = bound("maximum").unwrap_or(min.max(0.0) + 100.0);
        match min <= max {
            true => Ok((min, max)),
            false => Err(self.error("no number is within the bounds")),
        }
    }

    fn integer(&mut self, schema: &Value, left: usize) -> Result<Value, ReferenceError> {
        let (min, max) = self.bounds(schema)?;
        let (min, max) = (min.ceil(), max.floor());
        if min > max || min < -MAX_EXACT || max > MAX_EXACT {
            return Err(self.error("no integer is within the bounds"));
        }
        Ok(match &mut self.values {
            Values::Drawn(draw) => {
                // Within 2^53, so exact.
                let (min, max) = (min as i64, max as i64);
                Value::from(min + draw.between(0, min.abs_diff(max)) as i64)
            }
            Values::Plain => Self::plain_number(schema.get("minimum").map(|_| min), max, left),
        })
    }

    fn number(&mut self, schema: &Value, left: usize) -> Result<Value, ReferenceError> {
        let (min, max) = self.bounds(schema)?;
        let Values::Drawn(draw) = &mut self.values else {
            return Ok(Self::plain_number(schema.get("minimum").map(|_| min), max, left));
        };
        let value = (min + (max - min) * draw.between(0, 16) as f64 / 16.0).clamp(min, max);
        let number = value.to_string().parse::<Number>();
        number
            .map(Value::Number)
            .map_err(|_| self.error("no finite number is within the bounds"))
    }

    /// The number of [`plain_reply`] from `min` (1, or the maximum where that is less, if the schema has none) to `max`: the least, and
    /// `left` more where that is within the bounds.
    fn plain_number(min: Option<f64>, max: f64, left: usize) -> Value {
        let least = min.unwrap_or(max.min(1.0));
        let number = match least + left as f64 {
            larger if larger <= max => larger,
            _ => least,
        };
        match number.fract() == 0.0 && number.abs() <= MAX_EXACT {
            true => Value::from(number as i64),
            false => Value::from(number),
        }
    }

    fn array(&mut self, schema: &Value) -> Result<Value, ReferenceError> {
        let bound = |keyword| schema.get(keyword).and_then(Value::as_u64);
        let min = bound("minItems").unwrap_or(0);
        let max = bound("maxItems").unwrap_or(min + 2).min(min + 8);
        let items = schema.get("items").ok_or_else(|| self.error("no items"))?;
        let count = self.values.length(min, max);
        self.pointer.push("items".to_owned());
        let values = self.list(items, count)?;
        self.pointer.pop();
        Ok(Value::Array(values))
    }

    /// `count` values of `schema`, the items of one list.
    fn list(&mut self, schema: &Value, count: u64) -> Result<Vec<Value>, ReferenceError> {
        let outer = self.left;
        let mut values = Vec::new();
        for left in (0..count).rev() {
            self.left = left as usize;
            values.push(self.value(schema, self.left)?);
        }
        self.left = outer;
        Ok(values)
    }

    fn object(&mut self, schema: &Value) -> Result<Value, ReferenceError> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.ok_or_else(|| self.error("no properties"))?;
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut members = Map::new();
        for (name, schema) in properties {
            let is_required = required.iter().any(|required| required == name);
            if is_required || matches!(self.values, Values::Plain) || self.values.chance(60) {
                self.pointer.extend(["properties".to_owned(), name.clone()]);
                members.insert(name.clone(), self.value(schema, 0)?);
                self.pointer.truncate(self.pointer.len() - 2);
            }
        }
        Ok(Value::Object(members))
    }
}

/// Strings that every writer writes as they are, those of the last item of [`plain_reply`] first.
const WORDS: &[&str] = &[
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper", "kestrel", "lagoon",
    "meadow", "nectar", "orchid", "pebble", "quartz", "river", "saffron", "timber", "umber", "valley", "willow",
    "zephyr",
];

/// Strings that naive writers break.
const STRINGS: &[&str] = &[
    "Plain words",
    "She said: \"not today\", and left.",
    "C:\\Users\\new folder\\tables\\report.txt",
    "/srv/data/.cache/run-7/output.log",
    "^\\s*(\\d{3})-[A-Z]+\\b$",
    "first line\n  indented line\n\nafter a blank line",
    "def f(x):\n    return \"a\\n\" + x  # comment",
    "col a\tcol b\tcol c",
    "{\"inner\": [1, \"two\", null]}",
    "no",
    "1.10",
    "- not a list",
    "key: value # not a comment",
    "2024-02-30",
    "trailing space ",
    "Größe 37 °C – naïve café 東京 🙂",
    "it's 'quoted' \"twice\"",
    "",
    "`code` and ~tilde~",
];
