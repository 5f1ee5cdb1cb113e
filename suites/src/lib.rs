//! Schemas and prompts of the maskwright benchmark.
//!
//! - [`synthetic`] draws random schemas with a valid instance each, for training and for held-out measurements.
//! - [`dataset`] finds and loads the schemas: the embedded sample, JSONSchemaBench directories, the hub's parquet files.
//! - [`test_suite`] and [`mask_bench`] load schemas with labelled instances: the JSON Schema Test Suite, MaskBench.
//! - [`fetch`] brings public data into a cache, checked; [`locate`] finds it again.
//! - [`ifstruct`] has the requests of IFStruct and what their replies must be, and scores replies.
//! - [`quality`] has tasks with known answers, their prompts and their judge.
//! - [`tool_calls`] has requests that call functions, in BFCL's layout, and the judge of the calls.
//! - [`validate`] judges a generated text against its schema; [`strict_json`] reads such texts.
//! - [`census`] counts what schemas use.
//! - [`prompt`] builds the messages that ask a model for an instance.
//! - [`json_text`] writes JSON in the one style that all prompts use.

pub mod census;
pub mod dataset;
pub mod fetch;
pub mod ifstruct;
pub mod locate;
pub mod mask_bench;
pub mod prompt;
pub mod quality;
pub mod strict_json;
pub mod synthetic;
pub mod test_suite;
mod text_file;
pub mod tool_calls;
pub mod validate;

pub use maskwright_json_text as json_text;
