//! Explanations against the evaluator of loaded schemas, and against their own definition.

mod corpus;
mod narrowings;
mod texts;
mod work;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::minimal_conflict::{Excluded, excludes};
use super::removable_keywords::Relaxable;
use super::*;
use crate::automaton::Automaton;
use crate::automaton::tests::{Regexes, SCHEMAS, document};
use crate::json::{Document, Value};
use crate::schema::tests::evaluate::is_valid;
use crate::schema::{NodeId, SchemaOptions, SchemaSet};
use crate::strings::Languages;
use crate::{CompileErrorKind, Compiler as _, ExactCompiler, Limits, Vocabulary};
use crate::{ExactOptions, Formats, Style};

fn explainer(schema: &str) -> Explainer {
    Explainer::new(schema, &ExactOptions::judging()).unwrap()
}

/// Whether `text` is a valid document; none where it is not JSON.
fn judge(schema: &SchemaSet, text: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(text).ok()?;
    let document = Document::parse(text, &Limits::default()).ok()?;
    Some(is_valid(schema, &Regexes, &Value::new(&document, 0).unwrap()))
}

/// Whether a schema without some of its keywords still excludes something.
struct Without {
    relaxable: Relaxable,
    locations: Vec<Vec<KeywordLocation>>,
}

impl Without {
    fn new(set: &SchemaSet, root: NodeId) -> Self {
        let relaxable = Relaxable::new(set.clone(), root);
        let locations = |candidate| {
            let locations = relaxable.locations(candidate).into_iter();
            let location = |(document, pointer): (Option<&str>, _)| KeywordLocation {
                document: document.map(str::to_owned),
                pointer,
            };
            locations.map(location).collect()
        };
        let locations = (0..relaxable.len()).map(locations).collect();
        Self { relaxable, locations }
    }

    /// Whether the keywords for which `kept` is true exclude something.
    fn excludes(&mut self, kept: &dyn Fn(&KeywordLocation) -> bool, excluded: Excluded<'_>) -> bool {
        let all = 0..self.locations.len();
        let kept: Vec<usize> = all
            .filter(|candidate| self.locations[*candidate].iter().all(kept))
            .collect();
        self.relaxable.keep(&kept);
        let (set, root) = self.relaxable.set();
        excludes(
            &mut Automaton::lazy(
                Languages::within(set.limits()),
                set,
                Formats::Annotation,
                Style::rfc8259(),
            ),
            root,
            excluded,
        )
        .unwrap()
    }

    /// Asserts that a conflict is minimal, and that its keywords alone exclude what they should.
    fn check_conflict(&mut self, conflict: &Conflict, excluded: Excluded<'_>) {
        let keywords = &conflict.keywords;
        assert!(conflict.minimal && !keywords.is_empty());
        assert!(self.excludes(&|place| keywords.contains(place), excluded), "{conflict}");
        for one in keywords {
            let others = |place: &KeywordLocation| place != one && keywords.contains(place);
            assert!(!self.excludes(&others, excluded), "{conflict} without {one}");
        }
    }

    /// Asserts that a remedy is minimal, and that nothing is excluded without its keywords.
    fn check_remedy(&mut self, remedy: &Conflict, excluded: Excluded<'_>) {
        let keywords = &remedy.keywords;
        assert!(remedy.minimal && !keywords.is_empty());
        assert!(!self.excludes(&|place| !keywords.contains(place), excluded), "{remedy}");
        for one in keywords {
            let fewer = |place: &KeywordLocation| place == one || !keywords.contains(place);
            assert!(self.excludes(&fewer, excluded), "{remedy} with {one}");
        }
    }
}

/// A random document, now and then with a byte too many, one too few, or another one.
fn text(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut text = document(random, 3).into_bytes();
    let at = random.random_range(0..text.len());
    match random.random_range(0..12) {
        0 => text.truncate(at),
        1 => drop(text.remove(at)),
        2 => text.insert(at, b"{}[],:\"1a"[random.random_range(0..9)]),
        _ => {}
    }
    text
}

