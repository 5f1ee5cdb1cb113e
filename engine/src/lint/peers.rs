//! Notes on keywords that OpenAI's strict mode, XGrammar and llguidance refuse, drop or ask for.

use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::json::{Content, Document, NodeIndex};
use crate::schema::Keyword;

/// Keywords that OpenAI's guide to structured outputs lists as not supported; and `oneOf`, which it does not list as
/// supported and the service refuses as "not permitted" (pull request 1884 of `openai/openai-agents-python`).
const OPENAI: [&str; 8] = [
    "allOf",
    "oneOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
];

/// The version that the crate `xgrammar` 0.6.0 has the sources of.
const XGRAMMAR_VERSION: &str = "XGrammar 0.2.8";

/// Keywords that XGrammar's converter of schemas warns of, if it is told to, and drops. It warns of `minContains` too, and
/// reads it as a `minItems`.
const XGRAMMAR: [&str; 9] = [
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "uniqueItems",
    "contains",
    "maxContains",
];

/// Keywords that assert something, or hold schemas that do, and that llguidance does not have among those it implements.
const LLGUIDANCE: [&str; 16] = [
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
];

/// OpenAI's guide, which has no version, as public copies of August 2026 have it
/// (<https://developers.openai.com/api/docs/guides/structured-outputs>).
const OPENAI_GUIDE: &str = "guide to structured outputs, August 2026";

/// The verdict on each list of keywords, its source, and the list.
const SOURCES: [(&str, &str, &[&str]); 3] = [
    ("OpenAI's strict mode refuses", OPENAI_GUIDE, &OPENAI),
    ("XGrammar drops", XGRAMMAR_VERSION, &XGRAMMAR),
    ("llguidance refuses", "llguidance 1.9.1", &LLGUIDANCE),
];

/// Notes how other software reads a schema.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    if place.is_hidden() {
        return;
    }
    for (verdict, source, keywords) in SOURCES {
        let found: Vec<String> = keywords
            .iter()
            .filter(|name| place.has(name))
            .map(|name| format!("`{name}`"))
            .collect();
        if !found.is_empty() {
            report.warn(
                WarningKind::Peers,
                place,
                format!("{verdict} {} ({source})", found.join(", ")),
            );
        }
    }
    if place.has("oneOf") {
        let message = "llguidance refuses a `oneOf` whose branches it cannot see to exclude each other (llguidance 1.9.1): `anyOf` is safe";
        report.warn_of(WarningKind::Peers, place, "oneOf", message);
    }
    beside_branches(report, place);
    strict_objects(report, place);
}

/// XGrammar reads one of these keywords, the first, and nothing beside it.
fn beside_branches(report: &mut Report<'_>, place: &Place<'_>) {
    let Some(read) = ["$ref", "const", "enum", "anyOf", "oneOf", "allOf"]
        .into_iter()
        .find(|name| place.has(name))
    else {
        return;
    };
    let is_dropped = |name: &str| {
        let keyword = place.keyword(name);
        let is_read = name == read
            || matches!(
                keyword,
                None | Some(Keyword::Definitions | Keyword::Id | Keyword::Schema | Keyword::Anchor)
            );
        // A type beside values repeats them.
        let is_repeated = name == "type" && matches!(read, "const" | "enum");
        !(is_read || is_repeated || XGRAMMAR.contains(&name))
    };
    let dropped: Vec<String> = place
        .members()
        .filter(|(name, _)| is_dropped(name))
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    if !dropped.is_empty() {
        let message = format!(
            "XGrammar reads `{read}` and drops {} beside it ({XGRAMMAR_VERSION})",
            dropped.join(", ")
        );
        report.warn_of(WarningKind::Peers, place, read, message);
    }
}

/// OpenAI's strict mode wants every object closed and every member required, and an object at the root.
fn strict_objects(report: &mut Report<'_>, place: &Place<'_>) {
    let json = place.json;
    let is_object = place.value("type").is_some_and(|at| json.string(at) == Some("object"));
    if place.is_root() && !is_object {
        let message = format!("OpenAI's strict mode wants \"type\": \"object\" at the root ({OPENAI_GUIDE})");
        report.warn(WarningKind::Peers, place, message);
    }
    if !is_object && !place.has("properties") {
        return;
    }
    let is_closed = place
        .value("additionalProperties")
        .is_some_and(|at| json.content(at) == Content::Bool(false));
    let optional = place
        .value("properties")
        .and_then(|properties| first_optional(json, properties, place.value("required")));
    let mut wants = Vec::new();
    if !is_closed {
        wants.push("\"additionalProperties\": false".to_owned());
    }
    if let Some(name) = optional {
        wants.push(format!(
            "every member in `required`, and `{name}` is not: let it be null instead"
        ));
    }
    if !wants.is_empty() {
        let message = format!("OpenAI's strict mode wants {} ({OPENAI_GUIDE})", wants.join(", and "));
        report.warn(WarningKind::Peers, place, message);
    }
}

/// The first of the members in `properties` that `required` does not list.
fn first_optional(json: &Document, properties: NodeIndex, required: Option<NodeIndex>) -> Option<&str> {
    let listed = required
        .into_iter()
        .flat_map(|at| json.items(at))
        .filter_map(|item| json.string(item));
    let listed: hashbrown::HashSet<&str> = listed.collect();
    json.members(properties)
        .map(|(name, _)| name)
        .find(|name| !listed.contains(name))
}
