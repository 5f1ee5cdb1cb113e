//! The datasets of a run.

use maskwright_suites::dataset::{BUILTIN, Dataset, Subsample};
use maskwright_suites::synthetic::{SchemaGenerator, SchemaSplit};

use super::BenchArguments;
use crate::bench::settings::HELD_OUT;
use crate::error::CommandError;

/// Number of schemas of the held-out dataset where no limit is given.
const HELD_OUT_DEFAULT: usize = 100;

/// Largest number of schemas of the held-out dataset, all of which are in memory.
const HELD_OUT_MOST: usize = 100_000;

/// Returns the datasets to run: those named, or all of --data, or the built-in sample.
pub(super) fn datasets(arguments: &BenchArguments) -> Result<Vec<Dataset>, CommandError> {
    let sample = Subsample {
        limit: arguments.limit,
        seed: arguments.seed,
    };
    let mut catalog = super::super::catalog(arguments.data.as_deref())?;
    catalog.add(held_out(arguments))?;
    let data = arguments.data.as_deref();
    let names = super::super::dataset_names(&catalog, &arguments.datasets, data, &[BUILTIN])?;
    Ok(catalog.select(&names, sample)?)
}

/// Generates the held-out schemas, as many as the limit allows; none where the dataset is not named.
pub(super) fn held_out(arguments: &BenchArguments) -> Dataset {
    if !arguments
        .datasets
        .iter()
        .any(|name| name.eq_ignore_ascii_case(HELD_OUT))
    {
        return Dataset::from_texts(HELD_OUT, []);
    }
    let count = arguments.limit.unwrap_or(HELD_OUT_DEFAULT).min(HELD_OUT_MOST);
    let examples = SchemaGenerator::new(arguments.seed.unwrap_or(0), SchemaSplit::HeldOut).take(count);
    let texts = examples.enumerate().map(|(number, example)| {
        let text = example.schema.to_string();
        (format!("{number:06}"), text)
    });
    Dataset::from_texts(HELD_OUT, texts)
}
