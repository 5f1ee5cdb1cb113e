//! All tests of the crate from outside, in one program, because each program more is linked anew.

// Helpers unwrap as tests do.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod builtin;
mod corpus;
mod dataset;
mod fetch;
mod home_server;
mod ifstruct_prompts;
mod loaders;
mod locate;
