//! [`TrainableModel`]: the weights of a network as variables, read from and written to Hugging Face directories.

use std::collections::BTreeMap;
use std::path::Path;

use candle_core::{DType, Device, Tensor, Var};
use indicatif::ProgressBar;
use serde_json::Value;

use super::checkpoint::safetensors_of;
use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::config::layer_kinds::{Activation, Mixer};
use crate::load::disk::write_file;
use crate::load::file_names::{CONFIG, WEIGHTS};
use crate::load::files::ModelFiles;
use crate::load::hub::settings::HubSettings;
use crate::load::json_fields::parse_json;
use crate::load::shapes::matrices::{MatrixShape, NamedShape};
use crate::load::shapes::tensors::LayerShapes;
use crate::load::source::ModelSource;
use crate::load::weights::Weights;
use crate::network::device::ModelDevice;
use crate::network::rope::Rope;

/// Weights by name, which gradients can be taken of.
#[derive(Debug)]
pub(crate) struct Parameters(BTreeMap<String, Var>);

impl Parameters {
    /// The variable of that name.
    pub(super) fn get(&self, name: &str) -> candle_core::Result<&Var> {
        let missing = || candle_core::Error::Msg(format!("there are no weights called {name}")).bt();
        self.0.get(name).ok_or_else(missing)
    }

    /// All variables, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Var)> {
        self.0.iter()
    }
}

/// A network whose weights, kept as 32-bit floats, can be changed.
///
/// Families whose layers all have attention and one feed-forward part can be trained: Llama, Mistral, Qwen 2 and 3, Granite, OLMo,
/// SmolLM3, Phi, GLM-4, Gemma 2 and 3.
#[derive(Debug)]
pub struct TrainableModel {
    pub(super) name: String,
    pub(super) config: ModelConfig,
    pub(super) rope: Rope,
    pub(super) device: Device,
    pub(super) parameters: Parameters,
    /// The configuration files of the model, by name.
    files: Vec<(String, Vec<u8>)>,
}

impl TrainableModel {
    /// Finds, downloads where necessary, and reads the weights of a model.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unsupported`], where the network cannot be trained; [`ModelError`] otherwise, naming the file, tensor or field at
    /// fault.
    pub fn load(
        source: &ModelSource,
        device: ModelDevice,
        hub: &HubSettings,
        progress: Option<&ProgressBar>,
    ) -> Result<Self, ModelError> {
        let mut files = ModelFiles::open(source, hub, progress)?;
        let label = files.label(CONFIG);
        let config = ModelConfig::from_json(&label, files.require(CONFIG)?)?;
        check(&label, &config, &parse_json(&label, files.require(CONFIG)?)?)?;
        let weights = Weights::new(std::mem::take(&mut files.weights))?;
        let config = config.with_output_as_in(&weights);
        let device = device.open()?;
        let failed = |error| ModelError::compute(&files.name, "making room for weights", &error);
        let mut parameters = BTreeMap::new();
        let has_sums = config.family.norm_weights_are_offsets() && weights.gguf().is_some();
        for named in named_shapes(&config) {
            let mut tensor = weights.stacked(std::slice::from_ref(&named), DType::F32, &device)?;
            if has_sums && named.0.ends_with("norm.weight") {
                // GGUF files have one more than the offsets that are trained.
                tensor = (tensor - 1.0).map_err(failed)?;
            }
            parameters.insert(named.0, Var::from_tensor(&tensor).map_err(failed)?);
        }
        let owned = files
            .configuration()
            .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
        Ok(Self {
            rope: Rope::new(&config),
            device,
            parameters: Parameters(parameters),
            files: owned.collect(),
            config,
            name: files.name,
        })
    }

    /// All weights by name, as 32-bit floats, each tensor row by row.
    ///
    /// # Errors
    ///
    /// [`ModelError::Compute`], where the device fails.
    pub fn weights(&self) -> Result<BTreeMap<String, Vec<f32>>, ModelError> {
        let failed = |error| ModelError::compute(&self.name, "reading weights", &error);
        let all = self.parameters.iter().map(|(name, var)| {
            let numbers = var.flatten_all().and_then(|flat| flat.to_vec1::<f32>());
            Ok((name.clone(), numbers.map_err(failed)?))
        });
        all.collect()
    }

