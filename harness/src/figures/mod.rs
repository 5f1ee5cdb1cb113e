//! The JSONSchemaBench paper's figures as pictures (SVG), and its tables of datasets and engines, made from records and schemas.
//!
//! All pictures have one style ([`canvas`]): colours of Okabe and Ito (2008), each with a hatching of its own, and every figure written beside its
//! bar or mark, so that they can be read without colour.

pub mod bars;
pub mod canvas;
pub mod constraints;
pub mod features;
pub mod frequencies;
pub mod heat_map;
pub mod overview;
pub mod pairing;
pub mod prompt;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod upset;
