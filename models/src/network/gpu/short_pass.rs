//! [`ShortPass`]: a forward pass over few tokens by the kernels of `cuda/short_pass.cu`, five launches a layer.

use candle_core::{DType, Device, Error, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::network::gpu::kernels::{Argument, Kernel, Kernels, MAX_TOKENS, Recording, address};
use crate::network::kv_cache::TensorCache;
use crate::network::layers::{FeedForward, Layer, MixerWeights, Network};
use crate::network::matrices::linear::Linear;
use crate::network::rope::Rope;

/// Threads of a block, `BLOCK` of the kernels.
const BLOCK: u32 = 128;
/// Warps of a block, `WARPS` of the kernels.
const WARPS: usize = 4;
/// Rows that a warp multiplies at once, `ROWS` of the kernels.
const ROWS: usize = 2;
/// Threads of a block that copies embeddings.
const EMBED_BLOCK: u32 = 256;
/// The numbers of tokens that the products are compiled for; others are padded to the next.
const TOKEN_COUNTS: [usize; 4] = [1, 2, 4, MAX_TOKENS];
/// The numbers of query heads to a key head that the attention is compiled for; others are padded to the next.
const GROUPS: [usize; 3] = [1, 4, 8];
/// The sizes of a head, in packs of 16 bytes, that the attention is compiled for.
const HEAD_PACKS: [usize; 4] = [4, 8, 16, 32];
/// The most parts that the keys are divided into.
const MAX_PARTS: usize = 64;
/// Bytes that the cache reads at a time, `LINE` of the kernels.
const LINE: usize = 128;
/// The most lines of the next matrix that a kernel reads ahead: 4 MiB. On an H200 twice as much was slower, and none, too.
const LINES_AHEAD: usize = 32_768;
/// Logits of this many passes stay as they were while later ones are computed.
const KEPT_LOGITS: usize = 4;

/// A matrix on the device, and the address of its bias or 0.
#[derive(Debug, Clone, Copy)]
struct Matrix {
    weights: u64,
    bias: u64,
    /// Lines of the weights that are read ahead.
    lines: usize,
}

impl Matrix {
    fn of(linear: &Linear) -> Result<Self> {
        Ok(Self {
            weights: address(linear.weight()?)?,
            bias: linear.bias().map_or(Ok(0), address)?,
            lines: (linear.weight()?.elem_count() * linear.weight()?.dtype().size_in_bytes() / LINE).min(LINES_AHEAD),
        })
    }
}

/// The addresses of a layer's weights.
#[derive(Debug)]
struct LayerAddresses {
    attention_norm: u64,
    qkv: Matrix,
    query_norm: u64,
    key_norm: u64,
    attention_output: Matrix,
    feed_forward_norm: u64,
    gate_up: Matrix,
    down: Matrix,
}

impl LayerAddresses {
    /// The addresses of a layer, where it is of the shape that the kernels are made for.
    fn of(layer: &Layer) -> Result<Option<Self>> {
        let (MixerWeights::Attention(attention), FeedForward::Dense(gated)) = (&layer.mixer, &layer.feed_forward)
        else {
            return Ok(None);
        };
        let (Some(attention_norm), Some(feed_forward_norm)) =
            (&layer.mixer_norms.before, &layer.feed_forward_norms.before)
        else {
            return Ok(None);
        };
        let norm = |norm: &Option<Tensor>| norm.as_ref().map_or(Ok(0), address);
        Ok(Some(Self {
            attention_norm: address(attention_norm)?,
            qkv: Matrix::of(&attention.qkv)?,
            query_norm: norm(&attention.query_norm)?,
            key_norm: norm(&attention.key_norm)?,
            attention_output: Matrix::of(&attention.output)?,
            feed_forward_norm: address(feed_forward_norm)?,
            gate_up: Matrix::of(&gated.gate_up)?,
            down: Matrix::of(&gated.down)?,
        }))
    }
}

/// The kernels of a pass, those of products once for each of [`TOKEN_COUNTS`].
#[derive(Debug)]
struct PassKernels {
    embed: Kernel,
    qkv: Vec<Kernel>,
    attention: Kernel,
    add_product: Vec<Kernel>,
    gate_up: Vec<Kernel>,
    logits: Kernel,
}

/// What passes over few tokens need: kernels, addresses, and memory allocated once.
#[derive(Debug)]
pub(crate) struct ShortPass {
    kernels: Kernels,
    pass: PassKernels,
    config: ModelConfig,
    embeddings: u64,
    layers: Vec<LayerAddresses>,
    final_norm: u64,
    output: Matrix,
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

/// Whether the kernels are compiled for the shape of `config`, with weights kept as `dtype`.
fn has_kernels(config: &ModelConfig, dtype: DType) -> bool {
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
        let Some(layers) = network
            .layers
            .iter()
            .map(LayerAddresses::of)
            .collect::<Result<Option<Vec<_>>>>()?
        else {
            return Ok(None);
        };
        let parts = kernels.multiprocessors().div_ceil(config.kv_heads).clamp(1, MAX_PARTS);
        Ok(Some(Self {
            pass: PassKernels::find(kernels, config, dtype)?,
            kernels: kernels.clone(),
            config: config.clone(),
            embeddings: address(network.embeddings.weight()?)?,
            layers,
            final_norm: address(&network.final_norm)?,
            output: Matrix::of(&network.output)?,
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
            Argument::Pointer(self.embeddings),
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
        self.kernels.launch(&self.pass.embed, blocks, EMBED_BLOCK, &arguments)?;
        match &self.one_token {
            Some(recording) if tokens.len() == 1 => Kernels::replay(recording)?,
            _ => self.launch_layers(tokens.len())?,
        }
        let logits = buffers.logits[self.next_logits].clone();
        self.next_logits = (self.next_logits + 1) % KEPT_LOGITS;
        let last = address(&buffers.x)? + ((tokens.len() - 1) * config.hidden_size * size_of::<f32>()) as u64;
        let sizes = [config.hidden_size, config.vocab_size];
        let blocks = config.vocab_size.div_ceil(ROWS * WARPS);
        self.product(
            &self.pass.logits,
            self.output,
            self.final_norm,
            last,
            address(&logits)?,
            sizes,
            blocks,
            // The next pass begins with it.
            self.layers.first().map_or(self.output, |layer| layer.qkv),
        )?;
        Ok(logits)
    }

    /// Launches all layers over the vectors of `tokens` tokens in `x`.
    fn launch_layers(&self, tokens: usize) -> Result<()> {
        let config = &self.config;
        let index = TOKEN_COUNTS
            .iter()
            .position(|&count| count >= tokens)
            .unwrap_or_default();
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let queries = config.heads * config.head_dim;
        let heads = queries + 2 * config.kv_heads * config.head_dim;
        let [x, qkv, mixed, gated] = self.buffers.activations()?;
        let after = self.layers.iter().skip(1).map(|layer| layer.qkv).chain([self.output]);
        for ((layer, cache), after) in self.layers.iter().zip(&self.cache).zip(after) {
            let [qkv_kernel, add, gate_up] =
                [&self.pass.qkv, &self.pass.add_product, &self.pass.gate_up].map(|kernels| &kernels[index]);
            self.product(
                qkv_kernel,
                layer.qkv,
                layer.attention_norm,
                x,
                qkv,
                [hidden, heads],
                heads.div_ceil(ROWS),
                layer.attention_output,
            )?;
            self.attention(layer, *cache, tokens)?;
            self.product(
                add,
                layer.attention_output,
                0,
                mixed,
                x,
                [queries, hidden],
                hidden.div_ceil(ROWS),
                layer.gate_up,
            )?;
            self.product(
                gate_up,
                layer.gate_up,
                layer.feed_forward_norm,
                x,
                gated,
                [hidden, wide],
                wide.div_ceil(WARPS),
                layer.down,
            )?;
            self.product(
                add,
                layer.down,
                0,
                gated,
                x,
                [wide, hidden],
                hidden.div_ceil(ROWS),
                after,
            )?;
        }
        Ok(())
    }

    /// Launches a product of `matrix` with vectors at `from`, to `to`; `sizes` are those of its inputs and outputs, and `next` is the
    /// matrix of the product after it.
    #[allow(clippy::too_many_arguments)]
    fn product(
        &self,
        kernel: &Kernel,
        matrix: Matrix,
        norm: u64,
        from: u64,
        to: u64,
        [inputs, outputs]: [usize; 2],
        blocks: usize,
        next: Matrix,
    ) -> Result<()> {
        let arguments = [
            Argument::Pointer(matrix.weights),
            Argument::Pointer(matrix.bias),
            Argument::Pointer(norm),
            Argument::Float(self.config.rms_norm_eps),
            Argument::Pointer(from),
            Argument::Pointer(to),
            Argument::size(inputs),
            Argument::size(outputs),
            Argument::Pointer(next.weights),
            Argument::size(next.lines),
        ];
        self.kernels.launch(kernel, [blocks as u32, 1, 1], BLOCK, &arguments)
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
            Argument::Pointer(layer.attention_output.weights),
            Argument::size(layer.attention_output.lines),
        ];
        let blocks = [self.parts as u32, config.kv_heads as u32, tokens as u32];
        self.kernels.launch(&self.pass.attention, blocks, BLOCK, &arguments)
    }
}

impl PassKernels {
    fn find(kernels: &Kernels, config: &ModelConfig, dtype: DType) -> Result<Self> {
        let packs = config.head_dim * dtype.size_in_bytes() / 16;
        let group = GROUPS.iter().find(|&&group| group >= config.heads / config.kv_heads);
        let group = group.ok_or_else(|| Error::Msg("too many heads to a key head".to_owned()))?;
        let each = |name: &str| {
            let names = TOKEN_COUNTS.iter().map(|count| format!("{name}_{count}"));
            names.map(|name| kernels.find(&name)).collect::<Result<Vec<_>>>()
        };
        Ok(Self {
            embed: kernels.find("embed")?,
            qkv: each("qkv")?,
            attention: kernels.find(&format!("attention_{packs}_{group}"))?,
            add_product: each("add_product")?,
            gate_up: each("gate_up")?,
            logits: kernels.find("logits_1")?,
        })
    }
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
