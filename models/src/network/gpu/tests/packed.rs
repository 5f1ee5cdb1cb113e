//! Models whose matrices stay quantised on a GPU, against the same files on the CPU.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use candle_core::quantized::gguf_file::{self, Content};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device};

use super::{assert_close, logits};
use crate::choice::Choice;
use crate::load::config::ModelConfig;
use crate::load::files::ModelFiles;
use crate::load::gguf::{K_BLOCK, QUANTISED};
use crate::load::weights::Weights;
use crate::network::gpu::emulation::Emulation;
use crate::network::gpu::kernels::Kernels;
use crate::network::gpu::weights::can_stay_packed;
use crate::network::matrices::format::MatrixFormat;
use crate::network::transformer::Transformer;
use crate::prompt::vocabulary::ConfigurationFiles;
use crate::{Family, HubSettings, LanguageModel, ModelSource, RandomCheckpoint, WeightFormat, export_gguf};

/// Sizes of hidden vectors and heads: multiples of the longer blocks, or of the shorter ones only.
#[derive(Clone, Copy)]
enum Width {
    Large,
    Small,
}

/// A GGUF file of a small model with random weights.
struct Model {
    config: ModelConfig,
    weights: Weights,
}

impl Model {
    /// Matrices are in the formats that `format` gives for their names.
    fn new(family: Family, width: Width, tied: bool, format: impl Fn(&str) -> GgmlDType) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
        checkpoint.format = WeightFormat::F32;
        checkpoint.config["head_dim"] = 32.into();
        checkpoint.config["tie_word_embeddings"] = tied.into();
        // Feed-forward parts are as wide as a warp reads at once, and part of that again.
        let (hidden, wide, heads, kv_heads) = match width {
            Width::Large => (256, 1280, 8, 2),
            Width::Small => (288, 1120, 9, 3),
        };
        for (field, size) in [
            ("hidden_size", hidden),
            ("intermediate_size", wide),
            ("num_attention_heads", heads),
            ("num_key_value_heads", kv_heads),
        ] {
            checkpoint.config[field] = size.into();
        }
        checkpoint.write(directory.path()).unwrap();
        let path = directory.path().join("model.gguf");
        let source = ModelSource::Directory(directory.path().to_owned());
        export_gguf(&source, &HubSettings::default(), WeightFormat::F32, None, &path).unwrap();
        let quantised = directory.path().join("quantised.gguf");
        quantise(&path, &quantised, format);
        let mut files = ModelFiles::open(&ModelSource::Gguf(quantised), &HubSettings::default(), None).unwrap();
        let config = ConfigurationFiles::read(&files).unwrap().config;
        let weights = Weights::new(std::mem::take(&mut files.weights)).unwrap();
        Self { config, weights }
    }

    fn open(&self, format: &MatrixFormat) -> Transformer {
        Transformer::new("test", self.config.clone(), &self.weights, format, &Device::Cpu, None).unwrap()
    }

    /// The model as a GPU has it, and the kernels' emulation.
    fn packed(&self) -> (Transformer, Arc<Emulation>) {
        let emulation = Emulation::new(DType::F32);
        let kernels = Kernels::Emulated(Arc::clone(&emulation));
        (self.open(&MatrixFormat::Packed(kernels, DType::F32)), emulation)
    }
}

/// Writes the file at `from` again, its matrices quantised.
fn quantise(from: &Path, to: &Path, format: impl Fn(&str) -> GgmlDType) {
    let mut file = File::open(from).unwrap();
    let content = Content::read(&mut file).unwrap();
    let mut tensors = Vec::new();
    for (name, info) in &content.tensor_infos {
        let mut tensor = content.tensor(&mut file, name, &Device::Cpu).unwrap();
        if info.shape.rank() == 2 {
            let numbers = tensor.dequantize(&Device::Cpu).unwrap();
            tensor = QTensor::quantize(&numbers, format(name)).unwrap();
        }
        tensors.push((name.as_str(), tensor));
    }
    let metadata: Vec<_> = content
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    gguf_file::write(&mut File::create(to).unwrap(), &metadata, &tensors).unwrap();
}

/// Single tokens, runs that the kernels pad, one that goes through them twice, and one by tensor operations.
const PARTS: [usize; 7] = [3, 1, 8, 2, 13, 40, 1];

#[test]
fn kernels_compute_with_quantised_weights_what_the_loops_compute() {
    if !Emulation::is_available() {
        return;
    }
    let families = [Family::Llama, Family::Qwen2, Family::Qwen3, Family::Mistral];
    for ((format, theirs), family) in QUANTISED.into_iter().zip(families.into_iter().cycle()) {
        let width = match format.block_len() {
            K_BLOCK => Width::Large,
            _ => Width::Small,
        };
        let model = Model::new(family, width, family == Family::Qwen2, |_| theirs);
        assert!(can_stay_packed(&model.config, &model.weights));
        let what = format!("{} {}", family.name(), format.name());
        let found = logits(&mut model.packed().0, &PARTS);
        let exact = logits(&mut model.open(&MatrixFormat::Converted(DType::F32)), &PARTS);
        assert_close(&found, &exact, 2e-5, &what);
        // There, activations are rounded to 8 bits.
        let rounded = logits(&mut model.open(&MatrixFormat::AsStored), &PARTS);
        assert_close(&found, &rounded, 0.05, &what);
    }
}

/// The formats that llama.cpp's quantiser gives to matrices of a file of the kind Q4_K_M.
fn mixed(name: &str) -> GgmlDType {
    match ["attn_v", "ffn_down", "token_embd"]
        .iter()
        .any(|part| name.contains(part))
    {
        true => GgmlDType::Q6K,
        false => GgmlDType::Q4K,
    }
}

#[test]
fn a_token_takes_one_more_launch_a_layer_where_values_have_a_format_of_their_own() {
    if !Emulation::is_available() {
        return;
    }
    for (format, launches_per_layer) in [(mixed as fn(&str) -> GgmlDType, 6), (|_| GgmlDType::Q8_0, 5)] {
        let model = Model::new(Family::Llama, Width::Large, false, format);
        let exact = logits(&mut model.open(&MatrixFormat::Converted(DType::F32)), &PARTS);
        let (mut packed, emulation) = model.packed();
        assert_close(&logits(&mut packed, &PARTS), &exact, 2e-5, "several formats");
        for _ in 0..2 {
            let [before, _] = emulation.counts();
            let logits = packed.append(&[2]).unwrap();
            packed.choose(&logits, None, Choice::Likeliest).unwrap();
            // Beside the layers: the embedding, the logits, the choice.
            let expected = launches_per_layer * model.config.layers + 3;
            assert_eq!(emulation.counts()[0] - before, expected);
        }
    }
}

#[test]
fn files_stay_quantised_where_all_matrices_are_and_gates_are_like_what_they_gate() {
    let stays = |format: fn(&str) -> GgmlDType| {
        let model = Model::new(Family::Llama, Width::Large, false, format);
        can_stay_packed(&model.config, &model.weights)
    };
    assert!(stays(mixed));
    assert!(!stays(|name| match name.contains("ffn_up") {
        true => GgmlDType::Q5K,
        false => GgmlDType::Q4K,
    }));
    assert!(!stays(|name| match name.contains("token_embd") {
        true => GgmlDType::F16,
        false => GgmlDType::Q4K,
    }));
}
