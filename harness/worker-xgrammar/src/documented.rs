//! Keywords and formats that XGrammar supports.

use maskwright_worker::Documented;

/// The documentation of this version has no list of keywords. These are the ones that its schema converter reads, without
/// those that it calls unsupported (`not`, `if`, `dependentRequired`, `dependentSchemas`, `uniqueItems`, `contains`) and
/// unfinished (`allOf` of several schemas). Where it finds `$ref`, `anyOf` or `oneOf`, it looks at no other keyword beside it.
/// Not looked at: that `multipleOf` is dropped beside bounds, and `minLength` beside a pattern.
pub fn documented() -> Documented {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Documented {
        source: "https://github.com/mlc-ai/xgrammar/blob/v0.2.8/cpp/json_schema_converter.cc".to_owned(),
        keywords: texts(&[
            "$ref:alone",
            "additionalProperties",
            "anyOf:alone",
            "const",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "items:one-schema",
            "maxItems",
            "maxLength",
            "maxProperties",
            "maximum",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "multipleOf:integer",
            "oneOf:alone",
            "pattern:no-lookaround",
            "patternProperties:no-lookaround",
            "prefixItems",
            "properties",
            "propertyNames",
            "required",
            "type",
            "unevaluatedItems",
            "unevaluatedProperties",
        ]),
        formats: texts(&[
            "date",
            "date-time",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "json-pointer",
            "relative-json-pointer",
            "time",
            "uri",
            "uri-reference",
            "uri-template",
            "uuid",
        ]),
        ignores_unknown_formats: true,
    }
}
