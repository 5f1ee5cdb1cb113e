//! Random schemas over every keyword that asserts something, in five drafts.
//!
//! Left out, because the judge, the `jsonschema` crate, does not follow the drafts there:
//!
//! - `dependencies` in drafts 2019-09 and 2020-12, which have dropped it: the judge still asserts it;
//! - `contains` together with `unevaluatedItems` in draft 2019-09: the judge counts items that `contains` finds as evaluated,
//!   which they are from 2020-12 on (2019-09 names `items` and `additionalItems` only, core specification, 9.3.1.3);
//!
//! And because they are no difference of opinion: steps of `multipleOf` and bounds are short decimals, patterns are
//! of the kind that all regular expressions share, and `format` is left to the Test Suite and real schemas.

use maskwright_suites::test_suite::Draft;
use serde_json::{Map, Value, json};

use crate::Choices;
use crate::document::{NAMES, NUMBERS, any, number};

/// Patterns of names and strings, which mean the same in every dialect of regular expressions.
const PATTERNS: [&str; 14] = [
    "^a",
    "b$",
    "^[ab]$",
    "^(a|b)*$",
    "",
    "a|é",
    "^.$",
    "^$",
    "^[^a]",
    "^a{1,2}$",
    "b",
    "^(?!a)",
    "^\\p{L}+$",
    "[0-9é😀]",
];

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "null", "boolean"];

/// Sizes, lengths and counts.
const COUNTS: [&str; 5] = ["1", "2", "0", "3", "4"];

/// Steps of `multipleOf`.
const STEPS: [&str; 8] = ["2", "1", "3", "0.5", "0.1", "1.5", "10", "0.01"];

/// Names of the definitions that references may lead to.
const DEFINITIONS: [&str; 2] = ["p", "q"];

/// The URI under which resources lie.
const HOME: &str = "https://example.org/";

/// A schema of a random draft, most often of the latest; `$schema` says which.
pub fn random(choices: &mut Choices<'_>) -> Value {
    let mut schemas = Schemas::new(choices);
    let keywords = schemas.keywords(4);
    schemas.document(keywords)
}

/// Draws a schema of a random draft that combines many others as people do: as alternatives, conditions, `contains` or
/// members; by themselves, as members of any name or as items that differ.
pub fn wide(choices: &mut Choices<'_>) -> Value {
    const PARTS: usize = 12;
    const SUBSCHEMAS: usize = 12;
    let mut schemas = Schemas::new(choices);
    let count = 2 + schemas.choices.below(PARTS - 1);
    let part = |schemas: &mut Schemas<'_, '_>| {
        schemas.subschemas = SUBSCHEMAS;
        schemas.schema(3)
    };
    let parts: Vec<Value> = (0..count).map(|_| part(&mut schemas)).collect();
    let whole = match schemas.choices.below(5) {
        0 => json!({"anyOf": parts}),
        1 => json!({"oneOf": parts}),
        2 => {
            let conditions = parts
                .into_iter()
                .map(|then| json!({"if": part(&mut schemas), "then": then}));
            json!({"allOf": conditions.collect::<Value>()})
        }
        3 => {
            let contained = parts.into_iter().map(|contains| json!({"contains": contains}));
            json!({"allOf": contained.collect::<Value>()})
        }
        _ => {
            let names = NAMES.map(str::to_owned).into_iter();
            let members: Map<String, Value> = names.zip(parts).collect();
            json!({"properties": members, "patternProperties": {"^a": part(&mut schemas)}, "additionalProperties": part(&mut schemas)})
        }
    };
    let keywords = match schemas.choices.below(4) {
        0 => json!({"items": whole, "uniqueItems": true}),
        1 => json!({"additionalProperties": whole}),
        _ => whole,
    };
    schemas.document(keywords.as_object().cloned().unwrap_or_default())
}

