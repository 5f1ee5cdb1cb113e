//! [`CoverageRow`]: a framework's figures on a dataset, derived from records.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::record::CoverageRecord;
use super::unseen::{Tried, Unseen, detection_limit};
use crate::report::statistics::{Interval, Spread, wilson};

/// Name of the row of all datasets together.
pub const ALL: &str = "all";

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageRow {
    /// The dataset; [`ALL`] of all together.
    pub dataset: String,
    /// The framework.
    pub framework: String,
    /// Schemas tried.
    pub schemas: usize,
    /// Documents with which these schemas were tried, valid and invalid.
    pub documents: [usize; 2],
    /// Share of the schemas that are taken (definition 5.1).
    pub declared: Option<f64>,
    /// Share of the schemas of which no valid document is blocked; a refused schema blocks all of its documents.
    pub nothing_blocked: Option<f64>,
    /// 95 % Wilson interval of [`Self::nothing_blocked`].
    pub nothing_blocked_ci: Option<Interval>,
    /// Share of the schemas of which no invalid document is let through.
    pub nothing_let_through: Option<f64>,
    /// 95 % Wilson interval of [`Self::nothing_let_through`].
    pub nothing_let_through_ci: Option<Interval>,
    /// Schemas of which a valid document is blocked although the schema was taken.
    pub over_constrained: usize,
    /// Schemas of which an invalid document is let through.
    pub under_constrained: usize,
    /// Schemas refused.
    pub refused: usize,
    /// Schemas on which the framework crashed or reached a limit, while compiling or replaying.
    pub failed: usize,
    /// Share of the schemas of which no document shows a defect: an upper bound of true coverage (definition 5.3) on them.
    pub truly: Option<f64>,
    /// 95 % Wilson interval of [`Self::truly`].
    pub truly_ci: Option<Interval>,
    /// Schemas with a defect that no document has shown, at least; `None` where there are no two verdicts on any schema.
    pub unseen: Option<Unseen>,
    /// [`Self::truly`] less the share of [`Self::unseen`]; `None` where that is not known.
    pub estimate: Option<f64>,
    /// True coverage from both sides: from the lower limit of [`Self::truly`] less the upper limit of [`Self::unseen`], to the upper limit of
    /// [`Self::truly`]. Each limit holds with 97.5 %, so that all three hold with 92.5 % at least, of defects above [`Self::detection_limit`].
    pub estimate_ci: Option<Interval>,
    /// The median, over the schemas of which no document shows a defect, of the share of its documents in which a defect had to show to be found with
    /// a probability of 95 %.
    pub detection_limit: Option<f64>,
}

/// The records that count: of schemas that can be used, that have documents, and that every framework was tested on with the same ones.
fn usable(records: &[CoverageRecord]) -> Vec<&CoverageRecord> {
    let unequal = unequal(records);
    let counts = |record: &&CoverageRecord| {
        record.unusable.is_none() && record.has_documents() && !unequal.contains(&schema_of(record))
    };
    records.iter().filter(counts).collect()
}

/// Schemas on which frameworks were tested with different documents, by dataset and name: they tell nothing about who is better.
pub fn unequal(records: &[CoverageRecord]) -> BTreeSet<(&str, &str)> {
    let mut hashes: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let of_used = records.iter().filter(|record| record.unusable.is_none());
    let differing = of_used.filter(|record| {
        let first = hashes.entry(schema_of(record)).or_insert(&record.documents_sha256);
        *first != record.documents_sha256
    });
    differing.map(schema_of).collect()
}

fn schema_of(record: &CoverageRecord) -> (&str, &str) {
    (&record.key.dataset, &record.key.schema)
}

/// The rows of a run: datasets in the order of `datasets`, in each of them `frameworks`, and all datasets together at the end.
pub fn rows(records: &[CoverageRecord], datasets: &[String], frameworks: &[String]) -> Vec<CoverageRow> {
    let usable = usable(records);
    let mut rows = Vec::new();
    for dataset in datasets.iter().map(String::as_str).chain([ALL]) {
        for framework in frameworks {
            let own = usable.iter().copied().filter(|record| {
                record.key.framework == *framework && (dataset == ALL || record.key.dataset == dataset)
            });
            rows.push(row(dataset, framework, &own.collect::<Vec<_>>()));
        }
    }
    rows
}

