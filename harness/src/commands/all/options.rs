//! The options of a call of `maskwright all`, kept in its directory so that `--resume` continues with them.

use std::fs;
use std::path::Path;

use super::AllArguments;
use crate::error::CommandError;
use crate::run::directory;

/// Name of the options' file in the directory.
const OPTIONS: &str = "options.json";

/// Makes the directory of a first call and writes its options there.
///
/// # Errors
///
/// [`CommandError::Arguments`], where the directory exists already; [`CommandError::Write`], where it cannot be made.
pub fn begin(arguments: &AllArguments, out: &Path) -> Result<(), CommandError> {
    if out.exists() {
        let message = format!(
            "{} is there already: go on with --resume, or choose another --out",
            out.display()
        );
        return Err(CommandError::Arguments(message));
    }
    directory::writable(out).map_err(|source| CommandError::write(out, source))?;
    fs::create_dir_all(out).map_err(|source| CommandError::write(out, source))?;
    let path = out.join(OPTIONS);
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default() + "\n";
    fs::write(&path, text).map_err(|source| CommandError::write(&path, source))
}

/// Returns the options of the first call in `out`, with the time of this call, and with its parts and `--offline` where it gives them.
///
/// # Errors
///
/// [`CommandError::Arguments`], where the directory has no options of a first call or damaged ones.
pub fn resumed(arguments: &AllArguments, out: &Path) -> Result<AllArguments, CommandError> {
    let path = out.join(OPTIONS);
    let wrong = |problem: String| {
        let path = path.display();
        CommandError::Arguments(format!(
            "cannot go on: {path}: {problem}; give the --out of an earlier `maskwright all`, or begin without --resume"
        ))
    };
    let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let kept: AllArguments = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    directory::writable(out).map_err(|source| CommandError::write(out, source))?;
    Ok(AllArguments {
        budget: arguments.budget,
        out: arguments.out.clone(),
        resume: true,
        offline: arguments.offline || kept.offline,
        parts: match arguments.parts.is_empty() {
            true => kept.parts,
            false => arguments.parts.clone(),
        },
        ..kept
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        all: AllArguments,
    }

    fn arguments(words: &[&str]) -> AllArguments {
        Line::try_parse_from([&["all"], words].concat()).unwrap().all
    }

    #[test]
    fn a_resumed_call_has_the_options_of_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out");
        let first = [
            "--model",
            "some/model",
            "--frameworks",
            "maskwright",
            "--parts",
            "bench,masks",
            "--budget",
            "1h",
        ];
        let first = arguments(&first);
        begin(&first, &out).unwrap();
        assert!(begin(&first, &out).is_err());
        let here = out.to_str().unwrap();
        let again = resumed(&arguments(&["--resume", "--out", here, "--budget", "2m"]), &out).unwrap();
        assert_eq!(
            (&again.model, &again.frameworks, &again.parts),
            (&first.model, &first.frameworks, &first.parts)
        );
        assert!(again.resume && again.budget.as_secs() == 120 && again.out.as_deref() == Some(out.as_path()));
        // Another model would make another benchmark.
        let other = ["all", "--resume", "--out", here, "--model", "other"];
        assert!(Line::try_parse_from(other).is_err());
        fs::write(out.join(OPTIONS), "{").unwrap();
        assert!(resumed(&again, &out).is_err());
        assert!(resumed(&again, directory.path()).is_err());
    }
}
