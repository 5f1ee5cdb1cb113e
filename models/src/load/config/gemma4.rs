//! [`Gemma4Parts`]: the parts of Gemma 4's network that Gemma 3's does not have, and their fields in config.json.

use crate::error::ModelError;
use crate::load::config::layer_kinds::{MAX_WIDTH, Mixer, Positions};
use crate::load::json_fields::JsonFields;

/// The longest head, and the most heads.
const MAX_HEADS: usize = 4_096;
/// The most tokens that have embeddings for each layer.
const MAX_TOKENS: usize = 1 << 24;

/// Sizes of the heads of an attention layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heads {
    /// Number of key and value heads; divides the number of query heads.
    pub kv_heads: usize,
    /// Length of a head's vector.
    pub head_dim: usize,
}

/// Parts of Gemma 4's network that Gemma 3's does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemma4Parts {
    /// The heads of global layers: those that see all tokens before.
    pub global_heads: Heads,
    /// Whether global layers, which see all tokens before, use their keys as values too, as the keys are before norm and rotation.
    pub values_are_keys: bool,
    /// Number of layers at the end without keys and values of their own. Each uses those of the last layer before them that has the same
    /// window and positions.
    pub sharing_layers: usize,
    /// Whether the feed-forward parts of the layers without keys and values of their own are twice as wide.
    pub double_width: bool,
    /// The embeddings that tokens have for each layer, where they have any.
    pub layer_embeddings: Option<LayerEmbeddings>,
}

/// Embeddings that tokens have for each layer, beside those that the first layer begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerEmbeddings {
    /// Length of the vector of a token for a layer.
    pub width: usize,
    /// Number of tokens that have such vectors.
    pub vocab_size: usize,
}

/// Returns the heads of layers that see all tokens before. `heads` is the number of query heads, `local` the heads of the other
/// layers, and `kinds` tells of each layer whether it sees all tokens before.
pub(crate) fn global_heads(
    fields: &JsonFields<'_>,
    heads: usize,
    local: Heads,
    kinds: &[bool],
) -> Result<Heads, ModelError> {
    let by_layer = fields.object("per_layer_config")?;
    let mut found = match &by_layer {
        // What transformers 5 writes.
        Some(by_layer) => {
            let names = layer_names(by_layer, kinds.len())?;
            let mut found = None;
            for (layer, (global, name)) in kinds.iter().zip(names).enumerate() {
                let own = name.map(|name| by_layer.object(name)).transpose()?.flatten();
                let size = |field: &str, default: usize| match &own {
                    Some(own) => own.size_or(field, MAX_HEADS, default),
                    None => Ok(default),
                };
                let of_layer = Heads {
                    kv_heads: size("num_key_value_heads", local.kv_heads)?,
                    head_dim: size("head_dim", local.head_dim)?,
                };
                let expected = if *global { *found.get_or_insert(of_layer) } else { local };
                if of_layer != expected {
                    let what = format!("layers of one kind with different heads (layer {layer})");
                    return Err(fields.unsupported(what, "heads of one size for all layers that see all tokens"));
                }
            }
            found
        }
        None => None,
    };
    let keys = match fields.flag("attention_k_eq_v", false)? {
        true => fields.size("num_global_key_value_heads", MAX_HEADS)?,
        false => None,
    };
    let found = *found.get_or_insert(Heads {
        kv_heads: keys.unwrap_or(local.kv_heads),
        head_dim: fields.size_or("global_head_dim", MAX_HEADS, 512)?,
    });
    if !local.head_dim.is_multiple_of(2) {
        let message = format!(
            "rotary positions over {} elements, which is odd; they need pairs",
            local.head_dim
        );
        return Err(fields.error("head_dim", message));
    }
    if !heads.is_multiple_of(found.kv_heads) {
        let message = format!("{} does not divide the {heads} attention heads", found.kv_heads);
        return Err(fields.error("num_global_key_value_heads", message));
    }
    Ok(found)
}

