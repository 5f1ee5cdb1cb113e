//! Tests of names: those that may come, and the suffixes behind them.

use std::sync::Arc;

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{agree, compiler, vocabulary};
use crate::mask::ExactOptions;
use crate::{
    Compiler as _, ExactCompiler, FixedWhitespace, Indent, Masker, SpacesAround, Style, TokenId, Vocabulary, Whitespace,
};

/// The tokens behind a name are mostly decided by the kind of its value and by whether other members may come. The reach of
/// tokens behind the value differs from vocabulary to vocabulary.
#[test]
fn what_comes_behind_a_listed_name_depends_on_what_may_follow_its_value() {
    let few = [
        "\":",
        "\":[",
        "\":[]",
        "\":[],",
        "\":\"\",",
        "\":\"\",\"",
        "a\":[],\"",
        "b\":{",
        "\",",
        "a",
        "ab",
    ];
    let names_begin = ["\":[],\"a", "b\":[],\"b", "\":\"\",\"x"];
    let names_end = ["\":[],\"a\"", "\":\"\",\"x\":"];
    let containers_end = ["\":[]}", "\":\"\"}]", "b\":{}}", "\":[]},"];
    let numbers = ["\":1", "\":1,", "b\":-"];
    let vocabularies = [
        vocabulary(&few),
        vocabulary(&[&few[..], &names_begin].concat()),
        vocabulary(&[&few[..], &names_begin, &names_end].concat()),
        vocabulary(&[&few[..], &containers_end].concat()),
        vocabulary(&[&few[..], &numbers].concat()),
        vocabulary(&[&few[..], &names_begin, &names_end, &containers_end, &numbers].concat()),
    ];
    let any = r#"{"type": ["array", "string", "object"]}"#;
    let properties = format!(
        r#""properties": {{"a": {any}, "ab": {any}, "b": {any}, "aab": {{"type": "array", "minItems": 1}}, "x": {{"type": "integer"}},
            "xb": {{"type": "integer"}}, "": {any}}}"#
    );
    let closed = format!(r#"{properties}, "additionalProperties": false"#);
    let objects = [
        properties.clone(),
        closed.clone(),
        format!(r#"{closed}, "required": ["b", "x"]"#),
        format!(r#"{closed}, "maxProperties": 3"#),
        format!(r#"{properties}, "required": ["b"], "minProperties": 2"#),
        format!(r#"{closed}, "patternProperties": {{"^[xy]+$": true}}"#),
        format!(r#"{properties}, "patternProperties": {{"^a": {{"type": "array"}}}}"#),
        format!(r#""properties": {{"a": {any}}}, "additionalProperties": false"#),
        format!(r#""properties": {{"a": {any}, "b": {any}}}, "additionalProperties": false, "required": ["a", "b"]"#),
    ];
    let texts = [
        r#"{"x":1,"b":[],"a":"","aab":[0],"ab":{},"":[],"xb":1}"#,
        r#"{"":"","a":[],"b":"","x":0,"ab":[]}"#,
        r#"{"a":"","b":[]}"#,
        r#"{"b":"","a":[],"c":1}"#,
    ];
    for vocabulary in vocabularies {
        let compiler = compiler(vocabulary.clone(), ExactOptions::judging());
        for object in &objects {
            let object = format!(r#"{{"type": "object", {object}}}"#);
            let list = format!(r#"{{"items": {object}}}"#);
            for (schema, before) in [(&object, ""), (&list, "[")] {
                let start = compiler.compile(schema).unwrap();
                for text in texts {
                    let mut masker = start.fork().unwrap();
                    let text = format!("{before}{text}");
                    for (place, byte) in text.bytes().enumerate() {
                        agree(&mut *masker, &vocabulary, &format!("{schema}: {}", &text[..place]));
                        if masker.advance(TokenId::from(byte)).is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Objects of more names than are looked through one by one: of those that have not come each may, and no other.
#[test]
fn names_come_once_however_many_there_are() {
    let parts = ["a", "b", "\"", "é", "x"];
    let names: Vec<String> = (0..150_usize)
        .map(|at| {
            [at / 30, at / 6 % 5, at % 6]
                .map(|at| *parts.get(at).unwrap_or(&""))
                .concat()
        })
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let quoted: Vec<String> = names.iter().map(|name| serde_json::to_string(name).unwrap()).collect();
    let ones: Vec<String> = quoted.iter().map(|name| format!("{name}: {{\"const\": 1}}")).collect();
    let (ones, required) = (ones.join(","), quoted.join(","));
    let closed = r#""additionalProperties": false"#;
    let first = &quoted[7];
    let schemas = [
        format!(r#"{{"properties": {{{ones}}}, "required": [{required}], {closed}}}"#),
        format!(r#"{{"properties": {{{ones}}}, "required": [{required}], "additionalProperties": {{"const": 1}}}}"#),
        // At first it is not known what is asked.
        format!(
            r#"{{"if": {{"properties": {{{first}: {{"const": 1}}}}, "required": [{first}]}}, "then": {{"required": [{required}]}},
                "else": {{"required": [{first}]}}, "properties": {{{ones}}}, {closed}}}"#
        ),
        format!(r#"{{"patternProperties": {{"^[^c]{{1,3}}$": {{"const": 1}}}}, "required": [{required}], {closed}}}"#),
        format!(r#"{{"patternProperties": {{"^[^c]+$": {{"const": 1}}}}, "required": [{required}], {closed}}}"#),
    ];
    let texts = [
        "a\"",
        "ab\":1",
        "xb\":1,\"",
        ":1,",
        ",\"a",
        ",\"b\":",
        "\\u0061",
        "\\\"\"",
        "1,\"x",
        "éa",
        "ab",
        "b\\",
        "}",
    ];
    let vocabulary = vocabulary(&texts);
    let compiler = compiler(vocabulary.clone(), ExactOptions::judging());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for schema in schemas {
        let mut masker = compiler
            .compile(&format!(r#"{{"type": "object", {}"#, &schema[1..]))
            .unwrap();
        assert!(accept(masker.as_mut(), "{"));
        let mut come: Vec<usize> = Vec::new();
        let mut steps = 0;
        while come.len() < names.len() {
            steps += 1;
            let comma = if come.is_empty() { "" } else { "," };
            // Sometimes it goes back, and other names come.
            if steps % 60 == 0 {
                for _ in 0..rng.random_range(1..20) {
                    if let Some(name) = come.pop() {
                        let comma = usize::from(!come.is_empty());
                        masker.rollback(comma + quoted[name].len() + 2).unwrap();
                    }
                }
                continue;
            }
            for (at, name) in quoted.iter().enumerate() {
                let member = format!("{comma}{name}:1");
                assert_eq!(
                    accept(masker.as_mut(), &member),
                    !come.contains(&at),
                    "{member} {schema}"
                );
                if !come.contains(&at) {
                    masker.rollback(member.len()).unwrap();
                }
            }
            let left: Vec<usize> = (0..names.len()).filter(|at| !come.contains(at)).collect();
            let next = *left.choose(&mut rng).unwrap();
            let member = format!("{comma}{}:1", quoted[next]);
            for (place, byte) in member.bytes().enumerate() {
                if steps % 4 == 0 {
                    agree(
                        masker.as_mut(),
                        &vocabulary,
                        &format!(
                            "{schema} {come:?} {}",
                            String::from_utf8_lossy(&member.as_bytes()[..place])
                        ),
                    );
                }
                masker.advance(byte.into()).unwrap();
            }
            come.push(next);
        }
        agree(masker.as_mut(), &vocabulary, &schema);
        assert!(accept(masker.as_mut(), "}"), "{schema}");
    }
}

/// Whether a text is accepted, byte by byte; where it is not the masker is left where it was.
fn accept(masker: &mut dyn Masker, text: &str) -> bool {
    for (read, byte) in text.bytes().enumerate() {
        if masker.advance(byte.into()).is_err() {
            masker.rollback(read).unwrap();
            return false;
        }
    }
    true
}

/// The object that a key is in tells what may stand behind the key, also where objects around it say something of all keys.
#[test]
fn keys_of_free_objects_within_others_are_free() {
    let schema = r#"{"additionalProperties": {"type": "boolean"}}"#;
    for style in [Style::rfc8259(), Style::generation()] {
        let mut builder = Vocabulary::builder();
        for byte in 0..=255_u8 {
            builder = builder.text(byte.into(), [byte]).unwrap();
        }
        let vocabulary = builder
            .text(256, b"b\":\"x")
            .unwrap()
            .eos([257])
            .size(258)
            .build()
            .unwrap();
        let compiler = ExactCompiler::new(Arc::new(vocabulary), ExactOptions::default().style(style));
        for (text, allowed) in [
            ("{\"", false),
            ("[{\"", true),
            ("[{\"e\":{},\"", true),
            ("[{\"e\":[{\"", true),
        ] {
            let mut masker = compiler.compile(schema).unwrap();
            masker.mask().unwrap();
            text.bytes().for_each(|byte| masker.advance(byte.into()).unwrap());
            assert_eq!(masker.mask().unwrap().allows(256), allowed, "{text}");
            assert_eq!(masker.advance(256).is_ok(), allowed, "{text}");
        }
    }
}

/// Where patterns tell keys apart and items have to differ, a mask takes a language of keys, as anywhere else. With one text kept for
/// every token, the memory would grow with the vocabulary.
#[test]
fn keys_of_objects_that_have_to_differ_are_masked_by_their_language() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut words = std::collections::BTreeSet::new();
    while words.len() < 6_000 {
        let length = rng.random_range(2..8);
        words.insert((0..length).map(|_| rng.random_range('a'..='h')).collect::<String>());
    }
    let mut texts: Vec<String> = words.into_iter().collect();
    texts.extend(["a\"", "b\":", "a\":0", "{\"a", "a\":0}", "b\":0},"].map(str::to_owned));
    let vocabulary = vocabulary(&texts);
    let compiler = compiler(vocabulary.clone(), ExactOptions::judging());
    for (schema, text) in [
        (
            r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "patternProperties": {"^[a-h]+$": {"const": 0}},
                "properties": {"x": {"type": "string"}}, "additionalProperties": false, "maxProperties": 2}}"#,
            r#"[{"a":0},{"ab":0},{"ab":0,"b":0},{"a":0,"x":"a"},{"a":0,"b":0}]"#,
        ),
        (
            r#"{"type": "array", "uniqueItems": true, "items": {"type": "object", "propertyNames": {"pattern": "^(a[a-d]?|[b-h]{2,4})$"},
                "additionalProperties": {"enum": [0, 1]}, "minProperties": 1, "maxProperties": 1}}"#,
            r#"[{"a":0},{"a":1},{"ab":1},{"bc":0}]"#,
        ),
    ] {
        let mut masker = compiler.compile(schema).unwrap();
        let before = masker.memory_bytes().unwrap();
        for byte in text.bytes() {
            masker.mask().unwrap();
            masker.advance(byte.into()).unwrap();
        }
        let grown = masker.memory_bytes().unwrap() - before;
        assert!(grown < 100 * texts.len(), "{grown} bytes for {schema}");
        let mut masker = compiler.compile(schema).unwrap();
        for (place, byte) in text.bytes().enumerate() {
            if text[..place].ends_with(['"', '{', 'a', 'b']) {
                agree(masker.as_mut(), &vocabulary, &format!("{schema}: {}", &text[..place]));
            }
            masker.advance(byte.into()).unwrap();
        }
    }
}

/// A token may have the characters of fixed whitespace that stand before a closing bracket or a colon. Whether it may come
/// depends on the object, which may require more members, and on what is around it, also for schemas of one compiler with like
/// objects.
/// Asserts that the mask after the bytes of `text`, each with a mask of its own, says of the tokens of `texts` what accepting says; returns how
/// many of them are allowed.
fn allowed_of(texts: &[&str], compiler: &ExactCompiler, schema: &str, text: &str) -> usize {
    let mut masker = compiler.compile(schema).unwrap();
    for byte in text.bytes() {
        masker.mask().unwrap();
        masker.advance(byte.into()).unwrap();
    }
    let mut allowed = 0;
    for (token, of_token) in (256..).zip(texts) {
        let may_come = masker.mask().unwrap().allows(token);
        let is_accepted = masker.fork().unwrap().advance(token).is_ok();
        assert_eq!(may_come, is_accepted, "{schema} {text} {of_token:?}");
        allowed += usize::from(may_come);
    }
    allowed
}

#[test]
fn tokens_with_fixed_whitespace_before_brackets_and_colons() {
    let object = |required: &str| {
        format!(
            r#"{{"type": "object", "required": [{required}], "additionalProperties": false,
                "properties": {{"a": {{"type": "string"}}, "b": {{"type": "string"}}, "c": {{"type": "string"}}}}}}"#
        )
    };
    let indented = FixedWhitespace {
        indent: Some(Indent::Spaces(2)),
        ..FixedWhitespace::default()
    };
    let padded = FixedWhitespace {
        padding: 1,
        ..FixedWhitespace::default()
    };
    let around_colons = FixedWhitespace {
        colon: SpacesAround { before: 1, behind: 1 },
        ..FixedWhitespace::default()
    };
    let (free, all) = (object(""), object(r#""a", "b""#));
    let items = format!(r#"{{"type": "array", "items": {free}}}"#);
    let member = format!(r#"{{"type": "object", "properties": {{"o": {free}}}}}"#);
    let any = r#"{"type": "object"}"#.to_owned();
    let cases = [
        (indented, &free, "{\n  \"a\": \"x"),
        (indented, &all, "{\n  \"a\": \"x"),
        (indented, &all, "{\n  \"a\": \"x\",\n  \"b\": \"y"),
        (indented, &items, "[\n  {\n    \"a\": \"x"),
        (indented, &member, "{\n  \"o\": {\n    \"a\": \"x"),
        (padded, &free, "{ \"a\": \"x"),
        (padded, &all, "{ \"a\": \"x"),
        (around_colons, &any, "{\"a\" : \"x"),
    ];
    let texts = [
        "\"\n}",
        "\" }",
        "\"\n  }\n]",
        "\"\n  }\n}",
        "\",\"b\" : ",
        "\",\"b\" :",
        "\", \"b\" : ",
    ];
    let vocabulary = vocabulary(&texts);
    let mut allowed = 0;
    for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]] {
        for layout in [indented, padded, around_colons] {
            let style = Style {
                whitespace: Whitespace::Fixed(layout),
                ..Style::rfc8259()
            };
            let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default().style(style));
            for (_, schema, text) in order
                .map(|case| cases[case])
                .into_iter()
                .filter(|case| case.0 == layout)
            {
                allowed += allowed_of(&texts, &compiler, schema, text);
            }
        }
    }
    assert!(allowed >= 12, "{allowed}");
}

/// Whitespace before colons and commas: tokens without it, and tokens that read into the next name.
#[test]
fn tokens_beside_whitespace_before_commas_and_colons() {
    let object = |names: [&str; 2]| {
        let [one, other] = names;
        format!(
            r#"{{"type": "object", "additionalProperties": false, "properties": {{"{one}": {{"type": "string"}}, "{other}": {{"type": "string"}}}}}}"#
        )
    };
    let around = SpacesAround { before: 1, behind: 1 };
    let layout = |comma, colon| FixedWhitespace {
        comma,
        colon,
        ..FixedWhitespace::default()
    };
    let default = FixedWhitespace::default();
    let (ab, xy) = (object(["a", "b"]), object(["x", "y"]));
    let texts = ["\":", "\" :", "\" , \"a", "\" , \"x", "\" , \"", "\", \"a"];
    let vocabulary = vocabulary(&texts);
    let cases = [
        (layout(default.comma, around), vec![(&ab, "{\"a"), (&ab, "{\"")]),
        (
            layout(around, default.colon),
            vec![(&ab, "{\"b\": \"q"), (&xy, "{\"y\": \"q"), (&ab, "{\"a\": \"q")],
        ),
    ];
    let mut allowed = 0;
    for (layout, states) in cases {
        let style = Style {
            whitespace: Whitespace::Fixed(layout),
            ..Style::rfc8259()
        };
        let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default().style(style));
        for (schema, text) in states {
            allowed += allowed_of(&texts, &compiler, schema, text);
        }
    }
    assert!(allowed >= 5, "{allowed}");
}
