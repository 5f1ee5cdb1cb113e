//! A plausible instance of a shape.
//!
//! The rules are simple, so that a small model can learn them: every property is present, an array has as many items
//! as `minItems` asks for or else two, a number is mostly one of its bounds.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};

use super::names::{capitalised, pick};
use super::shape::{Pattern, SchemaShape, ValueShape};
use super::words;

/// A valid instance of `document`.
pub(super) fn instance(document: &SchemaShape, rng: &mut ChaCha8Rng) -> Value {
    ValueWriter { document }.value(&document.root, "", rng)
}

struct ValueWriter<'a> {
    document: &'a SchemaShape,
}

impl ValueWriter<'_> {
    /// A value of `shape` for a property named after `noun`.
    fn value(&self, shape: &ValueShape, noun: &str, rng: &mut ChaCha8Rng) -> Value {
        match shape {
            ValueShape::Boolean => Value::from(rng.random_bool(0.6)),
            ValueShape::Null => Value::Null,
            ValueShape::Integer {
                min,
                max,
                exclusive_min,
                step,
            } => {
                let min = min.map(|m| m + i64::from(*exclusive_min));
                match step {
                    Some(step) => Value::from(step * rng.random_range(1..5)),
                    None => Value::from(integer(rng, min, *max)),
                }
            }
            ValueShape::Number { min, max } => number(rng, *min, *max),
            ValueShape::Text { min: None, max: None } => Value::from(text(rng, noun)),
            ValueShape::Text { min, max } => Value::from(sized_text(rng, min.unwrap_or(0), max.unwrap_or(usize::MAX))),
            ValueShape::Format(format) => Value::from(formatted(rng, format)),
            ValueShape::Pattern(pattern) => Value::from(matching(rng, *pattern)),
            ValueShape::Enum { values, .. } => {
                let chosen = if rng.random_bool(0.4) {
                    values.first()
                } else {
                    values.choose(rng)
                };
                chosen.cloned().unwrap_or_default()
            }
            ValueShape::Const(value) => value.clone(),
            ValueShape::Array {
                items,
                min,
                max,
                unique,
            } => self.array(items, noun, (*min, *max), *unique, rng),
            ValueShape::Object(object) => {
                let fields = object.fields.iter();
                let members = fields.map(|f| (f.name.clone(), self.value(&f.shape, f.noun, rng)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            ValueShape::Nullable(inner) => {
                if rng.random_bool(0.2) {
                    Value::Null
                } else {
                    self.value(inner, noun, rng)
                }
            }
            ValueShape::AnyOf(branches) => {
                let branch = if rng.random_bool(0.6) {
                    branches.first()
                } else {
                    branches.choose(rng)
                };
                branch.map_or(Value::Null, |b| self.value(b, noun, rng))
            }
            ValueShape::Reference(index) => {
                let definition = self.document.definitions.get(*index);
                definition.map_or(Value::Null, |(_, shape)| self.value(shape, noun, rng))
            }
        }
    }

    fn array(
        &self,
        items: &ValueShape,
        noun: &str,
        (min, max): (Option<usize>, Option<usize>),
        unique: bool,
        rng: &mut ChaCha8Rng,
    ) -> Value {
        let least = min.unwrap_or(0);
        let most = max.unwrap_or(least.max(3));
        let usual = if least > 0 { least } else { most.min(2) };
        let count = if rng.random_bool(0.75) {
            usual
        } else {
            rng.random_range(least..=most.min(least.max(1) + 2))
        };
        let mut values: Vec<Value> = Vec::with_capacity(count);
        while values.len() < count {
            let value = self.value(items, noun, rng);
            if !(unique && values.contains(&value)) {
                values.push(value);
            }
        }
        Value::Array(values)
    }
}

fn integer(rng: &mut ChaCha8Rng, min: Option<i64>, max: Option<i64>) -> i64 {
    let few = rng.random_range(0..10);
    match (min, max) {
        (None, None) => *[1, 2, 3, 4, 5, 7, 8, 10, 12, 15, 20, 24, 42, 50, 100]
            .choose(rng)
            .unwrap_or(&1),
        (Some(min), None) => {
            if few < 6 {
                min
            } else {
                min + few
            }
        }
        (None, Some(max)) => {
            if few < 5 {
                max
            } else {
                (max - few).max(0).min(max)
            }
        }
        (Some(min), Some(max)) => match few {
            0..6 => min,
            6..8 => max,
            _ => rng.random_range(min..=max),
        },
    }
}

fn number(rng: &mut ChaCha8Rng, min: Option<i64>, max: Option<i64>) -> Value {
    let whole = integer(rng, min, max);
    let half = if max.is_some_and(|max| whole >= max) {
        0.0
    } else {
        *[0.5, 0.5, 0.25, 0.0].choose(rng).unwrap_or(&0.5)
    };
    if half == 0.0 && rng.random_bool(0.5) {
        Value::from(whole)
    } else {
        Value::from(whole as f64 + half)
    }
}

/// Text for a property named after `noun`.
fn text(rng: &mut ChaCha8Rng, noun: &str) -> String {
    match noun {
        "name" | "user" | "owner" | "author" | "member" | "person" | "contact" | "customer" | "client" | "guest"
        | "patient" | "student" | "teacher" | "employee" | "manager" | "driver" | "pilot" | "player" | "reviewer"
        | "editor" | "artist" | "actor" | "doctor" | "nurse" | "coach" | "captain" | "judge" | "parent" | "child"
        | "spouse" | "donor" | "visitor" | "tenant" => {
            format!("{} {}", pick(rng, words::GIVEN), pick(rng, words::FAMILY))
        }
        "city" | "location" | "origin" | "destination" | "station" | "airport" => pick(rng, words::CITIES).to_owned(),
        "country" | "region" | "state" => pick(rng, words::COUNTRIES).to_owned(),
        "status" | "type" | "kind" | "mode" | "category" | "priority" | "severity" | "color" | "unit" | "level" => {
            pick(rng, words::STATES).to_owned()
        }
        "email" => email(rng),
        "id" | "code" | "key" | "sku" | "serial" | "barcode" | "token" => matching(rng, ID),
        _ if rng.random_bool(0.2) => capitalised(pick(rng, words::TEXTS)),
        _ => pick(rng, words::TEXTS).to_owned(),
    }
}

/// Pattern of identifiers where the schema asks for none.
const ID: Pattern = Pattern {
    regex: "",
    sketch: "w-000",
};

/// Text of `min` to `max` characters; bounds that no listed text meets are met by cutting or repeating.
fn sized_text(rng: &mut ChaCha8Rng, min: usize, max: usize) -> String {
    let fits = |t: &&&str| (min.max(1)..=max).contains(&t.chars().count());
    let listed: Vec<&&str> = words::SIZED.iter().filter(fits).collect();
    // Texts well above the lower bound would only make answers long.
    let short = listed.get(..listed.len().min(12)).unwrap_or_default();
    short.choose(rng).map_or_else(|| "a".repeat(min), |t| (**t).to_string())
}

fn email(rng: &mut ChaCha8Rng) -> String {
    let host = pick(rng, &["example.com", "example.org", "mail.example.net"]);
    format!("{}@{host}", pick(rng, words::GIVEN).to_lowercase())
}

fn formatted(rng: &mut ChaCha8Rng, format: &str) -> String {
    let mut date = || {
        let (year, month, day) = (
            rng.random_range(2015..2030),
            rng.random_range(1..13),
            rng.random_range(1..29),
        );
        format!("{year}-{month:02}-{day:02}")
    };
    match format {
        "date" => date(),
        "date-time" => {
            let date = date();
            format!(
                "{date}T{:02}:{:02}:00Z",
                rng.random_range(0..24),
                rng.random_range(0..4) * 15
            )
        }
        "email" => email(rng),
        "uuid" => pick(rng, words::UUIDS).to_owned(),
        "ipv4" => format!(
            "{}.0.{}.{}",
            pick(rng, &["10", "127", "192"]),
            rng.random_range(0..10),
            rng.random_range(1..100)
        ),
        _ => format!("https://example.com/{}", pick(rng, words::NOUNS)),
    }
}

fn matching(rng: &mut ChaCha8Rng, pattern: Pattern) -> String {
    const LOWER: &[&str] = &["alpha", "beta", "gamma", "delta", "cedar", "river", "stone", "falcon"];
    // Runs of letters follow the alphabet (`KLM`): plausible codes that are easy to learn.
    let mut letter = rng.random_range(b'A'..=b'T');
    let mut out = String::new();
    for c in pattern.sketch.chars() {
        match c {
            'A' => {
                out.push(char::from(letter));
                letter += 1;
            }
            '0' => out.push(char::from(rng.random_range(b'1'..=b'9'))),
            'w' => out.push_str(pick(rng, LOWER)),
            'W' => out.push_str(&capitalised(pick(rng, LOWER))),
            other => out.push(other),
        }
    }
    out
}
