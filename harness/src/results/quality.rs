//! The report of `quality` from records.

use maskwright_suites::quality::QualityTask;
use serde_json::Value;

use super::run::RunRecords;
use super::{in_order, is_asked, names};
use crate::quality::overlap::Overlap;
use crate::quality::record::{AnswerRecord, Mode};
use crate::quality::report::QualityReport;
use crate::quality::rows::{Answers, QualityRow, RowKey, TaskScope, rows};
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

/// Whether a run with these settings was to ask the questions of a row.
fn is_planned(settings: &Value, row: &QualityRow) -> bool {
    let has_mode = match row.mode {
        Mode::Direct => true,
        Mode::Reasoned => !settings["prompt"]["reasoning_tokens"].is_null(),
        Mode::Draft => settings["draft"] == true,
    };
    has_mode && is_asked(settings, [&row.model, &row.framework], ["tasks", row.task.name()])
}

/// The tables of a run of `quality`, as the run itself has made them; of runs that are read as one, without rows that none of them was asked for.
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
    let mut rows = rows(&answers, &keys, &tasks);
    rows.retain(|row| {
        let mut settings = run.settings_of_each.iter();
        row.answered > 0 || settings.any(|settings| is_planned(settings, row))
    });
    QualityReport {
        overlaps: overlaps.collect(),
        rows,
        paper: false,
        warnings: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_those_that_a_run_was_asked_for() {
        let settings = |framework: &str, task: &str, prompt: Value| {
            json!({
                "models": [{"name": "m"}], "frameworks": [{"name": framework}], "prompt": prompt,
                "tasks": [{"name": task, "questions": 2, "sha256": ""}],
            })
        };
        let record = |framework: &str, mode: &str, task: &str| {
            let record = json!({
                "model": "m", "framework": framework, "mode": mode, "task": task, "question": "1",
                "judgement": {"strict": {"correct": true}, "lenient": {"correct": true}},
            });
            serde_json::from_value(record).unwrap()
        };
        let mut merged = settings("maskwright", "gsm8k", Value::Null);
        merged["tasks"] =
            json!([{"name": "gsm8k", "questions": 2, "sha256": ""}, {"name": "shuffle", "questions": 2, "sha256": ""}]);
        let run = RunRecords {
            settings: merged,
            settings_of_each: vec![
                settings("maskwright", "gsm8k", json!({"reasoning_tokens": 8})),
                settings("none", "shuffle", Value::Null),
                // Of this run there is no record yet.
                settings("none", "gsm8k", Value::Null),
            ],
            records: vec![
                record("maskwright", "direct", "gsm8k"),
                record("maskwright", "reasoned", "gsm8k"),
                record("none", "direct", "shuffle"),
            ],
            warnings: Vec::new(),
        };
        let rows = report(&run).rows.into_iter();
        let rows: Vec<_> = rows
            .map(|row| (row.task.name(), row.framework, row.mode.name(), row.answered))
            .collect();
        let row = |task, framework: &str, mode, answered| (task, framework.to_owned(), mode, answered);
        assert_eq!(
            rows,
            [
                row("gsm8k", "maskwright", "direct", 1),
                row("gsm8k", "none", "direct", 0),
                row("gsm8k", "maskwright", "reasoned", 1),
                row("shuffle", "none", "direct", 1),
            ]
        );
    }
}
