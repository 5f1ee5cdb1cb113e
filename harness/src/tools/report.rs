//! The tables of `maskwright bench --tools`.

use serde_json::json;

use super::rows::{CallRow, Share};
use crate::frameworks::display_name;
use crate::report::part::Part;
use crate::report::table::{CellText, Style, Table, figure, table};

/// Report of a run: rows and warnings.
pub struct ToolReport {
    /// The rows.
    pub rows: Vec<CallRow>,
    /// Warnings that limit what the figures show.
    pub warnings: Vec<String>,
}

/// Legend printed below the table of calls.
const LEGEND: &str = "Of the requests that a call is right for (n), replies with calls that are all well-formed (calls parse), that call the right functions, in any \
order (right function), with arguments valid under the JSON Schema of each function (arguments valid), or among the accepted values by the rules of the Berkeley \
Function-Calling Leaderboard (accepted). Of the requests that no call is right for (n), replies without a call (no call). All with 95 % Wilson intervals. vs alone: requests that \
only this row (+) and only the model alone (−) has right, and the p-value of McNemar's exact test.";

/// Legend printed below the table of times.
const TIMES_LEGEND: &str = "Medians over replies: time to the first token, time per output token, the framework's time per mask, and the time in which it compiles a request's \
structural tag.";

impl ToolReport {
    /// Returns the tables and notes as text.
    pub fn text(&self, style: Style) -> String {
        let parts = self.parts(style);
        let texts: Vec<String> = parts.iter().map(|part| part.text(style)).collect();
        texts.join("\n")
    }

    /// Returns the tables of calls and of times.
    pub fn parts(&self, style: Style) -> Vec<Part> {
        vec![
            Part::new("Calls of functions", self.calls(style), LEGEND).with_notes(self.notes()),
            Part::new("Times of calls", self.times(style), TIMES_LEGEND),
        ]
    }

    /// Returns notes on requests without a reply, without a usable prompt, with a refused tag or with a reply that was cut off, and the warnings.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &self.rows {
            let name = format!("{} {} {}", row.model, display_name(&row.framework), row.dataset);
            let open = row.planned.saturating_sub(row.answered + row.unusable);
            let mut note = |count: usize, what: &str| {
                if count > 0 {
                    notes.push(format!("{name}: {count} of {} requests {what}.", row.planned));
                }
            };
            note(open, "have no reply yet");
            note(
                row.unusable,
                "could not be asked, for the reasons in records.jsonl (`unusable`)",
            );
            note(row.refused, "had their structural tag refused");
            note(
                row.failed,
                "had the framework fail on their reply, for the reasons in records.jsonl (`error`)",
            );
            note(row.cut_off, "had their reply cut off at a limit");
        }
        notes.extend(self.warnings.iter().cloned());
        notes
    }

    fn calls(&self, style: Style) -> Table {
        let header = [
            "requests",
            "model",
            "framework",
            "format",
            "n",
            "calls parse",
            "right function",
            "arguments valid",
            "accepted",
            "n (no call)",
            "no call",
            "vs alone",
        ];
        let mut table = table(header, 4, style);
        for row in &self.rows {
            let rivals = self
                .rows
                .iter()
                .filter(|other| (&other.model, &other.dataset) == (&row.model, &row.dataset));
            let best = rivals.map(|rival| rival.accepted.part).max().unwrap_or(0);
            let accepted = percent(row.accepted);
            let against = row.against_alone.map(|comparison| comparison.describe());
            let cells: Vec<CellText> = vec![
                row.dataset.clone().into(),
                row.model.clone().into(),
                display_name(&row.framework).into(),
                row.format.clone().into(),
                row.parsed.whole.to_string().into(),
                percent(row.parsed).into(),
                percent(row.right_functions).into(),
                percent(row.valid_arguments).into(),
                match row.accepted.part == best && best > 0 {
                    true => CellText::best(accepted),
                    false => accepted.into(),
                },
                row.declined.whole.to_string().into(),
                percent(row.declined).into(),
                against.unwrap_or_default().into(),
            ];
            table.add_row(cells);
        }
        table
    }

    fn times(&self, style: Style) -> Table {
        let header = [
            "requests",
            "model",
            "framework",
            "TTFT (s)",
            "TPOT (ms)",
            "mask (µs)",
            "compile (ms)",
        ];
        let mut table = table(header, 3, style);
        for row in &self.rows {
            table.add_row([
                row.dataset.clone(),
                row.model.clone(),
                display_name(&row.framework),
                figure(row.ttft_s),
                figure(row.tpot_ms),
                figure(row.mask_us),
                figure(row.compile_ms),
            ]);
        }
        table
    }

    /// Returns the figures as JSON.
    pub fn json(&self) -> String {
        json!({ "rows": self.rows, "warnings": self.warnings }).to_string()
    }

    /// Returns the rows as CSV.
    pub fn csv(&self) -> String {
        let header = [
            "dataset",
            "model",
            "framework",
            "format",
            "planned",
            "answered",
            "unusable",
            "requests_with_calls",
            "parsed",
            "right_functions",
            "valid_arguments",
            "accepted",
            "accepted_low",
            "accepted_high",
            "requests_without_calls",
            "declined",
            "refused",
            "failed",
            "cut_off",
            "ttft_s",
            "tpot_ms",
            "mask_us",
            "compile_ms",
            "only_this",
            "only_alone",
            "p_value",
        ];
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory cannot fail.
        let _ = writer.write_record(header);
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for row in &self.rows {
            let (ci, against) = (row.accepted.ci, row.against_alone);
            let count = |count: Option<usize>| count.map_or_else(String::new, |count| count.to_string());
            let _ = writer.write_record([
                row.dataset.clone(),
                row.model.clone(),
                row.framework.clone(),
                row.format.clone(),
                row.planned.to_string(),
                row.answered.to_string(),
                row.unusable.to_string(),
                row.parsed.whole.to_string(),
                row.parsed.part.to_string(),
                row.right_functions.part.to_string(),
                row.valid_arguments.part.to_string(),
                row.accepted.part.to_string(),
                number(ci.map(|[low, _]| low)),
                number(ci.map(|[_, high]| high)),
                row.declined.whole.to_string(),
                row.declined.part.to_string(),
                row.refused.to_string(),
                row.failed.to_string(),
                row.cut_off.to_string(),
                number(row.ttft_s),
                number(row.tpot_ms),
                number(row.mask_us),
                number(row.compile_ms),
                count(against.map(|against| against.only_this)),
                count(against.map(|against| against.only_other)),
                number(against.map(|against| against.p_value)),
            ]);
        }
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }
}

/// Formats a share in per cent with its interval.
fn percent(share: Share) -> String {
    match (share.rate(), share.ci) {
        (Some(rate), Some([low, high])) => format!("{:.1} % ({:.1}–{:.1})", 100.0 * rate, 100.0 * low, 100.0 * high),
        _ => "NA".to_owned(),
    }
}
