//! The cost of explanations, in steps that are counted: on usual schemas that are large, and on hostile ones.

use super::*;
use crate::explain::direct_checks::{DirectCheck, JudgedText};
use crate::explain::explainer::unsatisfiable;
use crate::explain::keyword_part::KeywordPart;
use crate::explain::minimal_conflict::MAX_WORK;
use crate::schema::Keywords;

/// A list of calls of so many tools, as agents send it.
fn tools(count: usize) -> String {
    let tool = |at: usize| {
        format!(
            r#"{{"type": "object", "required": ["name", "arguments"], "additionalProperties": false, "properties": {{
                "name": {{"const": "server_{at}__tool_{at}"}},
                "arguments": {{"type": "object", "required": ["p0", "p1"], "additionalProperties": false, "properties": {{
                    "p0": {{"type": "string"}}, "p1": {{"type": "integer"}}, "p2": {{"enum": ["a", "b"]}},
                    "p3": {{"type": "array", "items": {{"type": "string"}}, "maxItems": 20}},
                    "p4": {{"anyOf": [{{"type": "number"}}, {{"type": "null"}}]}}
                }}}}
            }}}}"#
        )
    };
    let branches: Vec<String> = (0..count).map(tool).collect();
    let branches = branches.join(",");
    format!(r#"{{"type": "array", "minItems": 1, "items": {{"anyOf": [{branches}]}}}}"#)
}

/// The explanation of a union of many tools is that of the tool that the document names; the cost grows with the union, not with the number of
/// sets of its keywords.
#[test]
fn unions_of_tools_take_few_steps() {
    for count in [60, 240] {
        let mut explainer = explainer(&tools(count));
        for (text, keyword) in [
            (
                r#"[{"name": "server_7__tool_7", "arguments": {"p0": 1, "p1": 1}}]"#,
                "/items/anyOf/7/properties/arguments/properties/p0/type",
            ),
            (
                r#"[{"arguments": {"p0": "x"}, "name": "server_7__tool_7"}]"#,
                "/items/anyOf/7/properties/arguments/required",
            ),
            (
                r#"[{"arguments": {"p0": "x", "p1": 1, "q": 0}, "name": "server_7__tool_7"}]"#,
                "/items/anyOf/7/properties/arguments/additionalProperties",
            ),
            (
                r#"[{"name": "server_7__tool_7", "arguments": {"p0": "", "p1": 1, "p2": "c"}}]"#,
                "/items/anyOf/7/properties/arguments/properties/p2/enum",
            ),
        ] {
            let forbidden = explainer.forbidden(text.as_bytes()).unwrap().unwrap();
            let Cause::Keywords {
                conflict,
                remedy,
                leading,
                other_branches,
            } = &forbidden.cause
            else {
                panic!("{forbidden}");
            };
            assert_eq!(leading[0].pointer, keyword, "{forbidden}");
            assert_eq!(other_branches[0].count, count - 1);
            assert!(conflict.minimal && conflict.keywords.len() == count, "{forbidden}");
            assert_eq!(remedy.keywords[0].pointer, keyword, "{forbidden}");
            assert!(
                explainer.work < 2_000 + 60 * count,
                "{} steps: {forbidden}",
                explainer.work
            );
        }
    }
}

