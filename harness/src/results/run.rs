//! [`Run`]: a run of any command, as its directory has it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use maskwright_suites::ifstruct::Samples;
use serde_json::Value;

use crate::bench::record::Record;
use crate::coverage::record::CoverageRecord;
use crate::error::CommandError;
use crate::figures::pairing;
use crate::ifstruct::record::ReplyRecord;
use crate::ifstruct::settings::SAMPLES_FILE;
use crate::masks::record::MaskRecord;
use crate::quality::record::AnswerRecord;
use crate::run::directory::{MANIFEST, RECORDS, Recorded, shard_of, warnings_of};
use crate::run::error::RunDirectoryError;
use crate::run::heading::heading;
use crate::run::machine;
use crate::run::manifest::Settings as _;
use crate::run::reading::{command_of_run, records_of_run};
use crate::testsuite::record::SuiteRecord;
use crate::tools::record::CallRecord;
use crate::train::settings::TrainSettings;

/// Depth of directories to which runs are looked for.
const MAX_DEPTH: usize = 4;

/// A run, or several of one command that measured the same and are read together.
#[derive(Debug)]
pub struct Run {
    /// The directories.
    pub paths: Vec<PathBuf>,
    /// The manifests, in the order of the directories.
    pub manifests: Vec<Value>,
    /// Records of the run, with its settings.
    pub found: Found,
}

/// The records of a run and its settings.
#[derive(Debug)]
pub struct RunRecords<R> {
    /// The settings of its manifest; null where there are none. Lists of runs that are read as one have the members of all.
    pub settings: Value,
    /// The settings of each manifest, as a run asked its own rows about its own data only.
    pub settings_of_each: Vec<Value>,
    /// The final records, one for each key.
    pub records: Vec<R>,
    /// Warnings about its times that were given when they were measured; those of parts are with the parts.
    pub warnings: Vec<String>,
}

/// Records of a run, by its command.
#[derive(Debug)]
pub enum Found {
    /// Records of `bench`.
    Bench(RunRecords<Record>),
    /// Records of `quality`.
    Quality(RunRecords<AnswerRecord>),
    /// Records of `bench --tools`.
    Tools(RunRecords<CallRecord>),
    /// Records of `testsuite`.
    Suite(RunRecords<SuiteRecord>),
    /// Records of `masks`.
    Masks(RunRecords<MaskRecord>),
    /// Records of `coverage`.
    Coverage(RunRecords<CoverageRecord>),
    /// Records of `ifstruct run`, with the samples.
    Ifstruct(RunRecords<ReplyRecord>, Samples),
}

/// The commands whose runs are read.
pub const COMMANDS: [&str; 7] = [
    "bench",
    "bench --tools",
    "quality",
    "testsuite",
    "masks",
    "coverage",
    "ifstruct run",
];

