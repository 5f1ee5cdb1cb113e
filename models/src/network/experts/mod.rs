//! Mixtures of experts: what a layer has of them, which experts tokens are sent to, and how experts in one tensor are read.

pub(super) mod mixture;
pub(super) mod routes;
pub(super) mod stacked;
