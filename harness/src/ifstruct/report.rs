//! Tables of a run: a row for each model and mode, side by side.

use std::collections::HashSet;

use maskwright_suites::ifstruct::{OutputFormat, Sample};
use serde_json::{Value, json};

use super::published;
use super::record::{Mode, ReplyKey, ReplyRecord};
use super::tally::Tally;
use crate::report::csv_rows;
use crate::report::part::Part;
use crate::report::statistics::{Interval, quantile, wilson};
use crate::report::table::{Style, Table, table};

/// A row of the tables: counts and failures of the replies of one model in one mode.
#[derive(Debug)]
pub struct Row {
    model: String,
    mode: Mode,
    /// All replies, and those in each format.
    parts: [Counts; 3],
    /// Pass rates by property of the samples, and the most common failures.
    tally: Tally,
    /// Number of replies that are missing because the model could not be asked or constrained; `refusal` has the reason of the first.
    refused: usize,
    refusal: Option<String>,
    /// Samples whose prompt or reply, in some mode, did not fit into the model's context. They count in no figure of the model.
    no_room: usize,
}

/// Counts of some replies.
#[derive(Clone, Debug, Default)]
struct Counts {
    total: usize,
    finished: usize,
    passed: usize,
    /// Tokens and seconds of each reply.
    tokens: Vec<f64>,
    seconds: Vec<f64>,
}

impl Counts {
    fn add(&mut self, record: &ReplyRecord) {
        self.total += 1;
        self.finished += usize::from(record.is_finished());
        self.passed += usize::from(record.passed());
        if let Some(generation) = &record.generation {
            self.tokens.push(generation.output_tokens as f64);
            self.seconds.push(generation.tgt_s);
        }
    }

    fn pass_rate(&self) -> Option<f64> {
        (self.total > 0).then(|| self.passed as f64 / self.total as f64)
    }
}

/// The parts of a row, and the format that each is of.
const FORMATS: [Option<OutputFormat>; 3] = [None, Some(OutputFormat::Json), Some(OutputFormat::Yaml)];

/// Seed and prompt of a sample: samples of several runs may have the same seed.
fn identity(sample: &Sample) -> (u64, &str) {
    (sample.seed, &sample.prompt)
}

/// A row for each model and mode, models in the order in which they come first. A reply to a sample that the same model was asked for
/// in the same mode before does not count.
pub fn rows(replies: &[(&ReplyRecord, &Sample)]) -> Vec<Row> {
    let mut models: Vec<&String> = Vec::new();
    for (record, _) in replies {
        if !models.contains(&&record.key.model) {
            models.push(&record.key.model);
        }
    }
    let pairs = models.into_iter().flat_map(|model| Mode::ALL.map(|mode| (model, mode)));
    let rows = pairs.filter_map(|(model, mode)| {
        let no_room: HashSet<(u64, &str)> = replies
            .iter()
            .filter(|(record, _)| record.key.model == *model && record.lacked_room())
            .map(|(_, sample)| identity(sample))
            .collect();
        let of_row = |key: &ReplyKey| key.model == *model && key.mode == mode;
        let mut seen: HashSet<(u64, &str)> = HashSet::new();
        let own: Vec<(&ReplyRecord, &Sample)> = replies
            .iter()
            .filter(|(record, sample)| of_row(&record.key) && seen.insert(identity(sample)))
            .filter(|(_, sample)| !no_room.contains(&identity(sample)))
            .copied()
            .collect();
        let parts = FORMATS.map(|format| {
            let mut part = Counts::default();
            let wanted = |sample: &Sample| format.is_none_or(|format| sample.output_format == format);
            for (record, _) in own.iter().filter(|(_, sample)| wanted(sample)) {
                part.add(record);
            }
            part
        });
        let mut tally = Tally::default();
        for (record, sample) in &own {
            tally.add(sample, record.score.as_ref());
        }
        let refusals: Vec<&String> = own.iter().filter_map(|(record, _)| record.refused.as_ref()).collect();
        (!seen.is_empty()).then(|| Row {
            model: model.clone(),
            mode,
            parts,
            tally,
            refused: refusals.len(),
            refusal: refusals.first().map(|reason| (*reason).clone()),
            no_room: no_room.len(),
        })
    });
    rows.collect()
}

