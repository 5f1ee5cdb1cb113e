//! Gradients against finite differences, networks against the decode loop's, and runs that learn, are killed and go on.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candle_core::{DType, Tensor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::adamw::{AdamW, AdamWOptions};
use super::checkpoint::write_directory_whole;
use super::gradients::TokenSequence;
use super::loss::{PolicyLoss, TokenLoss, group_advantages};
use super::trainable_model::TrainableModel;
use crate::{
    DecodeOptions, Family, FinishReason, HubSettings, LanguageModel, LoadOptions, ModelDevice, ModelError, ModelSource,
    RandomCheckpoint, ReplyOptions, SampledReply, SamplingOptions, WeightFormat, generate, load, logits_to_host,
};

/// Families that can be trained; between them they have every part that a pass knows.
const TRAINABLE: [Family; 12] = [
    Family::Llama,
    Family::Mistral,
    Family::Qwen2,
    Family::Qwen3,
    Family::Granite,
    Family::Olmo2,
    Family::Olmo3,
    Family::SmolLm3,
    Family::Phi3,
    Family::Glm4,
    Family::Gemma2,
    Family::Gemma3,
];

fn checkpoint(directory: &Path, family: Family, change: impl FnOnce(&mut RandomCheckpoint)) -> ModelSource {
    let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
    checkpoint.format = WeightFormat::F32;
    change(&mut checkpoint);
    checkpoint.write(directory).unwrap();
    ModelSource::Directory(directory.to_owned())
}

fn trainable(source: &ModelSource) -> Result<TrainableModel, ModelError> {
    TrainableModel::load(source, ModelDevice::Cpu, &HubSettings::from_environment(), None)
}

fn sequence(length: usize, from: usize, seed: u64) -> TokenSequence {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let tokens = (0..length).map(|_| random.random_range(0..256)).collect();
    TokenSequence { tokens, from }
}

/// The log-probabilities of a sequence's tokens by the decode loop's own passes.
fn by_appending(model: &mut dyn LanguageModel, sequence: &TokenSequence, temperature: f64) -> Vec<f64> {
    model.reset();
    let mut logits = Vec::new();
    let mut all = Vec::new();
    for (place, token) in sequence.tokens.iter().enumerate() {
        if place >= sequence.from {
            let powers: Vec<f64> = logits.iter().map(|logit| f64::from(*logit) / temperature).collect();
            let total = powers.iter().map(|power| power.exp()).sum::<f64>().ln();
            all.push(powers[*token as usize] - total);
        }
        logits_to_host(&model.append(&[*token]).unwrap(), &mut logits).unwrap();
    }
    all
}

#[test]
fn log_probabilities_are_those_of_the_decode_loop() {
    for family in TRAINABLE {
        for tied in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let source = checkpoint(directory.path(), family, |checkpoint| {
                checkpoint.config["tie_word_embeddings"] = tied.into();
            });
            let model = trainable(&source).unwrap();
            // Longer than the windows, and of different lengths, so that one is filled up.
            let sequences = [sequence(40, 1, 1), sequence(29, 20, 2)];
            let found = model.log_probabilities(&sequences, 0.7, 1 << 20).unwrap();
            let alone = model.log_probabilities(&sequences, 0.7, 1).unwrap();
            let options = LoadOptions {
                dtype: WeightFormat::F32,
                ..LoadOptions::default()
            };
            let mut loaded = load(&source, &options).unwrap();
            let appending = loaded.model.as_mut();
            let expected = sequences.iter().flat_map(|one| by_appending(appending, one, 0.7));
            let expected: Vec<f64> = expected.collect();
            assert_eq!((found.len(), alone.len()), (48, 48));
            for (found, expected) in found.iter().zip(&expected).chain(alone.iter().zip(&expected)) {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-4,
                    "{family:?}: {found} {expected}"
                );
            }
        }
    }
}

