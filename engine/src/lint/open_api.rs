//! Keywords and formats of OpenAPI.

use super::places::Place;
use super::report::Report;
use super::warning::WarningKind;
use crate::json::Content;
use crate::schema::OpenApi;

/// Formats that no draft defines and that assert nothing here: those of OpenAPI's registry, and some that generators of schemas
/// write. They are told apart from misspelt ones, and not warned of.
const FORMATS: [&str; 33] = [
    "int",
    "uint",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float",
    "double",
    "double-int",
    "decimal",
    "decimal128",
    "byte",
    "binary",
    "base64url",
    "password",
    "char",
    "commonmark",
    "html",
    "http-date",
    "date-time-local",
    "time-local",
    "media-range",
    "sf-binary",
    "sf-boolean",
    "sf-decimal",
    "sf-integer",
    "sf-string",
    "sf-token",
    // Draft 3's format of numbers.
    "utc-millisec",
];

/// Whether OpenAPI's registry has a format, or generators of schemas write it.
pub(super) fn is_format(name: &str) -> bool {
    FORMATS.contains(&name)
}

/// Warns of `nullable` where it does nothing.
pub(super) fn check(report: &mut Report<'_>, place: &Place<'_>) {
    let Some(value) = place.value("nullable") else { return };
    if place.json.content(value) != Content::Bool(true) || place.has_own_keywords {
        return;
    }
    let message = match place.dialect.open_api {
        Some(OpenApi::V30) => {
            let lists_null = |at| {
                place
                    .json
                    .items(at)
                    .any(|item| place.json.content(item) == Content::Null)
            };
            if place.is_hidden() || place.value("type").is_none() {
                "`nullable` adds null to the `type` beside it, and there is none: null stays as it is"
            } else if place.value("enum").is_some_and(|at| !lists_null(at)) {
                "`enum` does not list null, so that null is not valid all the same: add it"
            } else {
                return;
            }
        }
        _ if place.value("type").is_some_and(|types| {
            let mut names = place.json.items(types).chain([types]);
            names.any(|name| place.json.string(name) == Some("null"))
        }) =>
        {
            return;
        }
        _ => {
            "`nullable` is a keyword of OpenAPI 3.0 and does nothing in JSON Schema, so that null is not allowed by it: add \"null\" to `type`, \
             or read the schema as OpenAPI 3.0 (draft `openapi-3.0`)"
        }
    };
    report.warn_of(WarningKind::OpenApi, place, "nullable", message);
}
