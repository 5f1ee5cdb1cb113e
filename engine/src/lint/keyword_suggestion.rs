//! Suggestions: the keyword that an unknown one was probably meant to be.

use crate::json::{Content, Document, NodeIndex};

/// A form that the value of a keyword has to have.
#[derive(Clone, Copy)]
enum Shape {
    Schema,
    Schemas,
    /// An object of schemas.
    SchemaMap,
    Number,
    Text,
    Types,
    Array,
    Names,
    Boolean,
    Any,
}

/// Keywords that assert something, or hold schemas that do, of any draft.
const KEYWORDS: [(&str, Shape); 44] = [
    ("type", Shape::Types),
    ("const", Shape::Any),
    ("enum", Shape::Array),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("exclusiveMaximum", Shape::Number),
    ("multipleOf", Shape::Number),
    ("minLength", Shape::Number),
    ("maxLength", Shape::Number),
    ("pattern", Shape::Text),
    ("format", Shape::Text),
    ("prefixItems", Shape::Schemas),
    ("items", Shape::Schema),
    ("additionalItems", Shape::Schema),
    ("contains", Shape::Schema),
    ("minContains", Shape::Number),
    ("maxContains", Shape::Number),
    ("minItems", Shape::Number),
    ("maxItems", Shape::Number),
    ("uniqueItems", Shape::Boolean),
    ("unevaluatedItems", Shape::Schema),
    ("properties", Shape::SchemaMap),
    ("patternProperties", Shape::SchemaMap),
    ("additionalProperties", Shape::Schema),
    ("propertyNames", Shape::Schema),
    ("required", Shape::Names),
    ("minProperties", Shape::Number),
    ("maxProperties", Shape::Number),
    ("dependencies", Shape::SchemaMap),
    ("dependentRequired", Shape::SchemaMap),
    ("dependentSchemas", Shape::SchemaMap),
    ("unevaluatedProperties", Shape::Schema),
    ("allOf", Shape::Schemas),
    ("anyOf", Shape::Schemas),
    ("oneOf", Shape::Schemas),
    ("not", Shape::Schema),
    ("if", Shape::Schema),
    ("then", Shape::Schema),
    ("else", Shape::Schema),
    ("$ref", Shape::Text),
    ("$defs", Shape::SchemaMap),
    ("definitions", Shape::SchemaMap),
    ("$dynamicRef", Shape::Text),
];

/// Names that people write for a keyword, no letter of which need be alike; `min` and `max` come by type.
const SYNONYMS: [(&str, &str); 8] = [
    ("inclusiveMinimum", "minimum"),
    ("inclusiveMaximum", "maximum"),
    ("regex", "pattern"),
    ("regexp", "pattern"),
    ("props", "properties"),
    ("property", "properties"),
    ("divisibleBy", "multipleOf"),
    ("disallow", "not"),
];

/// Names of annotations, of drafts and of tools that write them into schemas: no misspellings, though some are near.
const ANNOTATIONS: [&str; 36] = [
    "$comment",
    "$id",
    "id",
    "$schema",
    "$anchor",
    "$vocabulary",
    "$dynamicAnchor",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "nullable",
    "discriminator",
    "externalDocs",
    "xml",
    "enumNames",
    "enumDescriptions",
    "markdownDescription",
    "markdownEnumDescriptions",
    "errorMessage",
    "defaultSnippets",
    "propertyOrder",
    "tsType",
    "javaType",
    "options",
    "links",
    "media",
    "name",
    "note",
];

/// Names as long as this are compared: no keyword is longer by more than the distance that counts.
const LONGEST: usize = 24;

/// The keywords that an unknown one is near to, the nearest first.
#[derive(Clone, Debug)]
pub(super) struct Suggestion(Vec<usize>);

/// Whether a name is an annotation of some draft or tool, or was made to be none with a `_`.
pub(super) fn is_annotation(name: &str) -> bool {
    ANNOTATIONS.contains(&name) || name.starts_with("x-") || name.starts_with('_') || name.contains(':')
}