/// Replies of the given lengths to one prompt of 30 tokens.
fn replies(lengths: &[usize]) -> Vec<TokenSequence> {
    let with_prompt = |(number, length): (usize, &usize)| {
        let (prompt, reply) = (sequence(30, 30, 9), sequence(*length, 0, number as u64));
        TokenSequence {
            tokens: [prompt.tokens, reply.tokens].concat(),
            from: 30,
        }
    };
    lengths.iter().enumerate().map(with_prompt).collect()
}

#[test]
fn replies_to_one_prompt_are_computed_together_as_they_are_alone() {
    for family in TRAINABLE {
        let directory = tempfile::tempdir().unwrap();
        let model = trainable(&checkpoint(directory.path(), family, |_| ())).unwrap();
        // The prompt alone is longer than the windows; a reply of one token, a long one, and neighbours with other prompts.
        let group = replies(&[1, 7, 9, 60]);
        let sequences = [
            vec![sequence(30, 9, 1), sequence(25, 9, 2)],
            group,
            vec![sequence(12, 1, 3)],
        ]
        .concat();
        let tokens = sequences.iter().map(TokenSequence::counted).sum();
        assert_eq!(tokens, 21 + 16 + 77 + 11);
        let advantages: Vec<f64> = sequences
            .iter()
            .enumerate()
            .flat_map(|(number, one)| std::iter::repeat_n(number as f64 - 2.5, one.counted()))
            .collect();
        let numbers = |sequences: &[TokenSequence], advantages: &[f64], cells| {
            let own = model.log_probabilities(sequences, 0.7, cells).unwrap();
            let loss = TokenLoss::Policy(PolicyLoss {
                tokens,
                advantages: advantages.to_vec(),
                old: None,
                reference: None,
                clip: 0.2,
                kl: 0.0,
            });
            let (parts, gradients) = model.gradients(sequences, 0.7, &loss, cells).unwrap();
            let gradients = gradients.numbers().unwrap().into_values().flatten();
            (own, gradients.chain([parts.loss as f32]).collect::<Vec<f32>>())
        };
        let (mut alone, mut sum_alone, mut start) = (Vec::new(), Vec::new(), 0);
        for one in &sequences {
            let of_one = &advantages[start..start + one.counted()];
            let (own, added) = numbers(std::slice::from_ref(one), of_one, 1 << 20);
            alone.extend(own);
            sum_alone.resize(added.len(), 0.0);
            sum_alone.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
            start += one.counted();
        }
        // Whole groups, and groups in several batches.
        for cells in [1 << 20, 64] {
            let (together, sum) = numbers(&sequences, &advantages, cells);
            assert_eq!((together.len(), sum.len()), (alone.len(), sum_alone.len()));
            for (together, alone) in together.iter().zip(&alone).chain(sum.iter().zip(&sum_alone)) {
                assert!((together - alone).abs() < 1e-4, "{family:?}: {together} {alone}");
            }
        }
    }
}

