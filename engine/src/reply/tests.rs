//! Replies: masks say what accepting says, nothing leads to a dead end, and what is accepted is written as it should be.

mod text;

use std::sync::Arc;

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{DataFormat, Envelope, ReplyCompiler, ReplyForm};
use crate::{CompileErrorKind, ExactOptions, GrammarSyntax, Masker, Style, TokenId, Vocabulary};

/// Tokens besides single bytes.
const TOKENS: [&str; 42] = [
    "```",
    "```json\n",
    "```yaml",
    "yaml",
    "\n```",
    "]\n",
    "}\n```",
    "\"\n",
    "\n  ",
    "\n    ",
    "  ",
    "    ",
    "- ",
    "- a: ",
    "\n- ",
    "\n  - ",
    "a:",
    "a: ",
    "a: \"",
    ": ",
    ":\n",
    "a:\n  ",
    "b:\n    - ",
    " \"",
    "\"a\"",
    "\"a\"\n",
    "\"a\"\n  b:",
    "a\"\n",
    "\\n",
    "\\\"",
    "\\u0085",
    "true",
    "true\n",
    "null",
    "-1",
    "- -",
    "[]",
    "[]\n",
    " []",
    "{",
    "1\n```",
    "\u{2028}",
];

fn vocabulary() -> Arc<Vocabulary> {
    crate::mask::tests::vocabulary(&TOKENS)
}

fn masker(data: DataFormat, envelopes: &[Envelope], schema: &str) -> Box<dyn Masker> {
    let options = ExactOptions {
        style: Style::generation(),
        ..ExactOptions::judging()
    };
    let envelopes = envelopes.to_vec();
    let compiler = ReplyCompiler::new(vocabulary(), options);
    compiler.compile(schema, &ReplyForm { data, envelopes }).unwrap()
}

/// Whether a reply is accepted, byte by byte, to its end.
fn accepts(masker: &dyn Masker, reply: &str) -> bool {
    let mut masker = masker.fork().unwrap();
    reply.bytes().all(|byte| masker.advance(byte.into()).is_ok()) && masker.is_complete().unwrap()
}

fn closed(properties: &str, required: &str) -> String {
    format!(
        r#"{{"type": "object", "properties": {{{properties}}}, "required": [{required}], "additionalProperties": false}}"#
    )
}

