//! Warnings about keywords that the dialect lacks: misspelt, misplaced, or of another draft.

use super::keyword_suggestion;
use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::json::{Content, Document, NodeIndex};
use crate::schema::{Dialect, Draft, Keyword};

/// Warns of keywords that the dialect of a schema does not have.
pub(super) fn check<'d>(report: &mut Report<'d>, place: &Place<'d>) {
    if place.has_own_keywords {
        return;
    }
    let is_tool = super::root::is_wrapper(place);
    for (name, value) in place.members() {
        if report.is_full() {
            return;
        }
        if place.keyword(name).is_some() || keyword_suggestion::is_annotation(name) || is_tool {
            continue;
        }
        if let Some(drafts) = drafts_with(name) {
            other_draft(report, place, name, drafts);
        } else if report.places.is_referenced(value) {
            // References find it there, whatever it is called.
        } else if let Some(meant) = meant(report, place, name, value) {
            let message =
                format!("no draft has the keyword `{name}`, so that it asserts nothing: did you mean `{meant}`?");
            report.warn_of(WarningKind::MisspeltKeyword, place, name, message);
        } else if is_like_schema(place.json, value) {
            let message = format!(
                "`{name}` is no keyword, so that the schema in it is for nothing: a member of that name belongs into `properties`"
            );
            report.warn_of(WarningKind::MisplacedSchema, place, name, message);
        }
    }
    if let Some(properties) = place.value("properties").filter(|_| place.has("properties")) {
        misplaced_keywords(report, place, properties);
    }
}

fn meant<'d>(report: &mut Report<'d>, place: &Place<'d>, name: &'d str, value: NodeIndex) -> Option<&'static str> {
    let bound = matches!(place.json.content(value), Content::Number(_))
        .then(|| keyword_suggestion::of_bound(name, place.json, place.value("type")))
        .flatten();
    bound.or_else(|| report.suggestion(name, value))
}

/// The first and the last draft that have a keyword; none if no draft has it.
fn drafts_with(name: &str) -> Option<(Draft, Draft)> {
    let drafts = [
        Draft::Draft4,
        Draft::Draft6,
        Draft::Draft7,
        Draft::Draft201909,
        Draft::Draft202012,
    ];
    let mut knowing = drafts
        .into_iter()
        .filter(|draft| Keyword::lookup(name, Dialect::of_draft(*draft)).is_some());
    let first = knowing.next()?;
    Some((first, knowing.next_back().unwrap_or(first)))
}

fn other_draft(report: &mut Report<'_>, place: &Place<'_>, name: &str, (first, last): (Draft, Draft)) {
    let draft = place.dialect.draft;
    // Definitions are found by references, whatever holds them.
    if matches!(name, "$defs" | "definitions" | "$anchor" | "contentSchema") {
        return;
    }
    let here = place.dialect.name();
    let instead = match name {
        "dependencies" => "; `dependentRequired` and `dependentSchemas` have taken its place",
        "additionalItems" => "; `items` beside `prefixItems` has taken its place",
        "$recursiveRef" | "$recursiveAnchor" => "; `$dynamicRef` and `$dynamicAnchor` have taken its place",
        _ => "",
    };
    let message = match draft < first {
        true => {
            format!("{here} does not have `{name}`, so that it asserts nothing: name {first} or later in `$schema`")
        }
        false => format!(
            "{here} no longer has `{name}`, so that it asserts nothing: name {last} or earlier in `$schema`{instead}"
        ),
    };
    report.warn_of(WarningKind::OtherDraft, place, name, message);
}

/// Whether a value is an object that only a schema would be: with a type by name, or with subschemas.
fn is_like_schema(json: &Document, value: NodeIndex) -> bool {
    if !json.is_object(value) {
        return false;
    }
    let has_type = json.member(value, "type").is_some_and(|types| {
        keyword_suggestion::is_type(json, types)
            || matches!(json.content(types), Content::Array(1..))
                && json.items(types).all(|item| keyword_suggestion::is_type(json, item))
    });
    let has_reference = || {
        json.member(value, "$ref")
            .is_some_and(|reference| json.string(reference).is_some())
    };
    let has_branches = || {
        let branches = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find_map(|name| json.member(value, name));
        branches.is_some_and(|branches| matches!(json.content(branches), Content::Array(1..)))
    };
    has_type || has_reference() || has_branches()
}

/// Warns of keywords with booleans among the names of `properties`: a member of such a name that nothing or everything fits.
fn misplaced_keywords(report: &mut Report<'_>, place: &Place<'_>, properties: NodeIndex) {
    for name in [
        "additionalProperties",
        "unevaluatedProperties",
        "additionalItems",
        "uniqueItems",
    ] {
        let Some(value) = place.json.member(properties, name) else {
            continue;
        };
        if matches!(place.json.content(value), Content::Bool(_)) {
            let message = format!("this is a member called `{name}`, not the keyword: move it out of `properties`");
            report.warn_within(WarningKind::MisplacedKeyword, place, "properties", name, message);
        }
    }
}