/// The columns of the leaderboard.
const HEADER: [&str; 11] = [
    "model",
    "mode",
    "replies",
    "finished",
    "passed",
    "pass rate (%)",
    "95 % interval",
    "json (%)",
    "yaml (%)",
    "tokens",
    "seconds",
];

impl Row {
    /// The model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether its replies are constrained.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Share of the replies that pass, with its 95 % Wilson interval; `None` without replies.
    pub fn pass_rate(&self) -> Option<(f64, Interval)> {
        let all = &self.parts[0];
        Some((all.pass_rate()?, wilson(all.passed, all.total)?))
    }
}

/// The models and modes, the best first.
fn board(rows: &[Row], style: Style) -> Table {
    let mut board = table(HEADER, 2, style);
    for row in sorted(rows) {
        board.add_row(cells(row));
    }
    board
}

/// The pass rate of a model and mode on samples of one kind.
pub struct RowRate {
    /// Property of the samples by which replies are split.
    pub by: &'static str,
    /// Value of the property by which replies are split.
    pub part: String,
    /// The model.
    pub model: String,
    /// Whether its replies are constrained.
    pub mode: Mode,
    /// Share of the replies that pass.
    pub rate: Option<f64>,
    /// 95 % Wilson interval of the pass rate.
    pub interval: Option<Interval>,
    /// The cells of a table: replies, passed, rate and interval in per cent.
    pub columns: [String; 4],
}

/// Returns the pass rates by property of the samples; rows on the same kind of samples stand one after the other, constrained beside unconstrained.
pub fn split_rates(rows: &[Row]) -> Vec<RowRate> {
    let each = rows.iter().flat_map(|row| {
        row.tally.rates().into_iter().map(|rate| RowRate {
            by: rate.by,
            part: rate.part,
            model: row.model.clone(),
            mode: row.mode,
            rate: rate.rate,
            interval: rate.interval,
            columns: rate.columns,
        })
    });
    let mut rates: Vec<RowRate> = each.collect();
    let order = ["all", "format", "structure", "presentation", "voice", "entity type"];
    rates.sort_by_key(|rate| (order.iter().position(|known| *known == rate.by), rate.part.clone()));
    rates
}

/// Returns the tables: models and modes, pass rates by property of the samples, and failures.
pub fn parts(rows: &[Row], style: Style) -> Vec<Part> {
    let header = [
        "by",
        "part",
        "model",
        "mode",
        "replies",
        "passed",
        "pass rate (%)",
        "95 % interval",
    ];
    let mut rates = table(header, 4, style);
    for rate in split_rates(rows) {
        let names = [rate.by, &rate.part, &rate.model, rate.mode.name()].map(str::to_owned);
        rates.add_row(names.into_iter().chain(rate.columns));
    }
    let mut failures = table(["failure", "model", "mode", "replies", "occurrences"], 3, style);
    for row in rows {
        for (what, replies, occurrences) in row.tally.failures() {
            let names = [what, &row.model, row.mode.name()].map(str::to_owned);
            failures.add_row(names.into_iter().chain([replies.to_string(), occurrences.to_string()]));
        }
    }
    vec![
        Part::new(
            "Replies that pass",
            board(rows, style),
            "tokens, seconds: medians of one reply",
        )
        .with_notes(results(rows)),
        Part::new(
            "Pass rates by format, structure, presentation, voice and entity",
            rates,
            "",
        ),
        Part::new("The most common failures", failures, ""),
    ]
}

/// The scores that were published of other models.
pub fn published_scores(style: Style) -> Part {
    let [first, second] = published::BESIDE;
    let mut known = table([published::SOURCE, "pass rate (%)", first, second], 1, style);
    for scores in published::SCORES {
        let figures = [scores.pass_rate, scores.beside[0], scores.beside[1]].map(|figure| format!("{figure:.2}"));
        known.add_row([scores.model.to_owned()].into_iter().chain(figures));
    }
    Part::new("Published scores", known, "")
}

