//! Figure 1: frameworks by efficiency, coverage and quality.

use std::collections::{BTreeMap, HashSet};

use maskwright_suites::validate::Scoring;

use super::bars::{Bar, Panel, arranged};
use crate::bench::record::Record;
use crate::bench::rows::{BenchRow, Method, Scope};
use crate::frameworks::{LM_ONLY, display_name};
use crate::quality::record::{AnswerRecord, Mode};
use crate::quality::rows::{Answers, QualityRow, TaskScope};
use crate::report::statistics::{Bootstrap, Interval, Ratio, Spread, wilson};
use crate::run::directory::Recorded as _;
use crate::{bench, quality};

/// The three axes of one framework with one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axes {
    /// The model.
    pub model: String,
    /// The framework.
    pub framework: String,
    /// How many times as fast a token comes, after the first, as from the model alone: the geometric mean over the schemas that both answer; none where
    /// no run has the model alone.
    pub speed: Option<f64>,
    /// 95 % interval of the speed.
    pub speed_ci: Option<Interval>,
    /// Median time per output token over the schemas that all rows of the model have a time of, in milliseconds.
    pub tpot_ms: Option<f64>,
    /// Share of the schemas whose answer is valid (definition 5.2).
    pub empirical: Option<f64>,
    /// Wilson interval of [`Self::empirical`].
    pub empirical_ci: Option<Interval>,
    /// Share of right answers over the tasks that all rows of the model have answers to, or over its own where there is none.
    pub accuracy: Option<f64>,
    /// Wilson interval of [`Self::accuracy`].
    pub accuracy_ci: Option<Interval>,
}

/// Returns the axes of every model and framework of some runs of `bench` and `quality`, in the order in which they first occur. Answers after
/// reasoning or a draft are left out; schemas and questions without room for some row of a model count for none of its rows; and rows of a model are
/// compared over the datasets and tasks that all of them have answers to. Where they share none, each has the figures of its own. `scoring` has the
/// rules by which answers of `bench` are judged.
pub fn axes(bench: &[Record], quality: &[AnswerRecord], scoring: Scoring) -> Vec<Axes> {
    let mut axes: Vec<Axes> = Vec::new();
    add_bench(bench, scoring, &mut axes);
    add_quality(quality, &mut axes);
    axes
}

/// The axes of a model and framework, which are added where there are none yet.
fn axes_of<'a>(axes: &'a mut Vec<Axes>, model: &str, framework: &str) -> &'a mut Axes {
    let is_own = |one: &Axes| (one.model.as_str(), one.framework.as_str()) == (model, framework);
    let at = axes.iter().position(is_own).unwrap_or_else(|| {
        axes.push(Axes {
            model: model.to_owned(),
            framework: framework.to_owned(),
            ..Axes::default()
        });
        axes.len() - 1
    });
    &mut axes[at]
}

fn add_bench(records: &[Record], scoring: Scoring, axes: &mut Vec<Axes>) {
    let (mut keys, mut datasets): (Vec<bench::rows::RowKey>, Vec<(String, usize)>) = (Vec::new(), Vec::new());
    // A schema that cannot be used is recorded of a server's row without having been sent to the server.
    let usable = |record: &&Record| record.is_final() && record.unusable.is_none();
    for record in records.iter().filter(usable) {
        let key = bench::rows::RowKey {
            model: record.key.model.clone(),
            framework: record.key.framework.clone(),
            server: record.server.is_some(),
            paper: None,
        };
        let dataset = (record.key.dataset.clone(), 0);
        if !keys.contains(&key) {
            keys.push(key);
        }
        if !datasets.contains(&dataset) {
            datasets.push(dataset);
        }
    }
    let scope = Scope {
        keys: &keys,
        datasets: &datasets,
    };
    let method = Method {
        scoring,
        // Intervals of shares are Wilson's here, and medians have none.
        bootstrap: Bootstrap {
            confidence: 0.95,
            seed: 0,
            resamples: 1,
        },
    };
    let rows = bench::rows::rows(records, scope, method);
    for key in &keys {
        let of_model = || rows.iter().filter(|row| row.model == key.model);
        let is_complete = |row: &&BenchRow| {
            let mut rivals = of_model().filter(|rival| rival.dataset == row.dataset);
            rivals.all(|rival| rival.instances > 0)
        };
        let has_shared = of_model().any(|row| is_complete(&row));
        let own: Vec<&BenchRow> = of_model()
            .filter(|row| row.framework == key.framework)
            .filter(|row| !has_shared || is_complete(row))
            .collect();
        let (valid, total) = own
            .iter()
            .fold((0, 0), |(valid, total), row| (valid + row.valid, total + row.instances));
        let first = own.first();
        let alone = of_model().find(|row| row.framework == LM_ONLY && !row.server);
        let speed = first.zip(alone).and_then(|(row, alone)| {
            // How many times longer the model alone takes for a token is how many times faster the framework is.
            Ratio::of(bench::rows::paired_times(records, alone, row))
        });
        let one = axes_of(axes, &key.model, &key.framework);
        one.speed = speed.map(|ratio| ratio.mean);
        one.speed_ci = speed.map(|ratio| ratio.interval);
        one.tpot_ms = median_time(records, &keys, key);
        one.empirical = share(valid, total);
        one.empirical_ci = wilson(valid, total);
    }
}

