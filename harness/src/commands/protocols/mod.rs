//! The commands that answer the requests of another program, line by line, until the input ends.

pub mod bowtie;
pub mod worker;