/// The leaderboard, the best first, and the published scores beside it.
pub fn leaderboard(rows: &[Row], style: Style) -> String {
    let board = board(rows, style);
    let mut text = format!("{board}\n\ntokens, seconds: medians of one reply\n");
    for row in rows.iter().filter(|row| row.refused > 0) {
        let (model, mode, count) = (&row.model, row.mode.name(), row.refused);
        let reason = row.refusal.as_deref().unwrap_or_default();
        text += &format!("{model}, {mode}: {count} not asked for, the first: {reason}\n");
    }
    for row in rows.iter().filter(|row| row.no_room > 0) {
        let (model, mode, count) = (&row.model, row.mode.name(), row.no_room);
        text += &format!(
            "{model}, {mode}: {count} samples count nowhere: their prompt did not fit into the model's context\n"
        );
    }
    for sentence in results(rows) {
        text += &format!("{}{sentence}\n", style.paragraph());
    }
    text + &format!("\n{}\n", published_scores(style).table)
}

/// The tables in Markdown, without a heading: the leaderboard, what has no reply of so many samples, warnings, then pass rates by property of the
/// samples and failures.
pub fn markdown(rows: &[Row], samples: usize, warnings: &[String]) -> String {
    let style = Style::Markdown;
    let warnings = warnings.iter().map(|warning| format!("\n{warning}\n"));
    // The first part is the leaderboard.
    let details = parts(rows, style).into_iter().skip(1);
    let details = details.map(|part| format!("\n{}", part.text(style)));
    let text = leaderboard(rows, style) + &unfinished(rows, samples);
    text + &warnings.chain(details).collect::<String>()
}

/// The rows that have fewer replies than there are samples, in words; empty where all have all.
pub fn unfinished(rows: &[Row], samples: usize) -> String {
    let short = rows.iter().filter(|row| row.parts[0].total + row.no_room < samples);
    let sentences = short.map(|row| {
        let (model, mode, answered) = (&row.model, row.mode.name(), row.parts[0].total);
        format!("\nUNFINISHED: {model}, {mode}: {answered} of {samples} answered.\n")
    });
    sentences.collect()
}

/// The modes of each model side by side, in words.
fn results(rows: &[Row]) -> Vec<String> {
    let by_model = rows.chunk_by(|one, other| one.model == other.model);
    by_model
        .map(|rows| {
            let parts = rows.iter().map(|row| {
                let all = &row.parts[0];
                format!("{} {} of {}", row.mode.name(), all.passed, all.total)
            });
            format!(
                "{}, replies that pass: {}.",
                rows[0].model,
                parts.collect::<Vec<_>>().join(", ")
            )
        })
        .collect()
}

