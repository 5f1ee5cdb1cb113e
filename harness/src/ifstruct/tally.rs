//! Pass rates and the most common failures.

use std::collections::{BTreeMap, BTreeSet};

use maskwright_suites::ifstruct::{FailureKind, OutputFormat, Sample, Score};
use serde::Serialize;
use serde_json::{Value, json};

use crate::report::statistics::{Interval, wilson};
use crate::report::table::{Style, table};

/// Replies and how many of them passed.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    replies: usize,
    passed: usize,
}

/// The pass rate of the replies to samples of one kind.
#[derive(Clone, Debug)]
pub struct SplitRate {
    /// Property of the samples by which replies are split.
    pub by: &'static str,
    /// Value of the property by which replies are split.
    pub part: String,
    /// Share of the replies that pass; `None` of none.
    pub rate: Option<f64>,
    /// 95 % Wilson interval of the pass rate.
    pub interval: Option<Interval>,
    /// The cells of a table: replies, passed, rate and interval in per cent.
    pub columns: [String; 4],
}

impl SplitRate {
    fn new(by: &'static str, part: &str, share: Share) -> Self {
        Self {
            by,
            part: part.to_owned(),
            rate: share.rate(),
            interval: share.interval(),
            columns: share.columns(),
        }
    }
}

/// Counts of one kind of failure, by replies and by occurrences.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Frequency {
    /// Number of replies with at least one failure of this kind.
    replies: usize,
    /// Number of failures of this kind over all replies.
    occurrences: usize,
}

/// Pass rates and failures counted over the scores of many replies.
#[derive(Debug, Default)]
pub struct Tally {
    all: Share,
    /// Pass rates by property of the samples and by its value; a property that a sample lacks is left out.
    splits: BTreeMap<Split, BTreeMap<String, Share>>,
    failures: BTreeMap<FailureKind, Frequency>,
}

/// Property of the samples by which replies are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Split {
    Format,
    Structure,
    Presentation,
    Voice,
    EntityType,
}

impl Split {
    const ALL: [Self; 5] = [
        Self::Format,
        Self::Structure,
        Self::Presentation,
        Self::Voice,
        Self::EntityType,
    ];

    /// Returns the name of the split in JSON.
    fn key(self) -> &'static str {
        match self {
            Self::Format => "by_format",
            Self::Structure => "by_structure",
            Self::Presentation => "by_presentation_style",
            Self::Voice => "by_voice",
            Self::EntityType => "by_entity_type",
        }
    }

    /// Returns the title of the split in tables.
    fn title(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Structure => "structure",
            Self::Presentation => "presentation",
            Self::Voice => "voice",
            Self::EntityType => "entity type",
        }
    }

    /// The part that a sample belongs to.
    fn part(self, sample: &Sample) -> Option<String> {
        match self {
            Self::Format => Some(match sample.output_format {
                OutputFormat::Json => "json".to_owned(),
                OutputFormat::Yaml => "yaml".to_owned(),
            }),
            Self::Structure => Some(match sample.require_wrapper_key {
                true => "wrapper_key".to_owned(),
                false => "bare_list".to_owned(),
            }),
            Self::Presentation => {
                let style = serde_json::to_value(sample.presentation_style?).ok()?;
                style.as_str().map(str::to_owned)
            }
            Self::Voice => sample.voice.clone(),
            Self::EntityType => Some(sample.entity_type.clone()),
        }
    }
}

impl Share {
    fn add(&mut self, passed: bool) {
        self.replies += 1;
        self.passed += usize::from(passed);
    }

    fn rate(self) -> Option<f64> {
        (self.replies > 0).then(|| self.passed as f64 / self.replies as f64)
    }

    fn interval(self) -> Option<Interval> {
        wilson(self.passed, self.replies)
    }

    fn json(self) -> Value {
        json!({
            "replies": self.replies,
            "passed": self.passed,
            "pass_rate": self.rate(),
            "pass_rate_ci": self.interval(),
        })
    }

    /// The columns behind the names.
    fn columns(self) -> [String; 4] {
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let rate = self.rate().map_or_else(|| "NA".to_owned(), percent);
        let interval = self
            .interval()
            .map(|[low, high]| format!("[{}, {}]", percent(low), percent(high)));
        [
            self.replies.to_string(),
            self.passed.to_string(),
            rate,
            interval.unwrap_or_else(|| "NA".to_owned()),
        ]
    }
}

