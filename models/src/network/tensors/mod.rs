//! The forward pass by tensor operations, for any device candle has.

pub(crate) mod forward;
pub(super) mod norm;
