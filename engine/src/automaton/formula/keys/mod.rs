//! Keys of members: which of them a formula keys, in what order they come, and which are alike to it.

pub(crate) mod cell;
mod conditions;
pub(crate) mod independent;
mod order;
pub(crate) mod sets;
mod sorted_cells;
