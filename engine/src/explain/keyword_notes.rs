//! Keyword locations of candidates in the schema, and the short notes on each that messages show: "`adress` is not declared".

use super::blamed::{Blame, Union};
use super::direct_checks::{JudgedText, member_names, missing};
use super::keyword_part::KeywordPart;
use super::messages::{Conflict, KeywordLocation, OtherBranches, quoted};
use super::removable_keywords::Relaxable;
use crate::schema::{Body, NodeId};

/// Most bytes of a keyword's value that is shown.
const MAX_SHOWN: usize = 80;
/// Most names that are shown as missing.
const MAX_NAMES: usize = 3;

/// Candidates as a conflict of keywords.
pub(super) fn conflict(relaxable: &Relaxable, kept: &[usize], minimal: bool) -> Conflict {
    let mut keywords: Vec<KeywordLocation> = kept.iter().flat_map(|&kept| locations(relaxable, kept)).collect();
    keywords.sort();
    keywords.dedup();
    Conflict {
        keywords,
        minimal,
        notes: Vec::new(),
    }
}

/// The locations of a candidate.
pub(super) fn locations(relaxable: &Relaxable, candidate: usize) -> Vec<KeywordLocation> {
    let locations = relaxable.locations(candidate).into_iter();
    let locations = locations.map(|(document, pointer)| KeywordLocation {
        document: document.map(str::to_owned),
        pointer,
    });
    locations.collect()
}

/// Returns notes on keywords that leave no value: patterns, and required names that are declared nowhere.
pub(super) fn notes_on_values(relaxable: &Relaxable, kept: &[usize]) -> Vec<(KeywordLocation, String)> {
    let note = |&candidate: &usize| {
        let (node, part) = relaxable.candidate(candidate);
        let location = locations(relaxable, candidate).pop()?;
        let note = match part {
            KeywordPart::Pattern => value_of(relaxable, candidate, &location)?,
            KeywordPart::Required => {
                let keywords = relaxable.whole(node)?;
                let is_declared = |name: &String| keywords.properties.iter().any(|(declared, _)| declared == name);
                let undeclared = keywords.required.iter().filter(|name| !is_declared(name));
                let names = names(undeclared)?;
                let verb = if keywords.properties.is_empty() {
                    "asks for"
                } else {
                    "asks for the undeclared"
                };
                format!("{verb} {names}")
            }
            _ => return None,
        };
        Some((location, note))
    };
    kept.iter().filter_map(note).collect()
}

/// Returns notes on the leading keywords of a blame: their demand, or the thing that they miss.
pub(super) fn notes_on_text(
    relaxable: &Relaxable,
    blame: &Blame,
    (text, whole_text): &(JudgedText<'_>, JudgedText<'_>),
) -> Vec<(KeywordLocation, String)> {
    let value = text.value(blame.value);
    let present = member_names(value);
    let mut notes = Vec::new();
    for &candidate in &blame.leading {
        let (node, part) = relaxable.candidate(candidate);
        for location in locations(relaxable, candidate) {
            let has_all = blame.is_simple || !value.is_open;
            let required = match (part, relaxable.whole(node)) {
                (KeywordPart::Required, Some(keywords)) if has_all => names(missing(&present, &keywords.required)),
                (KeywordPart::DependentRequired, Some(keywords)) if has_all => {
                    let has = |name: &String| present.contains(name.as_str());
                    let dependent = keywords.dependent_required.iter().filter(|(name, _)| has(name));
                    names(dependent.flat_map(|(_, others)| missing(&present, others)))
                }
                _ => None,
            };
            let note = match (part, required) {
                (_, Some(names)) => Some(format!("{names} is missing")),
                (KeywordPart::Ref { .. } | KeywordPart::If(_) | KeywordPart::Not | KeywordPart::OneOf, _) => None,
                (KeywordPart::Required | KeywordPart::DependentRequired | KeywordPart::Contains, _) => None,
                (KeywordPart::False, _) => {
                    let is_of_names = location.pointer.ends_with("/additionalProperties");
                    // Behind a comma it is the member that is still to come.
                    let known = value.children.len();
                    let last = match value.least_children > known {
                        true => Some(known),
                        false => known.checked_sub(1),
                    };
                    let last = last.filter(|_| is_of_names);
                    let member = last.and_then(|last| whole_text.value(blame.value).children.get(last));
                    let is_undeclared = |name: &str| blame.is_simple || is_undeclared(relaxable, node, name);
                    let member = member.filter(|member| member.is_named && is_undeclared(&member.name));
                    member.map(|member| format!("{} is not declared", quoted(&member.name)))
                }
                _ => value_of(relaxable, candidate, &location),
            };
            notes.extend(note.map(|note| (location, note)));
        }
    }
    notes
}

/// Whether the subschema whose `additionalProperties` is this one does not declare a name.
fn is_undeclared(relaxable: &Relaxable, additional: NodeId, name: &str) -> bool {
    let set = relaxable.set().0;
    let mut around = set
        .nodes()
        .filter_map(|(node, around)| match (relaxable.whole(node), &around.body) {
            (Some(whole), _) => Some(whole),
            (None, Body::Keywords(keywords)) => Some(keywords),
            (None, Body::Anything | Body::Nothing) => None,
        });
    let around = around.find(|keywords| keywords.additional_properties == Some(additional));
    around.is_some_and(|keywords| keywords.properties.iter().all(|(declared, _)| declared != name))
}

/// The unions on the way to the leading keywords of a blame.
pub(super) fn other_branches(relaxable: &Relaxable, blame: &Blame) -> Vec<OtherBranches> {
    let of_union = |union: &Union| {
        let (set, _) = relaxable.set();
        let location = set.node(union.branch).location;
        let (pointer, document) = (set.pointer(location), set.uri(location).map(str::to_owned));
        let pointer = pointer.rsplit_once('/')?.0.to_owned();
        let keyword = KeywordLocation { document, pointer };
        Some(OtherBranches {
            keyword,
            count: union.others,
        })
    };
    blame.unions.iter().filter_map(of_union).collect()
}

/// The value of a keyword, where it is short: of a pattern its text, or the beginning of that.
fn value_of(relaxable: &Relaxable, candidate: usize, location: &KeywordLocation) -> Option<String> {
    let (set, _) = relaxable.set();
    let (node, part) = relaxable.candidate(candidate);
    if part == KeywordPart::Pattern {
        let pattern = relaxable.whole(node)?.pattern.as_deref()?;
        let shown = match pattern.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("`{}…`", &pattern[..end]),
            None => format!("`{pattern}`"),
        };
        let is_plain = !pattern
            .chars()
            .any(|character| character.is_control() || character == '`');
        return Some(if is_plain { shown } else { quoted(pattern) });
    }
    let at = set.node(node).location;
    let keyword = location.pointer.strip_prefix(&set.pointer(at))?.strip_prefix('/')?;
    let (document, place) = set.json(at);
    document.compact(document.member(place, keyword)?, MAX_SHOWN)
}

/// Some names in a few words; none of no names.
fn names<'n>(names: impl Iterator<Item = &'n String>) -> Option<String> {
    let names: Vec<String> = names.map(|name| quoted(name)).collect();
    match names.len() {
        0 => None,
        1..=MAX_NAMES => Some(names.join(", ")),
        many => Some(format!(
            "{} and {} others",
            names[..MAX_NAMES].join(", "),
            many - MAX_NAMES
        )),
    }
}