#[test]
fn replies_side_by_side_are_those_of_the_decode_loop() {
    let long: Vec<u32> = sequence(60, 60, 8).tokens;
    let prompts: Vec<(&[u32], u64)> = vec![
        (&long[..30], 1),
        (&long[..30], 2),
        (&long[..30], 3),
        // Nothing of this prompt is read before the replies.
        (&long[5..6], 4),
        (&long[5..6], 5),
        (&long, 6),
        (&long[3..9], 7),
    ];
    for family in TRAINABLE {
        let directory = tempfile::tempdir().unwrap();
        let source = checkpoint(directory.path(), family, |_| ());
        let model = trainable(&source).unwrap();
        let mut loaded = load(
            &source,
            &LoadOptions {
                dtype: WeightFormat::F32,
                ..LoadOptions::default()
            },
        )
        .unwrap();
        let mut decoded = |temperature: f64, end: u32, max_tokens: usize| {
            let replies = prompts.iter().map(|(prompt, seed)| {
                let sampling = SamplingOptions {
                    temperature: temperature as f32,
                    seed: *seed,
                    ..SamplingOptions::default()
                };
                let options = DecodeOptions::new(sampling, vec![end], max_tokens);
                let reply = generate(loaded.model.as_mut(), prompt, None, &options, &AtomicBool::new(false));
                SampledReply {
                    tokens: reply.token_ids(),
                    is_ended: reply.finish.unwrap() == FinishReason::EndOfSequence,
                }
            });
            replies.collect::<Vec<SampledReply>>()
        };
        for (temperature, threads) in [(0.0, 1), (1.5, 1), (1.5, 2), (1.5, 8)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // A token that some replies contain ends them early.
            let whole = decoded(temperature, 0, 50);
            let end = whole[1].tokens[20];
            for (end, max_tokens) in [(0, 50), (end, 50), (end, 1)] {
                let options = ReplyOptions {
                    temperature,
                    end,
                    max_tokens,
                };
                let found = pool.install(|| model.replies(&prompts, &options, &AtomicBool::new(false)));
                assert_eq!(
                    found.unwrap(),
                    Some(decoded(temperature, end, max_tokens)),
                    "{family:?}"
                );
            }
        }
        let options = ReplyOptions {
            temperature: 0.0,
            end: 0,
            max_tokens: 1 << 20,
        };
        let stopped = model.replies(&prompts, &options, &AtomicBool::new(true)).unwrap();
        assert_eq!(stopped, None);
        // The context ends a reply, or leaves no room for one.
        let limit = model.config.max_positions;
        let (nearly, full) = (vec![1; limit - 3], vec![1; limit]);
        let asked: [(&[u32], u64); 3] = [(&full, 0), (&nearly, 0), (&[1, 2], 0)];
        let options = ReplyOptions {
            max_tokens: 5,
            end: u32::MAX,
            ..options
        };
        let found = model.replies(&asked, &options, &AtomicBool::new(false)).unwrap();
        let found = found.unwrap();
        assert_eq!(
            found.iter().map(|one| one.tokens.len()).collect::<Vec<usize>>(),
            [0, 3, 5]
        );
        loaded.model.reset();
        let mut logits = Vec::new();
        logits_to_host(&loaded.model.append(&nearly).unwrap(), &mut logits).unwrap();
        let likeliest = (0..logits.len())
            .max_by(|a, b| logits[*a].total_cmp(&logits[*b]))
            .unwrap();
        assert_eq!(found[1].tokens[0] as usize, likeliest);
        let refused = |prompt: &[u32]| {
            model
                .replies(&[(prompt, 0)], &options, &AtomicBool::new(false))
                .unwrap_err()
        };
        assert!(matches!(refused(&vec![1; limit + 1]), ModelError::ContextFull { .. }));
        assert!(matches!(refused(&[1, 1 << 20]), ModelError::TokenOutOfRange { .. }));
        let empty = model.replies(&[(&[], 0)], &options, &AtomicBool::new(false));
        assert!(matches!(empty, Err(ModelError::NothingToAppend)));
    }
}

/// Adds `step` times `direction` to the weights called `name`.
fn shift(model: &TrainableModel, name: &str, direction: &Tensor, step: f64) {
    let weights = model.parameters.get(name).unwrap().as_detached_tensor();
    model
        .set(name, &(weights + (direction * step).unwrap()).unwrap())
        .unwrap();
}

