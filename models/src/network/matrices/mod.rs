//! Weight matrices: linear maps, and the formats that their matrices are kept in.

pub(crate) mod format;
pub(super) mod linear;
pub(super) mod mxfp4;
pub(super) mod quantised;
