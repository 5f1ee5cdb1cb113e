//! The schemas whose values can all be written in block-style YAML, as this crate writes it.

use std::ops::Range;

use crate::json::{Content, Document, NodeIndex};
use crate::schema::{ANNOTATIONS, Keyword, SchemaSet};
use crate::{CompileError, CompileErrorKind, SchemaOptions};

use super::yaml::is_of_name;

/// Keywords that, as [`ANNOTATIONS`], leave the shape of containers as it is.
const HARMLESS: [&str; 16] = [
    "$schema",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "required",
];

/// A keyword that admits no strings with characters beyond ASCII, but for those that are escaped in YAML.
const SPELT_IN_ASCII: &str =
    r#""not":{"type":"string","pattern":"[^\\x00-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff]"},"#;

/// Words that YAML 1.1 reads as a truth value or null, in lower case.
const WORDS: [&str; 7] = ["true", "false", "yes", "no", "on", "off", "null"];

/// A schema as it holds for YAML, where no mapping is empty, because that would need braces; nor a document that is a list. `is_ascii`
/// tells that the tokens spell ASCII alone.
///
/// # Errors
///
/// [`CompileError`] where the schema cannot be loaded; [`CompileErrorKind::Unsupported`], with a JSON Pointer, for a keyword that cannot be
/// treated.
pub(super) fn of_yaml(schema: &str, options: &SchemaOptions, is_ascii: bool) -> Result<String, CompileError> {
    let set = SchemaSet::load(schema, options)?;
    let (document, root) = set.json(set.node(set.root()).location);
    let has_const = Keyword::lookup("const", set.dialect()).is_some();
    // The texts to write, each in place of some bytes of the schema's text; the rest stays as it is.
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    let mut open: Vec<NodeIndex> = vec![root];
    while let Some(index) = open.pop() {
        let unsupported = |needed: &str| {
            let message = format!("a reply in YAML needs {needed}");
            CompileError::new(CompileErrorKind::Unsupported, message).at(document.pointer(index))
        };
        if !document.is_object(index) {
            return Err(unsupported("a schema with `type` or `enum` here"));
        }
        let types: Vec<&str> = match document.member(index, "type") {
            Some(types) => match document.string(types) {
                Some(one) => vec![one],
                None => document.items(types).filter_map(|name| document.string(name)).collect(),
            },
            None => Vec::new(),
        };
        let listed: Option<Vec<NodeIndex>> = match document.member(index, "enum") {
            Some(list) if matches!(document.content(list), Content::Array(_)) => Some(document.items(list).collect()),
            _ if has_const => document.member(index, "const").map(|value| vec![value]),
            _ => None,
        };
        let is_container =
            |value: &NodeIndex| matches!(document.content(*value), Content::Array(_) | Content::Object(_));
        match &listed {
            Some(values) if values.iter().any(is_container) => {
                return Err(unsupported("`enum` and `const` without lists and mappings"));
            }
            None if types.is_empty() => return Err(unsupported("`type` or `enum` here")),
            _ => {}
        }
        for (keyword, _) in document.members(index) {
            let known = HARMLESS.contains(&keyword)
                || ANNOTATIONS.contains(&keyword)
                || matches!(keyword, "properties" | "additionalProperties" | "items");
            if !known {
                return Err(unsupported("no keywords but those of types, bounds and lengths").on_keyword(keyword));
            }
        }
        // A schema that has `type` or lists values is no empty object, so that a member may be written before its others.
        let start = document.span(index).start + 1;
        if is_ascii && (listed.is_some() || types.contains(&"string")) {
            edits.push((start..start, SPELT_IN_ASCII));
        }
        if listed.is_none() && types.contains(&"object") {
            check_names(document, index).map_err(|message| unsupported(&message))?;
            edits.push((start..start, "\"minProperties\":1,"));
            let properties = document.member(index, "properties").into_iter();
            open.extend(properties.flat_map(|properties| document.members(properties).map(|(_, schema)| schema)));
        }
        if listed.is_none() && types.contains(&"array") {
            if index == root {
                match document.member(index, "minItems") {
                    None => edits.push((start..start, "\"minItems\":1,")),
                    Some(least) => match document.content(least) {
                        Content::Number(digits) if digits.parse::<f64>().is_ok_and(|least| least < 1.0) => {
                            edits.push((document.span(least), "1"));
                        }
                        _ => {}
                    },
                }
            }
            match document
                .member(index, "items")
                .filter(|items| document.is_object(*items))
            {
                Some(items) => open.push(items),
                None => return Err(unsupported("a schema in `items` for a list")),
            }
        }
    }
    edits.sort_unstable_by_key(|(range, _)| range.start);
    let (mut edited, mut copied) = (String::with_capacity(schema.len() + 20 * edits.len()), 0);
    for (range, text) in edits {
        edited.push_str(&schema[copied..range.start]);
        edited.push_str(text);
        copied = range.end;
    }
    edited.push_str(&schema[copied..]);
    Ok(edited)
}

/// Characters of the longest name that PyYAML reads without a `?` before it.
const LONGEST_NAME: usize = 1024;

/// Whether the names of a mapping are listed, and stand for themselves without quotes.
fn check_names(document: &Document, schema: NodeIndex) -> Result<(), String> {
    let closed = document.member(schema, "additionalProperties");
    let is_closed = closed.is_some_and(|value| document.content(value) == Content::Bool(false));
    let properties = document.member(schema, "properties");
    let names: Vec<&str> = properties.map_or_else(Vec::new, |listed| {
        document.members(listed).map(|(name, _)| name).collect()
    });
    if !is_closed || names.is_empty() {
        return Err("`properties` and `additionalProperties: false` for a mapping".to_owned());
    }
    for name in names {
        let mut bytes = name.bytes();
        let is_plain = name.len() <= LONGEST_NAME
            && bytes.next().is_some_and(|byte| is_of_name(byte, true))
            && bytes.all(|byte| is_of_name(byte, false))
            && !WORDS.contains(&name.to_ascii_lowercase().as_str());
        if !is_plain {
            return Err(format!("names that stand without quotes, unlike {name:?}"));
        }
    }
    Ok(())
}
