//! [`Reasoning`]: the reasoning that a model writes before its answer, its limit, and its end.

use std::sync::Arc;

use maskwright::{TokenId, Tokenize as _, Vocabulary};

use crate::error::ModelError;
use crate::prompt::tokenizer::ModelTokenizer;
use crate::prompt::vocabulary::ModelVocabulary;

/// Marks by which the models of a family set their reasoning apart from their answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks<'a> {
    /// Opening mark of the reasoning; templates may write it at the end of a prompt.
    begin: &'a str,
    /// Closing mark of the reasoning.
    end: &'a str,
    /// Mark directly before the answer, if there is text between `end` and the answer; else empty.
    header_end: &'a str,
    /// End of a prompt after which the model chooses whether to reason.
    choice: &'a str,
    /// Text that makes the answer begin after a prompt that ends with `choice`.
    answer: &'a str,
    /// Text between `end` (and `header_end`) and the answer.
    gap: &'a str,
    /// Text that ends reasoning which has become too long, up to the answer.
    closing: &'a str,
}

/// The marks of the families that run. The first whose end a chat template, or else a tokenizer, has is the model's.
static KNOWN: [Marks<'static>; 3] = [
    // gpt-oss: messages in channels ("harmony"), of which the last is `final`.
    Marks {
        begin: "<|channel|>analysis<|message|>",
        end: "<|channel|>final",
        header_end: "<|message|>",
        choice: "<|start|>assistant",
        answer: "<|channel|>final<|message|>",
        gap: "",
        closing: "<|end|><|start|>assistant<|channel|>final<|message|>",
    },
    // Qwen3, SmolLM3, GLM, LFM2.5, Phi-4, Granite, and models taught by DeepSeek R1.
    Marks {
        begin: "<think>",
        end: "</think>",
        header_end: "",
        choice: "",
        answer: "",
        gap: "\n\n",
        closing: "\n</think>\n\n",
    },
    // Magistral.
    Marks {
        begin: "[THINK]",
        end: "[/THINK]",
        header_end: "",
        choice: "",
        answer: "",
        gap: "",
        closing: "[/THINK]",
    },
];

impl<'a> Marks<'a> {
    /// Returns the marks of reasoning of which only the closing mark is known.
    fn ending_with(end: &'a str) -> Self {
        Self {
            begin: "",
            end,
            header_end: "",
            choice: "",
            answer: "",
            gap: "",
            closing: end,
        }
    }
}

impl Marks<'static> {
    /// The marks of a model with this chat template and this tokenizer.
    fn of(template: Option<&str>, tokenizer: &ModelTokenizer) -> Option<&'static Self> {
        // A template may leave it to the model to write the end.
        let sign = |marks: &Self| {
            if marks.choice.is_empty() {
                marks.end
            } else {
                "<|channel|>"
            }
        };
        let in_template = |marks: &&Self| template.is_some_and(|template| template.contains(sign(marks)));
        let in_tokenizer = |marks: &&Self| tokenizer.id(sign(marks)).is_some();
        let mut known = KNOWN.iter();
        known.clone().find(in_template).or_else(|| known.find(in_tokenizer))
    }
}

/// Limit and closing mark of a model's reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasoningOptions {
    /// Largest number of tokens of the reasoning. The tokens that end it are not counted.
    pub max_tokens: usize,
    /// Closing mark of the reasoning; `None` for the marks of the model's family.
    pub end: Option<String>,
}

/// The reasoning that a model writes before its answer: its marks, and its limit.
#[derive(Clone)]
pub struct Reasoning {
    /// Largest number of tokens.
    pub(crate) max_tokens: usize,
    /// Opening mark, at the end of the prompt or in the model's text; empty where it is not known.
    begin: Vec<u8>,
    /// Closing mark.
    end: Vec<u8>,
    /// Mark directly before the answer, if there is text between `end` and the answer; else empty.
    header_end: Vec<u8>,
    /// The tokens between the end and the answer.
    gap: Vec<TokenId>,
    /// Tokens that end reasoning which has become too long, up to the answer.
    pub(crate) closing: Vec<TokenId>,
    vocabulary: Arc<Vocabulary>,
    tokenizer: Arc<ModelTokenizer>,
}

impl std::fmt::Debug for Reasoning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reasoning")
            .field("max_tokens", &self.max_tokens)
            .field("end", &String::from_utf8_lossy(&self.end))
            .finish_non_exhaustive()
    }
}

