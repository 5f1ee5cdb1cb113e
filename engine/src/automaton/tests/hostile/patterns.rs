//! Objects whose keys many patterns sort.

use super::{answered, list};
use crate::automaton::tests::subject;

/// Names that match any of many patterns with equal subschemas, or that are evaluated by any of them, are names of one language.
#[test]
fn patterns_with_equal_subschemas_are_one() {
    let words = [
        "alpha", "beta", "gamma", "delta", "eps", "zeta", "tau", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    ];
    let patterns = list(words.len(), |at| {
        let number = at % 2 == 0;
        let value = if number {
            r##"{"$ref": "#/$defs/number"}"##
        } else {
            r#"{"type": "string"}"#
        };
        format!(r#""{}": {value}"#, words[at])
    });
    let defs = r#""$defs": {"number": {"type": "integer"}}"#;
    for closed in ["additionalProperties", "unevaluatedProperties"] {
        answered(
            &format!(r#"{{"type": "object", "patternProperties": {{{patterns}}}, "{closed}": false, {defs}}}"#),
            &[
                (r#"{"alpha": 1, "my beta": "b", "gammaeps": 3}"#, true),
                (r#"{"alpha": 1, "my beta": 2}"#, false),
                (r#"{"alphabeta": 1}"#, false),
                (r#"{"betadelta": ""}"#, true),
                (r#"{"other": 1}"#, false),
            ],
        );
    }
    answered(
        &format!(
            r#"{{"type": "object", "patternProperties": {{{patterns}}}, "required": ["zeta1", "y"], "minProperties": 3,
                "anyOf": [{{"required": ["a"]}}, {{"required": ["iota"]}}], {defs}}}"#
        ),
        &[
            (r#"{"zeta1": "", "y": [], "a": null}"#, true),
            (r#"{"z1": "", "y": [], "a": null}"#, false),
            (r#"{"zeta1": 1, "y": [], "a": null}"#, false),
            (r#"{"iota": 1, "y": [], "a": null}"#, false),
        ],
    );
}

/// Names sorted by many independent patterns, each with a subschema of its own: a name may come if one value meets all subschemas of the
/// patterns that it matches, whatever else is asked of the object.
#[test]
fn patterns_with_different_subschemas_are_held_against_each_other() {
    let words = [
        "alpha", "beta", "gamma", "delta", "eps", "zeta", "^tau", "theta$", "iota", "kappa", "lambda", "mu", "^nu",
        "xi",
    ];
    // Every third one: strings, integers, and two constants of which no integer is one.
    let patterns = list(words.len(), |at| {
        let value = match at % 3 {
            0 => format!(r#"{{"type": "string", "minLength": {}}}"#, at / 3),
            1 => format!(r#"{{"type": "integer", "minimum": {at}}}"#),
            _ => format!(r#"{{"enum": ["{}", {at}.5]}}"#, "c".repeat(at)),
        };
        format!(r#""{}": {value}"#, words[at])
    });
    let documents = [
        // `alpha` and `delta` ask for strings, `beta` and `eps` for integers, `gamma` for one of two constants.
        (r#"{"alpha": "", "y": 0, "a": 1}"#, true),
        (r#"{"y": 0, "a": 1, "alphadelta": "d"}"#, true),
        (r#"{"y": 0, "a": 1, "alphadelta": ""}"#, false),
        (r#"{"y": 0, "a": 1, "alphabeta": 1}"#, false),
        (r#"{"y": 0, "a": 1, "a beta eps": 4}"#, true),
        (r#"{"y": 0, "a": 1, "a beta eps": 3}"#, false),
        (r#"{"y": 0, "a": 1, "gamma alpha": "cc"}"#, true),
        (r#"{"y": 0, "a": 1, "gamma alpha": 2.5}"#, false),
        (r#"{"y": 0, "a": 1, "gamma": 2.5, "other": null}"#, true),
        (r#"{"y": 0, "a": 1, "gamma zeta": "cc"}"#, false),
        (r#"{"y": 0, "a": 1, "tau theta": 7}"#, false),
        (r#"{"y": 0, "a": 1, "tau then": "tt"}"#, true),
    ];
    for more in [
        r#""anyOf": [{"required": ["a"]}, {"required": ["b"]}]"#,
        r#""minProperties": 3"#,
        r#""maxProperties": 4, "dependentRequired": {"y": ["a"]}"#,
        r#""if": {"properties": {"y": {"const": 1}}, "required": ["y"]}, "then": {"required": ["z"]}"#,
        r#""not": {"required": ["alphabet"]}"#,
        r#""propertyNames": {"maxLength": 11}"#,
    ] {
        answered(
            &format!(r#"{{"type": "object", "patternProperties": {{{patterns}}}, {more}}}"#),
            &documents,
        );
    }
    // Where all keys have to match a pattern and members are counted, no pattern may be bound to the beginning or the end of a key.
    let patterns = patterns.replace(['^', '$'], "");
    answered(
        &format!(
            r#"{{"type": "object", "patternProperties": {{{patterns}}}, "additionalProperties": false, "minProperties": 2}}"#
        ),
        &[
            (r#"{"alpha": "", "beta": 1}"#, true),
            (r#"{"alpha": "", "y": 1}"#, false),
            (r#"{"alphabeta": 1}"#, false),
            (r#"{"alpha": ""}"#, false),
        ],
    );
}

/// Two names that are allowed together do not make three members, however many combinations of other patterns no name matches.
#[test]
fn names_of_which_there_are_too_few_are_not_begun() {
    let words = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "iota", "kappa"];
    let patterns = list(words.len(), |at| {
        let value = match at % 2 {
            0 => format!(r#"{{"type": "string", "minLength": {at}}}"#),
            _ => format!(r#"{{"type": "integer", "minimum": {at}}}"#),
        };
        format!(r#""{}": {value}"#, words[at])
    });
    let schema = format!(
        r#"{{"type": "object", "minProperties": 3, "patternProperties": {{{patterns}}},
            "anyOf": [{{"patternProperties": {{"^[mn]$": false}}}}, {{"propertyNames": {{"pattern": "^[mn]$"}}}}]}}"#
    );
    let mut subject = subject(&schema);
    assert!(subject.begins("{\"o"));
    assert!(!subject.begins("{\"m\""));
    assert!(subject.accepts(r#"{"o": 1, "alpha": "", "eps": "abcd"}"#));
}

/// A pattern that all words of others match does not hide that these are combined.
#[test]
fn a_pattern_that_others_imply_is_found_to() {
    let words = [
        "alpha", "beta", "gamma", "delta", "eps", "zeta", "iota", "kappa", "lambda", "mu",
    ];
    let patterns = list(words.len(), |at| {
        let value = ["string", "integer"][at % 2];
        format!(r#""{}": {{"type": "{value}", "not": {{"const": {at}}}}}"#, words[at])
    });
    answered(
        &format!(
            r#"{{"type": "object", "patternProperties": {{{patterns}, "[a-z]": {{"not": {{"type": "null"}}}}}}, "additionalProperties": false,
                "minProperties": 2}}"#
        ),
        &[
            (r#"{"alpha": "", "beta": 2}"#, true),
            (r#"{"alpha": "", "beta": 1}"#, false),
            (r#"{"alpha": ""}"#, false),
            (r#"{"other": 1, "1x": 2}"#, true),
            (r#"{"other": 1, "1": 2}"#, false),
            (r#"{"other": 1, "x": null}"#, false),
        ],
    );
}
