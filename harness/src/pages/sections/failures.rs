//! The section of failures: their numbers, and the failures one by one.

use std::collections::BTreeMap;

use crate::pages::block::{Block, Section};
use crate::report::part::Part;
use crate::report::table::{Style, table};
use crate::results::failures::{Explained, Failure};

/// Failures in tables that are no pages.
const IN_TEXT: usize = 10;

/// Identifier of the section that links lead to.
pub const ID: &str = "failures";

/// The section.
pub fn section(failures: &[Failure], explained: Explained, left_out: usize, style: Style) -> Section {
    let mut section = Section::new(ID, "Failures");
    if failures.is_empty() {
        section.add(Block::Text("Nothing came out wrong in these runs.".to_owned()));
        return section;
    }
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for failure in failures {
        *counts
            .entry((failure.run_of, failure.kind, &failure.framework))
            .or_default() += 1;
    }
    let mut counted = table(["run", "failure", "framework", "number"], 3, style);
    for ((run_of, kind, framework), count) in counts {
        counted.add_row(
            [run_of, kind, framework]
                .map(str::to_owned)
                .into_iter()
                .chain([count.to_string()]),
        );
    }
    section.add(Block::Table(Part::new("Failures by kind", counted, "")));
    section.add(Block::Text(notes(failures, explained, left_out)));
    section.add(Block::Failures);
    section
}

fn notes(failures: &[Failure], explained: Explained, left_out: usize) -> String {
    let mut text = format!("{} failures in all.", failures.len());
    if explained.candidates > 0 {
        text += &format!(
            " Of the {} whose text and schema are known and that the schema forbids, {} were held against it by `maskwright check`'s explanation: byte and \
             keyword are those.",
            explained.candidates, explained.tried,
        );
    }
    if explained.tried < explained.candidates {
        text += " `--explain N` asks for more.";
    }
    let without = failures.iter().filter(|failure| failure.schema.is_none()).count();
    if without > 0 {
        text += &format!(" The schemas of {without} were not found: `--data DIR` says where they are.");
    }
    if left_out > 0 {
        text += &format!(" Schemas and texts of {left_out} are left out, as the page has many already.");
    }
    text
}

/// The first failures as a table, for a terminal and Markdown.
pub fn first(failures: &[Failure], style: Style) -> Option<Part> {
    let header = [
        "run",
        "failure",
        "model",
        "framework",
        "dataset",
        "name",
        "keyword",
        "reason",
    ];
    let mut listed = table(header, header.len(), style);
    for failure in failures.iter().take(IN_TEXT) {
        let cut = |text: &str| match text.char_indices().nth(100) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        let reason = failure.explanation.as_ref().unwrap_or(&failure.reason);
        let cells = [
            failure.run_of,
            failure.kind,
            &failure.model,
            &failure.framework,
            &failure.dataset,
            &failure.name,
            &failure.keyword,
            reason,
        ];
        listed.add_row(cells.map(cut));
    }
    let title = format!(
        "The first {} of {} failures",
        failures.len().min(IN_TEXT),
        failures.len()
    );
    (!failures.is_empty()).then(|| Part::new(title, listed, ""))
}
