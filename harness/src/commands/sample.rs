//! `maskwright sample`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use maskwright::{Compiler as _, ExactCompiler, Vocabulary};
use maskwright_models::{Constraint, DecodeOptions, FinishReason, SamplingOptions, Unigram, generate};
use maskwright_suites::validate::Validator;

use super::arguments::documents::DocumentArguments;
use super::arguments::numbers::{positive, seconds};
use super::arguments::schema::SchemaArguments;
use super::arguments::style::{DocumentStyle, StyleArguments};
use crate::documents::with_hint;
use crate::error::CommandError;

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
    /// How documents look
    #[arg(long, value_enum, default_value_t = DocumentStyle::Compact)]
    style: DocumentStyle,
    #[command(flatten)]
    style_changes: StyleArguments,
    /// Bytes per document, at most. Documents are ended in time; a schema whose documents cannot be is an error
    #[arg(long, default_value_t = 2_000, value_parser = positive::<usize>, value_name = "N")]
    max_bytes: usize,
    /// Seconds that a document may take
    #[arg(long, default_value_t = 60.0, value_parser = seconds, value_name = "S")]
    time_limit: f64,
    /// Take `format` as an annotation instead of asserting it
    #[arg(long)]
    annotate_formats: bool,
    /// Judge every document by the `jsonschema` crate as well, which reads whole files by the drafts that they name
    #[arg(long, conflicts_with_all = ["root", "draft"])]
    check: bool,
}

/// Prints random valid documents, one after the other.
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
    let compiler = ExactCompiler::new(Arc::new(bytes()?), options);
    let start = compiler
        .compile_with_documents(&schema, &documents)
        .map_err(|error| unusable(&arguments.schema, &error.to_string()))?;
    let mut model = Unigram::new(&weights(), arguments.max_bytes.saturating_add(16))?;
    for number in 0..arguments.count {
        let constraint = Constraint {
            framework: "maskwright".to_owned(),
            masker: start
                .fork()
                .map_err(|error| unusable(&arguments.schema, &error.to_string()))?,
        };
        let options = DecodeOptions {
            sampling: SamplingOptions {
                temperature: 1.0,
                seed: arguments.seed.wrapping_add(number),
                ..SamplingOptions::default()
            },
            eos_tokens: vec![END],
            max_tokens: arguments.max_bytes,
            time_limit: Some(Duration::from_secs_f64(arguments.time_limit)),
            fast_forward: false,
            finish_in_time: true,
            overlap: false,
        };
        let generation = generate(&mut model, &[END], Some(constraint), &options, &AtomicBool::new(false));
        let text: Vec<u8> = generation
            .token_ids()
            .into_iter()
            .filter_map(|token| u8::try_from(token).ok())
            .collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        match generation.finish {
            Ok(FinishReason::EndOfSequence) => {}
            Ok(FinishReason::TimeLimit) => {
                let message = format!(
                    "document {number} takes longer than {} s: allow more with --time-limit",
                    arguments.time_limit
                );
                return Err(unusable(&arguments.schema, &message));
            }
            Ok(_) => {
                let message = format!(
                    "document {number} cannot be ended within {} bytes: allow more with --max-bytes",
                    arguments.max_bytes
                );
                return Err(CommandError::Arguments(message));
            }
            Err(error) => return Err(unusable(&arguments.schema, &error.to_string())),
        }
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

/// The token that ends a document; those below it are the bytes.
const END: u32 = 256;

/// The vocabulary of single bytes.
fn bytes() -> Result<Vocabulary, CommandError> {
    let mut builder = Vocabulary::builder();
    for byte in 0..=u8::MAX {
        builder = builder.text(u32::from(byte), [byte])?;
    }
    Ok(builder.special(END, "end")?.eos([END]).build()?)
}

/// How frequent each byte, and the end, should be where it can come. What separates the parts of a document stands
/// against few others there, and so can be rare: in strings it hardly comes.
fn weights() -> Vec<f32> {
    let weight = |token: u32| match u8::try_from(token) {
        Err(_) => 0.02,
        // Some ten characters in a string.
        Ok(b'"') => 0.1,
        Ok(b'e' | b't' | b'a' | b'o' | b'i' | b'n') => 0.08,
        Ok(b'a'..=b'z') => 0.03,
        Ok(b'A'..=b'Z' | b' ' | b'_') => 0.005,
        // Two digits or so in a number, two members or items in what holds some.
        Ok(b'0'..=b'9') => 0.002,
        Ok(b',' | b'}' | b']' | b':') => 0.01,
        Ok(b'{' | b'[') => 0.004,
        Ok(b'-' | b'.') => 0.002,
        Ok(0x21..=0x7E) => 0.000_5,
        Ok(0x80..) => 0.000_1,
        Ok(_) => 0.000_01,
    };
    (0..=END).map(weight).collect()
}
