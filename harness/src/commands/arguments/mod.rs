//! Arguments that several commands share.

pub mod directory;
pub mod documents;
pub mod frameworks;
pub mod models;
pub mod numbers;
pub mod prompts;
pub mod schema;
pub mod servers;
pub mod style;
