//! The keys and values of the tokens seen so far, preallocated and grown in steps.

use candle_core::{DType, Device, Result, Tensor};

use crate::load::config::ModelConfig;
use crate::load::config::gemma4::Heads;
use crate::network::recurrent::layer_states::LayerStates;

/// Number of tokens the first allocation has room for.
const FIRST_CAPACITY: usize = 256;

/// The capacity for `needed` tokens: doubled from the current one, within `max_positions`.
fn grown_capacity(capacity: usize, needed: usize, max_positions: usize) -> usize {
    let mut grown = capacity.max(FIRST_CAPACITY);
    while grown < needed {
        grown = grown.saturating_mul(2);
    }
    grown.min(max_positions).max(needed)
}

/// Keys and values on the CPU.
#[derive(Debug, Default)]
pub(crate) struct CpuCache {
    /// Per layer, keys and values: `[kv_heads, capacity, head_dim]` each. No values where they are the keys.
    layers: Vec<[Vec<f32>; 2]>,
    capacity: usize,
    /// Per layer, the length of a head's vector.
    head_dims: Vec<usize>,
    /// Whether keys are the values, too: in latent attention.
    keys_are_values: bool,
    /// States that layers keep beside keys and values: those of short convolutions and recurrent layers.
    pub(crate) states: LayerStates,
}

impl CpuCache {
    pub(crate) fn new(config: &ModelConfig) -> Result<Self> {
        Ok(Self {
            layers: vec![[Vec::new(), Vec::new()]; config.layers],
            capacity: 0,
            head_dims: (0..config.layers)
                .map(|layer| config.heads_of(layer).head_dim)
                .collect(),
            keys_are_values: config.latent_attention.is_some(),
            states: LayerStates::new(config, None)?,
        })
    }

    /// Makes room for `needed` tokens, keeping those there are.
    pub(crate) fn reserve(&mut self, config: &ModelConfig, needed: usize) {
        if needed <= self.capacity {
            return;
        }
        let capacity = grown_capacity(self.capacity, needed, config.max_positions);
        let kept = self.kept();
        let layers = self.layers.iter_mut().enumerate();
        let with_keys = layers.filter(|(layer, _)| config.has_keys(*layer));
        let buffers =
            with_keys.flat_map(|(layer, buffers)| buffers.iter_mut().take(kept).map(move |buffer| (layer, buffer)));
        for (layer, buffer) in buffers {
            let Heads { kv_heads, head_dim } = config.heads_of(layer);
            let (old_head, new_head) = (self.capacity * head_dim, capacity * head_dim);
            let mut larger = vec![0.0; kv_heads * new_head];
            if old_head > 0 {
                for (old, new) in buffer.chunks_exact(old_head).zip(larger.chunks_exact_mut(new_head)) {
                    new[..old_head].copy_from_slice(old);
                }
            }
            *buffer = larger;
        }
        self.capacity = capacity;
    }

    /// Stores one token's key and value vectors, `[kv_heads, head_dim]` each, at `position`.
    pub(crate) fn store(&mut self, layer: usize, position: usize, key: &[f32], value: &[f32]) {
        let width = self.head_dims[layer];
        let stride = self.capacity * width;
        let kept = self.kept();
        for (buffer, vectors) in self.layers[layer].iter_mut().zip([key, value]).take(kept) {
            for (head, vector) in vectors.chunks_exact(width).enumerate() {
                buffer[head * stride + position * width..][..width].copy_from_slice(vector);
            }
        }
    }

    /// Keys and values of one head at positions `0 .. len`: `[len, head_dim]` each.
    pub(crate) fn head(&self, layer: usize, head: usize, len: usize) -> (&[f32], &[f32]) {
        let width = self.head_dims[layer];
        let start = head * self.capacity * width;
        let [keys, values] = &self.layers[layer];
        let values = if self.keys_are_values { keys } else { values };
        (&keys[start..][..len * width], &values[start..][..len * width])
    }

    /// Number of vectors that are kept of a token in each head.
    fn kept(&self) -> usize {
        if self.keys_are_values { 1 } else { 2 }
    }
}

/// Keys and values as tensors, on any device.
#[derive(Debug)]
pub(crate) struct TensorCache {
    /// Keys and values of each layer: `[kv_heads, capacity, head_dim]` each. Both are one tensor where keys are the values.
    layers: Vec<[Tensor; 2]>,
    capacity: usize,
    /// States that layers keep beside keys and values: those of short convolutions and recurrent layers.
    pub(crate) states: LayerStates,
}

impl TensorCache {
    pub(crate) fn new(config: &ModelConfig, dtype: DType, device: &Device) -> Result<Self> {
        Ok(Self {
            layers: Vec::new(),
            capacity: 0,
            states: LayerStates::new(config, Some((dtype, device)))?,
        })
    }

    /// Number of tokens there is room for.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Keys and values of each layer, `[kv_heads, capacity, head_dim]` each.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn layers(&self) -> &[[Tensor; 2]] {
        &self.layers
    }

    /// Makes room for `needed` tokens, keeping the first `kept`.
    pub(crate) fn reserve(
        &mut self,
        config: &ModelConfig,
        dtype: DType,
        device: &Device,
        kept: usize,
        needed: usize,
    ) -> Result<()> {
        if needed <= self.capacity {
            return Ok(());
        }
        let capacity = grown_capacity(self.capacity, needed, config.max_positions);
        let mut layers = Vec::with_capacity(config.layers);
        for layer in 0..config.layers {
            // Layers without keys keep nothing here; devices may have no tensors without elements.
            let has_keys = config.has_keys(layer);
            let room = if has_keys { capacity } else { 1 };
            let Heads { kv_heads, head_dim } = config.heads_of(layer);
            let shape = (kv_heads, room, head_dim);
            let keys = Tensor::zeros(shape, dtype, device)?;
            let (values, different) = match config.latent_attention {
                Some(_) => (keys.clone(), 1),
                None => (Tensor::zeros(shape, dtype, device)?, 2),
            };
            let larger = [keys, values];
            if kept > 0 && has_keys {
                for (old, new) in self.layers[layer].iter().zip(&larger).take(different) {
                    new.slice_set(&old.narrow(1, 0, kept)?.contiguous()?, 1, 0)?;
                }
            }
            layers.push(larger);
        }
        self.layers = layers;
        self.capacity = capacity;
        Ok(())
    }

    /// Stores keys and values, `[kv_heads, tokens, head_dim]` each, from `position` on.
    pub(crate) fn store(&self, layer: usize, position: usize, new: [&Tensor; 2]) -> Result<()> {
        let [keys, values] = &self.layers[layer];
        keys.slice_set(new[0], 1, position)?;
        values.slice_set(new[1], 1, position)
    }

    /// Stores vectors that are key and value in one, `[kv_heads, tokens, head_dim]`, from `position` on.
    pub(crate) fn store_both(&self, layer: usize, position: usize, new: &Tensor) -> Result<()> {
        self.layers[layer][0].slice_set(new, 1, position)
    }

    /// The keys and values of the first `len` tokens, `[kv_heads, len, head_dim]` each.
    pub(crate) fn first(&self, layer: usize, len: usize) -> Result<[Tensor; 2]> {
        let [keys, values] = &self.layers[layer];
        Ok([keys.narrow(1, 0, len)?, values.narrow(1, 0, len)?])
    }
}