impl Run {
    /// Reads the run in `path`. A last line that is unfinished is left out, so that a run can be read while it is written.
    ///
    /// # Errors
    ///
    /// [`CommandError::RunDirectory`], where there is no run or a damaged one; [`CommandError::Samples`], where samples of IFStruct
    /// cannot be read; [`CommandError::Arguments`], where the run is of a command that puts nothing on record.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let command = command_of_run(path)?;
        let text = fs::read_to_string(path.join(MANIFEST)).map_err(|source| CommandError::read(path, source))?;
        let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
        let settings = &manifest["settings"];
        let found = match command.as_str() {
            "bench" => Found::Bench(RunRecords::read(path, settings)?),
            "quality" => Found::Quality(RunRecords::read(path, settings)?),
            "bench --tools" => Found::Tools(RunRecords::read(path, settings)?),
            "testsuite" => Found::Suite(RunRecords::read(path, settings)?),
            "masks" => Found::Masks(RunRecords::read(path, settings)?),
            "coverage" => Found::Coverage(RunRecords::read(path, settings)?),
            "ifstruct run" => Found::Ifstruct(
                RunRecords::read(path, settings)?,
                Samples::load(&path.join(SAMPLES_FILE))?,
            ),
            other => {
                let message = format!(
                    "{} holds a run of `maskwright {other}`: give runs of {}",
                    path.display(),
                    COMMANDS.join(", ")
                );
                return Err(CommandError::Arguments(message));
            }
        };
        Ok(Self {
            paths: vec![path.to_owned()],
            manifests: vec![manifest],
            found,
        })
    }

    /// Reads the runs in `paths`: each a run's directory, or one that holds such directories.
    ///
    /// # Errors
    ///
    /// [`Run::read`]'s; [`CommandError::Arguments`], where a directory holds no run.
    pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Self>, CommandError> {
        let mut runs = Vec::new();
        for path in paths {
            let directories = directories_of_runs(path);
            if directories.is_empty() {
                if path.is_dir() && !path.join(MANIFEST).exists() {
                    return Err(CommandError::Arguments(format!(
                        "{} holds no run: name a run's directory, such as runs/bench-DATE-TIME",
                        path.display()
                    )));
                }
                // The error says what is missing.
                runs.push(Self::read(path)?);
            }
            // A training within a directory of runs asks nothing that these tables have.
            let is_shown = |directory: &PathBuf| {
                directory == path || !command_of_run(directory).is_ok_and(|command| command == TrainSettings::COMMAND)
            };
            for directory in directories.into_iter().filter(is_shown) {
                runs.push(Self::read(&directory)?);
            }
        }
        Ok(runs)
    }

    /// The command, such as `bench`.
    pub fn command(&self) -> &'static str {
        match self.found {
            Found::Bench(_) => "bench",
            Found::Quality(_) => "quality",
            Found::Tools(_) => "bench --tools",
            Found::Suite(_) => "testsuite",
            Found::Masks(_) => "masks",
            Found::Coverage(_) => "coverage",
            Found::Ifstruct(..) => "ifstruct run",
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        match &self.found {
            Found::Bench(run) => run.records.len(),
            Found::Quality(run) => run.records.len(),
            Found::Tools(run) => run.records.len(),
            Found::Suite(run) => run.records.len(),
            Found::Masks(run) => run.records.len(),
            Found::Coverage(run) => run.records.len(),
            Found::Ifstruct(run, _) => run.records.len(),
        }
    }

    /// The models that answered, in the order in which they first occur; none where frameworks are judged without a model.
    pub fn models(&self) -> Vec<String> {
        let mut models: Vec<String> = Vec::new();
        let mut add = |model: &str| {
            if !models.iter().any(|known| known == model) {
                models.push(model.to_owned());
            }
        };
        match &self.found {
            Found::Bench(run) => run.records.iter().for_each(|record| add(&record.key.model)),
            Found::Quality(run) => run.records.iter().for_each(|record| add(&record.key.model)),
            Found::Tools(run) => run.records.iter().for_each(|record| add(&record.key.model)),
            Found::Ifstruct(run, _) => run.records.iter().for_each(|record| add(&record.key.model)),
            Found::Suite(_) | Found::Masks(_) | Found::Coverage(_) => {}
        }
        models
    }

    /// Drops the records of other models, and these models from the settings, so that only the records of `model` are planned; how many these are is
    /// not on record where the run has other models. Returns false where no record is left; runs that judge frameworks without a model stay as they are.
    pub fn keep_model(&mut self, model: &str) -> bool {
        let all = self.len();
        let is_left = match &mut self.found {
            Found::Bench(run) => run.keep_model(model, |key| &key.model),
            Found::Quality(run) => run.keep_model(model, |key| &key.model),
            Found::Tools(run) => run.keep_model(model, |key| &key.model),
            Found::Ifstruct(run, _) => run.keep_model(model, |key| &key.model),
            Found::Suite(_) | Found::Masks(_) | Found::Coverage(_) => true,
        };
        let is_less = self.len() < all;
        for manifest in &mut self.manifests {
            let models = super::names(&manifest["settings"], "models");
            if (is_less || models.len() > 1)
                && let Some(members) = manifest.as_object_mut()
            {
                members.remove("planned");
            }
        }
        is_left
    }

    /// Returns the heading above the tables of the run, in Markdown.
    pub fn heading(&self) -> String {
        self.manifests.iter().map(heading).collect()
    }

    /// The name of the first directory, without those around it.
    pub fn name(&self) -> String {
        let name = self.paths.first().and_then(|path| path.file_name());
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Returns a sentence on the records of a run that is not finished; `None` of a finished one.
    pub fn unfinished(&self) -> Option<String> {
        let (settings, all): (&Value, &[&str]) = match &self.found {
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
        let questions: Option<u64> = match self.command() {
            "bench" => Some(sum("datasets", "instances")),
            "testsuite" => settings["cases"].as_u64(),
            "masks" => settings["files"].as_u64(),
            "coverage" => {
                let cases = settings["cases"].as_u64().unwrap_or(0);
                settings["files"].as_u64().map(|files| files.saturating_add(cases))
            }
            "ifstruct run" => settings["samples"].as_u64(),
            _ => None,
        };
        let has_servers = settings["servers"]
            .as_array()
            .is_some_and(|servers| !servers.is_empty());
        let times: u64 = all
            .iter()
            .map(|list| settings[*list].as_array().map_or(1, |list| list.len() as u64))
            .fold(1, u64::saturating_mul);
        // Runs of earlier versions do not tell; servers are rows beside the models, so that the number is another.
        let told = self
            .manifests
            .iter()
            .map(|manifest| manifest["planned"].as_u64())
            .sum::<Option<u64>>();
        let counted = questions.filter(|_| !has_servers && self.paths.len() == 1);
        let planned = told.or_else(|| counted.map(|questions| questions.saturating_mul(times)))?;
        let missing = self
            .manifests
            .iter()
            .flat_map(|manifest| manifest["missing"].as_array().into_iter().flatten());
        let missing: Vec<&str> = missing.filter_map(Value::as_str).collect();
        if !missing.is_empty() {
            return Some(format!(
                "{} of `{}` is unfinished: {}.",
                self.name(),
                self.command(),
                missing.join("; ")
            ));
        }
        let is_short = (self.len() as u64) < planned;
        is_short.then(|| {
            format!(
                "{} of `{}` is unfinished: {} of {planned} records.",
                self.name(),
                self.command(),
                self.len()
            )
        })
    }

    /// Whether the tables of the run have times.
    fn has_times(&self) -> bool {
        !matches!(self.found, Found::Quality(_) | Found::Suite(_) | Found::Coverage(_))
    }

    /// Whether this run and another were measured on machines of one kind.
    fn has_machine_of(&self, other: &Self) -> bool {
        let mut machines = self.manifests.iter().map(machine::machine);
        let others: Vec<Value> = other.manifests.iter().map(machine::machine).collect();
        machines.all(|one| others.iter().all(|other| machine::are_alike(&one, other)))
    }

    /// Adds the records of another run of the same command, where both asked under the same conditions, no question is answered in both, and times are
    /// those of one kind of machine; returns that run unchanged otherwise.
    fn take_in(&mut self, other: Self) -> Option<Self> {
        // Of runs that were added before, the records have only the settings of the first.
        let is_asked_alike = self.manifests.iter().all(|one| {
            let mut others = other.manifests.iter();
            others.all(|other| pairing::are_alike(&one["settings"], &other["settings"]))
        });
        let fits = match (&self.found, &other.found) {
            _ if !is_asked_alike => false,
            (Found::Bench(one), Found::Bench(two)) => one.fits(two, pairing::are_alike),
            (Found::Quality(one), Found::Quality(two)) => one.fits(two, pairing::are_alike),
            (Found::Tools(one), Found::Tools(two)) => one.fits(two, pairing::are_alike),
            (Found::Suite(one), Found::Suite(two)) => one.fits(two, are_equal),
            (Found::Masks(one), Found::Masks(two)) => one.fits(two, are_equal),
            (Found::Coverage(one), Found::Coverage(two)) => one.fits(two, are_equal),
            (Found::Ifstruct(one, _), Found::Ifstruct(two, _)) => one.fits(two, are_equal),
            _ => false,
        };
        if !fits || self.has_times() && !self.has_machine_of(&other) {
            return Some(other);
        }
        match (&mut self.found, other.found) {
            (Found::Bench(one), Found::Bench(two)) => one.add(two),
            (Found::Quality(one), Found::Quality(two)) => one.add(two),
            (Found::Tools(one), Found::Tools(two)) => one.add(two),
            (Found::Suite(one), Found::Suite(two)) => one.add(two),
            (Found::Masks(one), Found::Masks(two)) => one.add(two),
            (Found::Coverage(one), Found::Coverage(two)) => one.add(two),
            (Found::Ifstruct(one, _), Found::Ifstruct(two, _)) => one.add(two),
            _ => {}
        }
        self.paths.extend(other.paths);
        self.manifests.extend(other.manifests);
        None
    }
}

/// Runs of one command that fit together are read as one: other models or frameworks on the same questions, or other data. Runs with times of
/// different machines do not fit together.
pub fn together(runs: Vec<Run>) -> Vec<Run> {
    let mut groups: Vec<Run> = Vec::new();
    for run in runs {
        let mut left = Some(run);
        for group in &mut groups {
            left = left.and_then(|run| group.take_in(run));
        }
        groups.extend(left);
    }
    groups.sort_by_key(|run| COMMANDS.iter().position(|command| *command == run.command()));
    groups
}

/// The directories of runs in `path`, itself among them, in order of their names.
pub fn directories_of_runs(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(path.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        if path.join(MANIFEST).is_file() && path.join(RECORDS).is_file() {
            found.push(path);
            continue;
        }
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        let directories = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        open.extend(directories.filter(|_| depth < MAX_DEPTH).map(|path| (path, depth + 1)));
    }
    found.sort();
    found
}

/// Lists of which runs that are read together may have different members.
const MAY_DIFFER: [&str; 4] = ["models", "servers", "frameworks", "modes"];

fn are_equal(one: &Value, other: &Value) -> bool {
    let without = |settings: &Value| {
        let mut settings = settings.clone();
        if let Some(members) = settings.as_object_mut() {
            members.retain(|name, _| !MAY_DIFFER.contains(&name.as_str()));
        }
        settings
    };
    without(one) == without(other)
}

impl<R: Recorded> RunRecords<R> {
    fn read(path: &Path, settings: &Value) -> Result<Self, RunDirectoryError> {
        Ok(Self {
            settings: settings.clone(),
            settings_of_each: vec![settings.clone()],
            records: records_of_run(path)?,
            warnings: match shard_of(path) {
                Some(_) => Vec::new(),
                None => warnings_of(path),
            },
        })
    }

    /// Drops the records and settings of other models, and returns whether any record is left.
    fn keep_model(&mut self, model: &str, of_key: impl Fn(&R::Key) -> &String) -> bool {
        self.records.retain(|record| of_key(record.key()) == model);
        if let Some(models) = self.settings.get_mut("models").and_then(Value::as_array_mut) {
            models.retain(|known| known["name"] == model);
        }
        !self.records.is_empty()
    }

    fn fits(&self, other: &Self, are_alike: fn(&Value, &Value) -> bool) -> bool {
        let keys: HashSet<&R::Key> = self.records.iter().map(R::key).collect();
        are_alike(&self.settings, &other.settings) && !other.records.iter().any(|record| keys.contains(record.key()))
    }

    /// Adds the records of another run, and the further members of its settings' lists.
    fn add(&mut self, other: Self) {
        self.records.extend(other.records);
        self.settings_of_each.extend(other.settings_of_each);
        for warning in other.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        for list in ["models", "servers", "frameworks", "datasets", "tasks"] {
            let Some(theirs) = other.settings[list].as_array() else {
                continue;
            };
            let Some(ours) = self.settings[list].as_array_mut() else {
                continue;
            };
            for member in theirs {
                if !ours.iter().any(|known| known["name"] == member["name"]) {
                    ours.push(member.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use maskwright_suites::validate::Scoring;
    use serde_json::json;

    use super::*;
    use crate::figures::overview::axes;
    use crate::results::bench::ReadOptions;

    fn run(directory: &Path, name: &str, framework: &str, shots: usize) -> PathBuf {
        run_on(directory, name, framework, shots, "d")
    }

    fn run_on(directory: &Path, name: &str, framework: &str, shots: usize, dataset: &str) -> PathBuf {
        let path = directory.join("set").join(name);
        fs::create_dir_all(&path).unwrap();
        let manifest = json!({
            "run_of": "bench", "command": ["maskwright", "bench"],
            "settings": {
                "models": [{"name": "m"}], "frameworks": [{"name": framework}], "shots": shots,
                "datasets": [{"name": dataset, "instances": 1, "sha256": "1"}],
            },
        });
        fs::write(path.join(MANIFEST), manifest.to_string()).unwrap();
        let record = json!({"model": "m", "framework": framework, "dataset": dataset, "instance": "i"});
        // The last line is unfinished, as that of a run that is being written.
        fs::write(path.join(RECORDS), format!("{record}\n{{\"model\"")).unwrap();
        path
    }

    fn read(directory: &Path) -> Vec<Run> {
        together(Run::read_all(&[directory.to_owned()]).unwrap())
    }

    #[test]
    fn runs_that_fit_together_are_read_as_one() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), "a", "one", 2);
        run(directory.path(), "b", "two", 2);
        let runs = read(directory.path());
        assert_eq!((runs.len(), runs[0].len(), runs[0].paths.len()), (1, 2, 2));
        let Found::Bench(found) = &runs[0].found else {
            panic!("a run of bench")
        };
        assert_eq!(super::super::names(&found.settings, "frameworks"), ["one", "two"]);
    }

    #[test]
    fn rows_that_no_run_was_asked_for_are_neither_unfinished_nor_there() {
        let directory = tempfile::tempdir().unwrap();
        run_on(directory.path(), "a", "maskwright", 2, "x");
        run_on(directory.path(), "b", "none", 2, "y");
        let found = || {
            let runs = read(directory.path());
            let Found::Bench(found) = &runs[0].found else {
                panic!("a run of bench")
            };
            let rows = super::super::bench::report(found, ReadOptions::default())
                .rows
                .into_iter();
            let rows = rows.map(|row| (row.framework, row.dataset, row.unanswered));
            let axes = axes(&found.records, &[], Scoring::Strict);
            (rows.collect(), axes.into_iter().map(|one| one.empirical).collect())
        };
        let row = |framework: &str, dataset: &str, unanswered| (framework.to_owned(), dataset.to_owned(), unanswered);
        let (rows, shares): (Vec<_>, Vec<_>) = found();
        assert_eq!(rows, [row("maskwright", "x", 0), row("none", "y", 0)]);
        assert_eq!(
            shares,
            [Some(0.0); 2],
            "rows that share no data have figures of their own"
        );
        // A row that was planned and has no record yet is unfinished.
        fs::write(run_on(directory.path(), "c", "none", 2, "x").join(RECORDS), "").unwrap();
        assert_eq!(found().0[1], row("none", "x", 1));
    }

    #[test]
    fn runs_that_asked_otherwise_or_the_same_again_stay_apart() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), "a", "one", 2);
        run(directory.path(), "b", "two", 1);
        run(directory.path(), "c", "one", 2);
        assert_eq!(read(directory.path()).len(), 3);
    }

    #[test]
    fn a_run_is_compared_with_all_that_were_added_before_it() {
        let directory = tempfile::tempdir().unwrap();
        run_on(directory.path(), "a", "one", 2, "x");
        // The first run does not tell its limit on tokens.
        for (name, framework, max_tokens) in [("b", "one", 8), ("c", "two", 9)] {
            let manifest = run_on(directory.path(), name, framework, 2, "y").join(MANIFEST);
            let mut told: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
            told["settings"]["max_tokens"] = json!(max_tokens);
            fs::write(&manifest, told.to_string()).unwrap();
        }
        let together: Vec<usize> = read(directory.path()).iter().map(|run| run.paths.len()).collect();
        assert_eq!(together, [2, 1]);
    }

    #[test]
    fn runs_on_other_data_under_other_conditions_stay_apart() {
        let directory = tempfile::tempdir().unwrap();
        run_on(directory.path(), "a", "one", 2, "x");
        run_on(directory.path(), "b", "one", 0, "y");
        assert_eq!(read(directory.path()).len(), 2);
    }

    #[test]
    fn runs_with_times_of_other_machines_stay_apart() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path(), "a", "one", 2);
        let manifest = run(directory.path(), "b", "two", 2).join(MANIFEST);
        let mut elsewhere: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
        elsewhere["hardware"] = json!({"cpu": "another"});
        fs::write(&manifest, elsewhere.to_string()).unwrap();
        assert_eq!(read(directory.path()).len(), 2);
    }

    #[test]
    fn records_of_other_models_can_be_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let mut run = Run::read(&run(directory.path(), "a", "one", 2)).unwrap();
        assert_eq!(run.models(), ["m"]);
        assert!(run.keep_model("m") && !run.keep_model("n") && run.len() == 0);
    }

    #[test]
    fn a_directory_without_a_run_is_told_what_to_name() {
        let directory = tempfile::tempdir().unwrap();
        let error = Run::read_all(&[directory.path().to_owned()]).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("holds no run: name a run's directory, such as runs/bench-DATE-TIME"),
            "{error}"
        );
    }

    fn of_two_models(instances: u64) -> Run {
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
        let mut whole = of_two_models(1);
        assert_eq!(whole.unfinished(), None);
        assert!(whole.keep_model("a"));
        assert_eq!((whole.unfinished(), whole.len()), (None, 1));
        let mut short = of_two_models(2);
        assert!(short.unfinished().unwrap().contains("2 of 4 records"));
        assert!(short.keep_model("b"));
        assert!(short.unfinished().unwrap().contains("1 of 2 records"));
        // The second model has no record yet.
        let mut begun = of_two_models(1);
        if let Found::Bench(records) = &mut begun.found {
            records.records.truncate(1);
        }
        assert!(begun.unfinished().unwrap().contains("1 of 2 records"));
        assert!(begun.keep_model("a"));
        assert_eq!(begun.unfinished(), None);
        // Of other commands, too.
        let mut answers = of_two_models(2);
        answers.found = Found::Quality(RunRecords {
            settings_of_each: vec![json!({})],
            settings: json!({}),
            records: Vec::new(),
            warnings: Vec::new(),
        });
        assert!(answers.unfinished().unwrap().contains("0 of 4 records"));
        // A manifest may say anything, and those of earlier versions say no number.
        let mut any = of_two_models(u64::MAX);
        any.manifests = vec![json!({})];
        assert!(any.unfinished().unwrap().contains(&u64::MAX.to_string()));
    }
}
