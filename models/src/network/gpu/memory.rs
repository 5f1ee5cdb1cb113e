//! [`MemoryNeeds`]: the GPU memory that a model needs, checked before anything is loaded.

use candle_core::DType;

use crate::load::config::ModelConfig;
use crate::network::gpu::packed::WIDENED_BYTES;
use crate::network::gpu::short_pass::scratch_bytes;
use crate::network::recurrent::convolution_state;
use crate::network::recurrent::recurrent_state::MAX_COPIES;
use crate::network::transformer::{FIRST_ROOM, PROMPT_CHUNK};

/// Bytes that the driver and the libraries take for themselves after the check.
const LIBRARIES: u64 = 256 << 20;

/// Bytes that a model takes of a GPU's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryNeeds {
    pub(crate) weights: u64,
    /// Keys and values of as many tokens as there is room for at first.
    pub(crate) cache: u64,
    /// Working memory of the forward passes.
    pub(crate) scratch: u64,
}

impl MemoryNeeds {
    /// Computes the memory of a model of shape `config`, with its weights kept as `dtype`, or as they are in a GGUF file of
    /// `packed` bytes; arithmetic is in `dtype` too.
    pub(crate) fn of(config: &ModelConfig, dtype: DType, packed: Option<u64>) -> Self {
        let bytes = dtype.size_in_bytes() as u64;
        let tokens = FIRST_ROOM.min(config.max_positions);
        let with_keys = (0..config.layers).filter(|layer| config.has_keys(*layer));
        let keys: usize = with_keys
            .map(|layer| config.heads_of(layer))
            .map(|heads| heads.kv_heads * heads.head_dim)
            .sum();
        let convolutions = (0..config.layers)
            .filter(|layer| config.has_convolution(*layer))
            .count();
        // Matrices are 32-bit floats, and there are some more of them for rollbacks.
        let recurrent = (0..config.layers).filter(|layer| config.is_recurrent(*layer)).count();
        let kept = config
            .recurrence
            .map_or(0, |recurrence| recurrent * recurrence.state_shape().elements())
            * size_of::<f32>()
            * MAX_COPIES;
        let vectors = if config.latent_attention.is_some() { 1 } else { 2 };
        let cache = vectors * keys * tokens + convolutions * convolution_state::elements_of_layer(config);
        // A pass over a part of a prompt: the vectors of its tokens at the widest place, and for its scores the scores, the shares
        // and the latter once more in the weights' format.
        let part = PROMPT_CHUNK.min(tokens);
        let widest = (0..config.layers).map(|layer| elements_of_token(config, layer)).max();
        let inputs = config
            .gemma4
            .and_then(|parts| parts.layer_embeddings)
            .map_or(0, |embeddings| 2 * config.layers * embeddings.width);
        let prompt = part * (widest.unwrap_or(0) + inputs + 3 * config.heads * tokens) * size_of::<f32>();
        let widened = if packed.is_some() { WIDENED_BYTES } else { 0 };
        Self {
            // Scales of blocks take more on a GPU than in the file, by less than this.
            weights: packed.map_or_else(|| config.weight_bytes(dtype), |packed| packed + packed / 16),
            cache: cache as u64 * bytes + kept as u64,
            scratch: prompt as u64 + scratch_bytes(config) + widened + LIBRARIES,
        }
    }

    /// Returns an error if the needs are more than `free` bytes; the message says by how much, and what would help.
    pub(crate) fn check(self, free: u64) -> Result<(), String> {
        let needed = self.weights + self.cache + self.scratch;
        if needed <= free {
            return Ok(());
        }
        let gib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 30));
        Err(format!(
            "the model needs {} GiB of its memory ({} for weights, {} for the key-value cache, {} to work with), but {} are free; \
             end what else runs there, or take --dtype bf16 or f16, a smaller model, or another GPU (cuda:N)",
            gib(needed),
            gib(self.weights),
            gib(self.cache),
            gib(self.scratch),
            gib(free),
        ))
    }
}

/// Number of elements that a token takes in the layer of that number at its widest places.
fn elements_of_token(config: &ModelConfig, layer: usize) -> usize {
    let fed = 3 * config.width_of(layer);
    let mixed = match config.recurrence {
        // What the input's matrix gives, what the convolution makes of it, and rows for each head.
        Some(recurrence) if config.is_recurrent(layer) => {
            let shape = recurrence.state_shape();
            let (heads, rows, columns) = shape.matrices;
            3 * shape.channels + 3 * heads * rows.max(columns)
        }
        _ => {
            let heads = config.heads_of(layer);
            // In latent attention queries and values as heads have them, too, and what both are made from.
            let latent = config.latent_attention.map_or(0, |sizes| {
                let made_from = sizes.query_rank.unwrap_or(0) + sizes.rank;
                2 * (config.heads * (sizes.query_dim() + sizes.value_dim) + made_from)
            });
            2 * (config.heads + 2 * heads.kv_heads) * heads.head_dim + latent
        }
    };
    fed + mixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, RandomCheckpoint};

    #[test]
    fn the_widest_layers_of_all_kinds_count() {
        let scratch = |family, field: &str, value: serde_json::Value| {
            let mut config = RandomCheckpoint::preset(family, "tiny").unwrap().config;
            config[field] = value;
            let config = ModelConfig::from_json("config.json", config.to_string().as_bytes()).unwrap();
            MemoryNeeds::of(&config, DType::BF16, None).scratch
        };
        for (family, field, small, large) in [
            (Family::Gemma4, "use_double_wide_mlp", false.into(), true.into()),
            (Family::Gemma4, "global_head_dim", 16.into(), 64.into()),
            (Family::Gemma4, "hidden_size_per_layer_input", 8.into(), 16.into()),
            (Family::Qwen35, "linear_value_head_dim", 6.into(), 60.into()),
            (Family::GraniteHybrid, "mamba_d_state", 6.into(), 60.into()),
            (Family::DeepseekV3, "kv_lora_rank", 12.into(), 60.into()),
            (Family::DeepseekV3, "v_head_dim", 6.into(), 60.into()),
        ] {
            assert!(scratch(family, field, small) < scratch(family, field, large), "{field}");
        }
    }

    #[test]
    fn needs_are_checked_against_what_is_free() {
        let checkpoint = RandomCheckpoint::preset(Family::Llama, "llama-3.1-8b").unwrap();
        let config = ModelConfig::from_json("config.json", checkpoint.config.to_string().as_bytes()).unwrap();
        let needs = MemoryNeeds::of(&config, DType::BF16, None);
        assert_eq!((needs.weights, needs.cache), (16_060_522_496, 512 << 20));
        assert!(
            needs.scratch > 512 << 20 && needs.scratch < 2 << 30,
            "{}",
            needs.scratch
        );
        let packed = MemoryNeeds::of(&config, DType::BF16, Some(4 << 30));
        assert!(packed.weights < 5 << 30 && packed.cache == needs.cache && packed.scratch > needs.scratch);
        needs.check(24 << 30).unwrap();
        let error = needs.check(16 << 30).unwrap_err();
        assert!(
            error.contains("15.0 for weights, 0.5 for the key-value cache") && error.contains("16.0 are free"),
            "{error}"
        );
    }
}
