//! Tests the automaton against an independent judge: the evaluator of loaded schemas, which knows nothing of bytes.

mod annotations;
mod bounds;
mod closed;
mod formats;
mod hostile;
mod layouts;
mod left_out;
mod lists;
mod order;
mod preferred;
mod schemas;
mod styles;

use std::collections::HashSet;

use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use schemas::DEPENDENT;
pub(crate) use schemas::SCHEMAS;

use super::formula::assertion::AssertionId;
use super::{Automaton, Formats, State};
use crate::json::{Document, Value};
use crate::schema::tests::evaluate::{Texts, is_valid};
use crate::schema::{SchemaOptions, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, CompileErrorKind, Escapes, Limits, Style, Whitespace};

/// The automaton of a schema, with string languages of its own.
fn alone(set: SchemaSet, formats: Formats, style: Style) -> Result<(Automaton, AssertionId), CompileError> {
    Automaton::new(Languages::within(set.limits()), set, formats, style, &[])
}

/// Patterns for the judge, matched by the `fancy-regex` crate.
pub(crate) struct Regexes;

impl Texts for Regexes {
    fn matches(&self, pattern: &str, text: &str) -> bool {
        fancy_regex::Regex::new(pattern).unwrap().is_match(text).unwrap()
    }

    fn has_format(&self, _format: &str, _text: &str) -> bool {
        true
    }
}

struct Subject {
    set: SchemaSet,
    automaton: Automaton,
    start: State,
}

fn subject(schema: &str) -> Subject {
    styled(schema, Style::rfc8259())
}

fn styled(schema: &str, style: Style) -> Subject {
    let (set, automaton, start) = loaded(schema, style);
    let start = start.expect("some value is valid");
    Subject { set, automaton, start }
}

/// A schema with its automaton, and the state before a document; no state if no value is valid.
fn loaded(schema: &str, style: Style) -> (SchemaSet, Automaton, Option<State>) {
    let load = || SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
    let (mut automaton, root) = alone(load(), Formats::Annotation, style).unwrap();
    let start = automaton.start(root).unwrap();
    (load(), automaton, start)
}

impl Subject {
    fn accepts(&mut self, text: &str) -> bool {
        let mut at = self.start;
        for byte in text.bytes() {
            match self.automaton.step(at, byte).unwrap() {
                Some(next) => at = next,
                None => return false,
            }
        }
        self.automaton.is_complete(at).unwrap()
    }

    fn begins(&mut self, text: &str) -> bool {
        let mut at = Some(self.start);
        for byte in text.bytes() {
            at = at.and_then(|at| self.automaton.step(at, byte).unwrap());
        }
        at.is_some()
    }

    /// The bytes that may come at a state, each with the state after it.
    fn allowed(&mut self, at: State) -> Vec<(u8, State)> {
        let mut allowed = Vec::new();
        for byte in 0..=255 {
            if let Some(next) = self.automaton.step(at, byte).unwrap() {
                allowed.push((byte, next));
            }
        }
        allowed
    }

    /// The document that the completion from a state makes of the text before. There has to be one, valid under `schema` and accepted.
    fn completed(&mut self, schema: &str, before: &[u8], at: State) -> String {
        let rest = self.automaton.completion(at).unwrap();
        let rest = rest.unwrap_or_else(|| panic!("{schema}: none after {:?}", String::from_utf8_lossy(before)));
        let whole = String::from_utf8([before, &rest].concat()).unwrap();
        assert!(self.accepts(&whole) && self.judge(&whole), "{schema}\n{whole}");
        whole
    }

    fn judge(&self, text: &str) -> bool {
        judge(&self.set, text)
    }
}

/// Whether a document is valid under a schema.
fn judge(set: &SchemaSet, text: &str) -> bool {
    let document = Document::parse(text, &Limits::default()).unwrap();
    is_valid(set, &Regexes, &Value::new(&document, 0).unwrap())
}

