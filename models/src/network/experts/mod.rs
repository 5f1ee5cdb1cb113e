//! Mixtures of experts: their weights, the routing of tokens to experts, and the reading of experts that are kept in one tensor.

pub(super) mod mixture;
pub(super) mod routes;
pub(super) mod stacked;
