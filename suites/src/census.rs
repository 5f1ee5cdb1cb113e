//! Counts over the schemas of a dataset: keywords, formats, drafts, sizes (figure 2, tables 8 and 9 of the JSONSchemaBench
//! paper).
//!
//! Keywords count in schema position only: a property called `format`, or a `type` inside an `enum`, is none. What a
//! local `$ref` points to is a schema too, wherever it stands.

use std::collections::{BTreeMap, HashSet};

use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::strict_json;
use crate::validate::MAX_DEPTH;

/// Form in which the value of a keyword holds subschemas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    /// A schema, or an array of them.
    Schemas,
    /// An object whose members are schemas; members that are arrays (of names) are none.
    Members,
}

/// The keywords of drafts 4 to 2020-12, each with the form in which its value holds subschemas.
const KEYWORDS: &[(&str, Holds)] = &[
    ("$anchor", Holds::Nothing),
    ("$comment", Holds::Nothing),
    ("$defs", Holds::Members),
    ("$dynamicAnchor", Holds::Nothing),
    ("$dynamicRef", Holds::Nothing),
    ("$id", Holds::Nothing),
    ("$recursiveAnchor", Holds::Nothing),
    ("$recursiveRef", Holds::Nothing),
    ("$ref", Holds::Nothing),
    ("$schema", Holds::Nothing),
    ("$vocabulary", Holds::Nothing),
    ("additionalItems", Holds::Schemas),
    ("additionalProperties", Holds::Schemas),
    ("allOf", Holds::Schemas),
    ("anyOf", Holds::Schemas),
    ("const", Holds::Nothing),
    ("contains", Holds::Schemas),
    ("contentEncoding", Holds::Nothing),
    ("contentMediaType", Holds::Nothing),
    ("contentSchema", Holds::Schemas),
    ("default", Holds::Nothing),
    ("definitions", Holds::Members),
    ("dependencies", Holds::Members),
    ("dependentRequired", Holds::Nothing),
    ("dependentSchemas", Holds::Members),
    ("deprecated", Holds::Nothing),
    ("description", Holds::Nothing),
    ("else", Holds::Schemas),
    ("enum", Holds::Nothing),
    ("examples", Holds::Nothing),
    ("exclusiveMaximum", Holds::Nothing),
    ("exclusiveMinimum", Holds::Nothing),
    ("format", Holds::Nothing),
    ("id", Holds::Nothing),
    ("if", Holds::Schemas),
    ("items", Holds::Schemas),
    ("maxContains", Holds::Nothing),
    ("maxItems", Holds::Nothing),
    ("maxLength", Holds::Nothing),
    ("maxProperties", Holds::Nothing),
    ("maximum", Holds::Nothing),
    ("minContains", Holds::Nothing),
    ("minItems", Holds::Nothing),
    ("minLength", Holds::Nothing),
    ("minProperties", Holds::Nothing),
    ("minimum", Holds::Nothing),
    ("multipleOf", Holds::Nothing),
    ("not", Holds::Schemas),
    ("oneOf", Holds::Schemas),
    ("pattern", Holds::Nothing),
    ("patternProperties", Holds::Members),
    ("prefixItems", Holds::Schemas),
    ("properties", Holds::Members),
    ("propertyNames", Holds::Schemas),
    ("readOnly", Holds::Nothing),
    ("required", Holds::Nothing),
    ("then", Holds::Schemas),
    ("title", Holds::Nothing),
    ("type", Holds::Nothing),
    ("unevaluatedItems", Holds::Schemas),
    ("unevaluatedProperties", Holds::Schemas),
    ("uniqueItems", Holds::Nothing),
    ("writeOnly", Holds::Nothing),
];

/// Frequency of a keyword, member name or format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// Number of schemas with an occurrence.
    pub schemas: usize,
    /// Number of occurrences in all schemas together.
    pub occurrences: usize,
}

/// The size of one schema, as table 8 of the paper has it.
///
/// Fields, fan-out and depth are those of objects within objects; what lies in arrays does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SchemaSize {
    /// Bytes of the text.
    pub bytes: usize,
    /// Bytes of the text without the whitespace around its tokens.
    pub minified: usize,
    /// Members of all objects.
    pub fields: usize,
    /// Members of the largest object.
    pub max_fan_out: usize,
    /// Objects within one another.
    pub depth: usize,
}

