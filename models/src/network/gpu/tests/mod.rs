//! The kernels, emulated, against the loops on the CPU.

mod allocations;
mod packed;

use std::sync::atomic::AtomicBool;

use candle_core::{DType, Device};
use maskwright::{Compiler as _, ExactCompiler, ExactOptions, TokenMask};

use crate::choice::Choice;
use crate::language_model::logits_to_host;
use crate::load::config::ModelConfig;
use crate::load::weights::{WeightBytes, Weights};
use crate::network::gpu::emulation::Emulation;
use crate::network::gpu::tests::allocations::allocations;
use crate::network::matrices::format::MatrixFormat;
use crate::network::transformer::Transformer;
use crate::{
    Constraint, DecodeOptions, Family, Generation, LanguageModel, LoadOptions, ModelError, RandomCheckpoint, Sampler,
    SamplingOptions, WeightFormat, generate, load,
};

/// A model of random weights, kept as `dtype` on the CPU, whose shape the kernels are compiled for.
fn model(family: Family, dtype: DType, change: impl FnOnce(&mut RandomCheckpoint)) -> Transformer {
    let directory = tempfile::tempdir().unwrap();
    let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
    checkpoint.format = if dtype == DType::F16 {
        WeightFormat::F16
    } else {
        WeightFormat::Bf16
    };
    checkpoint.config["head_dim"] = 32.into();
    change(&mut checkpoint);
    checkpoint.write(directory.path()).unwrap();
    let config = std::fs::read(directory.path().join("config.json")).unwrap();
    let config = ModelConfig::from_json("config.json", &config).unwrap();
    let bytes = WeightBytes::map(&directory.path().join("model.safetensors")).unwrap();
    let weights = Weights::new(vec![("model.safetensors".to_owned(), bytes)]).unwrap();
    Transformer::new(
        "test",
        config,
        &weights,
        &MatrixFormat::Converted(dtype),
        &Device::Cpu,
        None,
    )
    .unwrap()
}

/// The logits after each of `parts`, with tokens in between that are taken back.
fn logits(model: &mut Transformer, parts: &[usize]) -> Vec<Vec<f32>> {
    model.reset();
    let mut token = 0;
    let mut all = Vec::new();
    for &part in parts {
        let tokens: Vec<u32> = (0..part as u32).map(|index| (token + index * 7 + 1) % 320).collect();
        token += 31;
        let before = model.snapshot();
        if model.position() > 0 {
            model.append(&[9; 3]).unwrap();
            model.restore(&before).unwrap();
        }
        let mut host = Vec::new();
        logits_to_host(&model.append(&tokens).unwrap(), &mut host).unwrap();
        all.push(host);
    }
    all
}

/// Asserts that logits differ by `tolerance` of their spread at most.
fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>], tolerance: f32, what: &str) {
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let spread =
            expected.iter().copied().fold(f32::MIN, f32::max) - expected.iter().copied().fold(f32::MAX, f32::min);
        let difference = found
            .iter()
            .zip(expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(
            difference <= tolerance * spread,
            "{what}, part {place}: {difference} of {spread}"
        );
    }
}

#[test]
fn kernels_compute_what_the_loops_compute() {
    if !Emulation::is_available() {
        return;
    }
    // Single tokens, runs that the kernels pad, one that goes through them twice, one by tensor operations; more keys than a
    // block is given, and than all blocks get at least.
    const PARTS: [usize; 12] = [3, 1, 1, 8, 2, 13, 1, 24, 1, 5, 60, 1];
    for family in [Family::Llama, Family::Mistral, Family::Qwen2, Family::Qwen3] {
        let mut model = model(family, DType::F32, |_| {});
        let expected = logits(&mut model, &PARTS);
        model.use_gpu_passes();
        assert_close(&logits(&mut model, &PARTS), &expected, 1e-5, family.name());
    }
}

#[test]
fn kernels_serve_heads_without_groups_and_wide_groups() {
    if !Emulation::is_available() {
        return;
    }
    const PARTS: [usize; 4] = [3, 1, 40, 2];
    for (heads, kv_heads) in [(3, 3), (6, 1), (8, 1)] {
        let shape = |checkpoint: &mut RandomCheckpoint| {
            checkpoint.config["num_attention_heads"] = heads.into();
            checkpoint.config["num_key_value_heads"] = kv_heads.into();
            checkpoint.config["vocab_size"] = 321.into();
        };
        let mut model = model(Family::Llama, DType::F32, shape);
        let expected = logits(&mut model, &PARTS);
        model.use_gpu_passes();
        assert_close(
            &logits(&mut model, &PARTS),
            &expected,
            1e-5,
            &format!("{heads} to {kv_heads}"),
        );
    }
}

