//! The tables of `maskwright quality`.

use maskwright_suites::quality::QualityTask;
use serde_json::json;

use super::overlap::Overlap;
use super::record::Mode;
use super::rows::QualityRow;
use crate::frameworks::display_name;
use crate::report::part::Part;
use crate::report::statistics::Interval;
use crate::report::table::{CellText, Style, Table, table};
use crate::terminal::{one_line, shortened};

/// Largest number of characters of a framework's words in a note.
const MESSAGE: usize = 160;

/// Report of a quality run: rows, overlaps and warnings.
pub struct QualityReport {
    /// The rows.
    pub rows: Vec<QualityRow>,
    /// Overlaps of the rows: the questions that several of them get right.
    pub overlaps: Vec<Overlap>,
    /// Whether the paper's figures stand beside ours.
    pub paper: bool,
    /// Warnings that limit what the figures show.
    pub warnings: Vec<String>,
}

/// Legend printed below the table of answers.
const LEGEND: &str = "accuracy: right answers, read strictly or else by the first place in the text that looks like an answer, which takes more spellings than the \
patterns of the experiments that the paper follows; strict: that are \
right as one JSON object with both members; both with 95 % Wilson intervals. unreadable: no answer is found; cut off: at a limit on tokens, time or context. \
vs alone: questions that only this row (+) and only the model alone (−) gets right, asked in the same mode or else directly, and the p-value of McNemar's exact test.";

/// Legend added below the table of answers where models reasoned.
const REASONING_LEGEND: &str = "reasoning: mean tokens that the model wrote before its answer, not constrained and not judged, and how often it did not end them within its limit.";

/// Legend printed below the table of mask effects.
const EFFECT_LEGEND: &str = "how far masks interfere, over the tokens that were chosen from one (forced tokens are not asked for): mean probability that the model gave to forbidden \
tokens, for each choice and summed over an answer; choices at which its most likely token was forbidden, as a share and for each answer.";

/// Legend printed below the table of overlaps.
const OVERLAP_LEGEND: &str = "right: over the questions that every row answered; only this: questions that no other row of the model gets right (figure 8 of the paper).";

/// Legend printed below the table beside the paper's.
const PAPER_LEGEND: &str = "The paper's model is Llama-3.1-8B-Instruct (table 7), with examples of its own.";

impl QualityReport {
    /// The tables as text.
    pub fn text(&self, style: Style) -> String {
        let mut parts = vec![self.answers(style).to_string(), style.prose(LEGEND)];
        if self.has_reasoning() {
            parts.push(style.prose(REASONING_LEGEND));
        }
        parts.extend([self.exclusive(style).to_string(), style.prose(OVERLAP_LEGEND)]);
        if self.rows.iter().any(|row| row.mask_effect.is_some()) {
            parts.extend([self.effects(style).to_string(), style.prose(EFFECT_LEGEND)]);
        }
        if self.paper {
            parts.extend([self.beside_paper(style).to_string(), style.prose(PAPER_LEGEND)]);
        }
        parts.extend(self.notes().iter().map(|note| style.prose(note)));
        parts.join("\n\n") + "\n"
    }

    /// Returns the tables of answers, of the questions that one row alone gets right, and of the masks' effect.
    pub fn parts(&self, style: Style) -> Vec<Part> {
        let mut parts = vec![
            Part::new("Right answers", self.answers(style), LEGEND).with_notes(self.notes()),
            Part::new(
                "Questions that one row alone gets right",
                self.exclusive(style),
                OVERLAP_LEGEND,
            ),
        ];
        if self.rows.iter().any(|row| row.mask_effect.is_some()) {
            parts.push(Part::new("What masks did", self.effects(style), EFFECT_LEGEND));
        }
        parts
    }

