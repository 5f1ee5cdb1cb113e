//! All tests of the crate from outside, in one program: each program more would link candle and the tokenizers again.

// Helpers unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod chat_templates;
mod checkpoints;
mod configurations;
mod decode;
mod experts;
mod gguf;
mod gguf_models;
mod gguf_tokenizers;
mod golden;
mod hub;
mod hub_server;
mod loading;
mod reasoning;
mod rollback;
mod scripted;
mod tokenizers;
