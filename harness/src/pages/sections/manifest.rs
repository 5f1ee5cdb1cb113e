//! The sections of runs, with machines and options, and of missing runs.

use serde_json::Value;

use crate::pages::block::{Block, Section};
use crate::report::part::Part;
use crate::report::table::{Style, table};
use crate::results::run::{COMMANDS, Found, Run};

/// Members of settings that have tables of their own.
const SHOWN: [&str; 3] = ["models", "frameworks", "servers"];

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The section of runs, models, frameworks and options.
pub fn section(runs: &[Run], style: Style) -> Section {
    let mut section = Section::new("runs", "Runs");
    let header = [
        "run",
        "command",
        "started",
        "program",
        "processor",
        "processors",
        "memory (GiB)",
        "system",
        "records",
    ];
    let mut listed = table(header, header.len() - 1, style);
    let (mut models, mut frameworks) = (Vec::new(), Vec::new());
    let mut options = table(["run", "options"], 2, style);
    for run in runs {
        for (number, (path, manifest)) in run.paths.iter().zip(&run.manifests).enumerate() {
            let (hardware, program, settings) = (&manifest["hardware"], &manifest["program"], &manifest["settings"]);
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let words = manifest["command"].as_array().into_iter().flatten().skip(1);
            let memory = hardware["memory_mib"].as_u64().unwrap_or_default() >> 10;
            listed.add_row([
                name.clone(),
                format!("maskwright {}", words.map(text).collect::<Vec<_>>().join(" ")),
                text(&manifest["started"]),
                format!("{} at {}", text(&program["version"]), text(&program["commit"])),
                text(&hardware["cpu"]),
                text(&hardware["cpus"]),
                memory.to_string(),
                text(&hardware["os"]),
                // Runs that are read together have their records together.
                if number == 0 {
                    run.len().to_string()
                } else {
                    "with the above".to_owned()
                },
            ]);
            for (list, name) in [(&mut models, "models"), (&mut frameworks, "frameworks")] {
                for member in settings[name].as_array().into_iter().flatten() {
                    if !list.contains(member) {
                        list.push(member.clone());
                    }
                }
            }
            let members = settings.as_object().into_iter().flatten();
            let members = members.filter(|(name, _)| !SHOWN.contains(&name.as_str()));
            let members: Vec<String> = members
                .map(|(name, value)| format!("{name}: {}", text(value)))
                .collect();
            options.add_row([name, members.join("; ")]);
        }
    }
    section.add(Block::Table(Part::new("Runs and hardware", listed, "")));
    if !models.is_empty() {
        let columns = [
            "name",
            "family",
            "parameters",
            "dtype",
            "device",
            "threads",
            "commit",
            "hash",
        ];
        let mut table = table(columns, columns.len(), style);
        for model in &models {
            table.add_row(columns.map(|column| text(&model[column])));
        }
        section.add(Block::Table(Part::new("Models", table, "")));
    }
    let mut versions = table(["framework", "version", "options"], 3, style);
    for framework in &frameworks {
        versions.add_row(["name", "version", "options"].map(|column| text(&framework[column])));
    }
    section.add(Block::Table(Part::new("Frameworks", versions, "")));
    section.add(Block::Table(Part::new("Options", options, "")));
    section
}

/// Returns the commands for a part of which there is no run.
fn what_to_run(command: &str) -> &'static str {
    match command {
        "bench" => "efficiency and coverage: `maskwright bench`",
        "bench --tools" => "calls of functions: `maskwright bench --tools builtin`",
        "quality" => "quality of answers: `maskwright quality`",
        "testsuite" => "the JSON Schema Test Suite: `maskwright fetch test-suite`, then `maskwright testsuite`",
        "masks" => "masks alone: `maskwright fetch jsonschemabench`, then `maskwright masks`",
        "coverage" => "true coverage: `maskwright fetch jsonschemabench test-suite`, then `maskwright coverage --true`",
        _ => "IFStruct: `maskwright ifstruct run`",
    }
}

/// The section of missing and unfinished runs.
pub fn missing(runs: &[Run]) -> Section {
    let mut section = Section::new("missing", "What is missing");
    let absent = COMMANDS
        .iter()
        .filter(|command| !runs.iter().any(|run| run.command() == **command));
    let mut items: Vec<String> = absent
        .map(|command| format!("No run of {}.", what_to_run(command)))
        .collect();
    items.extend(runs.iter().filter_map(unfinished));
    match items.is_empty() {
        true => section.add(Block::Text(
            "Every part has a run, and every run is finished.".to_owned(),
        )),
        false => section.add(Block::List(items)),
    }
    section
}

