//! The results of finished and unfinished runs, read again from their directories: pages, comparisons and further formats are made from them.
//!
//! [`run`] reads a run of any command; the other files turn the records of one command into its report, with the settings that the
//! run's manifest has on record.

pub mod bench;
pub mod coverage;
pub mod failures;
pub mod formats;
pub mod ifstruct;
pub mod lm_eval;
pub mod masks;
pub mod merge;
pub mod quality;
pub mod run;
pub mod schemas;
pub mod testsuite;
pub mod tools;

use serde_json::Value;

/// The names of the members of a list in settings, such as the frameworks of a run.
pub fn names(settings: &Value, list: &str) -> Vec<String> {
    let members = settings[list].as_array().into_iter().flatten();
    members
        .filter_map(|member| Some(member["name"].as_str()?.to_owned()))
        .collect()
}

/// Whether a run with these settings was to ask a row, which is a model with a framework or with the name of a server, about the data `name`, a
/// member of the list `data`.
pub fn is_asked(settings: &Value, [model, framework]: [&str; 2], [data, name]: [&str; 2]) -> bool {
    let has = |list: &str, name: &str| names(settings, list).iter().any(|known| known == name);
    let mut servers = settings["servers"].as_array().into_iter().flatten();
    let is_row = has("models", model) && has("frameworks", framework)
        || servers.any(|server| server["name"] == framework && server["model"] == model);
    is_row && has(data, name)
}

/// Returns the names of `known` that are among `found`, followed by the other names of `found` in the order in which they occur.
pub fn in_order<'n>(known: Vec<String>, found: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let mut names = known;
    names.retain(|name| found.clone().any(|one| one == name));
    for name in found {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
