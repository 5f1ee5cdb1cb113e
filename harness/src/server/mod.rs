//! Servers that answer chat completions: OpenAI, Gemini, vLLM, SGLang, llama-server and whatever speaks like one of them.
//!
//! A [`ServerSettings`] names a server and its dialect, a [`Client`] asks it [`Question`]s, one [`Answer`] each, and [`ask_all`] keeps several in
//! flight. The result of a question is a typed [`Outcome`]; a question without an answer, for reasons that lie in the server or the network, is
//! [`Unanswered`] and worth asking again.

mod answer;
mod client;
mod dialect;
mod error;
mod pace;
mod patience;
mod pool;
mod probe;
mod protocol;
mod reading;
mod replicas;
mod retry;
mod settings;
mod stream;
mod usage;

pub use answer::{Answer, Outcome, Question};
pub use client::Client;
pub use error::Unanswered;
pub use patience::Patience;
pub use pool::{Ended, Next, ask_all};
pub use probe::check;
pub use settings::{ServerSettings, ServerSettingsSummary};
pub use usage::{Prices, TokenSource};
