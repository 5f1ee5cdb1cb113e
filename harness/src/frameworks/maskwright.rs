//! maskwright, this project's own engine.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use ::maskwright::{Compiler, ExactCompiler, ExactOptions, Formats, SchemaOptions, Style, TokenId, Vocabulary};
use maskwright_suites::json_text;
use maskwright_worker::{Purpose, Setup};
use serde_json::{Value, json};

use super::{Documented, Framework, Judging, Keyword};

pub(super) const FRAMEWORK: Framework = Framework {
    name: "maskwright",
    description: "this project's exact engine",
    version: env!("CARGO_PKG_VERSION"),
    options: "style `rfc8259` (all of JSON) where documents are judged, `generation` where a model writes; formats as the judge has them",
    accepts_documents: true,
    in_process: true,
    completes: true,
    documented: &DOCUMENTED,
    spelling: None,
    prepare: |setup| {
        let style = match setup.purpose {
            Purpose::Judge => Style::rfc8259(),
            Purpose::Generate => Style::generation(),
        };
        Ok(compiler(setup, style))
    },
};

pub(super) const GENERATION: Framework = Framework {
    name: "maskwright-generation",
    description: "the same in the style `generation` where documents are judged, too, which are spelt in it",
    options: "style `generation`; formats as the judge has them; a valid instance is replayed with its members in the schema's order and its numbers \
              without exponents, an invalid one as it stands",
    spelling: Some(spelling),
    prepare: |setup| Ok(compiler(setup, Style::generation())),
    ..FRAMEWORK
};

fn compiler(setup: &Setup, style: Style) -> Box<dyn Compiler> {
    let options = options(&setup.documents, setup.assert_formats, style);
    Box::new(ExactCompiler::new(setup.vocabulary.clone(), options))
}

fn options(documents: &BTreeMap<String, String>, assert_formats: bool, style: Style) -> ExactOptions {
    let mut schema = SchemaOptions::default();
    schema.documents.clone_from(documents);
    ExactOptions {
        schema,
        formats: match assert_formats {
            true => Formats::Asserted,
            false => Formats::Annotation,
        },
        style,
    }
}

/// Where a schema is found by the one that [`spelling`] makes.
const SPELT: &str = "maskwright:spelt";

/// The members' order is the schema's as the engine understands it, so that the engine is asked: for the only value that is
/// valid under the schema and equal to the instance.
fn spelling(judging: &Judging<'_>, schema: &str, instance: &str) -> Option<String> {
    let mut options = options(judging.documents, judging.assert_formats, Style::generation());
    options.schema.documents.insert(SPELT.to_owned(), schema.to_owned());
    let equal = equal_to(&serde_json::from_str(instance).ok()?);
    let both = json!({"allOf": [{"$ref": SPELT}, equal]});
    let vocabulary = bytes()?;
    let mut masker = ExactCompiler::new(vocabulary.clone(), options)
        .compile(&both.to_string())
        .ok()?;
    let mut tokens = Vec::new();
    let told = masker.completion(&mut tokens).ok()?;
    let spelt: Value = serde_json::from_slice(&vocabulary.text_bytes(&tokens))
        .ok()
        .filter(|_| told)?;
    json_text::to_string(&spelt).ok()
}

/// A schema of this value only, which was read and is therefore not nested deep. It lists no names where they would have a say in the order, but under `not`.
fn equal_to(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let differ = members
                .iter()
                .map(|(name, value)| json!({"properties": {name: {"not": equal_to(value)}}}));
            let differ: Vec<Value> = differ.collect();
            // No member lacks, and none has another value.
            let equal = match differ.is_empty() {
                true => json!(true),
                false => json!({"not": {"anyOf": differ}}),
            };
            json!({"type": "object", "maxProperties": members.len(), "allOf": [equal]})
        }
        Value::Array(items) if !items.is_empty() => {
            let equal: Vec<Value> = items.iter().map(equal_to).collect();
            json!({"type": "array", "minItems": items.len(), "prefixItems": equal, "items": false})
        }
        without_names => json!({"const": without_names}),
    }
}

/// A token for each byte, and one for the end.
fn bytes() -> Option<Arc<Vocabulary>> {
    const END: TokenId = 256;
    let mut builder = Vocabulary::builder().eos([END]).size(END as usize + 1);
    for byte in u8::MIN..=u8::MAX {
        builder = builder.text(TokenId::from(byte), [byte]).ok()?;
    }
    Some(Arc::new(builder.build().ok()?))
}

static DOCUMENTED: Documented = Documented {
    source: Cow::Borrowed("ARCHITECTURE.md"),
    keywords: Cow::Borrowed(KEYWORDS),
    formats: Cow::Borrowed(FORMATS),
    ignores_unknown_formats: true,
};

