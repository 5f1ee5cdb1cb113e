//! Shape of a document, before it is written as a schema or as an instance.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::names::{self, Style, capitalised, pick};
use super::words;

/// Nesting below the root at which no further object or array of objects starts.
const MAX_DEPTH: usize = 3;

/// A pattern and how to write a text that matches it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    /// The regular expression (ECMA-262).
    pub(super) regex: &'static str,
    /// `A`: an upper-case letter, `a`: a lower-case one, `0`: a digit, `w`: a word in lower case, `W`: with a capital;
    /// the rest as it is.
    pub(super) sketch: &'static str,
}

/// The patterns that strings may have.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern {
        regex: "^[A-Z]{3}-[0-9]{4}$",
        sketch: "AAA-0000",
    },
    Pattern {
        regex: "^[A-Z]{2}[0-9]{4}$",
        sketch: "AA0000",
    },
    Pattern {
        regex: "^[A-Z]{3}$",
        sketch: "AAA",
    },
    Pattern {
        regex: "^[A-Z]{2}$",
        sketch: "AA",
    },
    Pattern {
        regex: "^[a-z]+$",
        sketch: "w",
    },
    Pattern {
        regex: "^[a-z0-9-]+$",
        sketch: "w-0",
    },
    Pattern {
        regex: "^[a-z][a-z0-9_]*$",
        sketch: "w_0",
    },
    Pattern {
        regex: "^[A-Za-z ]+$",
        sketch: "w w",
    },
    Pattern {
        regex: "^[0-9]{5}$",
        sketch: "00000",
    },
    Pattern {
        regex: "^[0-9]{4}$",
        sketch: "0000",
    },
    Pattern {
        regex: "^\\d{3}$",
        sketch: "000",
    },
    Pattern {
        regex: "^[0-9]+$",
        sketch: "000",
    },
    Pattern {
        regex: "^\\d{3}-\\d{4}$",
        sketch: "000-0000",
    },
    Pattern {
        regex: "^v[0-9]+\\.[0-9]+$",
        sketch: "v0.0",
    },
    Pattern {
        regex: "^\\d+\\.\\d+\\.\\d+$",
        sketch: "0.0.0",
    },
    Pattern {
        regex: "^#[0-9]{6}$",
        sketch: "#000000",
    },
    Pattern {
        regex: "^[A-Z][a-z]+$",
        sketch: "W",
    },
    Pattern {
        regex: "^/[a-z]+$",
        sketch: "/w",
    },
    Pattern {
        regex: "^id-[0-9]{3}$",
        sketch: "id-000",
    },
];

/// The formats that strings may have.
pub(super) const FORMATS: &[&str] = &["date", "date-time", "email", "uuid", "ipv4", "uri"];

/// Shape of a value: its type and limits.
#[derive(Clone, Debug)]
pub(super) enum ValueShape {
    Boolean,
    Null,
    Integer {
        min: Option<i64>,
        max: Option<i64>,
        exclusive_min: bool,
        step: Option<i64>,
    },
    Number {
        min: Option<i64>,
        max: Option<i64>,
    },
    Text {
        min: Option<usize>,
        max: Option<usize>,
    },
    Format(&'static str),
    Pattern(Pattern),
    /// One of `values`, with the `type` written down or not.
    Enum {
        values: Vec<Value>,
        typed: bool,
    },
    Const(Value),
    Array {
        items: Box<ValueShape>,
        min: Option<usize>,
        max: Option<usize>,
        unique: bool,
    },
    Object(Object),
    /// `"type": [.., "null"]`
    Nullable(Box<ValueShape>),
    AnyOf(Vec<ValueShape>),
    /// Index into [`SchemaShape::definitions`].
    Reference(usize),
}

/// The properties of an object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) fields: Vec<Property>,
    /// Whether `additionalProperties` is `false`.
    pub(super) closed: bool,
}

/// One property.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// The noun that plain text in it should suit.
    pub(super) noun: &'static str,
    pub(super) required: bool,
    pub(super) shape: ValueShape,
}

/// A whole schema.
#[derive(Clone, Debug)]
pub(super) struct SchemaShape {
    pub(super) root: ValueShape,
    /// Name and shape of each definition.
    pub(super) definitions: Vec<(String, ValueShape)>,
    /// `$defs`, or `definitions` as older drafts have it.
    pub(super) definitions_key: &'static str,
}

