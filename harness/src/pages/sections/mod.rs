//! The sections of a report, one file for each part of the benchmark.

pub mod bench;
pub mod coverage;
pub mod failures;
pub mod ifstruct;
pub mod manifest;
pub mod masks;
pub mod overview;
pub mod quality;
pub mod testsuite;
pub mod tools;