/// A random document over few keys and values, with its strings and numbers spelled at random.
pub(crate) fn document(random: &mut ChaCha8Rng, depth: u32) -> String {
    let space = [" ", "\n", "", "", ""];
    let gap = |random: &mut ChaCha8Rng| *space.choose(random).unwrap();
    let name = |random: &mut ChaCha8Rng| *[r#""a""#, r#""b""#, r#""\u0061b""#, r#""c""#].choose(random).unwrap();
    match random.random_range(0..if depth == 0 { 4 } else { 7 }) {
        0 => (*["null", "true", "false"].choose(random).unwrap()).to_owned(),
        1 | 2 => (*["0", "1", "-1", "10", "1.5", "1.0", "1e1", "0.5e1", "2", "-2.50"]
            .choose(random)
            .unwrap())
        .to_owned(),
        3 => (*[
            r#""""#,
            r#""a""#,
            r#""\u0061""#,
            r#""ab""#,
            r#""ab1""#,
            r#""aa\u0062\u0031""#,
        ]
        .choose(random)
        .unwrap())
        .to_owned(),
        4 | 5 => {
            let mut names: Vec<&str> = Vec::new();
            for _ in 0..random.random_range(0..4) {
                let name = name(random);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let members: Vec<String> = names
                .into_iter()
                .map(|name| format!("{}{name}:{}{}", gap(random), gap(random), document(random, depth - 1)))
                .collect();
            format!("{{{}{}}}", members.join(","), gap(random))
        }
        _ => {
            let items = (0..random.random_range(0..4)).map(|_| document(random, depth - 1));
            format!("[{}{}]", items.collect::<Vec<_>>().join(","), gap(random))
        }
    }
}

#[test]
fn documents_are_accepted_if_and_only_if_they_are_valid() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let documents: Vec<String> = (0..1500).map(|_| document(&mut random, 3)).collect();
    for schema in SCHEMAS.into_iter().chain(DEPENDENT) {
        let mut subject = subject(schema);
        let mut valid = 0;
        for text in &documents {
            let expected = subject.judge(text);
            assert_eq!(subject.accepts(text), expected, "{schema}\n{text}");
            valid += usize::from(expected);
        }
        assert!(
            valid < documents.len() || schema == "true",
            "{schema}: something must be refused"
        );
    }
}

/// Random walks over the allowed bytes: there is always an allowed byte, and the document that comes out is valid.
#[test]
fn walks_never_end_before_the_document_does() {
    // Random letters hardly ever spell the key that some schemas require.
    let ended = walk(Style::rfc8259(), &SCHEMAS, 120, &mut |_| {});
    assert!(
        ended >= SCHEMAS.len() - 4,
        "walks came to an end under {ended} schemas only"
    );
}

/// A value that other items need is not taken, however many values there are.
#[test]
fn values_that_others_need_are_left_to_them() {
    for count in [3, 63, 64, 65, 300] {
        let values: Vec<String> = (0..count).map(|at| format!("\"b{at}\"")).collect();
        let schema = |first: &str| {
            format!(
                r#"{{"type": "array", "uniqueItems": true, "prefixItems": [{first}], "items": {{"enum": [{}]}}, "minItems": {}}}"#,
                values.join(","),
                count + 1
            )
        };
        let mut subject = subject(&schema(r#"{"type": "string"}"#));
        assert!(subject.begins(r#"["x","b0""#) && !subject.begins(r#"["b0""#), "{count}");
        // With one more item of another kind, there is one value more than needed.
        let mut subject = self::subject(&schema(r#"{"type": "integer"}, {"type": "string"}"#));
        assert!(subject.begins(r#"[1,"b0","b1""#), "{count}");
    }
}

/// Arrays whose items need not differ are infinitely many where one can repeat an item, also where a schema asks whether they differ.
#[test]
fn arrays_that_may_repeat_items_are_not_counted() {
    for schema in [
        r##"{"items": {"oneOf": [{"$ref": "#"}, {"contains": {"maxItems": 4}}]}, "uniqueItems": true}"##,
        r##"{"items": {"anyOf": [{"$ref": "#"}, {"items": {"const": []}}]}, "uniqueItems": true}"##,
        r##"{"items": {"anyOf": [{"not": {"$ref": "#"}}, {"type": "boolean"}]}, "uniqueItems": true}"##,
    ] {
        let mut subject = subject(schema);
        for text in [
            "[]",
            "[[],[[]]]",
            "[1,[2]]",
            "[[[1],[1,1]],true]",
            "[[1,1],[1,1,1]]",
            "[[1],[1]]",
        ] {
            assert_eq!(subject.accepts(text), subject.judge(text), "{schema}\n{text}");
        }
    }
}

/// The common beginning of the remaining keys is forced, however many keys there are and in whatever order.
#[test]
fn names_left_force_what_they_share() {
    let names: Vec<String> = (0..45)
        .map(|at| {
            format!(
                "\"{}{}\"",
                ["a", "b", "ab\\n", "bé", "\\\""][at % 5],
                ["x", "y", "", "xé", "\\u0001", "yy", "yyx", "z", "zx"][at / 5]
            )
        })
        .collect();
    let ones: Vec<String> = names.iter().map(|name| format!("{name}: {{\"const\": 1}}")).collect();
    let (names, ones) = (names.join(","), ones.join(","));
    let closed = r#""type": "object", "additionalProperties": false"#;
    let schemas = [
        format!(r#"{{{closed}, "properties": {{{ones}}}}}"#),
        format!(r#"{{{closed}, "properties": {{{ones}}}, "required": [{names}]}}"#),
    ];
    for escapes in [Escapes::Any, Escapes::Needed] {
        let style = Style {
            escapes,
            whitespace: Whitespace::Compact,
            ..Style::rfc8259()
        };
        assert_eq!(walk(style, &schemas, 1_500, &mut |_| {}), schemas.len());
    }
}

/// Walks at random under each schema, for at most `bytes` bytes, and passes each finished document to `check`. Returns
/// the number of schemas under which a document was finished.
fn walk(style: Style, schemas: &[impl AsRef<str>], bytes: usize, check: &mut dyn FnMut(&str)) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut ended = 0;
    for schema in schemas.iter().map(AsRef::as_ref) {
        let mut subject = styled(schema, style);
        let mut done = HashSet::new();
        for _ in 0..60 {
            let (mut at, mut text) = (subject.start, Vec::new());
            for length in 0..bytes {
                let complete = subject.automaton.is_complete(at).unwrap();
                if complete && random.random_bool(0.5) {
                    let text = String::from_utf8(text.clone()).unwrap();
                    assert!(subject.judge(&text), "{schema}\n{text}");
                    check(&text);
                    done.insert(text);
                    break;
                }
                let allowed = subject.allowed(at);
                assert!(
                    complete || !allowed.is_empty(),
                    "{schema}: dead end after {:?}",
                    String::from_utf8_lossy(&text)
                );
                let only = (allowed.len() == 1 && !complete).then(|| allowed[0]);
                assert_eq!(
                    subject.automaton.forced_byte(at).unwrap(),
                    only,
                    "{schema} after {:?}",
                    String::from_utf8_lossy(&text)
                );
                // Near the end of the walk, a closing byte is preferred.
                let closing: Vec<_> = allowed.iter().filter(|(byte, _)| b"]}\"".contains(byte)).collect();
                let pick = match (closing.first(), length > bytes / 3) {
                    (Some(first), true) => Some(**first),
                    _ => allowed.choose(&mut random).copied(),
                };
                let Some((byte, next)) = pick else { break };
                text.push(byte);
                at = next;
            }
        }
        ended += usize::from(!done.is_empty());
    }
    ended
}

/// Items that must differ are told apart, however many parts they have and however many values those parts have.
#[test]
fn containers_that_must_differ_are_counted() {
    let numbers = |count: usize| (0..count).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
    let consts = |count: usize| {
        (0..count)
            .map(|at| format!(r#"{{"const": {at}}}"#))
            .collect::<Vec<_>>()
            .join(",")
    };
    let pair = |item: &str| {
        format!(r#"{{"type": "array", "uniqueItems": true, "minItems": 2, "maxItems": 2, "items": {item}}}"#)
    };
    let cases = [
        // The schema of an item, a value that it admits, another such value, and one that it does not admit.
        (
            r#"{"type": "array", "uniqueItems": true, "minItems": 3, "items": {"enum": ["a", "b", "c"]}}"#.to_owned(),
            r#"["a","b","c"]"#.to_owned(),
            r#"["c","b","a"]"#.to_owned(),
            r#"["a","b"]"#.to_owned(),
        ),
        (
            format!(
                r#"{{"type": "array", "uniqueItems": true, "minItems": 40, "items": {{"enum": [{}]}}}}"#,
                numbers(41)
            ),
            format!("[{}]", numbers(40)),
            format!("[{}]", numbers(41)),
            format!("[{}]", numbers(39)),
        ),
        (
            format!(
                r#"{{"type": "array", "uniqueItems": true, "minItems": 31, "maxItems": 31, "prefixItems": [{{"type": "integer", "minimum": 0, "maximum": 31}}, {}]}}"#,
                consts(30)
            ),
            format!("[30,{}]", numbers(30)),
            format!("[31,{}]", numbers(30)),
            format!("[29,{}]", numbers(30)),
        ),
        (
            r#"{"type": "array", "not": {"uniqueItems": true}, "maxItems": 2, "prefixItems": [{"type": "integer", "minimum": 0, "maximum": 40}, {"type": "integer", "minimum": 39, "maximum": 80}]}"#.to_owned(),
            "[39,39]".to_owned(),
            "[40,40]".to_owned(),
            "[39,40]".to_owned(),
        ),
        (
            r#"{"type": "object", "propertyNames": {"pattern": "^[a-e]$"}, "minProperties": 4, "additionalProperties": {"const": 0}}"#.to_owned(),
            r#"{"a":0,"b":0,"c":0,"d":0}"#.to_owned(),
            r#"{"b":0,"c":0,"d":0,"e":0}"#.to_owned(),
            r#"{"b":0,"c":0,"d":0}"#.to_owned(),
        ),
        (
            r#"{"type": "object", "propertyNames": {"pattern": "^[a-z]$"}, "minProperties": 25, "additionalProperties": {"const": 0}}"#.to_owned(),
            format!("{{{}}}", ('a'..='y').map(|name| format!(r#""{name}":0"#)).collect::<Vec<_>>().join(",")),
            format!("{{{}}}", ('b'..='z').map(|name| format!(r#""{name}":0"#)).collect::<Vec<_>>().join(",")),
            format!("{{{}}}", ('b'..='y').map(|name| format!(r#""{name}":0"#)).collect::<Vec<_>>().join(",")),
        ),
    ];
    for (item, one, another, none) in cases {
        let mut subject = subject(&pair(&item));
        assert!(subject.accepts(&format!("[{one},{another}]")), "{item}");
        assert!(!subject.begins(&format!("[{one},{one}")), "{item}");
        assert!(!subject.begins(&format!("[{none}")), "{item}");
    }
}

#[test]
fn what_no_value_satisfies_is_known_at_the_start() {
    for schema in [
        "false",
        r#"{"type": "integer", "minimum": 1, "maximum": 0}"#,
        r#"{"type": "object", "properties": {"a": false}, "required": ["a"]}"#,
        r#"{"type": "array", "uniqueItems": true, "items": {"enum": [1, 1.0, 2]}, "minItems": 3}"#,
        r#"{"type": "array", "uniqueItems": true, "prefixItems": [{"const": 1}, {"enum": [1, 2]}, {"enum": [1, 2]}], "minItems": 3}"#,
        r#"{"type": "array", "uniqueItems": true, "minItems": 2, "items": {"type": "array", "uniqueItems": true, "minItems": 3,
            "maxItems": 3, "prefixItems": [{"enum": ["a", "b"]}, {"enum": ["b", 0]}, {"enum": ["a"]}]}}"#,
        r##"{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}"##,
        r#"{"type": "object", "propertyNames": {"maxLength": 0}, "minProperties": 2}"#,
        r#"{"type": "string", "pattern": "^a+$", "maxLength": 0}"#,
        r#"{"oneOf": [true, true]}"#,
        r#"{"not": {}}"#,
    ] {
        let set = SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
        let (mut automaton, root) = alone(set, Formats::Annotation, Style::rfc8259()).unwrap();
        assert_eq!(automaton.start(root).unwrap(), None, "{schema}");
    }
}

#[test]
fn a_reference_to_its_own_value_is_refused() {
    for (schema, kind, pointer, keyword) in [
        (r##"{"$ref": "#"}"##, CompileErrorKind::Malformed, "", "$ref"),
        (
            r##"{"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}"##,
            CompileErrorKind::Malformed,
            "/$defs/a/not",
            "$ref",
        ),
        (
            r##"{"allOf": [{"$ref": "#"}]}"##,
            CompileErrorKind::Malformed,
            "/allOf/0",
            "$ref",
        ),
        // The circle is entered between its reference and the schema that this leads to.
        (
            r##"{"$ref": "#/$defs/a/allOf/0", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}"##,
            CompileErrorKind::Malformed,
            "/$defs/a/allOf/0",
            "$ref",
        ),
        // A name is another value than the object that has it.
        (
            r##"{"anyOf": [{"propertyNames": {"$ref": "#"}}]}"##,
            CompileErrorKind::Unsupported,
            "/anyOf/0",
            "propertyNames",
        ),
    ] {
        let set = SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
        let error = alone(set, Formats::Annotation, Style::rfc8259())
            .map(|_| ())
            .unwrap_err();
        let found = (error.kind(), error.pointer(), error.keyword());
        assert_eq!(found, (kind, Some(pointer), Some(keyword)), "{error}");
    }
}

/// Definitions that refer to one another, asked in every order, compared with the least fixpoint computed round by
/// round.
#[test]
fn recursive_definitions_have_a_value_if_and_only_if_a_finite_one_exists() {
    const COUNT: usize = 12;
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut with_a_value = 0;
    for _ in 0..60 {
        // Each definition admits arrays of values of some definitions, in up to three ways.
        let rules: Vec<Vec<Vec<usize>>> = (0..COUNT)
            .map(|_| {
                let ways = random.random_range(0..4);
                let way = |random: &mut ChaCha8Rng| {
                    let least = usize::from(random.random_bool(0.75));
                    (0..random.random_range(least..4))
                        .map(|_| random.random_range(0..COUNT))
                        .collect()
                };
                (0..ways).map(|_| way(&mut random)).collect()
            })
            .collect();
        let mut has_value = [false; COUNT];
        for _ in 0..COUNT {
            has_value = std::array::from_fn(|at| rules[at].iter().any(|way| way.iter().all(|part| has_value[*part])));
        }
        let definitions: Vec<String> = rules
            .iter()
            .enumerate()
            .map(|(at, ways)| {
                let ways = ways.iter().enumerate().map(|(number, way)| {
                    let items = way.iter().map(|part| format!(r##", {{"$ref": "#/$defs/{part}"}}"##));
                    let (items, count) = (items.collect::<String>(), way.len() + 1);
                    format!(
                        r#"{{"type": "array", "prefixItems": [{{"const": {number}}}{items}], "minItems": {count}}}"#
                    )
                });
                format!(
                    r#""{at}": {{"anyOf": [false, {}]}}"#,
                    ways.collect::<Vec<_>>().join(",")
                )
                .replace("[false, ]", "[false]")
            })
            .collect();
        let definitions = definitions.join(",");
        let wanted: Vec<String> = (0..COUNT)
            .map(|at| format!(r##"{{"$ref": "#/$defs/{at}"}}"##))
            .collect();
        let schema = format!(
            r#"{{"$defs": {{{definitions}}}, "prefixItems": [{}]}}"#,
            wanted.join(",")
        );
        let mut subject = subject(&schema);
        let mut order: Vec<usize> = (0..COUNT).collect();
        order.shuffle(&mut random);
        for at in order {
            let set = subject.automaton.schema().clone();
            let crate::schema::Body::Keywords(keywords) = &set.node(set.root()).body else {
                panic!()
            };
            let assertion = subject.automaton.assertion_of(keywords.prefix_items[at]);
            let answer = subject.automaton.satisfiable(&[assertion], &[]).unwrap();
            assert_eq!(answer, has_value[at], "{at} in {schema}");
            with_a_value += usize::from(answer);
        }
    }
    assert!((60..660).contains(&with_a_value), "{with_a_value}");
}
