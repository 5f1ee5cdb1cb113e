//! Comparison of two runs, or of two sets of runs: the changes, and whether chance is enough to explain them.
//!
//! [`pairs`] pairs the records of two sets; [`differences`] makes rows of pairs, with intervals and tests from [`resampling`]; [`report`]
//! shows them. [`conditions`] says whether they may be compared at all.

pub mod conditions;
pub mod differences;
pub mod pairs;
pub mod report;
mod resampling;
#[cfg(test)]
mod tests;
