//! Checks whether runs that are compared asked the same questions under the same conditions, and ran on the same hardware.

use serde_json::Value;

use crate::figures::pairing;
use crate::results::run::Run;

/// The pairs of manifests of one command, one from each side.
fn manifests<'r>(before: &'r [Run], after: &'r [Run]) -> impl Iterator<Item = [(&'r Run, &'r Value); 2]> {
    let of = |run: &'r Run| run.manifests.iter().map(move |manifest| (run, manifest));
    before.iter().flat_map(of).flat_map(move |one| {
        let same = after.iter().filter(move |other| other.command() == one.0.command());
        same.flat_map(of).map(move |other| [one, other])
    })
}

fn place(run: &Run) -> String {
    run.paths
        .first()
        .map_or_else(String::new, |path| path.display().to_string())
}

/// Returns the differences in the questions of runs of one command, a sentence for each two runs: answers depend on what frameworks and models are
/// asked.
pub fn asked_differently(before: &[Run], after: &[Run]) -> Vec<String> {
    let differing = manifests(before, after).filter_map(|[(one, ours), (other, theirs)]| {
        let differences = pairing::differences(&ours["settings"], &theirs["settings"]);
        (!differences.is_empty()).then(|| {
            let differences = differences.join(", ");
            format!(
                "{} and {} were not asked alike: {differences} differ",
                place(one),
                place(other)
            )
        })
    });
    differing.collect()
}

/// Returns the differences in the hardware of runs of one command, a sentence for each two runs.
pub fn on_different_hardware(before: &[Run], after: &[Run]) -> Vec<String> {
    let differing = manifests(before, after).filter_map(|[(one, ours), (other, theirs)]| {
        let differences = hardware_differences(ours, theirs);
        (!differences.is_empty()).then(|| {
            let differences = differences.join(", ");
            format!(
                "{} and {} ran on different hardware: {differences}",
                place(one),
                place(other)
            )
        })
    });
    differing.collect()
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
