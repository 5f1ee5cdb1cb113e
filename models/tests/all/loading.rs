//! Loading models from directories: files that load, and the errors of files that do not.

use std::fs;
use std::path::Path;

use maskwright_models::{
    Family, HubSettings, LoadOptions, Message, ModelDevice, ModelError, ModelSource, Snapshot, TrainableModel,
    WeightFormat, load, logits_to_host, self_check,
};
use serde_json::{Value, json};

use crate::checkpoints::{edit_config, open, refusal, write};

#[test]
fn every_family_passes_the_self_check() {
    let tokens: Vec<u32> = (0..40).map(|i| (i * 37 + 11) % 256).collect();
    for family in Family::ALL {
        for format in [WeightFormat::F32, WeightFormat::Bf16, WeightFormat::F16] {
            let directory = write(family, |checkpoint| checkpoint.format = format);
            let mut loaded = open(directory.path()).unwrap();
            let check = self_check(&mut *loaded.model, &tokens, 1e-4).unwrap();
            assert!(check.passed, "{family:?} {format:?}: {check:?}");
            assert!(check.spread > 1.0, "{check:?}");
        }
    }
}

#[test]
fn the_text_part_of_a_model_that_sees_pictures_is_the_model_without_them() {
    let directory = write(Family::Gemma3, |_| {});
    let logits = || {
        let mut logits = Vec::new();
        let mut model = open(directory.path()).unwrap().model;
        logits_to_host(&model.append(&[5, 6, 7]).unwrap(), &mut logits).unwrap();
        logits
    };
    let expected = logits();
    let path = directory.path().join("config.json");
    let mut text: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    text["architectures"] = Value::Null;
    let config = json!({"architectures": ["Gemma3ForConditionalGeneration"], "text_config": text, "vision_config": {}});
    fs::write(&path, config.to_string()).unwrap();
    let path = directory.path().join("model.safetensors");
    let original = fs::read(&path).unwrap();
    for prefix in ["language_model.model.", "model.language_model."] {
        let (length, rest) = original.split_at(8);
        let (header, data) = rest.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
        let header = String::from_utf8_lossy(header).replace("\"model.", &format!("\"{prefix}"));
        let length = (header.len() as u64).to_le_bytes();
        fs::write(&path, [&length, header.as_bytes(), data].concat()).unwrap();
        assert_eq!(logits(), expected, "{prefix}");
    }
}

#[test]
fn an_output_matrix_of_its_own_is_used_whatever_the_configuration_says() {
    let directory = write(Family::Llama, |checkpoint| {
        checkpoint.config["tie_word_embeddings"] = false.into()
    });
    let answer = || {
        let mut logits = Vec::new();
        let mut loaded = open(directory.path()).unwrap();
        logits_to_host(&loaded.model.append(&[5, 6, 7]).unwrap(), &mut logits).unwrap();
        let source = ModelSource::Directory(directory.path().to_owned());
        let trained = TrainableModel::load(&source, ModelDevice::Cpu, &HubSettings::default(), None).unwrap();
        let has_own = trained.weights().unwrap().contains_key("lm_head.weight");
        let notices = loaded.notices().concat();
        (logits, has_own, notices.contains("lm_head"))
    };
    let (own, ..) = answer();
    edit_config(directory.path(), "tie_word_embeddings", true.into());
    assert_eq!(answer(), (own.clone(), true, true));
    // A copy of the embeddings, which many checkpoints have, takes no memory.
    let path = directory.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let data = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..data]).unwrap();
    let place = |name: &str| [0, 1].map(|end| data + header[name]["data_offsets"][end].as_u64().unwrap() as usize);
    let [start, end] = place("model.embed_tokens.weight");
    bytes.copy_within(start..end, place("lm_head.weight")[0]);
    fs::write(&path, bytes).unwrap();
    let (tied, ..) = answer();
    assert_ne!(tied, own);
    assert_eq!(answer(), (tied, false, false));
}

