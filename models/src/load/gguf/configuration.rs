//! [`configuration`]: the configuration files that a checkpoint in Hugging Face layout has, made from a GGUF file's metadata.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::config::family::Family;
use crate::load::file_names::{CONFIG, GENERATION_CONFIG, TOKENIZER, TOKENIZER_CONFIG};
use crate::load::gguf::block_format::BlockFormat;
use crate::load::gguf::file::GgufFile;
use crate::load::gguf::metadata::Metadata;
use crate::load::gguf::tokenizer::{Tokens, tokenizer_json};

/// The architectures that are read, each with the name that config.json has for it.
pub(crate) const ARCHITECTURES: [(&str, &str); 5] = [
    ("llama", "LlamaForCausalLM"),
    ("qwen2", "Qwen2ForCausalLM"),
    ("qwen3", "Qwen3ForCausalLM"),
    ("gemma3", "Gemma3ForCausalLM"),
    ("lfm2", "Lfm2ForCausalLM"),
];

/// Number of layers of the one Gemma 3 whose scores are divided by something else than the root of a head's length.
const GEMMA3_27B_LAYERS: usize = 62;

/// config.json, tokenizer.json, tokenizer_config.json and generation_config.json, by name, as `bytes`, the GGUF file that errors
/// call `file`, says.
///
/// # Errors
///
/// [`ModelError`], naming the place in bytes, the key or the tensor.
pub(crate) fn configuration(file: &str, bytes: &[u8]) -> Result<BTreeMap<&'static str, Vec<u8>>, ModelError> {
    let gguf = GgufFile::parse(file, bytes)?;
    let tokens = Tokens::read(&gguf.metadata)?;
    let ends = ends_of_answers(&gguf.metadata, &tokens)?;
    let mut config = Sizes::read(&gguf)?.config(bytes)?;
    config.insert("eos_token_id".to_owned(), ends.into());
    let files = [
        (CONFIG, Value::Object(config)),
        (TOKENIZER, tokenizer_json(&gguf.metadata, &tokens)?),
        (TOKENIZER_CONFIG, tokenizer_config(&gguf.metadata, &tokens)?),
        (GENERATION_CONFIG, generation_config(&gguf.metadata)?),
    ];
    Ok(files
        .into_iter()
        .map(|(name, json)| (name, json.to_string().into_bytes()))
        .collect())
}

/// The tokens that end an answer: those that the file names, and known ends of turns.
fn ends_of_answers(metadata: &Metadata<'_>, tokens: &Tokens<'_>) -> Result<Vec<usize>, ModelError> {
    let mut ends = Vec::new();
    for name in ["eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"] {
        ends.extend(tokens.special(metadata, name)?.map(|(id, _)| id));
    }
    for id in tokens.ends_of_turns() {
        if !ends.contains(&id) {
            ends.push(id);
        }
    }
    Ok(ends)
}

/// Special tokens and chat template.
fn tokenizer_config(metadata: &Metadata<'_>, tokens: &Tokens<'_>) -> Result<Value, ModelError> {
    let mut config = Map::new();
    let names = [
        ("bos", "bos_token"),
        ("eos", "eos_token"),
        ("unknown", "unk_token"),
        ("padding", "pad_token"),
    ];
    for (name, field) in names {
        if let Some((_, text)) = tokens.special(metadata, name)? {
            config.insert(field.to_owned(), text.into());
        }
    }
    let tool_use = metadata.text("tokenizer.chat_template.tool_use")?;
    let template = match (metadata.text("tokenizer.chat_template")?, tool_use) {
        (Some(default), Some(tool_use)) => Some(json!({"default": default, "tool_use": tool_use})),
        (Some(default), None) => Some(default.into()),
        (None, _) => None,
    };
    config.extend(template.map(|template| ("chat_template".to_owned(), template)));
    Ok(config.into())
}

/// Sampling settings, which newer files may have.
fn generation_config(metadata: &Metadata<'_>) -> Result<Value, ModelError> {
    let mut config = Map::new();
    let fields = [
        ("temp", "temperature"),
        ("top_k", "top_k"),
        ("top_p", "top_p"),
        ("min_p", "min_p"),
    ];
    for (key, field) in fields {
        if let Some(number) = metadata.number(&format!("general.sampling.{key}"))? {
            config.insert(field.to_owned(), number.into());
        }
    }
    Ok(config.into())
}

