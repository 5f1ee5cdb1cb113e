//! `maskwright sample`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use maskwright_suites::validate::Validator;

use super::arguments::documents::DocumentArguments;
use super::arguments::numbers::{positive, seconds};
use super::arguments::schema::SchemaArguments;
use super::arguments::style::{DocumentStyle, StyleArguments};
use crate::documents::with_hint;
use crate::error::CommandError;
use crate::sample::{DocumentWriter, OptionalMembers, SampleError, SampleSettings};

/// Arguments of `maskwright sample`.
#[derive(Debug, Args)]
pub struct SampleArguments {
    /// File of the JSON Schema; `-` reads standard input
    schema: PathBuf,
    /// Number of documents
    #[arg(short = 'n', long, default_value_t = 1, value_parser = positive::<u64>, value_name = "N")]
    count: u64,
    /// Seed: the same seed, schema and options give the same documents
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    #[command(flatten)]
    documents: DocumentArguments,
    #[command(flatten)]
    reading: SchemaArguments,
    /// Style of the documents
    #[arg(long, value_enum, default_value_t = DocumentStyle::Compact)]
    style: DocumentStyle,
    #[command(flatten)]
    style_changes: StyleArguments,
    /// Optional members that are written: those that the schema declares and does not require
    #[arg(long, value_enum, default_value_t = OptionalMembers::Some)]
    optional: OptionalMembers,
    /// Bytes per document, at most. Documents are ended in time; a schema without short enough documents is an error
    #[arg(long, default_value_t = 2_000, value_parser = positive::<usize>, value_name = "N")]
    max_bytes: usize,
    /// Seconds that a document may take
    #[arg(long, default_value_t = 60.0, value_parser = seconds, value_name = "S")]
    time_limit: f64,
    /// Take `format` as an annotation instead of asserting it
    #[arg(long)]
    annotate_formats: bool,
    /// Judge every document by the `jsonschema` crate as well, which reads whole files by the drafts that they name, and asserts
    /// formats
    #[arg(long, conflicts_with_all = ["root", "draft", "annotate_formats"])]
    check: bool,
}

/// Prints random valid documents, one a line in the style `compact`.
///
/// # Errors
///
/// [`CommandError`], where the schema is refused, or a document cannot be ended in time.
pub fn run(arguments: &SampleArguments) -> Result<(), CommandError> {
    let schema = super::read_text(&arguments.schema)?;
    let style = arguments
        .style_changes
        .exact_options(arguments.style, arguments.annotate_formats);
    let options = arguments.reading.apply(style)?;
    let documents = arguments.documents.read()?.beside(&schema, &options.schema.documents);
    let validator = match arguments.check {
        true => Some(
            Validator::with_documents(&schema, &documents)
                .map_err(|error| unusable(&arguments.schema, &error.to_string()))?,
        ),
        false => None,
    };
    let settings = SampleSettings {
        optional: arguments.optional,
        max_bytes: arguments.max_bytes,
        time_limit: Duration::from_secs_f64(arguments.time_limit),
    };
    let writer = DocumentWriter::new(&schema, &documents, options, settings)
        .map_err(|error| unusable(&arguments.schema, &error.to_string()))?;
    for number in 0..arguments.count {
        let text = match writer.write(arguments.seed.wrapping_add(number)) {
            Ok(text) => text,
            Err(SampleError::TimeLimit) => {
                let message = format!(
                    "document {number} takes longer than {} s: allow more with --time-limit",
                    arguments.time_limit
                );
                return Err(unusable(&arguments.schema, &message));
            }
            Err(SampleError::TooLong) => {
                let message = format!(
                    "document {number} cannot be ended within {} bytes: allow more with --max-bytes",
                    arguments.max_bytes
                );
                return Err(CommandError::Arguments(message));
            }
            Err(error) => return Err(unusable(&arguments.schema, &error.to_string())),
        };
        crate::print(&format!("{text}\n"))?;
        if let Some(validator) = &validator {
            let verdict = validator.judge(&text);
            if !verdict.valid {
                let problems: Vec<String> = verdict.problems.iter().map(|problem| problem.message.clone()).collect();
                let message = format!("document {number} is not valid: {}", problems.join("; "));
                return Err(unusable(&arguments.schema, &message));
            }
        }
    }
    Ok(())
}

fn unusable(path: &Path, message: &str) -> CommandError {
    CommandError::Schema {
        path: path.to_owned(),
        message: with_hint(message.to_owned()),
    }
}