fn schemas() -> Vec<String> {
    let inner = closed(r#""a": {"type": "boolean"}, "b": {"type": "number"}"#, r#""a""#);
    let item = closed(
        &format!(
            r#""a": {{"type": "string"}}, "b": {{"type": "array", "items": {{"type": "integer", "minimum": -1, "maximum": 12}}, "maxItems": 2}},
               "c": {{"type": "array", "items": {inner}, "minItems": 1}}, "d": {inner}, "e": {{"enum": ["a", "no", "1.10", "\u2028"]}}"#
        ),
        r#""a", "d""#,
    );
    let list = format!(r#"{{"type": "array", "items": {item}, "minItems": 1, "maxItems": 2}}"#);
    vec![
        list.clone(),
        closed(&format!(r#""items": {list}"#), r#""items""#),
        r#"{"type": "array", "items": {"type": "array", "items": {"type": ["integer", "null"]}}}"#.to_owned(),
        r#"{"type": ["string", "null"], "maxLength": 3}"#.to_owned(),
    ]
}

#[test]
fn masks_say_what_accepting_says() {
    let envelopes = [
        vec![Envelope::bare()],
        vec![Envelope::fenced("json"), Envelope::fenced(""), Envelope::bare()],
        vec![Envelope::fenced("yaml")],
    ];
    let vocabulary = vocabulary();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for data in [DataFormat::Json, DataFormat::Yaml] {
        for (schema, envelopes) in schemas()
            .iter()
            .flat_map(|schema| envelopes.iter().map(move |envelopes| (schema, envelopes)))
        {
            let mut masker = masker(data, envelopes, schema);
            let mut tokens = Vec::new();
            for _ in 0..40 {
                let mask = masker.mask().unwrap().clone();
                let written = String::from_utf8_lossy(&vocabulary.text_bytes(&tokens)).into_owned();
                assert!(!mask.allows_none(), "{data:?} {schema}: dead end after {written:?}");
                let mut allowed = Vec::new();
                for token in 0..vocabulary.len() as TokenId {
                    let accepted = masker.advance(token).is_ok();
                    let shown = String::from_utf8_lossy(vocabulary.token_bytes(token)).into_owned();
                    assert_eq!(
                        mask.allows(token),
                        accepted,
                        "{data:?} {schema}: {written:?}: {shown:?}"
                    );
                    if accepted {
                        if !vocabulary.is_eos(token) {
                            allowed.push(token);
                        }
                        masker.rollback(1).unwrap();
                    }
                }
                let Some(&token) = allowed.choose(&mut random) else {
                    break;
                };
                masker.advance(token).unwrap();
                tokens.push(token);
                let mut rest = Vec::new();
                assert!(
                    masker.completion(&mut rest).unwrap(),
                    "{data:?} {schema}: after {written:?}"
                );
                let mut to_end = masker.fork().unwrap();
                for &token in &rest {
                    to_end.advance(token).unwrap();
                }
                let shown = String::from_utf8_lossy(&vocabulary.text_bytes(&rest)).into_owned();
                assert!(
                    to_end.is_complete().unwrap(),
                    "{data:?} {schema}: {written:?} and {token}, then {shown:?}"
                );
                // Mostly one is in a string, which random bytes do not end soon.
                for &token in &rest[..random.random_range(0..=rest.len())] {
                    masker.advance(token).unwrap();
                    tokens.push(token);
                }
            }
        }
    }
}

/// A completion ends the reply also where a value has to stand on the line of its name, and behind the backslash of an escape.
#[test]
fn completions_end_yaml_behind_every_token() {
    let vocabulary = vocabulary();
    // The shortest values take several lines.
    let mapping = closed(r#""x": {"type": "integer"}"#, r#""x""#);
    let mapping = mapping.replacen(r#""object""#, r#"["string", "object"], "minLength": 10"#, 1);
    let list = r#"{"type": ["string", "array"], "minLength": 10, "minItems": 1, "items": {"type": "integer"}}"#;
    let schema = closed(
        &format!(
            r#""a": {mapping}, "b": {list}, "c": {{"type": "string"}}, "d": {{"type": "string", "pattern": "^\\\\*$"}}"#
        ),
        r#""a""#,
    );
    for reply in [
        "a: \"0123456789\"\nb: \"0123456789\"\nc: \"x\\\"\\\\\"\nd: \"\\\\\\\\\"",
        "a:\n  x: 12\nb:\n  - -1\n  - 12\nc: \"\"",
    ] {
        let mut masker = masker(DataFormat::Yaml, &[Envelope::bare()], &schema);
        for (read, byte) in reply.bytes().enumerate() {
            let mask = masker.mask().unwrap().clone();
            for token in mask.iter().filter(|token| !vocabulary.is_eos(*token)) {
                masker.advance(token).unwrap();
                let (mut ended, mut rest) = (masker.fork().unwrap(), Vec::new());
                assert!(ended.completion(&mut rest).unwrap(), "{:?}, {token}", &reply[..read]);
                let accepted = rest.iter().all(|token| ended.advance(*token).is_ok());
                let shown = String::from_utf8_lossy(&vocabulary.text_bytes(&rest)).into_owned();
                assert!(
                    accepted && ended.is_complete().unwrap(),
                    "{:?} and {token}, then {shown:?}",
                    &reply[..read]
                );
                masker.rollback(1).unwrap();
            }
            masker.advance(byte.into()).unwrap();
        }
        assert!(masker.is_complete().unwrap(), "{reply}");
    }
}

#[test]
fn yaml_is_written_in_blocks() {
    let masker = masker(DataFormat::Yaml, &[Envelope::bare()], &schemas()[1]);
    let reply = "items:
  - a: \"no\\nline\\\"s\"
    b:
      - -1
      - 12
    c:
      - a: true
      - a: false
        b: 1.50
    d:
      a: true
    e: \"1.10\"
  - a: \"\"
    b: []
    d:
      a: true
      b: 2";
    assert!(accepts(&*masker, reply));
    for (part, otherwise) in [
        ("- a: true\n", "- a: yes\n"),
        ("a: \"\"", "a: x"),
        ("a: \"\"", "a: ''"),
        ("      - -1", "    - -1"),
        ("      - -1", "      -  -1"),
        ("    d:\n      a: true\n    e", "    d: {a: true}\n    e"),
        ("\"1.10\"", "1.10"),
        ("- 12", "- 13"),
        ("b: []", "b:"),
        ("      b: 2", "      b: 2\n"),
        ("      b: 2", "      b: 2\n  - a: \"\"\n    d:\n      a: true"),
        ("\\n", "\n"),
        ("a: \"\"", "a: \"\n  - a: \"\""),
        ("line", "\u{2028}"),
        ("line", "\\ud83d\\ude42"),
        ("line", "\u{7f}"),
    ] {
        let otherwise = reply.replacen(part, otherwise, 1);
        assert_ne!(otherwise, reply);
        assert!(!accepts(&*masker, &otherwise), "{otherwise}");
    }
    let same = reply.replacen("line", "é🙂\\u2028\\u0085", 1);
    assert!(accepts(&*masker, &same));
}

#[test]
fn envelopes_are_written_whole() {
    let envelopes = [Envelope::fenced("json"), Envelope::fenced("")];
    let either = masker(DataFormat::Json, &envelopes, r#"{"enum": [[1], "a"]}"#);
    for reply in ["```json\n[1]\n```", "```\n\"a\"\n```"] {
        assert!(accepts(&*either, reply), "{reply}");
    }
    for reply in [
        "[1]",
        "```json\n[1]",
        "```json\n[1]\n```\n",
        "```yaml\n[1]\n```",
        "Here:\n```json\n[1]\n```",
    ] {
        assert!(!accepts(&*either, reply), "{reply}");
    }
    let yaml = masker(DataFormat::Yaml, &[Envelope::fenced("yaml")], &schemas()[2]);
    assert!(accepts(&*yaml, "```yaml\n- - 1\n  - null\n- []\n```"));
    assert!(!accepts(&*yaml, "```yaml\n[]\n```"));
}

#[test]
fn what_must_come_is_known() {
    struct Bytes;
    impl crate::Tokenize for Bytes {
        fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
            text.iter().map(|byte| TokenId::from(*byte)).collect()
        }
    }
    let mut builder = Vocabulary::builder();
    for byte in 0..=255_u8 {
        builder = builder.text(byte.into(), vec![byte]).unwrap();
    }
    let vocabulary = builder
        .special(256, "<end>")
        .unwrap()
        .eos([256])
        .tokenizer(Arc::new(Bytes))
        .build()
        .unwrap();
    let form = ReplyForm {
        data: DataFormat::Yaml,
        envelopes: vec![Envelope::fenced("yaml")],
    };
    let options = ExactOptions {
        style: Style::generation(),
        ..ExactOptions::judging()
    };
    let compiler = ReplyCompiler::new(Arc::new(vocabulary), options);
    let schema = closed(
        r#""name": {"enum": ["x"]}, "size": {"type": "integer"}"#,
        r#""name", "size""#,
    );
    let mut masker = compiler
        .compile(&closed(&format!(r#""thing": {schema}"#), r#""thing""#), &form)
        .unwrap();
    let mut forced = Vec::new();
    masker.forced_tokens(&mut forced).unwrap();
    let text: String = forced.iter().map(|token| char::from(*token as u8)).collect();
    assert_eq!(text, "```yaml\nthing:\n  name: \"x\"\n  size: ");
}

#[test]
fn text_around_data_that_no_tokens_spell_is_refused() {
    let builder = (0..0x80_u8).fold(Vocabulary::builder(), |builder, byte| {
        builder.text(byte.into(), [byte]).unwrap()
    });
    let vocabulary = Arc::new(builder.special(128, "</s>").unwrap().eos([128]).build().unwrap());
    let compiler = ReplyCompiler::new(vocabulary, ExactOptions::judging());
    for (envelope, is_spelled) in [(Envelope::fenced("json"), true), (Envelope::fenced("é"), false)] {
        let form = ReplyForm {
            data: DataFormat::Json,
            envelopes: vec![Envelope::bare(), envelope],
        };
        let error = compiler.compile("{}", &form).err().map(|error| error.kind());
        assert_eq!(error, (!is_spelled).then_some(CompileErrorKind::Unsupported));
    }
}

#[test]
fn what_yaml_cannot_hold_is_refused() {
    let form = ReplyForm {
        data: DataFormat::Yaml,
        envelopes: vec![Envelope::bare()],
    };
    let compiler = ReplyCompiler::new(vocabulary(), ExactOptions::judging());
    for (schema, pointer) in [
        (r#"{"type": "object"}"#.to_owned(), ""),
        (r#"{"type": "array"}"#.to_owned(), ""),
        ("{}".to_owned(), ""),
        (closed(r#""no": {"type": "string"}"#, ""), ""),
        (closed(r#""a b": {"type": "string"}"#, ""), ""),
        (
            closed(&format!(r#""{}": {{"type": "string"}}"#, "a".repeat(1025)), ""),
            "",
        ),
        (closed(r#""a": {"enum": [[1]]}"#, ""), "/properties/a"),
        (
            closed(r#""a": {"type": "array", "items": {"anyOf": []}}"#, ""),
            "/properties/a/items",
        ),
        (
            closed(
                r#""a": {"type": "array", "uniqueItems": true, "items": {"type": "null"}}"#,
                "",
            ),
            "/properties/a",
        ),
        // Draft 4 has no `const`.
        (
            closed(r#""a": {"const": 1}"#, "").replacen(
                '{',
                r#"{"$schema": "http://json-schema.org/draft-04/schema#", "#,
                1,
            ),
            "/properties/a",
        ),
    ] {
        let error = compiler.compile(&schema, &form).err().unwrap();
        assert_eq!(error.kind(), CompileErrorKind::Unsupported, "{schema}: {error}");
        assert_eq!(error.pointer(), Some(pointer), "{schema}: {error}");
    }
    let list = r#"{"type": "array", "items": "#;
    let deep = format!("{}true{}", list.repeat(1_001), "}".repeat(1_001));
    let error = compiler.compile(&deep, &form).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::LimitExceeded, "{error}");
    assert_eq!(error.pointer(), Some(&*"/items".repeat(1_000)), "{error}");
    let unsatisfiable = closed(r#""a": {"type": "integer", "minimum": 1, "maximum": 0}"#, r#""a""#);
    let error = compiler.compile(&unsatisfiable, &form).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable, "{error}");
    let in_line = Envelope {
        before: "Here: ".to_owned(),
        ..Envelope::bare()
    };
    let form = ReplyForm {
        envelopes: vec![Envelope::bare(), in_line],
        ..form
    };
    let error = compiler
        .compile(&closed(r#""a": {"type": "integer"}"#, ""), &form)
        .err()
        .unwrap();
    assert!(error.to_string().contains("ends with a line break"), "{error}");
}

/// The bounds of the style hold far from the beginning of a list or string, however it is laid out.
#[test]
fn replies_keep_to_the_bounds_of_the_style() {
    let mut style = Style::generation();
    style.bounds.array_items = Some(200);
    style.bounds.string_characters = Some(400);
    let list = |items: &str| {
        closed(
            &format!(r#""a": {{"type": "array", "items": {items}}}, "b": {{"type": "string"}}"#),
            "",
        )
    };
    let (flat, nested) = (list(r#"{"type": "integer"}"#), list(&list(r#"{"type": "integer"}"#)));
    for data in [DataFormat::Json, DataFormat::Yaml] {
        let compile = |schema: &str| {
            let compiler = ReplyCompiler::new(vocabulary(), ExactOptions::judging().style(style));
            let envelopes = vec![Envelope::fenced("x")];
            compiler.compile(schema, &ReplyForm { data, envelopes }).unwrap()
        };
        let yaml = data == DataFormat::Yaml;
        let reply = |items: usize, item: &str, characters: usize| {
            let text = "x".repeat(characters);
            let body = match yaml {
                true => format!("a:\n{}b: \"{text}\"\n", format!("  - {item}\n").repeat(items)),
                false => format!("{{\"a\":[{}],\"b\":\"{text}\"}}\n", vec![item; items].join(",")),
            };
            format!("```x\n{body}```")
        };
        let masker = compile(&flat);
        assert!(accepts(&*masker, &reply(200, "1", 400)), "{data:?}");
        assert!(
            !accepts(&*masker, &reply(201, "1", 1)) && !accepts(&*masker, &reply(1, "1", 401)),
            "{data:?}"
        );
        // Values inside an item do not count among the items around it.
        let inside = if yaml {
            "a:\n      - 1\n      - 2"
        } else {
            r#"{"a":[1,2]}"#
        };
        let masker = compile(&nested);
        assert!(accepts(&*masker, &reply(200, inside, 3)), "{data:?}");
        assert!(!accepts(&*masker, &reply(201, inside, 3)), "{data:?}");
    }
}

/// A list that stands on several lines has an item: `]` closes only a list on one line.
#[test]
fn lists_of_several_lines_have_items() {
    let schema = closed(r#""a": {"type": "array", "items": {"type": "string"}}"#, r#""a""#);
    let masker = masker(DataFormat::Yaml, &[Envelope::bare()], &schema);
    assert!(accepts(&*masker, "a: []") && accepts(&*masker, "a:\n  - \"x\""));
    let mut at = masker.fork().unwrap();
    "a:\n  - ".bytes().for_each(|byte| at.advance(byte.into()).unwrap());
    assert!(at.advance(b']'.into()).is_err());
}

/// The option `root` is about the schema that is given, not about those of texts, grammars and structural tags.
#[test]
fn the_root_is_in_the_schema_that_is_given() {
    let compiler = ReplyCompiler::new(vocabulary(), ExactOptions::default().root("#/components/a"));
    let tag = r#"{"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"const": 1}}}"#;
    for (masker, reply) in [
        (compiler.compile_choice(["a"]), "a"),
        (compiler.compile_regex("a"), "a"),
        (compiler.compile_grammar("start: \"a\"", GrammarSyntax::Lark), "a"),
        (compiler.compile_structural_tag(tag), "1"),
    ] {
        assert!(accepts(&*masker.unwrap(), reply), "{reply}");
    }
    let compile = |data, root: &str| {
        let form = ReplyForm {
            data,
            envelopes: vec![Envelope::bare()],
        };
        compiler.compile(
            &format!(r#"{{"type": "object", "components": {{"a": {root}}}}}"#),
            &form,
        )
    };
    for (data, reply) in [
        (DataFormat::Json, "\"x\""),
        (DataFormat::Yaml, "\"x\""),
        (DataFormat::Text, "x"),
    ] {
        assert!(
            accepts(&*compile(data, r#"{"enum": ["x"]}"#).unwrap(), reply),
            "{data:?}"
        );
        let error = compile(data, r#"{"type": "null", "enum": [1]}"#).err().unwrap();
        let found = (error.kind(), error.pointer());
        assert_eq!(
            found,
            (CompileErrorKind::Unsatisfiable, Some("/components/a")),
            "{error}"
        );
    }
    let error = compile(DataFormat::Text, r#"{"type": "null"}"#).err().unwrap();
    assert_eq!(error.pointer(), Some("/components/a"), "{error}");
    let list = compile(DataFormat::Yaml, r#"{"type": "array", "items": {"type": "null"}}"#).unwrap();
    assert!(accepts(&*list, "- null") && !accepts(&*list, "[]"));
}

/// With tokens that spell ASCII alone, no text leads to a character that none of them begins.
#[test]
fn replies_over_ascii_have_no_dead_end() {
    let mut builder = Vocabulary::builder();
    for byte in 0..0x80_u8 {
        builder = builder.text(byte.into(), vec![byte]).unwrap();
    }
    let vocabulary = builder.special(128, "<end>").unwrap().eos([128]).build().unwrap();
    let compiler = ReplyCompiler::new(Arc::new(vocabulary), ExactOptions::default());
    let compile = |data| {
        let form = ReplyForm {
            data,
            envelopes: vec![Envelope::bare()],
        };
        compiler.compile(r#"{"enum": ["x\u00e9", "y", "\u2028"]}"#, &form)
    };
    for (masker, begun, next) in [
        (compiler.compile_choice(["xé", "y"]), "", "y"),
        (compiler.compile_regex("xé|y"), "", "y"),
        (compile(DataFormat::Text), "", "y"),
        // U+2028 is escaped in YAML.
        (compile(DataFormat::Yaml), "\"", "\\y"),
    ] {
        let mut masker = masker.unwrap();
        begun.bytes().for_each(|byte| masker.advance(byte.into()).unwrap());
        let allowed: Vec<TokenId> = masker.mask().unwrap().iter().collect();
        let next: Vec<TokenId> = next.bytes().map(TokenId::from).collect();
        assert_eq!(allowed, next);
    }
    let error = compiler.compile_choice(["é"]).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable, "{error}");
}