#[test]
fn the_hash_tells_weights_of_the_same_shape_apart() {
    let hash = |seed| {
        let directory = write(Family::Llama, |checkpoint| checkpoint.seed = seed);
        open(directory.path()).unwrap().summary().hash.clone()
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn the_builtin_model_loads_and_renders_prompts() {
    let mut loaded = load(&ModelSource::Builtin, &LoadOptions::default()).unwrap();
    let prompt = loaded.render_prompt(&[Message::user("Write a JSON object.")]).unwrap();
    let tokens = loaded.encode_prompt(&prompt).unwrap();
    let check = self_check(&mut *loaded.model, &tokens, 1e-4).unwrap();
    assert!(check.passed, "{check:?}");
    assert_eq!(loaded.vocabulary().len(), loaded.model.vocab_size());
    assert!(!loaded.eos_ids().is_empty());
    let summary = loaded.summary();
    assert_eq!(
        (summary.name.as_str(), summary.family, summary.device.as_str()),
        ("builtin", "llama", "cpu")
    );
}

#[test]
fn snapshots_belong_to_their_sequence() {
    let directory = write(Family::Llama, |_| {});
    let mut model = open(directory.path()).unwrap().model;
    model.append(&[1, 2, 3]).unwrap();
    let at_three = model.snapshot();
    model.append(&[4]).unwrap();
    let at_four = model.snapshot();
    model.restore(&at_three).unwrap();
    assert_eq!((model.position(), at_four.position()), (3, 4));
    // Position 4 exists again, but with another token.
    model.append(&[5]).unwrap();
    let stale = model.restore(&at_four).unwrap_err();
    assert!(matches!(stale, ModelError::StaleSnapshot { position: 4 }), "{stale}");
    assert_eq!(model.position(), 4, "a refused snapshot changes nothing");
    model.restore(&at_three).unwrap();
    model.reset();
    assert!(model.restore(&at_three).is_err(), "reset ends the sequence");
    model.restore(&Snapshot::new(0, 0)).unwrap();
    assert_eq!(model.position(), 0);
}

#[test]
fn what_cannot_be_appended_leaves_the_sequence_alone() {
    let directory = write(Family::Llama, |checkpoint| {
        checkpoint.config["max_position_embeddings"] = 8.into()
    });
    let mut model = open(directory.path()).unwrap().model;
    model.append(&[1; 6]).unwrap();
    assert!(matches!(model.append(&[]), Err(ModelError::NothingToAppend)));
    assert!(matches!(
        model.append(&[320]),
        Err(ModelError::TokenOutOfRange {
            token: 320,
            vocab_size: 320
        })
    ));
    let full = model.append(&[1; 3]).unwrap_err();
    assert!(
        matches!(
            full,
            ModelError::ContextFull {
                position: 6,
                added: 3,
                max_positions: 8
            }
        ),
        "{full}"
    );
    model.append(&[1; 2]).unwrap();
    assert_eq!(model.position(), 8);
}

#[test]
fn not_finite_logits_name_the_model() {
    let directory = write(Family::Llama, |checkpoint| checkpoint.format = WeightFormat::F32);
    let path = directory.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    // The last tensor is the final norm.
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let mut model = open(directory.path()).unwrap().model;
    let error = model.append(&[1]).unwrap_err();
    assert!(
        matches!(&error, ModelError::NonFiniteLogits { model, .. } if model.contains("tmp") || !model.is_empty()),
        "{error}"
    );
    assert_eq!(model.position(), 0);
    let tensor = candle_core::Tensor::new(&[0f32, f32::INFINITY], &candle_core::Device::Cpu).unwrap();
    assert!(matches!(
        logits_to_host(&tensor, &mut Vec::new()),
        Err(ModelError::NonFiniteLogits { token: 1, .. })
    ));
}

#[test]
fn vocabularies_larger_than_the_tokenizer_work_and_smaller_ones_do_not() {
    let directory = write(Family::Llama, |checkpoint| {
        checkpoint.config["vocab_size"] = 1000.into()
    });
    let loaded = open(directory.path()).unwrap();
    assert_eq!((loaded.vocabulary().len(), loaded.tokenizer().len()), (1000, 258));
    let directory = write(Family::Llama, |checkpoint| checkpoint.config["vocab_size"] = 200.into());
    let message = refusal(directory.path());
    assert!(message.contains("do not belong together"), "{message}");
}

#[test]
fn rope_parameters_of_newer_files_mean_what_the_older_fields_meant() {
    let logits = |directory: &Path| {
        let mut host = Vec::new();
        let mut model = open(directory).unwrap().model;
        logits_to_host(&model.append(&[9, 8, 7]).unwrap(), &mut host).unwrap();
        host
    };
    let directory = write(Family::Llama, |_| {});
    let older = logits(directory.path());
    let config: Value = serde_json::from_slice(&fs::read(directory.path().join("config.json")).unwrap()).unwrap();
    let mut parameters = config["rope_scaling"].clone();
    parameters["rope_theta"] = config["rope_theta"].clone();
    edit_config(directory.path(), "rope_parameters", parameters);
    edit_config(directory.path(), "rope_scaling", Value::Null);
    edit_config(directory.path(), "rope_theta", Value::Null);
    assert_eq!(logits(directory.path()), older);
    // A scaling that somebody adds to such a file counts.
    let mut added = config["rope_scaling"].clone();
    added["rope_theta"] = config["rope_theta"].clone();
    edit_config(directory.path(), "rope_scaling", added);
    let plain = serde_json::json!({"rope_type": "default", "rope_theta": 100.0});
    edit_config(directory.path(), "rope_parameters", plain);
    assert_eq!(logits(directory.path()), older);
}

#[test]
fn infinities_are_read_as_python_writes_them() {
    for family in [Family::NemotronH, Family::GraniteHybrid, Family::Llama] {
        let directory = write(family, |_| {});
        edit_config(directory.path(), "time_step_limit", json!([0.0, "high"]));
        edit_config(directory.path(), "note", json!("\"Infinity\", not -Infinity or NaN"));
        let path = directory.path().join("config.json");
        let config = fs::read_to_string(&path).unwrap();
        fs::write(&path, config.replace("\"high\"", "Infinity")).unwrap();
        open(directory.path()).unwrap();
        if family == Family::Llama {
            let source = ModelSource::Directory(directory.path().to_owned());
            TrainableModel::load(&source, ModelDevice::Cpu, &HubSettings::default(), None).unwrap();
        }
    }
}

#[test]
fn damaged_weights_name_file_and_tensor() {
    let directory = write(Family::Qwen2, |_| {});
    let path = directory.path().join("model.safetensors");
    let good = fs::read(&path).unwrap();
    for length in [0, 4, 8, 100, good.len() / 2, good.len() - 1] {
        fs::write(&path, &good[..length]).unwrap();
        let message = refusal(directory.path());
        assert!(message.contains("model.safetensors"), "{length} bytes: {message}");
    }
    fs::write(&path, vec![0xff; 1000]).unwrap();
    assert!(refusal(directory.path()).contains("damaged"));
    // A header that claims sizes no file has.
    let header = br#"{"model.norm.weight":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}"#;
    let mut huge = (header.len() as u64).to_le_bytes().to_vec();
    huge.extend_from_slice(header);
    fs::write(&path, huge).unwrap();
    assert!(refusal(directory.path()).contains("damaged"));

    fs::write(&path, &good).unwrap();
    edit_config(directory.path(), "intermediate_size", json!(72));
    let message = refusal(directory.path());
    assert!(
        message.contains("gate_proj") && message.contains("[72, 32]") && message.contains("[64, 32]"),
        "{message}"
    );
    edit_config(directory.path(), "intermediate_size", json!(64));
    edit_config(directory.path(), "num_hidden_layers", json!(3));
    assert!(refusal(directory.path()).contains("model.layers.2."));
    // Weights that the configuration does not ask for are ignored.
    edit_config(directory.path(), "num_hidden_layers", json!(1));
    open(directory.path()).unwrap();
}

#[test]
fn bad_indexes_are_refused() {
    let directory = write(Family::Llama, |checkpoint| checkpoint.shards = 2);
    open(directory.path()).unwrap();
    let path = directory.path().join("model.safetensors.index.json");
    for (index, expected) in [
        (json!({}), "weight_map"),
        (json!({"weight_map": {}}), "names no file"),
        (json!({"weight_map": {"a": "../../etc/passwd"}}), "not the name"),
        (json!({"weight_map": {"a": 7}}), "not the name"),
        (
            json!({"weight_map": {"a": "missing.safetensors"}}),
            "missing.safetensors",
        ),
    ] {
        fs::write(&path, index.to_string()).unwrap();
        let message = refusal(directory.path());
        assert!(message.contains(expected), "{index}: {message}");
    }
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let directory = write(Family::Llama, |_| {});
        fs::remove_file(directory.path().join(file)).unwrap();
        let message = refusal(directory.path());
        assert!(message.contains(file), "{message}");
    }
}

#[test]
fn a_tokenizer_of_tiktoken_is_named() {
    let directory = write(Family::DeepseekV3, |_| {});
    let path = directory.path().join("tokenizer.json");
    fs::rename(&path, path.with_file_name("tiktoken.model")).unwrap();
    let message = refusal(directory.path());
    assert!(
        message.contains("has no tokenizer.json") && message.contains("tiktoken.model"),
        "{message}"
    );
}

#[test]
fn garbage_tokenizers_are_refused() {
    let directory = write(Family::Llama, |_| {});
    let path = directory.path().join("tokenizer.json");
    let good = fs::read_to_string(&path).unwrap();
    for bad in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}"#,
        &good[..good.len() / 2],
    ] {
        fs::write(&path, bad).unwrap();
        let message = refusal(directory.path());
        assert!(message.contains("tokenizer.json"), "{message}");
    }
}

