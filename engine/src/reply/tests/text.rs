//! Text: one string as it is.

use std::sync::Arc;

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{accepts, masker, vocabulary};
use crate::reply::{DataFormat, Envelope, ReplyCompiler, ReplyForm};
use crate::{CompileErrorKind, ExactOptions, Masker, PatternSyntax, TokenId, Vocabulary};

fn compiler() -> ReplyCompiler {
    ReplyCompiler::new(vocabulary(), ExactOptions::default())
}

fn regex(pattern: &str) -> Box<dyn Masker> {
    compiler().compile_regex(pattern).unwrap()
}

#[test]
fn an_expression_matches_the_whole_reply_as_it_is() {
    let quoted = regex(r#"say "[^"]*"|a\\b|\n+"#);
    for reply in [
        r#"say "yes\n""#,
        r#"say "\""#,
        r"a\b",
        "\n",
        "\n\n",
        "say \"line\nbreak\u{1}\"",
    ] {
        assert!(accepts(&*quoted, reply), "{reply:?}");
    }
    for reply in ["", "say", r#"say "a""a"#, r"a\\b", r"\n", " \n", "\"\""] {
        assert!(!accepts(&*quoted, reply), "{reply:?}");
    }
    assert!(
        accepts(&*regex("^a|b$"), "b") && !accepts(&*regex("^a|b$"), "ab"),
        "anchors inside change nothing"
    );
    assert!(accepts(&*regex("(?i)yes"), "YES"));
    assert!(accepts(&*regex(""), "") && !accepts(&*regex(""), "a"));
    assert!(accepts(&*regex("é.{2}"), "é\u{7f}\u{10FFFF}"));
}

#[test]
fn an_expression_is_of_the_dialect_that_the_options_name() {
    for (syntax, pattern, inside, outside) in [
        (PatternSyntax::Ecma, r"\d$|\w", "1", "٣"),
        (PatternSyntax::Rust, r"\d\b{end}", "٣", "k"),
        (PatternSyntax::Rust, "(?x) a # to the end", "a", "a\n"),
        (PatternSyntax::Python, r"\w(?i:k)\Z", "é\u{212a}", "é\u{212a}\n"),
        (PatternSyntax::Python, "(?s)a.", "a\n", "a"),
    ] {
        let options = ExactOptions::default().patterns(syntax);
        let compiler = ReplyCompiler::new(vocabulary(), options);
        let masker = compiler.compile_regex(pattern).unwrap();
        assert!(accepts(&*masker, inside) && !accepts(&*masker, outside), "{pattern}");
        let error = compiler.compile_regex("(").err().unwrap();
        assert_eq!(error.kind(), CompileErrorKind::Malformed);
    }
    // Schemas are read by it too.
    let options = ExactOptions::default().patterns(PatternSyntax::Rust);
    let schema = r#"{"type": "string", "pattern": "^\\d\\z"}"#;
    let form = ReplyForm {
        data: DataFormat::Json,
        envelopes: vec![Envelope::bare()],
    };
    let masker = ReplyCompiler::new(vocabulary(), options)
        .compile(schema, &form)
        .unwrap();
    assert!(accepts(&*masker, "\"٣\"") && !accepts(&*masker, "\"k\""));
}

#[test]
fn a_choice_is_one_of_its_texts() {
    let choices = ["yes", "no", "n\"o\\", "", "\t"];
    let masker = compiler().compile_choice(choices).unwrap();
    assert!(choices.iter().all(|choice| accepts(&*masker, choice)));
    assert!(
        ["y", "n\\\"o\\\\", "\\t", "yes "]
            .iter()
            .all(|other| !accepts(&*masker, other))
    );
    let error = compiler().compile_choice([]).err().unwrap();
    assert_eq!(error.kind(), CompileErrorKind::Unsatisfiable);
    assert!(error.message().contains("no choices are given"), "{error}");
    let error = compiler().compile_regex("a$b").err().unwrap();
    assert!(
        error.message().contains("no text matches this expression: `a$b`"),
        "{error}"
    );
}

#[test]
fn texts_that_no_tokens_spell_are_left_out_of_a_choice() {
    let builder = Vocabulary::builder().special(0, "</s>").unwrap().eos([0]);
    let texts = ["x", "y", "é"].iter().zip(1..);
    let builder = texts.fold(builder, |builder, (text, id)| builder.text(id, *text).unwrap());
    let vocabulary = Arc::new(builder.build().unwrap());
    let compiler = ReplyCompiler::new(vocabulary, ExactOptions::default());
    let mut masker = compiler.compile_choice(["x€", "y"]).unwrap();
    let mask = masker.mask().unwrap();
    assert!(mask.allows(2) && !mask.allows(1));
}

#[test]
fn expressions_that_are_none_are_refused_with_their_text() {
    for (pattern, kind) in [
        ("a)(b", CompileErrorKind::Malformed),
        ("(", CompileErrorKind::Malformed),
        (r"(a)\1", CompileErrorKind::Unsupported),
        ("a(?=b)", CompileErrorKind::Unsatisfiable),
    ] {
        let error = compiler().compile_regex(pattern).err().unwrap();
        assert_eq!(error.kind(), kind, "{error}");
    }
    let error = compiler().compile_regex("a)(b").err().unwrap();
    assert!(error.to_string().contains("a)(b"), "{error}");
}

#[test]
fn values_that_are_no_strings_are_left_out() {
    let text = masker(
        DataFormat::Text,
        &[Envelope::bare()],
        r#"{"type": ["string", "null"], "maxLength": 4}"#,
    );
    assert!(accepts(&*text, "null") && accepts(&*text, "") && !accepts(&*text, "\"null\""));
    let fenced = [Envelope::fenced("text"), Envelope::bare()];
    let text = masker(DataFormat::Text, &fenced, r#"{"enum": ["a`", "\n", 1]}"#);
    assert!(accepts(&*text, "```text\na`\n```") && accepts(&*text, "```text\n\n\n```") && accepts(&*text, "\n"));
    assert!(!accepts(&*text, "1") && !accepts(&*text, "```text\na"));
}

/// A mask has the tokens that are accepted, what is forced is allowed, and a completion ends the reply.
#[test]
fn masks_say_what_accepting_says() {
    let vocabulary = vocabulary();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let envelopes = [vec![Envelope::bare()], vec![Envelope::fenced(""), Envelope::bare()]];
    let schemas = [
        r#"{"type": "string"}"#,
        r#"{"type": "string", "maxLength": 5}"#,
        r#"{"pattern": "^[\"\\\\a]*$"}"#,
        r#"{"pattern": "\n$"}"#,
        r#"{"enum": ["a: \"b", "a\\n", "a\n", "\u2028", "true"]}"#,
    ];
    for (schema, envelopes) in schemas
        .iter()
        .flat_map(|schema| envelopes.iter().map(move |list| (schema, list)))
    {
        for _ in 0..6 {
            let mut masker = masker(DataFormat::Text, envelopes, schema);
            for _ in 0..12 {
                let mask = masker.mask().unwrap().clone();
                for token in 0..vocabulary.len() as TokenId {
                    let mut fork = masker.fork().unwrap();
                    assert_eq!(fork.advance(token).is_ok(), mask.allows(token), "{schema}: {token}");
                }
                let mut ended = masker.fork().unwrap();
                let mut rest = Vec::new();
                assert!(ended.completion(&mut rest).unwrap(), "{schema}");
                rest.iter().for_each(|token| ended.advance(*token).unwrap());
                assert!(ended.is_complete().unwrap(), "{schema}");
                let mut forced = Vec::new();
                masker.forced_text(&mut forced).unwrap();
                if let Some(first) = forced.first() {
                    let allowed =
                        |token: TokenId| vocabulary.is_eos(token) || vocabulary.token_bytes(token)[0] == *first;
                    assert!(mask.iter().all(allowed), "{schema}");
                }
                let tokens: Vec<TokenId> = mask.iter().collect();
                let token = *tokens.choose(&mut random).unwrap();
                if vocabulary.is_eos(token) || random.random_bool(0.05) {
                    break;
                }
                masker.advance(token).unwrap();
            }
        }
    }
}
