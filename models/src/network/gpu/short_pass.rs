//! [`ShortPass`]: a forward pass over few tokens by the kernels of `cuda/short_pass.cu`, five launches a layer.

use candle_core::{DType, Device, Error, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::network::gpu::kernels::{Argument, Kernel, Kernels, MAX_TOKENS, Recording, address};
use crate::network::gpu::weights::{LayerAddresses, Part, TOKEN_COUNTS, WeightAddresses};
use crate::network::kv_cache::TensorCache;
use crate::network::layers::Network;
use crate::network::rope::Rope;

/// Threads of a block, `BLOCK` of the kernels.
const BLOCK: u32 = 128;
/// Warps of a block, `WARPS` of the kernels.
const WARPS: usize = 4;
/// Rows that a warp multiplies at once, `ROWS` of the kernels.
const ROWS: usize = 2;
/// Threads of a block that copies embeddings.
const EMBED_BLOCK: u32 = 256;
/// The numbers of query heads to a key head that the attention is compiled for; others are padded to the next.
const GROUPS: [usize; 3] = [1, 4, 8];
/// The sizes of a head, in packs of 16 bytes, that the attention is compiled for.
const HEAD_PACKS: [usize; 4] = [4, 8, 16, 32];
/// The most parts that the keys are divided into.
const MAX_PARTS: usize = 64;
/// Logits of this many passes stay as they were while later ones are computed.
const KEPT_LOGITS: usize = 4;

/// A product that a pass makes.
#[derive(Clone, Copy, Debug)]
enum Product {
    /// Queries, keys and values of normed vectors.
    Qkv,
    /// A product that is added to the residual vectors.
    Add,
    /// The gated halves of a feed-forward part, of normed vectors.
    GateUp,
    /// Logits of a normed vector.
    Logits,
}

/// Kernels, addresses and memory of the passes over few tokens, allocated once.
#[derive(Debug)]
pub(crate) struct ShortPass {
    kernels: Kernels,
    attention: Kernel,
    config: ModelConfig,
    weights: WeightAddresses,
    /// Keys and values of each layer.
    cache: Vec<[u64; 2]>,
    /// Number of tokens that `cache` has room for.
    capacity: usize,
    /// The launches of all layers of a pass over one token, with `cache` as it is.
    one_token: Option<Recording>,
    buffers: Buffers,
    /// Number of parts that the keys are divided into, at most.
    parts: usize,
    next_logits: usize,
}

/// Memory of the passes, as tensors that own it.
#[derive(Debug)]
struct Buffers {
    x: Tensor,
    qkv: Tensor,
    mixed: Tensor,
    gated: Tensor,
    parts: Tensor,
    counters: Tensor,
    position: Tensor,
    frequencies: Tensor,
    angles: Tensor,
    logits: Vec<Tensor>,
}

/// Whether the kernels are compiled for the shape of `config`, with keys and values kept as `dtype`.
pub(crate) fn has_kernels(config: &ModelConfig, dtype: DType) -> bool {
    let pack = 16 / dtype.size_in_bytes();
    let packed = [
        config.hidden_size,
        config.intermediate_size,
        config.heads * config.head_dim,
    ];
    config.is_plain()
        && packed.iter().all(|width| width.is_multiple_of(pack))
        && config.head_dim.is_multiple_of(pack)
        && HEAD_PACKS.contains(&(config.head_dim / pack))
        && config.heads / config.kv_heads <= GROUPS[GROUPS.len() - 1]
}

/// Number of bytes that the passes keep on the device beside weights and cache.
pub(crate) fn scratch_bytes(config: &ModelConfig) -> u64 {
    let heads = (config.heads + 2 * config.kv_heads) * config.head_dim;
    let parts = config.heads * MAX_PARTS * (config.head_dim + 2);
    let floats = MAX_TOKENS * (2 * config.hidden_size + 2 * heads + config.intermediate_size + parts);
    ((floats + KEPT_LOGITS * config.vocab_size) * size_of::<f32>()) as u64
}

impl ShortPass {
    /// Passes of `network` by `kernels`; `None` where these are not compiled for its shape.
    pub(crate) fn new(
        kernels: &Kernels,
        network: &Network,
        config: &ModelConfig,
        rope: &Rope,
        (device, dtype): (&Device, DType),
    ) -> Result<Option<Self>> {
        if !has_kernels(config, dtype) {
            return Ok(None);
        }
        let Some(weights) = WeightAddresses::of(network, kernels, device)? else {
            return Ok(None);
        };
        let parts = kernels.multiprocessors().div_ceil(config.kv_heads).clamp(1, MAX_PARTS);
        Ok(Some(Self {
            attention: attention_kernel(kernels, config, dtype)?,
            kernels: kernels.clone(),
            config: config.clone(),
            weights,
            cache: Vec::new(),
            capacity: 0,
            one_token: None,
            buffers: Buffers::new(config, rope, device, parts)?,
            parts,
            next_logits: 0,
        }))
    }

    /// Takes the addresses of a cache whose memory is new, and records the launches of a pass over one token.
    ///
    /// Kernels are loaded by their first launch, which cannot be recorded: `warm` says that there has been one.
    pub(crate) fn use_cache(&mut self, cache: &TensorCache, warm: bool) -> Result<()> {
        if self.capacity != cache.capacity() {
            self.one_token = None;
            let of_layer = |[keys, values]: &[Tensor; 2]| Ok([address(keys)?, address(values)?]);
            self.cache = cache.layers().iter().map(of_layer).collect::<Result<_>>()?;
            self.capacity = cache.capacity();
        }
        if warm && self.one_token.is_none() {
            self.kernels.enter()?;
            self.one_token = self.kernels.record(|| self.launch_layers(1))?;
        }
        Ok(())
    }

    /// Launches a pass that appends `tokens`, at most [`MAX_TOKENS`], at `position`; returns the logits after the last one,
    /// `[vocab_size]`. They stay as they are until [`KEPT_LOGITS`] more passes have been launched.
    pub(crate) fn forward(&mut self, position: usize, tokens: &[u32]) -> Result<Tensor> {
        if tokens.is_empty() || tokens.len() > MAX_TOKENS || position + tokens.len() > self.capacity {
            return Err(Error::Msg(format!("{} tokens at {position} do not fit", tokens.len())));
        }
        self.kernels.enter()?;
        let (config, buffers) = (&self.config, &self.buffers);
        let mut padded = [0; MAX_TOKENS];
        padded[..tokens.len()].copy_from_slice(tokens);
        let arguments = [
            Argument::Pointer(self.weights.embeddings.weights),
            Argument::Tokens(padded),
            Argument::size(position),
            Argument::Pointer(address(&buffers.position)?),
            Argument::Pointer(address(&buffers.x)?),
            Argument::size(config.hidden_size),
            Argument::Pointer(address(&buffers.frequencies)?),
            Argument::Pointer(address(&buffers.angles)?),
            Argument::size(config.head_dim / 2),
        ];
        let blocks = [tokens.len() as u32, 1, 1];
        let embed = &self.weights.embeddings.kernels.embed;
        self.kernels.launch(embed, blocks, EMBED_BLOCK, &arguments)?;
        match &self.one_token {
            Some(recording) if tokens.len() == 1 => Kernels::replay(recording)?,
            _ => self.launch_layers(tokens.len())?,
        }
        let logits = buffers.logits[self.next_logits].clone();
        self.next_logits = (self.next_logits + 1) % KEPT_LOGITS;
        let last = address(&buffers.x)? + ((tokens.len() - 1) * config.hidden_size * size_of::<f32>()) as u64;
        let (output, norm) = (&self.weights.output, self.weights.final_norm);
        // The next pass begins with it.
        let next = self.weights.layers.first().map_or(output, |layer| &layer.qkv[0]);
        let logits_at = address(&logits)?;
        self.product(
            Product::Logits,
            1,
            std::slice::from_ref(output),
            norm,
            (last, logits_at),
            config.hidden_size,
            next,
        )?;
        Ok(logits)
    }

    /// Launches all layers over the vectors of `tokens` tokens in `x`.
    fn launch_layers(&self, tokens: usize) -> Result<()> {
        let config = &self.config;
        let (hidden, queries) = (config.hidden_size, config.heads * config.head_dim);
        let [x, qkv, mixed, gated] = self.buffers.activations()?;
        let layers = &self.weights.layers;
        let after = layers
            .iter()
            .skip(1)
            .map(|layer| &layer.qkv[0])
            .chain([&self.weights.output]);
        let one = std::slice::from_ref::<Part>;
        for ((layer, cache), after) in layers.iter().zip(&self.cache).zip(after) {
            let (norm, next) = (layer.attention_norm, &layer.attention_output);
            self.product(Product::Qkv, tokens, &layer.qkv, norm, (x, qkv), hidden, next)?;
            self.attention(layer, *cache, tokens)?;
            self.product(Product::Add, tokens, one(next), 0, (mixed, x), queries, &layer.gate_up)?;
            let (norm, next) = (layer.feed_forward_norm, &layer.down);
            self.product(
                Product::GateUp,
                tokens,
                one(&layer.gate_up),
                norm,
                (x, gated),
                hidden,
                next,
            )?;
            self.product(
                Product::Add,
                tokens,
                one(next),
                0,
                (gated, x),
                config.intermediate_size,
                after,
            )?;
        }
        Ok(())
    }

    /// Launches a product of the parts of a matrix, of `inputs` columns, with the vectors of so many tokens at `from`, to `to`; `next`
    /// is the matrix of the product after it.
    #[allow(clippy::too_many_arguments)]
    fn product(
        &self,
        product: Product,
        tokens: usize,
        parts: &[Part],
        norm: u64,
        (from, mut to): (u64, u64),
        inputs: usize,
        next: &Part,
    ) -> Result<()> {
        let index = TOKEN_COUNTS
            .iter()
            .position(|&count| count >= tokens)
            .unwrap_or_default();
        let all: usize = parts.iter().map(|part| part.rows).sum();
        for (part, next) in parts.iter().zip(parts.iter().skip(1).chain([next])) {
            let kernels = &part.kernels;
            let (kernel, outputs, rows_per_block) = match product {
                Product::Qkv => (&kernels.qkv[index], part.rows, ROWS),
                Product::Add => (&kernels.add_product[index], part.rows, ROWS),
                Product::GateUp => (&kernels.gate_up[index], part.rows / 2, WARPS),
                Product::Logits => (&kernels.logits, part.rows, ROWS * WARPS),
            };
            let stride = match product {
                Product::GateUp => outputs,
                Product::Qkv | Product::Add | Product::Logits => all,
            };
            let arguments = [
                Argument::Pointer(part.weights),
                Argument::Pointer(part.bias),
                Argument::Pointer(norm),
                Argument::Float(self.config.rms_norm_eps),
                Argument::Pointer(from),
                Argument::Pointer(to),
                Argument::size(inputs),
                Argument::size(outputs),
                Argument::size(stride),
                Argument::Pointer(next.weights),
                Argument::size(next.lines),
            ];
            let blocks = [outputs.div_ceil(rows_per_block) as u32, 1, 1];
            self.kernels.launch(kernel, blocks, BLOCK, &arguments)?;
            to += (outputs * size_of::<f32>()) as u64;
        }
        Ok(())
    }

    /// Launches the attention of a layer.
    fn attention(&self, layer: &LayerAddresses, [keys, values]: [u64; 2], tokens: usize) -> Result<()> {
        let (config, buffers) = (&self.config, &self.buffers);
        let [_, qkv, mixed, _] = buffers.activations()?;
        let arguments = [
            Argument::Pointer(qkv),
            Argument::Pointer(layer.query_norm),
            Argument::Pointer(layer.key_norm),
            Argument::Float(config.rms_norm_eps),
            Argument::Pointer(address(&buffers.angles)?),
            Argument::Pointer(keys),
            Argument::Pointer(values),
            Argument::Pointer(address(&buffers.position)?),
            Argument::Pointer(address(&buffers.parts)?),
            Argument::Pointer(address(&buffers.counters)?),
            Argument::Pointer(mixed),
            Argument::size(config.heads),
            Argument::size(config.kv_heads),
            Argument::size(self.capacity),
            Argument::Int(i32::from(self.weights.is_packed)),
            Argument::Pointer(layer.attention_output.weights),
            Argument::size(layer.attention_output.lines),
        ];
        let blocks = [self.parts as u32, config.kv_heads as u32, tokens as u32];
        self.kernels.launch(&self.attention, blocks, BLOCK, &arguments)
    }
}

/// The attention for heads of that shape, with keys and values kept as `dtype`.
fn attention_kernel(kernels: &Kernels, config: &ModelConfig, dtype: DType) -> Result<Kernel> {
    let packs = config.head_dim * dtype.size_in_bytes() / 16;
    let group = GROUPS.iter().find(|&&group| group >= config.heads / config.kv_heads);
    let group = group.ok_or_else(|| Error::Msg("too many heads to a key head".to_owned()))?;
    kernels.find(&format!("attention_{packs}_{group}"))
}

impl Buffers {
    fn new(config: &ModelConfig, rope: &Rope, device: &Device, parts: usize) -> Result<Self> {
        let floats = |len: usize| Tensor::zeros(MAX_TOKENS * len, DType::F32, device);
        let words = |len: usize| Tensor::zeros(len, DType::U32, device);
        let logits = (0..KEPT_LOGITS).map(|_| Tensor::zeros(config.vocab_size, DType::F32, device));
        Ok(Self {
            x: floats(config.hidden_size)?,
            qkv: floats((config.heads + 2 * config.kv_heads) * config.head_dim)?,
            mixed: floats(config.heads * config.head_dim)?,
            gated: floats(config.intermediate_size)?,
            parts: floats(config.heads * parts * (config.head_dim + 2))?,
            counters: words(MAX_TOKENS * config.kv_heads)?,
            position: words(1)?,
            frequencies: Tensor::new(rope.frequencies(), device)?,
            angles: floats(config.head_dim)?,
            logits: logits.collect::<Result<_>>()?,
        })
    }

    /// The addresses of `x`, `qkv`, `mixed` and `gated`.
    fn activations(&self) -> Result<[u64; 4]> {
        Ok([
            address(&self.x)?,
            address(&self.qkv)?,
            address(&self.mixed)?,
            address(&self.gated)?,
        ])
    }
}