impl SchemaShape {
    /// A random document: most are objects with one to six properties.
    pub(super) fn random(rng: &mut ChaCha8Rng) -> Self {
        let style = Style::random(rng);
        let mut draft = ShapeDraft { style, definitions: 0 };
        let mut definitions: Vec<(String, ValueShape)> = Vec::new();
        if rng.random_bool(0.1) {
            for _ in 0..rng.random_range(1..3) {
                let name = names::definition(rng, style);
                if definitions.iter().all(|(other, _)| *other != name) {
                    let count = rng.random_range(1..4);
                    let shape = if rng.random_bool(0.8) {
                        draft.object(rng, 2, count)
                    } else {
                        draft.scalar(rng)
                    };
                    definitions.push((name, shape));
                }
            }
        }
        draft.definitions = definitions.len();
        let root = match rng.random_range(0..100) {
            0..90 => {
                let most = *[3, 4, 6, 8].choose(rng).unwrap_or(&3);
                let count = rng.random_range(1..=most);
                draft.object(rng, 0, count)
            }
            90..97 => draft.array(rng, 0),
            _ => draft.scalar(rng),
        };
        let definitions_key = if rng.random_bool(0.6) { "$defs" } else { "definitions" };
        Self {
            root,
            definitions,
            definitions_key,
        }
    }
}

/// State that the shapes of one document share while they are drawn.
struct ShapeDraft {
    style: Style,
    /// Number of definitions that may be referred to.
    definitions: usize,
}

impl ShapeDraft {
    fn object(&self, rng: &mut ChaCha8Rng, depth: usize, count: usize) -> ValueShape {
        let mut taken: Vec<String> = Vec::with_capacity(count);
        let mut fields = Vec::with_capacity(count);
        let all_required = rng.random_bool(0.3);
        for _ in 0..count {
            let name = names::property(rng, self.style, &taken);
            taken.push(name.text.clone());
            let required = all_required || rng.random_bool(0.55);
            fields.push(Property {
                name: name.text,
                noun: name.noun,
                required,
                shape: self.member(rng, depth + 1),
            });
        }
        ValueShape::Object(Object {
            fields,
            closed: rng.random_bool(0.4),
        })
    }

    /// The shape of a property of an object at `depth - 1`.
    fn member(&self, rng: &mut ChaCha8Rng, depth: usize) -> ValueShape {
        if self.definitions > 0 && rng.random_bool(0.3) {
            return ValueShape::Reference(rng.random_range(0..self.definitions));
        }
        let nest = if depth < MAX_DEPTH { 24 / depth } else { 0 };
        match rng.random_range(0..100) {
            n if n < nest / 2 => {
                let count = rng.random_range(1..4);
                self.object(rng, depth, count)
            }
            n if n < nest => self.array(rng, depth),
            24..30 => self.array(rng, MAX_DEPTH),
            30..33 => self.any_of(rng, depth),
            33..37 => ValueShape::Nullable(Box::new(self.typed_scalar(rng))),
            _ => self.scalar(rng),
        }
    }

    fn array(&self, rng: &mut ChaCha8Rng, depth: usize) -> ValueShape {
        let items = if depth < MAX_DEPTH && rng.random_bool(0.5) {
            let count = rng.random_range(1..4);
            self.object(rng, depth + 1, count)
        } else {
            self.scalar(rng)
        };
        let min = rng.random_bool(0.4).then(|| rng.random_range(0..4));
        let max = rng
            .random_bool(0.3)
            .then(|| min.unwrap_or(0).max(1) + rng.random_range(0..5));
        let unique = matches!(items, ValueShape::Text { min: None, max: None }) && rng.random_bool(0.1);
        ValueShape::Array {
            items: Box::new(items),
            min,
            max,
            unique,
        }
    }

    fn any_of(&self, rng: &mut ChaCha8Rng, depth: usize) -> ValueShape {
        let first = self.scalar(rng);
        let second = match rng.random_range(0..3) {
            0 => ValueShape::Null,
            1 if depth < MAX_DEPTH => self.object(rng, depth, 2),
            _ => self.scalar(rng),
        };
        ValueShape::AnyOf(vec![first, second])
    }

