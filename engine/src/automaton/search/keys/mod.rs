//! The keys that an object may have next: judged one by one where each stands by itself (`independent_keys.rs`), tried in objects
//! that have to be completed otherwise (`next_keys.rs`), told by conflicts between patterns (`conflicting_languages.rs`), and in the order
//! that the style prescribes (`object_order.rs`, `ordered_keys.rs`, `rival_keys.rs`).

mod conflicting_languages;
pub(super) mod independent_keys;
pub(in crate::automaton) mod key_list;
mod next_keys;
mod object_order;
mod ordered_keys;
mod rival_keys;
