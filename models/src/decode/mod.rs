//! The loop that writes an answer: forward pass, mask, sampling, forced tokens.
//!
//! ```text
//!  append(tokens) ──────────────────► logits ──► sample over allowed tokens ──► token
//!  mask thread: mask, completion, speculation ──► mask ──┘                       │
//!  ▲                                                                             ▼
//!  └──────────── append([token] + forced tokens) ◄── masker.advance, forced_tokens ┘
//! ```
//!
//! [`generate`](generate::generate) is the loop. The mask of the next token, and a completion from there, are computed while the
//! forward pass runs; `speculation.rs` guesses tokens whose consequences are worked out in the time left. `token_budget.rs` ends
//! answers within a limit on tokens.

pub(crate) mod generate;
pub(crate) mod generation;
pub(crate) mod mask_effect;
mod mask_thread;
pub(crate) mod options;
mod overlapped_masker;
pub(crate) mod sampler;
mod speculation;
mod token_budget;