struct Schemas<'s, 'b> {
    choices: &'s mut Choices<'b>,
    draft: Draft,
    /// Number of subschemas that may still be made.
    subschemas: usize,
    /// Whether there is a reference to a definition.
    referred: bool,
    /// For each definition whether it is a resource of its own, with its own dynamic anchor.
    resources: [bool; 2],
    /// Whether `contains` may be used rather than `unevaluatedItems`, in the draft in which the judge relates them.
    contains: bool,
    /// Whether there is a dynamic reference, which needs an anchor.
    anchored: bool,
}

impl<'s, 'b> Schemas<'s, 'b> {
    fn new(choices: &'s mut Choices<'b>) -> Self {
        let draft = match choices.below(10) {
            0..6 => Draft::Draft202012,
            6 => Draft::Draft201909,
            7 => Draft::Draft7,
            8 => Draft::Draft6,
            _ => Draft::Draft4,
        };
        let subschemas = 3 + choices.below(18);
        Schemas {
            draft,
            subschemas,
            referred: false,
            resources: [false; 2].map(|_| draft == Draft::Draft202012 && choices.chance(10)),
            contains: choices.chance(50),
            anchored: false,
            choices,
        }
    }
}

impl Schemas<'_, '_> {
    /// A whole document of these keywords, with the definitions and the anchor that they refer to.
    fn document(&mut self, mut keywords: Map<String, Value>) -> Value {
        if self.draft == Draft::Draft201909 && self.choices.chance(30) {
            keywords.insert("$recursiveAnchor".to_owned(), json!(true));
        }
        if self.referred {
            let definitions = [0, 1].map(|at| (DEFINITIONS[at].to_owned(), self.definition(at)));
            keywords.insert(
                self.definitions().to_owned(),
                Value::Object(Map::from_iter(definitions)),
            );
        }
        if self.anchored {
            keywords.insert("$dynamicAnchor".to_owned(), json!("d"));
        }
        if self.resources != [false; 2] {
            keywords.insert("$id".to_owned(), json!(format!("{HOME}root")));
        }
        keywords.insert("$schema".to_owned(), json!(self.draft.schema_uri()));
        Value::Object(keywords)
    }

