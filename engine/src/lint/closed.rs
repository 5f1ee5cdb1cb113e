//! Warnings about closed objects that exclude members of which their schema speaks.

use super::places::{Place, Places};
use super::report::Report;
use super::warning::WarningKind;
use crate::json::{Content, NodeIndex};

/// Maximal number of branches of one schema, and of names in each, that are checked.
const MAX_BRANCHES: usize = 100;

/// Warns of `additionalProperties: false` where it forbids members that keywords beside it ask for.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    between_branches(report, place);
    let is_false = |at| place.json.content(at) == Content::Bool(false);
    if place.is_hidden()
        || !place.has("additionalProperties")
        || !place.value("additionalProperties").is_some_and(is_false)
    {
        return;
    }
    let has_members = |name: &str| {
        place
            .value(name)
            .is_some_and(|at| matches!(place.json.content(at), Content::Object(1..)))
    };
    if has_members("patternProperties") {
        return;
    }
    if place.has("propertyNames") && !has_members("properties") {
        let message = "without `properties` and `patternProperties` no member is allowed, so that only `{}` is valid and \
                       `propertyNames` says nothing: write the members' schema in place of `false`";
        report.warn_of(WarningKind::OnlyEmptyObject, place, "additionalProperties", message);
        return;
    }
    if let Some((branch, name)) = forbidden_member(report.places, place) {
        let later = match place.keyword("unevaluatedProperties") {
            Some(_) => "`unevaluatedProperties: false` sees into branches",
            None => "from draft 2019-09 on `unevaluatedProperties: false` sees into branches",
        };
        let message = format!(
            "it knows the `properties` beside it only, and so forbids `{name}`, which `{branch}` declares: {later}, or repeat the names here"
        );
        report.warn_of(WarningKind::ClosedAgainstBranch, place, "additionalProperties", message);
    }
}

/// Warns of branches of `allOf` that are closed against members that another one declares, or the schema around them.
fn between_branches(report: &mut Report<'_>, place: &Place<'_>) {
    let json = place.json;
    let Some(all) = place
        .value("allOf")
        .filter(|_| place.has("allOf") && !place.is_hidden())
    else {
        return;
    };
    let branches: Vec<(usize, NodeIndex)> = json
        .items(all)
        .take(MAX_BRANCHES)
        .enumerate()
        .filter_map(|(at, branch)| Some((at, followed(report.places, place, branch)?)))
        .collect();
    let is_closed = |branch: NodeIndex| {
        let is_false =
            json.member(branch, "additionalProperties").map(|at| json.content(at)) == Some(Content::Bool(false));
        is_false
            && !matches!(
                json.member(branch, "patternProperties").map(|at| json.content(at)),
                Some(Content::Object(1..))
            )
    };
    for &(at, branch) in branches.iter().filter(|(_, branch)| is_closed(*branch)) {
        let own = json.member(branch, "properties");
        let around = place
            .value("properties")
            .map(|properties| ("the schema around it".to_owned(), properties));
        let beside = branches
            .iter()
            .filter(|(other, _)| *other != at)
            .filter_map(|(other, branch)| Some((format!("branch {other}"), json.member(*branch, "properties")?)));
        let mut forbidden = None;
        for (whose, properties) in around.into_iter().chain(beside) {
            let names: Vec<_> = json.members(properties).take(MAX_BRANCHES).collect();
            if !report.may_compare(names.len()) {
                return;
            }
            let is_forbidden = |(name, schema): &&(&str, NodeIndex)| {
                own.and_then(|own| json.member(own, name)).is_none() && json.content(*schema) != Content::Bool(false)
            };
            if let Some((name, _)) = names.iter().find(is_forbidden) {
                forbidden = Some((*name, whose));
                break;
            }
        }
        if let Some((name, whose)) = forbidden {
            let message = format!(
                "its `additionalProperties: false` forbids `{name}`, which {whose} declares: leave it out here, and close the whole by \
                 `unevaluatedProperties: false` (from draft 2019-09 on)"
            );
            report.warn_within(
                WarningKind::ClosedAgainstBranch,
                place,
                "allOf",
                &at.to_string(),
                message,
            );
        }
    }
}

/// A member that a branch beside declares and that is not among the properties here, with the branch's keyword.
fn forbidden_member<'d>(places: &Places<'_>, place: &Place<'d>) -> Option<(&'static str, &'d str)> {
    let json = place.json;
    for keyword in ["$ref", "allOf", "anyOf", "oneOf"] {
        let Some(value) = place.value(keyword).filter(|_| place.keyword(keyword).is_some()) else {
            continue;
        };
        let branches: Vec<NodeIndex> = match keyword {
            "$ref" => {
                let target = json
                    .string(value)
                    .and_then(|reference| places.target(place.number, reference));
                target.into_iter().collect()
            }
            _ => json
                .items(value)
                .take(MAX_BRANCHES)
                .filter_map(|branch| followed(places, place, branch))
                .collect(),
        };
        for branch in branches {
            let Some(properties) = json.member(branch, "properties") else {
                continue;
            };
            for (name, schema) in json.members(properties).take(MAX_BRANCHES) {
                let own = place.value("properties").and_then(|own| json.member(own, name));
                if own.is_none() && json.content(schema) != Content::Bool(false) {
                    return Some((keyword, name));
                }
            }
        }
    }
    None
}

/// Returns a branch of a place, or the schema to which it refers where it is a reference.
pub(super) fn followed(places: &Places<'_>, place: &Place<'_>, branch: NodeIndex) -> Option<NodeIndex> {
    match place.json.member(branch, "$ref") {
        Some(reference) => places.target(place.number, place.json.string(reference)?),
        None => Some(branch),
    }
}
