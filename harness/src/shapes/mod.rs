//! Extent of models' answers: their length and emptiness beside the documents of MaskBench, which another model wrote under the same schemas (section
//! 8 of the JSONSchemaBench paper).
//!
//! An answer that is as short as its schema allows is valid whatever the model understood, so that coverage flatters it. The figures here
//! make such answers show.

pub mod report;
pub mod rows;
pub mod shape;
