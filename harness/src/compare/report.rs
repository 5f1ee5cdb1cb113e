//! The tables of a comparison.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::differences::{Change, Difference, RIGHT};
use super::pairs::{Group, Unpaired};
use crate::report::part::Part;
use crate::report::table::{Style, Table, figure, table};

/// Names of questions that are printed of each group.
const NAMES: usize = 20;

/// Results of a comparison: differences, unpaired questions and notes.
pub struct ComparisonReport {
    /// The differences.
    pub differences: Vec<Difference>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Questions that only one side has, which are therefore left out.
    pub unpaired: Vec<Unpaired>,
    /// Numbers of answers of the first and of the second runs that are left out, as an earlier run of the same side answers the question.
    pub repeated: [BTreeMap<Group, usize>; 2],
    /// Further notes for the reader.
    pub notes: Vec<String>,
}

/// Legend printed below the tables.
const LEGEND: &str = "Over the questions that both have. p: exact test of McNemar for shares, of random signs for times, adjusted for the number of figures \
(Holm), so that two equal runs have no finding at all in 95 of 100 comparisons. A finding has p ≤ 0.05 and an interval without the change of none; of times, also a \
change beyond --tolerance.";

impl ComparisonReport {
    /// Number of differences that are worse.
    pub fn worse(&self) -> usize {
        let worse = self.differences.iter().filter(|one| one.finding == Change::Worse);
        worse.count()
    }

    /// Number of questions that the first runs have and the second lack.
    pub fn missing(&self) -> usize {
        self.unpaired.iter().map(|one| one.only_before).sum()
    }

    /// The tables as text; with `all_names`, every question that changed.
    pub fn text(&self, style: Style, all_names: bool) -> String {
        let percent = (self.confidence * 1e6).round() / 1e4;
        let shares = self.table(style, false);
        let mut text = Part::new(
            format!("What comes out right ({percent} % bootstrap intervals)"),
            shares,
            LEGEND,
        )
        .text(style);
        if self.differences.iter().any(Difference::is_time) {
            let title = "Times: how many times as long, geometric means";
            text += &format!("\n{}", Part::new(title, self.table(style, true), "").text(style));
        }
        text += &format!("\n{}", self.changed(if all_names { usize::MAX } else { NAMES }));
        text += &self.left_out();
        for note in &self.notes {
            text += &format!("{}{note}\n", style.paragraph());
        }
        let better = self
            .differences
            .iter()
            .filter(|one| one.finding == Change::Better)
            .count();
        let summary = format!(
            "Findings: {better} better, {} worse, of {} figures.",
            self.worse(),
            self.differences.len()
        );
        text + &format!("{}{summary}\n", style.paragraph())
    }

    fn table(&self, style: Style, of_times: bool) -> Table {
        let with_times = of_times.then_some("time");
        let names = ["run", "model", "framework", "dataset"].into_iter().chain(with_times);
        let header = names.chain(["pairs", "before", "after", "change", "interval", "p", "finding"]);
        let mut table = table(header, 4 + usize::from(of_times), style);
        for one in self.differences.iter().filter(|one| one.is_time() == of_times) {
            let share = |share: f64| format!("{:.1} %", 100.0 * share);
            let points = |share: f64| format!("{:+.1}", 100.0 * share);
            let times = |ratio: f64| format!("{ratio:.3}");
            let [low, high] = one.interval;
            let cells = match of_times {
                true => [
                    figure(Some(one.before)),
                    figure(Some(one.after)),
                    times(one.change),
                    format!("{} to {}", times(low), times(high)),
                ],
                false => [
                    share(one.before),
                    share(one.after),
                    points(one.change),
                    format!("{} to {}", points(low), points(high)),
                ],
            };
            let finding = match one.finding {
                Change::None => "–",
                Change::Better => "better",
                Change::Worse => "WORSE",
            };
            let names = [one.run_of, &one.model, &one.framework, &one.dataset].map(str::to_owned);
            let names = names.into_iter().chain(of_times.then(|| one.figure.to_owned()));
            let p_value = if one.p_value < 0.001 {
                "< 0.001".to_owned()
            } else {
                format!("{:.3}", one.p_value)
            };
            table.add_row(
                names
                    .chain([one.pairs.to_string()])
                    .chain(cells)
                    .chain([p_value, finding.to_owned()]),
            );
        }
        table
    }

    /// Lists the questions that only one side has, by group, and counts answers to questions that one side has twice.
    fn left_out(&self) -> String {
        let line = |one: &Unpaired| {
            let name = one.group.name();
            match (one.is_whole_group, one.only_before, one.only_after) {
                (true, 0, after) => format!("- {name}: only in the second runs, with {after} questions\n"),
                (true, before, _) => format!("- {name}: MISSING in the second runs, {before} questions\n"),
                (false, before, after) => {
                    format!("- {name}: {before} questions only in the first runs, {after} only in the second\n")
                }
            }
        };
        let lines: String = self.unpaired.iter().map(line).collect();
        let mut text = match lines.is_empty() {
            true => lines,
            false => format!("\nNot compared, as one side lacks it:\n\n{lines}"),
        };
        for (runs, repeated) in ["first", "second"].into_iter().zip(&self.repeated) {
            for (group, count) in repeated {
                let name = group.name();
                text += &format!(
                    "\n{name}: {count} answers of the {runs} runs are left out, as an earlier run of them answers the same question.\n"
                );
            }
        }
        text
    }

    /// Lists the questions whose outcome changed, by name.
    fn changed(&self, most: usize) -> String {
        let mut text = String::new();
        for one in self.differences.iter().filter(|one| one.figure == RIGHT) {
            let place = [one.run_of, &one.model, &one.framework, &one.dataset];
            let place = place
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", ");
            for (what, names) in [("became right", &one.became_right), ("became wrong", &one.became_wrong)] {
                if names.is_empty() {
                    continue;
                }
                let shown: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
                let rest = match names.len() - shown.len() {
                    0 => String::new(),
                    rest => format!(" and {rest} more (--names prints all)"),
                };
                text += &format!("- {place}: {} {what}: {}{rest}\n", names.len(), shown.join(", "));
            }
        }
        text
    }

    /// One JSON object: `differences`, `confidence`, `unpaired`, `repeated`, `notes`.
    pub fn json(&self) -> Value {
        let repeated = self.repeated.each_ref().map(|side| {
            let groups = side
                .iter()
                .map(|(group, answers)| json!({"group": group, "answers": answers}));
            groups.collect::<Vec<_>>()
        });
        json!({
            "differences": self.differences, "confidence": self.confidence, "unpaired": self.unpaired,
            "repeated": {"before": repeated[0], "after": repeated[1]}, "notes": self.notes,
        })
    }
}
