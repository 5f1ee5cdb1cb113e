//! [`Defaults`]: the values of absent fields of config.json, as transformers has them for each family.

use crate::load::config::family::Family;

/// Sizes that the `text_config` of Gemma 3 leaves out where they are these.
pub(crate) const GEMMA3_TEXT: &[(&str, u64)] = &[
    ("num_attention_heads", 8),
    ("num_key_value_heads", 4),
    ("head_dim", 256),
    ("vocab_size", 262_208),
    ("max_position_embeddings", 131_072),
];

/// The defaults of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    /// Number added to the mean square in the norms.
    pub(crate) norm_eps: f64,
    /// Length of a head's vector; `None` for `hidden_size` divided by the number of heads.
    pub(crate) head_dim: Option<usize>,
    /// Number of key and value heads; `None` for as many as query heads.
    pub(crate) kv_heads: Option<usize>,
    /// The sliding window, in tokens, of layers that have one.
    pub(crate) window: Option<usize>,
}

impl Defaults {
    /// The defaults of `family`.
    pub(crate) fn of(family: Family) -> Self {
        Self {
            norm_eps: match family {
                Family::GptOss
                | Family::Olmo2
                | Family::Olmo3
                | Family::Phi3
                | Family::Mixtral
                | Family::NemotronH
                | Family::Lfm2
                | Family::Lfm2Moe => 1e-5,
                Family::Glm4 => 1.5625e-7,
                _ => 1e-6,
            },
            head_dim: match family {
                Family::GptOss => Some(64),
                Family::Glm4 | Family::Qwen3 | Family::NemotronH => Some(128),
                Family::Gemma2 | Family::Gemma3 | Family::Gemma4 => Some(256),
                family if family.has_delta_nets() => Some(256),
                _ => None,
            },
            kv_heads: match family {
                Family::Glm4 | Family::Qwen35Moe | Family::Qwen3Next => Some(2),
                Family::Gemma2 | Family::Gemma3 | Family::Gemma4 | Family::Qwen35 | Family::Qwen3Moe => Some(4),
                Family::SmolLm3 => Some(4),
                Family::GptOss
                | Family::Mistral
                | Family::Mixtral
                | Family::Lfm2
                | Family::Lfm2Moe
                | Family::NemotronH => Some(8),
                Family::Qwen2 | Family::Qwen3 => Some(32),
                _ => None,
            },
            window: match family {
                Family::GptOss => Some(128),
                Family::Gemma4 => Some(512),
                Family::Mistral
                | Family::Qwen2
                | Family::Qwen3
                | Family::Qwen3Moe
                | Family::Gemma2
                | Family::Gemma3
                | Family::Olmo3 => Some(4096),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::config::ModelConfig;
    use crate::{Family, RandomCheckpoint, SoftCaps};
    use serde_json::Value;

    /// The shape of the family's tiny model without these fields, or with `null` in them.
    fn read(family: Family, fields: &[&str], null: bool) -> ModelConfig {
        let mut config = RandomCheckpoint::preset(family, "tiny").unwrap().config;
        for field in fields {
            match null {
                true => config[*field] = Value::Null,
                false => drop(config.as_object_mut().unwrap().remove(*field)),
            }
        }
        ModelConfig::from_json("config.json", config.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn what_is_not_written_is_as_in_transformers() {
        let eps = ["rms_norm_eps", "norm_eps"];
        for (family, expected) in [
            (Family::GptOss, 1e-5),
            (Family::Olmo3, 1e-5),
            (Family::Lfm2, 1e-5),
            (Family::Gemma2, 1e-6),
            (Family::Llama, 1e-6),
        ] {
            assert_eq!(read(family, &eps, false).rms_norm_eps, expected, "{family:?}");
        }
        assert_eq!(read(Family::Qwen35, &["head_dim"], false).head_dim, 256);
        assert_eq!(read(Family::Llama, &["num_key_value_heads"], false).kv_heads, 4);
        assert_eq!(read(Family::Mixtral, &["rope_theta"], false).rope_theta, 1e6);
    }

    #[test]
    fn caps_and_windows_that_are_null_are_none() {
        let caps = ["attn_logit_softcapping", "final_logit_softcapping"];
        let by_default = SoftCaps {
            scores: Some(50.0),
            logits: Some(30.0),
        };
        assert_eq!(read(Family::Gemma2, &caps, false).soft_caps, by_default);
        assert_eq!(read(Family::Gemma2, &caps, true).soft_caps, SoftCaps::default());
        let has_windows = |null| {
            let config = read(Family::GptOss, &["sliding_window"], null);
            config
                .mixers
                .iter()
                .any(|mixer| matches!(mixer, crate::Mixer::Attention { window: Some(_), .. }))
        };
        assert_eq!([false, true].map(has_windows), [true, false]);
    }
}
