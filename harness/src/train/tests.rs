//! Samples, their order, and courses that learn a toy reward, are killed and go on.

use std::cell::Cell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use maskwright_models::{
    AdamWOptions, CheckpointTokenizer, Family, LoadOptions, LoadedModel, ModelDevice, ModelSource, RandomCheckpoint,
    TokenLoss, TokenSequence, TrainableModel, WeightFormat, group_advantages, load,
};
use maskwright_suites::ifstruct::{Count, Level, OutputFormat, Sample, SampleGenerator, Split, reference};

use super::checkpoints::Checkpoints;
use super::course::{Course, RESULT, SUPERVISED, asked_in_step, planned, taught};
use super::record::{Measured, Phase, TrainKey, TrainRecord};
use super::replies::{Judged, Replier, Reply};
use super::report::TrainReport;
use super::samples::{PromptedSample, Room, SplitSamples, check_apart, end_of_turn, mixed};
use super::settings::TrainSettings;
use super::{TrainError, curves};
use crate::error::CommandError;
use crate::run::directory::RunDirectory;
use crate::run::manifest::Manifest;

fn settings(supervised_steps: usize, grpo_steps: usize) -> TrainSettings {
    TrainSettings {
        models: Vec::new(),
        seed: 3,
        samples: 5,
        test_samples: 2,
        sha256: String::new(),
        max_prompt_tokens: 16,
        max_tokens: 8,
        level: Level::Public,
        supervised_steps,
        batch: 3,
        plain_references: false,
        made_up_names: false,
        learning_rate: 1e-2,
        grpo_steps,
        prompts: 2,
        group: 6,
        updates: 2,
        grpo_learning_rate: 2e-2,
        temperature: 2.0,
        clip: 0.2,
        kl: 0.001,
        partial_reward: false,
        optimiser: AdamWOptions::default(),
        micro_batch_tokens: 128,
        evaluate_every: 4,
        threads: 1,
    }
}

/// Samples with short prompts, as the text of the request does not matter here.
fn toy_samples(split: Split, count: usize) -> SplitSamples {
    let samples = SampleGenerator::new(0, split).unwrap().take(count);
    let fitting = samples.enumerate().map(|(number, sample)| PromptedSample {
        sample,
        prompt: vec![number as u32, 65, 66],
    });
    SplitSamples {
        fitting: fitting.collect(),
        generated: count,
    }
}

#[test]
fn every_sample_comes_once_before_any_comes_again() {
    let samples = toy_samples(Split::Train, 7);
    let all: Vec<(usize, u64)> = (0..7).flat_map(|step| samples.of_step(1, step, 3)).collect();
    for (time, places) in all.chunks(7).enumerate() {
        let places: HashSet<usize> = places
            .iter()
            .map(|(place, of)| {
                assert_eq!(*of, time as u64);
                *place
            })
            .collect();
        assert_eq!(places.len(), 7);
    }
    let order = |time: usize| {
        all[7 * time..7 * time + 7]
            .iter()
            .map(|(place, _)| *place)
            .collect::<Vec<_>>()
    };
    assert_ne!(order(0), order(1));
    assert_eq!(samples.of_step(1, 4, 3), all[12..15]);
    assert_ne!(samples.of_step(2, 0, 7), all[..7]);
}

#[test]
fn a_sample_that_comes_twice_in_a_step_has_other_replies() {
    let samples = toy_samples(Split::Train, 2);
    let settings = TrainSettings {
        prompts: 4,
        ..settings(0, 1)
    };
    let asked = asked_in_step(&settings, &samples, 0);
    let seeds: HashSet<u64> = asked.iter().map(|(_, seed)| *seed).collect();
    assert_eq!((asked.len(), seeds.len()), (24, 24));
    let (first, seed) = &asked[0];
    assert_eq!(*seed, mixed(&[settings.seed, 0, first.sample.seed, 0]));
}

#[test]
fn splits_that_share_a_schema_are_refused() {
    let (train, test) = (toy_samples(Split::Train, 300), toy_samples(Split::Test, 300));
    check_apart(&train, &test).unwrap();
    let mut shared = test.clone();
    shared.fitting[5].sample.json_schema = train.fitting[9].sample.json_schema.clone();
    let members = &mut shared.fitting[5].sample.json_schema;
    let reversed: Vec<_> = members.clone().into_iter().rev().collect();
    *members = reversed.into_iter().collect();
    match check_apart(&train, &shared) {
        Err(TrainError::SharedSchemas { count: 1, seed }) => assert_eq!(seed, test.fitting[5].sample.seed),
        other => panic!("{other:?}"),
    }
}

