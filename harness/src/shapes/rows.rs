//! [`ShapeRow`]: the shapes of a row's valid answers, and of MaskBench's documents of the same schemas.

use std::collections::BTreeMap;

use serde::Serialize;

use super::shape::Shape;
use crate::report::statistics::{Interval, Spread, wilson_of_share};

/// Name of MaskBench's documents in tables: a model wrote them, as MaskBench's own description says.
pub const MASK_BENCH: &str = "MaskBench (written by Llama 3.1 70B)";

/// The answers behind a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeKey {
    /// The dataset of their schemas.
    pub dataset: String,
    /// The model.
    pub model: String,
    /// The framework.
    pub framework: String,
}

/// The shapes of some documents, by the name of their schema.
pub type BySchema = BTreeMap<String, Vec<Shape>>;

/// The shapes of answers and of MaskBench's documents.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// Valid answers by row.
    pub answers: BTreeMap<ShapeKey, BySchema>,
    /// MaskBench's valid documents by dataset.
    pub mask_bench: BTreeMap<String, BySchema>,
}

/// Figures of some documents. Each schema counts once: with the median, or the share, of its documents, since those of one schema are alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShapeRow {
    /// The dataset.
    pub dataset: String,
    /// The model that wrote the answers, or beside whose answers the documents stand.
    pub model: String,
    /// The framework, or [`MASK_BENCH`].
    pub written_by: String,
    /// The framework whose answers these documents stand beside, as they are of the same schemas; none of answers themselves.
    pub beside: Option<String>,
    /// Number of schemas of these documents.
    pub schemas: usize,
    /// Documents.
    pub documents: usize,
    /// Median over schemas of bytes without whitespace.
    pub bytes: Option<f64>,
    /// Median over schemas of the number of values.
    pub values: Option<f64>,
    /// Median over schemas of arrays and objects within one another.
    pub depth: Option<f64>,
    /// Share of empty documents, the mean over schemas.
    pub empty: Option<f64>,
    /// Share of documents with required members only, the mean over schemas.
    pub only_required: Option<f64>,
    /// 95 % Wilson interval of the share of documents with required members only, with the number of schemas.
    pub only_required_ci: Option<Interval>,
}

/// Returns the rows: answers, and below each row MaskBench's documents, both over the schemas of which both have documents. Where MaskBench has no
/// document of these schemas, answers stand alone.
pub fn rows(shapes: &Shapes) -> Vec<ShapeRow> {
    let mut rows = Vec::new();
    for (key, answers) in &shapes.answers {
        let reference = shapes.mask_bench.get(&key.dataset);
        let shared: Vec<(&Vec<Shape>, &Vec<Shape>)> = answers
            .iter()
            .filter_map(|(schema, own)| Some((own, reference?.get(schema)?)))
            .filter(|(own, other)| !own.is_empty() && !other.is_empty())
            .collect();
        if shared.is_empty() {
            rows.push(row(key, None, answers.values()));
        } else {
            rows.push(row(key, None, shared.iter().map(|(own, _)| *own)));
            let beside = Some(key.framework.as_str());
            rows.push(row(key, beside, shared.iter().map(|(_, other)| *other)));
        }
    }
    rows
}

/// The figures of documents, which come in groups: those of one schema. `beside` has the framework whose answers MaskBench's documents stand beside.
fn row<'s>(key: &ShapeKey, beside: Option<&str>, groups: impl Iterator<Item = &'s Vec<Shape>>) -> ShapeRow {
    let groups: Vec<&Vec<Shape>> = groups.filter(|group| !group.is_empty()).collect();
    let schemas = groups.len();
    let median = |figure: fn(&Shape) -> usize| {
        let of_group = |group: &&Vec<Shape>| Spread::of(group.iter().map(|shape| figure(shape) as f64));
        let medians = groups.iter().filter_map(of_group).map(|spread| spread.median);
        Spread::of(medians).map(|spread| spread.median)
    };
    let share = |holds: fn(&Shape) -> bool| {
        let of_group = |group: &&Vec<Shape>| {
            let count = group.iter().filter(|shape| holds(shape)).count();
            count as f64 / group.len() as f64
        };
        (schemas > 0).then(|| groups.iter().map(of_group).sum::<f64>() / schemas as f64)
    };
    let only_required = share(|shape| shape.only_required);
    ShapeRow {
        dataset: key.dataset.clone(),
        model: key.model.clone(),
        written_by: beside.map_or_else(|| key.framework.clone(), |_| MASK_BENCH.to_owned()),
        beside: beside.map(str::to_owned),
        schemas,
        documents: groups.iter().map(|group| group.len()).sum(),
        bytes: median(|shape| shape.bytes),
        values: median(|shape| shape.values),
        depth: median(|shape| shape.depth),
        empty: share(|shape| shape.empty),
        only_required,
        only_required_ci: only_required.and_then(|share| wilson_of_share(share, schemas)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::statistics::wilson;

    fn shape(values: usize, empty: bool, only_required: bool) -> Shape {
        Shape {
            bytes: 10 * values,
            values,
            depth: values,
            empty,
            only_required,
        }
    }

    fn by_schema<const N: usize>(groups: [(&str, Vec<Shape>); N]) -> BySchema {
        groups.map(|(name, shapes)| (name.to_owned(), shapes)).into()
    }

    fn key(framework: &str) -> ShapeKey {
        ShapeKey {
            dataset: "d".to_owned(),
            model: "m".to_owned(),
            framework: framework.to_owned(),
        }
    }

    #[test]
    fn every_schema_counts_once_whatever_the_number_of_its_documents() {
        let groups = [
            vec![shape(1, true, true), shape(3, false, true)],
            vec![],
            vec![shape(9, false, false); 100],
        ];
        let row = row(&key("f"), None, groups.iter());
        assert_eq!((row.schemas, row.documents), (2, 102));
        // The medians of the schemas are 2 and 9.
        assert_eq!((row.bytes, row.values, row.depth), (Some(55.0), Some(5.5), Some(5.5)));
        assert_eq!(
            (row.empty, row.only_required, row.only_required_ci),
            (Some(0.25), Some(0.5), wilson(1, 2))
        );
    }

    #[test]
    fn answers_and_mask_bench_are_compared_over_the_same_schemas() {
        let mut shapes = Shapes::default();
        let answers = by_schema([
            ("short", vec![shape(1, false, true)]),
            ("both", vec![shape(2, false, true)]),
            ("unanswered", vec![]),
        ]);
        shapes.answers.insert(key("f"), answers);
        let lonely = by_schema([("short", vec![shape(1, false, true)])]);
        shapes.answers.insert(key("g"), lonely);
        let mask_bench = by_schema([
            ("both", vec![shape(4, false, false), shape(6, false, true)]),
            ("unanswered", vec![shape(50, false, false)]),
            ("long", vec![shape(90, false, false)]),
        ]);
        shapes.mask_bench.insert("d".to_owned(), mask_bench);
        let figures: Vec<_> = rows(&shapes)
            .into_iter()
            .map(|row| (row.written_by, row.beside, row.schemas, row.values, row.only_required))
            .collect();
        let expected = |name: &str, beside: Option<&str>, values, only_required| {
            let beside = beside.map(str::to_owned);
            (name.to_owned(), beside, 1, Some(values), Some(only_required))
        };
        assert_eq!(
            figures,
            [
                expected("f", None, 2.0, 1.0),
                expected(MASK_BENCH, Some("f"), 5.0, 0.5),
                expected("g", None, 1.0, 1.0)
            ]
        );
    }
}
