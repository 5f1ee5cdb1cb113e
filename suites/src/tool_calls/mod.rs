//! Function-calling requests, and the judge of the calls.
//!
//! A [`RequestSet`] is read from files in the layout of the Berkeley Function-Calling Leaderboard (BFCL), or is the sample that is part of
//! the program. Each [`ToolRequest`] has messages, functions and the right calls; [`judge`] judges the calls of a reply.

mod accepted;
mod bfcl_types;
mod judge;
mod reading;
mod request;
#[cfg(test)]
mod tests;

pub use judge::{Call, CallJudgement, judge};
pub use reading::ToolRequestError;
pub use request::{ExpectedCall, RequestSet, ToolFunction, ToolRequest};

/// The name of the set that is part of the program.
pub const BUILTIN: &str = "builtin";
