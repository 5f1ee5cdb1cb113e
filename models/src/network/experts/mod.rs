//! Mixtures of experts: which experts tokens are sent to, and how the experts of a layer are read.

pub(super) mod routes;
pub(super) mod stacked;
