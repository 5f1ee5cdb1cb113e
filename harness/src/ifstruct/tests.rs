//! Tests of the masks against the judge of replies: a reply that the masks allow must pass.

use std::sync::Arc;

use maskwright::{ExactOptions, Formats, Masker, ReplyCompiler, TokenId, Vocabulary};
use maskwright_suites::ifstruct::{Level, OutputFormat, Sample, SampleGenerator, Scorer, Split};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::form;

/// Tokens besides single bytes.
const TOKENS: [&str; 20] = [
    "```", "```json", "yaml\n", "\n```", "\n  ", "\n    ", "- ", ": ", ": \"", "\"\n", "\",\n", "\": ", "the ", "no",
    "1.10", "\\n", "é", "\\\"", "true", "]\n```",
];

fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    for (id, text) in (0..).zip(bytes.chain(TOKENS.map(|text| text.as_bytes().to_vec()))) {
        builder = builder.text(id, text).unwrap();
    }
    let end = 256 + TOKENS.len() as TokenId;
    Arc::new(builder.special(end, "<end>").unwrap().eos([end]).build().unwrap())
}

fn compiler() -> ReplyCompiler {
    let options = ExactOptions::default().formats(Formats::Asserted);
    ReplyCompiler::new(vocabulary(), options)
}

/// Writes a reply of random allowed tokens, and then of tokens that end it.
fn any_reply(masker: &mut dyn Masker, random: &mut ChaCha8Rng) -> String {
    let vocabulary = vocabulary();
    let mut tokens = Vec::new();
    // Mostly one is in a string, which random bytes do not end soon: in between, the way to the end is taken for a while.
    for _ in 0..random.random_range(0..6) {
        for _ in 0..random.random_range(0..12) {
            let mask = masker.mask().unwrap();
            let allowed: Vec<TokenId> = mask.iter().filter(|token| !vocabulary.is_eos(*token)).collect();
            let Some(&token) = allowed.choose(random) else { break };
            masker.advance(token).unwrap_or_else(|error| {
                panic!(
                    "{error}: behind {:?}",
                    String::from_utf8_lossy(&vocabulary.text_bytes(&tokens))
                )
            });
            tokens.push(token);
        }
        let mut rest = Vec::new();
        assert!(masker.completion(&mut rest).unwrap());
        for &token in &rest[..random.random_range(0..=rest.len().min(80))] {
            masker.advance(token).unwrap_or_else(|error| {
                let shown = |tokens: &[TokenId]| String::from_utf8_lossy(&vocabulary.text_bytes(tokens)).into_owned();
                panic!("{error}: of {:?} behind {:?}", shown(&rest), shown(&tokens))
            });
            tokens.push(token);
        }
    }
    let mut rest = Vec::new();
    assert!(masker.completion(&mut rest).unwrap());
    for &token in &rest {
        masker.advance(token).unwrap();
    }
    assert!(masker.is_complete().unwrap());
    tokens.extend(rest);
    String::from_utf8(vocabulary.text_bytes(&tokens)).unwrap()
}

#[test]
fn replies_that_are_allowed_pass() {
    let compiler = compiler();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut judged = [0; 2];
    for split in [Split::Test, Split::Train] {
        for sample in SampleGenerator::new(5, split).unwrap().take(60) {
            let mut masker = compiler
                .compile(&form::schema(&sample).to_string(), &form::form(&sample))
                .unwrap();
            let reply = any_reply(masker.as_mut(), &mut random);
            // Strictly, a number of YAML has no more digits than a double keeps.
            let levels = match sample.output_format {
                OutputFormat::Json => &[Level::Public, Level::Strict][..],
                OutputFormat::Yaml => &[Level::Public],
            };
            for &level in levels {
                let score = Scorer::new(&sample, level).unwrap().score(&reply);
                assert!(score.passed, "{}: {:?}\n{reply}", sample.seed, score.failures);
            }
            judged[usize::from(sample.output_format == OutputFormat::Yaml)] += 1;
        }
    }
    assert!(judged.iter().all(|count| *count >= 30), "{judged:?}");
}

/// Samples of the public set may leave open the wrapper of the list and its number of items, which ours define.
#[test]
fn what_a_sample_leaves_open_is_open() {
    let mut sample: Sample = SampleGenerator::new(5, Split::Test).unwrap().next().unwrap();
    sample.output_format = OutputFormat::Json;
    sample.top_level_count = None;
    sample.require_wrapper_key = false;
    sample.require_code_block = false;
    sample.code_block_language = None;
    sample.forbid_code_block = false;
    let mut masker = compiler()
        .compile(&form::schema(&sample).to_string(), &form::form(&sample))
        .unwrap();
    for start in ["[", "```json\n[", "```\n["] {
        let mut tokens = 0;
        for byte in start.bytes() {
            masker.advance(byte.into()).unwrap();
            tokens += 1;
        }
        masker.rollback(tokens).unwrap();
    }
    assert!(masker.advance(b'{'.into()).is_err());
}
