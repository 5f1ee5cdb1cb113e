//! Data as Python's readers of JSON and YAML have them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::BigInt;
use serde_json::{Map, Number, Value};

/// Largest number of repeated keys that a mapping remembers.
const MAX_REPEATED: usize = 16;

/// Bytes of text that count as a value in [`Datum::size`].
pub(super) const BYTES_PER_VALUE: u64 = 256;

/// A value, shared where a YAML alias names it again.
#[derive(Debug)]
pub(super) struct Datum {
    /// The value itself.
    pub content: Content,
    /// The text of a plain YAML scalar, from which the value was resolved; `None` for any other value.
    pub plain: Option<Box<str>>,
    /// Number of values, this one and all inside it, and one more for every [`BYTES_PER_VALUE`] of a scalar's text; a value that an alias
    /// names again is counted each time.
    pub size: u64,
    /// Depth of nesting of lists and mappings.
    pub depth: usize,
}

/// A value of JSON or YAML.
#[derive(Debug)]
pub(super) enum Content {
    Null,
    Boolean(bool),
    Integer(BigInt),
    Float(f64),
    /// A lone surrogate, which no string of Rust holds, is the character 0x1000 above it, of private use.
    Text(String),
    List(Vec<Rc<Datum>>),
    Mapping(Mapping),
    /// A value that only YAML has, by the name of its type: bytes, a date, a set.
    Foreign(&'static str),
}

/// An object. Keys of YAML can be other than strings.
#[derive(Debug, Default)]
pub(super) struct Mapping {
    /// Keys with values, in the order of first occurrence; of a key given again the last value.
    pub entries: Vec<(Rc<Datum>, Rc<Datum>)>,
    /// Keys that occurred again, at most [`MAX_REPEATED`].
    pub repeated: Vec<String>,
    positions: HashMap<Key, usize>,
}

/// Identity of a key: `1`, `1.0` and `true` are the same key, as in Python.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Null,
    Number(String),
    Text(String),
    /// A value that equals no other.
    Unlike(usize),
}

impl Datum {
    pub fn new(content: Content) -> Rc<Self> {
        Self::with_plain(content, None)
    }

    pub fn with_plain(content: Content, plain: Option<Box<str>>) -> Rc<Self> {
        let text = match (&plain, &content) {
            (Some(plain), _) => plain.len() as u64,
            (None, Content::Text(text)) => text.len() as u64,
            // A decimal digit has more than three bits.
            (None, Content::Integer(value)) => value.bits() / 3,
            (None, _) => 0,
        };
        let own = 1 + text / BYTES_PER_VALUE;
        let (size, depth) = content.children().fold((own, 0), |(size, depth), child| {
            (size.saturating_add(child.size), depth.max(child.depth))
        });
        let depth = depth + usize::from(matches!(content, Content::List(_) | Content::Mapping(_)));
        Rc::new(Self {
            content,
            plain,
            size,
            depth,
        })
    }

