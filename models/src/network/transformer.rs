//! [`Transformer`]: a network of any [`Family`](crate::Family) as a [`LanguageModel`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::{DType, Device, Tensor};
#[cfg(any(feature = "cuda", test))]
use maskwright::{TokenId, TokenMask};

use crate::error::ModelError;
use crate::language_model::{LanguageModel, Snapshot, check_finite};
use crate::load::config::ModelConfig;
use crate::load::weights::Weights;
#[cfg(any(feature = "cuda", test))]
use crate::network::gpu::{choice::DeviceChoice, kernels::MAX_TOKENS, passes::GpuPasses};
use crate::network::kv_cache::{CpuCache, TensorCache};
use crate::network::layers::Network;
use crate::network::matrices::format::MatrixFormat;
use crate::network::recurrent::rollback::Rollback;
use crate::network::rope::Rope;
use crate::network::{cpu, tensors};
#[cfg(any(feature = "cuda", test))]
use crate::{choice::Choice, language_model::logits_to_host};

/// Tokens of a long prompt that go through the layers at once, which bounds the memory of attention scores.
pub(crate) const PROMPT_CHUNK: usize = 512;

/// Tokens of an append from which its end is remembered for rollbacks, in models that keep more than keys and values: a prompt, mostly.
const REMEMBERED_FROM: usize = 32;

/// Number of tokens that a GPU's cache has room for when the model has been loaded, and the most for which an answer reserves memory.
pub(crate) const FIRST_ROOM: usize = 4096;
/// The most tokens that go through the layers as short passes, where a GPU has its own kernels for these.
#[cfg(any(feature = "cuda", test))]
const SHORT_APPEND: usize = 2 * MAX_TOKENS;

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
    /// Forward passes and choices computed by our own GPU kernels.
    #[cfg(any(feature = "cuda", test))]
    gpu: Option<GpuPasses>,
    /// End position and unique mark of each append that is part of the sequence.
    appends: Vec<(usize, u64)>,
    /// The tokens of the sequence, and after a rollback more; kept only for what has to be computed again then.
    tokens: Vec<u32>,
    threads: Option<Arc<rayon::ThreadPool>>,
}

/// Marks of appends, unique in the process; 0 is the start of every sequence.
static NEXT_MARK: AtomicU64 = AtomicU64::new(1);