    fn definitions(&self) -> &'static str {
        match self.draft >= Draft::Draft201909 {
            true => "$defs",
            false => "definitions",
        }
    }

    fn definition(&mut self, at: usize) -> Value {
        if !self.resources[at] {
            return self.schema(2);
        }
        let mut keywords = self.keywords(2);
        keywords.insert("$id".to_owned(), json!(format!("{HOME}{}", DEFINITIONS[at])));
        keywords.insert("$dynamicAnchor".to_owned(), json!("d"));
        Value::Object(keywords)
    }

    fn schema(&mut self, depth: usize) -> Value {
        self.subschemas = self.subschemas.saturating_sub(1);
        if depth == 0 || self.subschemas == 0 {
            return self.leaf();
        }
        match self.choices.below(12) {
            0..3 => self.leaf(),
            _ => Value::Object(self.keywords(depth)),
        }
    }

    fn leaf(&mut self) -> Value {
        match self.choices.below(12) {
            0 | 1 if self.draft == Draft::Draft4 => json!({}),
            0 | 1 => Value::Bool(true),
            2 if self.draft == Draft::Draft4 => json!({"not": {}}),
            2 => Value::Bool(false),
            3..6 => json!({"type": self.choices.pick(&TYPES)}),
            6 if self.draft >= Draft::Draft6 => json!({"const": any(self.choices, 1)}),
            6..8 => json!({"enum": self.values()}),
            8 => self.reference(),
            9 => json!({"minimum": number(self.choices.pick(&NUMBERS))}),
            10 => json!({"required": [self.choices.pick(&NAMES)]}),
            _ => json!({"pattern": self.choices.pick(&PATTERNS)}),
        }
    }

    fn reference(&mut self) -> Value {
        match (self.choices.below(8), self.draft) {
            (0, _) => json!({"$ref": "#"}),
            (1, Draft::Draft202012) => {
                self.anchored = true;
                json!({"$dynamicRef": "#d"})
            }
            (1, Draft::Draft201909) => json!({"$recursiveRef": "#"}),
            _ => {
                self.referred = true;
                let at = self.choices.below(DEFINITIONS.len());
                let name = DEFINITIONS[at];
                let home = if self.resources == [false; 2] {
                    String::new()
                } else {
                    format!("{HOME}root")
                };
                match self.resources[at] {
                    true => json!({"$ref": format!("{HOME}{name}")}),
                    false => json!({"$ref": format!("{home}#/{}/{name}", self.definitions())}),
                }
            }
        }
    }

    /// Draws one to four keywords.
    fn keywords(&mut self, depth: usize) -> Map<String, Value> {
        let mut keywords = Map::new();
        for _ in 0..=self.choices.below(4) {
            // Keywords of another draft mean nothing, but older ones must not trip over them.
            let draft = match self.choices.chance(3) {
                true => Draft::ALL[self.choices.below(Draft::ALL.len())],
                false => self.draft,
            };
            match self.choices.below(10) {
                0 | 1 => self.of_any(&mut keywords, draft),
                2 => self.of_numbers(&mut keywords),
                3 => self.of_strings(&mut keywords),
                4 | 5 => self.of_objects(&mut keywords, draft, depth),
                6 | 7 => self.of_arrays(&mut keywords, draft, depth),
                _ => self.of_schemas(&mut keywords, draft, depth),
            }
        }
        keywords
    }

    fn of_any(&mut self, keywords: &mut Map<String, Value>, draft: Draft) {
        let (name, value) = match self.choices.below(6) {
            0 => ("type", json!(self.choices.pick(&TYPES))),
            1 | 2 => {
                let mut types: Vec<&str> = TYPES.to_vec();
                self.choices.shuffle(&mut types);
                types.truncate(1 + self.choices.below(4));
                ("type", json!(types))
            }
            3 if draft >= Draft::Draft6 => ("const", any(self.choices, 2)),
            3 | 4 => ("enum", self.values()),
            _ => {
                let Value::Object(reference) = self.reference() else {
                    return;
                };
                keywords.extend(reference);
                return;
            }
        };
        keywords.insert(name.to_owned(), value);
    }

    /// Different values, as meta-schemas ask for.
    fn values(&mut self) -> Value {
        let mut values: Vec<Value> = Vec::new();
        for _ in 0..=self.choices.below(4) {
            let value = any(self.choices, 2);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Value::Array(values)
    }

    fn of_numbers(&mut self, keywords: &mut Map<String, Value>) {
        let bound = number(self.choices.pick(&NUMBERS));
        let (name, value) = match self.choices.below(5) {
            0 => ("minimum", bound),
            1 => ("maximum", bound),
            2 => ("multipleOf", number(self.choices.pick(&STEPS))),
            which => {
                let (name, sibling) = [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")][which - 3];
                if self.draft == Draft::Draft4 {
                    keywords.insert(sibling.to_owned(), bound);
                    (name, Value::Bool(self.choices.below(2) == 0))
                } else {
                    (name, bound)
                }
            }
        };
        keywords.insert(name.to_owned(), value);
    }

    fn of_strings(&mut self, keywords: &mut Map<String, Value>) {
        let (name, value) = match self.choices.below(3) {
            0 => ("minLength", self.count()),
            1 => ("maxLength", self.count()),
            _ => ("pattern", json!(self.choices.pick(&PATTERNS))),
        };
        keywords.insert(name.to_owned(), value);
    }

    fn count(&mut self) -> Value {
        number(self.choices.pick(&COUNTS))
    }

    fn of_objects(&mut self, keywords: &mut Map<String, Value>, draft: Draft, depth: usize) {
        // The judge keeps `dependencies` in the drafts that have dropped it.
        let later = draft.max(self.draft) >= Draft::Draft201909;
        let (name, value) = match self.choices.below(12) {
            0 | 1 => ("properties", self.by_name(depth)),
            2 | 3 => ("required", self.names()),
            4 => ("patternProperties", self.by_pattern(depth)),
            5 => ("additionalProperties", self.schema(depth - 1)),
            6 => ("minProperties", self.count()),
            7 => ("maxProperties", self.count()),
            8 if draft >= Draft::Draft6 => ("propertyNames", self.schema(depth - 1)),
            8 => ("properties", self.by_name(depth)),
            9 if later => ("dependentRequired", self.dependent(|schemas| schemas.names())),
            10 if later => ("dependentSchemas", self.by_name(depth)),
            9 => ("dependencies", self.dependent(|schemas| schemas.names())),
            10 => ("dependencies", self.by_name(depth)),
            _ if later => ("unevaluatedProperties", self.schema(depth - 1)),
            _ => ("additionalProperties", self.schema(depth - 1)),
        };
        keywords.insert(name.to_owned(), value);
    }

    fn by_name(&mut self, depth: usize) -> Value {
        self.dependent(|schemas| schemas.schema(depth - 1))
    }

    fn dependent(&mut self, mut value: impl FnMut(&mut Self) -> Value) -> Value {
        let mut members = Map::new();
        for _ in 0..=self.choices.below(3) {
            members.insert((*self.choices.pick(&NAMES)).to_owned(), value(self));
        }
        Value::Object(members)
    }

    fn by_pattern(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        for _ in 0..=self.choices.below(2) {
            members.insert((*self.choices.pick(&PATTERNS)).to_owned(), self.schema(depth - 1));
        }
        Value::Object(members)
    }

    fn names(&mut self) -> Value {
        let mut names: Vec<&str> = NAMES.to_vec();
        self.choices.shuffle(&mut names);
        names.truncate(1 + self.choices.below(2));
        json!(names)
    }

    fn of_arrays(&mut self, keywords: &mut Map<String, Value>, draft: Draft, depth: usize) {
        let latest = draft >= Draft::Draft202012;
        let later = draft >= Draft::Draft201909;
        let apart = self.draft == Draft::Draft201909;
        let (name, value) = match self.choices.below(12) {
            0 | 1 => ("items", self.schema(depth - 1)),
            2 | 3 if latest => ("prefixItems", self.schemas(depth)),
            2 | 3 if self.draft < Draft::Draft202012 => ("items", self.schemas(depth)),
            4 => ("minItems", self.count()),
            5 => ("maxItems", self.count()),
            6 => ("uniqueItems", Value::Bool(self.choices.below(5) > 0)),
            7 | 8 if draft >= Draft::Draft6 && (self.contains || !apart) => ("contains", self.schema(depth - 1)),
            9 if later => ("minContains", self.count()),
            10 if later => ("maxContains", self.count()),
            11 if later && (!self.contains || !apart) => ("unevaluatedItems", self.schema(depth - 1)),
            _ if latest => ("items", self.schema(depth - 1)),
            _ => ("additionalItems", self.schema(depth - 1)),
        };
        keywords.insert(name.to_owned(), value);
    }

    fn schemas(&mut self, depth: usize) -> Value {
        (0..=self.choices.below(3)).map(|_| self.schema(depth - 1)).collect()
    }

    fn of_schemas(&mut self, keywords: &mut Map<String, Value>, draft: Draft, depth: usize) {
        let (name, value) = match self.choices.below(7) {
            0 => ("allOf", self.schemas(depth)),
            1 => ("anyOf", self.schemas(depth)),
            2 => ("oneOf", self.schemas(depth)),
            3 => ("not", self.schema(depth - 1)),
            _ if draft >= Draft::Draft7 => {
                let name = ["if", "then", "else"][self.choices.below(3)];
                for name in ["if", name] {
                    let schema = self.schema(depth - 1);
                    keywords.insert(name.to_owned(), schema);
                }
                return;
            }
            4 => ("anyOf", self.schemas(depth)),
            _ => ("not", self.schema(depth - 1)),
        };
        keywords.insert(name.to_owned(), value);
    }
}