/// Counts over the schemas of a dataset: drafts, keywords, formats and sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Census {
    /// Drafts named by `$schema`, such as `draft-07`; `none` where there is no `$schema`, `other` for unknown ones.
    pub drafts: BTreeMap<String, usize>,
    /// Keywords of any draft.
    pub keywords: BTreeMap<String, Frequency>,
    /// Members in schema position that are keywords of no draft.
    pub unknown_keywords: BTreeMap<String, Frequency>,
    /// Values of `format`.
    pub formats: BTreeMap<String, Frequency>,
    /// SchemaSize of each schema, in the order they were added.
    pub sizes: Vec<SchemaSize>,
}

impl Census {
    /// Takes in one schema.
    ///
    /// # Errors
    ///
    /// A text that is not one JSON document, or is nested deeper than [`MAX_DEPTH`]; no count includes it.
    pub fn add(&mut self, schema: &str) -> Result<(), strict_json::JsonError> {
        let root = strict_json::parse(schema, MAX_DEPTH)?.value;
        *self.drafts.entry(draft(&root).to_owned()).or_default() += 1;
        self.sizes.push(size(&root, schema.len()));
        let mut found = Found::default();
        walk(&root, &mut found);
        for (counts, found) in [
            (&mut self.keywords, found.keywords),
            (&mut self.unknown_keywords, found.unknown_keywords),
            (&mut self.formats, found.formats),
        ] {
            for (name, occurrences) in found {
                let count = counts.entry(name.to_owned()).or_default();
                count.schemas += 1;
                count.occurrences += occurrences;
            }
        }
        Ok(())
    }
}

/// Occurrences of keywords, unknown members and formats in one schema.
#[derive(Default)]
struct Found<'a> {
    keywords: BTreeMap<&'a str, usize>,
    unknown_keywords: BTreeMap<&'a str, usize>,
    formats: BTreeMap<&'a str, usize>,
}

fn walk<'a>(root: &'a Value, found: &mut Found<'a>) {
    for (name, value) in subschemas(root).into_iter().flatten() {
        let counts = match is_keyword(name) {
            true => &mut found.keywords,
            false => &mut found.unknown_keywords,
        };
        *counts.entry(name).or_default() += 1;
        if let ("format", Value::String(format)) = (name.as_str(), value) {
            *found.formats.entry(format).or_default() += 1;
        }
    }
}

/// Whether some draft from 4 to 2020-12 has a keyword of this name.
#[must_use]
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search_by_key(&name, |keyword| keyword.0).is_ok()
}

/// Returns every object in `root` that stands in schema position, the root first: subschemas, and the targets of local
/// references.
#[must_use]
pub fn subschemas(root: &Value) -> Vec<&Map<String, Value>> {
    let mut seen: HashSet<*const Value> = HashSet::new();
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        let Value::Object(members) = schema else { continue };
        if seen.insert(std::ptr::from_ref(schema)) {
            found.push(members);
            open.extend(children(root, members));
        }
    }
    found
}

/// Whether a local reference in `root` leads, by way of others, back to a schema that holds it.
#[must_use]
pub fn is_recursive(root: &Value) -> bool {
    let mut on_path: HashSet<*const Value> = HashSet::new();
    let mut done: HashSet<*const Value> = HashSet::new();
    // Each schema stands here twice: to be entered, and below its children to be left.
    let mut open = vec![(root, false)];
    while let Some((schema, leave)) = open.pop() {
        let Value::Object(members) = schema else { continue };
        let place = std::ptr::from_ref(schema);
        if leave {
            on_path.remove(&place);
            done.insert(place);
        } else if on_path.contains(&place) {
            return true;
        } else if !done.contains(&place) {
            on_path.insert(place);
            open.push((schema, true));
            open.extend(children(root, members).into_iter().map(|child| (child, false)));
        }
    }
    false
}

/// Returns the subschemas directly below a schema, and the target of the schema's own `$ref`.
fn children<'a>(root: &'a Value, members: &'a Map<String, Value>) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for (name, value) in members {
        let Ok(index) = KEYWORDS.binary_search_by_key(&name.as_str(), |keyword| keyword.0) else {
            continue;
        };
        match (KEYWORDS[index], value) {
            (("$ref", _), Value::String(reference)) => found.extend(local(root, reference)),
            ((_, Holds::Members), Value::Object(children)) => found.extend(children.values()),
            ((_, Holds::Schemas), Value::Array(children)) => found.extend(children),
            ((_, Holds::Schemas), child) => found.push(child),
            _ => {}
        }
    }
    found
}