#[test]
fn records_are_planned_for_steps_and_evaluations() {
    let evaluated = |settings: &TrainSettings| -> Vec<(Phase, usize)> {
        let keys = planned(settings).into_iter();
        let keys = keys.filter(|key| key.what == Measured::Evaluation);
        keys.map(|key| (key.phase, key.step)).collect()
    };
    let (supervised, grpo) = (Phase::Supervised, Phase::Grpo);
    assert_eq!(
        evaluated(&settings(5, 9)),
        [
            (supervised, 0),
            (supervised, 4),
            (supervised, 5),
            (grpo, 4),
            (grpo, 8),
            (grpo, 9)
        ]
    );
    assert_eq!(evaluated(&settings(0, 2)), [(grpo, 0), (grpo, 2)]);
    assert_eq!(evaluated(&settings(2, 0)), [(supervised, 0), (supervised, 2)]);
    assert_eq!(planned(&settings(5, 9)).len(), 14 + 6);
}

#[test]
fn what_fails_earns_nothing_or_a_part() {
    let mut samples = SampleGenerator::new(1, Split::Test).unwrap();
    let sample = samples
        .find(|sample| {
            let has_many_items = matches!(sample.top_level_count, Some(Count::Exactly(5..)));
            sample.output_format == OutputFormat::Json && has_many_items
        })
        .unwrap();
    let judged = |reply: &str, partial| Judged::of_ifstruct(&sample, reply, Level::Public, partial).unwrap();
    let right = reference::reply(&sample, 0).unwrap();
    assert_eq!(
        judged(&right, true),
        Judged {
            reward: 1.0,
            passed: true
        }
    );
    assert_eq!(
        judged("no", false),
        Judged {
            reward: 0.0,
            passed: false
        }
    );
    // A reply that cannot be read, or is no list, earns less than a wrong one that can.
    for unread in ["[{", "", "no", "{}", "```", "```json\n[] x\n```"] {
        assert_eq!(judged(unread, true).reward, 0.0, "{unread}");
    }
    // Items that lack one field each earn more than none.
    let items = sample.json_schema["items"]["required"].as_array().unwrap();
    let first = items[0].as_str().unwrap();
    assert!(items.len() > 2 && right.matches(first).count() > 1, "{right}");
    let renamed = right.replace(&format!("\"{first}\""), &format!("\"not_{first}\""));
    let lacking = judged(&renamed, true);
    let empty = judged(&reference::write(&sample, Vec::new(), sample.require_code_block), true);
    for part in [empty, lacking] {
        assert!(!part.passed && part.reward > 0.0 && part.reward <= 0.25, "{part:?}");
    }
    assert!(lacking.reward > empty.reward, "{lacking:?} {empty:?}");
}

fn checkpoint(directory: &Path) -> ModelSource {
    let mut checkpoint = RandomCheckpoint::preset(Family::Llama, "tiny").unwrap();
    checkpoint.format = WeightFormat::F32;
    checkpoint.config["num_hidden_layers"] = 1.into();
    checkpoint.tokenizer = CheckpointTokenizer::Bytes;
    checkpoint.write(directory).unwrap();
    ModelSource::Directory(directory.to_owned())
}

#[test]
fn replies_without_an_advantage_count_in_the_mean_whether_there_is_a_divergence_or_not() {
    let directory = tempfile::tempdir().unwrap();
    let source = checkpoint(directory.path());
    let model = TrainableModel::load(&source, ModelDevice::Cpu, &Default::default(), None).unwrap();
    let reply = |(number, length): (u32, u32)| Reply {
        sequence: TokenSequence {
            tokens: (0..3 + length).map(|place| 40 * number + place).collect(),
            from: 3,
        },
        text: String::new(),
        is_truncated: false,
    };
    let replies = [(0, 4), (1, 6), (2, 5), (3, 8)].map(reply);
    // The second group has no spread.
    let advantages = group_advantages(&[1.0, 0.0, 1.0, 1.0], 2);
    let step = |kl: f64| {
        let settings = TrainSettings { kl, ..settings(0, 1) };
        let (sequences, mut policy) = taught(&settings, &replies, &advantages);
        if kl > 0.0 {
            policy.reference = Some(model.log_probabilities(&sequences, 1.0, 128).unwrap());
        }
        let loss = TokenLoss::Policy(policy);
        let (parts, gradients) = model.gradients(&sequences, 1.0, &loss, 128).unwrap();
        (sequences.len(), parts.loss, gradients.numbers().unwrap())
    };
    let (count, loss, gradients) = step(0.0);
    let (count_of_all, expected_loss, expected) = step(1e-12);
    assert_eq!((count, count_of_all), (2, 4));
    assert!((loss - expected_loss).abs() < 1e-6, "{loss} {expected_loss}");
    for (name, numbers) in &gradients {
        for (found, expected) in numbers.iter().zip(&expected[name]) {
            let difference = (found - expected).abs();
            assert!(difference < 1e-6 + 1e-5 * expected.abs(), "{name}: {found} {expected}");
        }
    }
}

fn loaded(source: &ModelSource) -> LoadedModel {
    let options = LoadOptions {
        threads: Some(1),
        ..LoadOptions::default()
    };
    load(source, &options).unwrap()
}

