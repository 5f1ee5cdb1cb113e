//! What the [style](crate::Style) changes in the steps of the machine: bounds on what the schema leaves without one, whitespace,
//! objects that are narrowed to declared keys, and what of a schema's values all that leaves out.

pub(in crate::automaton) mod bounds;
pub(in crate::automaton) mod narrowings;
mod objects;
pub(in crate::automaton) mod whitespace;
