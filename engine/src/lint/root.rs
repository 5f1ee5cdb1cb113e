//! Warnings about the root: documents of which only a part is the schema, and roots that admit more than objects.

use super::keyword_suggestion;
use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::json::Content;

/// Warns of a root that is probably not the schema that was meant.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    if !place.is_root() {
        return;
    }
    if let Some((what, part)) = wrapped(place) {
        let message =
            format!("this is {what}, and its schema is under `{part}`: hand over that part, by `root` as `#/{part}`");
        report.warn(WarningKind::ToolDefinition, place, message);
        return;
    }
    if place.members().any(|(name, _)| place.asserts(name)) {
        untyped(report, place);
        return;
    }
    let has_members = |name: &str| {
        place
            .value(name)
            .is_some_and(|at| matches!(place.json.content(at), Content::Object(1..)))
    };
    let is_text = |name: &str| place.value(name).is_some_and(|at| place.json.string(at).is_some());
    if is_text("openapi") || is_text("swagger") {
        let message = "this is a whole OpenAPI document, in which everything is valid: name the schema by `root`, such as `#/components/schemas/Order`";
        report.warn(WarningKind::OnlyDefinitions, place, message);
    } else if let Some(name) = ["$defs", "definitions"].into_iter().find(|name| has_members(name)) {
        let first = place
            .value(name)
            .and_then(|at| place.json.members(at).next())
            .map_or("", |(first, _)| first);
        let message = format!(
            "there is nothing but `{name}`, so that everything is valid: add a `$ref` to the one that is meant, or name it by `root`, such as `#/{name}/{first}`"
        );
        report.warn(WarningKind::OnlyDefinitions, place, message);
    } else if place
        .members()
        .any(|(name, _)| place.keyword(name).is_none() && !keyword_suggestion::is_annotation(name))
        && !place.has_own_keywords
    {
        let message = "none of its keywords asserts anything, so that every value is valid: the members of an object are listed in `properties`, \
                       as in {\"type\": \"object\", \"properties\": {…}}";
        report.warn(WarningKind::UntypedRoot, place, message);
    }
}

/// Whether a root is a definition around a schema.
pub(super) fn is_wrapper(place: &Place<'_>) -> bool {
    place.is_root() && wrapped(place).is_some()
}

/// The kind of definition that a root is, in words, and the pointer of the schema in it, without its first slash; none of
/// roots that are schemas themselves.
fn wrapped(place: &Place<'_>) -> Option<(&'static str, &'static str)> {
    let json = place.json;
    let text = |at, name| json.member(at, name).and_then(|value| json.string(value));
    let object = |at, name| json.member(at, name).filter(|value| json.is_object(*value));
    let root = place.index;
    if text(root, "type") == Some("function") {
        if object(root, "function").is_some() {
            return Some(("the definition of a tool", "function/parameters"));
        }
        return object(root, "parameters").map(|_| ("the definition of a tool", "parameters"));
    }
    if text(root, "type") == Some("json_schema") {
        if object(root, "json_schema").is_some() {
            return Some(("a response format", "json_schema/schema"));
        }
        return object(root, "schema").map(|_| ("a response format", "schema"));
    }
    text(root, "name")?;
    let says_nothing = [
        "type",
        "properties",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "items",
        "required",
    ]
    .iter()
    .all(|name| json.member(root, name).is_none());
    let part = ["parameters", "input_schema", "inputSchema"]
        .into_iter()
        .find(|name| object(root, name).is_some());
    match part {
        Some(part) if says_nothing => Some(("the definition of a tool", part)),
        _ if says_nothing && object(root, "schema").is_some() => Some(("a response format", "schema")),
        _ => None,
    }
}

/// Warns of a root that declares members and admits values without any.
fn untyped(report: &mut Report<'_>, place: &Place<'_>) {
    let has = |name: &str| place.has(name);
    let speaks_of_objects = has("properties") || has("required");
    let says_type = [
        "type",
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "enum",
        "const",
        "not",
        "if",
    ]
    .iter()
    .any(|name| has(name));
    if speaks_of_objects && !says_type && !place.is_hidden() {
        let message =
            "the root has no `type`, so that numbers, strings and arrays are valid too: add \"type\": \"object\"";
        report.warn(WarningKind::UntypedRoot, place, message);
    }
}
