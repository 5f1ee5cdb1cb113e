//! The report of `quality` from records.

use maskwright_suites::quality::QualityTask;

use super::run::RunRecords;
use super::{in_order, names};
use crate::quality::overlap::Overlap;
use crate::quality::record::AnswerRecord;
use crate::quality::report::QualityReport;
use crate::quality::rows::{Answers, RowKey, TaskScope, rows};
use crate::quality::settings::TaskSettings;

/// The tasks of a run: those of its settings, then those that records have beside them.
fn tasks(run: &RunRecords<AnswerRecord>) -> Vec<TaskScope> {
    let known: Vec<TaskSettings> = serde_json::from_value(run.settings["tasks"].clone()).unwrap_or_default();
    let mut tasks: Vec<TaskScope> = known
        .iter()
        .map(|task| TaskScope {
            task: task.name,
            questions: task.questions,
            is_as_in_paper: task.is_as_in_paper(),
        })
        .collect();
    for record in &run.records {
        let task: QualityTask = record.key.task;
        if tasks.iter().all(|known| known.task != task) {
            tasks.push(TaskScope {
                task,
                questions: 0,
                is_as_in_paper: false,
            });
        }
    }
    tasks
}

/// The rows of a run, in the order of its manifest.
fn row_keys(run: &RunRecords<AnswerRecord>) -> Vec<RowKey> {
    let mut keys = RowKey::of_records(&run.records);
    let place = |list: &str, name: &str| names(&run.settings, list).iter().position(|known| known == name);
    // A name that the manifest does not have comes last.
    let last = |place: Option<usize>| place.unwrap_or(usize::MAX);
    keys.sort_by_key(|key| {
        let model = last(place("models", &key.model));
        (key.server, model, key.mode, last(place("frameworks", &key.framework)))
    });
    keys
}

/// The tables of a run of `quality`, as the run itself has made them.
pub fn report(run: &RunRecords<AnswerRecord>) -> QualityReport {
    let (answers, keys, tasks) = (Answers::new(&run.records), row_keys(run), tasks(run));
    let models = in_order(Vec::new(), keys.iter().map(|key| key.model.as_str()));
    let overlaps = tasks.iter().flat_map(|scope| {
        let (answers, task, keys) = (&answers, scope.task, &keys);
        models.iter().filter_map(move |model| {
            let own: Vec<&RowKey> = keys.iter().filter(|key| key.model == *model).collect();
            Overlap::of(answers, &own, task)
        })
    });
    QualityReport {
        overlaps: overlaps.collect(),
        rows: rows(&answers, &keys, &tasks),
        paper: false,
        warnings: Vec::new(),
    }
}