/// The median time per output token of a row over the schemas that all rows of its model have a time of, in milliseconds. Schemas that some row
/// had no room for count for none.
fn median_time(records: &[Record], keys: &[bench::rows::RowKey], key: &bench::rows::RowKey) -> Option<f64> {
    let times = |key: &bench::rows::RowKey| -> BTreeMap<(&str, &str), f64> {
        let own = records.iter().filter(|record| {
            record.is_final() && (&record.key.model, &record.key.framework) == (&key.model, &key.framework)
        });
        let timed = own.filter_map(|record| {
            let place = (record.key.dataset.as_str(), record.key.instance.as_str());
            Some((place, record.comparable()?.tpot_ms?))
        });
        timed.collect()
    };
    let of_model = records
        .iter()
        .filter(|record| record.is_final() && record.key.model == key.model);
    let no_room: HashSet<(&str, &str)> = of_model
        .filter(|record| record.lacked_room())
        .map(|record| (record.key.dataset.as_str(), record.key.instance.as_str()))
        .collect();
    let rivals: Vec<_> = keys
        .iter()
        .filter(|rival| rival.model == key.model)
        .map(times)
        .collect();
    let own = times(key).into_iter();
    let shared =
        own.filter(|(place, _)| !no_room.contains(place) && rivals.iter().all(|rival| rival.contains_key(place)));
    Spread::of(shared.map(|(_, time)| time)).map(|spread| spread.median)
}

fn add_quality(records: &[AnswerRecord], axes: &mut Vec<Axes>) {
    let mut keys = quality::rows::RowKey::of_records(records);
    keys.retain(|key| key.mode == Mode::Direct);
    let mut tasks: Vec<TaskScope> = Vec::new();
    for record in records {
        let task = record.key.task;
        if tasks.iter().all(|known| known.task != task) {
            tasks.push(TaskScope {
                task,
                questions: 0,
                is_as_in_paper: false,
            });
        }
    }
    let rows = quality::rows::rows(&Answers::new(records), &keys, &tasks);
    for key in &keys {
        let of_model = || rows.iter().filter(|row| row.model == key.model);
        let is_complete = |row: &&QualityRow| {
            let mut rivals = of_model().filter(|rival| rival.task == row.task);
            rivals.all(|rival| rival.answered > 0)
        };
        let has_shared = of_model().any(|row| is_complete(&row));
        let own = of_model()
            .filter(|row| row.framework == key.framework)
            .filter(|row| !has_shared || is_complete(row));
        let (right, answered) = own.fold((0, 0), |(right, answered), row| {
            (right + row.right, answered + row.answered)
        });
        let one = axes_of(axes, &key.model, &key.framework);
        one.accuracy = share(right, answered);
        one.accuracy_ci = wilson(right, answered);
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A figure of a framework: the length of its bar, its label, and the interval around it.
type Figure = (f64, String, Option<Interval>);

/// The picture; none where there is no figure.
pub fn svg(axes: &[Axes]) -> Option<String> {
    let panels = panels(axes);
    (!panels.is_empty()).then(|| arranged(&panels, 3))
}

/// The panels of the three axes, without those that have no figure.
pub fn panels(axes: &[Axes]) -> Vec<Panel> {
    let frameworks = distinct(axes.iter().map(|one| one.framework.as_str()));
    let models = distinct(axes.iter().map(|one| one.model.as_str())).len();
    let name = |one: &Axes| match models {
        ..=1 => display_name(&one.framework),
        _ => format!("{}, {}", one.model, display_name(&one.framework)),
    };
    let panel = |title: &str, subtitle: &str, full, figure: &dyn Fn(&Axes) -> Option<Figure>| Panel {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        full,
        bars: axes
            .iter()
            .filter_map(|one| {
                let (value, label, interval) = figure(one)?;
                Some(Bar {
                    name: name(one),
                    value,
                    label,
                    fill: frameworks.iter().position(|known| *known == one.framework).unwrap_or(0),
                    interval,
                })
            })
            .collect(),
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let with_speed = axes.iter().any(|one| one.speed.is_some());
    let efficiency = match with_speed {
        true => panel(
            "Efficiency",
            "tokens per second, times those of the model alone",
            None,
            &|one| Some((one.speed?, format!("{:.2}", one.speed?), one.speed_ci)),
        ),
        false => panel("Efficiency", "median time per output token (ms)", None, &|one| {
            Some((one.tpot_ms?, format!("{:.2}", one.tpot_ms?), None))
        }),
    };
    let panels = [
        efficiency,
        panel("Coverage", "valid answers (definition 5.2)", Some(1.0), &|one| {
            Some((one.empirical?, percent(one.empirical?), one.empirical_ci))
        }),
        panel(
            "Quality",
            "right answers over the tasks of all rows",
            Some(1.0),
            &|one| Some((one.accuracy?, percent(one.accuracy?), one.accuracy_ci)),
        ),
    ];
    panels.into_iter().filter(|panel| !panel.bars.is_empty()).collect()
}

fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
