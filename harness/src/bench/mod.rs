//! The benchmark of `maskwright bench`: models write answers, constrained by frameworks or by servers.
//!
//! [`model_run`] and [`server_run`] measure and put [`record::Record`]s on disk; [`rows`], [`server_rows`] and [`comparison`]
//! derive figures from records; [`report`] prints them.

pub mod comparison;
pub mod failures;
mod late_masker;
pub mod measure;
pub mod model_run;
pub mod prompts;
pub mod record;
pub mod report;
pub mod rows;
pub mod server_answers;
pub mod server_rows;
pub mod server_run;
pub mod settings;
