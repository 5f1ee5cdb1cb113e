//! The keys of an object's members: the keys that a formula mentions, the order in which they come, and the cells of
//! keys that a formula does not tell apart.

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
