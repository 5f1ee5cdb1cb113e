//! Calls of functions: models are asked to call tools, alone and constrained by structural tags, and the calls are read and judged.

pub mod model_run;
mod prompt;
mod readers;
pub mod record;
pub mod report;
pub mod rows;
pub mod settings;
#[cfg(test)]
mod tests;
