//! [`WeightAddresses`]: where the kernels of short passes find weights, and which kernels multiply with each matrix.

use std::collections::BTreeMap;
use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::load::gguf::{BlockFormat, SMALL_BLOCK};
use crate::load::shapes::matrices::MatrixShape;
use crate::load::shapes::tensors::FeedForwardShapes;
use crate::load::weights::Weights;
use crate::network::gpu::kernels::{Kernel, Kernels, MAX_TOKENS, address};
use crate::network::gpu::packed::GROUPS_PER_CHUNK;
use crate::network::layers::{FeedForward, Layer, MixerWeights, Network};
use crate::network::matrices::linear::Linear;

/// The numbers of tokens that the products are compiled for; others are padded to the next.
pub(super) const TOKEN_COUNTS: [usize; 4] = [1, 2, 4, MAX_TOKENS];
/// Bytes that the cache reads at a time, `LINE` of the kernels.
const LINE: usize = 128;
/// The most lines of the next matrix that a kernel reads ahead: 4 MiB. On an H200 twice as much was slower, and none, too.
const LINES_AHEAD: usize = 32_768;

/// The kernels for matrices of one format, those of products once for each of [`TOKEN_COUNTS`].
#[derive(Debug)]
pub(super) struct FormatKernels {
    pub(super) embed: Kernel,
    pub(super) qkv: Vec<Kernel>,
    pub(super) add_product: Vec<Kernel>,
    pub(super) gate_up: Vec<Kernel>,
    pub(super) logits: Kernel,
}

impl FormatKernels {
    fn find(kernels: &Kernels) -> Result<Self> {
        let each = |name: &str| {
            let names = TOKEN_COUNTS.iter().map(|count| format!("{name}_{count}"));
            names.map(|name| kernels.find(&name)).collect::<Result<Vec<_>>>()
        };
        Ok(Self {
            embed: kernels.find("embed")?,
            qkv: each("qkv")?,
            add_product: each("add_product")?,
            gate_up: each("gate_up")?,
            logits: kernels.find("logits_1")?,
        })
    }
}

/// Rows of a matrix that are of one format, on the device.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) weights: u64,
    /// 0 where there is none.
    pub(super) bias: u64,
    /// Number of rows.
    pub(super) rows: usize,
    /// Lines of the weights that are read ahead.
    pub(super) lines: usize,
    pub(super) kernels: Arc<FormatKernels>,
}

/// The parts of a matrix, one behind the other: one, or several where it is of matrices in several formats.
pub(super) type Parts = Vec<Part>;

/// The addresses of a layer's weights.
#[derive(Debug)]
pub(super) struct LayerAddresses {
    pub(super) attention_norm: u64,
    pub(super) qkv: Parts,
    pub(super) query_norm: u64,
    pub(super) key_norm: u64,
    pub(super) attention_output: Part,
    pub(super) feed_forward_norm: u64,
    pub(super) gate_up: Part,
    pub(super) down: Part,
}

/// The addresses of a network's weights.
#[derive(Debug)]
pub(super) struct WeightAddresses {
    pub(super) embeddings: Part,
    pub(super) layers: Vec<LayerAddresses>,
    pub(super) final_norm: u64,
    pub(super) output: Part,
    /// Whether matrices are quantised, and so the vectors that they are multiplied with interleaved.
    pub(super) is_packed: bool,
    /// Vectors that stand on the device in another order or format than the network has them in.
    _copies: Vec<Tensor>,
}

impl WeightAddresses {
    /// The addresses of the weights of `network`; `None` where a layer is not of the shape that the kernels are made for.
    pub(super) fn of(network: &Network, kernels: &Kernels, device: &Device) -> Result<Option<Self>> {
        let is_packed = network.embeddings.packed().is_some();
        let mut reader = Reader {
            kernels,
            device,
            is_packed,
            of_formats: BTreeMap::new(),
            copies: Vec::new(),
        };
        let layers = network.layers.iter().map(|layer| reader.layer(layer));
        let Some(layers) = layers.collect::<Result<Option<Vec<_>>>>()? else {
            return Ok(None);
        };
        let (Some(embeddings), Some(output)) = (reader.whole(&network.embeddings)?, reader.whole(&network.output)?)
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            embeddings,
            layers,
            final_norm: reader.norm(&network.final_norm)?,
            output,
            is_packed,
            _copies: reader.copies,
        }))
    }
}

/// Reader of a network's weights, by which [`WeightAddresses::of`] collects their addresses.
struct Reader<'a> {
    kernels: &'a Kernels,
    device: &'a Device,
    is_packed: bool,
    /// The kernels for matrices of each format, of those that are not quantised under `None`.
    of_formats: BTreeMap<Option<BlockFormat>, Arc<FormatKernels>>,
    copies: Vec<Tensor>,
}