/// Compares the derivatives of `loss` with finite differences: along each tensor's gradient, and along a random direction.
fn check_gradients(model: &TrainableModel, sequences: &[TokenSequence], loss: &TokenLoss) {
    let (parts, gradients) = model.gradients(sequences, 0.8, loss, 64).unwrap();
    assert!(parts.loss.is_finite());
    assert_eq!(gradients.0.len(), model.parameters.iter().count(), "each weight counts");
    let value = || model.gradients(sequences, 0.8, loss, 64).unwrap().0.loss;
    for (name, gradient) in &gradients.0 {
        let random = Tensor::randn(0f32, 1.0, gradient.dims(), gradient.device()).unwrap();
        for direction in [gradient, &random] {
            let length = |tensor: &Tensor| {
                let sum = tensor.sqr().unwrap().sum_all().unwrap();
                f64::from(sum.to_scalar::<f32>().unwrap()).sqrt()
            };
            let direction = (direction / length(direction).max(1e-12)).unwrap();
            let product = (gradient * &direction).unwrap().sum_all().unwrap();
            let expected = f64::from(product.to_scalar::<f32>().unwrap());
            let step = 4e-3;
            shift(model, name, &direction, step);
            let above = value();
            shift(model, name, &direction, -2.0 * step);
            let below = value();
            shift(model, name, &direction, step);
            let found = (above - below) / (2.0 * step);
            let error = (found - expected).abs();
            assert!(error < 2e-3 + 0.02 * expected.abs(), "{name}: {found} {expected}");
        }
    }
}

#[test]
fn gradients_are_finite_differences() {
    for family in [
        Family::Llama,
        Family::Qwen2,
        Family::Qwen3,
        Family::Gemma2,
        Family::Glm4,
    ] {
        let directory = tempfile::tempdir().unwrap();
        let source = checkpoint(directory.path(), family, |checkpoint| {
            checkpoint.config["hidden_size"] = 16.into();
            checkpoint.config["intermediate_size"] = 24.into();
            checkpoint.config["tie_word_embeddings"] = (family != Family::Qwen2).into();
        });
        let model = trainable(&source).unwrap();
        let sequences = [sequence(12, 1, 3), sequence(7, 4, 4)];
        check_gradients(&model, &sequences, &TokenLoss::Likelihood { tokens: 14 });
    }
}

#[test]
fn gradients_of_the_clipped_objective_are_finite_differences() {
    let directory = tempfile::tempdir().unwrap();
    let model = trainable(&checkpoint(directory.path(), Family::Qwen3, |_| ())).unwrap();
    let sequences = [sequence(9, 3, 5), sequence(9, 3, 6)];
    let now = model.log_probabilities(&sequences, 0.8, 1 << 20).unwrap();
    // Ratios on both sides of the clip, none of them at its corner.
    let apart = [0.0, 0.1, -0.1, 0.4, -0.4, 0.05];
    let old = now.iter().zip(apart.iter().cycle()).map(|(now, apart)| now - apart);
    let loss = TokenLoss::Policy(PolicyLoss {
        tokens: 12,
        advantages: [vec![1.5; 6], vec![-0.5; 6]].concat(),
        old: Some(old.collect()),
        reference: Some(now.iter().map(|now| now + 0.3).collect()),
        clip: 0.2,
        kl: 0.1,
    });
    let (parts, _) = model.gradients(&sequences, 0.8, &loss, 1 << 20).unwrap();
    assert!((parts.clipped - 2.0 / 12.0).abs() < 1e-9, "{parts:?}");
    assert!((parts.kl - (0.3_f64.exp() - 1.3)).abs() < 1e-4, "{parts:?}");
    check_gradients(&model, &sequences, &loss);
}

#[test]
fn the_first_step_of_a_policy_goes_by_advantages_alone() {
    let directory = tempfile::tempdir().unwrap();
    let model = trainable(&checkpoint(directory.path(), Family::Llama, |_| ())).unwrap();
    let sequences = [sequence(9, 3, 5), sequence(9, 3, 6)];
    let policy = |advantage: f64| {
        TokenLoss::Policy(PolicyLoss {
            tokens: 12,
            advantages: vec![advantage; 12],
            old: None,
            reference: None,
            clip: 0.2,
            kl: 0.0,
        })
    };
    let (_, gradients) = model.gradients(&sequences, 1.0, &policy(1.0), 1 << 20).unwrap();
    let likelihood = TokenLoss::Likelihood { tokens: 12 };
    let (_, expected) = model.gradients(&sequences, 1.0, &likelihood, 1 << 20).unwrap();
    let (gradients, expected) = (gradients.numbers().unwrap(), expected.numbers().unwrap());
    for (name, numbers) in &gradients {
        for (found, expected) in numbers.iter().zip(&expected[name]) {
            assert!((found - expected).abs() < 1e-5, "{name}: {found} {expected}");
        }
    }
    let (_, none) = model.gradients(&sequences, 1.0, &policy(0.0), 1 << 20).unwrap();
    assert_eq!(none.norm().unwrap(), 0.0);
}

