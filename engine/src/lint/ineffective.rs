//! Warnings about keywords that have no effect at their position.

use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::json::{Content, Document, NodeIndex};
use crate::schema::{Draft, Keyword};

/// Warns of keywords without effect.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    if place.is_hidden() {
        beside_ref(report, place);
        return;
    }
    other_types(report, place);
    companions(report, place);
}

fn beside_ref(report: &mut Report<'_>, place: &Place<'_>) {
    // A type beside a reference repeats what the reference says, nearly always.
    let is_hidden = |name: &str| place.asserts(name) && !matches!(name, "$ref" | "type");
    let hidden = place.members().filter(|(name, _)| is_hidden(name));
    let hidden: Vec<String> = hidden.map(|(name, _)| format!("`{name}`")).collect();
    if !hidden.is_empty() {
        let message = format!(
            "up to draft 7, and in OpenAPI 3.0, `$ref` hides what stands beside it, here {}: put both into `allOf`, or name a later draft in `$schema`",
            hidden.join(", ")
        );
        report.warn_of(WarningKind::BesideRef, place, "$ref", message);
    }
}

/// The types whose values a keyword speaks of; none for keywords on all values.
fn types_of(keyword: Keyword) -> Option<&'static [&'static str]> {
    use Keyword as K;
    Some(match keyword {
        K::Minimum | K::Maximum | K::ExclusiveMinimum | K::ExclusiveMaximum | K::MultipleOf => &["number", "integer"],
        K::MinLength | K::MaxLength | K::Pattern => &["string"],
        K::PrefixItems
        | K::Items
        | K::AdditionalItems
        | K::Contains
        | K::MinContains
        | K::MaxContains
        | K::MinItems
        | K::MaxItems
        | K::UniqueItems
        | K::UnevaluatedItems => &["array"],
        K::Properties
        | K::PatternProperties
        | K::AdditionalProperties
        | K::PropertyNames
        | K::Required
        | K::MinProperties
        | K::MaxProperties
        | K::Dependencies
        | K::DependentRequired
        | K::DependentSchemas
        | K::UnevaluatedProperties => &["object"],
        _ => return None,
    })
}

/// Returns the names that `type` lists; none where its value is no string and no short array of strings.
pub(super) fn listed_types<'d>(place: &Place<'d>) -> Option<Vec<&'d str>> {
    let json = place.json;
    let value = json.member(place.index, "type").filter(|_| place.has("type"))?;
    match json.content(value) {
        Content::String(name) => Some(vec![name]),
        Content::Array(1..=16) => json.items(value).map(|item| json.string(item)).collect(),
        _ => None,
    }
}

fn other_types(report: &mut Report<'_>, place: &Place<'_>) {
    let Some(listed) = listed_types(place) else {
        return;
    };
    for (name, value) in place.members() {
        let Some(types) = place.keyword(name).and_then(types_of) else {
            continue;
        };
        if types.iter().any(|of| listed.contains(of)) || asserts_nothing(place.json, name, value) {
            continue;
        }
        let message = format!(
            "`{name}` speaks of {}s, which `type` excludes: take it out, or change `type`",
            types[0]
        );
        report.warn_of(WarningKind::OtherType, place, name, message);
    }
}

/// Whether a keyword's value asserts nothing, so that writers of schemas leave it anywhere.
fn asserts_nothing(json: &Document, name: &str, value: NodeIndex) -> bool {
    match json.content(value) {
        Content::Array(0) | Content::Object(0) => true,
        Content::Bool(value) => value == (name != "uniqueItems"),
        _ => false,
    }
}

fn companions(report: &mut Report<'_>, place: &Place<'_>) {
    let has = |name: &str| place.has(name);
    let items_is_array = place
        .value("items")
        .is_some_and(|items| matches!(place.json.content(items), Content::Array(_)));
    let is_draft_4 = place.dialect.draft == Draft::Draft4;
    let is_true = |name: &str| {
        place
            .value(name)
            .is_some_and(|value| place.json.content(value) == Content::Bool(true))
    };
    let without = [
        ("then", "if", has("then") && !has("if")),
        ("else", "if", has("else") && !has("if")),
        ("minContains", "contains", has("minContains") && !has("contains")),
        ("maxContains", "contains", has("maxContains") && !has("contains")),
        (
            "exclusiveMinimum",
            "minimum",
            is_draft_4 && is_true("exclusiveMinimum") && !has("minimum"),
        ),
        (
            "exclusiveMaximum",
            "maximum",
            is_draft_4 && is_true("exclusiveMaximum") && !has("maximum"),
        ),
    ];
    for (name, companion, is_alone) in without {
        if is_alone {
            let message = format!("`{name}` says nothing without `{companion}` beside it");
            report.warn_of(WarningKind::Companion, place, name, message);
        }
    }
    let says_something = |name: &str| {
        place
            .value(name)
            .is_some_and(|value| !asserts_nothing(place.json, name, value))
    };
    // Beside `items` for all items there is none to forbid.
    let forbids_none = has("items")
        && place
            .value("additionalItems")
            .is_some_and(|value| place.json.content(value) == Content::Bool(false));
    if has("additionalItems") && !items_is_array && !forbids_none && says_something("additionalItems") {
        let message =
            "`additionalItems` says nothing without an `items` that is an array: `items` alone speaks of all items";
        report.warn_of(WarningKind::Companion, place, "additionalItems", message);
    }
    if has("if") && !has("then") && !has("else") {
        let message = "`if` asserts nothing without `then` or `else` beside it";
        report.warn_of(WarningKind::Companion, place, "if", message);
    }
}
