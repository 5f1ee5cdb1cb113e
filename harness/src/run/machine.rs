//! Machine of a run, as its manifest describes it: times depend on the machine, and the questions that a run asks do not.

use serde_json::{Value, json};

/// The machine of a run by its manifest: processors, memory in GiB, system, threads, and the device of each model.
pub fn machine(manifest: &Value) -> Value {
    let (hardware, settings) = (&manifest["hardware"], &manifest["settings"]);
    let mut devices: Vec<String> = Vec::new();
    for model in models(settings) {
        let device = json!([model["device"], model.pointer("/gpu/name"), model["threads"]]).to_string();
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    devices.sort();
    json!({
        "cpu": hardware["cpu"],
        "cpus": hardware["cpus"],
        // Machines of one kind differ by some MiB.
        "memory_gib": hardware["memory_mib"].as_u64().unwrap_or(0).div_ceil(1 << 10),
        "os": hardware["os"],
        "threads": settings["threads"],
        "devices": devices,
    })
}

/// Whether two machines are of one kind. A run without models of its machine, and so without devices, tells nothing of these.
pub fn are_alike(one: &Value, other: &Value) -> bool {
    let is_silent = |machine: &Value| machine["devices"].as_array().is_none_or(Vec::is_empty);
    let names = ["cpu", "cpus", "memory_gib", "os", "threads"];
    names.iter().all(|name| one[*name] == other[*name])
        && (is_silent(one) || is_silent(other) || one["devices"] == other["devices"])
}

/// Checks that runs, given by their names and manifests, were measured on machines of one kind.
///
/// # Errors
///
/// A sentence that names two runs that were not, and their machines.
pub fn check(runs: &[(String, Value)]) -> Result<(), String> {
    for (number, (first, one)) in runs.iter().enumerate() {
        for (second, other) in &runs[..number] {
            let (one, other) = (machine(one), machine(other));
            if !are_alike(&one, &other) {
                return Err(format!(
                    "{second} and {first} cannot be in the same figures: they were measured on {} and on {}; draw the figures of each by itself",
                    described(&other),
                    described(&one)
                ));
            }
        }
    }
    Ok(())
}

/// A machine in words.
pub fn described(machine: &Value) -> String {
    let text = |name: &str| match &machine[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let devices = machine["devices"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let devices: Vec<&str> = devices.collect();
    let devices = match devices.is_empty() {
        true => String::new(),
        false => format!(", models on {}", devices.join(" and ")),
    };
    let (cpus, cpu, memory, os) = (text("cpus"), text("cpu"), text("memory_gib"), text("os"));
    format!("{cpus} × {cpu}, {memory} GiB, {os}{devices}")
}

/// Settings without the state that a GPU was in when its model was loaded, which is another at each start.
pub fn without_state(settings: &Value) -> Value {
    without(settings, &["/gpu/state"], &[])
}

/// Settings without those of the machine: GPU, device and threads.
pub fn without_machine(settings: &Value) -> Value {
    without(settings, &["/gpu", "/device", "/threads"], &["threads"])
}

fn without(settings: &Value, of_models: &[&str], of_settings: &[&str]) -> Value {
    let mut settings = settings.clone();
    for model in settings
        .get_mut("models")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        for pointer in of_models {
            let (parent, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
            if let Some(members) = model.pointer_mut(parent).and_then(Value::as_object_mut) {
                members.remove(name);
            }
        }
    }
    if let Some(members) = settings.as_object_mut() {
        members.retain(|name, _| !of_settings.contains(&name.as_str()));
    }
    settings
}

fn models(settings: &Value) -> impl Iterator<Item = &Value> {
    settings["models"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(memory: u64, clock: &str, gpu: &str) -> Value {
        let model = |name: &str| json!({"name": name, "device": "cuda:0", "threads": 3, "gpu": {"name": gpu, "state": {"clocks.sm": clock}}});
        json!({
            "hardware": {"cpu": "c", "cpus": 4, "memory_mib": memory, "os": "o"},
            "settings": {"threads": 3, "shots": 2, "models": [model("a"), model("b")]},
        })
    }

    #[test]
    fn a_machine_is_what_times_depend_on_and_not_the_state_of_a_moment() {
        let one = manifest(32_001, "345 MHz", "H100");
        assert_eq!(machine(&one), machine(&manifest(32_009, "1980 MHz", "H100")));
        assert!(!are_alike(
            &machine(&one),
            &machine(&manifest(32_001, "345 MHz", "A100"))
        ));
        let without_models = json!({"hardware": one["hardware"], "settings": {"threads": 3}});
        assert!(are_alike(&machine(&one), &machine(&without_models)));
        assert_ne!(machine(&one), machine(&manifest(64_000, "345 MHz", "H100")));
        let settings = |clock, gpu| manifest(1, clock, gpu)["settings"].clone();
        assert_eq!(
            without_state(&settings("1", "H100")),
            without_state(&settings("2", "H100"))
        );
        assert_ne!(
            without_state(&settings("1", "H100")),
            without_state(&settings("1", "A100"))
        );
        let bare = json!({"shots": 2, "models": [{"name": "a"}, {"name": "b"}]});
        assert_eq!(without_machine(&settings("1", "H100")), bare);
        assert!(described(&machine(&one)).contains("H100"));
    }
}
