//! [`Documented`]: keywords and formats that a framework documents as supported, and the schemas that these cover (theoretical coverage; paper,
//! definition C.1).

mod restriction;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use maskwright_suites::census::subschemas;
use maskwright_suites::strict_json;
use maskwright_suites::validate::MAX_DEPTH;
use maskwright_worker::protocol;
use serde_json::Value;

use restriction::{Place, asserts};
pub use restriction::{Restriction, UnknownRestriction};

/// The formats that drafts 4 to 2020-12 define. Others are annotations.
const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Keywords and formats that a framework documents as supported.
///
/// Frameworks of this program declare it as a constant; a worker sends it as a [`protocol::Documented`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documented {
    /// Place of that documentation.
    pub source: Cow<'static, str>,
    /// The keywords that are enforced; annotations need not be listed.
    pub keywords: Cow<'static, [Keyword]>,
    /// The formats that are enforced.
    pub formats: Cow<'static, [Cow<'static, str>]>,
    /// Whether formats that no draft defines are left alone, as the standard asks for, instead of being refused.
    pub ignores_unknown_formats: bool,
}

/// A supported keyword. Its text form is the name, or the name, a colon and the restriction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// The keyword.
    pub name: Cow<'static, str>,
    /// Condition under which alone the keyword is supported, if there is one.
    pub only: Option<Restriction>,
}

impl Keyword {
    /// A keyword that is supported wherever it stands.
    pub const fn any(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            only: None,
        }
    }

    /// A keyword that is supported under a condition.
    pub const fn only(name: &'static str, restriction: Restriction) -> Self {
        Self {
            name: Cow::Borrowed(name),
            only: Some(restriction),
        }
    }
}

impl Documented {
    /// Whether everything that `schema` asserts is documented as supported. Members that are no keywords assert nothing,
    /// and neither do annotations and keywords that need another one which is missing, such as `then` without `if`. A text
    /// that is not JSON is not covered.
    pub fn covers(&self, schema: &str) -> bool {
        let Ok(document) = strict_json::parse(schema, MAX_DEPTH) else {
            return false;
        };
        let root = &document.value;
        subschemas(root).into_iter().all(|schema| {
            let place = Place { root, schema };
            let mut asserting = schema.iter().filter(|(name, value)| asserts(schema, name, value));
            asserting.all(|(name, value)| self.covers_keyword(&place, name, value))
        })
    }

    fn covers_keyword(&self, place: &Place<'_>, name: &str, value: &Value) -> bool {
        if name == "format" {
            return self.covers_format(value);
        }
        // A keyword may be listed with several conditions, each of which is enough.
        let mut listed = self.keywords.iter().filter(|keyword| keyword.name == name);
        listed.any(|keyword| keyword.only.is_none_or(|only| only.holds(place, value)))
    }

    fn covers_format(&self, value: &Value) -> bool {
        let Some(name) = value.as_str() else { return false };
        let listed = self.formats.iter().any(|format| format == name);
        listed || (self.ignores_unknown_formats && !FORMATS.contains(&name))
    }
}

impl FromStr for Keyword {
    type Err = UnknownRestriction;

    fn from_str(text: &str) -> Result<Self, UnknownRestriction> {
        let (name, only) = match text.split_once(':') {
            None => (text, None),
            Some((name, restriction)) => {
                let found = Restriction::NAMES.iter().find(|(known, _)| *known == restriction);
                let found = found.ok_or_else(|| UnknownRestriction(restriction.to_owned()))?;
                (name, Some(found.1))
            }
        };
        Ok(Self {
            name: Cow::Owned(name.to_owned()),
            only,
        })
    }
}

impl From<&Documented> for protocol::Documented {
    fn from(documented: &Documented) -> Self {
        Self {
            source: documented.source.clone().into_owned(),
            keywords: documented.keywords.iter().map(ToString::to_string).collect(),
            formats: documented.formats.iter().map(ToString::to_string).collect(),
            ignores_unknown_formats: documented.ignores_unknown_formats,
        }
    }
}

impl TryFrom<&protocol::Documented> for Documented {
    type Error = UnknownRestriction;

