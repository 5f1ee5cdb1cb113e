//! Real schemas, where MaskBench is at hand: valid documents are never blocked, however they are spelled, and documents
//! with something changed are accepted if and only if the judge finds them valid.
//!
//! `MASKWRIGHT_FUZZ_ROUNDS` schemas are drawn from `MASKWRIGHT_FUZZ_SEED` on. Formats assert.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "tests")]

mod common;

use common::{random_bytes, setting};
use maskwright::{Compiler as _, Formats, MaskError, Style};
use maskwright_fuzz::engine::{accepts, compiler, vocabulary};
use maskwright_fuzz::{Choices, document, spelling};
use maskwright_suites::mask_bench::MaskBench;
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;
use serde_json::Value;

/// Longest document in bytes that is looked at.
const LONGEST: usize = 20_000;
/// Changed documents for each that is given.
const CHANGES: usize = 4;

/// Counts of verdicts on the documents of one schema.
#[derive(Debug, Default)]
struct Counts {
    valid: usize,
    invalid: usize,
    refused: usize,
    limits: usize,
    wrong: Vec<String>,
}

#[test]
fn real_documents_and_changed_ones_are_judged_alike() {
    let Some(root) = maskwright_test_data::find("jsonschemabench") else {
        return;
    };
    let bench = MaskBench::open(&root).unwrap();
    let compiler = compiler(vocabulary(), Formats::Asserted, Style::rfc8259());
    let mut counts = Counts::default();
    let first = setting("MASKWRIGHT_FUZZ_SEED", 0);
    for seed in first..first + setting("MASKWRIGHT_FUZZ_ROUNDS", 60) {
        let bytes = [random_bytes(2 * seed), random_bytes(2 * seed + 1)].concat();
        let mut choices = Choices::new(&bytes);
        let name = &bench.names()[choices.below(bench.names().len())];
        let file = bench.read(name).unwrap();
        let (Ok(judge), masker) = (Validator::new(&file.schema_text), compiler.compile(&file.schema_text)) else {
            continue;
        };
        let masker = match masker {
            Ok(masker) => masker,
            Err(error) => {
                println!("seed {seed}, {name}: {error}");
                counts.refused += 1;
                continue;
            }
        };
        let documents: Vec<Value> = file
            .instances
            .iter()
            .filter(|instance| instance.text.len() < LONGEST)
            .filter_map(|instance| Some(strict_json::parse(&instance.text, 100).ok()?.value))
            .collect();
        for given in documents {
            let mut document = given.clone();
            for change in 0..=CHANGES {
                let text = spelling::spelled(&mut choices, &document);
                let Some(read) = spelling::read(&text) else { continue };
                let valid = judge.judge_value(&read).valid;
                match accepts(&*masker, &vocabulary(), text.as_bytes(), &mut choices) {
                    Ok(accepted) if accepted == valid => {
                        counts.valid += usize::from(valid);
                        counts.invalid += usize::from(!valid);
                    }
                    Ok(accepted) => {
                        let words = ["not accepted", "accepted"];
                        let word = words[usize::from(accepted)];
                        counts
                            .wrong
                            .push(format!("seed {seed}, {name}, change {change}: {word}: {document}"));
                    }
                    Err(MaskError::LimitExceeded(_)) => counts.limits += 1,
                    Err(error) => panic!("seed {seed}, {name}: {error}"),
                }
                document = document::changed(&mut choices, if change % 2 == 0 { &given } else { &document });
            }
        }
    }
    for wrong in &counts.wrong {
        println!("{}", wrong.chars().take(400).collect::<String>());
    }
    println!(
        "{} valid and {} invalid documents, {} schemas refused, {} limits",
        counts.valid, counts.invalid, counts.refused, counts.limits
    );
    assert!(
        counts.wrong.is_empty(),
        "{} documents are judged otherwise",
        counts.wrong.len()
    );
    assert!(counts.valid > 20 && counts.invalid > 20);
}