impl Tally {
    /// Adds the verdict on the reply to a sample; `None`, of a sample without a reply, counts as a reply that does not pass.
    pub fn add(&mut self, sample: &Sample, score: Option<&Score>) {
        let passed = score.is_some_and(|score| score.passed);
        self.all.add(passed);
        for split in Split::ALL {
            if let Some(part) = split.part(sample) {
                self.splits
                    .entry(split)
                    .or_default()
                    .entry(part)
                    .or_default()
                    .add(passed);
            }
        }
        let mut kinds = BTreeSet::new();
        for failure in score.map_or(&[][..], |score| score.failures.as_slice()) {
            self.failures.entry(failure.kind).or_default().occurrences += 1;
            kinds.insert(failure.kind);
        }
        for kind in kinds {
            self.failures.entry(kind).or_default().replies += 1;
        }
    }

    /// Returns the pass rate of all replies, and those of the replies by every property of the samples and its values.
    pub fn rates(&self) -> Vec<SplitRate> {
        let all = SplitRate::new("all", "", self.all);
        let parts = self.splits.iter().flat_map(|(split, parts)| {
            let each = parts.iter();
            each.map(|(part, share)| SplitRate::new(split.title(), part, *share))
        });
        std::iter::once(all).chain(parts).collect()
    }

    /// Returns the kinds of failures, the most common first: name, number of replies with the failure, and number of occurrences.
    pub fn failures(&self) -> Vec<(&'static str, usize, usize)> {
        let frequencies = self.frequencies().into_iter();
        frequencies
            .map(|(kind, frequency)| (kind.describe(), frequency.replies, frequency.occurrences))
            .collect()
    }

    /// Returns the kinds of failures with their counts, the most common first.
    fn frequencies(&self) -> Vec<(FailureKind, Frequency)> {
        let mut frequencies: Vec<_> = self
            .failures
            .iter()
            .map(|(kind, frequency)| (*kind, *frequency))
            .collect();
        frequencies.sort_by_key(|(_, frequency)| std::cmp::Reverse((frequency.replies, frequency.occurrences)));
        frequencies
    }

    /// Returns a JSON object: pass rates as shares with 95 % intervals, and failures, the most common first.
    pub fn json(&self) -> Value {
        let mut report = self.all.json();
        if let Some(replies) = report.as_object_mut().and_then(|members| members.remove("replies")) {
            report["scored"] = replies;
        }
        for split in Split::ALL {
            let parts = self.splits.get(&split).into_iter().flatten();
            let parts: BTreeMap<&str, Value> = parts.map(|(part, share)| (part.as_str(), share.json())).collect();
            report[split.key()] = json!(parts);
        }
        let failures = self.frequencies().into_iter().map(|(kind, frequency)| {
            json!({
                "kind": kind,
                "description": kind.describe(),
                "replies": frequency.replies,
                "occurrences": frequency.occurrences,
            })
        });
        report["failures"] = failures.collect();
        report
    }

    /// Tables for a terminal.
    pub fn text(&self) -> String {
        let header = ["by", "", "replies", "passed", "pass rate (%)", "95 % interval"];
        let mut rates = table(header, 2, Style::Terminal);
        let row = |names: [&str; 2], share: Share| names.map(str::to_owned).into_iter().chain(share.columns());
        rates.add_row(row(["all", ""], self.all));
        for (split, parts) in &self.splits {
            for (number, (part, share)) in parts.iter().enumerate() {
                let title = if number == 0 { split.title() } else { "" };
                rates.add_row(row([title, part], *share));
            }
        }
        let mut text = format!("{rates}\n");
        if !self.failures.is_empty() {
            let mut failures = table(["failure", "replies", "occurrences"], 1, Style::Terminal);
            for (kind, frequency) in self.frequencies() {
                let counts = [frequency.replies.to_string(), frequency.occurrences.to_string()];
                failures.add_row([kind.describe().to_owned()].into_iter().chain(counts));
            }
            text += &format!("\n{failures}\n");
        }
        text
    }
}
