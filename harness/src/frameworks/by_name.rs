//! [`choose`]: from names on the command line to frameworks that can be run.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use maskwright::Compiler;
use maskwright_frameworks::{BUILT_IN_FRAMEWORKS, BuiltInFramework, Documented, Judging, Spelling};
use maskwright_worker::{Description, Setup};

use super::{EXTERNAL_FRAMEWORKS, ExternalFramework, LM_ONLY};
use crate::run::interrupt;
use crate::terminal::did_you_mean;
use crate::worker::{self, Launch, Limits, Provision, WORKER_COMMAND, Worker, WorkerCompiler, WorkerFailure};

/// Address of the sources, for users who have the program alone.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Limits of a worker's start.
const START_LIMITS: Limits = Limits {
    time: Duration::from_secs(120),
    memory_mib: 16 << 10,
};

/// A framework cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FrameworkError {
    /// The name is none of the known ones.
    #[error(
        "there is no framework {name:?}{}; known are {}, and {LM_ONLY} for the model alone; --worker NAME=COMMAND adds one",
        did_you_mean(name, known.iter().map(String::as_str)),
        known.join(", ")
    )]
    Unknown {
        /// The name given.
        name: String,
        /// Names of all known frameworks.
        known: Vec<String>,
    },
    /// A framework was added that is not among those to run.
    #[error(
        "--worker {name}=… adds a framework that is not asked for: name {name} among the frameworks too, or leave the option out"
    )]
    NotAsked {
        /// The name of the worker.
        name: String,
    },
    /// The framework is a program of its own, which is missing.
    #[error(
        "framework {name} is a program of its own, {executable}, which is neither beside this program nor on PATH; \
         build it in a clone of {REPOSITORY} with `cargo build --release --manifest-path {package}/Cargo.toml`"
    )]
    NotBuilt {
        /// The framework.
        name: &'static str,
        /// Name of the framework's executable.
        executable: &'static str,
        /// Folder of its package.
        package: &'static str,
    },
    /// The framework's worker does not start, or does not answer.
    #[error("framework {name}: {failure}")]
    Worker {
        /// The framework.
        name: String,
        /// Reason of the failure.
        failure: WorkerFailure,
    },
    /// The framework refused the vocabulary.
    #[error("framework {name} cannot work with this vocabulary: {message}")]
    Vocabulary {
        /// The framework.
        name: String,
        /// The framework's message.
        message: String,
    },
    /// The framework compiles no structural tags.
    #[error(
        "framework {name} compiles no structural tags, which calls of functions need: leave it out of --frameworks"
    )]
    NoStructuralTags {
        /// The framework.
        name: String,
    },
    /// This program's own file cannot be found, to be started as a worker.
    #[error("this program cannot find itself to start a worker: {0}")]
    Executable(std::io::Error),
}

/// Prefix that names a class of MaskBench; `module.Class` follows it.
const MASKBENCH: &str = "maskbench:";

/// The program that runs a class of MaskBench as a worker.
const MASKBENCH_WORKER: &str = include_str!("../worker/maskbench.py");

/// A framework that the user adds: `NAME=COMMAND`, or a class of MaskBench, `maskbench:module.Class`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWorker {
    /// Name in commands, records and tables.
    pub name: String,
    /// Command that starts the worker.
    pub launch: Launch,
}

impl FromStr for NamedWorker {
    type Err = String;

