//! The commands that answer another program, line by line, until it has nothing more to ask.

pub mod bowtie;
pub mod worker;
