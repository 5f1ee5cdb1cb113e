//! Models from GGUF files: they give the results of their checkpoints, quantised or not, and errors name the damage of a file.
//! `scripts/compare-llamacpp` holds their answers against llama.cpp's.

use std::fs::File;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use maskwright::TokenKind;
use maskwright_models::{
    Family, HubSettings, LoadOptions, LoadedModel, Message, ModelDevice, ModelSource, RandomCheckpoint, TrainableModel,
    WeightFormat, export_gguf, load, logits_to_host, self_check,
};
use serde_json::Value as Json;

use crate::hub_server::{Hub, Model, Server};

/// A small checkpoint of a family, of a shape that llama.cpp can run.
fn checkpoint(family: Family, wide: bool) -> RandomCheckpoint {
    let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
    checkpoint.format = WeightFormat::F32;
    if wide {
        // Blocks of the formats with a K have 256 numbers.
        for (field, size) in [
            ("hidden_size", 256),
            ("intermediate_size", 512),
            ("head_dim", 64),
            ("block_ff_dim", 768),
        ] {
            checkpoint.config[field] = size.into();
        }
    }
    if family == Family::Gemma3 {
        checkpoint.config["query_pre_attn_scalar"] = checkpoint.config["head_dim"].clone();
    }
    checkpoint
}

/// Writes a checkpoint into `directory`, and as GGUF beside it.
fn export(checkpoint: &RandomCheckpoint, directory: &Path) -> PathBuf {
    checkpoint.write(directory).unwrap();
    let path = directory.join("model.gguf");
    let source = ModelSource::Directory(directory.to_owned());
    export_gguf(&source, &HubSettings::default(), WeightFormat::F32, None, &path).unwrap();
    path
}

fn open(source: ModelSource, dtype: WeightFormat) -> LoadedModel {
    let options = LoadOptions {
        dtype,
        ..LoadOptions::default()
    };
    load(&source, &options).unwrap()
}

/// The logits after several appends, one of them long.
fn logits(loaded: &mut LoadedModel) -> Vec<f32> {
    let mut all = Vec::new();
    loaded.model.reset();
    let long: Vec<u32> = (0..60).map(|token| token * 5 % 256).collect();
    for part in [&[1, 2, 3], &[4][..], &long, &[5, 6]] {
        let mut logits = Vec::new();
        logits_to_host(&loaded.model.append(part).unwrap(), &mut logits).unwrap();
        all.extend(logits);
    }
    all
}

/// The largest difference, as a part of the spread.
fn difference(one: &[f32], other: &[f32]) -> f32 {
    let spread = one.iter().fold(0f32, |a, b| a.max(*b)) - one.iter().fold(0f32, |a, b| a.min(*b));
    let pairs = one.iter().zip(other);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / spread
}

const FAMILIES: [Family; 6] = [
    Family::Llama,
    Family::Mistral,
    Family::Qwen2,
    Family::Qwen3,
    Family::Gemma3,
    Family::Lfm2,
];

#[test]
fn norms_of_a_file_are_trained_and_written_again_as_those_of_its_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let path = export(&checkpoint(Family::Gemma3, false), directory.path());
    let weights = |source: &ModelSource| {
        let model = TrainableModel::load(source, ModelDevice::Cpu, &HubSettings::default(), None).unwrap();
        model.weights().unwrap()
    };
    let (ours, theirs) = (
        weights(&ModelSource::Directory(directory.path().to_owned())),
        weights(&ModelSource::Gguf(path.clone())),
    );
    assert!(ours.keys().eq(theirs.keys()));
    for (name, values) in &ours {
        let far = values
            .iter()
            .zip(&theirs[name])
            .find(|(one, other)| (*one - *other).abs() > 1e-6);
        assert_eq!(far, None, "{name}");
    }
    let again = directory.path().join("again.gguf");
    export_gguf(
        &ModelSource::Gguf(path.clone()),
        &HubSettings::default(),
        WeightFormat::F32,
        None,
        &again,
    )
    .unwrap();
    let norm = |path: &Path| {
        let mut file = File::open(path).unwrap();
        let content = Content::read(&mut file).unwrap();
        let tensor = content
            .tensor(&mut file, "blk.0.attn_norm.weight", &Device::Cpu)
            .unwrap();
        tensor.dequantize(&Device::Cpu).unwrap().to_vec1::<f32>().unwrap()
    };
    assert_eq!(norm(&path), norm(&again));
}

