//! The program as its users run it, and the documents they read. All in one test program, because each program more is
//! linked anew.

// Helpers unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod bowtie;
mod careless;
mod chat_server;
mod check;
mod commands;
mod console;
mod coverage;
mod docs;
mod fetch;
mod ifstruct;
mod judges;
mod pages;
mod program;
mod prompts;
mod quality;
#[cfg(target_os = "linux")]
mod scripts;
mod servers;
mod shards;
mod tools;
mod train;