impl Reader<'_> {
    fn layer(&mut self, layer: &Layer) -> Result<Option<LayerAddresses>> {
        let (MixerWeights::Attention(attention), FeedForward::Dense(gated)) = (&layer.mixer, &layer.feed_forward)
        else {
            return Ok(None);
        };
        let (Some(attention_norm), Some(feed_forward_norm)) =
            (&layer.mixer_norms.before, &layer.feed_forward_norms.before)
        else {
            return Ok(None);
        };
        let of_heads = |norm: &Option<Tensor>| norm.as_ref().map_or(Ok(0), address);
        let (Some(qkv), Some(attention_output), Some(gate_up), Some(down)) = (
            self.parts(&attention.qkv)?,
            self.whole(&attention.output)?,
            self.whole(&gated.gate_up)?,
            self.whole(&gated.down)?,
        ) else {
            return Ok(None);
        };
        Ok(Some(LayerAddresses {
            attention_norm: self.norm(attention_norm)?,
            qkv,
            query_norm: of_heads(&attention.query_norm)?,
            key_norm: of_heads(&attention.key_norm)?,
            attention_output,
            feed_forward_norm: self.norm(feed_forward_norm)?,
            gate_up,
            down,
        }))
    }

    /// The address of a matrix of one format; `None` where it is of several, or quantised where others are not.
    fn whole(&mut self, linear: &Linear) -> Result<Option<Part>> {
        let parts = self.parts(linear)?;
        Ok(parts.filter(|parts| parts.len() == 1).and_then(|mut parts| parts.pop()))
    }

    /// The addresses of a matrix, or `None` where it is quantised and others are not, or the other way round.
    fn parts(&mut self, linear: &Linear) -> Result<Option<Parts>> {
        let mut bias = match linear.bias() {
            Some(bias) if self.is_packed => {
                let wide = bias.to_dtype(DType::F32)?;
                let bias = address(&wide)?;
                self.copies.push(wide);
                bias
            }
            bias => bias.map_or(Ok(0), address)?,
        };
        let mut parts = Vec::new();
        for part in linear.parts() {
            let (words, rows, format) = match part.packed() {
                Some(packed) => (packed.words(), packed.rows(), Some(packed.format())),
                None => (part.weight()?, part.outputs(), None),
            };
            if format.is_some() != self.is_packed {
                return Ok(None);
            }
            parts.push(Part {
                weights: address(words)?,
                bias,
                rows,
                lines: (words.elem_count() * words.dtype().size_in_bytes() / LINE).min(LINES_AHEAD),
                kernels: self.kernels_of(format)?,
            });
            // That of a matrix of one part only is of another format than F32.
            bias = if bias == 0 {
                0
            } else {
                bias + (rows * size_of::<f32>()) as u64
            };
        }
        Ok(Some(parts))
    }

    /// The address of a norm's factors, in the order in which the products read them.
    fn norm(&mut self, norm: &Tensor) -> Result<u64> {
        if !self.is_packed {
            return address(norm);
        }
        let in_order = norm.to_dtype(DType::F32)?.to_vec1::<f32>()?;
        let count = in_order.len();
        let copy = Tensor::from_vec(interleaved(&in_order), count, self.device)?;
        let at = address(&copy)?;
        self.copies.push(copy);
        Ok(at)
    }

    fn kernels_of(&mut self, format: Option<BlockFormat>) -> Result<Arc<FormatKernels>> {
        if let Some(known) = self.of_formats.get(&format) {
            return Ok(Arc::clone(known));
        }
        let found = match format {
            Some(format) => FormatKernels::find(&self.kernels.of_format(format)?)?,
            None => FormatKernels::find(self.kernels)?,
        };
        let found = Arc::new(found);
        self.of_formats.insert(format, Arc::clone(&found));
        Ok(found)
    }
}

/// The elements of a vector in the order in which products with quantised matrices read them, `interleaved` of the kernels.
fn interleaved(vector: &[f32]) -> Vec<f32> {
    let chunks = vector.chunks(SMALL_BLOCK * GROUPS_PER_CHUNK);
    let in_order = chunks.flat_map(|chunk| {
        let quads = (0..SMALL_BLOCK / 4).flat_map(move |quad| {
            chunk
                .chunks_exact(SMALL_BLOCK)
                .map(move |group| &group[4 * quad..][..4])
        });
        quads.flatten().copied()
    });
    in_order.collect()
}

/// Whether the kernels can multiply with the matrices of a GGUF file as it has them: all of them are quantised, and both halves of a
/// gated feed-forward part alike.
pub(crate) fn can_stay_packed(config: &ModelConfig, weights: &Weights) -> bool {
    let Some(tensors) = weights.gguf() else {
        return false;
    };
    let (formats, _) = tensors.formats_and_bytes();
    let alike = |matrices: &[MatrixShape]| {
        let mut formats = matrices.iter().map(|matrix| tensors.format(&matrix.weight().0));
        let first = formats.next();
        formats.all(|format| Some(format) == first)
    };
    formats.iter().all(|format| format.dtype().is_none())
        && (0..config.layers).all(|layer| match config.layer(layer).feed_forward {
            FeedForwardShapes::Dense(gated) => alike(&gated.gate_up),
            FeedForwardShapes::Experts(_) | FeedForwardShapes::None => false,
        })
}