/// Limits on samples, with replies of eight tokens.
const ROOM: Room = Room {
    prompt: 16,
    reply: 8,
    context: 1024,
    plain_references: false,
};

/// Runs a course in `run` whose reward fails once it has been asked `patience` times, as if the process had been killed.
fn course(source: &ModelSource, run: &Path, settings: &TrainSettings, patience: usize) -> Result<usize, CommandError> {
    let (mut train, test) = (toy_samples(Split::Train, 5), toy_samples(Split::Test, 2));
    // The references of these samples would be long: short ones replace them.
    for one in &mut train.fitting {
        one.sample.json_schema = serde_json::from_str(r#"{"type": "array", "items": {"type": "null"}}"#).unwrap();
        one.sample.top_level_count = Some(Count::Exactly(1));
        one.sample.top_level_key = None;
        one.sample.require_wrapper_key = false;
        one.sample.require_code_block = false;
        one.sample.forbid_code_block = true;
        one.sample.output_format = OutputFormat::Yaml;
    }
    let model = loaded(source);
    let manifest = Manifest::new(settings.clone());
    let planned: HashSet<TrainKey> = planned(settings).into_iter().collect();
    let mut directory: RunDirectory<TrainRecord> = match run.exists() {
        true => RunDirectory::resume(run, &manifest, planned.clone())?,
        false => RunDirectory::create(run, &manifest, planned.clone())?,
    };
    let asked = Mutex::new(0);
    // The toy reward only asks that a reply ends by itself, as the references have taught; a reply that is cut off earns nothing.
    let reward = |_: &Sample, _: &str| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked > patience {
            return Err(CommandError::Panicked);
        }
        Ok(Judged {
            reward: 1.0,
            passed: true,
        })
    };
    let end = end_of_turn(&model)?;
    let mut course = Course {
        settings,
        checkpoint_every: 3,
        train: &train,
        test: &test,
        replier: Replier {
            tokenizer: Arc::clone(model.tokenizer()),
            vocabulary: model.vocabulary(),
            room: ROOM,
            end,
            cancel: &AtomicBool::new(false),
        },
        reward: &reward,
        checkpoints: Checkpoints::new(run, ModelDevice::Cpu),
        directory: &mut directory,
    };
    course.run(&|| {
        Ok(TrainableModel::load(
            source,
            ModelDevice::Cpu,
            &Default::default(),
            None,
        )?)
    })?;
    let records: HashSet<TrainKey> = directory.records().iter().map(|record| record.key).collect();
    assert_eq!(records, planned);
    let report = TrainReport::new(directory.records(), &train, &test);
    assert!(report.json()["evaluations"].as_array().unwrap().len() > 1);
    assert!(curves::svg(&report).matches("<line").count() > 20);
    Ok(asked.into_inner().unwrap())
}

fn weights(run: &Path, name: &str) -> Vec<u8> {
    std::fs::read(run.join(name).join("model.safetensors")).unwrap()
}

fn rewards(run: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(run.join("records.jsonl")).unwrap();
    let records = text
        .lines()
        .map(|line| serde_json::from_str::<TrainRecord>(line).unwrap());
    records.filter_map(|record| record.metrics?.reward).collect()
}

#[test]
fn a_course_learns_its_reward_and_one_that_is_killed_comes_to_the_same_weights() {
    let directory = tempfile::tempdir().unwrap();
    let source = checkpoint(&directory.path().join("start"));
    let settings = settings(8, 24);
    let whole = directory.path().join("whole");
    let asked = course(&source, &whole, &settings, usize::MAX).unwrap();
    let rewards_of_whole = rewards(&whole);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (before, after) = (mean(&rewards_of_whole[..4]), mean(&rewards_of_whole[20..]));
    assert!(before < 0.5 && after > before + 0.3, "{rewards_of_whole:?}");

    let killed = directory.path().join("killed");
    let kills = Cell::new(0);
    // The course is killed ever later, so that each run makes some more steps; some kills fall between two checkpoints.
    for patience in (0..).map(|kill| 1 + 41 * kill) {
        match course(&source, &killed, &settings, patience) {
            Ok(_) => break,
            Err(CommandError::Panicked) => kills.set(kills.get() + 1),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(kills.get() >= 3, "killed {} times, {asked} rewards", kills.get());
    for name in [SUPERVISED, RESULT] {
        assert_eq!(weights(&killed, name), weights(&whole, name), "{name}");
    }
    assert_eq!(rewards(&killed), rewards_of_whole);
    assert!(!killed.join("checkpoints").exists());
    // A course may be killed between its end and the removal of its checkpoints.
    std::fs::create_dir_all(killed.join("checkpoints").join("grpo-000024")).unwrap();
    assert_eq!(course(&source, &killed, &settings, 0).unwrap(), 0);
    assert!(!killed.join("checkpoints").exists());
    let trained = loaded(&ModelSource::Directory(killed.join(RESULT)));
    assert_eq!(trained.summary().parameters, loaded(&source).summary().parameters);
}