    fn try_from(wire: &protocol::Documented) -> Result<Self, UnknownRestriction> {
        let keywords: Vec<Keyword> = wire
            .keywords
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()?;
        Ok(Self {
            source: Cow::Owned(wire.source.clone()),
            keywords: Cow::Owned(keywords),
            formats: wire.formats.iter().cloned().map(Cow::Owned).collect(),
            ignores_unknown_formats: wire.ignores_unknown_formats,
        })
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let named = Restriction::NAMES.iter().find(|(_, known)| Some(*known) == self.only);
        match named {
            Some((restriction, _)) => write!(f, ":{restriction}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documented(keywords: &[&str]) -> Documented {
        let wire = protocol::Documented {
            source: "test".to_owned(),
            keywords: keywords.iter().map(ToString::to_string).collect(),
            formats: vec!["date".to_owned()],
            ignores_unknown_formats: true,
        };
        Documented::try_from(&wire).unwrap()
    }

    #[test]
    fn what_asserts_nothing_need_not_be_supported() {
        let types = documented(&["type", "properties"]);
        for covered in [
            "true",
            r#"{"type": "object", "properties": {"not": {"title": "", "x-own": {"not": {}}}}}"#,
            r#"{"then": false, "else": false, "minContains": 1, "additionalItems": false, "uniqueItems": false}"#,
            r#"{"if": {"type": "null"}}"#,
            r#"{"format": "date", "properties": {"a": {"format": "int32"}, "b": {"type": "integer", "format": "uuid"}}}"#,
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"type": "null"}}}"#,
        ] {
            assert!(types.covers(covered), "{covered}");
        }
        for not in [
            "{",
            r#"{"properties": {"a": {"not": {}}}}"#,
            r#"{"definitions": {"a": {"pattern": "a"}}}"#,
            r#"{"if": {}, "then": {}}"#,
            r#"{"uniqueItems": true}"#,
            r#"{"format": "uuid"}"#,
        ] {
            assert!(!types.covers(not), "{not}");
        }
        let strict = Documented {
            ignores_unknown_formats: false,
            ..types
        };
        assert!(!strict.covers(r#"{"type": "string", "format": "colour"}"#));
        assert!(strict.covers(r#"{"type": "integer", "format": "int32"}"#));
    }

    #[test]
    fn restrictions_hold_where_they_should() {
        // Keyword, a schema where its condition holds, one where it does not. Other keywords are all supported.
        let cases = [
            (
                "minProperties:all-required",
                r#"{"minProperties": 1, "properties": {"a": {}}, "required": ["a"]}"#,
                r#"{"minProperties": 1, "properties": {"a": {}}}"#,
            ),
            (
                "anyOf:alone",
                r#"{"anyOf": [{}], "title": ""}"#,
                r#"{"anyOf": [{}], "type": "null"}"#,
            ),
            (
                "additionalProperties:boolean",
                r#"{"additionalProperties": true}"#,
                r#"{"additionalProperties": {}}"#,
            ),
            (
                "additionalProperties:false",
                r#"{"additionalProperties": false}"#,
                r#"{"additionalProperties": true}"#,
            ),
            (
                "minimum:integer",
                r#"{"type": "integer", "minimum": 1}"#,
                r#"{"minimum": 1}"#,
            ),
            ("$ref:local", r##"{"$ref": "#"}"##, r##"{"$ref": "#anchor"}"##),
            (
                "pattern:no-lookaround",
                r#"{"pattern": "(?:a)"}"#,
                r#"{"pattern": "(?!a)"}"#,
            ),
            (
                "$ref:not-recursive",
                r##"{"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}"##,
                r##"{"anyOf": [{"$ref": "#"}]}"##,
            ),
            ("items:one-schema", r#"{"items": {}}"#, r#"{"items": [{}]}"#),
            (
                "oneOf:disjoint",
                r#"{"oneOf": [{"type": "string"}, {"type": ["null", "number"]}]}"#,
                r#"{"oneOf": [{"type": "integer"}, {"type": "number"}]}"#,
            ),
            (
                "oneOf:disjoint",
                r#"{"oneOf": [{"const": 1}, {"enum": [2, 3]}, false]}"#,
                r#"{"oneOf": [{"const": 1}, {"enum": [2, 1]}]}"#,
            ),
            (
                "oneOf:disjoint",
                r##"{"oneOf": [{"$ref": "#/$defs/a"}, {"properties": {"k": {"const": "b"}}, "required": ["k"]}], "$defs": {"a": {"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"]}}}"##,
                r#"{"oneOf": [{"type": "object", "properties": {"k": {"const": "a"}}}, {"properties": {"k": {"const": "b"}}, "required": ["k"]}]}"#,
            ),
        ];
        let all = ["$ref", "anyOf", "const", "enum", "properties", "required", "type"];
        for (keyword, holds, does_not) in cases {
            let name = keyword.split(':').next().unwrap();
            let mut keywords: Vec<&str> = all.into_iter().filter(|other| *other != name).collect();
            keywords.push(keyword);
            let documented = documented(&keywords);
            assert!(documented.covers(holds), "{keyword}: {holds}");
            assert!(!documented.covers(does_not), "{keyword}: {does_not}");
        }
    }

    #[test]
    fn the_text_form_is_read_and_written() {
        let written = protocol::Documented::from(&documented(&["type", "oneOf:disjoint"]));
        assert_eq!(written.keywords, ["type", "oneOf:disjoint"]);
        let error = "oneOf:sometimes".parse::<Keyword>().unwrap_err().to_string();
        assert!(error.contains("sometimes") && error.contains("disjoint"), "{error}");
        assert!(Restriction::NAMES.is_sorted_by_key(|(name, _)| *name));
    }
}