#[test]
fn a_token_takes_five_launches_a_layer_one_wait_and_no_new_memory() {
    if !Emulation::is_available() {
        return;
    }
    let mut model = model(Family::Llama, DType::F32, |_| {});
    let layers = model.config().layers;
    let emulation = model.use_gpu_passes();
    model.append(&[1; 20]).unwrap();
    let start = model.snapshot();
    let mut mask = TokenMask::none(300);
    (100..200).for_each(|token| assert!(mask.allow(token)));
    let draw = Choice::Draw {
        inverse_temperature: 1.0,
        min_p: 0.0,
        random: 0.5,
    };
    // The list of what was appended grows the first time, and has room the second.
    for round in 0..2 {
        model.restore(&start).unwrap();
        for (mask, choice, of_choice) in [
            (None, Choice::Likeliest, 1),
            (Some(&mask), Choice::Likeliest, 1),
            (Some(&mask), draw, 2),
        ] {
            let (allocated, [launches, waits]) = (allocations(), emulation.counts());
            let logits = model.append(&[2]).unwrap();
            model.choose(&logits, mask, choice).unwrap();
            let [launches, waits] = [emulation.counts()[0] - launches, emulation.counts()[1] - waits];
            // Beside the layers: the embedding, the logits, the choice.
            assert_eq!((launches, waits), (5 * layers + 2 + of_choice, 1));
            assert!(
                round == 0 || allocations() == allocated,
                "{} allocations",
                allocations() - allocated
            );
        }
    }
}

#[test]
fn an_answer_waits_once_for_each_pass() {
    if !Emulation::is_available() {
        return;
    }
    const SCHEMA: &str = r#"{"type": "object", "properties": {"a name that is forced": {"type": "string", "maxLength": 9}},
        "required": ["a name that is forced"], "additionalProperties": false}"#;
    let mut model = model(Family::Llama, DType::F32, |_| {});
    let emulation = model.use_gpu_passes();
    for schema in [None, Some(SCHEMA)] {
        let [_, before] = emulation.counts();
        let generation = generated(&mut model, schema, &SamplingOptions::default(), 75);
        assert!(!generation.budget_intervened);
        let waits = emulation.counts()[1] - before;
        assert!(
            waits > 0 && waits <= generation.forward_passes,
            "{waits} waits, {} passes",
            generation.forward_passes
        );
    }
}

#[test]
fn choices_are_those_of_the_host() {
    if !Emulation::is_available() {
        return;
    }
    let mut model = model(Family::Llama, DType::F32, |_| {});
    model.use_gpu_passes();
    let mut host = Vec::new();
    let mut random = 7_u32;
    for round in 0..40 {
        let logits = model.append(&[round]).unwrap();
        logits_to_host(&logits, &mut host).unwrap();
        let mut mask = TokenMask::none(300);
        for token in 0..300 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 24 < 1 << (round % 8) {
                mask.allow(token);
            }
        }
        for mask in [Some(&mask), None] {
            let expected = Sampler::new(SamplingOptions::default()).sample(&host, mask);
            let found = model.choose(&logits, mask, Choice::Likeliest).unwrap();
            assert_eq!(found, expected, "round {round}");
            for min_p in [0.0, 0.3] {
                let options = SamplingOptions {
                    temperature: 0.7,
                    min_p,
                    seed: u64::from(round),
                    ..SamplingOptions::default()
                };
                let choice = Sampler::new(options.clone()).choice().unwrap();
                let expected = Sampler::new(options).sample(&host, mask);
                let found = model.choose(&logits, mask, choice).unwrap();
                assert_eq!(found, expected, "round {round}, {min_p}");
            }
        }
    }
}

#[test]
fn a_draw_in_which_no_token_weighs_anything_takes_the_likeliest() {
    if !Emulation::is_available() {
        return;
    }
    let mut model = model(Family::Llama, DType::F32, |_| {});
    model.use_gpu_passes();
    let mut host = [1.0_f32; 320];
    host[200] = 2.0;
    let logits = candle_core::Tensor::new(&host, &Device::Cpu).unwrap();
    let draw = Choice::Draw {
        inverse_temperature: f32::INFINITY,
        min_p: 0.0,
        random: 0.5,
    };
    assert_eq!(draw.among(&host, None), Some(200));
    assert_eq!(model.choose(&logits, None, draw).unwrap(), Some(200));
}