impl Reasoning {
    /// The reasoning of the model called `model`, with this vocabulary and this chat template.
    ///
    /// # Errors
    ///
    /// [`ModelError::NoReasoning`], where no closing mark is known.
    pub(crate) fn new(
        options: &ReasoningOptions,
        model: &str,
        vocabulary: &ModelVocabulary,
        template: Option<&str>,
    ) -> Result<Self, ModelError> {
        let marks = Marks::of(template, &vocabulary.tokenizer);
        let marks = match (&options.end, marks) {
            (Some(end), Some(marks)) if end == marks.end => *marks,
            (Some(end), _) => Marks::ending_with(end),
            (None, Some(marks)) => *marks,
            (None, None) => {
                return Err(ModelError::NoReasoning {
                    model: model.to_owned(),
                    known: KNOWN.each_ref().map(|marks| marks.end).join(", "),
                });
            }
        };
        let tokens = |text: &str| vocabulary.tokenizer.encode(text, false);
        Ok(Self {
            max_tokens: options.max_tokens,
            begin: marks.begin.as_bytes().to_vec(),
            end: marks.end.as_bytes().to_vec(),
            header_end: marks.header_end.as_bytes().to_vec(),
            gap: tokens(marks.gap)?,
            closing: tokens(marks.closing)?,
            vocabulary: Arc::clone(&vocabulary.vocabulary),
            tokenizer: Arc::clone(&vocabulary.tokenizer),
        })
    }

    /// Largest number of tokens between the prompt and the answer.
    pub(crate) fn longest(&self) -> usize {
        self.max_tokens.saturating_add(self.closing.len().max(self.gap.len()))
    }

    /// Whether a model that has written `written` after `prompt` began to reason: the opening mark of its family stands at the
    /// end of the prompt, or in `written`. False where no mark is known.
    pub(crate) fn has_begun(&self, prompt: &[TokenId], written: impl Iterator<Item = TokenId>) -> bool {
        let bytes = |token: TokenId| self.vocabulary.token_bytes(token);
        let prompt: Vec<u8> = prompt.iter().flat_map(|token| bytes(*token)).copied().collect();
        let written: Vec<u8> = written.flat_map(bytes).copied().collect();
        let is_begun = prompt.trim_ascii_end().ends_with(&self.begin) || find(&written, &self.begin).is_some();
        !self.begin.is_empty() && is_begun
    }

    /// A reader of the reasoning's tokens.
    pub(crate) fn reader(&self) -> ReasoningReader<'_> {
        ReasoningReader {
            reasoning: self,
            unread: Vec::new(),
            in_header: false,
        }
    }
}

/// Returns the text that has to follow `prompt` for the answer to begin there, where a model with this chat template would reason
/// first.
pub(crate) fn answer_at_once(prompt: &str, template: Option<&str>, tokenizer: &ModelTokenizer) -> &'static str {
    let Some(marks) = Marks::of(template, tokenizer) else {
        return "";
    };
    if !marks.choice.is_empty() && prompt.ends_with(marks.choice) {
        return marks.answer;
    }
    match prompt.trim_end().ends_with(marks.begin) {
        true => marks.closing,
        false => "",
    }
}

/// Looks for the end of the reasoning in its tokens.
pub(crate) struct ReasoningReader<'a> {
    reasoning: &'a Reasoning,
    /// The last bytes read, which may be the beginning of the mark that is looked for.
    unread: Vec<u8>,
    /// Whether the closing mark came, and `header_end` did not yet.
    in_header: bool,
}

impl ReasoningReader<'_> {
    /// Reads the next token. Where the reasoning ends with it: the tokens that the model reads in its place before the answer.
    pub(crate) fn read(&mut self, token: TokenId) -> Option<Vec<TokenId>> {
        let reasoning = self.reasoning;
        let bytes = reasoning.vocabulary.token_bytes(token);
        self.unread.extend_from_slice(bytes);
        loop {
            let wanted = match self.in_header {
                true => &reasoning.header_end,
                false => &reasoning.end,
            };
            let Some(at) = find(&self.unread, wanted) else {
                let kept = self.unread.len().min(wanted.len().saturating_sub(1));
                self.unread.drain(..self.unread.len() - kept);
                return None;
            };
            self.unread.drain(..at + wanted.len());
            if self.in_header || reasoning.header_end.is_empty() {
                break;
            }
            self.in_header = true;
        }
        let rest = &self.unread;
        if rest.is_empty() {
            return Some([&[token], &reasoning.gap[..]].concat());
        }
        if rest.trim_ascii().is_empty() {
            return Some(vec![token]);
        }
        // The token reaches into the answer, whose first bytes the model would take for written.
        let of_reasoning = &bytes[..bytes.len().saturating_sub(rest.len())];
        let tokens = reasoning.tokenizer.tokenize(of_reasoning);
        Some([&tokens[..], &reasoning.gap[..]].concat())
    }
}

/// The place of `wanted` in `text`.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    match wanted.is_empty() {
        true => Some(0),
        false => text.windows(wanted.len()).position(|window| window == wanted),
    }
}
