//! GGUF files: their contents, read back. `scripts/compare-llamacpp` holds llama.cpp's answers against ours.

use std::fs::File;
use std::path::Path;

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::{Device, Tensor};
use maskwright_models::{Family, HubSettings, ModelSource, PreTokenizer, RandomCheckpoint, WeightFormat, export_gguf};
use serde_json::json;

struct Exported {
    content: Content,
    file: File,
    pre_tokenizer: PreTokenizer,
}

fn export(source: &ModelSource, format: WeightFormat) -> Exported {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    let summary = export_gguf(source, &HubSettings::default(), format, None, &path).unwrap();
    let mut file = File::open(&path).unwrap();
    let content = Content::read(&mut file).unwrap();
    assert_eq!(content.tensor_infos.len(), summary.tensors);
    Exported {
        content,
        file,
        pre_tokenizer: summary.pre_tokenizer,
    }
}

impl Exported {
    fn tensor(&mut self, name: &str) -> Tensor {
        let tensor = self.content.tensor(&mut self.file, name, &Device::Cpu).unwrap();
        tensor.dequantize(&Device::Cpu).unwrap()
    }

    fn list(&self, key: &str) -> &[Value] {
        self.content.metadata[key].to_vec().unwrap()
    }
}

#[test]
fn networks_that_llama_cpp_would_run_otherwise_are_refused() {
    let yarn = json!({"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64});
    let long = json!({"rope_type": "longrope", "short_factor": [1.0, 1.5, 2.0, 2.5], "attention_factor": 1.5});
    for (family, field, value) in [
        (Family::Mistral, "sliding_window", json!(24)),
        (Family::Llama, "rope_scaling", yarn.clone()),
        (Family::Gemma3, "rope_scaling", yarn.clone()),
        (Family::Gemma3, "rope_scaling", long.clone()),
        (Family::Lfm2, "rope_scaling", yarn),
        (Family::Lfm2, "rope_scaling", long),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
        if family == Family::Gemma3 {
            checkpoint.config["query_pre_attn_scalar"] = checkpoint.config["head_dim"].clone();
        }
        checkpoint.config[field] = value;
        checkpoint.write(directory.path()).unwrap();
        let source = ModelSource::Directory(directory.path().to_owned());
        let gguf = directory.path().join("model.gguf");
        let error = export_gguf(&source, &HubSettings::default(), WeightFormat::Auto, None, &gguf).unwrap_err();
        assert!(
            error.to_string().contains("sliding windows"),
            "{family:?}, {field}: {error}"
        );
        assert!(!gguf.exists());
    }
}

fn weights(directory: &Path, name: &str) -> Vec<Vec<f32>> {
    let tensors = candle_core::safetensors::load(directory.join("model.safetensors"), &Device::Cpu).unwrap();
    tensors[name].to_vec2().unwrap()
}

#[test]
fn rows_of_a_head_are_paired_where_llama_cpp_wants_pairs() {
    for (family, paired) in [(Family::Llama, true), (Family::Mistral, true), (Family::Qwen2, false)] {
        let directory = tempfile::tempdir().unwrap();
        let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
        checkpoint.format = WeightFormat::F32;
        checkpoint.write(directory.path()).unwrap();
        let mut exported = export(&ModelSource::Directory(directory.path().to_owned()), WeightFormat::Auto);
        let theirs = weights(directory.path(), "model.layers.0.self_attn.k_proj.weight");
        let ours: Vec<Vec<f32>> = exported.tensor("blk.0.attn_k.weight").to_vec2().unwrap();
        let architecture = exported.content.metadata["general.architecture"].to_string().unwrap();
        let head_dim = exported.content.metadata[&format!("{architecture}.attention.key_length")]
            .to_u32()
            .unwrap() as usize;
        for (row, values) in ours.iter().enumerate() {
            let (head, within) = (row / head_dim, row % head_dim);
            let from = if paired {
                within % 2 * head_dim / 2 + within / 2
            } else {
                within
            };
            assert_eq!(values, &theirs[head * head_dim + from], "{family:?}, row {row}");
        }
    }
}

#[test]
fn the_builtin_model_is_all_there() {
    let mut exported = export(&ModelSource::Builtin, WeightFormat::Auto);
    assert_eq!(exported.pre_tokenizer, PreTokenizer::Default);
    let number = |key: &str| exported.content.metadata[key].to_u32().unwrap();
    assert_eq!(number("llama.block_count"), 6);
    assert_eq!(number("llama.attention.head_count_kv"), 4);
    assert_eq!(number("tokenizer.ggml.eos_token_id"), 2);
    let template = exported.content.metadata["tokenizer.chat_template"]
        .to_string()
        .unwrap();
    assert!(template.contains("add_generation_prompt"));
    let name = |id: usize| exported.list("tokenizer.ggml.tokens")[id].to_string().unwrap();
    assert_eq!((name(2).as_str(), name(5).as_str()), ("<|end|>", "<|assistant|>"));
    let file = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let vocab_size = file(include_str!("../../builtin/config.json"))["vocab_size"]
        .as_u64()
        .unwrap() as usize;
    assert_eq!(exported.list("tokenizer.ggml.tokens").len(), vocab_size);
    assert_eq!(
        exported.list("tokenizer.ggml.token_type")[2].to_i32().unwrap(),
        3,
        "a control token"
    );
    let merge = &file(include_str!("../../builtin/tokenizer.json"))["model"]["merges"][0];
    let parts = merge.as_array().unwrap().iter().map(|part| part.as_str().unwrap());
    assert_eq!(
        *exported.list("tokenizer.ggml.merges")[0].to_string().unwrap(),
        parts.collect::<Vec<_>>().join(" ")
    );
    assert_eq!(exported.tensor("token_embd.weight").dims(), [vocab_size, 256]);
    let names = &exported.content.tensor_infos;
    assert!(!names.contains_key("output.weight"), "embeddings are tied");
}
