//! [`pairs`]: the questions that two sets of runs both have records of.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use maskwright_suites::validate::Scoring;
use serde::Serialize;

use crate::bench::record::Record;
use crate::coverage::subject::dataset_of;
use crate::frameworks::display_name;
use crate::masks::record::MaskRecord;
use crate::results::run::{Found, Run};

/// Key of a row of the comparison: command, model, framework and dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Group {
    /// The command of the runs.
    pub run_of: &'static str,
    /// The model; empty where there is none.
    pub model: String,
    /// The framework, as tables call it.
    pub framework: String,
    /// The dataset, task or part.
    pub dataset: String,
}

impl Group {
    /// Returns the name of the group, without empty parts, as in `bench, builtin, maskwright, easy`.
    pub fn name(&self) -> String {
        let parts = [self.run_of, &self.model, &self.framework, &self.dataset];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }
}

/// Outcome of one question in one run, with its times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionOutcome {
    /// Whether the question came out right.
    pub right: bool,
    /// Times, by name: seconds, milliseconds or microseconds.
    pub times: BTreeMap<&'static str, f64>,
}

/// The records of one side: questions by group and name.
pub type Side = BTreeMap<Group, BTreeMap<String, QuestionOutcome>>;

/// The outcomes of runs, and by group the number of outcomes that are left out because an earlier run answers the same question.
pub fn side(runs: &[Run], scoring: Scoring) -> (Side, BTreeMap<Group, usize>) {
    let (mut side, mut repeated) = (Side::new(), BTreeMap::new());
    let mut add = |group: Group, name: String, outcome: QuestionOutcome| {
        let questions = side.entry(group.clone()).or_default();
        match questions.entry(name) {
            Entry::Vacant(place) => _ = place.insert(outcome),
            Entry::Occupied(_) => *repeated.entry(group).or_default() += 1,
        }
    };
    for run in runs {
        let group = |model: &str, framework: &str, dataset: &str| Group {
            run_of: run.command(),
            model: model.to_owned(),
            framework: display_name(framework),
            dataset: dataset.to_owned(),
        };
        match &run.found {
            Found::Bench(run) => {
                for record in run
                    .records
                    .iter()
                    .filter(|record| record.unusable.is_none() && !record.lacked_room())
                {
                    let key = &record.key;
                    let group = group(&key.model, &key.framework, &key.dataset);
                    add(group, key.instance.clone(), of_answer(record, scoring));
                }
            }
            Found::Quality(run) => {
                for record in run.records.iter().filter(|record| !record.lacked_room()) {
                    let key = &record.key;
                    let framework = key.shown_row();
                    let group = group(&key.model, &framework, key.task.name());
                    add(group, key.question.clone(), right(record.is_right()));
                }
            }
            Found::Tools(run) => {
                let asked = run.records.iter().filter(|record| record.unusable.is_none());
                for record in asked.filter(|record| !record.lacked_room()) {
                    let key = &record.key;
                    let group = group(&key.model, &key.framework, &key.dataset);
                    add(group, key.request.clone(), right(record.is_right()));
                }
            }
            Found::Suite(run) => {
                // Drafts have cases of the same name.
                let draft = run.settings["draft"].as_str().unwrap_or_default();
                let suite = format!("Test Suite {draft}");
                for record in &run.records {
                    let outcome = &record.outcome;
                    let group = group("", &record.key.framework, suite.trim_end());
                    let name = format!("{} / {}", outcome.category, outcome.description);
                    add(group, name, right(outcome.failures.is_empty()));
                }
            }
            Found::Masks(run) => {
                for record in run.records.iter().filter(|record| record.unusable.is_none()) {
                    let key = &record.key;
                    add(
                        group("", &key.framework, dataset_of(&key.file)),
                        key.file.clone(),
                        of_masks(record, scoring),
                    );
                }
            }
            Found::Coverage(run) => {
                let usable = run.records.iter().filter(|record| record.unusable.is_none());
                for record in usable.filter(|record| record.has_documents()) {
                    let key = &record.key;
                    let group = group("", &key.framework, &key.dataset);
                    add(group, key.schema.clone(), right(record.is_truly_covered()));
                }
            }
            Found::Ifstruct(run, samples) => {
                for record in run.records.iter().filter(|record| !record.lacked_room()) {
                    let key = &record.key;
                    let entity = samples.with_seed(key.seed).map_or("", |sample| &sample.entity_type);
                    let group = group(&key.model, key.mode.name(), "IFStruct");
                    add(group, format!("{entity} (seed {})", key.seed), right(record.passed()));
                }
            }
        }
    }
    (side, repeated)
}

fn right(right: bool) -> QuestionOutcome {
    QuestionOutcome {
        right,
        times: BTreeMap::new(),
    }
}