const FORMATS: &[Cow<'static, str>] = &[
    Cow::Borrowed("date"),
    Cow::Borrowed("date-time"),
    Cow::Borrowed("duration"),
    Cow::Borrowed("email"),
    Cow::Borrowed("hostname"),
    Cow::Borrowed("idn-email"),
    Cow::Borrowed("idn-hostname"),
    Cow::Borrowed("ipv4"),
    Cow::Borrowed("ipv6"),
    Cow::Borrowed("iri"),
    Cow::Borrowed("iri-reference"),
    Cow::Borrowed("json-pointer"),
    Cow::Borrowed("regex"),
    Cow::Borrowed("relative-json-pointer"),
    Cow::Borrowed("time"),
    Cow::Borrowed("uri"),
    Cow::Borrowed("uri-reference"),
    Cow::Borrowed("uri-template"),
    Cow::Borrowed("uuid"),
];

const KEYWORDS: &[Keyword] = &[
    Keyword::any("$dynamicRef"),
    Keyword::any("$recursiveRef"),
    Keyword::any("$ref"),
    Keyword::any("additionalItems"),
    Keyword::any("additionalProperties"),
    Keyword::any("allOf"),
    Keyword::any("anyOf"),
    Keyword::any("const"),
    Keyword::any("contains"),
    Keyword::any("dependencies"),
    Keyword::any("dependentRequired"),
    Keyword::any("dependentSchemas"),
    Keyword::any("else"),
    Keyword::any("enum"),
    Keyword::any("exclusiveMaximum"),
    Keyword::any("exclusiveMinimum"),
    Keyword::any("if"),
    Keyword::any("items"),
    Keyword::any("maxContains"),
    Keyword::any("maxItems"),
    Keyword::any("maxLength"),
    Keyword::any("maxProperties"),
    Keyword::any("maximum"),
    Keyword::any("minContains"),
    Keyword::any("minItems"),
    Keyword::any("minLength"),
    Keyword::any("minProperties"),
    Keyword::any("minimum"),
    Keyword::any("multipleOf"),
    Keyword::any("not"),
    Keyword::any("oneOf"),
    Keyword::any("pattern"),
    Keyword::any("patternProperties"),
    Keyword::any("prefixItems"),
    Keyword::any("properties"),
    Keyword::any("propertyNames"),
    Keyword::any("required"),
    Keyword::any("then"),
    Keyword::any("type"),
    Keyword::any("unevaluatedItems"),
    Keyword::any("unevaluatedProperties"),
    Keyword::any("uniqueItems"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Judging;
    use super::spelling;

    fn spelt(schema: &str, instance: &str) -> Option<String> {
        let documents = BTreeMap::from([("urn:remote".to_owned(), r#"{"required": ["z", "y"]}"#.to_owned())]);
        let judging = Judging {
            documents: &documents,
            assert_formats: true,
        };
        spelling(&judging, schema, instance)
    }

    #[test]
    fn instances_are_spelt_in_the_order_of_the_schema() {
        let schema = r##"{
            "properties": {"b": {"$ref": "#/$defs/inner"}, "a": true},
            "required": ["c"],
            "allOf": [{"$ref": "urn:remote"}],
            "$defs": {"inner": {"items": {"properties": {"2": {"type": "integer"}, "1": true}}}}
        }"##;
        let instance = r#"{"y": [], "free": 1e2, "a": "\u0061\/", "z": {}, "c": null, "b": [{"1": 0.50, "2": 3.0}]}"#;
        let expected = r#"{"b": [{"2": 3, "1": 0.5}], "a": "a/", "c": null, "z": {}, "y": [], "free": 100}"#;
        assert_eq!(spelt(schema, instance).as_deref(), Some(expected));
    }

    #[test]
    fn schemas_keep_their_draft_and_names() {
        let schema = r##"{
            "$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.org/own",
            "definitions": {"s": {"type": "string", "format": "date"}},
            "properties": {"b": {"$ref": "#/definitions/s"}, "a": {"maximum": 1, "exclusiveMaximum": true}}
        }"##;
        let expected = r#"{"b": "2026-11-22", "a": 0}"#;
        assert_eq!(
            spelt(schema, r#"{"a": 0, "b": "2026-11-22"}"#).as_deref(),
            Some(expected)
        );
        assert_eq!(spelt(schema, r#"{"a": 1, "b": "2026-11-22"}"#), None);
        assert_eq!(spelt(schema, r#"{"a": 0, "b": "22 November"}"#), None);
    }

    #[test]
    fn what_is_not_valid_or_no_schema_has_no_spelling() {
        assert_eq!(spelt(r#"{"type": "string"}"#, "7"), None);
        assert_eq!(spelt("{", "7"), None);
    }
}