impl Transformer {
    /// Builds the model that `config` describes from `weights`, kept in `format` on `device`.
    ///
    /// Errors call the model `name`. Work on the CPU runs in the pool `threads`, or without one in rayon's global pool.
    pub(crate) fn new(
        name: &str,
        config: ModelConfig,
        weights: &Weights,
        format: &MatrixFormat,
        device: &Device,
        threads: Option<Arc<rayon::ThreadPool>>,
    ) -> Result<Self, ModelError> {
        let config = config.with_experts_as_in(weights);
        let (network, dtype) = (Network::read(&config, weights, format, device)?, format.dtype());
        let rope = Rope::new(&config);
        #[cfg(any(feature = "cuda", test))]
        let gpu = GpuPasses::of(name, (&network, &config, &rope), format, device)?;
        // Of formats with kernels, tests have models on the CPU.
        #[cfg(any(feature = "cuda", test))]
        let by_tensors = gpu.is_some();
        #[cfg(not(any(feature = "cuda", test)))]
        let by_tensors = !device.is_cpu();
        let cache = match by_tensors {
            false => CpuCache::new(&config).map(Cache::Cpu),
            true => TensorCache::new(&config, dtype, device).map(Cache::Tensors),
        };
        let cache = cache.map_err(|error| ModelError::compute(name, "making room for a sequence", &error))?;
        #[cfg_attr(
            not(any(feature = "cuda", test)),
            expect(unused_mut, reason = "only GPUs are warmed up")
        )]
        let mut model = Self {
            name: name.to_owned(),
            rope,
            config,
            network,
            device: device.clone(),
            dtype,
            cache,
            #[cfg(any(feature = "cuda", test))]
            gpu,
            appends: Vec::new(),
            tokens: Vec::new(),
            threads,
        };
        #[cfg(any(feature = "cuda", test))]
        model.warm_up()?;
        Ok(model)
    }

    /// On a GPU, launches each kernel once, which loads it, and waits, so that nothing of loading is left for the first answer.
    #[cfg(any(feature = "cuda", test))]
    fn warm_up(&mut self) -> Result<(), ModelError> {
        if self.gpu.is_none() {
            return Ok(());
        }
        self.make_room(FIRST_ROOM)?;
        // Tests have no tensor operations in 16 bits.
        let longest = if self.device.is_cpu() {
            MAX_TOKENS
        } else {
            SHORT_APPEND + 1
        };
        for tokens in [1, 2, 4, MAX_TOKENS, longest] {
            let tokens = tokens.min(self.config.max_positions);
            let logits = self.append(&vec![0; tokens])?;
            self.choose(&logits, None, Choice::Likeliest)?;
            self.reset();
        }
        if let Some(gpu) = &mut self.gpu {
            gpu.warm = true;
        }
        self.make_room(FIRST_ROOM)
    }

    /// Makes room for `tokens` tokens in all, or as many as a sequence can have.
    #[cfg(any(feature = "cuda", test))]
    fn make_room(&mut self, tokens: usize) -> Result<(), ModelError> {
        let (needed, kept) = (tokens.min(self.config.max_positions), self.position());
        let failed = |error| ModelError::compute(&self.name, "making room in the key-value cache", &error);
        if let Cache::Tensors(cache) = &mut self.cache {
            cache
                .reserve(&self.config, self.dtype, &self.device, kept, needed)
                .map_err(failed)?;
            if let Some(GpuPasses {
                short: Some(short),
                warm,
                ..
            }) = &mut self.gpu
            {
                short.use_cache(cache, *warm).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The format weights are kept in; F32 where each matrix of a GGUF file has its own.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Switches the CPU to tensor operations, which other devices use, so that both ways can be compared.
    #[cfg(test)]
    pub(crate) fn use_tensor_operations(&mut self) {
        self.cache = Cache::Tensors(TensorCache::new(&self.config, self.dtype, &self.device).unwrap());
        self.appends.clear();
    }

    /// Switches the CPU to the methods of GPUs: tensor operations for long passes, the emulated kernels for short ones and for
    /// choices.
    #[cfg(test)]
    pub(crate) fn use_gpu_passes(&mut self) -> Arc<crate::network::gpu::emulation::Emulation> {
        self.use_tensor_operations();
        let emulation = crate::network::gpu::emulation::Emulation::new(self.dtype);
        let kernels = crate::network::gpu::kernels::Kernels::Emulated(Arc::clone(&emulation));
        let network = (&self.network, &self.config, &self.rope);
        let gpu = GpuPasses::new(kernels, &self.name, network, (&self.device, self.dtype)).unwrap();
        assert!(gpu.short.is_some(), "the kernels fit the shape");
        self.gpu = Some(gpu);
        self.warm_up().unwrap();
        emulation
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

    /// Number of tokens that go through the layers at once, where `tokens` are appended to `position` others.
    fn chunk(&self, position: usize, tokens: usize) -> usize {
        #[cfg(any(feature = "cuda", test))]
        if tokens <= SHORT_APPEND && self.gpu.as_ref().is_some_and(|gpu| gpu.short.is_some()) {
            return MAX_TOKENS;
        }
        self.prompt_chunk(position + tokens)
    }

    /// Largest number of tokens that go through the layers at once up to the token at `end`. Candle's kernels have 32-bit indices: there may be
    /// at most 2³¹ scores of attention, for each head and token those to all earlier tokens and to a sink.
    fn prompt_chunk(&self, end: usize) -> usize {
        let a_token = self.config.heads * (end + 1);
        (i32::MAX as usize / a_token.max(1)).clamp(1, PROMPT_CHUNK)
    }

    /// Returns the layer states beside keys and values that a rollback has to restore; `None` where the model has no such layers.
    fn rollback_state(&mut self) -> Option<&mut dyn Rollback> {
        match &mut self.cache {
            Cache::Cpu(cache) => cache.states.rollback(),
            Cache::Tensors(cache) => cache.states.rollback(),
        }
    }

    /// Brings the layer states beside keys and values to `position`; after a rollback far back, by forward passes over the tokens
    /// before it. Returns false if `is_stopped` did after one of them.
    fn resume_state(&mut self, position: usize, is_stopped: &dyn Fn() -> bool) -> Result<bool, ModelError> {
        let Some(state) = self.rollback_state() else {
            return Ok(true);
        };
        state.forget_after(position);
        let resumed = state.resume(position);
        let mut from = resumed.map_err(|error| ModelError::compute(&self.name, "a rollback", &error))?;
        self.tokens.truncate(position);
        let again = self.tokens[from..].to_vec();
        for chunk in again.chunks(self.prompt_chunk(position)) {
            self.forward(from, chunk)?;
            from += chunk.len();
            if is_stopped() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps the state that a later rollback needs, when `tokens` have been appended and the sequence ends at `position`.
    fn keep_state(&mut self, position: usize, tokens: &[u32]) -> Result<(), ModelError> {
        let Some(state) = self.rollback_state() else {
            return Ok(());
        };
        if tokens.len() >= REMEMBERED_FROM {
            let kept = state.remember(position);
            kept.map_err(|error| ModelError::compute(&self.name, "keeping what a rollback needs", &error))?;
        }
        self.tokens.extend_from_slice(tokens);
        Ok(())
    }

    /// One forward pass, which appends `tokens` at `position`.
    fn forward(&mut self, position: usize, tokens: &[u32]) -> Result<Tensor, ModelError> {
        let failed = |error| ModelError::compute(&self.name, "a forward pass", &error);
        let (network, config, rope) = (&self.network, &self.config, &self.rope);
        match &mut self.cache {
            Cache::Tensors(cache) => {
                let place = (&self.device, self.dtype);
                #[cfg(any(feature = "cuda", test))]
                if tokens.len() <= MAX_TOKENS
                    && let Some(GpuPasses { short: Some(short), .. }) = &mut self.gpu
                {
                    return short.forward(position, tokens).map_err(failed);
                }
                tensors::forward::forward(network, config, rope, cache, place, position, tokens).map_err(failed)
            }
            Cache::Cpu(cache) => {
                let mut run = || cpu::forward::forward(network, config, rope, cache, position, tokens);
                let logits = match &self.threads {
                    Some(pool) => pool.install(run),
                    None => run(),
                };
                let logits = logits.map_err(failed)?;
                check_finite(&self.name, self.dtype, &logits)?;
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
        let logits = self.append_unless(tokens, &|| false)?;
        logits.ok_or(ModelError::NothingToAppend)
    }

    fn append_unless(&mut self, tokens: &[u32], is_stopped: &dyn Fn() -> bool) -> Result<Option<Tensor>, ModelError> {
        self.check_tokens(tokens)?;
        let mut position = self.position();
        let mut logits = None;
        if !self.resume_state(position, is_stopped)? {
            return Ok(None);
        }
        #[cfg(any(feature = "cuda", test))]
        if self.gpu.is_some() {
            self.make_room(position + tokens.len())?;
        }
        for chunk in tokens.chunks(self.chunk(position, tokens.len())) {
            if logits.is_some() && is_stopped() {
                return Ok(None);
            }
            logits = Some(self.forward(position, chunk)?);
            position += chunk.len();
        }
        self.keep_state(position, tokens)?;
        // Only now do the tokens count: after an error or a stop above, what is in the cache past them is overwritten.
        self.appends.push((position, NEXT_MARK.fetch_add(1, Ordering::Relaxed)));
        Ok(logits)
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

    fn reserve(&mut self, tokens: usize) -> Result<(), ModelError> {
        if let Cache::Cpu(cache) = &mut self.cache {
            cache.reserve(&self.config, tokens.min(self.config.max_positions));
        }
        #[cfg(any(feature = "cuda", test))]
        self.make_room(tokens)?;
        Ok(())
    }

    #[cfg(any(feature = "cuda", test))]
    fn chooses_on_device(&self) -> bool {
        self.gpu.is_some()
    }

    #[cfg(any(feature = "cuda", test))]
    fn choose(
        &mut self,
        logits: &Tensor,
        mask: Option<&TokenMask>,
        choice: Choice,
    ) -> Result<Option<TokenId>, ModelError> {
        let Some(gpu) = &mut self.gpu else {
            let mut host = Vec::new();
            logits_to_host(logits, &mut host)?;
            return Ok(choice.among(&host, mask));
        };
        let failed = |error| ModelError::compute(&self.name, "choosing a token", &error);
        match gpu.chooser.choose(logits, mask, choice).map_err(failed)? {
            DeviceChoice::Chosen(token) => Ok(token),
            DeviceChoice::NotFinite(token) => {
                let value = logits.get(token as usize).and_then(|logit| logit.to_scalar());
                Err(ModelError::NonFiniteLogits {
                    model: self.name.clone(),
                    dtype: self.dtype,
                    token: token as usize,
                    value: value.map_err(failed)?,
                })
            }
        }
    }

    #[cfg(any(feature = "cuda", test))]
    fn is_computing(&self) -> bool {
        self.gpu.as_ref().is_some_and(|gpu| gpu.kernels.is_busy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::weights::WeightBytes;
    use crate::{Family, RandomCheckpoint, WeightFormat};

    /// GPUs run by tensor operations, which the CPU can do as well.
    #[test]
    fn tensor_operations_compute_what_the_loops_compute() {
        for family in Family::ALL {
            let directory = tempfile::tempdir().unwrap();
            let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
            checkpoint.format = WeightFormat::F32;
            for field in ["max_position_embeddings", "original_max_position_embeddings"] {
                checkpoint.config[field] = 2048.into();
            }
            checkpoint.write(directory.path()).unwrap();
            let config = std::fs::read(directory.path().join("config.json")).unwrap();
            let config = ModelConfig::from_json("config.json", &config).unwrap();
            let bytes = WeightBytes::map(&directory.path().join("model.safetensors")).unwrap();
            let weights = Weights::new(vec![("model.safetensors".to_owned(), bytes)]).unwrap();
            let format = MatrixFormat::Converted(DType::F32);
            let mut model = Transformer::new("test", config, &weights, &format, &Device::Cpu, None).unwrap();
            let run = |model: &mut Transformer| {
                // Past the first capacity of the caches, past what goes through at once, and past what convolutions keep.
                let parts: [&[u32]; 6] = [&[1, 2, 3], &[4], &[7; 300], &[5, 6], &[8; 600], &[9; 600]];
                let mut all = Vec::new();
                let mut snapshots = Vec::new();
                let mut append = |model: &mut Transformer, part: &[u32]| {
                    let mut logits = Vec::new();
                    logits_to_host(&model.append(part).unwrap(), &mut logits).unwrap();
                    all.extend(logits);
                };
                for part in parts {
                    append(model, part);
                    snapshots.push(model.snapshot());
                }
                for snapshot in [&snapshots[2], &snapshots[1]] {
                    model.restore(snapshot).unwrap();
                    append(model, &[10, 11]);
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
