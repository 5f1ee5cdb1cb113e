//! MaskBench: records of replays, the figures derived from them, tables and curves.

pub mod plot;
pub mod record;
pub mod report;
pub mod rows;