    /// Returns notes on the questions that have no answer, a refused schema or a prompt too long for the context, and the warnings.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &self.rows {
            let mode = match row.mode {
                Mode::Direct => String::new(),
                mode => format!(" ({})", mode.name()),
            };
            let name = format!("{} {}{mode} {}", row.model, row.framework, row.task.name());
            let open = row.planned.saturating_sub(row.answered + row.no_room);
            if open > 0 {
                notes.push(format!(
                    "{name}: {open} of {} questions have no answer yet.",
                    row.planned
                ));
            }
            if row.refused > 0 {
                notes.push(format!("{name}: the schema was refused {} times.", row.refused));
            }
            if let Some(failure) = &row.failure {
                let failure = shortened(&one_line(failure), MESSAGE);
                notes.push(format!(
                    "{name}: the framework failed on {} of {} questions ({failure}).",
                    row.failed, row.answered
                ));
            }
            if row.no_room > 0 {
                notes.push(format!(
                    "{name}: {} prompts do not fit into the model's context.",
                    row.no_room
                ));
            }
        }
        notes.extend(self.warnings.iter().cloned());
        notes
    }

    /// Whether a model reasoned before an answer.
    fn has_reasoning(&self) -> bool {
        self.rows.iter().any(|row| row.reasoning.is_some())
    }

    fn answers(&self, style: Style) -> Table {
        let with_reasoning = self.has_reasoning();
        let mut header = vec![
            "task",
            "model",
            "framework",
            "mode",
            "questions",
            "accuracy",
            "strict",
            "unreadable",
            "cut off",
            "valid",
            "tokens",
        ];
        header.extend(with_reasoning.then_some("reasoning"));
        header.push("vs alone");
        let mut table = table(header, 4, style);
        for row in &self.rows {
            let best = self.best(row);
            let accuracy = with_interval(row.accuracy, row.accuracy_ci);
            let mut cells: Vec<CellText> = vec![
                row.task.name().to_owned().into(),
                row.model.clone().into(),
                display_name(&row.framework).into(),
                row.mode.name().to_owned().into(),
                row.answered.to_string().into(),
                match row.right == best && best > 0 {
                    true => CellText::best(accuracy),
                    false => accuracy.into(),
                },
                with_interval(row.strict_accuracy, row.strict_accuracy_ci).into(),
                percent(row.unreadable).into(),
                percent(row.cut_off).into(),
                percent(row.valid).into(),
                row.mean_tokens
                    .map_or_else(|| "NA".to_owned(), |tokens| format!("{tokens:.1}"))
                    .into(),
            ];
            if with_reasoning {
                let figures = row.reasoning.map(|reasoning| {
                    let cut = percent(Some(reasoning.cut));
                    format!("{:.1}, cut {cut}", reasoning.mean_tokens)
                });
                cells.push(figures.unwrap_or_default().into());
            }
            let against = row.against_alone.map(|comparison| comparison.describe());
            cells.push(against.unwrap_or_default().into());
            table.add_row(cells);
        }
        table
    }

    /// The largest number of right answers among the rows of the same model and task.
    fn best(&self, row: &QualityRow) -> usize {
        let rivals = self
            .rows
            .iter()
            .filter(|other| (&other.model, other.task) == (&row.model, row.task));
        rivals.map(|rival| rival.right).max().unwrap_or(0)
    }

    fn effects(&self, style: Style) -> Table {
        let header = [
            "task",
            "model",
            "framework",
            "mode",
            "choices per answer",
            "removed per choice",
            "removed per answer",
            "first choice forbidden",
            "forbidden per answer",
        ];
        let mut table = table(header, 4, style);
        for row in &self.rows {
            let Some(effect) = row.mask_effect else { continue };
            table.add_row([
                row.task.name().to_owned(),
                row.model.clone(),
                display_name(&row.framework),
                row.mode.name().to_owned(),
                format!("{:.1}", effect.choices_per_answer),
                format!("{:.4}", effect.removed_per_choice),
                format!("{:.3}", effect.removed_per_answer),
                percent(Some(effect.forbidden)),
                format!("{:.2}", effect.forbidden_per_answer),
            ]);
        }
        table
    }

    fn exclusive(&self, style: Style) -> Table {
        let mut table = table(
            ["task", "model", "row", "questions", "right", "only this", "nobody"],
            3,
            style,
        );
        for overlap in &self.overlaps {
            for (number, row) in overlap.rows.iter().enumerate() {
                table.add_row([
                    overlap.task.name().to_owned(),
                    overlap.model.clone(),
                    display_name(row),
                    overlap.questions.to_string(),
                    overlap.right[number].to_string(),
                    overlap.exclusive[number].to_string(),
                    overlap.nobody.to_string(),
                ]);
            }
        }
        table
    }

    /// Table 7: rows by tasks, ours and the paper's.
    fn beside_paper(&self, style: Style) -> Table {
        let mut tasks: Vec<QualityTask> = Vec::new();
        for row in &self.rows {
            if !tasks.contains(&row.task) {
                tasks.push(row.task);
            }
        }
        let headers: Vec<String> = tasks
            .iter()
            .flat_map(|task| [task.name().to_owned(), format!("{} (paper)", task.name())])
            .collect();
        let header = ["model", "framework", "mode"].into_iter();
        let mut table = table(header.chain(headers.iter().map(String::as_str)), 3, style);
        let of_first = self.rows.iter().filter(|row| Some(&row.task) == tasks.first());
        for first in of_first {
            let mut cells = vec![
                first.model.clone(),
                first.framework.clone(),
                first.mode.name().to_owned(),
            ];
            for task in &tasks {
                let same = self.rows.iter().find(|row| {
                    (&row.model, &row.framework, row.mode, row.task)
                        == (&first.model, &first.framework, first.mode, *task)
                });
                cells.push(percent(same.and_then(|row| row.accuracy)));
                cells.push(percent(same.and_then(|row| row.paper)));
            }
            table.add_row(cells);
        }
        table
    }

    /// The figures as JSON.
    pub fn json(&self) -> String {
        json!({ "rows": self.rows, "overlaps": self.overlaps, "warnings": self.warnings }).to_string()
    }

    /// The rows as CSV.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut lines = vec![
            [
                "task",
                "model",
                "framework",
                "mode",
                "planned",
                "answered",
                "right",
                "accuracy",
                "accuracy_low",
                "accuracy_high",
                "strictly_right",
                "strict_accuracy",
                "unreadable",
                "cut_off",
                "valid",
                "refused",
                "failed",
                "mean_tokens",
                "mean_reasoning_tokens",
                "only_this",
                "only_alone",
                "p_value",
            ]
            .map(str::to_owned),
        ];
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for row in &self.rows {
            let against = row.against_alone;
            lines.push([
                row.task.name().to_owned(),
                row.model.clone(),
                row.framework.clone(),
                row.mode.name().to_owned(),
                row.planned.to_string(),
                row.answered.to_string(),
                row.right.to_string(),
                number(row.accuracy),
                number(row.accuracy_ci.map(|[low, _]| low)),
                number(row.accuracy_ci.map(|[_, high]| high)),
                row.strictly_right.to_string(),
                number(row.strict_accuracy),
                number(row.unreadable),
                number(row.cut_off),
                number(row.valid),
                row.refused.to_string(),
                row.failed.to_string(),
                number(row.mean_tokens),
                number(row.reasoning.map(|reasoning| reasoning.mean_tokens)),
                against.map_or_else(String::new, |against| against.only_this.to_string()),
                against.map_or_else(String::new, |against| against.only_other.to_string()),
                number(against.map(|against| against.p_value)),
            ]);
        }
        for line in lines {
            // Writing to memory cannot fail.
            let _ = writer.write_record(line);
        }
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "NA".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn with_interval(share: Option<f64>, interval: Option<Interval>) -> String {
    match (share, interval) {
        (Some(share), Some([low, high])) => format!("{:.1} % ({:.1}–{:.1})", 100.0 * share, 100.0 * low, 100.0 * high),
        _ => "NA".to_owned(),
    }
}
