//! Figures 2a and 2b: the keywords and formats that schemas use.

use std::collections::BTreeMap;

use maskwright_suites::census::{Census, Frequency};

use super::bars::{Bar, Panel, stacked};

/// Keywords or formats that are drawn, at most: the most frequent.
const MAX_BARS: usize = 40;

/// The picture of the keywords, by the number of schemas that use them.
pub fn keywords(counted: &[(String, Census)]) -> String {
    svg("Keywords", counted, |census| &census.keywords, 0)
}

/// The picture of the formats, by the number of schemas that use them.
pub fn formats(counted: &[(String, Census)]) -> String {
    svg("Formats", counted, |census| &census.formats, 1)
}

fn svg(
    title: &str,
    counted: &[(String, Census)],
    counts: fn(&Census) -> &BTreeMap<String, Frequency>,
    fill: usize,
) -> String {
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, count) in counted.iter().flat_map(|(_, census)| counts(census)) {
        *totals.entry(name).or_default() += count.schemas;
    }
    let schemas: usize = counted.iter().map(|(_, census)| census.sizes.len()).sum();
    let mut totals: Vec<(&str, usize)> = totals.into_iter().collect();
    totals.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let bar = |(name, count): (&str, usize)| Bar {
        name: name.chars().take(32).collect(),
        value: count as f64,
        label: format!("{count} ({:.1} %)", 100.0 * count as f64 / schemas.max(1) as f64),
        fill,
        interval: None,
    };
    stacked(&[Panel {
        title: title.to_owned(),
        subtitle: format!("schemas that use them, of {schemas}"),
        full: None,
        bars: totals.into_iter().take(MAX_BARS).map(bar).collect(),
    }])
}