    fn scalar(&self, rng: &mut ChaCha8Rng) -> ValueShape {
        match rng.random_range(0..100) {
            0..16 => enumeration(rng),
            16..19 => constant(rng),
            19..20 => ValueShape::Null,
            _ => self.typed_scalar(rng),
        }
    }

    fn typed_scalar(&self, rng: &mut ChaCha8Rng) -> ValueShape {
        match rng.random_range(0..100) {
            0..34 => ValueShape::Text { min: None, max: None },
            34..43 => bounded_text(rng),
            43..55 => ValueShape::Format(pick(rng, FORMATS)),
            55..61 => PATTERNS
                .choose(rng)
                .map_or(ValueShape::Boolean, |p| ValueShape::Pattern(*p)),
            61..77 => integer(rng),
            77..86 => number(rng),
            _ => ValueShape::Boolean,
        }
    }
}

fn bounded_text(rng: &mut ChaCha8Rng) -> ValueShape {
    let min = rng
        .random_bool(0.65)
        .then(|| *[0, 1, 1, 1, 2, 3, 5, 8, 10].choose(rng).unwrap_or(&1));
    let max =
        (min.is_none() || rng.random_bool(0.5)).then(|| *[10, 20, 30, 50, 64, 100, 255].choose(rng).unwrap_or(&100));
    ValueShape::Text { min, max }
}

fn integer(rng: &mut ChaCha8Rng) -> ValueShape {
    let (min, max) = bounds(rng);
    let exclusive_min = min.is_some_and(|m| (0..10).contains(&m)) && max.is_none() && rng.random_bool(0.15);
    let step =
        (min.is_none() && max.is_none() && rng.random_bool(0.06)).then(|| *[2, 5, 10, 100].choose(rng).unwrap_or(&5));
    ValueShape::Integer {
        min,
        max,
        exclusive_min,
        step,
    }
}

fn number(rng: &mut ChaCha8Rng) -> ValueShape {
    let (min, max) = bounds(rng);
    ValueShape::Number { min, max }
}

/// Bounds of a number; where both are given, the lower one is smaller.
fn bounds(rng: &mut ChaCha8Rng) -> (Option<i64>, Option<i64>) {
    const LOWER: &[i64] = &[
        0, 0, 0, 0, 1, 1, 1, 2, 5, 10, 16, 18, 50, 100, 1000, 1900, -1, -10, -90, -180,
    ];
    const SPANS: &[i64] = &[1, 4, 5, 9, 10, 23, 49, 50, 59, 90, 99, 100, 180, 365, 900, 1000, 9999];
    let lower = if rng.random_bool(0.7) {
        *LOWER.choose(rng).unwrap_or(&0)
    } else {
        rng.random_range(0..500)
    };
    let span = *SPANS.choose(rng).unwrap_or(&10);
    match rng.random_range(0..100) {
        0..40 => (None, None),
        40..65 => (Some(lower), None),
        65..72 => (None, Some(span)),
        _ => (Some(lower), Some(lower + span)),
    }
}

fn enumeration(rng: &mut ChaCha8Rng) -> ValueShape {
    let count = rng.random_range(2..6);
    let values: Vec<Value> = if rng.random_bool(0.88) {
        let list = if rng.random_bool(0.6) {
            words::STATES
        } else {
            words::NOUNS
        };
        let spelling = rng.random_range(0..10);
        let chosen = names::several(rng, list, count).into_iter();
        chosen
            .map(|word| match spelling {
                0..7 => word.to_owned(),
                7..9 => word.to_uppercase(),
                _ => capitalised(word),
            })
            .map(Value::from)
            .collect()
    } else {
        let first = rng.random_range(0..20);
        let step = *[1, 1, 1, 2, 5, 10].choose(rng).unwrap_or(&1);
        (0..count as i64).map(|i| Value::from(first + i * step)).collect()
    };
    ValueShape::Enum {
        values,
        typed: rng.random_bool(0.6),
    }
}

fn constant(rng: &mut ChaCha8Rng) -> ValueShape {
    let list = if rng.random_bool(0.5) {
        words::STATES
    } else {
        words::NOUNS
    };
    ValueShape::Const(match rng.random_range(0..10) {
        0..7 => Value::from(pick(rng, list)),
        7..9 => Value::from(rng.random_range(0..100)),
        _ => Value::from(rng.random_bool(0.5)),
    })
}
