//! `maskwright completions` and `maskwright man`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::Cli;
use crate::error::CommandError;

/// Arguments of `maskwright completions`.
#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// The shell
    shell: Shell,
}

/// Prints the script by which a shell completes the program's arguments.
///
/// # Errors
///
/// [`CommandError`], where standard output cannot be written.
pub fn completions(arguments: &CompletionArguments) -> Result<(), CommandError> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(arguments.shell, &mut command, "maskwright", &mut script);
    crate::print(&String::from_utf8_lossy(&script))
}

/// Arguments of `maskwright man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The command, such as `bench` or `ifstruct run`; without it, the program
    command: Vec<String>,
}

/// Prints the manual page of the program or of one of its commands, for `man -l -`.
///
/// # Errors
///
/// [`CommandError::Arguments`], where there is no such command.
pub fn man(arguments: &ManArguments) -> Result<(), CommandError> {
    let mut command = Cli::command();
    command.build();
    for word in &arguments.command {
        let name = command
            .get_display_name()
            .unwrap_or_else(|| command.get_name())
            .to_owned();
        let Some(found) = command.find_subcommand(word) else {
            let known = command.get_subcommands().map(clap::Command::get_name);
            let suggestion = crate::terminal::did_you_mean(word, known);
            return Err(CommandError::Arguments(format!(
                "{name} has no command {word:?}{suggestion}"
            )));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    crate::print(&String::from_utf8_lossy(&page))
}
