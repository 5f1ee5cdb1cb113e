//! The keys of an object's members: those that a formula mentions, their prescribed order, and the cells of
//! keys that a formula does not distinguish.

pub(crate) mod cell;
mod cell_search;
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
