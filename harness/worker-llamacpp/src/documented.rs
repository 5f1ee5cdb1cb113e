//! Keywords and formats that llama.cpp documents as supported.

use maskwright_worker::Documented;

/// The section "JSON Schemas → GBNF" of the guide to grammars. It shows some keywords in examples and lists what is not
/// supported, so these are the keywords of its tests, to which it refers, without that list. Not looked at: that patterns have
/// to begin with `^` and end with `$`, and that references in references are broken.
pub fn documented() -> Documented {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Documented {
        source: "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md".to_owned(),
        keywords: texts(&[
            "$ref:local",
            "additionalProperties",
            "allOf",
            "anyOf:alone",
            "const",
            "enum",
            "exclusiveMaximum:integer",
            "exclusiveMinimum:integer",
            "items:one-schema",
            "maxItems",
            "maxLength",
            "maximum:integer",
            "minItems",
            "minLength",
            "minimum:integer",
            "oneOf:alone",
            "pattern:no-lookaround",
            "properties",
            "required",
            "type",
        ]),
        formats: texts(&["date", "date-time", "time", "uuid"]),
        ignores_unknown_formats: true,
    }
}
