//! `maskwright coverage`.

mod run;

use std::path::PathBuf;

use clap::Args;
use maskwright_suites::test_suite::Draft;

use super::arguments::directory::DirectoryArguments;
use super::arguments::documents::DocumentArguments;
use super::arguments::frameworks::ReplayArguments;
use super::arguments::numbers::positive;
use crate::coverage::documents::{Amounts, MAX_MADE};
use crate::coverage::subject::Source;

pub use run::run;

/// Arguments of `maskwright coverage`.
#[derive(Debug, Args)]
pub struct CoverageArguments {
    /// Estimate true coverage (definition 5.3 of the JSONSchemaBench paper), the only one that is measured here: declared and
    /// empirical coverage are what `bench` measures
    #[arg(long = "true", required_unless_present = "resume")]
    truly: bool,
    #[command(flatten)]
    replay: ReplayArguments,
    /// Sources of schemas and labelled documents, comma-separated
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "maskbench,testsuite",
        value_name = "SOURCES"
    )]
    sources: Vec<Source>,
    /// Directory that holds MaskBench's files and the Test Suite [default: what `maskwright fetch` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    documents: DocumentArguments,
    /// Draft of the Test Suite: 4, 6, 7, 2019-09 or 2020-12
    #[arg(long, default_value_t = Draft::Draft202012)]
    draft: Draft,
    /// Schemas of each source, at most
    #[arg(long, value_parser = positive::<usize>, value_name = "N")]
    limit: Option<usize>,
    /// Seed: of the sample that --limit takes (the first schemas without it), and of the documents that are made
    #[arg(long)]
    seed: Option<u64>,
    /// Documents sampled from each schema, up to 1000
    #[arg(long, default_value_t = 6, value_parser = documents_made, value_name = "N")]
    sampled: usize,
    /// Changed documents of each schema: at most this many invalid and at most this many valid ones; up to 1000
    #[arg(long, default_value_t = 16, value_parser = documents_made, value_name = "N")]
    mutated: usize,
    /// Defects printed of each framework; report.md and report.json have more
    #[arg(long, default_value_t = 5, value_name = "N")]
    defects: usize,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Reads a number of documents to make.
fn documents_made(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number <= MAX_MADE);
    number.ok_or_else(|| format!("expected a number from 0 to {MAX_MADE}"))
}

impl CoverageArguments {
    /// Returns the numbers of documents to make.
    fn amounts(&self) -> Amounts {
        Amounts {
            sampled: self.sampled,
            mutated: self.mutated,
            seed: self.seed.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_documents_are_bounded() {
        assert_eq!(documents_made("0"), Ok(0));
        assert_eq!(documents_made("1000"), Ok(MAX_MADE));
        for text in ["1001", "100000000", "-1", "18446744073709551616", ""] {
            assert!(documents_made(text).unwrap_err().contains("from 0 to 1000"), "{text}");
        }
    }
}
