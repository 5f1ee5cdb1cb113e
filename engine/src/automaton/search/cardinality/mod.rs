//! Cardinality of the set of values that meet a requirement: finite sets are enumerated, infinite ones recognised.

pub(super) mod enumerate;
pub(super) mod finite;
pub(super) mod infinite;
