//! [`Transformer`]: the Llama, Qwen2 and Qwen3 families as a [`LanguageModel`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::{DType, Device, Tensor};

use crate::error::ModelError;
use crate::language_model::{LanguageModel, Snapshot, check_finite};
use crate::load::config::ModelConfig;
use crate::load::weights::Weights;
use crate::network::kv_cache::{CpuCache, TensorCache};
use crate::network::layers::Network;
use crate::network::rope::Rope;
use crate::network::{cpu_forward, tensor_forward};

/// Tokens of a long prompt that go through the layers at once, which bounds the memory of attention scores.
const PROMPT_CHUNK: usize = 512;

/// The key-value cache, whose kind decides how forward passes are computed.
#[derive(Debug)]
enum Cache {
    Cpu(CpuCache),
    Tensors(TensorCache),
}

/// A model of one of the [`Family`](crate::Family)s, with its weights and one sequence.
///
/// On the CPU, arithmetic is in 32-bit floats whatever format the weights are kept in; on other devices it is
/// in the weights' format.
#[derive(Debug)]
pub struct Transformer {
    name: String,
    config: ModelConfig,
    network: Network,
    rope: Rope,
    device: Device,
    dtype: DType,
    cache: Cache,
    /// End position and unique mark of each append that is part of the sequence.
    appends: Vec<(usize, u64)>,
    threads: Option<Arc<rayon::ThreadPool>>,
}

/// Marks of appends, unique in the process; 0 is the start of every sequence.
static NEXT_MARK: AtomicU64 = AtomicU64::new(1);

impl Transformer {
    /// Builds the model that `config` describes from `weights`, kept as `dtype` on `device`.
    ///
    /// Errors call the model `name`. Work on the CPU runs in the pool `threads`, or without one in rayon's global pool.
    pub(crate) fn new(
        name: &str,
        config: ModelConfig,
        weights: &Weights,
        dtype: DType,
        device: &Device,
        threads: Option<Arc<rayon::ThreadPool>>,
    ) -> Result<Self, ModelError> {
        let network = Network::read(&config, weights, dtype, device)?;
        let cache = if device.is_cpu() {
            Cache::Cpu(CpuCache::new(&config))
        } else {
            Cache::Tensors(TensorCache::new())
        };
        Ok(Self {
            name: name.to_owned(),
            rope: Rope::new(&config),
            config,
            network,
            device: device.clone(),
            dtype,
            cache,
            appends: Vec::new(),
            threads,
        })
    }

    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The format weights are kept in.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Switches the CPU to tensor operations, which other devices use, so that both ways can be compared.
    #[cfg(test)]
    pub(crate) fn use_tensor_operations(&mut self) {
        self.cache = Cache::Tensors(TensorCache::new());
        self.appends.clear();
    }

    /// Errs where `tokens` cannot be appended.
    fn check_tokens(&self, tokens: &[u32]) -> Result<(), ModelError> {
        if tokens.is_empty() {
            return Err(ModelError::NothingToAppend);
        }
        if tokens.len() > self.config.max_positions - self.position() {
            return Err(ModelError::ContextFull {
                position: self.position(),
                added: tokens.len(),
                max_positions: self.config.max_positions,
            });
        }
        match tokens.iter().find(|&&token| token as usize >= self.config.vocab_size) {
            Some(&token) => Err(ModelError::TokenOutOfRange {
                token,
                vocab_size: self.config.vocab_size,
            }),
            None => Ok(()),
        }
    }

    /// One forward pass, which appends `tokens` at `position`.
    fn forward(&mut self, position: usize, tokens: &[u32]) -> Result<Tensor, ModelError> {
        let failed = |error| ModelError::compute(&self.name, "a forward pass", &error);
        let (network, config, rope) = (&self.network, &self.config, &self.rope);
        match &mut self.cache {
            Cache::Tensors(cache) => {
                let place = (&self.device, self.dtype);
                tensor_forward::forward(network, config, rope, cache, place, position, tokens).map_err(failed)
            }
            Cache::Cpu(cache) => {
                let mut run = || cpu_forward::forward(network, config, rope, cache, position, tokens);
                let logits = match &self.threads {
                    Some(pool) => pool.install(run),
                    None => run(),
                };
                let logits = logits.map_err(failed)?;
                check_finite(&self.name, &logits)?;
                Tensor::from_vec(logits, config.vocab_size, &Device::Cpu).map_err(failed)
            }
        }
    }
}

impl LanguageModel for Transformer {
    fn vocab_size(&self) -> usize {
        self.config.vocab_size
    }

    fn max_positions(&self) -> usize {
        self.config.max_positions
    }

    fn position(&self) -> usize {
        self.appends.last().map_or(0, |(position, _)| *position)
    }

    fn append(&mut self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        self.check_tokens(tokens)?;
        let mut position = self.position();
        let mut logits = None;
        for chunk in tokens.chunks(PROMPT_CHUNK) {
            logits = Some(self.forward(position, chunk)?);
            position += chunk.len();
        }
        // Only now do the tokens count: after an error above, what is in the cache past them is overwritten.
        self.appends.push((position, NEXT_MARK.fetch_add(1, Ordering::Relaxed)));
        logits.ok_or(ModelError::NothingToAppend)
    }

    fn snapshot(&self) -> Snapshot {
        let (position, mark) = self.appends.last().copied().unwrap_or((0, 0));
        Snapshot::new(position, mark)
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), ModelError> {
        let end = (snapshot.position(), snapshot.mark());
        if end == (0, 0) {
            self.reset();
            return Ok(());
        }
        match self.appends.binary_search(&end) {
            Ok(index) => {
                self.appends.truncate(index + 1);
                Ok(())
            }
            Err(_) => Err(ModelError::StaleSnapshot {
                position: snapshot.position(),
            }),
        }
    }

    fn reset(&mut self) {
        self.appends.clear();
    }

    fn thread_pool(&self) -> Option<Arc<rayon::ThreadPool>> {
        self.threads.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language_model::logits_to_host;
    use crate::load::weights::WeightBytes;
    use crate::{Family, RandomCheckpoint, WeightFormat};

    /// GPUs run by tensor operations, which the CPU can do as well.
    #[test]
    fn tensor_operations_compute_what_the_loops_compute() {
        for family in Family::ALL {
            let directory = tempfile::tempdir().unwrap();
            let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
            checkpoint.format = WeightFormat::F32;
            checkpoint.write(directory.path()).unwrap();
            let config = std::fs::read(directory.path().join("config.json")).unwrap();
            let config = ModelConfig::from_json("config.json", &config).unwrap();
            let bytes = WeightBytes::map(&directory.path().join("model.safetensors")).unwrap();
            let weights = Weights::new(vec![("model.safetensors".to_owned(), bytes)]).unwrap();
            let mut model = Transformer::new("test", config, &weights, DType::F32, &Device::Cpu, None).unwrap();
            let run = |model: &mut Transformer| {
                // Past the first capacity of the caches, and past what goes through at once.
                let parts: [&[u32]; 5] = [&[1, 2, 3], &[4], &[7; 300], &[5, 6], &[8; 600]];
                let mut all = Vec::new();
                for part in parts {
                    let mut logits = Vec::new();
                    logits_to_host(&model.append(part).unwrap(), &mut logits).unwrap();
                    all.extend(logits);
                }
                all
            };
            let by_loops = run(&mut model);
            model.use_tensor_operations();
            let by_tensors = run(&mut model);
            let difference = by_loops
                .iter()
                .zip(&by_tensors)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(difference < 1e-3, "{family:?}: {difference}");
        }
    }
}
