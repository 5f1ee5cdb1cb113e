//! Checks whether runs that are compared asked the same questions under the same conditions, and ran on the same hardware.

use std::collections::BTreeSet;

use maskwright_suites::validate::Scoring;
use serde_json::Value;

use super::pairs::{Group, side};
use crate::figures::pairing;
use crate::results::run::Run;

/// The pairs of manifests of runs that share a question, one from each side: answers to other questions are not paired.
fn manifests<'r>(before: &'r [Run], after: &'r [Run]) -> Vec<[(&'r Run, &'r Value); 2]> {
    let after: Vec<_> = after.iter().map(|run| (run, questions(run))).collect();
    let mut pairs = Vec::new();
    for one in before {
        let own = questions(one);
        for (other, _) in after.iter().filter(|(_, others)| !others.is_disjoint(&own)) {
            for ours in &one.manifests {
                let theirs = other.manifests.iter();
                pairs.extend(theirs.map(|theirs| [(one, ours), (*other, theirs)]));
            }
        }
    }
    pairs
}

/// The questions of a run, by group and name. Groups have no model, as two models are compared with one another, too.
fn questions(run: &Run) -> BTreeSet<(Group, String)> {
    let (side, _) = side(std::slice::from_ref(run), Scoring::Strict);
    let each = side.into_iter().flat_map(|(group, outcomes)| {
        let model = String::new();
        let group = Group { model, ..group };
        outcomes.into_keys().map(move |name| (group.clone(), name))
    });
    each.collect()
}

fn place(run: &Run) -> String {
    run.paths
        .first()
        .map_or_else(String::new, |path| path.display().to_string())
}

/// Returns a sentence for each two manifests of runs that share a question and of which `differences` finds some; `what` says what differs.
fn sentences(
    before: &[Run],
    after: &[Run],
    differences: impl Fn(&Value, &Value) -> Vec<String>,
    what: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for [(one, ours), (other, theirs)] in manifests(before, after) {
        let found = differences(ours, theirs);
        if !found.is_empty() {
            sentences.push(format!(
                "{} and {} {}",
                place(one),
                place(other),
                what(&found.join(", "))
            ));
        }
    }
    sentences
}

/// Returns the differences in the settings of runs that share a question, a sentence for each two manifests: answers depend on what frameworks and
/// models are asked.
pub fn asked_differently(before: &[Run], after: &[Run]) -> Vec<String> {
    let differences = |ours: &Value, theirs: &Value| pairing::differences(&ours["settings"], &theirs["settings"]);
    sentences(before, after, differences, |found| {
        format!("were not asked alike: {found} differ")
    })
}

/// Returns the differences in the hardware of runs that share a question, a sentence for each two manifests.
pub fn on_different_hardware(before: &[Run], after: &[Run]) -> Vec<String> {
    sentences(before, after, hardware_differences, |found| {
        format!("ran on different hardware: {found}")
    })
}

/// Returns the differences in hardware between two manifests: processors, and device, GPU and threads of the models that both have.
fn hardware_differences(one: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: String, one: &Value, other: &Value| {
        if one != other {
            found.push(format!("{what} {one} and {other}"));
        }
    };
    for name in ["cpu", "cpus"] {
        compare(name.to_owned(), &one["hardware"][name], &other["hardware"][name]);
    }
    compare(
        "threads".to_owned(),
        &one["settings"]["threads"],
        &other["settings"]["threads"],
    );
    let models = |manifest: &Value| manifest["settings"]["models"].as_array().cloned().unwrap_or_default();
    let others = models(other);
    for model in models(one) {
        let Some(same) = others.iter().find(|other| other["name"] == model["name"]) else {
            continue;
        };
        for (what, pointer) in [("device", "/device"), ("GPU", "/gpu/name"), ("threads", "/threads")] {
            let of = |model: &Value| model.pointer(pointer).cloned().unwrap_or_default();
            compare(format!("{what} of {}", model["name"]), &of(&model), &of(same));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(cpu: &str, models: Value) -> Value {
        json!({"hardware": {"cpu": cpu, "cpus": 2, "memory_mib": 1}, "settings": {"models": models, "threads": 1}})
    }

    #[test]
    fn hardware_is_that_of_the_models_which_both_have() {
        let gpu = |name: &str, clock: &str| json!({"name": "big", "device": "cuda", "threads": 1, "gpu": {"name": name, "state": {"clock": clock}}});
        let small = json!({"name": "small", "device": "cpu", "threads": 1});
        let one = manifest("X", json!([gpu("H100", "1"), small]));
        let found = |other: &Value| hardware_differences(&one, other);
        // Another number of models, another order and another clock are no other hardware.
        assert_eq!(found(&manifest("X", json!([small]))), Vec::<String>::new());
        assert_eq!(
            found(&manifest("X", json!([small, gpu("H100", "2")]))),
            Vec::<String>::new()
        );
        assert_eq!(found(&manifest("Y", json!([]))), ["cpu \"X\" and \"Y\""]);
        assert_eq!(
            found(&manifest("X", json!([gpu("H200", "1")]))),
            ["GPU of \"big\" \"H100\" and \"H200\""]
        );
        let threads = json!({"name": "small", "device": "cpu", "threads": 2});
        assert_eq!(
            found(&manifest("X", json!([threads]))),
            ["threads of \"small\" 1 and 2"]
        );
    }
}
