//! Schemas and documents made to cost more than they should: each is answered, or refused with an error that names a limit.

mod alternatives;
mod arrays;
mod patterns;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::super::{Automaton, Formats, State};
use super::alone;
use crate::schema::{SchemaOptions, SchemaSet};
use crate::{CompileErrorKind, Limits, Style};

/// The stack size of the threads that work, in bytes: a quarter of what threads usually get.
const STACK: usize = 512 << 10;
/// A large number of branches; smaller in debug builds, which are slow.
const BRANCHES: usize = if cfg!(debug_assertions) { 400 } else { 2_000 };
/// The time that one schema may take on a slow and busy machine.
const TIME: Duration = Duration::from_secs(60);

/// The result of working on a schema.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// The schema was compiled, and each document was accepted or not.
    Answered(Vec<bool>),
    /// No value satisfies the schema.
    Unsatisfiable,
    /// The schema was refused.
    Refused(CompileErrorKind),
    /// The schema was compiled, and a document reached a limit.
    Stopped,
}

fn verdict(schema: &str, documents: &[&str]) -> Verdict {
    let set = match SchemaSet::load(schema, &SchemaOptions::default()) {
        Ok(set) => set,
        Err(error) => return Verdict::Refused(error.kind()),
    };
    let (mut automaton, root) = match alone(set, Formats::Asserted, Style::rfc8259()) {
        Ok(made) => made,
        Err(error) => return Verdict::Refused(error.kind()),
    };
    let start = match automaton.start(root) {
        Ok(Some(start)) => start,
        Ok(None) => return Verdict::Unsatisfiable,
        Err(_) => return Verdict::Refused(CompileErrorKind::LimitExceeded),
    };
    let mut accepted = Vec::new();
    end(&mut automaton, start);
    for document in documents {
        let mut at = Some(start);
        for byte in document.bytes() {
            let Some(from) = at else { break };
            match automaton.step(from, byte) {
                Ok(next) => at = next,
                Err(_) => return Verdict::Stopped,
            }
        }
        if let Some(at) = at {
            end(&mut automaton, at);
        }
        accepted.push(at.is_some_and(|at| automaton.is_complete(at).unwrap()));
    }
    Verdict::Answered(accepted)
}

/// Reads the completion of a document if one is found. It need not be found, but looking for it takes time.
fn end(automaton: &mut Automaton, at: State) {
    let Ok(Some(rest)) = automaton.completion(at) else {
        return;
    };
    let mut at = at;
    for byte in rest {
        at = automaton.step(at, byte).unwrap().unwrap();
    }
    assert!(automaton.is_complete(at).unwrap());
}

/// The result of working on a schema on a small stack and within [`TIME`].
fn work(schema: &str, documents: &[&str]) -> Verdict {
    let start = Instant::now();
    let verdict = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let handle = thread.spawn_scoped(scope, || verdict(schema, documents)).unwrap();
        handle.join().unwrap()
    });
    let (took, shown) = (start.elapsed(), &schema[..schema.len().min(200)]);
    if std::env::var_os("MASKWRIGHT_TIMES").is_some() {
        eprintln!("{took:?} {verdict:?} {shown}");
    }
    assert!(took < TIME, "{took:?} for {shown}");
    verdict
}

fn answered(schema: &str, documents: &[(&str, bool)]) {
    let texts: Vec<&str> = documents.iter().map(|(text, _)| *text).collect();
    let expected = documents.iter().map(|(_, valid)| *valid).collect();
    assert_eq!(
        work(schema, &texts),
        Verdict::Answered(expected),
        "{}",
        &schema[..schema.len().min(400)]
    );
}

fn refused(schema: &str) {
    assert_eq!(work(schema, &[]), Verdict::Refused(CompileErrorKind::LimitExceeded));
}

/// A comma-separated list of `count` pieces of text, each made from its index.
fn list(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(",")
}

/// The text `inner` within `depth` repetitions of `before` and `after`.
fn nested(depth: usize, before: &str, inner: &str, after: &str) -> String {
    format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
}