#[test]
fn other_networks_are_refused() {
    for family in Family::ALL.into_iter().filter(|family| !TRAINABLE.contains(family)) {
        let directory = tempfile::tempdir().unwrap();
        let refused = trainable(&checkpoint(directory.path(), family, |checkpoint| {
            checkpoint.format = WeightFormat::Bf16;
        }));
        match refused {
            Err(ModelError::Unsupported { what, .. }) => assert!(what.contains(family.architecture()), "{what}"),
            other => panic!("{family:?}: {other:?}"),
        }
    }
}

#[test]
fn sequences_that_cannot_be_read_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let model = trainable(&checkpoint(directory.path(), Family::Llama, |_| ())).unwrap();
    let of = |tokens: Vec<u32>, from| model.log_probabilities(&[TokenSequence { tokens, from }], 1.0, 64);
    assert!(matches!(of(vec![1], 1), Err(ModelError::NothingToAppend)));
    assert!(matches!(of(vec![1, 2], 0), Err(ModelError::NothingToAppend)));
    assert!(matches!(of(vec![1, 320], 1), Err(ModelError::TokenOutOfRange { .. })));
    assert!(matches!(of(vec![1; 1025], 1), Err(ModelError::ContextFull { .. })));
    assert!(of(vec![1, 2], 2).unwrap().is_empty());
}

/// Steps of supervised training on one batch, from the step of that number on.
fn supervised(model: &mut TrainableModel, optimiser: &mut AdamW, steps: std::ops::Range<usize>) -> Vec<f64> {
    let steps = steps.map(|step| {
        let sequences = [sequence(20, 4, step as u64 % 2), sequence(16, 4, 7)];
        let loss = TokenLoss::Likelihood { tokens: 28 };
        let (parts, gradients) = model.gradients(&sequences, 1.0, &loss, 24).unwrap();
        optimiser.step(model, &gradients, 3e-3).unwrap();
        parts.loss
    });
    steps.collect()
}

#[test]
fn training_lowers_the_loss_and_a_killed_run_goes_on_to_the_same_weights() {
    let directory = tempfile::tempdir().unwrap();
    let source = checkpoint(&directory.path().join("start"), Family::Qwen3, |_| ());
    let mut whole = trainable(&source).unwrap();
    let mut optimiser = AdamW::new(AdamWOptions::default());
    let losses = supervised(&mut whole, &mut optimiser, 0..40);
    assert!(
        losses[38] < 0.3 * losses[0] && losses[39] < 0.3 * losses[1],
        "{losses:?}"
    );

    let mut first = trainable(&source).unwrap();
    let mut optimiser = AdamW::new(AdamWOptions::default());
    supervised(&mut first, &mut optimiser, 0..15);
    let kept = directory.path().join("kept");
    write_directory_whole(&kept, |directory| {
        first.write(directory)?;
        optimiser.write(directory)
    })
    .unwrap();
    drop((first, optimiser));
    let source = ModelSource::Directory(kept.clone());
    let mut resumed = trainable(&source).unwrap();
    let mut optimiser = AdamW::read(AdamWOptions::default(), 15, &kept, &resumed).unwrap();
    let rest = supervised(&mut resumed, &mut optimiser, 15..40);
    assert_eq!(rest, losses[15..]);
    assert_eq!(resumed.weights().unwrap(), whole.weights().unwrap());

    // What was written is a model like any other.
    let loaded = load(&source, &LoadOptions::default()).unwrap();
    assert_eq!(loaded.summary().dtype, DType::F32.as_str());
    let other = RandomCheckpoint::preset(Family::Llama, "tiny").unwrap();
    other.write(&directory.path().join("other")).unwrap();
    let other = trainable(&ModelSource::Directory(directory.path().join("other"))).unwrap();
    let wrong = AdamW::read(AdamWOptions::default(), 15, &kept, &other);
    assert!(matches!(wrong, Err(ModelError::DamagedWeights { .. })) || wrong.is_ok());
}

