//! Experts give the same results in every way that checkpoints keep them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use maskwright_models::{Family, LoadOptions, ModelSource, RandomCheckpoint, load, logits_to_host};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// The numbers of `blocks`, `[experts, rows, columns / 32, 16]`, with `scales`, as `[experts, columns, rows]` in 32 bits.
fn widened_and_turned(blocks: &TensorView<'_>, scales: &TensorView<'_>) -> (Vec<usize>, Vec<u8>) {
    const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let [experts, rows, count, 16] = blocks.shape() else {
        panic!("blocks of shape {:?}", blocks.shape());
    };
    let columns = 32 * count;
    let number = |expert: usize, row: usize, column: usize| {
        let index = (expert * rows + row) * columns + column;
        let byte = blocks.data()[index / 2];
        let bits = if index.is_multiple_of(2) { byte & 15 } else { byte >> 4 };
        let sign = if bits < 8 { 1.0 } else { -1.0 };
        sign * MAGNITUDES[usize::from(bits & 7)] * 2f32.powi(i32::from(scales.data()[index / 32]) - 127)
    };
    let mut bytes = Vec::new();
    for expert in 0..*experts {
        for column in 0..columns {
            bytes.extend((0..*rows).flat_map(|row| number(expert, row, column).to_le_bytes()));
        }
    }
    (vec![*experts, columns, *rows], bytes)
}

/// The logits after a prompt that is long enough for each of the ways in which matrices are multiplied.
fn logits(directory: &Path) -> Vec<f32> {
    let source = ModelSource::Directory(directory.to_owned());
    let mut model = load(&source, &LoadOptions::default()).unwrap().model;
    let (mut all, mut host) = (Vec::new(), Vec::new());
    let prompt: Vec<u32> = (0..200).map(|i| i * 37 % 256).collect();
    for part in [&prompt[..3], &prompt[3..], &[7]] {
        logits_to_host(&model.append(part).unwrap(), &mut host).unwrap();
        all.extend_from_slice(&host);
    }
    all
}

#[test]
fn experts_in_one_tensor_give_what_experts_with_their_own_give() {
    let directory = tempfile::tempdir().unwrap();
    RandomCheckpoint::preset(Family::Qwen35Moe, "tiny")
        .unwrap()
        .write(directory.path())
        .unwrap();
    let separate = logits(directory.path());

    let path = directory.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut stored: HashMap<String, (Dtype, Vec<usize>, Vec<u8>)> = HashMap::new();
    for (name, tensor) in tensors.tensors() {
        let Some((layer, expert)) = name.split_once(".experts.") else {
            // As in models that see pictures.
            let name = match name.strip_prefix("model.") {
                Some(rest) => format!("model.language_model.{rest}"),
                None => name,
            };
            stored.insert(name, (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec()));
            continue;
        };
        if expert != "0.gate_proj.weight" {
            continue;
        }
        let rest = layer.strip_prefix("model.").unwrap();
        for (of_all, parts) in [
            ("gate_up_proj", ["gate_proj", "up_proj"].as_slice()),
            ("down_proj", &["down_proj"]),
        ] {
            let (mut shape, mut data) = (Vec::new(), Vec::new());
            let mut experts = 0;
            while let Ok(first) = tensors.tensor(&format!("{layer}.experts.{experts}.{}.weight", parts[0])) {
                shape = vec![experts + 1, parts.len() * first.shape()[0], first.shape()[1]];
                for part in parts {
                    data.extend_from_slice(
                        tensors
                            .tensor(&format!("{layer}.experts.{experts}.{part}.weight"))
                            .unwrap()
                            .data(),
                    );
                }
                experts += 1;
            }
            assert_eq!(experts, 5);
            stored.insert(
                format!("model.language_model.{rest}.experts.{of_all}"),
                (tensor.dtype(), shape, data),
            );
        }
    }
    let views = stored.iter().map(|(name, (dtype, shape, bytes))| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).unwrap();
        (name.as_str(), view)
    });
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    let config = directory.path().join("config.json");
    let text: Value = serde_json::from_slice(&fs::read(&config).unwrap()).unwrap();
    let outer = serde_json::json!({"architectures": ["Qwen3_5MoeForConditionalGeneration"], "tie_word_embeddings": true, "text_config": text});
    fs::write(config, outer.to_string()).unwrap();
    assert_eq!(logits(directory.path()), separate);
}

#[test]
fn experts_in_four_bits_give_what_they_give_in_32() {
    let directory = tempfile::tempdir().unwrap();
    let checkpoint = RandomCheckpoint::preset(Family::GptOss, "tiny").unwrap();
    checkpoint.write(directory.path()).unwrap();
    let packed = logits(directory.path());

    let path = directory.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut wide: HashMap<String, (Dtype, Vec<usize>, Vec<u8>)> = HashMap::new();
    for (name, tensor) in tensors.tensors() {
        if let Some(name) = name.strip_suffix("_blocks") {
            let scales = tensors.tensor(&format!("{name}_scales")).unwrap();
            let (shape, bytes) = widened_and_turned(&tensor, &scales);
            wide.insert(name.to_owned(), (Dtype::F32, shape, bytes));
        } else if !name.ends_with("_scales") {
            wide.insert(name, (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec()));
        }
    }
    assert_eq!(wide.values().filter(|(dtype, ..)| *dtype == Dtype::F32).count(), 8);
    let views = wide.iter().map(|(name, (dtype, shape, bytes))| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).unwrap();
        (name.as_str(), view)
    });
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    let config = directory.path().join("config.json");
    let mut fields: Value = serde_json::from_slice(&fs::read(&config).unwrap()).unwrap();
    fields["quantization_config"] = Value::Null;
    fs::write(config, fields.to_string()).unwrap();

    for (got, expected) in logits(directory.path()).iter().zip(&packed) {
        assert!((got - expected).abs() < 1e-4, "{got}, expected {expected}");
    }
}
