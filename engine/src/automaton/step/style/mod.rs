//! The effects of the [style](crate::Style) on the steps of the automaton: bounds where the schema sets none, whitespace, objects
//! that are narrowed to declared keys, and the valid values that all this leaves out.
//!
//! The default bounds are in `style/bounds.rs` of the crate. The depth of values on which a schema says nothing is bounded in
//! `automaton/formula/free_values.rs`.

pub(in crate::automaton) mod bounds;
pub(in crate::automaton) mod narrowings;
mod objects;
pub(in crate::automaton) mod whitespace;
