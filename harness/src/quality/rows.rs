//! [`QualityRow`]: a row's figures on a task, derived from records.

use std::collections::{BTreeMap, HashMap, HashSet};

use maskwright_suites::quality::{QualityTask, QuestionSet};
use serde::Serialize;

use super::record::{AnswerRecord, Mode};
use crate::bench::record::MaskEffectRecord;
use crate::frameworks::LM_ONLY;
use crate::report::mcnemar::Comparison;
use crate::report::paper::PaperRow;
use crate::report::statistics::{Interval, wilson};
use crate::run::directory::Recorded as _;

/// Key of a row: a model with its framework and mode, or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowKey {
    /// The model.
    pub model: String,
    /// The framework, `none` for the model alone, or the server's name.
    pub framework: String,
    /// Mode in which answers are asked for.
    pub mode: Mode,
    /// Whether a server answers.
    pub server: bool,
    /// Whether answers are constrained.
    pub constrained: bool,
    /// The paper's row for the same framework; none where the paper has none.
    pub paper: Option<PaperRow>,
}

impl RowKey {
    /// Returns the row of a record. Answers of a server are constrained where the record has a compilation, those of this machine where the framework
    /// is not `none`.
    pub fn of_record(record: &AnswerRecord) -> Self {
        let (key, server) = (&record.key, record.server.is_some());
        Self {
            model: key.model.clone(),
            framework: key.framework.clone(),
            mode: key.mode,
            server,
            constrained: match server {
                true => record.compile.is_some(),
                false => key.framework != LM_ONLY,
            },
            paper: PaperRow::of_framework(&key.framework),
        }
    }

    /// The rows of records, in the order in which they first occur.
    pub fn of_records(records: &[AnswerRecord]) -> Vec<Self> {
        let mut keys: Vec<Self> = Vec::new();
        for record in records.iter().filter(|record| record.is_final()) {
            let key = Self::of_record(record);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// The framework, with the mode where that is not direct.
    pub fn label(&self) -> String {
        match self.mode {
            Mode::Direct => self.framework.clone(),
            Mode::Reasoned | Mode::Draft => format!("{}, {}", self.framework, self.mode.name()),
        }
    }
}

/// One row of the tables: the figures of a model with a framework on the questions of a task.
///
/// A refused schema, a failure and an answer that was cut off are wrong answers, unless an answer can be read in the text that there is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QualityRow {
    /// The model.
    pub model: String,
    /// The framework; `none` for the model alone.
    pub framework: String,
    /// Mode in which answers were asked for.
    pub mode: Mode,
    /// The task.
    pub task: QualityTask,
    /// Questions of the task that the row is to be asked.
    pub planned: usize,
    /// Questions answered.
    pub answered: usize,
    /// Questions whose prompt does not fit into the model's context, which count nowhere.
    pub no_room: usize,
    /// Right answers, read leniently.
    pub right: usize,
    /// Share of [`Self::right`] among the questions answered.
    pub accuracy: Option<f64>,
    /// Wilson interval of [`Self::accuracy`], for a confidence of 95 %.
    pub accuracy_ci: Option<Interval>,
    /// Right answers, read strictly.
    pub strictly_right: usize,
    /// Share of [`Self::strictly_right`] among the questions answered.
    pub strict_accuracy: Option<f64>,
    /// Wilson interval of [`Self::strict_accuracy`].
    pub strict_accuracy_ci: Option<Interval>,
    /// Share of the answers in which no answer can be read even leniently.
    pub unreadable: Option<f64>,
    /// Share of the answers that were cut off at a limit.
    pub cut_off: Option<f64>,
    /// Share of the answers that are valid under the schema.
    pub valid: Option<f64>,
    /// Questions on which the schema was refused.
    pub refused: usize,
    /// Questions on which the framework failed during the answer.
    pub failed: usize,
    /// Its words on the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Mean number of tokens of an answer.
    pub mean_tokens: Option<f64>,
    /// Length of the reasoning before answers; `None` where no answer has reasoning before it.
    pub reasoning: Option<ReasoningRow>,
    /// Effect of the masks on the model's choices; `None` where nothing was masked, and of servers, which do not tell.
    pub mask_effect: Option<MaskEffectRow>,
    /// Comparison with the model alone, on this machine or on a server as the row is, on the same questions, read leniently: with its answers of the
    /// same mode, or else with its direct ones; `None` for those direct answers themselves.
    pub against_alone: Option<Comparison>,
    /// The paper's share of right answers, where the questions are asked as there.
    pub paper: Option<f64>,
}

/// Length of the reasoning before the answers of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReasoningRow {
    /// Mean number of tokens of reasoning, over the answers that have any.
    pub mean_tokens: f64,
    /// Share of these answers whose reasoning the model did not end within its limit on tokens.
    pub cut: f64,
}

