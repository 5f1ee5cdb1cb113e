//! Rollbacks of models that keep more than keys and values: after a rollback, or an append that is stopped, a model gives what a fresh model
//! computes.

use std::cell::Cell;
use std::path::Path;

use maskwright_models::{Family, LanguageModel, logits_to_host};

use crate::checkpoints::{open, write};

/// The tokens after which a rollback is tried: at the end of the prompt, within short appends, which are not remembered, at
/// the ends of long appends that have been given up for later ones, of one that has not, and within the last tokens.
const ENDS: [usize; 6] = [100, 130, 240, 360, 400, 2990];

fn logits_of(model: &mut dyn LanguageModel, tokens: &[u32]) -> Vec<f32> {
    let mut logits = Vec::new();
    logits_to_host(&model.append(tokens).unwrap(), &mut logits).unwrap();
    logits
}

/// Asserts that `model`, which has read `tokens`, goes on as a fresh one does.
fn assert_goes_on_after(tokens: &[u32], model: &mut dyn LanguageModel, directory: &Path) {
    let mut fresh = open(directory).unwrap().model;
    fresh.append(tokens).unwrap();
    let expected = logits_of(&mut *fresh, &[7, 8, 9]);
    assert_eq!(model.position(), tokens.len());
    let found = logits_of(model, &[7, 8, 9]);
    let differences = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
    let difference = differences.fold(0.0, f32::max);
    assert!(difference < 1e-3, "after {} tokens: {difference}", tokens.len());
}

#[test]
fn an_append_that_is_stopped_leaves_the_sequence_as_before() {
    let tokens: Vec<u32> = (0..3000).map(|i| (i * 37 + 11) % 256).collect();
    for family in [Family::Llama, Family::Lfm2, Family::Qwen35, Family::GraniteHybrid] {
        let directory = write(family, |checkpoint| {
            checkpoint.config["max_position_embeddings"] = 4096.into();
        });
        let mut model = open(directory.path()).unwrap().model;
        model.append(&tokens[..100]).unwrap();
        // Three of six parts are read.
        let asked = Cell::new(0);
        let is_third = || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        };
        assert!(model.append_unless(&tokens[100..], &is_third).unwrap().is_none());
        assert_eq!(asked.get(), 3, "{family:?}");
        assert_goes_on_after(&tokens[..100], &mut *model, directory.path());

        // Short appends are not remembered: these tokens are read again after a rollback, where layers keep more than keys and values.
        model.reset();
        for part in tokens[..620].chunks(10) {
            model.append(part).unwrap();
        }
        let end = model.snapshot();
        model.append(&tokens[620..2620]).unwrap();
        model.restore(&end).unwrap();
        let stopped = model.append_unless(&[7], &|| true).unwrap();
        assert_eq!(stopped.is_none(), family != Family::Llama, "{family:?}");
        model.restore(&end).unwrap();
        assert_goes_on_after(&tokens[..620], &mut *model, directory.path());
    }
}

#[test]
fn what_layers_keep_comes_back_from_any_rollback() {
    let tokens: Vec<u32> = (0..3000).map(|i| (i * 37 + 11) % 256).collect();
    for family in [Family::Lfm2, Family::Qwen35, Family::GraniteHybrid] {
        let directory = write(family, |checkpoint| {
            checkpoint.config["max_position_embeddings"] = 4096.into();
        });
        let mut model = open(directory.path()).unwrap().model;
        let mut snapshots = vec![];
        let mut position = 0;
        while position < tokens.len() {
            let count = match position {
                0 => 100,
                100..160 => 10,
                160..400 => 40,
                400 => 2500,
                _ => 10,
            };
            model.append(&tokens[position..position + count]).unwrap();
            position += count;
            if ENDS.contains(&position) {
                snapshots.push(model.snapshot());
            }
        }
        assert_eq!(snapshots.len(), ENDS.len());
        for (end, snapshot) in ENDS.into_iter().zip(&snapshots).rev() {
            let mut fresh = open(directory.path()).unwrap().model;
            fresh.append(&tokens[..end]).unwrap();
            let expected = logits_of(&mut *fresh, &[7, 8, 9]);
            // The second time the rollback leads to where the last pass began.
            for _ in 0..2 {
                model.restore(snapshot).unwrap();
                let found = logits_of(&mut *model, &[7, 8, 9]);
                let differences = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
                let difference = differences.fold(0.0, f32::max);
                assert!(difference < 1e-3, "{family:?}, after {end} tokens: {difference}");
            }
        }
    }
}