#[test]
fn forbidden_bytes_are_blamed_on_a_minimal_set_of_keywords() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut by_keywords, mut by_json) = (0, 0);
    for schema in SCHEMAS {
        let mut explainer = explainer(schema);
        let set = explainer.set.clone();
        let mut without = Without::new(&set, set.root());
        for _ in 0..60 {
            let text = text(&mut random);
            let shown = format!("{schema}\n{}", String::from_utf8_lossy(&text));
            let verdict = judge(&set, &text);
            let Some(forbidden) = explainer.forbidden(&text).unwrap() else {
                assert_eq!(verdict, Some(true), "{shown}");
                continue;
            };
            assert_ne!(verdict, Some(true), "{shown}\n{forbidden}");
            let before = &text[..forbidden.offset];
            let excluded = match forbidden.byte {
                Some(byte) => Excluded::Byte(before, byte),
                None => Excluded::End(before),
            };
            match &forbidden.cause {
                Cause::Keywords { conflict, remedy, .. } => {
                    without.check_conflict(conflict, excluded);
                    without.check_remedy(remedy, excluded);
                    by_keywords += 1;
                }
                Cause::Style => panic!("any style will do: {shown}"),
                Cause::Syntax | Cause::RepeatedName(_) => {
                    assert_eq!(verdict, None, "{shown}\n{forbidden}");
                    by_json += 1;
                }
            }
        }
    }
    assert!(by_keywords > 1000 && by_json > 100, "{by_keywords}, {by_json}");
}