#[test]
fn a_gguf_file_computes_what_its_checkpoint_computes() {
    for family in FAMILIES {
        for tied in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let mut checkpoint = checkpoint(family, false);
            checkpoint.config["tie_word_embeddings"] = tied.into();
            let path = export(&checkpoint, directory.path());
            let mut ours = open(ModelSource::Directory(directory.path().to_owned()), WeightFormat::Auto);
            let source: ModelSource = path.to_str().unwrap().parse().unwrap();
            assert_eq!(source, ModelSource::Gguf(path));
            let mut theirs = open(source, WeightFormat::Auto);
            assert_eq!(theirs.summary().dtype, "f32");
            assert_eq!(theirs.summary().parameters, ours.summary().parameters);
            assert_eq!(theirs.eos_ids(), ours.eos_ids(), "{family:?}");
            let found = difference(&logits(&mut ours), &logits(&mut theirs));
            // Llama 3's frequencies are divided by written divisors instead of computed ones.
            assert!(found < 1e-5, "{family:?}: {found}");
        }
    }
}

/// Writes the file at `path` again with its matrices in the formats that `format` gives for their names.
fn quantise(path: &Path, format: impl Fn(&str) -> GgmlDType) -> PathBuf {
    quantise_some(path, |name, rank| {
        (rank == 2 && !name.contains("shortconv.conv")).then(|| format(name))
    })
}

/// Writes the file at `path` again with tensors in the formats that `format` gives for their names and numbers of dimensions; those
/// without one stay as they are.
fn quantise_some(path: &Path, format: impl Fn(&str, usize) -> Option<GgmlDType>) -> PathBuf {
    rewrite(path, &[], format)
}

/// Writes the file at `path` again with these members in its metadata, and with tensors as [`quantise_some`] says.
fn rewrite(path: &Path, members: &[(&str, Value)], format: impl Fn(&str, usize) -> Option<GgmlDType>) -> PathBuf {
    let mut file = File::open(path).unwrap();
    let content = Content::read(&mut file).unwrap();
    let tensors: Vec<(String, QTensor)> = content
        .tensor_infos
        .iter()
        .map(|(name, info)| {
            let tensor = content.tensor(&mut file, name, &Device::Cpu).unwrap();
            let tensor = match format(name, info.shape.rank()) {
                Some(format) => QTensor::quantize(&tensor.dequantize(&Device::Cpu).unwrap(), format).unwrap(),
                None => tensor,
            };
            (name.clone(), tensor)
        })
        .collect();
    let kept = content.metadata.iter().map(|(key, value)| (key.as_str(), value));
    let kept = kept.filter(|(key, _)| members.iter().all(|(given, _)| given != key));
    let given = members.iter().map(|(key, value)| (*key, value));
    let metadata: Vec<(&str, &Value)> = kept.chain(given).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let written = path.with_extension("rewritten.gguf");
    gguf_file::write(&mut File::create(&written).unwrap(), &metadata, &tensors).unwrap();
    written
}