/// Returns, for each of `layers` layers, its name in `by_layer`: a number with or without zeros before it.
fn layer_names<'a>(by_layer: &'a JsonFields<'_>, layers: usize) -> Result<Vec<Option<&'a str>>, ModelError> {
    let mut names = vec![None; layers];
    for name in by_layer.names() {
        let number = name.parse::<usize>().ok();
        let Some(slot) = number.and_then(|layer| names.get_mut(layer)) else {
            return Err(by_layer.error(name, format!("not the number of one of the {layers} layers")));
        };
        if slot.replace(name).is_some() {
            return Err(by_layer.error(name, "a layer that is named twice"));
        }
    }
    Ok(names)
}

impl Gemma4Parts {
    /// Reads the parts from config.json, except `global_heads`, which is given; `mixers` are those of all layers.
    pub(crate) fn read(fields: &JsonFields<'_>, global_heads: Heads, mixers: &[Mixer]) -> Result<Self, ModelError> {
        match fields.text("use_bidirectional_attention")? {
            // Pictures alone are seen both ways, and there are none.
            None | Some("vision") => {}
            Some(_) => return Err(fields.unsupported("use_bidirectional_attention", "causal attention")),
        }
        let sharing_layers = fields.whole_number("num_kv_shared_layers")?.unwrap_or(0);
        let own = mixers.len().saturating_sub(sharing_layers);
        let missing = mixers[own..]
            .iter()
            .any(|mixer| !mixers[..own].iter().any(|own| own == mixer));
        if sharing_layers >= mixers.len() || missing {
            let message = format!("{sharing_layers} layers have no layer of their kind before them to share with");
            return Err(fields.error("num_kv_shared_layers", message));
        }
        let width = fields.whole_number("hidden_size_per_layer_input")?.unwrap_or(256);
        if width > MAX_WIDTH {
            return Err(fields.error("hidden_size_per_layer_input", format!("{width} is over {MAX_WIDTH}")));
        }
        let vocab_size = fields
            .size("vocab_size_per_layer_input", MAX_TOKENS)?
            .unwrap_or(262_144);
        if width > 0
            && fields
                .size("vocab_size", MAX_TOKENS)?
                .is_some_and(|all| all > vocab_size)
        {
            let message = format!("{vocab_size} tokens have embeddings of each layer, fewer than vocab_size");
            return Err(fields.error("vocab_size_per_layer_input", message));
        }
        Ok(Self {
            global_heads,
            values_are_keys: fields.flag("attention_k_eq_v", false)?,
            sharing_layers,
            double_width: fields.flag("use_double_wide_mlp", false)?,
            layer_embeddings: (width > 0).then_some(LayerEmbeddings { width, vocab_size }),
        })
    }

    /// Returns the layer whose keys and values the layer of that number sees: itself, or the last one of its kind that has its
    /// own.
    pub(crate) fn key_layer(&self, mixers: &[Mixer], layer: usize) -> usize {
        let own = mixers.len() - self.sharing_layers;
        let of_kind = |before: &usize| mixers[*before] == mixers[layer];
        match layer < own {
            true => layer,
            false => (0..own).rev().find(of_kind).unwrap_or(layer),
        }
    }

    /// Whether a layer with that mixer sees all tokens before.
    pub(crate) fn is_global(mixer: Mixer) -> bool {
        matches!(
            mixer,
            Mixer::Attention {
                positions: Positions::Rotary,
                ..
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Heads;
    use crate::{Family, ModelConfig, RandomCheckpoint};
    use serde_json::{Map, Value, json};

    #[test]
    fn layers_are_named_by_numbers_with_zeros_before_them_or_without() {
        let mut config = RandomCheckpoint::preset(Family::Gemma4, "tiny").unwrap().config;
        config["num_hidden_layers"] = 12.into();
        config["layer_types"] = ["sliding_attention", "full_attention"].repeat(6).into();
        for field in ["global_head_dim", "num_global_key_value_heads"] {
            config[field] = Value::Null;
        }
        let expected = Heads {
            kv_heads: 2,
            head_dim: 24,
        };
        for width in [1, 2] {
            let layers = (1..12)
                .step_by(2)
                .map(|layer| (format!("{layer:0width$}"), json!({"head_dim": 24})));
            config["per_layer_config"] = Value::Object(layers.collect::<Map<_, _>>());
            let read = ModelConfig::from_json("config.json", config.to_string().as_bytes()).unwrap();
            assert_eq!(read.gemma4.unwrap().global_heads, expected, "{width}");
        }
    }
}
