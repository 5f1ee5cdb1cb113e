//! Values that have to differ from others (`uniqueItems`).

mod closed;
mod containers;
mod keys;
mod numbers;
mod strings;
