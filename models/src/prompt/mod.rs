//! From messages to tokens: chat templates, tokenizers, the marks of reasoning, and the vocabulary that masks are made for.

pub(crate) mod chat_template;
pub(crate) mod python_text;
pub(crate) mod reasoning;
pub(crate) mod tokenizer;
pub(crate) mod vocabulary;
mod watched;
