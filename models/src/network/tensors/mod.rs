//! The forward pass by tensor operations, for any device candle has.

pub(super) mod forward;
pub(super) mod norm;
