//! Values that have to differ (`uniqueItems`).

mod closed;
mod containers;
mod keys;
mod numbers;
mod strings;
