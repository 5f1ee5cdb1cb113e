//! Answers to questions with known answers: the effect of frameworks on the quality of a model (section 6 of the JSONSchemaBench paper).

pub mod model_run;
pub mod overlap;
pub mod record;
pub mod report;
pub mod rows;
pub mod server_run;
pub mod settings;
#[cfg(test)]
mod tests;
