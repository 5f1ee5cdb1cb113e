//! The warnings of `check`: parts of a schema that are probably not meant.

use clap::{Args, ValueEnum};
use maskwright::ExactOptions;
use maskwright::lint::{Warning, WarningKind, lint, peer_notes};
use serde_json::{Value, json};

use crate::lines::lines_of;

/// Options for warnings: notes on other implementations, and warnings that count as errors.
#[derive(Debug, Args)]
pub struct WarningArguments {
    /// Fail, with exit code 6, where there are warnings
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Denied>,
    /// Also note keywords that OpenAI's strict mode, XGrammar or llguidance refuse, drop or require. These notes are never errors
    #[arg(long)]
    peers: bool,
}

/// The findings that `--deny` makes errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Denied {
    Warnings,
}

impl WarningArguments {
    /// Returns the warnings on a schema, and the notes with `--peers`.
    pub fn find(&self, schema: &str, options: &ExactOptions) -> Vec<Warning> {
        let mut found = lint(schema, options);
        if self.peers {
            found.extend(peer_notes(schema, options));
        }
        found
    }

    /// Returns the number of warnings that count as errors.
    pub fn denied(&self, warnings: &[Warning]) -> usize {
        match self.deny {
            Some(Denied::Warnings) => warnings.iter().filter(|warning| !is_note(warning)).count(),
            None => 0,
        }
    }
}

fn is_note(warning: &Warning) -> bool {
    warning.kind() == WarningKind::Peers
}

/// Returns warnings as lines of text.
pub fn described(warnings: &[Warning], schema: &str) -> Vec<String> {
    let described = warnings.iter().zip(places(warnings, schema)).map(|(warning, line)| {
        let what = if is_note(warning) { "note" } else { "warning" };
        match line {
            Some(line) => format!("{what}: line {line}: {warning}"),
            None => format!("{what}: {warning}"),
        }
    });
    described.collect()
}

/// Returns warnings as JSON.
pub fn report(warnings: &[Warning], schema: &str) -> Vec<Value> {
    let report = warnings.iter().zip(places(warnings, schema)).map(|(warning, line)| {
        json!({
            "code": warning.kind().code(), "pointer": warning.pointer(), "line": line, "message": warning.message(),
        })
    });
    report.collect()
}

/// Returns the lines of the schema on which the subjects of the warnings begin.
fn places(warnings: &[Warning], schema: &str) -> Vec<Option<usize>> {
    let pointers: Vec<&str> = warnings.iter().map(Warning::pointer).collect();
    lines_of(schema, &pointers)
}
