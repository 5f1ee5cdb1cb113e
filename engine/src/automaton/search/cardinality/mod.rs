//! How many values there are: finitely many, which are written out, or infinitely many.

pub(super) mod enumerate;
pub(super) mod finite;
pub(super) mod infinite;