/// Schemas whose conflicts are large, or that are costly to look at, get a conflict on a thread's usual stack, if only
/// one that is not known to be minimal.
#[test]
fn hostile_schemas_are_explained_as_far_as_it_goes() {
    let many = |count: usize, branch: &dyn Fn(usize) -> String| (0..count).map(branch).collect::<Vec<_>>().join(",");
    let types = many(3000, &|_| r#"{"type": "string"}"#.to_owned());
    let names = many(100, &|at| format!(r#"{{"required": ["k{at}"], "maxProperties": 0}}"#));
    let nested = (0..100).fold("false".to_owned(), |inner, _| {
        format!(r#"{{"type": "object", "required": ["a"], "properties": {{"a": {inner}}}}}"#)
    });
    let one_of = (0..6).fold("false".to_owned(), |inner, _| {
        format!(r#"{{"type": "array", "minItems": 1, "items": {{"oneOf": [{inner}, {inner}]}}}}"#)
    });
    let patterns = many(40, &|at| format!(r#"{{"pattern": "^(a|b)*a(a|b){{{}}}$"}}"#, at % 12));
    for (schema, text) in [
        (format!(r#"{{"type": "null", "anyOf": [{types}]}}"#), "0"),
        (format!(r#"{{"type": "object", "oneOf": [{names}]}}"#), r#"{"k1": 0}"#),
        (nested, r#"{"a": {"a": 0}}"#),
        (one_of, "[[0]]"),
        (format!(r#"{{"allOf": [{patterns}]}}"#), r#""aab""#),
    ] {
        let set = SchemaSet::load(&schema, &SchemaOptions::default()).unwrap();
        let mut explainer = explainer(&schema);
        if let Some(conflict) = explainer.conflict().unwrap() {
            assert!(explainer.work < 2 * MAX_WORK, "{}", explainer.work);
            assert_eq!(conflict, unsatisfiable(&set, Formats::Annotation));
            assert!(conflict.to_string().len() < 3000, "{conflict}");
        }
        let forbidden = explainer.forbidden(text.as_bytes()).unwrap().unwrap();
        assert!(explainer.work < 2 * MAX_WORK, "{}: {forbidden}", explainer.work);
        assert!(forbidden.to_string().len() < 3000, "{forbidden}");
    }
}

/// The parts of a schema share the work of one explanation.
#[test]
fn many_parts_without_a_value_are_explained_within_one_budget() {
    let part = |at: usize| format!(r#""p{at}": {{"type": "string", "enum": [{at}, {at}.5], "minLength": 1}}"#);
    let parts: Vec<String> = (0..1001).map(part).collect();
    let mut explainer = explainer(&format!(r#"{{"properties": {{{}}}}}"#, parts.join(",")));
    let parts = explainer.unsatisfiable_parts().unwrap();
    assert_eq!(parts.len(), 1000, "no more are listed");
    assert!(parts[0].conflict.minimal && !parts[0].conflict.keywords.is_empty());
    assert!(explainer.work < 11 * MAX_WORK, "{}", explainer.work);
}

/// An object of many declared members is given up within the budget, not after all of them were looked up.
#[test]
fn members_are_looked_up_within_the_budget() {
    let members = |value: &str| {
        let members: Vec<String> = (0..2_000).map(|number| format!(r#""p{number}": {value}"#)).collect();
        members.join(",")
    };
    let mut explainer = explainer(&format!(r#"{{"properties": {{{}}}}}"#, members(r#"{"type": "null"}"#)));
    let text = format!("{{{}}}", members("null").replace(r#""p1999": null"#, r#""p1999": 1"#));
    assert!(explainer.forbidden(text.as_bytes()).unwrap().is_some());
    assert!(explainer.work < 2 * MAX_WORK, "{}", explainer.work);
}

#[test]
fn a_hundred_thousand_required_names_are_looked_up() {
    let names = (0..100_000).map(|number| format!("p{number}"));
    let members: Vec<String> = names.clone().map(|name| format!("\"{name}\": 0")).collect();
    let text = format!("{{{}}}", members.join(","));
    let mut keywords = Keywords {
        required: names.collect(),
        ..Keywords::default()
    };
    let mut text = JudgedText::new(text.as_bytes(), true);
    assert_eq!(text.check(KeywordPart::Required, &keywords, 0), DirectCheck::Passes);
    keywords.required.push("q".to_owned());
    assert!(matches!(
        text.check(KeywordPart::Required, &keywords, 0),
        DirectCheck::Fails(_)
    ));
}
