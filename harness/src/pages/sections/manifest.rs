//! The sections of runs, with machines and options, and of missing runs.

use serde_json::Value;

use crate::pages::block::{Block, Section};
use crate::report::part::Part;
use crate::report::table::{Style, table};
use crate::results::run::{COMMANDS, Run};

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
    items.extend(runs.iter().filter_map(Run::unfinished));
    match items.is_empty() {
        true => section.add(Block::Text(
            "Every part has a run, and every run is finished.".to_owned(),
        )),
        false => section.add(Block::List(items)),
    }
    section
}
