//! Hash-consed regular expressions, whose constructors keep a normal form in which most equal languages have equal ids.

pub(super) mod arena;
mod boolean;
pub(super) mod coarse_char_set;
mod constructors;
pub(super) mod expression;
mod facts;
mod leap_second;
pub(super) mod word_lists;