impl Suggestion {
    /// The keywords near to `name`; none if there is none.
    pub fn of(name: &str) -> Option<Self> {
        if is_annotation(name) || name.len() > LONGEST {
            return None;
        }
        if let Some((_, meant)) = SYNONYMS.iter().find(|(written, _)| *written == name) {
            return Some(Self(
                KEYWORDS
                    .iter()
                    .position(|(keyword, _)| keyword == meant)
                    .into_iter()
                    .collect(),
            ));
        }
        let plain = plain(name);
        let near = |keyword: &str| -> Option<usize> {
            // A name that ends in a keyword and begins with more is named after the keyword: `uiPattern`.
            let is_extended =
                name.len() > keyword.len() && name.to_ascii_lowercase().ends_with(&keyword.to_ascii_lowercase());
            let keyword = self::plain(keyword);
            if is_extended && keyword != plain {
                return None;
            }
            if keyword == plain {
                return Some(0);
            }
            let allowed = match keyword.len().min(plain.len()) {
                0..=3 => 0,
                4..=6 => 1,
                _ => 2,
            };
            (keyword.len().abs_diff(plain.len()) <= allowed)
                .then(|| distance(&keyword, &plain))
                .filter(|distance| *distance <= allowed)
        };
        if ANNOTATIONS
            .iter()
            .any(|annotation| near(annotation).is_some_and(|distance| distance <= 1))
        {
            return None;
        }
        let mut found: Vec<(usize, usize)> = KEYWORDS
            .iter()
            .enumerate()
            .filter_map(|(number, (keyword, _))| Some((near(keyword)?, number)))
            .collect();
        found.sort_unstable();
        let numbers: Vec<usize> = found.into_iter().map(|(_, number)| number).collect();
        (!numbers.is_empty()).then_some(Self(numbers))
    }

    /// The nearest of these keywords whose values are such as that at `value`.
    pub fn for_value(&self, json: &Document, value: NodeIndex) -> Option<&'static str> {
        let fitting = self.0.iter().find(|number| fits(json, value, KEYWORDS[**number].1))?;
        Some(KEYWORDS[*fitting].0)
    }
}

/// Returns a name in small letters, without separators between words, as bytes.
fn plain(name: &str) -> Vec<u8> {
    let letters = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b' ' | b'$'));
    letters.map(|byte| byte.to_ascii_lowercase()).collect()
}

/// Letters to insert, leave out, change or swap with the next to turn one name into another (optimal string alignment).
pub(super) fn distance(from: &[u8], to: &[u8]) -> usize {
    let mut before = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, a) in from.iter().enumerate() {
        let mut next = vec![row + 1; to.len() + 1];
        for (column, b) in to.iter().enumerate() {
            let mut least = (last[column] + usize::from(a != b))
                .min(last[column + 1] + 1)
                .min(next[column] + 1);
            if row > 0 && column > 0 && *a == to[column - 1] && from[row - 1] == *b {
                least = least.min(before[column - 1] + 1);
            }
            next[column + 1] = least;
        }
        before = std::mem::replace(&mut last, next);
    }
    last[to.len()]
}

fn fits(json: &Document, value: NodeIndex, shape: Shape) -> bool {
    let content = json.content(value);
    let is_schema = |index| matches!(json.content(index), Content::Object(_) | Content::Bool(_));
    match shape {
        Shape::Any => true,
        Shape::Schema => is_schema(value) || matches!(content, Content::Array(1..)) && json.items(value).all(is_schema),
        Shape::Schemas => matches!(content, Content::Array(1..)) && json.items(value).all(is_schema),
        Shape::SchemaMap => {
            let holds = |index| is_schema(index) || matches!(json.content(index), Content::Array(_));
            matches!(content, Content::Object(1..)) && json.members(value).all(|(_, member)| holds(member))
        }
        Shape::Number => matches!(content, Content::Number(_)),
        Shape::Text => matches!(content, Content::String(_)),
        Shape::Boolean => matches!(content, Content::Bool(_)),
        Shape::Array => matches!(content, Content::Array(1..)),
        Shape::Names => {
            let is_name = |index| matches!(json.content(index), Content::String(_));
            matches!(content, Content::Array(1..)) && json.items(value).all(is_name)
        }
        Shape::Types => {
            is_type(json, value)
                || matches!(content, Content::Array(1..)) && json.items(value).all(|item| is_type(json, item))
        }
    }
}

/// Whether the value at `index` is the name of a type.
pub(super) fn is_type(json: &Document, index: NodeIndex) -> bool {
    let names = ["null", "boolean", "integer", "number", "string", "array", "object"];
    json.string(index).is_some_and(|name| names.contains(&name))
}

/// The keyword that `min` or `max` is short for, by the type beside it.
pub(super) fn of_bound(name: &str, json: &Document, types: Option<NodeIndex>) -> Option<&'static str> {
    let (number, length, items, members) = match name {
        "min" => ("minimum", "minLength", "minItems", "minProperties"),
        "max" => ("maximum", "maxLength", "maxItems", "maxProperties"),
        _ => return None,
    };
    Some(match json.string(types?)? {
        "number" | "integer" => number,
        "string" => length,
        "array" => items,
        "object" => members,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_swaps_once() {
        for (from, to, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("mininum", "minimum", 1),
            ("requierd", "required", 1),
            ("additionalproperies", "additionalproperties", 1),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(from.as_bytes(), to.as_bytes()), expected, "{from} {to}");
            assert_eq!(distance(to.as_bytes(), from.as_bytes()), expected, "{to} {from}");
        }
    }
}
