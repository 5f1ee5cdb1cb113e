//! [`StateMasker`], the implementation of [`Masker`](crate::Masker) for every kind of reply, with rollback (`state_masker.rs`).
//!
//! `history.rs` keeps the states that a rollback returns to, `speculation.rs` computes masks of likely tokens ahead of time, and
//! `token_budget.rs` limits masks to tokens after which a document can still end in time.

mod history;
mod speculation;
mod state_masker;
mod token_budget;

pub(crate) use state_masker::{FreeText, MaskedText, StateMasker, TextClassNumbers, Used};
