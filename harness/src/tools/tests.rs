use std::sync::Arc;

use maskwright::{ExactOptions, Formats, ReplyCompiler, TokenId, TokenKind, Vocabulary};
use maskwright_serving::tools::{ToolChoice, ToolFormat, structural_tag};
use maskwright_suites::dataset::Subsample;
use maskwright_suites::tool_calls::{CallJudgement, RequestSet, ToolRequest};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::model_run::judgement;
use super::readers::read_calls;
use super::record::{CallKey, CallRecord};
use super::report::ToolReport;
use super::rows::{keys_of_records, rows};
use crate::bench::record::{CompileFailure, CompileRecord};
use crate::report::table::Style;

fn requests() -> Vec<ToolRequest> {
    RequestSet::builtin(Subsample::default()).unwrap().requests
}

fn request(id: &str) -> ToolRequest {
    requests().into_iter().find(|request| request.id == id).unwrap()
}

fn formats() -> Vec<ToolFormat> {
    let mut formats: Vec<ToolFormat> = ToolFormat::NAMES.iter().map(|(_, format)| *format).collect();
    formats.dedup();
    formats
}

/// Returns the verdict on a reply: parsed, right functions, valid arguments, accepted.
fn judged(format: ToolFormat, id: &str, text: &str) -> [bool; 4] {
    let CallJudgement {
        parsed,
        right_functions,
        valid_arguments,
        accepted,
        ..
    } = judgement(format, &request(id), text);
    [parsed, right_functions, valid_arguments, accepted]
}

