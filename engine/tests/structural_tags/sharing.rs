//! Tags of one compiler share the contents that they have in common, as long as some tag has them.

use maskwright::{ExactOptions, MaskError, Masker, ReplyCompiler, TokenId};

use crate::{accepts, compiler, vocabulary};

/// A tag of calls with these tools, each a name and the schema of its arguments.
fn tag(tools: &[(&str, &str)]) -> String {
    let tags = tools.iter().map(|(name, schema)| {
        format!(
            r#"{{"type": "tag", "begin": "<a>{name}", "content": {{"type": "json_schema", "json_schema": {schema}}}, "end": "</a>"}}"#
        )
    });
    let tags: Vec<String> = tags.collect();
    format!(
        r#"{{"type": "structural_tag", "format": {{"type": "triggered_tags", "triggers": ["<a>"], "tags": [{}]}}}}"#,
        tags.join(", ")
    )
}

const WEATHER: (&str, &str) = (
    "weather",
    r#"{"type": "object", "properties": {"place": {"type": "string", "pattern": "^[a-z]+( [a-z]+)*$"}, "days": {"type": "integer", "maximum": 9}}, "required": ["place"], "additionalProperties": false}"#,
);
const TIME: (&str, &str) = ("time", r#"{"enum": ["now", "later", 12]}"#);
const STOP: (&str, &str) = ("stop", r#"{"type": "boolean"}"#);
const REPLY: &str = r#"so <a>weather{"place":"new york","days":3}</a> then"#;

/// Writes a reply token by token, and returns the masks on its way.
fn masks(mut masker: Box<dyn Masker>, reply: &str) -> Vec<Vec<TokenId>> {
    let bytes = reply.bytes().map(|byte| {
        let mask = masker.mask().unwrap().iter().collect();
        masker.advance(TokenId::from(byte)).unwrap();
        mask
    });
    bytes.collect()
}

fn compile(compiler: &ReplyCompiler, tools: &[(&str, &str)]) -> Box<dyn Masker> {
    compiler.compile_structural_tag(&tag(tools)).unwrap()
}

#[test]
fn a_tag_begins_with_what_replies_of_another_have_made_known() {
    let shared = compiler();
    let first = compile(&shared, &[WEATHER, TIME]);
    masks(first.fork().unwrap(), REPLY);

    let tools = [STOP, WEATHER];
    let fresh = compile(&compiler(), &tools);
    let second = compile(&shared, &tools);
    assert!(
        second.memory_bytes() > fresh.memory_bytes(),
        "the masks of `weather` are known"
    );
    assert_eq!(
        masks(second.fork().unwrap(), REPLY),
        masks(fresh.fork().unwrap(), REPLY)
    );
    for (reply, is_reply) in [("<a>stoptrue</a>", true), ("<a>time12</a>", false), (REPLY, true)] {
        assert_eq!(accepts(&*second, &format!("{reply}{reply}")), is_reply, "{reply}");
    }
}

#[test]
fn the_compiler_keeps_no_content_of_tags_that_are_gone() {
    let (shared, tools) = (compiler(), [WEATHER, TIME]);
    let fresh = compile(&shared, &tools).memory_bytes();
    masks(compile(&shared, &tools), REPLY);
    assert_eq!(compile(&shared, &tools).memory_bytes(), fresh);
    // Many tags one after another, each with a content of its own.
    for number in 0..200 {
        let schema = format!(r#"{{"const": {number}}}"#);
        compile(&shared, &[("one", &schema)]);
    }
    assert_eq!(compile(&shared, &tools).memory_bytes(), fresh);
}

#[test]
fn threads_compile_and_use_tags_with_common_contents() {
    let (shared, expected) = (compiler(), masks(compile(&compiler(), &[WEATHER]), REPLY));
    let tags = [[WEATHER, TIME], [STOP, WEATHER], [WEATHER, STOP], [TIME, WEATHER]];
    let tokens = vocabulary().len();
    std::thread::scope(|scope| {
        for tools in tags {
            let (shared, expected) = (&shared, &expected);
            scope.spawn(move || {
                for _ in 0..5 {
                    let found = masks(compile(shared, &tools), REPLY);
                    // Within the arguments the other tools do not matter.
                    let inside = REPLY.find('{').unwrap() + 1..REPLY.find('}').unwrap();
                    assert_eq!(found[inside.clone()], expected[inside]);
                    assert!(found.iter().flatten().all(|token| (*token as usize) < tokens));
                }
            });
        }
    });
}

#[test]
fn a_content_that_has_used_up_its_limits_is_compiled_anew() {
    let mut options = ExactOptions::default();
    options.schema.limits.memory_bytes = 200_000;
    let shared = ReplyCompiler::new(vocabulary(), options);
    let schema = r#"{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}"#;
    let used = compile(&shared, &[("list", schema)]);
    let mut masker = used.fork().unwrap();
    let reply = (0..).map(|number: u32| format!("{number},"));
    let reply = "<a>list["
        .bytes()
        .chain(reply.take(100_000).flat_map(String::into_bytes));
    let error = reply.map(TokenId::from).find_map(|token| masker.advance(token).err());
    assert!(matches!(error, Some(MaskError::LimitExceeded(_))), "{error:?}");
    let again = compile(&shared, &[("list", schema)]);
    assert!(accepts(&*again, "<a>list[1,2,3]</a>"));
    drop(used);
}
