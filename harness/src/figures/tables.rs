//! Tables 1, 8, 9, 10 and 11 of the paper, with its columns.

use maskwright_suites::census::{Census, SchemaSize};

use crate::frameworks::{Documented, Framework, LM_ONLY};
use crate::report::paper::{self, PaperRow};
use crate::report::statistics::Spread;
use crate::report::table::{Style, Table, table};

/// Drafts as `$schema` names them, in the order of table 9.
const DRAFTS: [&str; 6] = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12", "none"];

/// The paper's category of a dataset (table 1).
fn category(dataset: &str) -> &'static str {
    let plain: String = dataset.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_ascii_lowercase().as_str() {
        "glaiveai2k" => "Function Call",
        "snowplow" => "Operational API",
        "kubernetes" => "Kubernetes API",
        "washingtonpost" => "Resource Access API",
        _ => "Misc",
    }
}

/// Table 1: datasets with their category and number of schemas.
pub fn collections(counted: &[(String, Census)]) -> Table {
    let mut table = table(["Dataset", "Category", "Count"], 2, Style::Markdown);
    for (name, census) in counted {
        table.add_row([name.clone(), category(name).to_owned(), census.sizes.len().to_string()]);
    }
    let total: usize = counted.iter().map(|(_, census)| census.sizes.len()).sum();
    table.add_row(["Total".to_owned(), String::new(), total.to_string()]);
    table
}

/// Table 8: sizes of schemas, median and largest; sizes in KB are those of the schemas without whitespace.
pub fn sizes(counted: &[(String, Census)]) -> Table {
    let header = [
        "Dataset",
        "Count",
        "Size (KB) Med / Max",
        "Field Count Med / Max",
        "Max Fan-Out Med / Max",
        "Schema Depth Med / Max",
    ];
    let mut table = table(header, 1, Style::Markdown);
    for (name, census) in counted {
        let of = |figure: fn(&SchemaSize) -> usize| {
            let median = Spread::of(census.sizes.iter().map(|size| figure(size) as f64)).map(|spread| spread.median);
            (median, census.sizes.iter().map(figure).max())
        };
        let plain = |(median, most): (Option<f64>, Option<usize>)| match (median, most) {
            (Some(median), Some(most)) => format!("{median:.0} / {most}"),
            _ => "NA".to_owned(),
        };
        let kilobytes = |(median, most): (Option<f64>, Option<usize>)| match (median, most) {
            (Some(median), Some(most)) => format!("{:.1} / {:.1}", median / 1024.0, most as f64 / 1024.0),
            _ => "NA".to_owned(),
        };
        table.add_row([
            name.clone(),
            census.sizes.len().to_string(),
            kilobytes(of(|size| size.minified)),
            plain(of(|size| size.fields)),
            plain(of(|size| size.max_fan_out)),
            plain(of(|size| size.depth)),
        ]);
    }
    table
}

/// Table 9: drafts that schemas name.
pub fn drafts(counted: &[(String, Census)]) -> Table {
    let header = ["Dataset"].into_iter().chain(DRAFTS).chain(["other", "total"]);
    let header = header.map(|name| if name == "none" { "unknown" } else { name });
    let mut table = table(header, 1, Style::Markdown);
    let counts = |census: &Census| -> Vec<usize> {
        let known = DRAFTS.map(|draft| census.drafts.get(draft).copied().unwrap_or(0));
        let total = census.sizes.len();
        let other = total.saturating_sub(known.iter().sum());
        known.into_iter().chain([other, total]).collect()
    };
    let mut totals = vec![0; DRAFTS.len() + 2];
    for (name, census) in counted {
        let counts = counts(census);
        for (total, count) in totals.iter_mut().zip(&counts) {
            *total += count;
        }
        table.add_row([name.clone()].into_iter().chain(counts.iter().map(ToString::to_string)));
    }
    table.add_row(
        ["total".to_owned()]
            .into_iter()
            .chain(totals.iter().map(ToString::to_string)),
    );
    table
}

/// Table 10: the engines, their versions, and where they document what they support.
pub fn engines(frameworks: &[Framework]) -> Table {
    let mut table = table(
        ["Engine", "Version", "Options", "JSON Schema Support Documentation"],
        4,
        Style::Markdown,
    );
    for framework in frameworks {
        let source = framework
            .documented
            .as_ref()
            .map_or("", |documented| &documented.source);
        table.add_row([
            framework.name.clone(),
            framework.description.version.clone(),
            framework.description.options.clone(),
            source.to_owned(),
        ]);
    }
    table
}

/// A dataset with the share of its schemas that each framework covers by its documentation.
pub type Theoretical = (String, Vec<f64>);

/// The theoretical coverage (definition C.1) of frameworks over the schemas of a dataset.
pub fn theoretical<'s>(
    dataset: &str,
    frameworks: &[(String, Documented)],
    schemas: impl IntoIterator<Item = &'s str> + Clone,
) -> Theoretical {
    let total = schemas.clone().into_iter().count().max(1) as f64;
    let share = |documented: &Documented| {
        let covered = schemas.clone().into_iter().filter(|schema| documented.covers(schema));
        covered.count() as f64 / total
    };
    let shares = frameworks.iter().map(|(_, documented)| share(documented));
    (dataset.to_owned(), shares.collect())
}

/// Table 11: theoretical coverage, with the paper's where it has the same dataset and engine.
pub fn coverage(rows: &[Theoretical], frameworks: &[(String, Documented)]) -> Table {
    let mut header = vec!["Dataset".to_owned()];
    for (name, _) in frameworks {
        header.push(if name == LM_ONLY {
            "LM only".to_owned()
        } else {
            name.clone()
        });
        if PaperRow::of_framework(name).is_some() {
            header.push(format!("{} (paper)", header.last().map_or("", String::as_str)));
        }
    }
    let mut table = table(header.iter().map(String::as_str), 1, Style::Markdown);
    for (dataset, shares) in rows {
        let mut cells = vec![dataset.clone()];
        for ((name, _), share) in frameworks.iter().zip(shares) {
            cells.push(format!("{share:.2}"));
            if let Some(row) = PaperRow::of_framework(name) {
                let theirs = paper::theoretical(dataset, row);
                cells.push(theirs.map_or_else(|| "NA".to_owned(), |share| format!("{share:.2}")));
            }
        }
        table.add_row(cells);
    }
    table
}
