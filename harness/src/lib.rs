//! The program `maskwright`, and of its parts the one that the benchmarks in `benches/` measure with: the frameworks
//! behind their traits.

mod bench;
mod bowtie;
mod commands;
mod compare;
mod coverage;
mod documents;
mod error;
mod figures;
pub mod frameworks;
mod ifstruct;
mod lines;
mod masks;
mod pages;
mod quality;
mod report;
mod results;
mod run;
mod sample;
mod server;
mod shapes;
mod terminal;
mod testsuite;
mod tools;
mod train;
mod vocabularies;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use tracing_subscriber::EnvFilter;

use crate::error::CommandError;

/// Benchmarks of constrained decoding for JSON Schema.
#[derive(Debug, Parser)]
#[command(
    name = "maskwright",
    version = VERSION,
    max_term_width = 120,
    after_help = AFTER_HELP
)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
    /// Print nothing but errors beside the result
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more messages on what is done
    #[arg(long, short, global = true)]
    verbose: bool,
}

/// Version and commit of this program, and the features it was built with.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("MASKWRIGHT_COMMIT"),
    ", features: ",
    env!("MASKWRIGHT_FEATURES"),
    ")"
);

/// Text at the end of every help.
const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 something was found: by `check` or `compare --fail-on-regression`, lines that `ifstruct` could not score, or a part of `all` \
failed; 2 wrong arguments; 3 a model, dataset, framework or schema cannot be used or fetched, or nothing was measured; 4 results cannot be written or \
read; 5 a server left questions unanswered, --max-cost was reached, or `merge` lacks parts of a run; 6 warnings that `check --deny warnings` makes errors; 130 interrupted. After 5 and 130, the records so far are kept.

Environment: MASKWRIGHT_CACHE, where `fetch` keeps data [default: maskwright in the user's directory of caches]; MASKWRIGHT_LOG or RUST_LOG, \
what is logged, such as debug or maskwright=trace; HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HUB_OFFLINE, as the Hugging \
Face hub's own tools take them; GITHUB_TOKEN, OPENAI_API_KEY, GEMINI_API_KEY, keys for these services; COLUMNS, the width of tables; NO_COLOR, no colours; MIMALLOC_*, options of the \
allocator of workers.";

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    let recorded = commands::resumed::recorded_options(&command(), &given).unwrap_or_default();
    let say_recorded = || {
        if !recorded.is_empty() {
            let options: Vec<_> = recorded.iter().map(|option| option.to_string_lossy()).collect();
            run::progress::say(&format!("options of the run's manifest: {}", options.join(" ")));
        }
    };
    let cli = match parse(&[&given[..], &recorded].concat()) {
        Ok(cli) => cli,
        Err(error) => {
            say_recorded();
            return wrong_usage(&error, &given);
        }
    };
    if cli.quiet {
        run::progress::be_quiet();
    }
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => "error",
        (false, true) => "info",
        (false, false) => "warn",
    };
    tracing_subscriber::fmt()
        .with_env_filter(log_filter(level))
        .with_writer(std::io::stderr)
        .with_ansi(report::table::shows_colours(&std::io::stderr()))
        // What cannot be written to standard error is no reason to end.
        .log_internal_errors(false)
        .init();
    say_recorded();
    match commands::run(cli.command) {
        Ok(()) | Err(CommandError::OutputClosed) => ExitCode::SUCCESS,
        Err(error) => {
            match commands::part_of_all().and_then(|part| error.end_of_part(&part)) {
                Some(end) => run::progress::say(&end),
                None => {
                    let message = terminal::with_short_pointers(&error.to_string());
                    run::progress::complain(&format!("error: {message}"));
                }
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// Returns the command line, in which the value of every option may begin with a minus sign: the error in `--seed -1` is then the number, and not an
/// unknown option `-1`.
fn command() -> clap::Command {
    fn with_negative_numbers(command: clap::Command) -> clap::Command {
        let takes_value = |argument: &clap::Arg| argument.get_long().is_some() && argument.get_action().takes_values();
        command
            .mut_args(|argument| match takes_value(&argument) {
                true => argument.allow_negative_numbers(true),
                false => argument,
            })
            .mut_subcommands(with_negative_numbers)
    }
    with_negative_numbers(Cli::command())
}

fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Prints the error in the arguments, or the help that they ask for. Control characters in the arguments, which may come from names of files, are
/// shown instead of obeyed.
fn wrong_usage(error: &clap::Error, given: &[OsString]) -> ExitCode {
    let is_plain = |argument: &OsString| terminal::in_line(&argument.to_string_lossy()) == argument.to_string_lossy();
    match error.use_stderr() && !given.iter().all(is_plain) {
        true => run::progress::complain(error.render().to_string().trim_end()),
        // Where nobody reads it, there is nobody to tell.
        false => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Returns the filter of log messages: that of the environment, or else `level` and above.
fn log_filter(level: &str) -> EnvFilter {
    for variable in ["MASKWRIGHT_LOG", "RUST_LOG"] {
        let Ok(directives) = std::env::var(variable) else {
            continue;
        };
        match EnvFilter::builder().parse(&directives) {
            Ok(filter) => return filter,
            Err(error) => run::progress::say(&format!(
                "{variable} is {directives:?}, which is left out of account: {error}; examples are debug and maskwright=trace"
            )),
        }
    }
    EnvFilter::new(level)
}

/// Writes text for people to standard output, without control characters, which others may have put into it.
///
/// # Errors
///
/// As [`print`].
fn print_text(text: &str) -> Result<(), CommandError> {
    match report::table::has_colours() {
        true => print(&terminal::with_short_pointers(&plain_but_colours(text))),
        false => print(&terminal::with_short_pointers(&terminal::harmless(text))),
    }
}

/// A text without control characters, but for the colours of our own tables, in which there are no others.
fn plain_but_colours(text: &str) -> String {
    const ESCAPE: &str = "\u{1b}[";
    let parts = text.split(ESCAPE).enumerate().map(|(number, part)| {
        let is_colour = part
            .split_once('m')
            .is_some_and(|(code, _)| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
        let part = terminal::harmless(part);
        match (number, is_colour) {
            (0, _) => part.into_owned(),
            (_, true) => format!("{ESCAPE}{part}"),
            (_, false) => format!("\\u{{1b}}[{part}"),
        }
    });
    parts.collect()
}

/// Writes a command's result to standard output.
///
/// # Errors
///
/// [`CommandError::OutputClosed`], where the reader has gone away, which ends the command.
fn print(text: &str) -> Result<(), CommandError> {
    use std::io::Write as _;
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(CommandError::OutputClosed),
        written => Ok(written?),
    }
}
