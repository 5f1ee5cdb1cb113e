//! [`MemoryNeeds`]: what a model takes of a GPU's memory, checked before anything is loaded.

use candle_core::DType;

use crate::load::config::ModelConfig;
use crate::network::convolution_state;
use crate::network::gpu::short_pass::scratch_bytes;
use crate::network::recurrent_state::MOST_COPIES;
use crate::network::transformer::{FIRST_ROOM, PROMPT_CHUNK};

/// Bytes that the driver and the libraries take for themselves after the check.
const LIBRARIES: u64 = 256 << 20;

/// Bytes that a model takes of a GPU's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryNeeds {
    pub(crate) weights: u64,
    /// Keys and values of as many tokens as there is room for at first.
    pub(crate) cache: u64,
    /// What forward passes work with.
    pub(crate) scratch: u64,
}

impl MemoryNeeds {
    /// What the model of shape `config` takes with weights kept as `dtype`.
    pub(crate) fn of(config: &ModelConfig, dtype: DType) -> Self {
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
            .map_or(0, |recurrence| recurrent * recurrence.kept().elements())
            * size_of::<f32>()
            * MOST_COPIES;
        let cache = 2 * keys * tokens + convolutions * convolution_state::elements_of_layer(config);
        // A pass over a part of a prompt: the vectors of its tokens at the widest place, and for its scores the scores, the shares
        // and the latter once more in the weights' format.
        let part = PROMPT_CHUNK.min(tokens);
        let widest = 3 * config.intermediate_size + 2 * (config.heads + 2 * config.kv_heads) * config.head_dim;
        let prompt = part * (widest + 3 * config.heads * tokens) * size_of::<f32>();
        Self {
            weights: config.weight_bytes(dtype),
            cache: cache as u64 * bytes + kept as u64,
            scratch: prompt as u64 + scratch_bytes(config) + LIBRARIES,
        }
    }

    /// Errs where that is more than `free` bytes; the message says by how much, and what would help.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, RandomCheckpoint};

    #[test]
    fn needs_are_checked_against_what_is_free() {
        let checkpoint = RandomCheckpoint::preset(Family::Llama, "llama-3.1-8b").unwrap();
        let config = ModelConfig::from_json("config.json", checkpoint.config.to_string().as_bytes()).unwrap();
        let needs = MemoryNeeds::of(&config, DType::BF16);
        assert_eq!((needs.weights, needs.cache), (16_060_522_496, 512 << 20));
        assert!(
            needs.scratch > 512 << 20 && needs.scratch < 2 << 30,
            "{}",
            needs.scratch
        );
        needs.check(24 << 30).unwrap();
        let error = needs.check(16 << 30).unwrap_err();
        assert!(
            error.contains("15.0 for weights, 0.5 for the key-value cache") && error.contains("16.0 are free"),
            "{error}"
        );
    }
}
