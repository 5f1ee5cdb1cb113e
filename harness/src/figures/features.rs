//! Figure 4: the features of JSON Schema that frameworks document as supported, and the number of schemas that use each.

use maskwright_suites::census::{is_keyword, is_recursive, subschemas};
use serde_json::{Map, Value};

use super::canvas::{Anchor, Canvas, width};
use crate::frameworks::Documented;

/// Whether a framework documents a feature as supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The feature is supported wherever a schema uses it.
    Full,
    /// The feature is supported under conditions.
    Partial,
    /// The feature is not supported.
    None,
}

impl Support {
    /// Returns the word for the support in figures and tables.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Full => "yes",
            Self::Partial => "partly",
            Self::None => "no",
        }
    }
}

/// A feature, as the paper names them.
struct Feature {
    name: &'static str,
    /// Schemas that use the feature: full support covers all of these, partial support some.
    probes: &'static [&'static str],
    uses: Uses,
}

impl Feature {
    /// A feature that is a keyword of the same name.
    const fn keyword(name: &'static str, probes: &'static [&'static str]) -> Self {
        let uses = Uses::OwnKeyword;
        Self { name, probes, uses }
    }

    /// A feature that is any of several keywords.
    const fn keywords(name: &'static str, keywords: &'static [&'static str], probes: &'static [&'static str]) -> Self {
        let uses = Uses::Keywords(keywords, None);
        Self { name, probes, uses }
    }
}

/// Condition under which a schema uses a feature.
enum Uses {
    /// A subschema has the keyword that the feature is called by.
    OwnKeyword,
    /// A subschema has one of these keywords, and where a type is given, that type.
    Keywords(&'static [&'static str], Option<&'static str>),
    /// A subschema has a keyword whose value is an object.
    Object(&'static str),
    /// A subschema has `$ref` and another keyword that asserts.
    Siblings,
    /// A reference leads back to a schema that holds it.
    Recursion,
}

/// The keywords that bound a number.
const BOUNDS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/// The features of figure 4, in its order.
const FEATURES: [Feature; 29] = [
    Feature::keyword(
        "required",
        &[
            r#"{"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}"#,
            r#"{"type": "object", "required": ["b"]}"#,
        ],
    ),
    Feature::keyword("items", &[r#"{"type": "array", "items": {"type": "null"}}"#]),
    Feature::keyword(
        "additionalProperties",
        &[
            r#"{"type": "object", "additionalProperties": false}"#,
            r#"{"type": "object", "additionalProperties": true}"#,
            r#"{"type": "object", "additionalProperties": {"type": "null"}}"#,
        ],
    ),
    Feature::keyword("enum", &[r#"{"enum": ["a", 1]}"#]),
    Feature::keyword(
        "$ref",
        &[
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}"##,
            r##"{"$ref": "#a", "$defs": {"a": {"$anchor": "a", "type": "null"}}}"##,
        ],
    ),
    Feature::keyword(
        "pattern",
        &[
            r#"{"type": "string", "pattern": "^a$"}"#,
            r#"{"type": "string", "pattern": "(?!a)"}"#,
        ],
    ),
    Feature::keyword(
        "format",
        &[
            r#"{"type": "string", "format": "date-time"}"#,
            r#"{"type": "string", "format": "uri"}"#,
            r#"{"type": "string", "format": "date"}"#,
            r#"{"type": "string", "format": "email"}"#,
            r#"{"type": "string", "format": "uuid"}"#,
            r#"{"type": "string", "format": "hostname"}"#,
            r#"{"type": "string", "format": "ipv4"}"#,
            r#"{"type": "string", "format": "time"}"#,
            r#"{"type": "string", "format": "regex"}"#,
        ],
    ),
    Feature::keyword(
        "oneOf",
        &[
            r#"{"oneOf": [{"type": "null"}, {"type": "string"}]}"#,
            r#"{"oneOf": [{"type": "integer"}, {"type": "number"}]}"#,
        ],
    ),
    Feature::keywords(
        "@minmaxLength",
        &["minLength", "maxLength"],
        &[r#"{"type": "string", "minLength": 1, "maxLength": 2}"#],
    ),
    Feature {
        name: "@siblingKeys",
        probes: &[r##"{"$ref": "#/$defs/a", "enum": [1], "$defs": {"a": {"type": "integer"}}}"##],
        uses: Uses::Siblings,
    },
    Feature {
        name: "@minmaxInteger",
        probes: &[r#"{"type": "integer", "minimum": 1, "maximum": 2}"#],
        uses: Uses::Keywords(BOUNDS, Some("integer")),
    },
    Feature::keywords(
        "@minmaxItems",
        &["minItems", "maxItems"],
        &[r#"{"type": "array", "minItems": 1, "maxItems": 2}"#],
    ),
    Feature {
        name: "additionalProperties:object",
        probes: &[r#"{"type": "object", "additionalProperties": {"type": "null"}}"#],
        uses: Uses::Object("additionalProperties"),
    },
    Feature::keyword(
        "anyOf",
        &[
            r#"{"anyOf": [{"type": "null"}, {"type": "string"}]}"#,
            r#"{"type": "integer", "anyOf": [{"enum": [1]}, {"enum": [2]}]}"#,
        ],
    ),
    Feature::keyword(
        "patternProperties",
        &[r#"{"type": "object", "patternProperties": {"^a": {"type": "null"}}}"#],
    ),
    Feature::keyword(
        "allOf",
        &[
            r#"{"allOf": [{"type": "string"}]}"#,
            r#"{"allOf": [{"type": "string"}, {"enum": ["a"]}]}"#,
        ],
    ),
    Feature::keyword("not", &[r#"{"not": {"type": "null"}}"#]),
    Feature::keywords(
        "@minmaxProperties",
        &["minProperties", "maxProperties"],
        &[
            r#"{"type": "object", "properties": {"a": {}}, "required": ["a"], "minProperties": 1}"#,
            r#"{"type": "object", "properties": {"a": {}}, "minProperties": 1, "maxProperties": 2}"#,
        ],
    ),
    Feature::keyword(
        "additionalItems",
        &[
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "null"}], "additionalItems": false}"#,
        ],
    ),
    Feature::keyword("const", &[r#"{"const": "a"}"#]),
    Feature::keywords(
        "dependencies",
        &["dependencies", "dependentRequired", "dependentSchemas"],
        &[r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "dependencies": {"a": ["b"]}}"#],
    ),
    Feature::keyword(
        "multipleOf",
        &[
            r#"{"type": "integer", "multipleOf": 2}"#,
            r#"{"type": "number", "multipleOf": 0.5}"#,
        ],
    ),
    Feature {
        name: "@minmaxNumber",
        probes: &[r#"{"type": "number", "minimum": 1, "maximum": 2}"#],
        uses: Uses::Keywords(BOUNDS, Some("number")),
    },
    Feature::keyword("uniqueItems", &[r#"{"type": "array", "uniqueItems": true}"#]),
    Feature::keyword("if", &[r#"{"if": {"type": "null"}, "then": {"enum": [null]}}"#]),
    Feature::keyword(
        "propertyNames",
        &[r#"{"type": "object", "propertyNames": {"enum": ["a"]}}"#],
    ),
    Feature::keyword("contains", &[r#"{"type": "array", "contains": {"type": "null"}}"#]),
    Feature::keyword(
        "unevaluatedProperties",
        &[r#"{"type": "object", "unevaluatedProperties": false}"#],
    ),
    Feature {
        name: "@recursiveSchemas",
        probes: &[r##"{"type": "object", "properties": {"a": {"$ref": "#"}}}"##],
        uses: Uses::Recursion,
    },
];

impl Uses {
    fn holds(&self, feature: &str, root: &Value, subschemas: &[&Map<String, Value>]) -> bool {
        let any = |holds: &dyn Fn(&Map<String, Value>) -> bool| subschemas.iter().any(|schema| holds(schema));
        match self {
            Self::OwnKeyword => any(&|schema| schema.contains_key(feature)),
            Self::Keywords(names, of_type) => any(&|schema| {
                let has_type = of_type.is_none_or(|name| is_of_type(schema, name));
                has_type && names.iter().any(|name| schema.contains_key(*name))
            }),
            Self::Object(name) => any(&|schema| schema.get(*name).is_some_and(Value::is_object)),
            Self::Siblings => any(&|schema| {
                let annotations = [
                    "$ref",
                    "$schema",
                    "$id",
                    "id",
                    "title",
                    "description",
                    "default",
                    "$comment",
                    "$defs",
                    "definitions",
                    "examples",
                ];
                let is_sibling = |name: &String| is_keyword(name) && !annotations.contains(&name.as_str());
                schema.contains_key("$ref") && schema.keys().any(is_sibling)
            }),
            Self::Recursion => is_recursive(root),
        }
    }
}

fn is_of_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// Number of schemas that use each feature, and the support of each framework for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The frameworks that document the features they support.
    pub frameworks: Vec<String>,
    /// Schemas.
    pub schemas: usize,
    /// For each framework, the schemas all of whose features it supports.
    pub supported: Vec<usize>,
    /// Features, with the number of schemas that use them and the support of each framework.
    pub features: Vec<(&'static str, usize, Vec<Support>)>,
}

impl Matrix {
    /// Returns the matrix of frameworks, by their documentation, over `schemas`.
    pub fn of<'s>(frameworks: &[(String, Documented)], schemas: impl IntoIterator<Item = &'s str>) -> Self {
        let support = |documented: &Documented, feature: &Feature| {
            let covered = feature.probes.iter().filter(|probe| documented.covers(probe)).count();
            match covered {
                0 => Support::None,
                count if count == feature.probes.len() => Support::Full,
                _ => Support::Partial,
            }
        };
        let row = |feature: &Feature| {
            let of_each = frameworks.iter().map(|(_, documented)| support(documented, feature));
            (feature.name, 0, of_each.collect())
        };
        let mut matrix = Self {
            frameworks: frameworks.iter().map(|(name, _)| name.clone()).collect(),
            schemas: 0,
            supported: vec![0; frameworks.len()],
            features: FEATURES.iter().map(row).collect(),
        };
        for schema in schemas {
            let Ok(root) = serde_json::from_str::<Value>(schema) else {
                continue;
            };
            let within = subschemas(&root);
            matrix.schemas += 1;
            for (feature, row) in FEATURES.iter().zip(&mut matrix.features) {
                row.1 += usize::from(feature.uses.holds(feature.name, &root, &within));
            }
            for ((_, documented), count) in frameworks.iter().zip(&mut matrix.supported) {
                *count += usize::from(documented.covers(schema));
            }
        }
        matrix.features.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        matrix
    }

    /// The picture.
    pub fn svg(&self) -> String {
        const ROW: f64 = 21.0;
        const MARGIN: f64 = 16.0;
        let names = 190.0;
        let count_width = 70.0;
        let column = self.frameworks.iter().map(|name| width(name)).fold(70.0, f64::max) + 16.0;
        let total = names + count_width + column * self.frameworks.len() as f64;
        let height = 56.0 + ROW * (self.features.len() + 2) as f64;
        let mut canvas = Canvas::new(total + 2.0 * MARGIN, height + 2.0 * MARGIN);
        canvas.title(MARGIN, MARGIN + 14.0, "Features that frameworks document as supported");
        let header = MARGIN + 44.0;
        canvas.bold(MARGIN, header, Anchor::Start, "feature");
        canvas.bold(MARGIN + names + count_width - 8.0, header, Anchor::End, "schemas");
        let place = |at: usize| MARGIN + names + count_width + column * at as f64;
        for (at, name) in self.frameworks.iter().enumerate() {
            canvas.bold(place(at) + column / 2.0, header, Anchor::Middle, name);
        }
        let mut y = header + 8.0;
        for (name, count, support) in &self.features {
            let base = y + 15.0;
            canvas.text(MARGIN, base, Anchor::Start, name);
            canvas.text(
                MARGIN + names + count_width - 8.0,
                base,
                Anchor::End,
                &count.to_string(),
            );
            for (at, support) in support.iter().enumerate() {
                let (colour, text) = match support {
                    Support::Full => ("#0b5394", "#ffffff"),
                    Support::Partial => ("#a9c6e8", "#222222"),
                    Support::None => ("#f4f4f4", "#222222"),
                };
                canvas.rectangle(place(at) + 1.0, y + 1.0, column - 2.0, ROW - 2.0, colour);
                canvas.coloured(place(at) + column / 2.0, base, Anchor::Middle, support.sign(), text);
            }
            y += ROW;
        }
        canvas.line((MARGIN, y + 3.0), (MARGIN + total, y + 3.0), "#222", 1.0);
        let base = y + 20.0;
        canvas.bold(MARGIN, base, Anchor::Start, "schemas supported");
        canvas.bold(
            MARGIN + names + count_width - 8.0,
            base,
            Anchor::End,
            &self.schemas.to_string(),
        );
        for (at, count) in self.supported.iter().enumerate() {
            canvas.bold(place(at) + column / 2.0, base, Anchor::Middle, &count.to_string());
        }
        canvas.finish()
    }
}
