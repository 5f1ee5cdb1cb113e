//! Derivatives: the language behind a first character in texts of a language, singly or as tables over ranges of characters.

pub(super) mod custom_dfa_states;
pub(super) mod derivatives;
mod transitions;