impl ReasoningRow {
    /// The figures of some answers; `None` where none has reasoning before it.
    fn of(records: &[&AnswerRecord]) -> Option<Self> {
        let tokens: Vec<u64> = records.iter().filter_map(|record| record.reasoning_tokens()).collect();
        let cut = records.iter().filter(|record| record.had_reasoning_cut()).count();
        let answers = tokens.len() as f64;
        (!tokens.is_empty()).then(|| Self {
            mean_tokens: tokens.iter().sum::<u64>() as f64 / answers,
            cut: cut as f64 / answers,
        })
    }
}

/// Effect of a row's masks on the model's choices, which tells how much a framework interferes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MaskEffectRow {
    /// Mean probability of the forbidden tokens at a choice.
    pub removed_per_choice: f64,
    /// Mean over answers of the summed probability of the forbidden tokens.
    pub removed_per_answer: f64,
    /// Share of the choices at which the model's first choice was forbidden.
    pub forbidden: f64,
    /// Mean number of such choices in an answer.
    pub forbidden_per_answer: f64,
    /// Mean number of choices in an answer.
    pub choices_per_answer: f64,
}

impl MaskEffectRow {
    /// The figures of some answers; `None` where no choice was masked.
    fn of(records: &[&AnswerRecord]) -> Option<Self> {
        let generations = records.iter().filter_map(|record| record.generation.as_ref());
        let effects: Vec<MaskEffectRecord> = generations.filter_map(|generation| generation.mask_effect).collect();
        let choices: usize = effects.iter().map(|effect| effect.choices).sum();
        let removed: f64 = effects.iter().map(|effect| effect.removed).sum();
        let forbidden: usize = effects.iter().map(|effect| effect.first_choice_forbidden).sum();
        let (answers, forbidden) = (effects.len() as f64, forbidden as f64);
        (choices > 0).then(|| Self {
            removed_per_choice: removed / choices as f64,
            removed_per_answer: removed / answers,
            forbidden: forbidden / choices as f64,
            forbidden_per_answer: forbidden / answers,
            choices_per_answer: choices as f64 / answers,
        })
    }
}

/// Final records by row, without the questions that do not fit into the context for some row of the model.
pub struct Answers<'a> {
    by_row: HashMap<(&'a str, &'a str, Mode), Vec<&'a AnswerRecord>>,
    no_room: HashSet<(&'a str, QualityTask, &'a str)>,
}

impl<'a> Answers<'a> {
    /// Sorts records.
    pub fn new(records: &'a [AnswerRecord]) -> Self {
        let is_final = || records.iter().filter(|record| record.is_final());
        let lacking = is_final().filter(|record| record.lacked_room());
        let no_room: HashSet<_> = lacking
            .map(|record| (record.key.model.as_str(), record.key.task, record.key.question.as_str()))
            .collect();
        let mut by_row: HashMap<_, Vec<&AnswerRecord>> = HashMap::new();
        for record in is_final() {
            let key = &record.key;
            if !no_room.contains(&(key.model.as_str(), key.task, key.question.as_str())) {
                let row = (key.model.as_str(), key.framework.as_str(), key.mode);
                by_row.entry(row).or_default().push(record);
            }
        }
        Self { by_row, no_room }
    }

    fn of(&self, key: &RowKey, task: QualityTask) -> Vec<&'a AnswerRecord> {
        let row = (key.model.as_str(), key.framework.as_str(), key.mode);
        let records = self.by_row.get(&row).map_or(&[][..], Vec::as_slice);
        let of_task = records.iter().copied().filter(|record| record.key.task == task);
        of_task.collect()
    }

    /// Whether the row is right, question by question.
    pub fn rightness(&self, key: &RowKey, task: QualityTask) -> HashMap<&'a str, bool> {
        let records = self.of(key, task);
        records
            .into_iter()
            .map(|record| (record.key.question.as_str(), record.is_right()))
            .collect()
    }
}

