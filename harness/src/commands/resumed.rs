//! [`recorded_options`]: `--resume --out DIR` takes the options that are not given again from the run's manifest.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};
use serde_json::Value;

use crate::run::directory::MANIFEST;

/// Options for the directory of a run and the form of its result, which do not change what the run measures: they are never taken over.
const NOT_TAKEN_OVER: [&str; 6] = ["out", "resume", "shard", "json", "quiet", "verbose"];

/// Returns the options of the resumed run's command line that are not among `arguments`, those of this process. `None` where nothing is resumed, and
/// where the manifest does not tell: errors are reported later, where more is known.
pub fn recorded_options(command: &Command, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let given = command.clone().try_get_matches_from(arguments).ok()?;
    let (words, of_command, given) = innermost(command, &given);
    if !*given.try_get_one::<bool>("resume").ok()?? {
        return None;
    }
    let out = given.try_get_raw("out").ok()??.next()?;
    let manifest = std::fs::read_to_string(Path::new(out).join(MANIFEST)).ok()?;
    let manifest: Value = serde_json::from_str(&manifest).ok()?;
    let recorded = manifest["command"].as_array()?.iter().filter_map(Value::as_str);
    let recorded = command.clone().try_get_matches_from(recorded).ok()?;
    let (recorded_words, _, recorded) = innermost(command, &recorded);
    if words != recorded_words {
        return None;
    }
    let mut further = Vec::new();
    for argument in of_command.get_arguments() {
        let id = argument.get_id().as_str();
        let from_user = |matches: &ArgMatches| matches.value_source(id) == Some(ValueSource::CommandLine);
        let (Some(long), true) = (argument.get_long(), from_user(recorded)) else {
            continue;
        };
        if NOT_TAKEN_OVER.contains(&id) || from_user(given) {
            continue;
        }
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            further.push(format!("--{long}").into());
            continue;
        }
        for value in recorded.get_raw(id).into_iter().flatten() {
            let mut option = OsString::from(format!("--{long}="));
            option.push(value);
            further.push(option);
        }
    }
    Some(further)
}

/// Returns the words of the subcommand that was chosen, that subcommand, and its arguments.
fn innermost<'a>(command: &'a Command, matches: &'a ArgMatches) -> (Vec<&'a str>, &'a Command, &'a ArgMatches) {
    let (mut words, mut command, mut matches) = (Vec::new(), command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else {
            break;
        };
        words.push(name);
        (command, matches) = (found, inner);
    }
    (words, command, matches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn options_that_are_not_given_again_are_those_of_the_manifest() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().to_str().unwrap().to_owned();
        let recorded = [
            "maskwright",
            "bench",
            "--frameworks",
            "llguidance,none",
            "--limit",
            "3",
            "--no-overlap",
            "--out",
            &out,
            "--json",
        ];
        let manifest = serde_json::json!({ "command": recorded });
        std::fs::write(directory.path().join(MANIFEST), manifest.to_string()).unwrap();
        let command = crate::Cli::command();
        let resumed = |arguments: &[&str]| {
            let given: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let further = recorded_options(&command, &given).unwrap_or_default();
            let all = given.into_iter().chain(further);
            let all: Vec<String> = all
                .into_iter()
                .map(|argument| argument.into_string().unwrap())
                .collect();
            all
        };
        let alone = ["maskwright", "bench", "--resume", "--out", &out];
        let expected = [
            "--frameworks=llguidance",
            "--frameworks=none",
            "--limit=3",
            "--no-overlap",
        ];
        assert_eq!(resumed(&alone), [&alone[..], &expected].concat());
        let with_limit = [&alone[..], &["--limit", "4"]].concat();
        assert_eq!(
            resumed(&with_limit),
            [
                &with_limit[..],
                &["--frameworks=llguidance", "--frameworks=none", "--no-overlap"]
            ]
            .concat()
        );
        let other = ["maskwright", "masks", "--resume", "--out", &out];
        assert_eq!(resumed(&other), other);
        let new = ["maskwright", "bench", "--out", &out];
        assert_eq!(resumed(&new), new);
    }
}
