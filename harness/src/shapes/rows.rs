//! [`ShapeRow`]: the shapes of a row's valid answers, or of documents that people wrote.

use serde::Serialize;

use super::shape::Shape;
use crate::report::statistics::{Interval, Spread, wilson};

/// The documents behind a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeKey {
    /// The data set of their schemas.
    pub dataset: String,
    /// The model; nothing of documents that people wrote.
    pub model: String,
    /// The framework, or what documents that people wrote are called.
    pub framework: String,
}

/// Figures of some documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShapeRow {
    /// The data set.
    pub dataset: String,
    /// The model.
    pub model: String,
    /// The framework.
    pub framework: String,
    /// Schemas that the documents are of.
    pub schemas: usize,
    /// Documents.
    pub documents: usize,
    /// Median of bytes without whitespace.
    pub bytes: Option<f64>,
    /// Median of the number of values.
    pub values: Option<f64>,
    /// Median of arrays and objects within one another.
    pub depth: Option<f64>,
    /// Share of empty ones.
    pub empty: Option<f64>,
    /// Share of those with required members only.
    pub only_required: Option<f64>,
    /// Its 95 % Wilson interval.
    pub only_required_ci: Option<Interval>,
}

/// The figures of documents, which come in groups: those of one schema.
pub fn row(key: &ShapeKey, groups: &[Vec<Shape>]) -> ShapeRow {
    let all: Vec<&Shape> = groups.iter().flatten().collect();
    let documents = all.len();
    let median = |figure: fn(&Shape) -> usize| {
        Spread::of(all.iter().map(|shape| figure(shape) as f64)).map(|spread| spread.median)
    };
    let count = |holds: fn(&Shape) -> bool| all.iter().filter(|shape| holds(shape)).count();
    let share = |part: usize| (documents > 0).then(|| part as f64 / documents as f64);
    let only_required = count(|shape| shape.only_required);
    ShapeRow {
        dataset: key.dataset.clone(),
        model: key.model.clone(),
        framework: key.framework.clone(),
        schemas: groups.iter().filter(|group| !group.is_empty()).count(),
        documents,
        bytes: median(|shape| shape.bytes),
        values: median(|shape| shape.values),
        depth: median(|shape| shape.depth),
        empty: share(count(|shape| shape.empty)),
        only_required: share(only_required),
        only_required_ci: wilson(only_required, documents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_medians_and_shares_over_documents() {
        let shape = |values, empty, only_required| Shape {
            bytes: 10 * values,
            values,
            depth: values,
            empty,
            only_required,
        };
        let key = ShapeKey {
            dataset: "d".to_owned(),
            model: "m".to_owned(),
            framework: "f".to_owned(),
        };
        let groups = [
            vec![shape(1, true, true), shape(3, false, true)],
            vec![],
            vec![shape(8, false, false), shape(9, false, false)],
        ];
        let row = row(&key, &groups);
        assert_eq!((row.schemas, row.documents), (2, 4));
        assert_eq!((row.bytes, row.values, row.depth), (Some(55.0), Some(5.5), Some(5.5)));
        assert_eq!(
            (row.empty, row.only_required, row.only_required_ci),
            (Some(0.25), Some(0.5), wilson(2, 4))
        );
    }
}
