//! [`transformers_section`]: how greedy tokens and logits compare with those of Hugging Face transformers, for docs/models.md.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use crate::load::config::family::Family;

/// Results recorded by `scripts/compare-transformers/run.sh --record`.
const RECORD: &str = include_str!("transformers_comparison.json");

#[derive(Deserialize)]
struct Record {
    date: String,
    processor: String,
    transformers: String,
    torch: String,
    /// Number of tokens of each continuation.
    tokens: usize,
    families: BTreeMap<String, Compared>,
}

/// The checkpoints of one family.
#[derive(Deserialize)]
struct Compared {
    checkpoints: usize,
    continuations: usize,
    equal: usize,
    /// The largest difference of logits, as a part of their spread.
    difference: f64,
}

/// The comparison as Markdown.
pub(super) fn transformers_section() -> String {
    let Ok(record) = serde_json::from_str::<Record>(RECORD) else {
        return String::new();
    };
    let mut text = format!(
        "## Compared with transformers

Greedy continuations of {} tokens of small random checkpoints, of prompts of 1 to 700 tokens, in 32 bits, and the largest difference of any logit after the prompt and at the end, as a part of the spread of the
logits, the largest less the smallest. Each checkpoint counts once for each format that its weights are kept in.
({}, 1 thread of: {}; transformers {}, torch {}; `scripts/compare-transformers/run.sh --record`)

| family | checkpoints | continuations equal | logits differ by at most (of the spread) |
|---|--:|--:|--:|
",
        record.tokens, record.date, record.processor, record.transformers, record.torch,
    );
    for family in Family::ALL {
        let row = match record.families.get(family.name()) {
            Some(found) => format!(
                "{} | {} of {} | {:.1e}",
                found.checkpoints, found.equal, found.continuations, found.difference,
            ),
            None => "not run | not run | not run".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {row} |", family.name());
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COMPARED_WITH;

    #[test]
    fn every_family_has_been_compared() {
        let record: Record = serde_json::from_str(RECORD).unwrap();
        assert!(COMPARED_WITH.ends_with(&record.transformers));
        for family in Family::ALL {
            let found = &record.families[family.name()];
            assert!(
                found.checkpoints > 0 && found.equal == found.continuations,
                "{family:?}"
            );
        }
    }
}