/// Returns the target of a reference within the document; `None` for any other reference, and for one that leads nowhere. A reference is part
/// of a URI, so its pointer may be percent-encoded (RFC 6901, section 6).
#[must_use]
pub fn local<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    root.pointer(&pointer)
}

fn draft(root: &Value) -> &str {
    let Some(uri) = root.get("$schema").and_then(Value::as_str) else {
        return "none";
    };
    ["draft-03", "draft-04", "draft-06", "draft-07", "2019-09", "2020-12"]
        .into_iter()
        .find(|draft| uri.contains(draft))
        .unwrap_or("other")
}

fn size(root: &Value, bytes: usize) -> SchemaSize {
    let mut size = SchemaSize {
        bytes,
        minified: root.to_string().len(),
        ..SchemaSize::default()
    };
    let mut open = vec![(root, 1)];
    while let Some((value, depth)) = open.pop() {
        if let Value::Object(members) = value {
            size.fields += members.len();
            size.max_fan_out = size.max_fan_out.max(members.len());
            size.depth = size.depth.max(depth);
            open.extend(members.values().map(|member| (member, depth + 1)));
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted_by_key(|keyword| keyword.0));
    }

    #[test]
    fn keywords_count_in_schema_position_only() {
        let schema = r##"{
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "format": {"type": "string", "format": "date"},
                "type": {"enum": [{"type": 1, "minimum": 2}], "default": {"maxLength": 3}},
                "far": {"$ref": "#/shared/far"}
            },
            "dependencies": {"a": ["pattern"], "b": {"not": true}},
            "items": [{"format": "date"}, {"format": "x-own"}],
            "shared": {"far": {"uniqueItems": true, "anyOf": [{"$ref": "#"}]}, "near": {"const": 1}}
        }"##;
        let mut census = Census::default();
        census.add(schema).unwrap();
        census.add("true").unwrap();
        assert!(census.add("{").is_err());
        let occurrences = |name: &str| census.keywords.get(name).map(|count| count.occurrences);
        assert_eq!(occurrences("type"), Some(2));
        assert_eq!(occurrences("format"), Some(3));
        assert_eq!(
            occurrences("uniqueItems"),
            Some(1),
            "what a reference points to is a schema"
        );
        assert_eq!(occurrences("not"), Some(1));
        for none in ["minimum", "maxLength", "pattern", "const"] {
            assert_eq!(occurrences(none), None, "{none}");
        }
        assert_eq!(census.unknown_keywords.keys().collect::<Vec<_>>(), ["shared"]);
        assert_eq!(
            census.formats["date"],
            Frequency {
                schemas: 1,
                occurrences: 2
            }
        );
        assert_eq!(
            census.drafts,
            BTreeMap::from([("draft-07".to_owned(), 1), ("none".to_owned(), 1)])
        );
    }

    #[test]
    fn recursion_is_a_reference_to_what_holds_it() {
        let recursive = |schema: &str| is_recursive(&serde_json::from_str(schema).unwrap());
        assert!(recursive(r##"{"items": {"$ref": "#"}}"##));
        assert!(recursive(
            r##"{"$ref": "#/$defs/a%20b", "$defs": {"a b": {"items": {"$ref": "#/$defs/a%20b"}}}}"##
        ));
        assert!(recursive(
            r##"{"$ref": "#/a", "a": {"not": {"$ref": "#/b"}}, "b": {"items": {"$ref": "#/a"}}}"##
        ));
        let shared = r##"{"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"items": true}}}"##;
        assert!(!recursive(shared));
        assert!(!recursive(
            r##"{"enum": [{"$ref": "#"}], "$defs": {"a": {"$ref": "#/nowhere"}}}"##
        ));
    }

    #[test]
    fn sizes_are_those_of_objects_within_objects() {
        let mut census = Census::default();
        let text = r#"{"a": {"b": {"c": 1, "d": 2, "e": 3}}, "f": [{"g": {}}]}"#;
        census.add(text).unwrap();
        let expected = SchemaSize {
            bytes: text.len(),
            minified: r#"{"a":{"b":{"c":1,"d":2,"e":3}},"f":[{"g":{}}]}"#.len(),
            fields: 6,
            max_fan_out: 3,
            depth: 3,
        };
        assert_eq!(census.sizes, [expected]);
    }
}
