//! From messages to tokens: chat templates, tokenizers, and the vocabulary that masks are made for.

pub(crate) mod chat_template;
pub(crate) mod python_text;
pub(crate) mod tokenizer;
pub(crate) mod vocabulary;
mod watched;
