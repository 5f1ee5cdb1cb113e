//! The report of `bench` from records.

use std::collections::HashSet;

use maskwright_suites::validate::Scoring;

use super::run::RunRecords;
use super::{in_order, is_asked, names};
use crate::bench::record::Record;
use crate::bench::report::{Report, speed};
use crate::bench::rows::{self, Method, RowKey, Scope};
use crate::bench::server_rows::server_rows;
use crate::report::paper::PaperRow;
use crate::report::statistics::Bootstrap;
use crate::run::machine_load::spread_warning;

/// Options of a report, where the manifest does not tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOptions {
    /// Rules by which answers are judged.
    pub scoring: Scoring,
    /// Confidence of the intervals.
    pub confidence: f64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            scoring: Scoring::Strict,
            confidence: 0.95,
        }
    }
}

/// The rows of a run: models with their frameworks and servers in the order of the manifest, then what records have beside them.
pub fn row_keys(run: &RunRecords<Record>) -> Vec<RowKey> {
    // A schema that cannot be used is recorded of a server's row without having been sent to the server.
    let servers = names(&run.settings, "servers");
    let is_served = |record: &&Record| record.server.is_some() || servers.contains(&record.key.framework);
    let local = || run.records.iter().filter(|record| !is_served(record));
    let models = in_order(
        names(&run.settings, "models"),
        local().map(|record| record.key.model.as_str()),
    );
    let frameworks = in_order(
        names(&run.settings, "frameworks"),
        local().map(|record| record.key.framework.as_str()),
    );
    let has_records: HashSet<(&str, &str)> = local()
        .map(|record| (record.key.model.as_str(), record.key.framework.as_str()))
        .collect();
    let mut keys = Vec::new();
    for model in &models {
        let own = frameworks
            .iter()
            .filter(|framework| has_records.contains(&(model.as_str(), framework.as_str())));
        keys.extend(own.map(|framework| RowKey {
            model: model.clone(),
            framework: framework.clone(),
            server: false,
            paper: PaperRow::of_framework(framework),
        }));
    }
    for record in run.records.iter().filter(is_served) {
        let key = RowKey {
            model: record.key.model.clone(),
            framework: record.key.framework.clone(),
            server: true,
            paper: None,
        };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// The datasets of a run with the number of their schemas.
fn datasets(run: &RunRecords<Record>) -> Vec<(String, usize)> {
    let of_records = run.records.iter().map(|record| record.key.dataset.as_str());
    let planned = |name: &str| {
        let known = run.settings["datasets"].as_array().into_iter().flatten();
        let mut known = known.filter(|dataset| dataset["name"] == name);
        let told = known.find_map(|dataset| dataset["instances"].as_u64());
        let own = run.records.iter().filter(|record| record.key.dataset == name);
        let measured: HashSet<&str> = own.map(|record| record.key.instance.as_str()).collect();
        told.map_or(measured.len(), |told| told as usize)
    };
    let names = in_order(names(&run.settings, "datasets"), of_records);
    names.into_iter().map(|name| (name.clone(), planned(&name))).collect()
}

/// The tables of a run of `bench`, as the run itself has made them; of runs that are read as one, without rows that none of them was asked for.
pub fn report(run: &RunRecords<Record>, reading: ReadOptions) -> Report {
    let keys = row_keys(run);
    let datasets = datasets(run);
    let method = Method {
        scoring: reading.scoring,
        bootstrap: Bootstrap {
            confidence: reading.confidence,
            seed: run.settings["sampling"]["seed"].as_u64().unwrap_or(0),
            resamples: Bootstrap::RESAMPLES,
        },
    };
    let scope = Scope {
        keys: &keys,
        datasets: &datasets,
    };
    let mut rows = rows::rows(&run.records, scope, method);
    rows.retain(|row| {
        let mut settings = run.settings_of_each.iter();
        let is_planned = |settings| is_asked(settings, [&row.model, &row.framework], ["datasets", &row.dataset]);
        row.instances > 0 || settings.any(is_planned)
    });
    let warning = spread_warning(run.records.iter().map(|record| &record.repeats_s[..]));
    Report {
        paper: None,
        speed: speed(&rows, reading.confidence, |one, other| {
            rows::paired_times(&run.records, one, other)
        }),
        servers: server_rows(&run.records, &keys, &rows),
        rows,
        scoring: reading.scoring,
        confidence: reading.confidence,
        warnings: run.warnings.iter().cloned().chain(warning).collect(),
    }
}