    /// Reads `NAME=PROGRAM ARGUMENT…`, separated by spaces, or `maskbench:module.Class`, which may have a name before it, too, and
    /// is called as its class otherwise.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = match (text.split_once('='), text.strip_prefix(MASKBENCH)) {
            (None, Some(class)) => (class.rsplit('.').next().unwrap_or(class), text),
            (named, _) => named.ok_or("expected NAME=COMMAND or maskbench:module.Class")?,
        };
        if name.is_empty() || name == LM_ONLY {
            return Err(format!("{name:?} cannot be a framework's name"));
        }
        if let Some(class) = command.strip_prefix(MASKBENCH) {
            if !class.contains('.') || class.contains(char::is_whitespace) {
                return Err(format!("expected {MASKBENCH}module.Class, not {command:?}"));
            }
            let arguments = ["-c", MASKBENCH_WORKER, class].map(str::to_owned).to_vec();
            // Its packages are loaded before it can say what it is.
            let hello_time = START_LIMITS.time;
            let launch = Launch::new("python3", arguments);
            return Ok(Self {
                name: name.to_owned(),
                launch: Launch { hello_time, ..launch },
            });
        }
        let mut words = command.split_whitespace().map(str::to_owned);
        let program = words.next().ok_or("the command is empty")?;
        Ok(Self {
            name: name.to_owned(),
            launch: Launch::new(program, words.collect()),
        })
    }
}

/// A framework that was chosen and can be run.
pub struct Framework {
    /// Name in records and tables.
    pub name: String,
    /// Version, options and the like, as its worker tells them.
    pub description: Description,
    /// Keywords and formats that the framework documents as supported; none where it tells nothing.
    pub documented: Option<Documented>,
    /// Function that writes documents in the form that the framework takes; none where it takes every text of a value.
    spelling: Option<Spelling>,
    home: Home,
}

enum Home {
    /// Part of this program.
    Here(&'static BuiltInFramework),
    /// A program of its own.
    Elsewhere(Launch),
}

impl fmt::Debug for Framework {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Framework")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The frameworks called `names`, each once; those of `workers` come before ours of the same name.
///
/// # Errors
///
/// [`FrameworkError`], also where a worker is not among `names`.
pub fn choose(names: &[String], workers: &[NamedWorker]) -> Result<Vec<Framework>, FrameworkError> {
    if let Some(worker) = workers.iter().find(|worker| !names.contains(&worker.name)) {
        let name = worker.name.clone();
        return Err(FrameworkError::NotAsked { name });
    }
    let mut frameworks: Vec<Framework> = Vec::new();
    for name in names {
        if frameworks.iter().all(|framework| framework.name != *name) {
            frameworks.push(find(name, workers)?);
        }
    }
    Ok(frameworks)
}

fn find(name: &str, workers: &[NamedWorker]) -> Result<Framework, FrameworkError> {
    if let Some(worker) = workers.iter().find(|worker| worker.name == name) {
        return elsewhere(name, worker.launch.clone());
    }
    if let Some(framework) = BUILT_IN_FRAMEWORKS.iter().find(|framework| framework.name == name) {
        return Ok(Framework {
            name: name.to_owned(),
            description: framework.describe(),
            documented: Some(framework.documented.clone()),
            spelling: framework.spelling,
            home: Home::Here(framework),
        });
    }
    if let Some(program) = EXTERNAL_FRAMEWORKS.iter().find(|program| program.name == name) {
        let path = find_executable(program).ok_or(FrameworkError::NotBuilt {
            name: program.name,
            executable: program.executable,
            package: program.package,
        })?;
        let arguments = program.arguments.iter().map(|&argument| argument.to_owned());
        return elsewhere(name, Launch::new(path, arguments.collect()));
    }
    let built_in = BUILT_IN_FRAMEWORKS.iter().map(|framework| framework.name);
    let known = built_in.chain(EXTERNAL_FRAMEWORKS.iter().map(|program| program.name));
    Err(FrameworkError::Unknown {
        name: name.to_owned(),
        known: known
            .map(str::to_owned)
            .chain(workers.iter().map(|worker| worker.name.clone()))
            .collect(),
    })
}

fn elsewhere(name: &str, launch: Launch) -> Result<Framework, FrameworkError> {
    let description = worker::describe(&launch, &START_LIMITS).map_err(|failure| FrameworkError::Worker {
        name: name.to_owned(),
        failure,
    })?;
    let documented = description.documented.as_ref().map(Documented::try_from);
    let documented = documented.transpose().map_err(|error| FrameworkError::Worker {
        name: name.to_owned(),
        failure: WorkerFailure::Protocol {
            message: error.to_string(),
        },
    })?;
    Ok(Framework {
        name: name.to_owned(),
        description,
        documented,
        spelling: None,
        home: Home::Elsewhere(launch),
    })
}

/// Finds a program: beside this one, in its package's build folder where this one lies in `target/…` of the
/// repository, or on PATH.
pub fn find_executable(program: &ExternalFramework) -> Option<PathBuf> {
    let executable = format!("{}{}", program.executable, std::env::consts::EXE_SUFFIX);
    let mut places = Vec::new();
    if let Some(beside) = std::env::current_exe()
        .ok()
        .and_then(|path| Some(path.parent()?.to_owned()))
    {
        places.extend(beside.ancestors().take(4).flat_map(|root| {
            let target = root.join(program.package).join("target");
            [target.join("release"), target.join("debug")]
        }));
        places.insert(0, beside);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    places.extend(std::env::split_paths(&path));
    places
        .into_iter()
        .map(|place| place.join(&executable))
        .find(|path| path.is_file())
}

impl Framework {
    /// The text of an instance of a schema, as it is to be replayed. It stands as it is where the framework takes any text of
    /// a value, and where the instance is not valid, so that it has none; none where the framework knows of none.
    pub fn text<'a>(
        &self,
        judging: &Judging<'_>,
        schema: &str,
        instance: &'a str,
        valid: bool,
    ) -> Option<Cow<'a, str>> {
        match self.spelling.filter(|_| valid) {
            Some(spelling) => spelling(judging, schema, instance, &interrupt::INTERRUPTED).map(Cow::Owned),
            None => Some(Cow::Borrowed(instance)),
        }
    }