/// Asserts the golden rule of quantised kernels: their results are those of the numbers that the weights encode, but for the
/// activations' own rounding.
fn check_quantised(path: PathBuf, name: &str, tolerance: f32) {
    let mut quantised = open(ModelSource::Gguf(path.clone()), WeightFormat::Auto);
    assert_eq!(quantised.summary().dtype, name);
    let mut wide = open(ModelSource::Gguf(path), WeightFormat::F32);
    assert_eq!(wide.summary().dtype, "f32");
    assert!(quantised.summary().bytes_per_token < wide.summary().bytes_per_token);
    let found = difference(&logits(&mut wide), &logits(&mut quantised));
    assert!(found < tolerance, "{name}: {found}");
    let tokens: Vec<u32> = (1..40).collect();
    // Sums in another order may round an activation to another code.
    let check = self_check(quantised.model.as_mut(), &tokens, 0.03).unwrap();
    assert!(check.passed, "{name}: {check:?}");
}

#[test]
fn quantised_weights_compute_what_they_stand_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = export(&checkpoint(Family::Llama, true), directory.path());
    for (format, name) in [
        (GgmlDType::Q4_0, "q4_0"),
        (GgmlDType::Q4_1, "q4_1"),
        (GgmlDType::Q5_0, "q5_0"),
        (GgmlDType::Q5_1, "q5_1"),
        (GgmlDType::Q8_0, "q8_0"),
        (GgmlDType::Q4K, "q4_k"),
        (GgmlDType::Q5K, "q5_k"),
        (GgmlDType::Q6K, "q6_k"),
        (GgmlDType::BF16, "bf16"),
        (GgmlDType::F16, "f16"),
    ] {
        check_quantised(quantise(&path, |_| format), name, 0.03);
    }
}

#[test]
fn lists_without_rows_have_no_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let path = export(&checkpoint(Family::Llama, true), directory.path());
    let path = quantise_some(&path, |name, rank| {
        (rank == 1 && name == "output_norm.weight").then_some(GgmlDType::Q8_0)
    });
    let error = load(&ModelSource::Gguf(path), &LoadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("output_norm.weight") && error.contains("F32, F16 or BF16"),
        "{error}"
    );
}

#[test]
fn formats_may_differ_within_a_layer() {
    for family in FAMILIES {
        let directory = tempfile::tempdir().unwrap();
        let path = export(&checkpoint(family, true), directory.path());
        let format = |name: &str| match name {
            "token_embd.weight" => GgmlDType::Q6K,
            name if name.contains("attn_v") => GgmlDType::F16,
            name if name.contains("ffn_down") || name.contains("out_proj") => GgmlDType::Q6K,
            name if name.contains("attn_k") => GgmlDType::Q8_0,
            _ => GgmlDType::Q4K,
        };
        check_quantised(quantise(&path, format), "f16+q8_0+q4_k+q6_k", 0.04);
    }
}

/// A file with this metadata, and an embedding matrix of as many tokens.
pub(crate) fn write_vocabulary(path: &Path, metadata: &[(&str, Value)], tokens: usize) {
    let embeddings = Tensor::zeros((tokens, 32), candle_core::DType::F32, &Device::Cpu).unwrap();
    let embeddings = QTensor::quantize(&embeddings, GgmlDType::Q8_0).unwrap();
    let sizes = [
        ("llama.block_count", 1),
        ("llama.embedding_length", 32),
        ("llama.feed_forward_length", 32),
        ("llama.context_length", 64),
        ("llama.attention.head_count", 2),
    ];
    let mut all = vec![
        ("general.architecture", Value::String("llama".to_owned())),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
    ];
    all.extend(sizes.map(|(key, size)| (key, Value::U32(size))));
    all.retain(|(key, _)| metadata.iter().all(|(given, _)| given != key));
    all.extend_from_slice(metadata);
    let all: Vec<(&str, &Value)> = all.iter().map(|(key, value)| (*key, value)).collect();
    let tensors = [("token_embd.weight", &embeddings)];
    gguf_file::write(&mut File::create(path).unwrap(), &all, &tensors).unwrap();
}