/// Returns a sentence on the records of a run that is not finished; `None` of a finished one.
fn unfinished(run: &Run) -> Option<String> {
    let (settings, all): (&Value, &[&str]) = match &run.found {
        Found::Bench(records) => (&records.settings, &["models", "frameworks"]),
        Found::Quality(records) => (&records.settings, &[]),
        Found::Tools(records) => (&records.settings, &["models", "frameworks"]),
        Found::Suite(records) => (&records.settings, &["frameworks"]),
        Found::Masks(records) => (&records.settings, &["frameworks"]),
        Found::Coverage(records) => (&records.settings, &["frameworks"]),
        Found::Ifstruct(records, _) => (&records.settings, &["models", "modes"]),
    };
    let sum = |list: &str, member: &str| -> u64 {
        let members = settings[list].as_array().into_iter().flatten();
        let numbers = members.filter_map(|one| one[member].as_u64());
        numbers.fold(0, u64::saturating_add)
    };
    let questions = match run.command() {
        "bench" => sum("datasets", "instances"),
        "testsuite" => settings["cases"].as_u64()?,
        "masks" => settings["files"].as_u64()?,
        "coverage" => settings["files"]
            .as_u64()?
            .saturating_add(settings["cases"].as_u64().unwrap_or(0)),
        "ifstruct run" => settings["samples"].as_u64()?,
        // Its table says what is unanswered.
        _ => return None,
    };
    let has_servers = settings["servers"]
        .as_array()
        .is_some_and(|servers| !servers.is_empty());
    let times: u64 = all
        .iter()
        .map(|list| settings[*list].as_array().map_or(1, |list| list.len() as u64))
        .fold(1, u64::saturating_mul);
    // Runs of earlier versions do not tell; servers are rows beside the models, so that the number is another.
    let told = run
        .manifests
        .iter()
        .map(|manifest| manifest["planned"].as_u64())
        .sum::<Option<u64>>();
    let planned = told.or_else(|| (!has_servers && run.paths.len() == 1).then(|| questions.saturating_mul(times)))?;
    let missing = run
        .manifests
        .iter()
        .flat_map(|manifest| manifest["missing"].as_array().into_iter().flatten());
    let missing: Vec<&str> = missing.filter_map(Value::as_str).collect();
    if !missing.is_empty() {
        return Some(format!(
            "{} of `{}` is unfinished: {}.",
            run.name(),
            run.command(),
            missing.join("; ")
        ));
    }
    let is_short = (run.len() as u64) < planned;
    is_short.then(|| {
        format!(
            "{} of `{}` is unfinished: {} of {planned} records.",
            run.name(),
            run.command(),
            run.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::results::run::RunRecords;

    fn run(instances: u64) -> Run {
        let record = |model: &str| {
            let key = json!({"model": model, "framework": "maskwright", "dataset": "d", "instance": "i"});
            serde_json::from_value(key).unwrap()
        };
        let settings = json!({
            "models": [{"name": "a"}, {"name": "b"}], "frameworks": [{"name": "maskwright"}],
            "datasets": [{"name": "d", "instances": instances}],
        });
        Run {
            paths: vec!["run".into()],
            manifests: vec![json!({"settings": settings, "planned": instances.saturating_mul(2)})],
            found: Found::Bench(RunRecords {
                settings_of_each: vec![settings.clone()],
                settings,
                records: vec![record("a"), record("b")],
                warnings: Vec::new(),
            }),
        }
    }

    #[test]
    fn what_is_planned_of_a_run_of_two_models_is_half_of_it_for_one() {
        let mut whole = run(1);
        assert_eq!(unfinished(&whole), None);
        assert!(whole.keep_model("a"));
        assert_eq!((unfinished(&whole), whole.len()), (None, 1));
        let mut short = run(2);
        assert!(unfinished(&short).unwrap().contains("2 of 4 records"));
        assert!(short.keep_model("b"));
        assert!(unfinished(&short).unwrap().contains("1 of 2 records"));
        // The second model has no record yet.
        let mut begun = run(1);
        if let Found::Bench(records) = &mut begun.found {
            records.records.truncate(1);
        }
        assert!(unfinished(&begun).unwrap().contains("1 of 2 records"));
        assert!(begun.keep_model("a"));
        assert_eq!(unfinished(&begun), None);
        // A manifest may say anything, and those of earlier versions say no number.
        let mut any = run(u64::MAX);
        any.manifests = vec![json!({})];
        assert!(unfinished(&any).unwrap().contains(&u64::MAX.to_string()));
    }
}