#[test]
fn conflicts_name_the_keywords_that_exclude_each_other() {
    for (schema, expected) in [
        ("false", "`#` excludes every value"),
        (r#"{"not": {}}"#, "`/not` excludes every value"),
        (
            r#"{"type": "integer", "minimum": 1, "maximum": 0, "multipleOf": 7}"#,
            "`/maximum`, `/minimum` and `/type` together exclude every value",
        ),
        (
            r#"{"type": "object", "required": ["a", "b"], "properties": {"a": false, "b": {"type": "null"}}, "title": "T"}"#,
            "`/properties/a`, `/required` and `/type` together exclude every value",
        ),
        (
            r#"{"type": "string", "enum": [1, 2]}"#,
            "`/enum` and `/type` exclude each other",
        ),
        (r#"{"oneOf": [true, {}]}"#, "`/oneOf` excludes every value"),
        (
            r#"{"oneOf": [{"type": "string"}, {"type": "null"}], "type": "object"}"#,
            "`/oneOf/0/type`, `/oneOf/1/type` and `/type` together exclude every value",
        ),
        (
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 3,
                "exclusiveMinimum": true, "maximum": 3}"#,
            "`/exclusiveMinimum`, `/maximum`, `/minimum` and `/type` together exclude every value",
        ),
        (
            r#"{"type": "array", "contains": {"type": "string"}, "items": {"type": "null"}}"#,
            "`/contains`, `/contains/type`, `/items/type` and `/type` together exclude every value",
        ),
        (
            r#"{"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}},
                "patternProperties": {"^a": {"type": "string"}, "^b": {"type": "string"}}}"#,
            "`/patternProperties/^b/type`, `/properties/b/type`, `/required` and `/type` together exclude every value",
        ),
        (
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/a"}}}}"##,
            "`/$defs/a/minItems` and `/$defs/a/type` exclude each other, by way of `/$defs/a/items/$ref` and `/$ref`",
        ),
        (
            r##"{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}"##,
            "`/required` and `/type` exclude each other, by way of `/properties/a/$ref`",
        ),
        (
            r##"{"$ref": "#/$defs/a", "$defs": {
                "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/a"}}]},
                "b": {"type": "string", "pattern": "^\\d$", "minLength": 2}}}"##,
            "`/$defs/a/anyOf/1/minItems`, `/$defs/a/anyOf/1/type`, `/$defs/b/minLength`, `/$defs/b/pattern` (`^\\d$`) and \
             `/$defs/b/type` together exclude every value, by way of `/$defs/a/anyOf/0/$ref`, \
             `/$defs/a/anyOf/1/items/$ref` and `/$ref`",
        ),
        (
            r#"{"type": "object", "if": {"required": ["a"]}, "then": false, "required": ["a"], "minProperties": 1}"#,
            "`/if`, `/required` (asks for \"a\") and `/then` together exclude every value",
        ),
        (
            r#"{"allOf": [{"properties": {"a~b/c": true}}], "unevaluatedProperties": false, "type": "object", "required": ["b"]}"#,
            "`/required` (asks for \"b\"), `/type` and `/unevaluatedProperties` together exclude every value",
        ),
        (
            r#"{"properties": {"a": true}, "additionalProperties": false, "type": "object", "required": ["a", "b"]}"#,
            "`/additionalProperties`, `/required` (asks for the undeclared \"b\") and `/type` together exclude every value",
        ),
    ] {
        let conflict = explainer(schema).conflict().unwrap().unwrap();
        assert_eq!(conflict.to_string(), expected, "{schema}");
        let set = SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
        Without::new(&set, set.root()).check_conflict(&conflict, Excluded::Values);
    }
    assert_eq!(explainer(r#"{"minimum": 1, "maximum": 0}"#).conflict(), Ok(None));
}

#[test]
fn the_compiler_says_why_a_schema_has_no_value() {
    let vocabulary = Vocabulary::builder().text(0, "1").unwrap().special(1, "end").unwrap();
    let vocabulary = vocabulary.eos([1]).build().unwrap();
    let compiler = ExactCompiler::new(vocabulary.into(), ExactOptions::judging());
    let error = compiler.compile(r#"{"type": "string", "const": 1}"#).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable);
    assert_eq!(
        error.message(),
        "no JSON value is valid under this schema: `/const` and `/type` exclude each other"
    );
}

#[test]
fn parts_without_a_value_are_named_and_explained() {
    let mut explainer = explainer(
        r##"{
            "properties": {
                "a": {"enum": []},
                "b": {"type": "array", "items": {"type": "string", "const": 1}, "minItems": 1},
                "c": false,
                "d": {"not": true},
                "e": {"not": {"$ref": "#/properties/b/items"}}
            }
        }"##,
    );
    let parts = explainer.unsatisfiable_parts().unwrap();
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    assert_eq!(
        parts,
        [
            "`/properties/a`: `/properties/a/enum` excludes every value",
            "`/properties/b`: `/properties/b/items/const`, `/properties/b/items/type`, `/properties/b/minItems` and \
             `/properties/b/type` together exclude every value",
            "`/properties/b/items`: `/properties/b/items/const` and `/properties/b/items/type` exclude each other",
            "`/properties/e/not`: `/properties/b/items/const` and `/properties/b/items/type` exclude each other, \
             by way of `/properties/e/not/$ref`",
        ]
    );
    assert_eq!(explainer.conflict(), Ok(None));
}

#[test]
fn everything_that_is_refused_is_listed_once() {
    let schema = r#"{"properties": {"a": {"pattern": "(a)\\1"}, "b": {"allOf": [{"pattern": "("}]}}}"#;
    let refused = explainer(schema).refused();
    let refused: Vec<_> = refused.iter().map(|error| (error.pointer(), error.keyword())).collect();
    assert_eq!(
        refused,
        [
            (Some("/properties/a"), Some("pattern")),
            (Some("/properties/b/allOf/0"), Some("pattern"))
        ]
    );
    let many: Vec<String> = (0..1001)
        .map(|number| format!(r#""p{number}": {{"pattern": "("}}"#))
        .collect();
    let refused = explainer(&format!(r#"{{"properties": {{{}}}}}"#, many.join(","))).refused();
    assert_eq!(refused.len(), 1000, "no more are listed");
}

#[test]
fn what_only_the_style_forbids_is_told_apart() {
    let options = ExactOptions {
        style: Style::generation(),
        ..ExactOptions::judging()
    };
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": true}, "required": ["a", "b"]}"#;
    let mut explainer = Explainer::new(schema, &options).unwrap();
    for (text, by_style) in [
        (r#"{"a": 1, "b": 2}"#, None),
        (r#"{"b": 1, "a": 2}"#, Some(true)),
        (r#"{"a":   1, "b": 2}"#, Some(true)),
        (r#"{"a": "1", "b": 2}"#, Some(false)),
    ] {
        let forbidden = explainer.forbidden(text.as_bytes()).unwrap();
        assert_eq!(
            forbidden.map(|forbidden| forbidden.cause == Cause::Style),
            by_style,
            "{text}"
        );
    }
}

#[test]
fn lines_of_members_and_items_are_found() {
    let text = "{\n\"a/b\": [1,\n {\"c\":\n 2}],\n \"c\": \"a/b\"\n}";
    let lines = ["", "/a~1b", "/a~1b/0", "/a~1b/1", "/a~1b/1/c", "/c", "/d", "/a~1b/2"].map(|at| line_of(text, at));
    assert_eq!(
        lines,
        [Some(1), Some(2), Some(2), Some(3), Some(3), Some(5), None, None]
    );
}
