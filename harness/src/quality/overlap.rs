//! [`Overlap`]: the questions on which several rows are right (figure 8 of the paper).

use std::collections::{BTreeMap, HashMap};

use maskwright_suites::quality::QualityTask;
use serde::Serialize;

use super::record::AnswerRecord;
use super::rows::{Answers, RowKey};

/// Numbers of the questions of one task that a model's rows answer rightly, by the set of rows that do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overlap {
    /// The model.
    pub model: String,
    /// The task.
    pub task: QualityTask,
    /// The rows.
    pub rows: Vec<String>,
    /// Questions that every row answered.
    pub questions: usize,
    /// For each row, the number of questions on which the row is right.
    pub right: Vec<usize>,
    /// For each row, the number of questions on which that row alone is right.
    pub exclusive: Vec<usize>,
    /// Number of questions on which no row is right.
    pub nobody: usize,
    /// For each set of rows that are right together and all others wrong, the number of such questions, the largest first.
    pub intersections: Vec<Intersection>,
}

/// Questions on which the same rows are right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Intersection {
    /// Numbers of the rows that are right.
    pub rows: Vec<usize>,
    /// Number of questions.
    pub questions: usize,
}

impl Overlap {
    /// The overlaps of every model and task that records are of, each of the rows that have an answer to the task.
    pub fn all(records: &[AnswerRecord]) -> Vec<Self> {
        let answers = Answers::new(records);
        let mut places: Vec<(&str, QualityTask)> = Vec::new();
        for record in records {
            let place = (record.key.model.as_str(), record.key.task);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let keys = RowKey::of_records(records);
        let of_place = |(model, task): (&str, QualityTask)| {
            let own: Vec<&RowKey> = keys.iter().filter(|key| key.model == model).collect();
            Self::of(&answers, &own, task)
        };
        places.into_iter().filter_map(of_place).collect()
    }

    /// The overlap of those of the rows `keys`, all of one model, that have an answer to `task`, on the questions that each of them answered; `None`
    /// where no row has one.
    pub fn of(answers: &Answers<'_>, keys: &[&RowKey], task: QualityTask) -> Option<Self> {
        let rows = keys.iter().map(|key| (*key, answers.rightness(key, task)));
        let (keys, by_row): (Vec<&RowKey>, Vec<HashMap<&str, bool>>) = rows.filter(|(_, row)| !row.is_empty()).unzip();
        let model = keys.first()?.model.clone();
        let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let first = by_row.first().into_iter().flat_map(HashMap::keys);
        for question in first {
            let verdicts: Option<Vec<bool>> = by_row.iter().map(|row| row.get(question).copied()).collect();
            let Some(verdicts) = verdicts else { continue };
            let right = verdicts.iter().enumerate().filter(|(_, is_right)| **is_right);
            *counts.entry(right.map(|(row, _)| row).collect()).or_default() += 1;
        }
        let questions = counts.values().sum();
        let nobody = counts.remove(&Vec::new()).unwrap_or(0);
        let of_row = |row: usize, counts: &BTreeMap<Vec<usize>, usize>| -> usize {
            let own = counts.iter().filter(|(rows, _)| rows.contains(&row));
            own.map(|(_, count)| count).sum()
        };
        let right = (0..keys.len()).map(|row| of_row(row, &counts)).collect();
        let exclusive = (0..keys.len()).map(|row| counts.get(&vec![row]).copied().unwrap_or(0));
        let exclusive = exclusive.collect();
        let mut intersections: Vec<Intersection> = counts
            .into_iter()
            .map(|(rows, questions)| Intersection { rows, questions })
            .collect();
        intersections.sort_by_key(|one| std::cmp::Reverse(one.questions));
        Some(Self {
            model,
            task,
            rows: keys.iter().map(|key| key.label()).collect(),
            questions,
            right,
            exclusive,
            nobody,
            intersections,
        })
    }
}