#[test]
fn nesting_costs_no_stack() {
    let required = r#"{"type": "object", "required": ["a"], "properties": {"a": "#;
    let valid = nested(450, r#"{"a":"#, "1", "}");
    answered(
        &nested(450, required, r#"{"type": "integer"}"#, "}}"),
        &[(&valid, true), (r#"{"a":1"#, false)],
    );
    answered(
        &nested(450, r#"{"items": "#, "false", "}"),
        &[(&nested(450, "[", "", "]"), true)],
    );
    answered(
        &nested(400, r#"{"not": "#, r#"{"type": "integer"}"#, "}"),
        &[("1", true), ("null", false)],
    );
    answered(
        &nested(300, r#"{"anyOf": ["#, r#"{"type": "integer"}"#, "]}"),
        &[("1", true), ("null", false)],
    );
    answered(
        &nested(450, r#"{"if": "#, r#"{"type": "integer"}"#, "}"),
        &[("1", true), ("null", true)],
    );
    refused(&nested(20_000, r#"{"not": "#, "true", "}"));
    refused(&nested(20_000, r#"{"items": "#, "true", "}"));
    // References can nest deeper than text may.
    let mut chain = String::new();
    for at in 0..20_000 {
        write!(
            chain,
            r##""{at}": {{"type": "object", "required": ["a"], "properties": {{"a": {{"$ref": "#/$defs/{}"}}}}}},"##,
            at + 1
        )
        .unwrap();
    }
    let schema = format!(r##"{{"$defs": {{{chain} "20000": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
    answered(&schema, &[(r#"{"a":{"a":1"#, false), (r#"{"a":1"#, false)]);
    let chain = list(20_000, |at| {
        format!(r##""{at}": {{"allOf": [{{"$ref": "#/$defs/{}"}}]}}"##, at + 1)
    });
    let schema = format!(r##"{{"$defs": {{{chain}, "20000": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
    answered(&schema, &[("1", true), ("{}", false)]);
}

#[test]
fn doubling_references_cost_no_more_than_their_number() {
    for keyword in ["allOf", "anyOf"] {
        let chain = list(200, |at| {
            let next = format!(r##"{{"$ref": "#/$defs/{}"}}"##, at + 1);
            format!(r#""{at}": {{"{keyword}": [{next}, {next}]}}"#)
        });
        let schema = format!(r##"{{"$defs": {{{chain}, "200": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
        answered(&schema, &[("1", true), ("{}", false)]);
        let rest = schema
            .replacen("{", r#"{"unevaluatedProperties": false, "type": "object", "#, 1)
            .replace("integer", "object");
        answered(&rest, &[("{}", true), (r#"{"a":1}"#, false)]);
    }
    // "Exactly one" of two equal schemas is never satisfied.
    let chain = list(200, |at| {
        let next = format!(r##"{{"$ref": "#/$defs/{}"}}"##, at + 1);
        format!(r#""{at}": {{"oneOf": [{next}, {{"allOf": [{next}, {{"not": {next}}}]}}]}}"#)
    });
    let schema = format!(r##"{{"$defs": {{{chain}, "200": {{"required": ["a"]}}}}, "$ref": "#/$defs/0"}}"##);
    answered(&schema, &[(r#"{"a":1}"#, true), ("{}", false)]);
    let chain = list(200, |at| {
        let next = format!(r##"{{"$ref": "#/$defs/{}"}}"##, at + 1);
        format!(r#""{at}": {{"type": "object", "properties": {{"a": {next}, "b": {next}}}, "required": ["a", "b"]}}"#)
    });
    let schema = format!(r##"{{"$defs": {{{chain}, "200": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
    answered(&schema, &[(r#"{"a":{"a":1"#, false), (r#"{"a":1"#, false)]);
}

#[test]
fn long_lists_of_values() {
    const COUNT: usize = 50_000;
    let strings = list(COUNT, |at| format!(r#""value {at}""#));
    answered(
        &format!(r#"{{"enum": [{strings}]}}"#),
        &[(r#""value 49999""#, true), (r#""value 50000""#, false)],
    );
    answered(
        &format!(r#"{{"not": {{"enum": [{strings}]}}}}"#),
        &[(r#""value 49999""#, false), (r#""value 50000""#, true)],
    );
    let numbers = list(COUNT, |at| format!("{}", at * 3));
    answered(
        &format!(r#"{{"enum": [{numbers}]}}"#),
        &[("149997", true), ("149998", false)],
    );
    let objects = list(BRANCHES, |at| format!(r#"{{"a": {at}, "b": "{}"}}"#, at % 7));
    answered(
        &format!(r#"{{"enum": [{objects}]}}"#),
        &[(r#"{"a":199,"b":"3"}"#, true), (r#"{"b":"3","a":198}"#, false)],
    );
    let arrays = list(BRANCHES, |at| format!(r#"[{at}, "{}"]"#, at % 7));
    answered(
        &format!(r#"{{"enum": [{arrays}]}}"#),
        &[(r#"[199,"3"]"#, true), (r#"[198,"3"]"#, false)],
    );
    let names = list(2 * BRANCHES, |at| format!(r#"{{"a{at}": {at}}}"#));
    answered(
        &format!(r#"{{"enum": [{names}]}}"#),
        &[(r#"{"a199":199}"#, true), (r#"{"a199":198}"#, false)],
    );
    // More values than the limit allows.
    refused(&format!(
        r#"{{"enum": [{}]}}"#,
        list(COUNT, |at| format!(r#"{{"a": {at}}}"#))
    ));
    refused(&format!(r#"{{"enum": [{}]}}"#, list(COUNT, |at| format!("[{at}]"))));
    let constants = list(2_000, |at| format!(r#"{{"const": "value {at}"}}"#));
    for keyword in ["anyOf", "oneOf"] {
        answered(
            &format!(r#"{{"{keyword}": [{constants}]}}"#),
            &[(r#""value 1999""#, true), (r#""value 2000""#, false)],
        );
    }
    // Sets of numbers, each with those before it, would have the square of their number of members together.
    let constants = list(10_000, |at| format!(r#"{{"const": {}}}"#, 2 * at));
    let windows = list(2_000, |at| format!(r#"{{"minimum": {at}.25, "maximum": {at}.5}}"#));
    for keyword in ["anyOf", "oneOf"] {
        answered(
            &format!(r#"{{"{keyword}": [{constants}]}}"#),
            &[("19998", true), ("19999", false)],
        );
        answered(
            &format!(r#"{{"type": "number", "{keyword}": [{windows}]}}"#),
            &[("1999.3", true), ("1999.6", false)],
        );
    }
    let excluded = list(10_000, |at| format!(r#"{{"not": {{"const": {}}}}}"#, 2 * at));
    answered(
        &format!(r#"{{"allOf": [{excluded}]}}"#),
        &[("19998", false), ("19999", true)],
    );
}

/// The memory for a list of objects or arrays grows with the length of the list, not with its square.
#[test]
fn long_lists_are_kept_once() {
    let kept = |value: fn(usize) -> String, count: usize| {
        let schema = format!(r#"{{"anyOf": [{{"enum": [{}]}}]}}"#, list(count, value));
        let set = SchemaSet::load(&schema, &SchemaOptions::default()).unwrap();
        let (mut automaton, root) = alone(set, Formats::Asserted, Style::rfc8259()).unwrap();
        let mut at = automaton.start(root).unwrap().unwrap();
        for byte in value(count / 2).bytes() {
            at = automaton.step(at, byte).unwrap().unwrap();
        }
        assert!(automaton.is_complete(at).unwrap());
        automaton.formula_bytes()
    };
    let object = |at: usize| format!(r#"{{"a": {at}, "b": "{}", "c": {{"d": {}}}}}"#, at % 7, at % 11);
    let array = |at: usize| format!(r#"[{at}, "{}", [{}]]"#, at % 7, at % 11);
    for value in [object as fn(usize) -> String, array] {
        let (few, many) = (kept(value, 60), kept(value, 240));
        assert!(many < 6 * few, "{few} and {many} bytes");
    }
}

#[test]
fn objects_of_many_names() {
    const COUNT: usize = 5_000;
    let properties = list(COUNT, |at| format!(r#""name {at}": {{"type": "integer"}}"#));
    let document = |count: usize| format!("{{{}}}", list(count, |at| format!(r#""name {at}":1"#)));
    let schema = format!(r#"{{"type": "object", "properties": {{{properties}}}, "additionalProperties": false}}"#);
    answered(
        &schema,
        &[
            (&document(30), true),
            (r#"{"name 4999":"a"}"#, false),
            (r#"{"name 5000":1}"#, false),
        ],
    );
    let required = list(COUNT, |at| format!(r#""name {at}""#));
    answered(
        &format!(r#"{{"type": "object", "required": [{required}]}}"#),
        &[(&document(20), false), ("{}", false)],
    );
    let both = format!(r#"{{"type": "object", "properties": {{{properties}}}, "required": [{required}]}}"#);
    answered(&both, &[(&document(20), false), ("{}", false)]);
    let schema = format!(
        r#"{{"type": "object", "properties": {{{properties}}}, "additionalProperties": false, "minProperties": 4999}}"#
    );
    answered(&schema, &[(&document(3), false), ("{}", false)]);
    let chain = list(1_000, |at| format!(r#""{at}": ["{}"]"#, at + 1));
    let schema = format!(r#"{{"type": "object", "dependentRequired": {{{chain}}}}}"#);
    answered(
        &schema,
        &[
            ("{}", true),
            (r#"{"1000":1}"#, true),
            (r#"{"999":1}"#, false),
            (r#"{"999":1,"1000":2}"#, true),
        ],
    );
    // Many keys that can run out.
    let names = list(200, |at| format!(r#""{at}""#));
    let schema = format!(r#"{{"type": "object", "propertyNames": {{"enum": [{names}]}}, "minProperties": 200}}"#);
    let all = format!("{{{}}}", list(200, |at| format!(r#""{at}":0"#)));
    answered(&schema, &[(&all, true), (&all[..all.len() - 8], false)]);
    let schema = schema.replace("200}", "201}");
    assert_eq!(work(&schema, &[]), Verdict::Unsatisfiable);
    // Keys that do not run out.
    answered(r#"{"type": "object", "minProperties": 600}"#, &[("{}", false)]);
    answered(
        r#"{"type": "object", "minProperties": 300, "propertyNames": {"pattern": "^a.*b$"}}"#,
        &[(r#"{"axb":1}"#, false), (r#"{"ax":1}"#, false)],
    );
    // Members whose formula only slowly approaches its end.
    answered(
        r#"{
            "if": {"items": {
                "propertyNames": {"patternProperties": {"^a": {"required": ["ab"]}}, "maximum": -2.5},
                "items": {"if": {"type": "boolean"}, "minContains": 1, "minimum": 0.1},
                "minContains": 4
            }},
            "then": {"enum": [{}]}
        }"#,
        &[("{}", true), ("[", false), ("[{", false)],
    );
}

#[test]
fn objects_of_many_branches() {
    let tagged = list(BRANCHES, |at| {
        format!(
            r#"{{"type": "object", "properties": {{"type": {{"const": "kind {at}"}}, "x{at}": {{"type": "integer"}}}}, "required": ["type"]}}"#
        )
    });
    for keyword in ["anyOf", "oneOf"] {
        let schema = format!(r#"{{"{keyword}": [{tagged}]}}"#);
        answered(
            &schema,
            &[
                (r#"{"type":"kind 7","x7":1}"#, true),
                (r#"{"type":"kind 7","x7":"a"}"#, false),
                (r#"{"type":"kind 2000"}"#, false),
            ],
        );
    }
    let required = list(300, |at| format!(r#"{{"required": ["name {at}"]}}"#));
    let schema = format!(r#"{{"type": "object", "oneOf": [{required}]}}"#);
    answered(
        &schema,
        &[
            (r#"{"name 7":1}"#, true),
            (r#"{"name 7":1,"name 8":1}"#, false),
            ("{}", false),
        ],
    );
    let schema = format!(r#"{{"type": "object", "not": {{"oneOf": [{required}]}}}}"#);
    answered(
        &schema,
        &[
            (r#"{"name 7":1}"#, false),
            (r#"{"name 7":1,"name 8":1}"#, true),
            ("{}", true),
        ],
    );
    let typed = list(300, |at| {
        format!(r#"{{"properties": {{"x{at}": {{"type": "integer"}}}}}}"#)
    });
    let schema = format!(r#"{{"type": "object", "anyOf": [{typed}]}}"#);
    answered(&schema, &[(r#"{"x7":"a"}"#, true), ("{}", true)]);
}

#[test]
fn numbers_of_any_size() {
    answered(
        r#"{"multipleOf": 1e-300, "type": "number"}"#,
        &[("1", true), ("1e-300", true), ("1e-301", false)],
    );
    answered(
        r#"{"multipleOf": 3, "type": "number", "maximum": 1e390000}"#,
        &[(&"3".repeat(2_000), true), (&"1".repeat(2_000), false)],
    );
    answered(
        r#"{"multipleOf": 1e300, "type": "number"}"#,
        &[("0", true), ("2e300", true), ("1", false)],
    );
    let digits = "7".repeat(5_000);
    answered(
        &format!(r#"{{"minimum": {digits}}}"#),
        &[(&digits, true), (&digits[1..], false)],
    );
    answered(
        &format!(r#"{{"const": {digits}}}"#),
        &[(&digits, true), (&digits[1..], false)],
    );
    work(
        &format!(r#"{{"multipleOf": {digits}, "type": "number"}}"#),
        &[&digits, "0"],
    );
    let steps = list(40, |at| format!(r#"{{"multipleOf": {}}}"#, 2 * at + 3));
    work(
        &format!(r#"{{"type": "integer", "not": {{"anyOf": [{steps}]}}}}"#),
        &["1", "3"],
    );
    work(&format!(r#"{{"type": "integer", "allOf": [{steps}]}}"#), &["0", "3"]);
    work(&format!(r#"{{"type": "integer", "oneOf": [{steps}]}}"#), &["0", "3"]);
    refused(&format!(r#"{{"minimum": {}}}"#, "7".repeat(20_000)));
}

#[test]
fn strings_that_count() {
    work(
        r#"{"type": "string", "pattern": "^.*a.{18}$"}"#,
        &[r#""bbbba123456789012345678""#],
    );
    work(
        r#"{"type": "string", "pattern": "(a|b)*a(a|b){25}"}"#,
        &[r#""abababababababababababababababababababab""#],
    );
    answered(
        r#"{"type": "string", "maxLength": 1000000}"#,
        &[(r#""abc""#, true), ("1", false)],
    );
    answered(r#"{"type": "string", "minLength": 1000000000}"#, &[(r#""abc""#, false)]);
    // The bound is the same in both alternatives, so that it need not be counted up to.
    let bounded = |pattern: &str| format!(r#"{{"type": "string", "format": "uri", "maxLength": 65536{pattern}}}"#);
    answered(
        &format!(r#"{{"oneOf": [{}, {}]}}"#, bounded(r#", "pattern": "a""#), bounded("")),
        &[
            (r#""http://b.example""#, false),
            (r#""http://b.org""#, true),
            (r#""b""#, false),
        ],
    );
    work(
        r#"{"type": "string", "pattern": "^(a{1,500}b{1,500}){1,500}$"}"#,
        &[r#""aaabbbaaabbb""#],
    );
    work(
        r#"{"type": "string", "pattern": "^(((((a*)*)*)*)*)*b$", "minLength": 5}"#,
        &[r#""aaaaaaaaaaaaaaab""#],
    );
    let both = list(20, |at| format!(r#"{{"pattern": "x{at}y"}}"#));
    work(&format!(r#"{{"type": "string", "allOf": [{both}]}}"#), &[r#""x1y""#]);
    let patterns = list(64, |at| format!(r#""a.*{at}": {{"type": "integer"}}"#));
    work(
        &format!(r#"{{"type": "object", "patternProperties": {{{patterns}}}}}"#),
        &[r#"{"a1":1}"#, "{}"],
    );
    let patterns = list(64, |at| format!(r#""^.{{{at}}}a": {{"minimum": {at}}}"#));
    work(
        &format!(r#"{{"type": "object", "patternProperties": {{{patterns}}}}}"#),
        &[r#"{"aba":1}"#, "{}"],
    );
    work(
        r#"{"type": "object", "propertyNames": {"not": {"pattern": "^a|b.{9}$|c"}}, "minProperties": 3}"#,
        &[r#"{"d":1,"e":2,"f":3}"#],
    );
}

#[test]
fn branches_that_evaluate() {
    let branches = |depth: usize| {
        let mut schema = r#"{"properties": {"end": true}}"#.to_owned();
        for at in 0..depth {
            schema = format!(
                r#"{{"anyOf": [{{"properties": {{"a{at}": {{"type": "integer"}}}}, "required": ["a{at}"]}}, {schema}]}}"#
            );
        }
        schema.replacen('{', r#"{"type": "object", "unevaluatedProperties": false, "#, 1)
    };
    answered(
        &branches(12),
        &[(r#"{"a3":1}"#, true), (r#"{"a3":"x"}"#, false), (r#"{"b":1}"#, false)],
    );
    work(&branches(100), &[r#"{"a3":1}"#, r#"{"b":1}"#]);
    let contains = list(200, |at| format!(r#"{{"contains": {{"const": {at}}}}}"#));
    answered(
        &format!(r#"{{"type": "array", "anyOf": [{contains}], "unevaluatedItems": false}}"#),
        &[("[1,199]", true), ("[1,200]", false), ("[]", false)],
    );
    // Branches that ask for more than one item evaluate only where they hold.
    answered(
        r#"{"type": "array", "unevaluatedItems": false, "anyOf": [{"contains": {"const": 1}, "minItems": 3},
            {"contains": {"const": 2}, "maxContains": 1}, {"contains": {"const": 3}, "minContains": 2}]}"#,
        &[
            ("[2]", true),
            ("[1]", false),
            ("[1,1,1]", true),
            ("[2,1]", false),
            ("[2,1,1]", true),
            ("[2,2,1]", false),
            ("[2,3]", false),
            ("[2,3,3]", true),
            ("[3,3]", true),
        ],
    );
}

/// Lowers a limit.
type Lower<'a> = &'a dyn Fn(&mut Limits);

/// A limit that is set low is reached, and the error names the limit.
#[test]
fn limits_are_named_where_they_are_reached() {
    let set = |change: &dyn Fn(&mut Limits)| {
        let mut options = SchemaOptions::default();
        change(&mut options.limits);
        options
    };
    let chain = list(30, |at| {
        format!(
            r##""{at}": {{"type": "object", "required": ["a"], "properties": {{"a": {{"$ref": "#/$defs/{}"}}}}}}"##,
            at + 1
        )
    });
    let chain = format!(r##"{{"$defs": {{{chain}, "30": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
    let three = r#"{"type": "object", "properties": {"a": {"oneOf": [{"minimum": 1}, {"multipleOf": 2}, {"multipleOf": 3}]}}, "required": ["a"],
        "not": {"properties": {"a": {"enum": [2, 3, 4]}}}, "anyOf": [{"properties": {"a": {"multipleOf": 5}}}, {"properties": {"a": {"minimum": 7}}}]}"#;
    let patterns = r#"{"type": "object", "patternProperties": {"^a": {"type": "integer"}, "b$": {"type": "string"}, "c": {"type": "null"}}, "minProperties": 1, "not": {"required": ["d"]}}"#;
    let differ = r#"{"type": "array", "uniqueItems": true, "items": {"enum": [1, 2, 3, 4]}, "minItems": 5}"#;
    let contained = r#"{"type": "array", "uniqueItems": true, "items": {"enum": [1, 2, 3, 4]}, "allOf": [{"contains": {"minimum": 1}}, {"contains": {"multipleOf": 2}}, {"contains": {"multipleOf": 3}}], "minItems": 5}"#;
    let listed = r#"{"enum": [[1], [2], [3]]}"#;
    let cases: [(&str, &str, Lower<'_>); 10] = [
        ("open_questions", &chain, &|limits| limits.open_questions = 10),
        ("search_states", differ, &|limits| limits.search_states = 3),
        ("assertions", three, &|limits| limits.assertions = 2),
        ("verdicts", contained, &|limits| limits.verdicts = 2),
        ("name_classes", patterns, &|limits| limits.name_classes = 2),
        ("listed_containers", listed, &|limits| limits.listed_containers = 2),
        ("differing_items", differ, &|limits| limits.differing_items = 2),
        ("number_values", differ, &|limits| limits.number_values = 3),
        ("number_terms", three, &|limits| limits.number_terms = 1),
        ("memory_bytes", &chain, &|limits| limits.memory_bytes = 1000),
    ];
    for (name, schema, change) in cases {
        let loaded = SchemaSet::load(schema, &set(change)).unwrap();
        let made = alone(loaded, Formats::Asserted, Style::rfc8259());
        let error = match made {
            Err(error) => {
                assert!(error.pointer().is_some(), "{error}");
                error.to_string()
            }
            Ok((mut automaton, root)) => match automaton.start(root) {
                Err(error) => error.to_string(),
                Ok(start) => {
                    let mut at = start;
                    let mut refusal = None;
                    for byte in b"{\"a\":" {
                        match at.map(|at| automaton.step(at, *byte)) {
                            Some(Ok(next)) => at = next,
                            Some(Err(error)) => refusal = Some(error),
                            None => {}
                        }
                    }
                    refusal.unwrap_or_else(|| panic!("{name} was not reached")).to_string()
                }
            },
        };
        assert!(error.contains(&format!("`{name}`")), "{name}: {error}");
    }
}

/// In the style for models the member that tells the alternatives apart can no longer come once another has, so that all of them
/// have to be told apart by that other.
#[test]
fn alternatives_of_which_none_is_named() {
    let branches = list(BRANCHES, |i| {
        let value = format!(r#"{{"type":"object","properties":{{"p{i}":{{"type":"integer"}}}}}}"#);
        format!(r#"{{"type":"object","properties":{{"kind":{{"const":"k{i}"}},"value":{value}}}}}"#)
    });
    let schema = format!(r#"{{"oneOf":[{branches}]}}"#);
    let set = SchemaSet::load(&schema, &SchemaOptions::default()).unwrap();
    let (mut automaton, root) = alone(set, Formats::Asserted, Style::generation()).unwrap();
    let start = automaton.start(root).unwrap().unwrap();
    let text = br#"{"kind":"k1","value":{"p1":1}}"#;
    let states = text.iter().scan(start, |at, byte| {
        *at = automaton.step(*at, *byte).unwrap()?;
        Some(*at)
    });
    let states: Vec<State> = states.collect();
    assert_eq!(states.len(), text.len());
    assert!(automaton.is_complete(states[states.len() - 1]).unwrap());
}

#[test]
fn few_texts_that_take_long_to_list_are_told_apart_by_their_language() {
    let pattern = r"^[0-9]{3}-notifications\\.example\\.com$";
    answered(
        &format!(r#"{{"oneOf": [{{"type": "string", "pattern": "{pattern}"}}, {{"type": "null"}}]}}"#),
        &[
            (r#""123-notifications.example.com""#, true),
            (r#""12-notifications.example.com""#, false),
            ("null", true),
        ],
    );
    answered(
        &format!(
            r#"{{"type": "object", "patternProperties": {{"{pattern}": {{"type": "integer"}}}}, "minProperties": 1}}"#
        ),
        &[
            (r#"{"123-notifications.example.com":1}"#, true),
            (r#"{"123-notifications.example.com":null}"#, false),
            ("{}", false),
        ],
    );
    let units = ["px", "em", "rem", "vw"].map(|unit| {
        format!(r#"{{"type": "object", "required": ["width"], "properties": {{"width": {{"type": "string", "pattern": "^[0-9]{{1,4}}{unit}$"}}}}}}"#)
    });
    for keyword in ["oneOf", "anyOf"] {
        let schema = format!(r#"{{"{keyword}": [{}]}}"#, units.join(","));
        let documents = [
            (r#"{"width":"1234rem"}"#, true),
            (r#"{"width":"12345rem"}"#, false),
            (r#"{"width":"1pt"}"#, false),
        ];
        answered(&schema, &documents);
    }
}

/// Each level doubles the conditions under which the next one speaks of members.
#[test]
fn conditions_that_double_are_refused() {
    let chain = list(40, |at| {
        let branch = |name: char| format!(r##"{{"required": ["{name}{at}"], "$ref": "#/$defs/{}"}}"##, at + 1);
        format!(r#""{at}": {{"anyOf": [{}, {}]}}"#, branch('a'), branch('b'))
    });
    let last = r#""40": {"properties": {"x": true}}"#;
    refused(&format!(
        r##"{{"type": "object", "unevaluatedProperties": false, "$ref": "#/$defs/0", "$defs": {{{chain}, {last}}}}}"##
    ));
}

#[test]
fn many_names_that_are_evaluated() {
    let names = list(50_000, |at| format!(r#""n{at}": {{}}"#));
    let schema = format!(r#"{{"type": "object", "properties": {{{names}}}, "unevaluatedProperties": false}}"#);
    answered(&schema, &[(r#"{"n7":1}"#, true), (r#"{"n":1}"#, false)]);
}
