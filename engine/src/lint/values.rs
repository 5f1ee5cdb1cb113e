//! Warnings about values that `type` excludes, and formats that assert nothing.

use super::ineffective::listed_types;
use super::keyword_suggestion;
use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::decimal::Decimal;
use crate::json::{Content, Document, NodeIndex};

/// Bytes of the names that are compared with those of formats.
const LONGEST_SLIP: usize = 24;

/// Maximal number of values of one `enum` that are checked.
const MAX_VALUES: usize = 10_000;

/// The formats of the drafts.
const FORMATS: [&str; 22] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    // Those of earlier drafts that are no longer defined say what they say to people.
    "color",
    "phone",
    "style",
];

/// Names that people write for a format.
const SYNONYMS: [(&str, &str); 15] = [
    ("datetime", "date-time"),
    ("date_time", "date-time"),
    ("dateTime", "date-time"),
    ("timestamp", "date-time"),
    ("iso8601", "date-time"),
    ("url", "uri"),
    ("URL", "uri"),
    ("URI", "uri"),
    ("ip-address", "ipv4"),
    ("ip", "ipv4"),
    ("host-name", "hostname"),
    ("guid", "uuid"),
    ("UUID", "uuid"),
    ("e-mail", "email"),
    ("mail", "email"),
];

/// Warns of values that `type` excludes and of formats that no draft defines.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    if place.is_hidden() {
        return;
    }
    excluded_values(report, place);
    format(report, place);
}

fn excluded_values(report: &mut Report<'_>, place: &Place<'_>) {
    let Some(mut types) = listed_types(place) else {
        return;
    };
    let json = place.json;
    if place.has("nullable")
        && place
            .value("nullable")
            .is_some_and(|value| json.content(value) == Content::Bool(true))
    {
        types.push("null");
    }
    let excluded = |value| !types.iter().any(|name| is_of_type(json, value, name));
    let listed = types.join(", ");
    if let Some(value) = place
        .value("const")
        .filter(|value| place.has("const") && excluded(*value))
    {
        let message = format!(
            "the value is {}, which `type` ({listed}) excludes, so that nothing is valid",
            json.content(value).describe()
        );
        report.warn_of(WarningKind::ExcludedValue, place, "const", message);
    }
    let Some(values) = place.value("enum").filter(|_| place.has("enum")) else {
        return;
    };
    for (position, value) in json.items(values).enumerate().take(MAX_VALUES) {
        if excluded(value) {
            let what = json.content(value).describe();
            let message = format!(
                "this value is {what}, which `type` ({listed}) excludes, so that it is never valid: list its type, or take it out"
            );
            report.warn_within(
                WarningKind::ExcludedValue,
                place,
                "enum",
                &position.to_string(),
                message,
            );
            return;
        }
    }
}

fn is_of_type(json: &Document, value: NodeIndex, name: &str) -> bool {
    match json.content(value) {
        Content::Null => name == "null",
        Content::Bool(_) => name == "boolean",
        Content::String(_) => name == "string",
        Content::Array(_) => name == "array",
        Content::Object(_) => name == "object",
        Content::Number(text) => {
            // Enumerations compare by value, so that the integer 1 is meant where draft 4 does not take 1.0 for one.
            let is_integral = || Decimal::parse(text.as_bytes()).is_ok_and(|number| number.is_integer());
            name == "number" || name == "integer" && is_integral()
        }
    }
}

/// The format that a name is a slip of the pen away from.
fn nearest_format(name: &str) -> Option<&'static str> {
    // One letter makes another word of a short one: `ulid`, `cuid`, `mime`, `rate`.
    let most = match name.len() {
        0..=4 => 0,
        5..=7 => 1,
        _ => 2,
    };
    let distance = |format: &&str| keyword_suggestion::distance(name.as_bytes(), format.as_bytes());
    let formats = FORMATS.iter().copied().filter(|_| name.len() <= LONGEST_SLIP);
    formats.min_by_key(distance).filter(|format| distance(format) <= most)
}

fn format(report: &mut Report<'_>, place: &Place<'_>) {
    let Some(name) = place
        .value("format")
        .filter(|_| place.has("format"))
        .and_then(|value| place.json.string(value))
    else {
        return;
    };
    if FORMATS.contains(&name) {
        let listed = listed_types(place);
        if listed.is_some_and(|types| !types.contains(&"string")) {
            let message =
                format!("`{name}` is a format of strings, which `type` excludes: take it out, or change `type`");
            report.warn_of(WarningKind::OtherType, place, "format", message);
        }
        return;
    }
    let synonym = SYNONYMS
        .iter()
        .find(|(written, _)| *written == name)
        .map(|(_, meant)| *meant);
    let is_known_elsewhere = super::open_api::is_format(name);
    if let Some(meant) = synonym.or_else(|| nearest_format(name).filter(|_| !is_known_elsewhere)) {
        let message =
            format!("no draft defines the format `{name}`, so that it asserts nothing: did you mean `{meant}`?");
        report.warn_of(WarningKind::UnknownFormat, place, "format", message);
    } else if !is_known_elsewhere {
        let is_text = listed_types(place).is_none_or(|types| types.contains(&"string"));
        let instead = if is_text {
            "say it with a `pattern`"
        } else {
            "say it with bounds"
        };
        let message = format!("no draft defines the format `{name}`, so that it asserts nothing: {instead}");
        report.warn_of(WarningKind::UnknownFormat, place, "format", message);
    }
}