/// The largest value of a size, as config.json may have it.
fn limit(field: &str) -> usize {
    let limit = ModelConfig::LIMITS.iter().find(|(name, _)| *name == field);
    limit.map_or(usize::MAX, |(_, limit)| *limit)
}

/// Sizes that all architectures have, and where to read the others.
struct Sizes<'f, 'a> {
    gguf: &'f GgufFile<'a>,
    /// llama.cpp's name of the architecture, which keys start with.
    architecture: &'a str,
    /// config.json's name of the architecture.
    class: &'static str,
    layers: usize,
    hidden: usize,
    heads: usize,
    /// Number of key and value heads of each layer; 0 in layers without attention.
    kv_heads: Vec<usize>,
    head_dim: usize,
    context: usize,
}

impl<'f, 'a> Sizes<'f, 'a> {
    /// Reads and checks the sizes of `gguf`.
    fn read(gguf: &'f GgufFile<'a>) -> Result<Self, ModelError> {
        let metadata = &gguf.metadata;
        let key = "general.architecture";
        let architecture = metadata.required(key, metadata.text(key)?)?;
        let known = ARCHITECTURES.into_iter().find(|(name, _)| *name == architecture);
        let Some((_, class)) = known else {
            let names = ARCHITECTURES.map(|(name, _)| name).join(", ");
            return Err(metadata.unsupported(
                format!("a GGUF file of architecture {architecture:?}"),
                format!("{names} are read from GGUF; other families from checkpoints in Hugging Face layout"),
            ));
        };
        let size = |name: &str, field: &str| {
            let key = format!("{architecture}.{name}");
            metadata.required(&key, metadata.size(&key, limit(field))?)
        };
        let layers = size("block_count", "num_hidden_layers")?;
        let hidden = size("embedding_length", "hidden_size")?;
        let key = format!("{architecture}.attention.head_count");
        let heads = metadata.by_layer(&key, layers, limit("num_attention_heads"))?;
        let heads = metadata.required(&key, heads)?;
        if heads.iter().any(|count| *count != heads[0] || *count == 0) {
            return Err(metadata.unsupported("layers with different numbers of heads", "as many in each layer"));
        }
        let heads = heads[0];
        let key = format!("{architecture}.attention.head_count_kv");
        let kv_heads = metadata.by_layer(&key, layers, limit("num_key_value_heads"))?;
        let key = format!("{architecture}.attention.key_length");
        let head_dim = match metadata.size(&key, limit("head_dim"))? {
            Some(length) => length,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => return Err(metadata.error(&key, format!("missing, and {heads} heads do not divide {hidden}"))),
        };
        for name in ["attention.value_length", "rope.dimension_count"] {
            let key = format!("{architecture}.{name}");
            if metadata
                .whole_number(&key, limit("head_dim"))?
                .is_some_and(|length| length != head_dim)
            {
                return Err(
                    metadata.unsupported(format!("{key} other than {head_dim}, the length of keys"), "the same")
                );
            }
        }
        Ok(Self {
            gguf,
            architecture,
            class,
            layers,
            hidden,
            heads,
            kv_heads: kv_heads.unwrap_or_else(|| vec![heads; layers]),
            head_dim,
            context: size("context_length", "max_position_embeddings")?,
        })
    }

