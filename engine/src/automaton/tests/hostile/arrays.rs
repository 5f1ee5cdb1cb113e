//! Arrays of many items, of items that have to differ, and of items that have to come.

use super::{Verdict, answered, list, work};
use crate::Style;
use crate::automaton::Formats;
use crate::automaton::tests::alone;
use crate::schema::{SchemaOptions, SchemaSet};

#[test]
fn many_items_may_come() {
    let items = |count: usize| list(count, |at| format!("{at}"));
    let unique = r#"{"type": "array", "uniqueItems": true}"#;
    let (differ, repeat) = (format!("[{}]", items(2_000)), format!("[{},77]", items(2_000)));
    answered(unique, &[(&differ, true), (&repeat, false)]);
    let objects = |count: usize| {
        list(count, |at| {
            format!(r#"{{"id":{at},"name":"name {}","tags":["a"]}}"#, at % 10)
        })
    };
    let (differ, repeat) = (
        format!("[{}]", objects(1_000)),
        format!("[{},{{\"name\":\"name 7\",\"id\":7,\"tags\":[\"a\"]}}]", objects(100)),
    );
    answered(unique, &[(&differ, true), (&repeat, false)]);
    let values = list(300, |at| format!(r#""value {at}""#));
    let schema =
        format!(r#"{{"type": "array", "uniqueItems": true, "items": {{"enum": [{values}]}}, "minItems": 100}}"#);
    answered(
        &schema,
        &[
            (&format!("[{values}]"), true),
            (r#"["value 1","value 1"]"#, false),
            ("[]", false),
        ],
    );
    assert_eq!(work(&schema.replace(": 100}", ": 301}"), &[]), Verdict::Unsatisfiable);
    answered(
        r#"{"type": "array", "minItems": 1000000000}"#,
        &[("[1,2]", false), ("[", false)],
    );
    answered(
        r#"{"type": "array", "minItems": 1000000000, "maxItems": 1000000001, "items": {"type": "integer"}}"#,
        &[("[1,2]", false)],
    );
    assert_eq!(
        work(
            r#"{"type": "array", "minItems": 1000000000, "maxItems": 999999999}"#,
            &[]
        ),
        Verdict::Unsatisfiable
    );
    answered(
        r#"{"type": "array", "uniqueItems": true, "minItems": 1000000000}"#,
        &[("[1,2]", false), ("[", false)],
    );
    answered(
        r#"{"type": "array", "contains": {"const": 1}, "minContains": 3, "maxContains": 1000000000}"#,
        &[("[1,1,1]", true), ("[1,1,2]", false)],
    );
    work(
        r#"{"type": "array", "contains": {"const": 1}, "minContains": 1000000000}"#,
        &["[1]"],
    );
    work(
        r#"{"type": "array", "minItems": 3000, "contains": {"const": 1}, "minContains": 2}"#,
        &["[1]"],
    );
    answered(
        r#"{"type": "object", "minProperties": 1000000000}"#,
        &[(r#"{"a":1}"#, false)],
    );
    work(
        r##"{"minItems": 1, "contains": {"$ref": "#"}, "uniqueItems": true}"##,
        &["[", "[[", "[[1],[2],"],
    );
    let places = list(1_000, |at| format!(r#"{{"const": {at}}}"#));
    answered(
        &format!(r#"{{"type": "array", "prefixItems": [{places}], "items": false}}"#),
        &[("[0,1,2]", true), ("[0,2]", false)],
    );
}

/// Arrays that only have to have items take a look at each item that is asked for, and none that no item can be.
#[test]
fn hundreds_of_constants_may_have_to_come_of_constants() {
    let contains = list(200, |at| format!(r#"{{"contains": {{"const": {at}}}}}"#));
    let all = format!("[{}]", list(200, |at| at.to_string()));
    let all_but_one = format!("[{}]", list(199, |at| at.to_string()));
    answered(
        &format!(r#"{{"type": "array", "allOf": [{contains}]}}"#),
        &[(&all, true), (&all_but_one, false), ("[]", false)],
    );
    answered(
        r#"{"type": "array", "anyOf": [{"contains": {"const": 1}, "minItems": 3}, {"contains": false}]}"#,
        &[
            ("[1,2,3]", true),
            ("[2,3,1]", true),
            ("[1,2]", false),
            ("[2,3,4]", false),
        ],
    );
    assert_eq!(
        work(
            r#"{"type": "array", "allOf": [{"contains": {"const": 1}}, {"contains": false}]}"#,
            &[]
        ),
        Verdict::Unsatisfiable
    );
}

/// Arrays that have to contain many items and may have few: by what cannot be the same item, not by every set of those that have come.
#[test]
fn many_may_have_to_come_in_few_items() {
    let kinds = |more: &str| {
        list(16, |at| {
            format!(r#"{{"contains": {{"type": "string", "pattern": "^k{at}:"}}{more}}}"#)
        })
    };
    let members = |more: &str| {
        list(16, |at| {
            format!(r#"{{"contains": {{"type": "object", "required": ["k{at}"]}}{more}}}"#)
        })
    };
    let texts = |count: usize| list(count, |at| format!(r#""k{at}:""#));
    let all = list(16, |at| format!(r#""k{at}": 0"#));
    let each = list(16, |at| format!(r#"{{"k{at}": 0}}"#));
    answered(
        &format!(r#"{{"type": "array", "allOf": [{}], "maxItems": 16}}"#, kinds("")),
        &[
            (&format!("[{}]", texts(16)), true),
            (&format!(r#"["k3:", {}]"#, texts(16)), false),
            (&format!(r#"["k1:", {}]"#, texts(15)), false),
            (&format!(r#"["k", {}]"#, texts(15)), false),
        ],
    );
    assert_eq!(
        work(
            &format!(r#"{{"type": "array", "allOf": [{}], "maxItems": 15}}"#, kinds("")),
            &[]
        ),
        Verdict::Unsatisfiable
    );
    answered(
        &format!(r#"{{"type": "array", "allOf": [{}], "maxItems": 1}}"#, members("")),
        &[
            (&format!("[{{{all}}}]"), true),
            (&format!("[{{{all}}}, 1]"), false),
            (r#"[{"k0": 0}]"#, false),
        ],
    );
    answered(
        &format!(
            r#"{{"type": "array", "allOf": [{}], "maxItems": 33}}"#,
            kinds(r#", "minContains": 2, "maxContains": 3"#)
        ),
        &[
            (&format!("[{},{}]", texts(16), texts(16)), true),
            (&format!(r#"["k15:",{},{}]"#, texts(16), texts(16)), true),
            (&format!("[{0},{0},{0}]", texts(11)), false),
            (&format!(r#"["k1:","k1:",{},{}]"#, texts(16), texts(15)), false),
        ],
    );
    let once = members(r#", "maxContains": 1"#);
    answered(
        &format!(r#"{{"type": "array", "allOf": [{once}]}}"#),
        &[
            (&format!("[{{{all}}}]"), true),
            (&format!("[1,{each},2]"), true),
            (&format!(r#"[{each},{{"k7": 0}}]"#), false),
        ],
    );
}

/// Whether enough different items are left is told of the items that complete the array, not of those that they were narrowed from.
#[test]
fn different_items_run_out_in_each_alternative() {
    let schema = r#"{"type": "array", "uniqueItems": true, "minItems": 4, "anyOf": [{"items": {"type": "integer"}}, {"items": {"enum": [0, 1, "a"]}},
        {"items": {"type": "object"}}, {"items": {"type": "array"}}, {"items": {"type": "string", "minLength": 2}}]}"#;
    answered(
        schema,
        &[
            ("[0,1,2,3]", true),
            (r#"["a",0,1]"#, false),
            (r#"["aa","bb","cc","dd"]"#, true),
        ],
    );
    let set = SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
    let (mut automaton, root) = alone(set, Formats::Asserted, Style::rfc8259()).unwrap();
    let mut at = automaton.start(root).unwrap().unwrap();
    for byte in *b"[\"a" {
        at = automaton.step(at, byte).unwrap().unwrap();
    }
    // The text may go on, but not end: three values are not four.
    assert!(automaton.step(at, b'"').unwrap().is_none());
    assert!(automaton.step(at, b'b').unwrap().is_some());
}

/// Whether an array has enough items that differ must not be answered by the array itself.
#[test]
fn arrays_that_contain_themselves_have_no_more_items_than_there_are() {
    let schema = |base: &str| {
        format!(
            r##"{{"type": "array", "uniqueItems": true, "minItems": 2, "items": {{"anyOf": [{base}, {{"$ref": "#"}}]}}}}"##
        )
    };
    assert_eq!(work(&schema(r#"{"type": "null"}"#), &[]), Verdict::Unsatisfiable);
    // Another array of three items is no proof that there are three items.
    let other = r##"{"$ref": "#/$defs/r", "$defs": {
        "r": {"type": "array", "uniqueItems": true, "allOf": [{"minItems": 3, "items": {"$ref": "#/$defs/a"}}]},
        "a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/r"}, {"const": [1, 2, 3]}]}}}"##;
    assert!(!matches!(work(other, &[]), Verdict::Answered(_)));
    answered(
        &schema(r#"{"enum": [null, true]}"#),
        &[
            ("[null,true]", true),
            ("[[true,null],null]", true),
            ("[null,null]", false),
        ],
    );
}

#[test]
fn items_that_each_part_asks_for_all_fit() {
    let parts = list(70, |at| {
        format!(r#"{{"not": {{"items": {{"not": {{"const": {at}}}}}}}}}"#)
    });
    let schema = format!(r#"{{"type": "array", "maxItems": 100, "allOf": [{parts}]}}"#);
    let all = format!("[{}]", list(70, |at| at.to_string()));
    let few = format!("[{}]", list(69, |at| at.to_string()));
    answered(&schema, &[(&all, true), (&few, false)]);
}

#[test]
fn bounds_beyond_all_numbers() {
    let schema =
        r#"{"type": "array", "uniqueItems": true, "items": {"type": "array", "minItems": 100000000000000000000}}"#;
    answered(schema, &[("[]", true), ("[[]]", false)]);
}

/// Choices among conditions on items that the search has taken up already: each was made again and again, and the choices before it took all memory.
#[test]
fn conditions_on_items_are_not_chosen_again() {
    let schema = r#"{"type": "array", "maxItems": 4, "allOf": [
        {"items": {"enum": ["p", "q", ["p", "q"], ["q", "p"]]}},
        {"anyOf": [
            {"contains": {"oneOf": [{"type": "string"}, {"not": {"const": ["q", "p"]}}, {"enum": [["q", "p"], ["p", "q"], "p", "q"]}]},
             "unevaluatedItems": {"enum": ["p", ["q", "p"], ["p", "q"]]},
             "not": {"prefixItems": [{"type": "string"}, {"enum": [["p", "q"], "q", "p", ["q", "p"]]}, {"enum": ["q"]}]}},
            {"uniqueItems": true}]},
        {"if": {"prefixItems": [{"pattern": "p"}], "contains": {"enum": [["q", "p"], "q", ["p", "q"], "p"]}, "minContains": 2},
         "then": {"contains": {"minItems": 1}, "minContains": 1, "maxContains": 2}},
        {"if": {"maxItems": 0, "unevaluatedItems": true},
         "then": {"items": {"contains": {"const": "p"}}, "prefixItems": [{"contains": {"const": "p"}}], "contains": false, "minContains": 0}}]}"#;
    answered(
        schema,
        &[
            (r#"["q","p",["p","q"]]"#, true),
            (r#"["p","q",["p","q"]]"#, false),
            (r#"["q","p",["p","q"],"p"]"#, false),
        ],
    );
}

/// Whether the items that are left can all differ is found out of all of them at once: an end of the array asks it behind each item.
#[test]
fn permutations_are_completed_without_a_search() {
    let mut options = SchemaOptions::default();
    options.limits.search_states = 20;
    let schema = r#"{"type": "array", "uniqueItems": true, "items": {"type": "integer", "minimum": 0, "maximum": 99},
        "minItems": 100, "maxItems": 100}"#;
    let set = SchemaSet::load(schema, &options).unwrap();
    let (mut automaton, root) = alone(set, Formats::Asserted, Style::generation()).unwrap();
    let start = automaton.start(root).unwrap().unwrap();
    let at = automaton.read_bytes(start, b"[7,3,").unwrap().unwrap();
    let rest = automaton.completion(at).unwrap().unwrap();
    let end = automaton.read_bytes(at, &rest).unwrap().unwrap();
    assert!(automaton.is_complete(end).unwrap());
}
