//! Branches of `oneOf` that exclude each other's values, and discriminators that decide nothing.

use super::closed::followed;
use super::places::{Place, Places};
use super::report::Report;
use super::warning::WarningKind;
use crate::json::NodeIndex;

/// Maximal number of branches of one schema that are checked.
const MAX_BRANCHES: usize = 100;

/// Warns of branches of one schema that do not tell values apart.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    if place.is_hidden() {
        return;
    }
    overlap(report, place);
    discriminator(report, place);
}

/// Warns of a branch of `oneOf` whose values are all of an earlier branch, so that none of them is valid.
fn overlap(report: &mut Report<'_>, place: &Place<'_>) {
    let Some(branches) = place.value("oneOf").filter(|_| place.has("oneOf")) else {
        return;
    };
    let mut seen: Vec<&str> = Vec::new();
    for (position, branch) in place.json.items(branches).enumerate().take(MAX_BRANCHES) {
        let Some(name) = only_type(place, branch) else { continue };
        let is_number = |name: &str| matches!(name, "number" | "integer");
        let overlaps = |other: &&str| *other == name || is_number(other) && is_number(name);
        if seen.iter().any(overlaps) {
            let shared = if is_number(name) { "integer" } else { name };
            let message = format!(
                "every value of type {shared} is valid under an earlier branch too, so that `oneOf` allows none of them: write `anyOf`"
            );
            report.warn_within(
                WarningKind::OverlappingBranches,
                place,
                "oneOf",
                &position.to_string(),
                message,
            );
            return;
        }
        seen.push(name);
    }
}

/// The type that a branch asserts, and nothing beside it.
fn only_type<'d>(place: &Place<'d>, branch: NodeIndex) -> Option<&'d str> {
    let json = place.json;
    let is_alone = json
        .members(branch)
        .all(|(name, _)| name == "type" || place.keyword(name).is_none());
    json.member(branch, "type")
        .filter(|_| is_alone)
        .and_then(|at| json.string(at))
}

/// Warns of a discriminator some branch of which may have any value of its property.
fn discriminator(report: &mut Report<'_>, place: &Place<'_>) {
    let json = place.json;
    let name = place
        .value("discriminator")
        .and_then(|at| json.member(at, "propertyName"));
    let Some(name) = name.and_then(|at| json.string(at)) else {
        return;
    };
    for keyword in ["oneOf", "anyOf"] {
        let Some(branches) = place.value(keyword).filter(|_| place.has(keyword)) else {
            continue;
        };
        for (position, branch) in json.items(branches).enumerate().take(MAX_BRANCHES) {
            if !followed(report.places, place, branch)
                .is_none_or(|branch| restricts(report.places, place, branch, name))
            {
                let message = format!(
                    "it is a hint and asserts nothing, and branch {position} of `{keyword}` does not say by `const` or `enum` which `{name}` it is for, \
                     so that any may be written: say it in each branch"
                );
                report.warn_of(WarningKind::OpenApi, place, "discriminator", message);
                return;
            }
        }
    }
}

/// Whether a branch, or a part of its `allOf`, says which values a member may have.
fn restricts(places: &Places<'_>, place: &Place<'_>, branch: NodeIndex, name: &str) -> bool {
    let json = place.json;
    let says = |schema: NodeIndex| {
        let member = json
            .member(schema, "properties")
            .and_then(|properties| json.member(properties, name));
        let member = member.and_then(|member| followed(places, place, member));
        member.is_some_and(|member| {
            ["const", "enum"]
                .iter()
                .any(|keyword| json.member(member, keyword).is_some())
        })
    };
    let parts = json
        .member(branch, "allOf")
        .into_iter()
        .flat_map(|all| json.items(all))
        .take(MAX_BRANCHES);
    says(branch) || parts.filter_map(|part| followed(places, place, part)).any(says)
}