fn of_answer(record: &Record, scoring: Scoring) -> QuestionOutcome {
    let mut times = BTreeMap::new();
    if let Some(generation) = record.comparable() {
        let gct = record.compile.as_ref().and_then(|compile| compile.seconds);
        let known = [
            ("GCT (s)", gct),
            ("TTFT (s)", generation.ttft_s),
            ("TPOT (ms)", generation.tpot_ms),
            ("TGT (s)", Some(generation.tgt_s)),
            ("mask (us)", generation.mask_us),
        ];
        times.extend(known.into_iter().filter_map(|(name, time)| Some((name, time?))));
    }
    QuestionOutcome {
        right: record.is_valid(scoring),
        times,
    }
}

fn of_masks(record: &MaskRecord, scoring: Scoring) -> QuestionOutcome {
    let mut times = BTreeMap::new();
    if record.is_measured() {
        if let (Some(compile), Some(mask)) = (record.compile, record.first_mask) {
            times.insert("TTFM (us)", (compile.cpu_ns + mask.cpu_ns) as f64 / 1e3);
        }
        if !record.cpu_ns.is_empty() {
            times.insert(
                "TBM (us)",
                record.cpu_ns.iter().sum::<u64>() as f64 / record.cpu_ns.len() as f64 / 1e3,
            );
        }
    }
    QuestionOutcome {
        right: record.passes(scoring == Scoring::Strict),
        times,
    }
}

/// A question with its outcomes in the first and in the second runs.
pub type Pair<'s> = (&'s str, &'s QuestionOutcome, &'s QuestionOutcome);

/// A group with its pairs.
pub type PairedGroup<'s> = (Group, Vec<Pair<'s>>);

/// Questions of a group that one side alone has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unpaired {
    /// The group.
    #[serde(flatten)]
    pub group: Group,
    /// Number of questions that only the first runs have.
    pub only_before: usize,
    /// Number of questions that only the second runs have.
    pub only_after: usize,
    /// Whether one side has no question of the group at all.
    pub is_whole_group: bool,
}

/// Questions of two sides: those that both have, in pairs, and those that only one has.
#[derive(Debug, Default)]
pub struct Paired<'s> {
    /// The groups of which both have questions.
    pub groups: Vec<PairedGroup<'s>>,
    /// Questions that only one side has, by group.
    pub unpaired: Vec<Unpaired>,
}

/// Returns the groups that two sides share, each with the questions that both sides have, in pairs, and the questions that are left. Where each side
/// has one model, and these differ, the models are compared: `a → b` is the group's model then.
pub fn pairs<'s>(one: &'s Side, other: &'s Side) -> Paired<'s> {
    let renamed = renamed(one, other);
    let mut paired = Paired::default();
    let mut seen: BTreeSet<Group> = BTreeSet::new();
    for (group, outcomes) in one {
        let same = Group {
            model: match &renamed {
                Some((before, after)) if group.model == *before => after.clone(),
                _ => group.model.clone(),
            },
            ..group.clone()
        };
        let others = other.get(&same);
        let both = outcomes
            .iter()
            .filter_map(|(name, outcome)| Some((name.as_str(), outcome, others?.get(name)?)));
        let both: Vec<_> = both.collect();
        let model = match same.model == group.model || others.is_none() {
            true => group.model.clone(),
            false => format!("{} → {}", group.model, same.model),
        };
        let group = Group { model, ..group.clone() };
        let (only_before, only_after) = (
            outcomes.len() - both.len(),
            others.map_or(0, BTreeMap::len) - both.len(),
        );
        if only_before + only_after > 0 {
            paired.unpaired.push(Unpaired {
                group: group.clone(),
                only_before,
                only_after,
                is_whole_group: others.is_none(),
            });
        }
        if !both.is_empty() {
            paired.groups.push((group, both));
        }
        seen.insert(same);
    }
    let added = other.iter().filter(|(group, _)| !seen.contains(group));
    paired.unpaired.extend(added.map(|(group, outcomes)| Unpaired {
        group: group.clone(),
        only_before: 0,
        only_after: outcomes.len(),
        is_whole_group: true,
    }));
    paired
}

/// The one model of each side, where each has one and they differ.
fn renamed(one: &Side, other: &Side) -> Option<(String, String)> {
    let only = |side: &Side| {
        let models: BTreeSet<&String> = side
            .keys()
            .map(|group| &group.model)
            .filter(|model| !model.is_empty())
            .collect();
        match Vec::from_iter(models)[..] {
            [model] => Some(model.clone()),
            _ => None,
        }
    };
    let (before, after) = (only(one)?, only(other)?);
    (before != after).then_some((before, after))
}
