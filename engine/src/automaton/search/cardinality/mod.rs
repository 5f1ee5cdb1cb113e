//! The number of values that meet a requirement: finitely many, which are enumerated, or infinitely many.

pub(super) mod enumerate;
pub(super) mod finite;
pub(super) mod infinite;
