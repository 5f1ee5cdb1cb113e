//! The keys of an object's members: the keys that a formula mentions, the order in which they come, and the cells of
//! keys that a formula does not tell apart.
//!
//! The schema's own order of keys is read from its text in `declared.rs`; `order.rs` settles branches that disagree about it.
//! `conditions.rs` recognises objects whose keys are judged one by one.

pub(crate) mod cell;
mod conditions;
mod declared;
pub(crate) mod independent;
pub(crate) mod meant;
mod order;
pub(crate) mod orders;
mod parts;
pub(crate) mod sets;
mod sorted_cells;
mod wanted;
mod written;