    /// Returns the type of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Null => "null",
            Content::Boolean(_) => "a boolean",
            Content::Integer(_) => "an integer",
            Content::Float(_) => "a float",
            Content::Text(_) => "a string",
            Content::List(_) => "an array",
            Content::Mapping(_) => "an object",
            Content::Foreign(name) => name,
        }
    }

    /// Returns the text of the value as a key, for paths; the spelling of YAML where it has one.
    pub fn key_text(&self) -> String {
        match (&self.content, &self.plain) {
            (Content::Text(text), _) => text.clone(),
            (_, Some(plain)) => plain.to_string(),
            (Content::Null, _) => "null".to_owned(),
            (Content::Boolean(value), _) => value.to_string(),
            (Content::Integer(value), _) => value.to_string(),
            (Content::Float(value), _) => format!("{value:?}"),
            _ => self.kind().to_owned(),
        }
    }

    /// Whether Python's `==` holds between this and a value of the schema: booleans are numbers there.
    pub fn equals(&self, other: &Value) -> bool {
        match (&self.content, other) {
            (Content::Null, Value::Null) => true,
            (Content::Text(text), Value::String(other)) => text == other,
            (Content::Boolean(_) | Content::Integer(_) | Content::Float(_), Value::Bool(_) | Value::Number(_)) => {
                let other = match other {
                    Value::Number(number) => Bound::new(number),
                    _ => Bound::Integer(BigInt::from(u8::from(other == &Value::Bool(true)))),
                };
                self.compare(&other) == Some(Ordering::Equal)
            }
            (Content::List(items), Value::Array(others)) => {
                items.len() == others.len() && items.iter().zip(others).all(|(item, other)| item.equals(other))
            }
            (Content::Mapping(mapping), Value::Object(others)) => {
                mapping.entries.len() == others.len()
                    && others
                        .iter()
                        .all(|(name, other)| mapping.get(name).is_some_and(|value| value.equals(other)))
            }
            _ => false,
        }
    }

    /// Compares a number with `bound`, exactly; `None` for NaN and for values that are no numbers.
    pub fn compare(&self, bound: &Bound) -> Option<Ordering> {
        match (&self.content, bound) {
            (Content::Boolean(value), _) => {
                let number = Content::Integer(BigInt::from(u8::from(*value)));
                Self::new(number).compare(bound)
            }
            (Content::Integer(value), Bound::Integer(bound)) => Some(value.cmp(bound)),
            (Content::Float(value), Bound::Float(bound)) => value.partial_cmp(bound),
            (Content::Integer(value), Bound::Float(bound)) => compare_mixed(value, *bound),
            (Content::Float(value), Bound::Integer(bound)) => compare_mixed(bound, *value).map(Ordering::reverse),
            _ => None,
        }
    }

    /// Returns the value as JSON; `None` for values that only YAML has, for NaN and infinities, and for keys other than strings.
    pub fn to_json(&self) -> Option<Value> {
        Some(match &self.content {
            Content::Null => Value::Null,
            Content::Boolean(value) => Value::Bool(*value),
            Content::Integer(value) => Value::Number(Number::from_string_unchecked(value.to_string())),
            Content::Float(value) => Value::Number(Number::from_f64(*value)?),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(|item| item.to_json()).collect::<Option<_>>()?),
            Content::Mapping(mapping) => {
                let members = mapping.entries.iter().map(|(key, value)| match &key.content {
                    Content::Text(name) => Some((name.clone(), value.to_json()?)),
                    _ => None,
                });
                Value::Object(members.collect::<Option<Map<_, _>>>()?)
            }
            Content::Foreign(_) => return None,
        })
    }

    fn key(&self, position: usize) -> Key {
        match &self.content {
            Content::Null => Key::Null,
            Content::Boolean(value) => Key::Number(u8::from(*value).to_string()),
            Content::Integer(value) => Key::Number(value.to_string()),
            Content::Float(value) if value.is_nan() => Key::Unlike(position),
            Content::Float(value) if value.fract() == 0.0 => Key::Number(integral(*value).to_string()),
            Content::Float(value) => Key::Number(format!("{value:?}")),
            Content::Text(text) => Key::Text(text.clone()),
            _ => Key::Unlike(position),
        }
    }
}

impl Content {
    fn children(&self) -> impl Iterator<Item = &Rc<Datum>> {
        let (items, mapping) = match self {
            Self::List(items) => (items.as_slice(), None),
            Self::Mapping(mapping) => (&[][..], Some(mapping)),
            _ => (&[][..], None),
        };
        let members = mapping.into_iter().flat_map(|mapping| &mapping.entries);
        items.iter().chain(members.flat_map(|(key, value)| [key, value]))
    }
}

impl Mapping {
    /// Adds a member, or gives the one of the same key this value; its number.
    pub fn insert(&mut self, key: Rc<Datum>, value: Rc<Datum>) -> usize {
        let position = self.entries.len();
        let found = *self.positions.entry(key.key(position)).or_insert(position);
        match self.entries.get_mut(found) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
        found
    }

    /// Notes that `key` was written before in the same object.
    pub fn note_repeated(&mut self, key: &Datum) {
        if self.repeated.len() < MAX_REPEATED {
            self.repeated.push(key.key_text());
        }
    }

    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&Rc<Datum>> {
        let mut entries = self.entries.iter();
        let found = entries.find(|(key, _)| matches!(&key.content, Content::Text(text) if text == name));
        found.map(|(_, value)| value)
    }
}

/// A bound of a schema, as Python reads numbers: without point and exponent it is an integer of any size, else a double.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Integer(BigInt),
    Float(f64),
}

impl Bound {
    pub fn new(number: &Number) -> Self {
        let text = number.to_string();
        match text.parse() {
            Ok(integer) => Self::Integer(integer),
            Err(_) => Self::Float(text.parse().unwrap_or(f64::NAN)),
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

fn compare_mixed(integer: &BigInt, float: f64) -> Option<Ordering> {
    if !float.is_finite() {
        return 0.0.partial_cmp(&float);
    }
    Some(
        integer
            .cmp(&integral(float.trunc()))
            .then(0.0f64.total_cmp(&(float.fract() + 0.0))),
    )
}

/// A finite float without fraction, exactly.
fn integral(float: f64) -> BigInt {
    format!("{float:.0}").parse().unwrap_or_default()
}
