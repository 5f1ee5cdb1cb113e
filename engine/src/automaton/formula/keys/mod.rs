//! The keys of an object's members: the keys that a formula mentions, the order in which they come, and the cells of
//! keys that a formula does not tell apart.

pub(crate) mod cell;
mod conditions;
pub(crate) mod independent;
mod order;
mod parts;
pub(crate) mod sets;
mod sorted_cells;
