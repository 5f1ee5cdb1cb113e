//! Tables of a run: a row for each model and mode, side by side.

use std::collections::HashSet;

use maskwright_suites::ifstruct::{OutputFormat, Sample};
use serde_json::{Value, json};

use super::published;
use super::record::{Mode, ReplyKey, ReplyRecord};
use super::tally::Tally;
use crate::report::statistics::quantile;
use crate::report::table::{Style, table};

/// What one model replied in one mode.
#[derive(Debug)]
pub struct Row {
    model: String,
    mode: Mode,
    /// All replies, and those in each format.
    parts: [Part; 3],
    /// Pass rates by what samples are like, and the most common failures.
    tally: Tally,
    /// Replies that could not be asked for, and why the first of them.
    refused: usize,
    refusal: Option<String>,
    /// Samples whose prompt or reply, in some mode, did not fit into the model's context. They count in no figure of the model.
    no_room: usize,
}

/// Counts of some replies.
#[derive(Clone, Debug, Default)]
struct Part {
    total: usize,
    finished: usize,
    passed: usize,
    /// Tokens and seconds of each reply.
    tokens: Vec<f64>,
    seconds: Vec<f64>,
}

impl Part {
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
        let no_room: HashSet<u64> = replies
            .iter()
            .filter(|(record, _)| record.key.model == *model && record.lacked_room())
            .map(|(record, _)| record.key.seed)
            .collect();
        let of_row = |key: &ReplyKey| key.model == *model && key.mode == mode;
        let mut seen: HashSet<(u64, &str)> = HashSet::new();
        let own: Vec<(&ReplyRecord, &Sample)> = replies
            .iter()
            .filter(|(record, sample)| of_row(&record.key) && seen.insert((sample.seed, &sample.prompt)))
            .filter(|(record, _)| !no_room.contains(&record.key.seed))
            .copied()
            .collect();
        let parts = FORMATS.map(|format| {
            let mut part = Part::default();
            let wanted = |sample: &Sample| format.is_none_or(|format| sample.output_format == format);
            for (record, _) in own.iter().filter(|(_, sample)| wanted(sample)) {
                part.add(record);
            }
            part
        });
        let mut tally = Tally::default();
        for (record, sample) in &own {
            if let Some(score) = &record.score {
                tally.add(sample, score);
            }
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

/// The leaderboard, the best first, and the published scores beside it.
pub fn leaderboard(rows: &[Row], style: Style) -> String {
    let mut board = table(HEADER, 2, style);
    for row in sorted(rows) {
        board.add_row(cells(row));
    }
    let mut text = format!("{board}\n\ntokens, seconds: medians of one reply\n");
    for row in rows.iter().filter(|row| row.refused > 0) {
        let (model, mode, count) = (&row.model, row.mode.name(), row.refused);
        let reason = row.refusal.as_deref().unwrap_or_default();
        text += &format!("{model}, {mode}: {count} not asked for, the first: {reason}\n");
    }
    for row in rows.iter().filter(|row| row.no_room > 0) {
        let (model, mode, count) = (&row.model, row.mode.name(), row.no_room);
        text += &format!(
            "{model}, {mode}: {count} samples count nowhere: their prompt, or the reply in some mode, did not fit into the model's context\n"
        );
    }
    for sentence in results(rows) {
        text += &format!("{}{sentence}\n", style.paragraph());
    }
    let mut known = table([published::SOURCE, "pass rate (%)"], 1, style);
    for (model, score) in published::SCORES {
        known.add_row([model.to_owned(), format!("{score:.2}")]);
    }
    text + &format!("\n{known}\n")
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

/// What samples are like, and failures, row by row.
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
    let interval = crate::report::statistics::wilson(all.passed, all.total);
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

/// One object: `rows`, one for each model, mode and format; `details`, one for each model and mode, with pass rates by what samples are
/// like and failures; and the published scores.
pub fn json(rows: &[Row]) -> Value {
    let each = rows.iter().flat_map(|row| {
        let parts = FORMATS
            .iter()
            .zip(&row.parts)
            .skip(1)
            .filter(|(_, part)| part.total > 0);
        parts.map(move |(format, part)| {
            json!({
                "model": row.model,
                "mode": row.mode,
                "format": format,
                "passed": part.passed,
                "total": part.total,
                "finished": part.finished,
                "pass_rate": part.pass_rate(),
                "pass_rate_ci": crate::report::statistics::wilson(part.passed, part.total),
            })
        })
    });
    let details = rows.iter().map(|row| {
        let mut details = row.tally.json();
        details["model"] = json!(row.model);
        details["mode"] = json!(row.mode);
        details["not_asked_for"] = json!(row.refused);
        details["no_room"] = json!(row.no_room);
        details
    });
    let published = published::SCORES.map(|(model, score)| json!({ "model": model, "pass_rate": score / 100.0 }));
    json!({
        "rows": each.collect::<Vec<_>>(),
        "details": details.collect::<Vec<_>>(),
        "published": { "source": published::SOURCE, "scores": published },
    })
}

/// The leaderboard as a page of its own.
pub fn html(rows: &[Row]) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let line = |cells: &[String], cell: &str| {
        let cells = cells.iter().map(|text| format!("<{cell}>{}</{cell}>", escape(text)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let header = HEADER.map(str::to_owned);
    let own: String = sorted(rows).into_iter().map(|row| line(&cells(row), "td")).collect();
    let scores = published::SCORES.map(|(model, score)| line(&[model.to_owned(), format!("{score:.2}")], "td"));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>IFStruct</title><style>\
         body{{font-family:sans-serif;margin:2em}}table{{border-collapse:collapse;margin-bottom:2em}}\
         td,th{{border:1px solid #ccc;padding:.3em .6em;text-align:right}}td:first-child,th:first-child{{text-align:left}}\
         </style></head><body><h1>IFStruct</h1>\n<table>\n{}{own}</table>\n<h2>{}</h2>\n<table>\n{}{}</table></body></html>\n",
        line(&header, "th"),
        escape(published::SOURCE),
        line(&["model".to_owned(), "pass rate (%)".to_owned()], "th"),
        scores.concat(),
    )
}