fn row(dataset: &str, framework: &str, records: &[&CoverageRecord]) -> CoverageRow {
    let count = |holds: fn(&CoverageRecord) -> bool| records.iter().filter(|record| holds(record)).count();
    let schemas = records.len();
    let share = |part: usize| (schemas > 0).then(|| part as f64 / schemas as f64);
    let nothing_blocked = count(CoverageRecord::blocks_nothing);
    let nothing_let_through = count(CoverageRecord::lets_nothing_through);
    let truly = count(CoverageRecord::is_truly_covered);
    let tried: Vec<Tried> = records.iter().filter_map(|record| record.tried()).collect();
    let (unseen, truly_ci) = (Unseen::of(&tried), wilson(truly, schemas));
    let less = |share: f64, unseen: f64| (share - unseen / schemas as f64).max(0.0);
    let flawless = tried.iter().filter(|one| one.wrong == 0);
    let limits = Spread::of(flawless.map(|one| detection_limit(one.documents)));
    CoverageRow {
        dataset: dataset.to_owned(),
        framework: framework.to_owned(),
        schemas,
        documents: [
            records.iter().map(|record| record.valid).sum(),
            records.iter().map(|record| record.invalid).sum(),
        ],
        declared: share(count(CoverageRecord::is_declared)),
        nothing_blocked: share(nothing_blocked),
        nothing_blocked_ci: wilson(nothing_blocked, schemas),
        nothing_let_through: share(nothing_let_through),
        nothing_let_through_ci: wilson(nothing_let_through, schemas),
        over_constrained: count(CoverageRecord::is_over_constrained),
        under_constrained: count(CoverageRecord::is_under_constrained),
        refused: count(|record| record.compile_error.is_some()),
        failed: count(|record| record.ending.is_some() || record.replay_ending.is_some()),
        truly: share(truly),
        truly_ci,
        unseen,
        estimate: share(truly)
            .zip(unseen.and_then(|unseen| unseen.schemas))
            .map(|(truly, unseen)| less(truly, unseen)),
        estimate_ci: truly_ci
            .zip(unseen.and_then(|unseen| unseen.at_most()))
            .map(|([low, high], unseen)| [less(low, unseen), high]),
        detection_limit: limits.map(|limits| limits.median),
    }
}

/// Kind of a defect: a valid document is blocked, or an invalid one is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// A valid document is blocked (definition 5.4).
    OverConstrained,
    /// An invalid document is let through (definition 5.5).
    UnderConstrained,
}

/// A defect with the document that shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding<'a> {
    /// The record.
    pub record: &'a CoverageRecord,
    /// Kind of the defect.
    pub defect: Defect,
}

impl<'a> Finding<'a> {
    /// The document that shows the defect.
    pub fn text(&self) -> &'a str {
        self.example().map_or("", |example| &example.text)
    }

    /// Returns the judge's objection to the document; empty where the document is valid.
    pub fn problem(&self) -> &'a str {
        self.example()
            .and_then(|example| example.problem.as_deref())
            .unwrap_or_default()
    }

    fn example(&self) -> Option<&'a super::record::CounterExample> {
        match self.defect {
            Defect::OverConstrained => self.record.over_constrained.as_ref(),
            Defect::UnderConstrained => self.record.under_constrained.as_ref(),
        }
    }

    /// Returns the bytes of schema and document, which a reader has to read to understand the defect. Long schemas are not recorded; their findings
    /// come last.
    pub fn size(&self) -> usize {
        let schema = self.record.schema.as_ref().map_or(1 << 20, String::len);
        schema + self.text().len()
    }
}

/// The defects of a framework, those with the smallest schema and document first.
pub fn findings<'a>(records: &'a [CoverageRecord], framework: &str) -> Vec<Finding<'a>> {
    let own = records.iter().filter(|record| record.key.framework == framework);
    let mut found: Vec<Finding<'_>> = own
        .flat_map(|record| [Defect::OverConstrained, Defect::UnderConstrained].map(|defect| Finding { record, defect }))
        .filter(|finding| finding.example().is_some())
        .collect();
    found.sort_by_key(Finding::size);
    found
}
