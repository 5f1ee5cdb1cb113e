//! `maskwright census`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use maskwright_suites::census::{Census, Frequency, SchemaSize};
use maskwright_suites::dataset::Subsample;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::report::statistics::Spread;
use crate::report::table::{Style, Table, table};
use crate::run::progress;

/// Arguments of `maskwright census`.
#[derive(Debug, Args)]
pub struct CensusArguments {
    /// Datasets, comma-separated: `builtin`, names found in --data or fetched, or `all` of these [default: those in --data, or all
    /// there are]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    /// Directory of further datasets: JSONSchemaBench's files, or the hub's parquet files. Without it,
    /// what `maskwright fetch` has fetched
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Keywords and formats shown in the tables, the most frequent first
    #[arg(long, default_value_t = 40, value_name = "N")]
    top: usize,
    /// Print one JSON object, with every keyword and format
    #[arg(long)]
    json: bool,
}

/// Counts keywords, formats, drafts and sizes.
///
/// # Errors
///
/// [`CommandError::Dataset`], where a dataset cannot be found.
pub fn run(arguments: &CensusArguments) -> Result<(), CommandError> {
    let catalog = super::catalog(arguments.data.as_deref())?;
    let mut counted = Vec::new();
    // Without names, the catalog selects all that it has.
    let names = super::dataset_names(&catalog, &arguments.datasets, arguments.data.as_deref(), &[])?;
    for dataset in catalog.select(&names, Subsample::default())? {
        let mut census = Census::default();
        for instance in &dataset.instances {
            let problem = match &instance.schema {
                Ok(schema) => census.add(schema).err().map(|error| error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(problem) = problem {
                progress::say(&format!("left out: {}/{}: {problem}", dataset.name, instance.id));
            }
        }
        counted.push((dataset.name, census));
    }
    if counted.iter().all(|(_, census)| census.sizes.is_empty()) {
        let message = "there is no schema that can be read".to_owned();
        return Err(CommandError::NothingMeasured(message));
    }
    if arguments.json {
        let datasets: BTreeMap<&str, Value> = counted
            .iter()
            .map(|(name, census)| (name.as_str(), full(census)))
            .collect();
        return crate::print(&format!("{}\n", json!({ "datasets": datasets })));
    }
    let tables = [
        sizes(&counted),
        drafts(&counted),
        frequencies(&counted, "keyword", arguments.top, |census| &census.keywords),
        frequencies(&counted, "format", arguments.top, |census| &census.formats),
    ];
    let text: String = tables.iter().map(|table| format!("{table}\n\n")).collect();
    crate::print_text(&text)
}

/// Returns a dataset's counts as JSON, with sizes as median and largest.
fn full(census: &Census) -> Value {
    let figures: BTreeMap<&str, Value> = SIZES
        .iter()
        .map(|(name, figure)| {
            let (median, largest) = median_and_largest(census, *figure);
            (*name, json!({ "median": median, "max": largest }))
        })
        .collect();
    json!({
        "schemas": census.sizes.len(),
        "sizes": figures,
        "drafts": census.drafts,
        "keywords": census.keywords,
        "unknown_keywords": census.unknown_keywords,
        "formats": census.formats,
    })
}

/// Function that reads one figure of a schema's size.
type SizeFigure = fn(&SchemaSize) -> usize;

/// The figures of table 8 of the JSONSchemaBench paper.
const SIZES: [(&str, SizeFigure); 4] = [
    ("bytes", |size| size.bytes),
    ("fields", |size| size.fields),
    ("max_fan_out", |size| size.max_fan_out),
    ("depth", |size| size.depth),
];

fn median_and_largest(census: &Census, figure: SizeFigure) -> (Option<f64>, Option<usize>) {
    let values = || census.sizes.iter().map(figure);
    (
        Spread::of(values().map(|value| value as f64)).map(|spread| spread.median),
        values().max(),
    )
}

fn sizes(counted: &[(String, Census)]) -> Table {
    let mut table = table(
        [
            "dataset",
            "schemas",
            "bytes with whitespace (median/max)",
            "fields",
            "fan-out",
            "depth",
        ],
        1,
        Style::Terminal,
    );
    for (name, census) in counted {
        let mut row = vec![name.clone(), census.sizes.len().to_string()];
        row.extend(
            SIZES
                .iter()
                .map(|(_, figure)| match median_and_largest(census, *figure) {
                    (Some(median), Some(largest)) => format!("{median:.0} / {largest}"),
                    _ => "NA".to_owned(),
                }),
        );
        table.add_row(row);
    }
    table
}

fn drafts(counted: &[(String, Census)]) -> Table {
    const DRAFTS: [&str; 8] = [
        "draft-03", "draft-04", "draft-06", "draft-07", "2019-09", "2020-12", "none", "other",
    ];
    let mut table = table(["dataset"].into_iter().chain(DRAFTS), 1, Style::Terminal);
    for (name, census) in counted {
        let count = |draft: &str| census.drafts.get(draft).copied().unwrap_or(0).to_string();
        table.add_row([name.clone()].into_iter().chain(DRAFTS.into_iter().map(count)));
    }
    table
}

/// Returns the `top` most frequent names over all datasets, by the number of schemas in which they occur.
fn frequencies(
    counted: &[(String, Census)],
    what: &str,
    top: usize,
    counts: fn(&Census) -> &BTreeMap<String, Frequency>,
) -> Table {
    let mut totals: BTreeMap<&str, Frequency> = BTreeMap::new();
    for (name, count) in counted.iter().flat_map(|(_, census)| counts(census)) {
        let total = totals.entry(name).or_default();
        total.schemas += count.schemas;
        total.occurrences += count.occurrences;
    }
    let schemas: usize = counted.iter().map(|(_, census)| census.sizes.len()).sum();
    let mut totals: Vec<(&str, Frequency)> = totals.into_iter().collect();
    totals.sort_by_key(|(_, count)| std::cmp::Reverse(count.schemas));
    let mut table = table([what, "schemas", "share", "occurrences"], 1, Style::Terminal);
    for (name, count) in totals.into_iter().take(top) {
        let share = 100.0 * count.schemas as f64 / schemas.max(1) as f64;
        table.add_row([
            name.to_owned(),
            count.schemas.to_string(),
            format!("{share:.1} %"),
            count.occurrences.to_string(),
        ]);
    }
    table
}
