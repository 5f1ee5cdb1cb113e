//! The ways in which texts are cut into words before tokens are merged within them, by the names that llama.cpp has for them
//! (`tokenizer.ggml.pre`).
//!
//! Each is a list of regular expressions: the first cuts a text into its matches and what stands between them, the next cuts the
//! pieces further. The expressions are those of the models' own tokenizer.json.

/// Llama 3's way of cutting texts.
pub(crate) const LLAMA_3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Qwen 2's way of cutting texts, which differs from Llama 3's in numbers.
pub(crate) const QWEN_2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Qwen 3.5's way of cutting texts, which keeps marks with their letters.
const QWEN_3_5: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// GPT-2's way of cutting texts.
const GPT_2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
/// Mistral's way of cutting texts since Nemo.
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// GPT-4o's way of cutting texts.
const GPT_4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A way of cutting texts.
pub(crate) struct WordSplit {
    /// The regular expressions, the first one first.
    pub(crate) expressions: &'static [&'static str],
    /// Whether a word that is a token is that token, whatever merges there are.
    pub(crate) ignore_merges: bool,
    /// Whether a beginning-of-sequence token is put in front where the file does not say.
    pub(crate) adds_bos: bool,
}

impl WordSplit {
    /// The way that llama.cpp calls `name`, where it is known.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (expressions, ignore_merges, adds_bos): (&'static [&'static str], bool, bool) = match name {
            "llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0" | "lfm2" => {
                (&[LLAMA_3], true, true)
            }
            "dbrx" | "smaug-bpe" | "chatglm-bpe" => (&[LLAMA_3], false, false),
            "glm4" => (&[LLAMA_3], true, false),
            "qwen2" | "deepseek-r1-qwen" | "stablelm2" | "megrez" | "hunyuan" | "kormo" => (&[QWEN_2], false, false),
            "qwen35" => (&[QWEN_3_5], false, false),
            "gpt-2" | "phi-2" | "mpt" | "olmo" | "jais" | "exaone4" | "mellum" | "gigachat" | "a.x-4.0"
            | "trillion" | "granite-docling" => (&[GPT_2], false, false),
            "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" | "mellum2" => {
                (&[r"\p{N}", GPT_2], false, false)
            }
            "tekken" => (&[TEKKEN], true, true),
            "gpt-4o" | "llama4" | "kanana2" => (&[GPT_4O], false, false),
            "deepseek-coder" => (
                &[r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[一-龥ࠀ-一가-퟿]+", r"\p{N}"],
                false,
                false,
            ),
            "falcon" => (&[r"[\p{P}\$\+<=>\^~\|`]+", GPT_2, r"[0-9][0-9][0-9]"], false, false),
            "default" => (
                &[r"[\p{P}\$\+<=>\^~\|]+", GPT_2, r"\p{N}+", r"[0-9][0-9][0-9]"],
                false,
                false,
            ),
            _ => return None,
        };
        Some(Self {
            expressions,
            ignore_merges,
            adds_bos,
        })
    }
}