#[test]
fn end_of_sequence_ids_follow_the_generation_config() {
    let directory = write(Family::Llama, |_| {});
    edit_config(directory.path(), "eos_token_id", json!([7, 8]));
    assert_eq!(
        open(directory.path()).unwrap().eos_ids(),
        [7, 8, 257],
        "config.json and the tokenizer"
    );
    let generation = json!({"eos_token_id": [9, 257], "temperature": 0.6, "top_p": 0.9, "top_k": 20});
    fs::write(directory.path().join("generation_config.json"), generation.to_string()).unwrap();
    let loaded = open(directory.path()).unwrap();
    assert_eq!(loaded.eos_ids(), [9, 257]);
    let defaults = loaded.generation_defaults();
    assert_eq!(
        (defaults.temperature, defaults.top_p, defaults.top_k),
        (Some(0.6), Some(0.9), Some(20))
    );
    assert_eq!(defaults.repetition_penalty, None);
    edit_config(directory.path(), "eos_token_id", Value::Null);
    fs::write(
        directory.path().join("generation_config.json"),
        r#"{"eos_token_id": 100000}"#,
    )
    .unwrap();
    assert!(refusal(directory.path()).contains("100000"));
}

#[test]
fn devices_that_are_not_there_are_an_error() {
    assert!("cuda:x".parse::<maskwright_models::ModelDevice>().is_err());
    assert!("tpu".parse::<maskwright_models::ModelDevice>().is_err());
    let directory = write(Family::Llama, |_| {});
    let options = LoadOptions {
        device: "cuda:7".parse().unwrap(),
        ..LoadOptions::default()
    };
    let error = load(&ModelSource::Directory(directory.path().to_owned()), &options).unwrap_err();
    assert!(matches!(error, ModelError::Device { .. }), "{error}");
}