/// Scope of a task: its questions, and whether they are the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskScope {
    /// The task.
    pub task: QualityTask,
    /// Number of the task's questions.
    pub questions: usize,
    /// Whether the questions are asked as in the paper, whose figures are then those of the row.
    pub is_as_in_paper: bool,
}

impl From<&QuestionSet> for TaskScope {
    fn from(set: &QuestionSet) -> Self {
        Self {
            task: set.task,
            questions: set.questions.len(),
            is_as_in_paper: set.is_as_in_paper(),
        }
    }
}

/// The rows of a run: tasks in their order, in each of them the rows `keys`.
pub fn rows(answers: &Answers<'_>, keys: &[RowKey], tasks: &[TaskScope]) -> Vec<QualityRow> {
    let each = tasks.iter().flat_map(|task| keys.iter().map(move |key| (task, key)));
    each.map(|(task, key)| row(answers, key, alone_of(key, keys), *task))
        .collect()
}

/// The row that `key` is compared with: the model alone, asked in the same mode or else directly.
fn alone_of<'k>(key: &RowKey, keys: &'k [RowKey]) -> Option<&'k RowKey> {
    let alone_in = |mode| {
        keys.iter().find(|other| {
            // A server's model of the same name may be another one: served and local rows are not compared.
            let is_same = (&other.model, other.server) == (&key.model, key.server);
            is_same && !other.constrained && other.mode == mode && *other != key
        })
    };
    alone_in(key.mode).or_else(|| alone_in(Mode::Direct))
}

fn row(answers: &Answers<'_>, key: &RowKey, alone: Option<&RowKey>, scope: TaskScope) -> QualityRow {
    let task = scope.task;
    let records = answers.of(key, task);
    let count = |holds: &dyn Fn(&AnswerRecord) -> bool| records.iter().filter(|record| holds(record)).count();
    let answered = records.len();
    let share = |part: usize| (answered > 0).then(|| part as f64 / answered as f64);
    let (right, strictly_right) = (count(&AnswerRecord::is_right), count(&AnswerRecord::is_strictly_right));
    let is_unreadable = |record: &AnswerRecord| {
        let judgement = record.judgement.as_ref();
        judgement.is_none_or(|judgement| judgement.lenient.answer.is_none())
    };
    let generations = records.iter().filter_map(|record| record.generation.as_ref());
    let tokens: Vec<f64> = generations.map(|generation| generation.output_tokens as f64).collect();
    QualityRow {
        model: key.model.clone(),
        framework: key.framework.clone(),
        mode: key.mode,
        task,
        planned: scope.questions,
        answered,
        no_room: answers
            .no_room
            .iter()
            .filter(|(model, of, _)| *model == key.model && *of == task)
            .count(),
        right,
        accuracy: share(right),
        accuracy_ci: wilson(right, answered),
        strictly_right,
        strict_accuracy: share(strictly_right),
        strict_accuracy_ci: wilson(strictly_right, answered),
        unreadable: share(count(&is_unreadable)),
        cut_off: share(count(&AnswerRecord::was_cut_off)),
        valid: share(count(&|record| record.valid == Some(true))),
        refused: count(&AnswerRecord::was_refused),
        failed: count(&|record| record.failure().is_some()),
        failure: records.iter().find_map(|record| record.failure()).map(str::to_owned),
        mean_tokens: (!tokens.is_empty()).then(|| tokens.iter().sum::<f64>() / tokens.len() as f64),
        reasoning: ReasoningRow::of(&records),
        mask_effect: MaskEffectRow::of(&records),
        against_alone: alone.map(|alone| compared(answers, key, alone, task)),
        paper: key
            .paper
            .filter(|_| key.mode == Mode::Direct && scope.is_as_in_paper)
            .and_then(|paper| crate::report::paper::quality::accuracy(task, paper)),
    }
}

/// Two rows on the questions that both answered.
fn compared(answers: &Answers<'_>, one: &RowKey, other: &RowKey, task: QualityTask) -> Comparison {
    let others = answers.rightness(other, task);
    // In order, as everything that is derived from records.
    let own: BTreeMap<&str, bool> = answers.rightness(one, task).into_iter().collect();
    let pairs = own.into_iter();
    Comparison::of(pairs.filter_map(|(question, is_right)| Some((is_right, *others.get(question)?))))
}