    fn metadata(&self) -> &Metadata<'a> {
        &self.gguf.metadata
    }

    /// The key of that name with the architecture in front.
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, ModelError> {
        self.metadata().number(&self.key(name))
    }

    fn has_tensor(&self, name: &str) -> bool {
        self.gguf.tensors.contains_key(name)
    }

    /// The members of config.json; `bytes` are those of the file.
    fn config(&self, bytes: &[u8]) -> Result<Map<String, Value>, ModelError> {
        self.refuse_unsupported()?;
        let metadata = self.metadata();
        let Some(embeddings) = self.gguf.tensors.get("token_embd.weight") else {
            return Err(metadata.error("token_embd.weight", "there is no such tensor"));
        };
        let attention = self.kv_heads.iter().copied().find(|count| *count > 0);
        let key = self.key("attention.head_count_kv");
        let kv_heads = metadata.required(&key, attention)?;
        if self.kv_heads.iter().any(|count| *count != kv_heads && *count != 0) {
            return Err(metadata.unsupported(format!("{key} with different numbers"), "as many in each layer"));
        }
        let key = self.key("feed_forward_length");
        let widths = metadata.by_layer(&key, self.layers, limit("intermediate_size"))?;
        let widths = metadata.required(&key, widths)?;
        if widths.iter().any(|width| *width != widths[0]) {
            return Err(metadata.unsupported(format!("{key} with different numbers"), "the same in each layer"));
        }
        let key = self.key("attention.layer_norm_rms_epsilon");
        let eps = metadata.required(&key, metadata.number(&key)?)?;
        let mut config = json!({
            "architectures": [self.class],
            "model_type": Family::from_architecture(self.class).map(Family::name),
            "hidden_size": self.hidden,
            "intermediate_size": widths[0],
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": kv_heads,
            "head_dim": self.head_dim,
            "vocab_size": embeddings.shape[0],
            "max_position_embeddings": self.context,
            "rms_norm_eps": eps,
            "norm_eps": eps,
            "rope_theta": self.number("rope.freq_base")?.unwrap_or(1e4),
            "tie_word_embeddings": !self.has_tensor("output.weight"),
            "attention_bias": self.has_tensor("blk.0.attn_q.bias"),
            "mlp_bias": self.has_tensor("blk.0.ffn_gate.bias"),
        });
        if let Some(scaling) = self.rope_scaling(bytes)? {
            config["rope_scaling"] = scaling;
        }
        match self.architecture {
            "gemma3" => self.add_gemma3(&mut config)?,
            "lfm2" => self.add_lfm2(&mut config)?,
            _ => {}
        }
        match config {
            Value::Object(members) => Ok(members),
            _ => Ok(Map::new()),
        }
    }

    /// Errs where the file has parts that config.json has no words for here.
    fn refuse_unsupported(&self) -> Result<(), ModelError> {
        if self.kv_heads.contains(&0) && self.architecture != "lfm2" {
            return Err(self
                .metadata()
                .unsupported("layers without attention", "attention in each layer"));
        }
        let parts: &[&str] = match self.architecture {
            "gemma3" => &["expert_count", "attn_logit_softcapping"],
            _ => &[
                "expert_count",
                "attn_logit_softcapping",
                "final_logit_softcapping",
                "attention.sliding_window",
                "attention.clamp_kqv",
                "logit_scale",
                "residual_scale",
                "embedding_scale",
                "attention.scale",
            ],
        };
        for part in parts {
            if self.number(part)?.is_some_and(|number| number != 0.0) {
                return Err(self.metadata().unsupported(self.key(part), "a file without it"));
            }
        }
        if self.has_tensor("output.bias") {
            return Err(self.metadata().unsupported("tensor `output.bias`", "a file without it"));
        }
        Ok(())
    }

    /// Returns the scaling of rotary positions: by one factor, by YaRN, or by a divisor of each frequency; `None` where there is
    /// none.
    fn rope_scaling(&self, bytes: &[u8]) -> Result<Option<Value>, ModelError> {
        let metadata = self.metadata();
        let kind = metadata.text(&self.key("rope.scaling.type"))?;
        let factor = match self.number("rope.scaling.factor")? {
            Some(factor) => factor,
            None => self.number("rope.scale_linear")?.unwrap_or(1.0),
        };
        // Some files write 0 for none.
        let factor = if factor == 0.0 { 1.0 } else { factor };
        let vectors = self.number("rope.scaling.attn_factor")?.unwrap_or(1.0);
        match kind {
            None | Some("none" | "linear") => {}
            Some("yarn") => return self.yarn(factor, vectors).map(Some),
            Some(other) => {
                let what = format!("{} {other:?}", self.key("rope.scaling.type"));
                return Err(metadata.unsupported(what, "supported: none, linear, yarn, and the tensor rope_freqs"));
            }
        }
        let factor = if kind == Some("none") { 1.0 } else { factor };
        let Some(place) = self.gguf.tensors.get("rope_freqs.weight") else {
            if vectors != 1.0 {
                let key = self.key("rope.scaling.attn_factor");
                return Err(metadata.unsupported(key, "supported: with yarn, and with the tensor rope_freqs"));
            }
            let linear = json!({"rope_type": "linear", "factor": factor});
            return Ok((factor != 1.0).then_some(linear));
        };
        if place.format != BlockFormat::F32 || place.bytes.len() != self.head_dim / 2 * size_of::<f32>() {
            let message = format!("expected {} numbers in f32", self.head_dim / 2);
            return Err(metadata.error("rope_freqs.weight", message));
        }
        let mut divisors = Vec::new();
        place
            .format
            .extend_with_numbers(&bytes[place.bytes.clone()], &mut divisors);
        let divisors: Vec<f64> = divisors
            .into_iter()
            .map(|divisor| f64::from(divisor) * factor)
            .collect();
        Ok(Some(json!({
            "rope_type": "longrope",
            "short_factor": divisors,
            // All that is read here; transformers asks for both, and for a factor that it does not use then.
            "long_factor": divisors,
            "factor": 1.0,
            "attention_factor": vectors,
            "original_max_position_embeddings": self.context,
        })))
    }

    /// YaRN's scaling by `factor`; the rotated vectors are multiplied by `vectors` beside what YaRN itself multiplies them by.
    fn yarn(&self, factor: f64, vectors: f64) -> Result<Value, ModelError> {
        // A weight of the blended frequencies, of which transformers has only the whole one; negative numbers stand for none given.
        let weight = "rope.scaling.yarn_ext_factor";
        if self
            .number(weight)?
            .is_some_and(|weight| weight >= 0.0 && weight != 1.0)
        {
            return Err(self.metadata().unsupported(self.key(weight), "supported: 1"));
        }
        // YaRN multiplies by the root of a temperature that follows from the factor; DeepSeek divides by another one.
        let magnitude = |weight: f64| 0.1 * weight * factor.max(1.0).ln() + 1.0;
        let divisor = match self.number("rope.scaling.yarn_log_multiplier")? {
            Some(weight) if weight != 0.0 => magnitude(weight),
            _ => 1.0,
        };
        let original = self.number("rope.scaling.original_context_length")?;
        let turns = |name: &str, default: f64| Ok(self.number(name)?.unwrap_or(default));
        Ok(json!({
            "rope_type": "yarn",
            "factor": factor,
            "attention_factor": vectors * magnitude(1.0) / divisor,
            "beta_fast": turns("rope.scaling.yarn_beta_fast", 32.0)?,
            "beta_slow": turns("rope.scaling.yarn_beta_slow", 1.0)?,
            "original_max_position_embeddings": original.unwrap_or(self.context as f64) as u64,
        }))
    }

    /// Gemma 3's windows and factors.
    fn add_gemma3(&self, config: &mut Value) -> Result<(), ModelError> {
        let metadata = self.metadata();
        let key = self.key("attention.sliding_window");
        let window = metadata.whole_number(&key, 1 << 26)?.filter(|window| *window > 0);
        let key = self.key("attention.sliding_window_pattern");
        let sliding = match metadata.flags(&key) {
            Some(flags) if flags.len() == self.layers => flags,
            Some(flags) => {
                let message = format!("{} items for {} layers", flags.len(), self.layers);
                return Err(metadata.error(&key, message));
            }
            None => {
                let pattern = metadata.size(&key, 1 << 16)?.unwrap_or(6);
                (1..=self.layers).map(|layer| layer % pattern != 0).collect()
            }
        };
        let kinds = sliding.into_iter().map(|sliding| match sliding && window.is_some() {
            true => "sliding_attention",
            false => "full_attention",
        });
        config["layer_types"] = kinds.collect();
        if let Some(window) = window {
            config["sliding_window"] = window.into();
        }
        config["rope_local_base_freq"] = self.number("rope.freq_base_swa")?.unwrap_or(1e4).into();
        config["query_pre_attn_scalar"] = match self.layers {
            GEMMA3_27B_LAYERS => (self.hidden / self.heads).into(),
            _ => self.head_dim.into(),
        };
        if let Some(cap) = self.number("final_logit_softcapping")?.filter(|cap| *cap != 0.0) {
            config["final_logit_softcapping"] = cap.into();
        }
        Ok(())
    }

    /// LFM2's short convolutions.
    fn add_lfm2(&self, config: &mut Value) -> Result<(), ModelError> {
        let key = self.key("shortconv.l_cache");
        let taps = self.metadata().required(&key, self.metadata().size(&key, 64)?)?;
        let kinds = self.kv_heads.iter().map(|heads| match heads {
            0 => "conv",
            _ => "full_attention",
        });
        config["layer_types"] = kinds.collect();
        config["conv_L_cache"] = taps.into();
        config["block_auto_adjust_ff_dim"] = false.into();
        Ok(())
    }
}
