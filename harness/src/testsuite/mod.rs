//! The JSON Schema Test Suite: cases judged, categories counted, tables and a heat map of them.

pub mod conformance;
pub mod record;
pub mod report;
