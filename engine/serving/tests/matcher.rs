//! Matchers over a vocabulary in which each byte is a token.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use maskwright::{ExactOptions, Limits, MaskError, TokenId, Tokenize, Vocabulary};
use maskwright_serving::{
    CompiledSchema, DraftTree, DraftedRow, Executor, Matcher, MatcherError, MatcherOptions, SchemaCompiler,
    SharedMatcher,
};

const END: TokenId = 256;
const OTHER_END: TokenId = 257;
const TOKENS: usize = 300;
const WORDS: usize = TOKENS.div_ceil(32);
const SCHEMA: &str =
    r#"{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {"a": {"type": "integer"}}}"#;

fn compiler() -> SchemaCompiler {
    compiler_with(ExactOptions::default())
}

fn compiler_with(options: ExactOptions) -> SchemaCompiler {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let builder = builder
        .special(END, "<end>")
        .unwrap()
        .special(OTHER_END, "<other>")
        .unwrap();
    let vocabulary = builder.eos([END]).size(TOKENS).build().unwrap();
    SchemaCompiler::new(Arc::new(vocabulary), options, 1 << 30)
}

fn matcher(options: &MatcherOptions) -> Matcher {
    compiler().json_schema(SCHEMA).unwrap().matcher(options).unwrap()
}

fn ids(text: &str) -> Vec<TokenId> {
    text.bytes().map(TokenId::from).collect()
}

fn allowed(row: &[u32]) -> Vec<TokenId> {
    let is_allowed = |token: &TokenId| row[*token as usize / 32] >> (token % 32) & 1 == 1;
    (0..row.len() as TokenId * 32).filter(is_allowed).collect()
}

fn filled(matcher: &mut Matcher) -> Vec<TokenId> {
    let mut row = [u32::MAX; WORDS + 2];
    assert!(matcher.fill(&mut row).unwrap());
    allowed(&row)
}

