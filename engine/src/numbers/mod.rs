//! Exact sets of numbers, and an automaton over the numerals that denote their members.
//!
//! The conditions of a schema on a number (type, bounds, `multipleOf`, `const`, `enum`, and their Boolean combinations) are one
//! set of finite decimals. The set is built up in three files:
//!
//! - [`divisor`]: the multiples of one decimal;
//! - [`periodic`]: Boolean combinations of sets of multiples;
//! - [`piecewise`] and [`decimal_sets`]: breakpoints with a periodic set between each two, in a normal form.
//!
//! Draft 4 alone asks how a number is written: its `integer` is a numeral without fraction and exponent. So a set of
//! [`NumberSets`] is two sets of decimals, of those that may be written as such a numeral and of those that may be
//! written otherwise, and mostly both are the same.
//!
//! A style that bounds numerals leaves numbers out: [`writable`] narrows the set of all numbers to those that the style keeps and those that
//! a schema's own numbers tell apart.
//!
//! [`NumeralAutomaton`] reads a numeral byte by byte and tells which bytes may follow.

mod decimal_sets;
mod divisor;
mod enumerate;
mod half_line;
mod number_sets;
mod numerals;
mod periodic;
mod piecewise;
#[cfg(test)]
mod tests;
mod writable;

pub(crate) use enumerate::NumberCount;
pub(crate) use number_sets::{NumberSetId, NumberSets};
pub(crate) use numerals::{NextDigits, NumberState, NumeralAutomaton, Precision};
pub(crate) use writable::SchemaNumbers;
