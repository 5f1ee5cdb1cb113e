//! Brzozowski derivatives: the language of the texts behind a first character, for one character or as a table over ranges of characters.

pub(super) mod custom_dfa_states;
pub(super) mod derivatives;
mod transitions;