    /// Writes the model into `directory` in Hugging Face layout, its weights as 32-bit floats.
    ///
    /// # Errors
    ///
    /// [`ModelError::Write`].
    pub fn write(&self, directory: &Path) -> Result<(), ModelError> {
        for (name, bytes) in &self.files {
            match name == CONFIG {
                true => write_file(&directory.join(name), &self.configuration(bytes)?)?,
                false => write_file(&directory.join(name), bytes)?,
            }
        }
        write_file(&directory.join(WEIGHTS), &self.safetensors()?)
    }

    /// config.json with the number format that the weights are written in.
    fn configuration(&self, bytes: &[u8]) -> Result<Vec<u8>, ModelError> {
        let mut config = parse_json(&format!("{}: {CONFIG}", self.name), bytes)?;
        let field = if config.get("dtype").is_some() {
            "dtype"
        } else {
            "torch_dtype"
        };
        config[field] = "float32".into();
        Ok(format!("{config:#}\n").into_bytes())
    }

    fn safetensors(&self) -> Result<Vec<u8>, ModelError> {
        let tensors = self.parameters.iter();
        let tensors = tensors.map(|(name, var)| (name.clone(), var.as_tensor().clone()));
        safetensors_of(&self.name, tensors)
    }

    /// The norm behind the last layer.
    pub(super) fn final_norm(&self) -> NamedShape {
        self.config.final_norm()
    }

    /// The matrix that gives logits: that of the embeddings, where they are tied.
    pub(super) fn output(&self) -> String {
        let output = self.config.untied_output();
        output.unwrap_or_else(|| self.config.embeddings()).weight().0
    }

    /// The variable of `name` becomes `tensor`.
    pub(super) fn set(&self, name: &str, tensor: &Tensor) -> candle_core::Result<()> {
        self.parameters.get(name)?.set(tensor)
    }
}

/// The tensors of a network that can be trained, with their shapes.
fn named_shapes(config: &ModelConfig) -> Vec<NamedShape> {
    let layers: Vec<LayerShapes> = (0..config.layers).map(|layer| config.layer(layer)).collect();
    let (embeddings, output) = (config.embeddings(), config.untied_output());
    let matrices = std::iter::once(&embeddings)
        .chain(layers.iter().flat_map(LayerShapes::matrices))
        .chain(&output);
    let with_bias = |matrix: &MatrixShape| [Some(matrix.weight()), matrix.bias()];
    let norms = layers.iter().flat_map(LayerShapes::norms);
    let norms = norms.chain([config.final_norm()]);
    matrices.flat_map(with_bias).flatten().chain(norms).collect()
}

/// Errs where the network has parts that gradients are not known of.
fn check(file: &str, config: &ModelConfig, written: &Value) -> Result<(), ModelError> {
    let is_attention = |mixer: &Mixer| matches!(mixer, Mixer::Attention { .. });
    let part = if config.experts.is_some() {
        "experts"
    } else if !config.mixers.iter().all(is_attention) {
        "layers without attention"
    } else if config.gemma4.is_some() {
        "keys and embeddings that layers share"
    } else if config.family.has_sinks() || config.family.gates_attention() {
        "attention with sinks or gates"
    } else if matches!(config.activation, Activation::ClampedSwish { .. }) {
        "a clamped swish"
    } else if written.get("vision_config").is_some() {
        "a part that sees pictures"
    } else {
        return Ok(());
    };
    Err(ModelError::Unsupported {
        file: file.to_owned(),
        what: format!("training a network with {part} ({})", config.family.architecture()),
        hint: format!(
            "models whose layers all have attention and one feed-forward part can be trained, such as those of {}",
            [Family::Llama, Family::Qwen2, Family::Qwen3]
                .map(Family::architecture)
                .join(", ")
        ),
    })
}
