//! Tools for models: writes them with random weights or as GGUF, continues prompts, renders chat templates, prints the families that run, and holds
//! one device against another, for tests, timing and comparison with other software.

mod chat_prompts;
mod compare_devices;
mod export_gguf;
mod families;
mod greedy_tokens;
mod memory_bandwidth;
mod random_checkpoint;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Tools for models, for tests, timing and comparison with other software.
#[derive(Debug, Parser)]
enum Command {
    ChatPrompts(chat_prompts::ChatPrompts),
    CompareDevices(compare_devices::CompareDevices),
    ExportGguf(export_gguf::ExportGguf),
    Families(families::Families),
    GreedyTokens(greedy_tokens::GreedyTokens),
    MemoryBandwidth(memory_bandwidth::MemoryBandwidth),
    RandomCheckpoint(random_checkpoint::WriteRandomCheckpoint),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::ChatPrompts(command) => command.run(),
        Command::CompareDevices(command) => command.run(),
        Command::ExportGguf(command) => command.run(),
        Command::Families(command) => command.run(),
        Command::GreedyTokens(command) => command.run(),
        Command::MemoryBandwidth(command) => command.run(),
        Command::RandomCheckpoint(command) => command.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where the standard error is closed, the exit status still tells.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
