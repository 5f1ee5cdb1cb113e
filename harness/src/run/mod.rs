//! Parts that all runs share: a directory of records with a manifest, progress on the terminal, and an end when the user asks for it.

pub mod directory;
pub mod error;
pub mod heading;
pub mod interrupt;
pub mod machine;
pub mod machine_load;
pub mod manifest;
pub mod progress;
pub mod reading;
pub mod shard;