#[test]
fn what_is_wrong_with_a_file_is_said_by_its_key() {
    let text = |text: &str| Value::String(text.to_owned());
    let letters = || Value::Array(["a", "b", "ab"].map(text).into());
    let merges = || Value::Array(vec![text("a b")]);
    let whole = || {
        vec![
            ("tokenizer.ggml.model", text("gpt2")),
            ("tokenizer.ggml.pre", text("gpt-2")),
            ("tokenizer.ggml.tokens", letters()),
            ("tokenizer.ggml.merges", merges()),
            ("tokenizer.ggml.eos_token_id", Value::U32(2)),
        ]
    };
    let wrong: [(&str, Value, &[&str]); 12] = [
        ("general.architecture", text("mamba"), &["\"mamba\"", "qwen3"]),
        (
            "llama.block_count",
            Value::U32(4_000_000_000),
            &["llama.block_count", "2000"],
        ),
        ("llama.block_count", Value::F32(1.5), &["llama.block_count", "1.5"]),
        (
            "llama.embedding_length",
            text("32"),
            &["llama.embedding_length", "a number"],
        ),
        (
            "llama.attention.head_count",
            Value::U32(0),
            &["layers with different numbers of heads"],
        ),
        ("llama.expert_count", Value::U32(8), &["llama.expert_count"]),
        (
            "llama.rope.scaling.type",
            text("odd"),
            &["llama.rope.scaling.type", "odd"],
        ),
        ("tokenizer.ggml.model", text("bert"), &["bert", "SentencePiece"]),
        ("tokenizer.ggml.pre", text("odd"), &["tokenizer.ggml.pre", "odd"]),
        (
            "tokenizer.ggml.token_type",
            Value::Array(vec![Value::I32(1)]),
            &["token_type", "1 kinds for 3 tokens"],
        ),
        (
            "tokenizer.ggml.eos_token_id",
            Value::U32(3),
            &["eos_token_id", "none of the 3 tokens"],
        ),
        ("split.count", Value::U16(3), &["3 GGUF files", "--merge"]),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    let fails = || {
        let error = load(&ModelSource::Gguf(path.clone()), &LoadOptions::default()).unwrap_err();
        error.to_string()
    };
    for (key, value, expected) in wrong {
        let mut metadata = whole();
        metadata.retain(|(given, _)| *given != key);
        metadata.push((key, value));
        write_vocabulary(&path, &metadata, 3);
        let error = fails();
        for part in expected.iter().chain(&["model.gguf"]) {
            assert!(error.contains(part), "{key}: {error}");
        }
    }
    // All is well but for the other tensors.
    write_vocabulary(&path, &whole(), 3);
    assert!(fails().contains("`blk.0."), "{}", fails());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(fails().contains("damaged: byte "), "{}", fails());
}

#[test]
fn numbers_of_heads_may_be_lists() {
    let directory = tempfile::tempdir().unwrap();
    let path = export(&checkpoint(Family::Llama, false), directory.path());
    let content = gguf_file::Content::read(&mut File::open(&path).unwrap()).unwrap();
    let layers = content.metadata["llama.block_count"].to_u32().unwrap() as usize;
    let lists = ["llama.attention.head_count", "llama.attention.head_count_kv"]
        .map(|key| (key, Value::Array(vec![content.metadata[key].clone(); layers])));
    let copy = rewrite(&path, &lists, |_, _| None);
    let of = |path: PathBuf| logits(&mut open(ModelSource::Gguf(path), WeightFormat::F32));
    assert_eq!(of(path), of(copy));
}

#[test]
fn all_of_yarn_is_read_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = export(&checkpoint(Family::Qwen3, false), directory.path());
    let yarn = |members: &[(&'static str, f32)]| {
        let mut all = vec![
            ("qwen3.rope.scaling.type", Value::String("yarn".to_owned())),
            ("qwen3.rope.scaling.factor", Value::F32(4.0)),
            ("qwen3.rope.scaling.original_context_length", Value::U32(4096)),
        ];
        all.extend(members.iter().map(|(key, number)| (*key, Value::F32(*number))));
        load(
            &ModelSource::Gguf(rewrite(&path, &all, |_, _| None)),
            &LoadOptions::default(),
        )
    };
    let of = |members: &[(&'static str, f32)]| logits(&mut yarn(members).unwrap());
    let plain = of(&[]);
    assert_eq!(yarn(&[]).unwrap().summary().max_positions, 4 * 4096);
    let defaults = [
        ("qwen3.rope.scaling.attn_factor", 1.0),
        ("qwen3.rope.scaling.yarn_beta_fast", 32.0),
        ("qwen3.rope.scaling.yarn_beta_slow", 1.0),
        ("qwen3.rope.scaling.yarn_ext_factor", 1.0),
    ];
    assert_eq!(plain, of(&defaults));
    for other in [
        ("qwen3.rope.scaling.attn_factor", 0.5),
        ("qwen3.rope.scaling.yarn_beta_fast", 4.0),
        ("qwen3.rope.scaling.yarn_beta_slow", 0.25),
        ("qwen3.rope.scaling.yarn_log_multiplier", 0.7),
    ] {
        assert_ne!(plain, of(&[other]), "{}", other.0);
    }
    let error = yarn(&[("qwen3.rope.scaling.yarn_ext_factor", 0.5)])
        .unwrap_err()
        .to_string();
    assert!(error.contains("qwen3.rope.scaling.yarn_ext_factor"), "{error}");
    let without_yarn = rewrite(&path, &[("qwen3.rope.scaling.attn_factor", Value::F32(0.5))], |_, _| {
        None
    });
    let error = load(&ModelSource::Gguf(without_yarn), &LoadOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("qwen3.rope.scaling.attn_factor"), "{error}");
}

#[test]
fn chat_template_and_tokens_of_the_builtin_model_survive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("builtin.gguf");
    export_gguf(
        &ModelSource::Builtin,
        &HubSettings::default(),
        WeightFormat::F32,
        None,
        &path,
    )
    .unwrap();
    let (ours, theirs) = (
        open(ModelSource::Builtin, WeightFormat::F32),
        open(ModelSource::Gguf(path), WeightFormat::F32),
    );
    let messages = [Message::new("user", "{\"type\": \"object\"}")];
    let prompt = ours.render_prompt(&messages).unwrap();
    assert_eq!(prompt, theirs.render_prompt(&messages).unwrap());
    assert_eq!(ours.eos_ids()[0], theirs.eos_ids()[0]);
    let (ours, tokens) = (ours.vocabulary(), theirs.vocabulary());
    let json: Json = serde_json::from_str(theirs.tokenizer_json()).unwrap();
    let vocabulary = json["model"]["vocab"].as_object().unwrap();
    assert!(vocabulary.len() > 3000, "{} tokens", vocabulary.len());
    for id in 0..vocabulary.len() as u32 {
        assert_eq!(ours.token_bytes(id), tokens.token_bytes(id), "token {id}");
    }
    assert_eq!(json["model"]["type"], "BPE");
}

/// A GGUF file is read as llama.cpp reads it: a token is an end of turn by its text, unused tokens are no text, prompts with tools have a
/// template of their own, and the beginning-of-sequence token stands before a prompt where the file asks for it.
#[test]
fn tokens_and_templates_of_a_file_are_read_as_llama_cpp_reads_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("builtin.gguf");
    let hub = HubSettings::default();
    export_gguf(&ModelSource::Builtin, &hub, WeightFormat::F32, None, &path).unwrap();
    let content = Content::read(&mut File::open(&path).unwrap()).unwrap();
    let mut kinds = content.metadata["tokenizer.ggml.token_type"].to_vec().unwrap().clone();
    let (end, last) = (2, kinds.len() - 1);
    kinds[end] = Value::I32(4);
    kinds[last] = Value::I32(5);
    let text = |text: &str| Value::String(text.to_owned());
    let members = [
        ("tokenizer.ggml.token_type", Value::Array(kinds)),
        ("tokenizer.ggml.eos_token_id", Value::U32(0)),
        ("tokenizer.ggml.add_bos_token", Value::Bool(true)),
        ("tokenizer.chat_template", text("{{ messages[0].content }}")),
        ("tokenizer.chat_template.tool_use", text("{{ tools | tojson }}")),
    ];
    let model = open(
        ModelSource::Gguf(rewrite(&path, &members, |_, _| None)),
        WeightFormat::F32,
    );
    assert!(model.eos_ids().contains(&(end as u32)), "{:?}", model.eos_ids());
    assert_eq!(model.vocabulary().kind(last as u32), TokenKind::Unused);
    assert_eq!(model.tool_template(), Some("{{ tools | tojson }}"));
    let prompt = model.render_prompt(&[Message::new("user", "a")]).unwrap();
    let tokens = model.encode_prompt(&prompt).unwrap();
    assert_eq!(
        (tokens.len(), tokens[0]),
        (2, 1),
        "the beginning of a sequence, and the letter"
    );
}

#[test]
fn the_template_for_tools_is_exported() {
    let directory = tempfile::tempdir().unwrap();
    let of_tools = directory.path().join("additional_chat_templates");
    std::fs::create_dir(&of_tools).unwrap();
    std::fs::write(
        directory.path().join("chat_template.jinja"),
        "{{ messages[0].content }}",
    )
    .unwrap();
    std::fs::write(of_tools.join("tool_use.jinja"), "{{ tools | tojson }}").unwrap();
    let path = export(&checkpoint(Family::Qwen3, false), directory.path());
    let model = open(ModelSource::Gguf(path), WeightFormat::F32);
    assert_eq!(model.tool_template(), Some("{{ tools | tojson }}"));
    assert_eq!(model.render_prompt(&[Message::new("user", "a")]).unwrap(), "a");
}

#[test]
fn a_repository_of_the_hub_may_have_several_gguf_files() {
    let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let names = [
        "README.md",
        "tiny-Q8_0.gguf",
        "whole/tiny-F32.gguf",
        "whole/tiny-larger-F32.gguf",
    ];
    let files = names.map(|name| {
        let mut checkpoint = checkpoint(Family::Qwen3, false);
        // Equal contents would be downloaded once.
        checkpoint.seed = name.len() as u64;
        let path = export(&checkpoint, directory.path());
        (name.to_owned(), std::fs::read(path).unwrap())
    });
    let model = Model {
        files: files.into(),
        revisions: [("main".to_owned(), "1".repeat(40))].into(),
        token: None,
    };
    let server = Server::start(Hub {
        models: [("org/tiny-GGUF".to_owned(), model)].into(),
        ..Hub::default()
    });
    let mut options = LoadOptions::default();
    options.hub.endpoint.clone_from(&server.endpoint);
    options.hub.cache = cache.path().to_owned();
    let open = |name: &str, options: &LoadOptions| load(&name.parse().unwrap(), options);
    open("org/tiny-GGUF/whole/tiny-larger-F32.gguf", &options).unwrap();
    assert_eq!(server.downloads(), 1, "one file is fetched");
    let loaded = open("org/tiny-GGUF:f32", &options).unwrap();
    assert_eq!(loaded.name(), "org/tiny-GGUF:f32");
    assert_eq!(loaded.summary().commit, Some("1".repeat(40)));
    assert_eq!(server.downloads(), 2, "the hub has a better match than the cache");
    let error = open("org/tiny-GGUF:Q4_K_M", &options).unwrap_err().to_string();
    assert!(error.contains("Q4_K_M") && error.contains("tiny-Q8_0.gguf"), "{error}");
    options.hub.offline = true;
    open("org/tiny-GGUF:F32", &options).unwrap();
    open("org/tiny-GGUF/whole/tiny-F32.gguf", &options).unwrap();
    open("org/tiny-GGUF:Q8_0", &options).unwrap_err();
}