    /// A worker of this framework. It is not started yet.
    ///
    /// # Errors
    ///
    /// [`FrameworkError::Executable`].
    pub fn worker(&self, provision: Provision) -> Result<Worker, FrameworkError> {
        let launch = match &self.home {
            Home::Elsewhere(launch) => launch.clone(),
            Home::Here(framework) => Launch::new(
                own_program().map_err(FrameworkError::Executable)?,
                vec![WORKER_COMMAND.to_owned(), framework.name.to_owned()],
            ),
        };
        Ok(Worker::new(launch, provision, START_LIMITS))
    }

    /// A worker that is ready: it has taken the vocabulary.
    ///
    /// # Errors
    ///
    /// [`FrameworkError`], where it does not start or does not take it.
    pub fn ready_worker(&self, provision: Provision) -> Result<Worker, FrameworkError> {
        let mut worker = self.worker(provision)?;
        worker.ready().map_err(|failure| match failure {
            WorkerFailure::Refused { message } => FrameworkError::Vocabulary {
                name: self.name.clone(),
                message,
            },
            failure => FrameworkError::Worker {
                name: self.name.clone(),
                failure,
            },
        })?;
        Ok(worker)
    }

    /// A compiler over this framework in a worker.
    ///
    /// # Errors
    ///
    /// As [`ready_worker`](Self::ready_worker).
    pub fn worker_compiler(
        &self,
        provision: Provision,
        compile_limits: Limits,
        mask_limits: Limits,
        mask_len: usize,
    ) -> Result<Arc<dyn Compiler>, FrameworkError> {
        let worker = self.ready_worker(provision)?;
        let compiler = WorkerCompiler::new(
            worker,
            compile_limits,
            mask_limits,
            mask_len,
            self.description.completes,
        );
        Ok(Arc::new(compiler))
    }

    /// A compiler in this process, where the framework is trusted with that.
    ///
    /// # Errors
    ///
    /// [`FrameworkError::Vocabulary`].
    pub fn in_process_compiler(&self, setup: &Setup) -> Result<Option<Arc<dyn Compiler>>, FrameworkError> {
        match self.home {
            Home::Here(framework) if framework.in_process => match (framework.prepare)(setup) {
                Ok(compiler) => Ok(Some(Arc::from(compiler))),
                Err(message) => Err(FrameworkError::Vocabulary {
                    name: self.name.clone(),
                    message,
                }),
            },
            _ => Ok(None),
        }
    }
}

/// The file of this program; of the benchmark's program where this is its test.
fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}
