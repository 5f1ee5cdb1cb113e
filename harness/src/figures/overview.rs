//! Figure 1: frameworks by efficiency, coverage and quality.

use std::collections::BTreeMap;

use maskwright_suites::validate::Scoring;

use super::bars::{Bar, Panel, arranged};
use crate::bench::record::Record;
use crate::frameworks::LM_ONLY;
use crate::quality::record::AnswerRecord;
use crate::report::statistics::{Interval, Ratio, Spread, wilson};
use crate::run::directory::Recorded as _;

/// The three axes of one framework.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axes {
    /// The framework.
    pub framework: String,
    /// How many times more tokens for each second than the model alone it makes, over the schemas that both answer; where no run has the
    /// model alone, none.
    pub speed: Option<f64>,
    /// Its 95 % interval.
    pub speed_ci: Option<Interval>,
    /// Median time per output token, in milliseconds.
    pub tpot_ms: Option<f64>,
    /// Share of the schemas whose answer is valid (definition 5.2).
    pub empirical: Option<f64>,
    /// Its Wilson interval.
    pub empirical_ci: Option<Interval>,
    /// Share of right answers over all tasks.
    pub accuracy: Option<f64>,
    /// Its Wilson interval.
    pub accuracy_ci: Option<Interval>,
}

/// The axes of every framework of some runs of `bench` and `quality`, in the order in which they first occur.
pub fn axes(bench: &[Record], quality: &[AnswerRecord]) -> Vec<Axes> {
    let mut names: Vec<&str> = Vec::new();
    let of_bench = bench.iter().map(|record| record.key.framework.as_str());
    for name in of_bench.chain(quality.iter().map(|record| record.key.framework.as_str())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let alone = times(bench, LM_ONLY);
    names
        .into_iter()
        .map(|name| of_framework(name, bench, quality, &alone))
        .collect()
}

/// What times are paired by: model, data set and schema.
type Place<'a> = (&'a str, &'a str, &'a str);

/// Times per output token, in milliseconds.
fn times<'a>(records: &'a [Record], framework: &str) -> BTreeMap<Place<'a>, f64> {
    let own = records
        .iter()
        .filter(|record| record.key.framework == framework && record.is_final());
    let timed = own.filter_map(|record| {
        let key = &record.key;
        let place = (key.model.as_str(), key.dataset.as_str(), key.instance.as_str());
        Some((place, record.comparable()?.tpot_ms?))
    });
    timed.collect()
}

fn of_framework(name: &str, bench: &[Record], quality: &[AnswerRecord], alone: &BTreeMap<Place<'_>, f64>) -> Axes {
    let own = times(bench, name);
    let pairs = own.iter().filter_map(|(place, time)| Some((*alone.get(place)?, *time)));
    let speed = Ratio::of(pairs);
    let is_own = |record: &&Record| record.key.framework == name && record.is_final() && record.unusable.is_none();
    let schemas = bench.iter().filter(is_own).filter(|record| !record.lacked_room());
    let (valid, total) = schemas.fold((0, 0), |(valid, total), record| {
        (valid + usize::from(record.is_valid(Scoring::Strict)), total + 1)
    });
    let answers = quality
        .iter()
        .filter(|record| record.key.framework == name && record.is_final() && !record.lacked_room());
    let (right, answered) = answers.fold((0, 0), |(right, answered), record| {
        (right + usize::from(record.is_right()), answered + 1)
    });
    let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    Axes {
        framework: name.to_owned(),
        speed: speed.map(|ratio| ratio.mean),
        speed_ci: speed.map(|ratio| ratio.interval),
        tpot_ms: Spread::of(own.into_values()).map(|spread| spread.median),
        empirical: share(valid, total),
        empirical_ci: wilson(valid, total),
        accuracy: share(right, answered),
        accuracy_ci: wilson(right, answered),
    }
}

/// The picture; none where there is no figure.
pub fn svg(axes: &[Axes]) -> Option<String> {
    let panel =
        |title: &str, subtitle: &str, full, figure: &dyn Fn(&Axes) -> Option<(f64, String, Option<Interval>)>| Panel {
            title: title.to_owned(),
            subtitle: subtitle.to_owned(),
            full,
            bars: axes
                .iter()
                .enumerate()
                .filter_map(|(fill, one)| {
                    let (value, label, interval) = figure(one)?;
                    Some(Bar {
                        name: display_name(&one.framework),
                        value,
                        label,
                        fill,
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
        panel("Quality", "right answers over all tasks", Some(1.0), &|one| {
            Some((one.accuracy?, percent(one.accuracy?), one.accuracy_ci))
        }),
    ];
    let drawn: Vec<Panel> = panels.into_iter().filter(|panel| !panel.bars.is_empty()).collect();
    (!drawn.is_empty()).then(|| arranged(&drawn, 3))
}

/// The name that pictures and tables show.
pub fn display_name(framework: &str) -> String {
    match framework {
        LM_ONLY => "LM only".to_owned(),
        name => name.to_owned(),
    }
}