#[test]
fn a_directory_that_cannot_be_filled_leaves_the_one_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let write =
        |text: &'static str| move |place: &Path| crate::load::disk::write_file(&place.join("x"), text.as_bytes());
    write_directory_whole(&path, write("one")).unwrap();
    let failed = write_directory_whole(&path, |place| {
        write("half")(place)?;
        Err(ModelError::NothingToAppend)
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read_to_string(path.join("x")).unwrap(), "one");
    write_directory_whole(&path, write("two")).unwrap();
    assert_eq!(std::fs::read_to_string(path.join("x")).unwrap(), "two");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

/// Returns the toy policy's reward: the share of a reply's tokens that are digits or signs, which a fifth of all tokens are.
fn reward(tokens: &[u32]) -> f64 {
    tokens.iter().filter(|token| **token < 64).count() as f64 / tokens.len().max(1) as f64
}

#[test]
fn a_policy_learns_what_it_is_rewarded_for() {
    const GROUP: usize = 8;
    let directory = tempfile::tempdir().unwrap();
    let mut model = trainable(&checkpoint(directory.path(), Family::Llama, |checkpoint| {
        checkpoint.config["num_hidden_layers"] = 1.into();
    }))
    .unwrap();
    let mut optimiser = AdamW::new(AdamWOptions::default());
    let mut means = Vec::new();
    for step in 0..30 {
        let prompts: Vec<[u32; 2]> = (0..4).map(|number| [number, 100]).collect();
        let asked = (0..4 * GROUP).map(|sample| (&prompts[sample / GROUP][..], (step * 1000 + sample) as u64));
        let asked: Vec<(&[u32], u64)> = asked.collect();
        let options = ReplyOptions {
            temperature: 4.0,
            end: u32::MAX,
            max_tokens: 12,
        };
        let replies = model.replies(&asked, &options, &AtomicBool::new(false)).unwrap();
        let mut sequences = Vec::new();
        let mut rewards = Vec::new();
        for ((prompt, _), reply) in asked.iter().zip(replies.unwrap()) {
            assert_eq!((reply.tokens.len(), reply.is_ended), (12, false));
            rewards.push(reward(&reply.tokens));
            sequences.push(TokenSequence {
                from: prompt.len(),
                tokens: [prompt.to_vec(), reply.tokens].concat(),
            });
        }
        means.push(rewards.iter().sum::<f64>() / rewards.len() as f64);
        let advantages = group_advantages(&rewards, GROUP);
        let of_tokens = sequences.iter().zip(&advantages);
        let of_tokens = of_tokens.flat_map(|(one, advantage)| std::iter::repeat_n(*advantage, one.counted()));
        let loss = TokenLoss::Policy(PolicyLoss {
            tokens: sequences.iter().map(TokenSequence::counted).sum(),
            advantages: of_tokens.collect(),
            old: None,
            reference: None,
            clip: 0.2,
            kl: 0.0,
        });
        let (_, gradients) = model.gradients(&sequences, 4.0, &loss, 512).unwrap();
        optimiser.step(&mut model, &gradients, 6e-2).unwrap();
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (before, after) = (mean(&means[..5]), mean(&means[25..]));
    assert!(after > before + 0.3, "{means:?}");
}
