//! Expressions: each is stored once, and constructors keep a normal form that makes most equal languages equal ids.

pub(super) mod arena;
mod boolean;
pub(super) mod coarse_char_set;
mod constructors;
pub(super) mod expression;
mod facts;
mod leap_second;
pub(super) mod word_lists;