/// Returns as text, row by row, the pass rates by property of the samples, and the failures.
pub fn details(rows: &[Row]) -> String {
    let parts = rows.iter().map(|row| {
        let (model, mode) = (&row.model, row.mode.name());
        format!("{model}, {mode}\n{}", row.tally.text())
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn sorted(rows: &[Row]) -> Vec<&Row> {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    let rate = |row: &Row| row.parts[0].pass_rate().unwrap_or_default();
    sorted.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    sorted
}

fn cells(row: &Row) -> Vec<String> {
    let [all, json, yaml] = &row.parts;
    let percent = |share: Option<f64>| share.map_or_else(|| "NA".to_owned(), |share| format!("{:.2}", 100.0 * share));
    let median = |values: &[f64], digits: usize| {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        quantile(&values, 0.5).map_or_else(|| "NA".to_owned(), |median| format!("{median:.digits$}"))
    };
    let interval = wilson(all.passed, all.total);
    let interval = interval.map(|[low, high]| format!("[{}, {}]", percent(Some(low)), percent(Some(high))));
    vec![
        row.model.clone(),
        row.mode.name().to_owned(),
        all.total.to_string(),
        all.finished.to_string(),
        all.passed.to_string(),
        percent(all.pass_rate()),
        interval.unwrap_or_else(|| "NA".to_owned()),
        percent(json.pass_rate()),
        percent(yaml.pass_rate()),
        median(&all.tokens, 0),
        median(&all.seconds, 2),
    ]
}

/// Returns the pass rates of each row: of all its replies, whose format is null, and of those in each format that some have.
fn rates(rows: &[Row]) -> impl Iterator<Item = Value> + '_ {
    rows.iter().flat_map(|row| {
        let parts = FORMATS.iter().zip(&row.parts).filter(|(_, part)| part.total > 0);
        parts.map(move |(format, part)| {
            json!({
                "model": row.model,
                "mode": row.mode,
                "format": format,
                "passed": part.passed,
                "total": part.total,
                "finished": part.finished,
                "pass_rate": part.pass_rate(),
                "pass_rate_ci": wilson(part.passed, part.total),
            })
        })
    })
}

/// Returns the pass rates as CSV: a line for all replies of each row, and one for those in each format.
pub fn csv(rows: &[Row]) -> String {
    let rates: Vec<Value> = rates(rows)
        .map(|mut rate| {
            if rate["format"].is_null() {
                rate["format"] = json!("all");
            }
            rate
        })
        .collect();
    csv_rows::csv(&rates)
}

/// Returns a JSON object: `rows`, one for each model, mode and format; `details`, one for each model and mode, with pass rates by property of the
/// samples and failures; and the published scores.
pub fn json(rows: &[Row]) -> Value {
    let each = rates(rows).filter(|rate| !rate["format"].is_null());
    let details = rows.iter().map(|row| {
        let mut details = row.tally.json();
        details["model"] = json!(row.model);
        details["mode"] = json!(row.mode);
        details["not_asked_for"] = json!(row.refused);
        details["no_room"] = json!(row.no_room);
        details
    });
    let published = published::SCORES.map(|scores| {
        let [structeval, structured_output_benchmark] = scores.beside;
        json!({
            "model": scores.model,
            "pass_rate": scores.pass_rate / 100.0,
            "structeval": structeval,
            "structured_output_benchmark": structured_output_benchmark,
        })
    });
    json!({
        "rows": each.collect::<Vec<_>>(),
        "details": details.collect::<Vec<_>>(),
        "published": { "source": published::SOURCE, "scores": published },
    })
}

#[cfg(test)]
mod tests {
    use maskwright_suites::ifstruct::{SampleGenerator, Score, Split};

    use super::*;

    /// Two samples of the same seed.
    fn samples() -> Vec<Sample> {
        let samples = SampleGenerator::new(5, Split::Test).unwrap().take(2);
        samples.map(|sample| Sample { seed: 1, ..sample }).collect()
    }

    fn record() -> ReplyRecord {
        ReplyRecord::empty(ReplyKey {
            model: "m".to_owned(),
            mode: Mode::Constrained,
            seed: 1,
        })
    }

    fn passed() -> ReplyRecord {
        let score = Score {
            passed: true,
            fenced: false,
            failures: Vec::new(),
            omitted: 0,
            items: None,
        };
        ReplyRecord {
            score: Some(score),
            ..record()
        }
    }

    #[test]
    fn a_sample_without_room_leaves_those_of_its_seed_in_other_runs() {
        let samples = samples();
        // A reply that fills the context counts.
        for (output_tokens, expected) in [(0, (1, 1, 1)), (5, (2, 1, 0))] {
            let full = json!({
                "prompt_tokens": 9, "output_tokens": output_tokens, "forced_tokens": 0, "forward_passes": 0, "finish": "context_full", "tgt_s": 0.0,
                "masks": 0, "token_times_us": [], "text": "",
            });
            let full = ReplyRecord {
                generation: Some(serde_json::from_value(full).unwrap()),
                ..record()
            };
            let rows = rows(&[(&full, &samples[0]), (&passed(), &samples[1])]);
            let found = (rows[0].parts[0].total, rows[0].parts[0].passed, rows[0].no_room);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn samples_that_could_not_be_asked_for_are_in_all_pass_rates() {
        let samples = samples();
        let refused = ReplyRecord {
            refused: Some("no".to_owned()),
            ..record()
        };
        let rows = rows(&[(&refused, &samples[0]), (&passed(), &samples[1])]);
        assert_eq!(rows[0].parts[0].pass_rate(), Some(0.5));
        assert_eq!(rows[0].tally.rates()[0].rate, Some(0.5));
    }
}