/// Two calls that are right for the request `parallel_06`, and the first of them alone with another number of dice.
const REPLIES: [(ToolFormat, &str); 10] = [
    (
        ToolFormat::Json,
        r#"{"name": "roll_dice", "parameters": {"count": 2, "sides": 20}}; {"name": "roll_dice", "arguments": {"count": 1, "sides": 8}}"#,
    ),
    (
        ToolFormat::Hermes,
        "<tool_call>\n{\"name\": \"roll_dice\", \"arguments\": {\"count\": 2, \"sides\": 20}}\n</tool_call>\n<tool_call>{\"name\": \"roll_dice\", \"arguments\": {\"count\": 1, \"sides\": 8}}",
    ),
    (
        ToolFormat::Mistral,
        r#"[TOOL_CALLS] [{"name": "roll_dice", "arguments": {"count": 2, "sides": 20}}, {"name": "roll_dice", "arguments": {"count": 1, "sides": 8}}]"#,
    ),
    (
        ToolFormat::DeepSeek,
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>roll_dice\n```json\n{\"count\": 2, \"sides\": 20}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>roll_dice\n```json\n{\"count\": 1, \"sides\": 8}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        ToolFormat::DeepSeekV31,
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>roll_dice<｜tool▁sep｜>{\"count\": 2, \"sides\": 20}<｜tool▁call▁end｜><｜tool▁call▁begin｜>roll_dice<｜tool▁sep｜>{\"count\": 1, \"sides\": 8}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        ToolFormat::Harmony,
        "<|channel|>analysis<|message|>to=functions.roll_dice {}<|end|><|start|>assistant<|channel|>commentary to=functions.roll_dice <|constrain|>json<|message|>{\"count\": 2, \"sides\": 20}<|call|><|start|>assistant to=functions.roll_dice<|channel|>commentary json<|message|>{\"count\": 1, \"sides\": 8}",
    ),
    (
        ToolFormat::QwenXml,
        "<tool_call>\n<function=roll_dice>\n<parameter=count>\n2\n</parameter>\n<parameter=sides>\n20\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=roll_dice>\n<parameter=count>1</parameter>\n<parameter=sides>8</parameter>\n</function>\n</tool_call>",
    ),
    (
        ToolFormat::Glm,
        "<tool_call>roll_dice\n<arg_key>count</arg_key>\n<arg_value>2</arg_value>\n<arg_key>sides</arg_key>\n<arg_value>20</arg_value>\n</tool_call>\n<tool_call>roll_dice<arg_key>count</arg_key><arg_value>1</arg_value><arg_key>sides</arg_key><arg_value>8</arg_value></tool_call>",
    ),
    (
        ToolFormat::MiniMax,
        "<minimax:tool_call>\n<invoke name=\"roll_dice\">\n<parameter name=\"count\">2</parameter>\n<parameter name=\"sides\">20</parameter>\n</invoke>\n<invoke name=\"roll_dice\">\n<parameter name=\"count\">1</parameter>\n<parameter name=\"sides\">8</parameter>\n</invoke>\n</minimax:tool_call>",
    ),
    (
        ToolFormat::DeepSeekV32,
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"roll_dice\">\n<｜DSML｜parameter name=\"count\" string=\"false\">2</｜DSML｜parameter>\n<｜DSML｜parameter name=\"sides\" string=\"false\">20</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"roll_dice\">\n<｜DSML｜parameter name=\"count\" string=\"false\">1</｜DSML｜parameter>\n<｜DSML｜parameter name=\"sides\" string=\"false\">8</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),
];

#[test]
fn calls_are_read_and_judged_in_every_format() {
    assert!(
        formats()
            .iter()
            .all(|format| REPLIES.iter().any(|(known, _)| known == format))
    );
    let all = [true; 4];
    for (format, reply) in REPLIES {
        assert_eq!(judged(format, "parallel_06", reply), all, "{format:?}: {reply}");
        assert_eq!(
            judged(format, "parallel_06", &format!("I roll {{some}}: {reply}")),
            all,
            "{format:?}"
        );
        let other = reply.replace("20", "12");
        assert_eq!(
            judged(format, "parallel_06", &other),
            [true, true, true, false],
            "{format:?}"
        );
        let invalid = reply.replace("20", "200");
        assert_eq!(
            judged(format, "parallel_06", &invalid),
            [true, true, false, false],
            "{format:?}"
        );
        let renamed = reply.replacen("roll_dice", "roll_die", 3);
        assert_eq!(
            judged(format, "parallel_06", &renamed),
            [true, false, false, false],
            "{format:?}"
        );
        let cut = &reply[..reply.rfind('8').unwrap()];
        assert_eq!(judged(format, "parallel_06", cut), [false; 4], "{format:?}: {cut}");
        assert_eq!(judged(format, "parallel_06", "I will not."), [false; 4], "{format:?}");
        assert_eq!(judged(format, "none_06", "I cannot tell."), all, "{format:?}");
        assert_eq!(
            judged(format, "none_06", reply),
            [true, false, false, false],
            "{format:?}"
        );
    }
}

#[test]
fn space_within_a_call_that_begins_with_its_type_is_free() {
    for start in [
        r#"{"type": "function", "#,
        r#"{"type":"function","#,
        r#"{ "type" : "function", "#,
    ] {
        let call = |count, sides| {
            format!(r#"{start}"name": "roll_dice", "parameters": {{"count": {count}, "sides": {sides}}}}}"#)
        };
        let reply = format!("{}; {}", call(2, 20), call(1, 8));
        assert_eq!(judged(ToolFormat::Json, "parallel_06", &reply), [true; 4], "{reply}");
    }
}

#[test]
fn values_of_parameters_are_what_the_schema_says() {
    let calls = "<tool_call>\n<function=search_recipes>\n<parameter=ingredients>\n[\"lentils\", \"spinach\"]\n</parameter>\n<parameter=max_minutes>\n30\n</parameter>\n\
        <parameter=diet>\nvegetarian\n</parameter>\n</function>\n</tool_call>";
    assert_eq!(judged(ToolFormat::QwenXml, "simple_08", calls), [true; 4]);
    // A text that looks like a number stays a text.
    let calls = read_calls(
        ToolFormat::Glm,
        &request("simple_14"),
        "<tool_call>parcel_status\n<arg_key>tracking_number</arg_key>\n<arg_value>12</arg_value>\n</tool_call>",
    );
    assert_eq!(calls.unwrap()[0].arguments["tracking_number"], "12");
    let twice = "{\"name\": \"roll_dice\", \"parameters\": {\"count\": 1, \"count\": 5, \"sides\": 6}}";
    assert_eq!(judged(ToolFormat::Json, "simple_11", twice), [true, true, false, true]);
}

const SPECIAL: [&str; 12] = [
    "<|channel|>",
    "<|message|>",
    "<|call|>",
    "<|end|>",
    "<|start|>",
    "<|constrain|>",
    "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
];

/// Returns a vocabulary of all bytes and of the special tokens of calls.
fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    for byte in 0..=u8::MAX {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    for (id, name) in (256..).zip(SPECIAL) {
        builder = builder.special(id, name).unwrap();
    }
    Arc::new(builder.special(300, "<eos>").unwrap().eos([300]).build().unwrap())
}

/// Writes a reply that a tag allows: random tokens up to a random point, then the shortest completion.
fn walk(compiler: &ReplyCompiler, vocabulary: &Vocabulary, tag: &str, random: &mut ChaCha8Rng) -> String {
    let mut masker = compiler.compile_structural_tag(tag).unwrap();
    let steps = random.random_range(0..400);
    let mut written: Vec<TokenId> = Vec::new();
    for _ in 0..steps {
        let mask = masker.mask().unwrap();
        let allowed: Vec<TokenId> = (0..vocabulary.len() as TokenId)
            .filter(|token| mask.allows(*token))
            .collect();
        // Letters, digits and marks of calls are preferred, so that calls come about.
        let plain: Vec<TokenId> = allowed
            .iter()
            .copied()
            .filter(|token| *token < 128 || *token >= 256)
            .collect();
        let Some(&token) = plain.choose(random).or(allowed.choose(random)) else {
            break;
        };
        if vocabulary.is_eos(token) {
            break;
        }
        masker.advance(token).unwrap();
        written.push(token);
    }
    let mut end = Vec::new();
    if !masker.is_complete().unwrap() {
        assert!(masker.completion(&mut end).unwrap(), "an end is known");
    }
    written.extend(end);
    let text: Vec<u8> = written
        .iter()
        .filter(|token| !vocabulary.is_eos(**token) && vocabulary.kind(**token) != TokenKind::Unused)
        .flat_map(|token| vocabulary.token_bytes(*token))
        .copied()
        .collect();
    String::from_utf8_lossy(&text).into_owned()
}

/// Every reply that a structural tag allows reads as calls of known functions with valid arguments, by readers independent of the tags.
#[test]
fn whatever_a_tag_allows_is_read_as_valid_calls() {
    let vocabulary = vocabulary();
    let compiler = ReplyCompiler::new(vocabulary.clone(), ExactOptions::default().formats(Formats::Asserted));
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let all = requests();
    for format in formats() {
        for round in 0..12 {
            let request = all.choose(&mut random).unwrap();
            let parallel = round % 2 == 0;
            let tag = structural_tag(format, &request.tools(), &ToolChoice::Required, parallel).unwrap();
            let reply = walk(&compiler, &vocabulary, &tag.to_string(), &mut random);
            let calls = read_calls(format, request, &reply)
                .unwrap_or_else(|error| panic!("{format:?}, {}: {error}: {reply:?}", request.id));
            assert!(
                !calls.is_empty() && (parallel || calls.len() == 1),
                "{format:?}: {reply:?}"
            );
            // The calls made are taken for the right ones, so that the judge looks at their arguments.
            let mut own = request.clone();
            own.expected = calls
                .iter()
                .map(|call| maskwright_suites::tool_calls::ExpectedCall {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                })
                .collect();
            let judgement = judgement(format, &own, &reply);
            assert!(
                judgement.valid_arguments,
                "{format:?}, {}: {judgement:?}: {reply:?}",
                request.id
            );
        }
    }
}

fn record(framework: &str, request: &str, expected: usize, right: [bool; 4]) -> CallRecord {
    let key = CallKey {
        model: "m".to_owned(),
        framework: framework.to_owned(),
        dataset: "d".to_owned(),
        request: request.to_owned(),
    };
    let mut record = CallRecord::empty(key, "hermes", expected);
    record.judgement = Some(CallJudgement {
        calls: 1,
        parsed: right[0],
        right_functions: right[1],
        valid_arguments: right[2],
        accepted: right[3],
        problem: None,
    });
    record
}

#[test]
fn rows_count_requests_with_and_without_a_right_call_apart() {
    let mut refused = record("llguidance", "2", 1, [true; 4]);
    refused.judgement = None;
    refused.compile = Some(CompileRecord {
        seconds: Some(0.1),
        beside_prefill: false,
        error: Some(CompileFailure {
            kind: maskwright::CompileErrorKind::Unsupported,
            pointer: None,
            keyword: None,
            message: "no".to_owned(),
        }),
    });
    let mut unusable = record("none", "4", 1, [true; 4]);
    unusable.judgement = None;
    unusable.unusable = Some("no such function".to_owned());
    let records = [
        record("none", "1", 1, [true, true, false, false]),
        record("none", "2", 2, [true; 4]),
        record("none", "3", 0, [true, false, false, false]),
        unusable,
        record("llguidance", "1", 1, [true; 4]),
        refused,
        record("llguidance", "3", 0, [true; 4]),
    ];
    let keys = keys_of_records(&records);
    let rows = rows(&records, &keys, &[("d".to_owned(), 4)]);
    let (alone, other) = (&rows[0], &rows[1]);
    let parts = |row: &super::rows::CallRow| {
        let shares = [
            row.parsed,
            row.right_functions,
            row.valid_arguments,
            row.accepted,
            row.declined,
        ];
        shares.map(|share| (share.part, share.whole))
    };
    assert_eq!(parts(alone), [(2, 2), (2, 2), (1, 2), (1, 2), (0, 1)]);
    assert_eq!(parts(other), [(1, 2), (1, 2), (1, 2), (1, 2), (1, 1)]);
    assert_eq!(
        (alone.answered, alone.unusable, other.answered, other.refused),
        (3, 1, 3, 1)
    );
    let against = other.against_alone.unwrap();
    assert_eq!((against.only_this, against.only_other), (2, 1));
    let report = ToolReport {
        rows,
        warnings: Vec::new(),
    };
    let text = report.text(Style::Markdown);
    assert!(text.contains("50.0 % (9.5–90.5)"), "{text}");
    assert!(
        text.contains("m llguidance d: 1 of 4 requests had their structural tag refused."),
        "{text}"
    );
    assert!(
        text.contains(
            "m LM only d: 1 of 4 requests could not be asked, for the reasons in records.jsonl (`unusable`)."
        ),
        "{text}"
    );
    assert_eq!(report.csv().lines().count(), 3);
}
