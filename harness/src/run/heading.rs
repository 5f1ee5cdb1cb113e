//! [`heading`]: the heading above the tables of a run, by which they can be read without its other files.

use std::fmt::Write as _;

use serde_json::Value;

use crate::run::manifest::Settings as _;
use crate::terminal::one_line;
use crate::tools::settings::ToolSettings;

/// The members of a model's summary that the heading has, in order.
const OF_MODEL: [&str; 5] = ["family", "parameters", "dtype", "device", "commit"];

/// The command, date, program, machine, models, frameworks and data of the run that a manifest describes, in Markdown.
pub fn heading(manifest: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => one_line(text),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let (settings, hardware, program) = (&manifest["settings"], &manifest["hardware"], &manifest["program"]);
    let mut heading = format!("# maskwright {}\n\n", text(&manifest["run_of"]));
    let mut line = |what: &str, value: String| {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(heading, "- {what}: {value}");
        }
    };
    let words = manifest["command"].as_array().into_iter().flatten().skip(1);
    let words: Vec<String> = words.map(text).collect();
    line("command", format!("`maskwright {}`", words.join(" ").replace('`', "'")));
    line("started", text(&manifest["started"]));
    line(
        "program",
        format!(
            "maskwright {} at commit {}",
            text(&program["version"]),
            text(&program["commit"])
        ),
    );
    if let Some(parts) = manifest["parts"].as_array() {
        line(
            "measured",
            format!(
                "in {} parts, put together; the command is that of the first",
                parts.len()
            ),
        );
        for part in parts {
            let number = text(&part["shard"]["number"]);
            for warning in part["warnings"].as_array().into_iter().flatten() {
                line("note", format!("part {number}: {}", text(warning)));
            }
        }
        for missing in manifest["missing"].as_array().into_iter().flatten() {
            line("missing", text(missing));
        }
    }
    let gib = hardware["memory_mib"].as_u64().unwrap_or_default() >> 10;
    let (cpus, cpu, os) = (text(&hardware["cpus"]), text(&hardware["cpu"]), text(&hardware["os"]));
    line("hardware", format!("{cpus} × {cpu}, {gib} GiB, {os}"));
    let each = |name: &str, describe: &dyn Fn(&Value) -> String| -> String {
        let described = settings[name].as_array().into_iter().flatten().map(describe);
        described.collect::<Vec<_>>().join("; ")
    };
    line(
        "models",
        each("models", &|model| {
            let members = OF_MODEL.iter().filter(|name| !model[**name].is_null());
            let members = members.map(|name| format!("{name} {}", text(&model[*name])));
            let members: Vec<String> = members.collect();
            match members.is_empty() {
                true => text(&model["name"]),
                false => format!("{} ({})", text(&model["name"]), members.join(", ")),
            }
        }),
    );
    line(
        "servers",
        each("servers", &|server| {
            format!(
                "{} ({}, dialect {})",
                text(&server["name"]),
                text(&server["model"]),
                text(&server["dialect"])
            )
        }),
    );
    line(
        "frameworks",
        each("frameworks", &|framework| {
            format!("{} {}", text(&framework["name"]), text(&framework["version"]))
                .trim_end()
                .to_owned()
        }),
    );
    let instances = match &manifest["run_of"] {
        command if command == ToolSettings::COMMAND => "requests",
        _ => "schemas",
    };
    line(
        "datasets",
        each("datasets", &|dataset| {
            format!(
                "{} ({} {instances})",
                text(&dataset["name"]),
                text(&dataset["instances"])
            )
        }),
    );
    for name in ["files", "draft", "cases", "samples", "vocabulary"] {
        line(name, text(&settings[name]));
    }
    heading + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_heading_names_model_hardware_versions_date_and_command() {
        let manifest = json!({
            "run_of": "bench", "command": ["/bin/maskwright", "bench", "--limit", "3"], "started": "2026-01-02T03:04:05Z",
            "program": {"version": "0.1.0", "commit": "abc"},
            "hardware": {"cpu": "A CPU", "cpus": 2, "memory_mib": 8192, "os": "Linux"},
            "settings": {
                "models": [{"name": "builtin", "dtype": "f32"}], "frameworks": [{"name": "none", "version": ""}],
                "datasets": [{"name": "builtin", "instances": 3}],
            },
        });
        let text = heading(&manifest);
        for needle in [
            "# maskwright bench",
            "`maskwright bench --limit 3`",
            "2026-01-02",
            "0.1.0 at commit abc",
            "2 × A CPU, 8 GiB, Linux",
            "models: builtin (dtype f32)",
            "frameworks: none",
            "builtin (3 schemas)",
        ] {
            assert!(text.contains(needle), "{needle}: {text}");
        }
    }
}