#[test]
fn ties_go_to_the_lowest_id_and_what_is_not_finite_is_noticed() {
    if !Emulation::is_available() {
        return;
    }
    let mut model = model(Family::Llama, DType::F32, |checkpoint| {
        checkpoint.config["vocab_size"] = 2_000.into();
    });
    model.use_gpu_passes();
    let mut logits = vec![-1.0_f32; 2_000];
    for token in [1_500, 700, 1_999] {
        logits[token] = 2.0;
    }
    (logits[3], logits[4]) = (0.0, -0.0);
    let choose = |model: &mut Transformer, logits: &[f32], allowed: Option<&[u32]>| {
        let mask = allowed.map(|allowed| {
            let mut mask = TokenMask::none(2_000);
            allowed.iter().for_each(|&token| assert!(mask.allow(token)));
            mask
        });
        let logits = candle_core::Tensor::new(logits, &Device::Cpu).unwrap();
        model.choose(&logits, mask.as_ref(), Choice::Likeliest)
    };
    assert_eq!(choose(&mut model, &logits, None).unwrap(), Some(700));
    assert_eq!(choose(&mut model, &logits, Some(&[1_999, 1_500])).unwrap(), Some(1_500));
    assert_eq!(choose(&mut model, &logits, Some(&[3, 4])).unwrap(), Some(3));
    assert_eq!(choose(&mut model, &logits, Some(&[4, 5])).unwrap(), Some(4));
    assert_eq!(choose(&mut model, &logits, Some(&[])).unwrap(), None);
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut logits = logits.clone();
        (logits[1_234], logits[1_777]) = (value, f32::NAN);
        let error = choose(&mut model, &logits, Some(&[1])).unwrap_err();
        assert!(
            matches!(error, ModelError::NonFiniteLogits { token: 1_234, .. }),
            "{error}"
        );
    }
    assert_eq!(
        choose(&mut model, &logits, Some(&[1_999])).unwrap(),
        Some(1_999),
        "what was found is forgotten"
    );
}

/// The tokens of an answer, with a mask or without one.
fn answer(model: &mut Transformer, schema: Option<&str>, sampling: &SamplingOptions, max_tokens: usize) -> Vec<u32> {
    generated(model, schema, sampling, max_tokens).token_ids()
}

/// An answer, with a mask or without one.
fn generated(
    model: &mut Transformer,
    schema: Option<&str>,
    sampling: &SamplingOptions,
    max_tokens: usize,
) -> Generation {
    let directory = tempfile::tempdir().unwrap();
    RandomCheckpoint::preset(Family::Llama, "tiny")
        .unwrap()
        .write(directory.path())
        .unwrap();
    let loaded = load(
        &directory.path().to_str().unwrap().parse().unwrap(),
        &LoadOptions::default(),
    )
    .unwrap();
    let compiler = ExactCompiler::new(loaded.vocabulary(), ExactOptions::default());
    let constraint = schema.map(|schema| Constraint {
        framework: "maskwright".to_owned(),
        masker: compiler.compile(schema).unwrap(),
    });
    let options = DecodeOptions::new(sampling.clone(), loaded.eos_ids().to_vec(), max_tokens);
    let generation = generate(model, &[5; 30], constraint, &options, &AtomicBool::new(false));
    generation.finish.as_ref().unwrap();
    assert!(
        schema.is_none() || generation.forced_tokens() > 3,
        "some tokens are forced"
    );
    generation
}

#[test]
fn answers_are_those_of_the_loops_token_by_token() {
    if !Emulation::is_available() {
        return;
    }
    // Forced keys of several lengths, free text, and a limit so near that tokens have to be passed over.
    const SCHEMA: &str = r#"{
        "type": "object",
        "properties": {"a long name that is forced": {"type": "string", "maxLength": 12}, "id": {"enum": ["first", "second"]}},
        "required": ["a long name that is forced", "id"], "additionalProperties": false
    }"#;
    let mut loops = model(Family::Llama, DType::F32, |_| {});
    let mut kernels = model(Family::Llama, DType::F32, |_| {});
    kernels.use_gpu_passes();
    let drawn = |seed| SamplingOptions {
        temperature: 1.0,
        seed,
        ..SamplingOptions::default()
    };
    let on_host = SamplingOptions {
        top_k: 20,
        top_p: 0.9,
        repetition_penalty: 1.1,
        ..drawn(3)
    };
    for sampling in [SamplingOptions::default(), drawn(1), drawn(2), on_host] {
        for (schema, max_tokens) in [(None, 12), (Some(SCHEMA), 75)] {
            let expected = answer(&mut loops, schema, &sampling, max_tokens);
            assert_eq!(
                answer(&mut kernels, schema, &sampling, max_tokens),
                expected,
                "{sampling:?}, {max_tokens}"
            );
        }
    }
}
