//! Runs of IFStruct: the forms of replies, records, tables.

pub mod form;
pub mod published;
pub mod record;
pub mod report;
pub mod rewrite;
pub mod settings;
pub mod tally;
#[cfg(test)]
mod tests;