#[test]
fn a_text_token_that_ends_the_answer_leaves_a_way_within_the_limit() {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let builder = builder.special(END, "<end>").unwrap().text(OTHER_END, "true").unwrap();
    let vocabulary = builder.eos([END]).size(TOKENS).build().unwrap();
    let compiler = SchemaCompiler::new(Arc::new(vocabulary), ExactOptions::default(), 1 << 30);
    let options = MatcherOptions {
        stop_tokens: Some(vec![END, OTHER_END]),
        max_tokens: Some(2),
    };
    let mut matcher = compiler
        .json_schema(r#"{"const": true}"#)
        .unwrap()
        .matcher(&options)
        .unwrap();
    assert_eq!(filled(&mut matcher), ids("t"));
}

#[test]
fn the_end_is_where_stop_tokens_are() {
    let mut usual = matcher(&MatcherOptions::default());
    let options = MatcherOptions {
        stop_tokens: Some(vec![OTHER_END, u32::from(b'x')]),
        max_tokens: None,
    };
    let mut other = matcher(&options);
    for matcher in [&mut usual, &mut other] {
        assert_eq!(matcher.accept_all(&ids(r#"{"a":1}"#)).unwrap(), 7);
        assert!(matcher.is_completed().unwrap() && !matcher.is_terminated());
    }
    assert_eq!(filled(&mut usual), [END]);
    assert_eq!(filled(&mut other), [u32::from(b'x'), OTHER_END]);
    assert!(!other.accept(END).unwrap(), "it ends other answers");
    assert!(other.accept(OTHER_END).unwrap() && other.is_terminated());
    assert_eq!(filled(&mut other), [u32::from(b'x'), OTHER_END], "behind the end too");
    assert!(!other.accept(OTHER_END).unwrap(), "there is one end");
    other.rollback(1).unwrap();
    assert!(!other.is_terminated() && other.is_completed().unwrap());
    other.rollback(1).unwrap();
    assert!(!other.accept(OTHER_END).unwrap() && other.accept(u32::from(b'}')).unwrap());
    other.reset().unwrap();
    assert_eq!(other.position(), 0);
    let error = other.rollback(1).unwrap_err();
    assert_eq!(
        error,
        MatcherError::Mask(MaskError::RollbackTooFar { asked: 1, available: 0 })
    );
}

#[test]
fn validating_changes_nothing() {
    let mut matcher = matcher(&MatcherOptions::default());
    let tokens = [ids(r#"{"a":1}"#), vec![END]].concat();
    assert_eq!(matcher.validate(&tokens).unwrap(), 8);
    assert_eq!((matcher.position(), matcher.is_terminated()), (0, false));
    assert_eq!(matcher.validate(&ids("{x")).unwrap(), 1);
    assert_eq!(matcher.accept_all(&tokens).unwrap(), 8);
    assert_eq!(matcher.validate(&tokens).unwrap(), 0);
    assert!(matcher.is_terminated());
}

#[test]
fn a_limit_on_tokens_is_kept() {
    let compiled = compiler().json_schema(r#"{"type": "string"}"#).unwrap();
    let options = |max_tokens| MatcherOptions {
        stop_tokens: None,
        max_tokens: Some(max_tokens),
    };
    let error = compiled.matcher(&options(2)).unwrap_err();
    assert_eq!(
        error,
        MatcherError::TooFewTokens {
            max_tokens: 2,
            needed: 3
        }
    );
    let mut matcher = compiled.matcher(&options(5)).unwrap();
    assert_eq!(matcher.accept_all(&ids("\"a")).unwrap(), 2);
    assert!(filled(&mut matcher).len() > 2, "two more, and the end");
    assert_eq!(matcher.accept_all(&ids("b")).unwrap(), 1);
    assert_eq!(filled(&mut matcher), [u32::from(b'"')]);
    let mut fork = matcher.fork().unwrap();
    assert!(fork.accept(u32::from(b'"')).unwrap());
    assert_eq!(filled(&mut fork), [END]);
    // The way to the end that was planned behind a draft is none behind another token.
    let compiled = compiler().regex("d(q|wb{50})|x(z|qb{50})").unwrap();
    let mut matcher = compiled.matcher(&options(4)).unwrap();
    assert_eq!(matcher.fill_drafted(&ids("d"), &mut [0; 2 * WORDS], WORDS).unwrap(), 1);
    assert!(matcher.accept(u32::from(b'x')).unwrap());
    assert_eq!(filled(&mut matcher), ids("z"));
}

/// A tokenizer that writes each character apart.
struct Characters;

impl Tokenize for Characters {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        text.iter().map(|byte| TokenId::from(*byte)).collect()
    }
}

#[test]
fn forced_tokens_keep_to_a_limit() {
    let mut builder = Vocabulary::builder().tokenizer(Arc::new(Characters));
    for byte in 0..=255_u8 {
        builder = builder.text(byte.into(), [byte]).unwrap();
    }
    let builder = builder.special(END, "<end>").unwrap().text(OTHER_END, "yes").unwrap();
    let vocabulary = builder.eos([END]).size(TOKENS).build().unwrap();
    let compiler = SchemaCompiler::new(Arc::new(vocabulary), ExactOptions::default(), 1 << 30);
    let compiled = compiler.choice(&["no", "yesyesyes"].map(str::to_owned)).unwrap();
    let matcher_within = |max_tokens| {
        let options = MatcherOptions {
            stop_tokens: None,
            max_tokens,
        };
        let mut matcher = compiled.matcher(&options).unwrap();
        assert_eq!(matcher.accept_all(&[OTHER_END]).unwrap(), 1);
        matcher
    };
    assert_eq!(matcher_within(None).forced_tokens().unwrap(), ids("yesyes"));
    assert_eq!(matcher_within(Some(8)).forced_tokens().unwrap(), ids("yesyes"));
    assert_eq!(matcher_within(Some(6)).forced_tokens().unwrap(), ids("yes"));
    let mut tight = matcher_within(Some(4));
    assert!(tight.forced_tokens().unwrap().is_empty());
    assert_eq!((tight.position(), filled(&mut tight)), (1, vec![OTHER_END]));
}

#[test]
fn bad_options_and_rows_are_errors() {
    let compiled = compiler().json_schema(SCHEMA).unwrap();
    let stop = |tokens: &[TokenId]| MatcherOptions {
        stop_tokens: Some(tokens.to_vec()),
        max_tokens: None,
    };
    assert_eq!(compiled.matcher(&stop(&[])).unwrap_err(), MatcherError::NoStopToken);
    let out_of_range = MatcherError::StopTokenOutOfRange {
        token: 300,
        len: TOKENS,
    };
    assert_eq!(compiled.matcher(&stop(&[300])).unwrap_err(), out_of_range);
    let error = matcher(&MatcherOptions::default())
        .fill(&mut [0; WORDS - 1])
        .unwrap_err();
    let too_short = MatcherError::RowTooShort {
        words: WORDS - 1,
        tokens: TOKENS,
        needed: WORDS,
    };
    assert_eq!(error, too_short);
}

#[test]
fn an_answer_that_only_stop_tokens_could_continue_is_an_error() {
    let stop_tokens = ids("b");
    let options = MatcherOptions {
        stop_tokens: Some(stop_tokens.clone()),
        max_tokens: None,
    };
    let mut matcher = compiler().regex("ab").unwrap().matcher(&options).unwrap();
    assert_eq!(filled(&mut matcher), ids("a"));
    // Behind a draft, which may not come to be, the row allows nothing.
    let mut rows = [0; 2 * WORDS];
    assert_eq!(matcher.fill_drafted(&ids("a"), &mut rows, WORDS).unwrap(), 1);
    assert!(allowed(&rows[WORDS..]).is_empty());
    assert!(matcher.accept(u32::from(b'a')).unwrap());
    let error = matcher.fill(&mut [0; WORDS]).unwrap_err();
    assert_eq!(error, MatcherError::OnlyStopTokens { stop_tokens });
}

#[test]
fn a_row_of_everything_says_so() {
    let builder = Vocabulary::builder()
        .text(0, "1")
        .unwrap()
        .special(1, "<end>")
        .unwrap()
        .eos([1]);
    let compiler = SchemaCompiler::new(Arc::new(builder.build().unwrap()), ExactOptions::default(), 0);
    let mut matcher = compiler
        .json_schema("true")
        .unwrap()
        .matcher(&MatcherOptions::default())
        .unwrap();
    let mut row = [0];
    assert!(matcher.fill(&mut row).unwrap(), "no number, no end");
    assert!(matcher.accept(0).unwrap());
    assert!(!matcher.fill(&mut row).unwrap());
    assert_eq!(row, [3]);
}

#[test]
fn what_must_come_is_known() {
    let mut matcher = matcher(&MatcherOptions::default());
    matcher.accept_all(&ids("{\"")).unwrap();
    assert_eq!(matcher.forced_text().unwrap(), "a\":");
    assert!(matcher.forced_tokens().unwrap().is_empty(), "there is no tokenizer");
    let completion = matcher.completion().unwrap().unwrap();
    assert_eq!(matcher.accept_all(&completion).unwrap(), completion.len());
    assert!(matcher.is_completed().unwrap());
}

#[test]
fn threads_fill_as_matchers_do() {
    let compiled = compiler().json_schema(SCHEMA).unwrap();
    let text = ids(r#"{"a":1}"#);
    let matchers: Vec<SharedMatcher> = (0..100)
        .map(|number| {
            let mut matcher = compiled.matcher(&MatcherOptions::default()).unwrap();
            matcher.accept_all(&text[..number % 8]).unwrap();
            SharedMatcher::new(matcher)
        })
        .collect();
    for threads in [1, 3] {
        let executor = Executor::new(Some(threads)).unwrap();
        assert_eq!(executor.threads(), threads);
        let mut rows = vec![0; 100 * WORDS];
        executor
            .fill(matchers.iter().cloned().zip(rows.chunks_mut(WORDS)).collect())
            .unwrap();
        for (matcher, row) in matchers.iter().zip(rows.chunks(WORDS)) {
            assert_eq!(allowed(row), filled(&mut matcher.lock()));
        }
        let short = matchers[..2].iter().cloned().zip(rows.chunks_mut(1)).collect();
        assert!(executor.fill(short).is_err());
    }
}

#[test]
fn rows_of_drafted_tokens_follow_their_matcher() {
    let matcher = SharedMatcher::new(matcher(&MatcherOptions::default()));
    matcher.lock().accept_all(&ids(r#"{"a":"#)).unwrap();
    let drafted = [ids("1}"), vec![END], ids("x")].concat();
    let mut rows = vec![0; 5 * WORDS];
    let row = DraftedRow {
        matcher: matcher.clone(),
        drafted: drafted.clone(),
        rows: &mut rows,
        words: WORDS,
    };
    Executor::new(Some(1)).unwrap().fill_drafted(vec![row]).unwrap();
    let rows: Vec<Vec<TokenId>> = rows.chunks(WORDS).map(allowed).collect();
    assert!(rows[0].contains(&u32::from(b'1')) && !rows[0].contains(&END));
    assert!(rows[1].contains(&u32::from(b'}')));
    assert_eq!(
        (&*rows[2], &*rows[3]),
        (&[END][..], &[END][..]),
        "before the end and behind it"
    );
    assert_eq!(rows[4].len(), WORDS * 32, "what is sampled there is thrown away");
    let mut matcher = matcher.lock();
    assert_eq!((matcher.position(), matcher.is_terminated()), (5, false));
    assert_eq!(matcher.fill_drafted(&drafted, &mut [0; 5 * WORDS], WORDS).unwrap(), 3);
    let error = matcher.fill_drafted(&drafted, &mut [0; 4 * WORDS], WORDS).unwrap_err();
    assert_eq!(error, MatcherError::TooFewRows { rows: 4, needed: 5 });
    assert_eq!(matcher.position(), 5);
}

#[test]
fn trees_of_drafted_tokens_are_walked() {
    let mut matcher = matcher(&MatcherOptions::default());
    matcher.accept_all(&ids(r#"{"a":"#)).unwrap();
    // Behind the root `1`, `x` and `2`; behind `1` a brace.
    let tree = DraftTree {
        next_token: &[1, 4, -1, -1, -1],
        next_sibling: &[-1, 2, 3, -1, -1],
        tokens: &[0, i64::from(b'1'), i64::from(b'x'), i64::from(b'2'), i64::from(b'}')],
    };
    let mut rows = vec![0; 5 * WORDS];
    assert!(
        !matcher.fill_tree(tree, &mut rows, WORDS).unwrap(),
        "`x` is not allowed"
    );
    let rows: Vec<Vec<TokenId>> = rows.chunks(WORDS).map(allowed).collect();
    assert_eq!(rows[0], filled(&mut matcher));
    assert_eq!((rows[1].clone(), rows[2].len()), (rows[3].clone(), WORDS * 32));
    assert_eq!(rows[4], [END]);
    assert_eq!(matcher.position(), 5);
    for (next_token, next_sibling) in [([1, 0], [-1, -1]), ([1, -1], [-1, 5]), ([1, 1], [-1, -1])] {
        let tree = DraftTree {
            next_token: &next_token,
            next_sibling: &next_sibling,
            tokens: &[0, i64::from(b'1')],
        };
        let error = matcher.fill_tree(tree, &mut [0; 2 * WORDS], WORDS).unwrap_err();
        assert!(matches!(error, MatcherError::DraftTree(_)), "{error}");
        assert_eq!(matcher.position(), 5);
    }
}

#[test]
fn compiled_schemas_are_kept_and_errors_are_not() {
    let compiler = compiler();
    let first = compiler.json_schema(SCHEMA).unwrap();
    assert!(Arc::ptr_eq(&first, &compiler.json_schema(SCHEMA).unwrap()));
    assert!(compiler.json_schema("{").is_err());
    assert_eq!(compiler.cache_size().0, 1);
    compiler.clear_cache();
    assert!(!Arc::ptr_eq(&first, &compiler.json_schema(SCHEMA).unwrap()));
}

/// The memory of a compiled schema grows with the answers: once it has come to its limit, later answers would fail, too.
#[test]
fn schemas_that_came_to_a_limit_are_compiled_anew() {
    const NAMES: &str = r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#;
    let within = |bytes: usize| {
        let mut limits = Limits::default();
        limits.memory_bytes = bytes;
        compiler_with(ExactOptions::default().limits(limits))
    };
    let write = |compiled: &CompiledSchema, text: &str| -> Result<usize, MatcherError> {
        compiled.matcher(&MatcherOptions::default())?.accept_all(&ids(text))
    };
    let is_enough = |bytes: usize| {
        let compiled = within(bytes).json_schema(NAMES);
        compiled.is_ok_and(|compiled| write(&compiled, r#"{"a":1}"#) == Ok(7))
    };
    let bits = (12_u32..30).find(|bits| is_enough(1_usize << *bits)).unwrap();
    let compiler = within(16_usize << bits);
    let first = compiler.json_schema(NAMES).unwrap();
    // Each answer has a name that is new from its first characters on.
    let answer = |number: usize| format!("{{\"{number}{}\":1}}", "x".repeat(60));
    let failed = (0..100_000).find_map(|number| Some((number, write(&first, &answer(number)).err()?)));
    let Some((answers, MatcherError::Mask(MaskError::LimitExceeded(_)))) = failed else {
        panic!("{failed:?}");
    };
    let second = compiler.json_schema(NAMES).unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(first.is_limit_reached() && !second.is_limit_reached());
    assert_eq!(write(&second, r#"{"a":1}"#), Ok(7));
    assert!(
        Arc::ptr_eq(&second, &compiler.json_schema(NAMES).unwrap()),
        "it is kept"
    );
    assert_eq!(compiler.cache_size().0, 1);
    for number in 0..2 * answers {
        let compiled = compiler.json_schema(NAMES).unwrap();
        assert!(
            write(&compiled, &answer(number)).is_ok(),
            "no answer meets a limit that others come near"
        );
    }
}

#[test]
fn kinds_of_answers_are_told_apart() {
    let compiler = compiler();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
    let compiled = [
        compiler.json_schema("1").err().map(|error| error.to_string()),
        compiler.regex("1").err().map(|error| error.to_string()),
        compiler.choice(&texts(&["1"])).err().map(|error| error.to_string()),
    ];
    assert!(compiled[0].is_some() && compiled[1].is_none() && compiled[2].is_none());
    let accepts = |compiled: &CompiledSchema, text: &str| {
        let mut matcher = compiled.matcher(&MatcherOptions::default()).unwrap();
        matcher.accept_all(&ids(text)).unwrap() == text.len() && matcher.is_completed().unwrap()
    };
    let digits = compiler.regex("[0-9]+").unwrap();
    assert!(
        accepts(&digits, "42")
            && !accepts(&digits, "\"42\"")
            && Arc::ptr_eq(&digits, &compiler.regex("[0-9]+").unwrap())
    );
    let choice = compiler.choice(&texts(&["a", "b"])).unwrap();
    assert!(accepts(&choice, "b") && !accepts(&choice, "ab"));
    assert!(!Arc::ptr_eq(&choice, &compiler.choice(&texts(&["a1 b"])).unwrap()));
}

/// A structural tag may end a part with a token that ends sequences; that is no end of the answer where more has to come.
#[test]
fn structural_tags_are_compiled_and_may_name_stop_tokens() {
    let compiler = compiler();
    let part = |text: &str, end: &str| {
        format!(r#"{{"type": "tag", "begin": "{text}", "content": {{"type": "any_text"}}, "end": "{end}"}}"#)
    };
    let tag = |parts: &str| format!(r#"{{"format": {{"type": "sequence", "elements": [{parts}]}}}}"#);
    let twice = tag(&[part("a", "<end>"), part("b", "<other>")].join(","));
    let compiled = compiler.structural_tag(&twice).unwrap();
    assert!(
        Arc::ptr_eq(&compiled, &compiler.structural_tag(&twice).unwrap()),
        "it is kept"
    );
    let mut matcher = compiled.matcher(&MatcherOptions::default()).unwrap();
    assert!(matcher.accept(b'a'.into()).unwrap() && filled(&mut matcher).contains(&END));
    assert!(matcher.accept(END).unwrap() && !matcher.is_terminated() && !matcher.is_completed().unwrap());
    assert_eq!(filled(&mut matcher), [u32::from(b'b')]);
    assert_eq!(matcher.accept_all(&[b'b'.into(), OTHER_END]).unwrap(), 2);
    assert!(matcher.is_completed().unwrap() && !matcher.is_terminated());
    assert_eq!(filled(&mut matcher), [END]);
    assert!(matcher.accept(END).unwrap() && matcher.is_terminated());
    let options = MatcherOptions {
        stop_tokens: Some(vec![OTHER_END]),
        max_tokens: None,
    };
    let mut matcher = compiled.matcher(&options).unwrap();
    assert_eq!(matcher.accept_all(&[b'a'.into(), END, b'b'.into()]).unwrap(), 3);
    assert!(filled(&mut matcher).contains(&OTHER_END), "the tag names it");
    assert!(matcher.accept(OTHER_END).unwrap() && matcher.is_terminated());
    let error = compiler
        .structural_tag(&tag(r#"{"type": "grammar", "grammar": ""}"#))
        .unwrap_err();
    assert_eq!(error.pointer(), Some("/format/elements/0/grammar"));
}

#[test]
fn a_limit_that_is_set_later_holds_from_the_beginning_of_the_answer() {
    let mut matcher = matcher(&MatcherOptions::default());
    assert_eq!(matcher.accept_all(&ids(r#"{"a":"#)).unwrap(), 5);
    // One digit, the brace, the end.
    matcher.set_max_tokens(Some(8));
    assert!(!filled(&mut matcher).contains(&u32::from(b'-')));
    assert!(matcher.accept(u32::from(b'1')).unwrap());
    assert_eq!(filled(&mut matcher), [u32::from(b'}')]);
    matcher.set_max_tokens(None);
    assert!(filled(&mut matcher).contains(&u32::from(b'2')));
    // Too few for any end.
    matcher.set_max_tokens(Some(7));
    assert!(filled(&mut matcher).contains(&u32::from(b'2')));
}
