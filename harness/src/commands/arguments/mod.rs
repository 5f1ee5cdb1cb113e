//! Arguments that several commands share.

pub mod directory;
pub mod frameworks;
pub mod models;
pub mod servers;
pub mod style;
