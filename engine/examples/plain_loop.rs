//! A plain loop over logits: masks, sampling, forced tokens, and a limit on tokens that the document keeps.
//!
//! ```console
//! $ cargo run --release -p maskwright --example plain_loop
//! $ cargo run --release -p maskwright --example plain_loop -- schema.json 200
//! ```
//!
//! The model is the worst that there can be: its logits are random. What it writes is valid all the same.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use maskwright::{Compiler, ExactCompiler, ExactOptions, TokenId, Vocabulary, VocabularyError};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        "state": {"enum": ["open", "closed"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 10}, "uniqueItems": true}
    },
    "required": ["id", "state"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let schema = match arguments.next() {
        Some(file) => std::fs::read_to_string(file)?,
        None => SCHEMA.to_owned(),
    };
    let limit: usize = arguments.next().map_or(Ok(100), |limit| limit.parse())?;

    let vocabulary = Arc::new(vocabulary()?);
    let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default());
    let mut masker = compiler.compile(&schema)?;
    let mut model = RandomModel(1);

    let mut document: Vec<TokenId> = Vec::new();
    let (mut next, mut rest) = (Vec::new(), Vec::new());
    let mut logits = vec![0.0; vocabulary.len()];
    loop {
        model.write_logits(&mut logits);
        masker.mask_within(limit - document.len())?.apply_to(&mut logits);
        let token = most_likely(&logits).ok_or("no token is allowed")?;
        masker.advance(token)?;
        if vocabulary.is_eos(token) {
            break;
        }
        document.push(token);
        // The model would read forced tokens together with the chosen one, in one forward pass. They are spelled as the tokenizer
        // spells them, which may take more tokens than necessary: where the limit leaves no room for that, none are taken.
        next.clear();
        rest.clear();
        masker.forced_tokens(&mut next)?;
        if masker.completion(&mut rest)? && document.len() + next.len() + rest.len() < limit {
            for forced in &next {
                masker.advance(*forced)?;
            }
            document.append(&mut next);
        }
        if document.len() >= limit {
            return Err("no end was found within the limit".into());
        }
    }
    println!("{}", String::from_utf8(vocabulary.text_bytes(&document))?);
    println!("{} tokens of at most {limit}", document.len());
    Ok(())
}

/// All bytes and some tokens of more, with the end of sequence behind them.
fn vocabulary() -> Result<Vocabulary, VocabularyError> {
    const WORDS: [&str; 8] = ["{\"", "\": ", "\": \"", "\", \"", "\"}", "\"]", "open", "closed"];
    let texts: Vec<Vec<u8>> = (0..=255_u8)
        .map(|byte| vec![byte])
        .chain(WORDS.map(|word| word.as_bytes().to_vec()))
        .collect();
    let end = texts.len() as TokenId;
    let mut builder = Vocabulary::builder();
    for (id, text) in (0..).zip(&texts) {
        builder = builder.text(id, text.clone())?;
    }
    // The tokenizer cuts the longest token first. A real one comes with the model.
    let tokenizer = move |text: &[u8]| {
        let (mut tokens, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let fits = (0..).zip(&texts).filter(|(_, text)| rest.starts_with(text));
            let Some((id, text)) = fits.max_by_key(|(_, text)| text.len()) else {
                break;
            };
            tokens.push(id);
            rest = &rest[text.len()..];
        }
        tokens
    };
    builder
        .special(end, "<end>")?
        .eos([end])
        .tokenizer(Arc::new(tokenizer))
        .build()
}

/// A model that has learned nothing.
struct RandomModel(u64);

impl RandomModel {
    fn write_logits(&mut self, logits: &mut [f32]) {
        for logit in logits {
            // Knuth's generator, of which the upper bits are used.
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *logit = (self.0 >> 40) as f32;
        }
    }
}

/// The token with the highest logit, unless all are impossible.
fn most_likely(logits: &[f32]) -> Option<TokenId> {
    let possible = (0..).zip(logits).filter(|(_, logit)| **logit > f32::NEG_INFINITY);
    possible
        .max_by(|one, other| one.1.total_cmp(other.1))
        .map(|(token, _)| token)
}
