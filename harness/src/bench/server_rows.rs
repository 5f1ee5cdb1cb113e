//! [`ServerRow`]: outcomes and costs of the questions to a server.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::bench::record::{Record, ServerRecord};
use crate::bench::rows::{BenchRow, RowKey};
use crate::report::table::{self, Style, Table};
use crate::server::{Outcome, TokenSource};

/// A server's questions over all datasets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServerRow {
    /// The server.
    pub server: String,
    /// The model.
    pub model: String,
    /// Number of questions with an answer or a refusal of the schema.
    pub answered: usize,
    /// Number of questions without an answer, those that were not asked yet included, which are asked when the run is resumed; they count in no
    /// other table.
    pub unanswered: usize,
    /// Number of answers of each outcome.
    pub outcomes: BTreeMap<&'static str, usize>,
    /// Number of requests beyond the first of each question.
    pub repeated: u64,
    /// Number of answers whose tokens were not counted: each piece of the answer that arrived counts as a token.
    pub uncounted: usize,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of answers, without reasoning.
    pub output_tokens: u64,
    /// Tokens of reasoning.
    pub reasoning_tokens: u64,
    /// Cost of all answers, in the currency of the prices that were given; estimated for answers whose tokens were not counted.
    pub cost: Option<f64>,
}

/// Returns the rows of the servers among `keys`, whose answers have the figures in `rows`.
pub fn server_rows(records: &[Record], keys: &[RowKey], rows: &[BenchRow]) -> Vec<ServerRow> {
    let servers = keys.iter().filter(|key| key.server);
    servers
        .map(|key| {
            let mut row = ServerRow {
                server: key.framework.clone(),
                model: key.model.clone(),
                ..ServerRow::default()
            };
            let own = |record: &&Record| (&record.key.framework, &record.key.model) == (&row.server, &row.model);
            for record in records.iter().filter(own).collect::<Vec<_>>() {
                row.add(record);
            }
            let asked = rows.iter().filter(|one| one.server);
            let own = asked.filter(|one| (&one.framework, &one.model) == (&row.server, &row.model));
            row.unanswered = own.map(|one| one.unanswered).sum();
            row
        })
        .collect()
}

impl ServerRow {
    fn add(&mut self, record: &Record) {
        let Some(server) = &record.server else { return };
        self.repeated += u64::from(server.attempts.saturating_sub(1));
        if server.outcome == Outcome::Unanswered {
            return;
        }
        self.answered += 1;
        *self.outcomes.entry(server.outcome.describe()).or_default() += 1;
        self.uncounted += usize::from(server.tokens_by == Some(TokenSource::Pieces));
        self.reasoning_tokens += server.reasoning_tokens.unwrap_or(0);
        if let Some(generation) = &record.generation {
            self.prompt_tokens += generation.prompt_tokens as u64;
            self.output_tokens += generation.output_tokens as u64;
        }
        if let Some(cost) = server.cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
    }
}

/// Returns the cost of all requests on record.
pub fn total_cost<'a>(servers: impl Iterator<Item = Option<&'a ServerRecord>>) -> f64 {
    servers.filter_map(|server| server?.cost).sum()
}

/// Legend printed below the table of servers.
pub const LEGEND: &str = "unanswered: no answer yet, for reasons of the server or the network or because the run has not come to it; counted \
nowhere and asked with --resume; repeated: further requests after failures in passing; tokens as the servers count them; cost by the prices given.";

/// Returns the table of servers.
pub fn server_table(rows: &[ServerRow], style: Style) -> Table {
    let header = [
        "server",
        "model",
        "outcomes",
        "answered",
        "unanswered",
        "repeated",
        "prompt tokens",
        "answer tokens",
        "reasoning tokens",
        "cost",
    ];
    let mut table = table::table(header, 3, style);
    for row in rows {
        let in_order = Outcome::ALL.iter().map(|outcome| outcome.describe());
        let outcomes: Vec<String> = in_order
            .filter_map(|outcome| Some(format!("{outcome} {}", row.outcomes.get(outcome)?)))
            .collect();
        let tokens = |count: u64| match row.uncounted {
            0 => count.to_string(),
            // Without the server's counts, the sum is only a lower bound.
            _ => format!("≥ {count}"),
        };
        table.add_row([
            row.server.clone(),
            row.model.clone(),
            outcomes.join(", "),
            row.answered.to_string(),
            row.unanswered.to_string(),
            row.repeated.to_string(),
            tokens(row.prompt_tokens),
            tokens(row.output_tokens),
            row.reasoning_tokens.to_string(),
            cost(row.cost),
        ]);
    }
    let priced = rows.iter().filter_map(|row| row.cost);
    if priced.clone().count() > 1 {
        let mut total = vec!["all".to_owned()];
        total.resize(9, String::new());
        total.push(cost(Some(priced.sum())));
        table.add_row(total);
    }
    table
}

fn cost(cost: Option<f64>) -> String {
    cost.map_or_else(|| "NA".to_owned(), |cost| format!("{cost:.4}"))
}
