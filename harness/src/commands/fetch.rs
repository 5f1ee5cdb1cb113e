//! `maskwright fetch`.

use std::path::PathBuf;

use clap::Args;
use indicatif::{HumanBytes, ProgressBar};
use maskwright_suites::fetch::{
    Cache, FetchError, Fetched, Fetcher, Homes, Progress, Retries, SOURCES, Source, State, Wish, source,
};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::run::{interrupt, progress};
use crate::terminal::listed;

/// Argument that selects all sources.
const ALL: &str = "all";

/// Arguments of `maskwright fetch`.
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// Names of the data to fetch, or `all`; without names, the data that can be fetched are listed with their state
    #[arg(value_name = "NAMES")]
    names: Vec<String>,
    /// Branch, tag or commit, of a single name
    #[arg(long, value_name = "REV")]
    revision: Option<String>,
    /// Use only files in the cache
    #[arg(long, conflicts_with = "force")]
    offline: bool,
    /// Fetch data again that are in the cache
    #[arg(long)]
    force: bool,
    /// Verify that the files in the cache are as they were fetched; downloads nothing
    #[arg(long, conflicts_with_all = ["force", "revision"])]
    verify: bool,
    /// Directory of the cache [default: $MASKWRIGHT_CACHE, or `maskwright` in the user's directory of caches]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Fetches, verifies or lists sources.
///
/// # Errors
///
/// [`CommandError::Fetch`]; of several sources, the others are fetched all the same.
pub fn run(arguments: &FetchArguments) -> Result<(), CommandError> {
    let cache = match &arguments.cache {
        Some(root) => Cache::new(root),
        None => Cache::from_environment()?,
    };
    let mut chosen = chosen(&arguments.names)?;
    if arguments.revision.is_some() && chosen.len() != 1 {
        return Err(CommandError::Arguments(
            "--revision needs the name of one source".to_owned(),
        ));
    }
    if arguments.verify {
        if chosen.is_empty() {
            chosen.extend(SOURCES.iter().filter(|source| cache.current(source).is_some()));
        }
        each(&chosen, |source| verify(&cache, source))?;
    } else if !chosen.is_empty() {
        fetch(arguments, &cache, &chosen)?;
    }
    if chosen.is_empty() {
        chosen.extend(SOURCES);
    }
    match arguments.json {
        true => crate::print(&format!("{}\n", as_json(&cache, &chosen))),
        false => crate::print_text(&as_text(&cache, &chosen)),
    }
}

/// Returns the sources with the names given, each once.
fn chosen(names: &[String]) -> Result<Vec<&'static Source>, FetchError> {
    let mut chosen: Vec<&Source> = Vec::new();
    for name in names {
        let found = match name.as_str() {
            ALL => SOURCES.iter().collect(),
            name => vec![source(name).ok_or_else(|| FetchError::unknown_source(name))?],
        };
        for source in found {
            if !chosen.iter().any(|other| other.name == source.name) {
                chosen.push(source);
            }
        }
    }
    Ok(chosen)
}

fn fetch(arguments: &FetchArguments, cache: &Cache, chosen: &[&'static Source]) -> Result<(), CommandError> {
    interrupt::watch();
    let bar = Bar(progress::download_bar(""));
    let fetcher = Fetcher {
        cache: cache.clone(),
        homes: Homes::from_environment(),
        progress: &bar,
        retries: Retries::default(),
    };
    let wish = Wish {
        revision: arguments.revision.as_deref(),
        offline: arguments.offline,
        force: arguments.force,
    };
    let fetched = each(chosen, |source| fetcher.fetch(source, wish).map(drop));
    bar.0.finish_and_clear();
    fetched
}

/// Runs `action` on each source, and prints the failures with their reasons.
fn each(chosen: &[&'static Source], action: impl Fn(&Source) -> Result<(), FetchError>) -> Result<(), CommandError> {
    if let [source] = chosen {
        return Ok(action(source)?);
    }
    let mut failed = Vec::new();
    for source in chosen {
        match action(source) {
            Ok(()) => {}
            Err(error @ FetchError::Interrupted) => return Err(error.into()),
            Err(error) => {
                progress::complain(&format!("{}: {error}", source.name));
                failed.push(source.name.to_owned());
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let of = chosen.len();
    Err(CommandError::FetchSome { failed, of })
}

fn verify(cache: &Cache, source: &Source) -> Result<(), FetchError> {
    match cache.state(source) {
        State::Fetched { path, fetched } => {
            fetched.verify(&path)?;
            let count = fetched.files.len();
            progress::say(&format!("{}: all {count} files are as they were fetched", source.name));
            Ok(())
        }
        State::NotFetched | State::Incomplete => Err(FetchError::NotFetched {
            source_name: source.name.to_owned(),
            cache: cache.root().to_owned(),
        }),
    }
}

/// Returns a word for the state, and path and description of the data where they are fetched.
fn described(state: State) -> (&'static str, Option<(PathBuf, Box<Fetched>)>) {
    match state {
        State::NotFetched => ("not fetched", None),
        State::Incomplete => ("incomplete", None),
        State::Fetched { path, fetched } => ("fetched", Some((path, fetched))),
    }
}

fn as_json(cache: &Cache, chosen: &[&Source]) -> Value {
    let sources = chosen.iter().map(|source| {
        let (state, fetched) = described(cache.state(source));
        let mut listing = json!({
            "name": source.name, "description": source.description, "licence": source.licence,
            "url": source.home.page(), "state": state,
        });
        if let Some((path, fetched)) = fetched {
            listing["path"] = json!(path);
            listing["requested"] = json!(fetched.requested);
            listing["revision"] = json!(fetched.revision);
            listing["fetched_at"] = json!(fetched.fetched_at);
            listing["files"] = json!(fetched.files.len());
            listing["bytes"] = json!(fetched.bytes);
        }
        listing
    });
    json!({ "cache": cache.root(), "sources": sources.collect::<Vec<_>>() })
}

fn as_text(cache: &Cache, chosen: &[&Source]) -> String {
    let mut text = String::new();
    for source in chosen {
        let (state, fetched) = described(cache.state(source));
        let state = match &fetched {
            None => state.to_owned(),
            Some((_, fetched)) => format!(
                "fetched at {}: {} files, {}",
                short(&fetched.revision),
                fetched.files.len(),
                HumanBytes(fetched.bytes)
            ),
        };
        let (page, licence) = (source.home.page(), source.licence);
        text += &listed(source.name, &state);
        text += &listed("", source.description);
        text += &listed("", &format!("{page} (licence: {licence})"));
        text.push('\n');
    }
    format!("{text}cache: {}\n", cache.root().display())
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// Progress bar of downloads, which stops them where the user asks to.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn start(&self, what: &str, bytes: Option<u64>) {
        self.0.set_message(what.to_owned());
        self.0.set_position(0);
        match bytes {
            Some(bytes) => self.0.set_length(bytes),
            None => self.0.unset_length(),
        }
    }

    fn position(&self, at: u64) {
        self.0.set_position(at);
    }

    fn stopped(&self) -> bool {
        interrupt::requested()
    }
}
