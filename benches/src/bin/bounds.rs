//! Work and memory of our engine, schema by schema, for those who look for what is not bounded.
//!
//! `cargo run --release -p maskwright-benches --bin bounds -- PATH… [--families N,…] [--generation] [--time-limit S] [--over MS]`:
//! a PATH is a file, or a directory of files, with a `schema` and `tests` (MaskBench's layout) or one `instance`; `--families`
//! takes the families of `benches/src/families.rs` in these sizes. Prints a line for each
//! schema: milliseconds of processor time of compilation, of the first mask, of the longest mask with the token accepted after
//! it, of the longest completion (asked for every 16 tokens), and of all of it; MiB that the process holds before the schema is
//! compiled, which all schemas share, and beside these of the allocator's peak and of what is left after the documents, and what
//! [`Masker::memory_bytes`] says of that; then documents by what came out of them, and where the
//! longest mask was. `--over` leaves out schemas whose masks and compilation all took less. Each schema may take `--time-limit`
//! seconds (20), after which its process is killed. In the style `generation` documents are written as they stand, so that
//! valid ones may end early (`early`).

use std::alloc::{GlobalAlloc, Layout};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use maskwright::{Compiler, ExactCompiler, ExactOptions, Formats, MaskError, Masker, Style, Vocabulary};
use maskwright_benches::{FAMILIES, Family};
use maskwright_worker::Stopwatch;
use serde_json::json;

/// Counts the bytes that are allocated.
struct Counting(mimalloc::MiMalloc);

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Characters of a document that are shown before its slowest mask.
const SHOWN: usize = 40;
/// The prefix of paths that stand for a family and a size.
const FAMILY: &str = "family:";
/// Tokens between two completions that are asked for.
const COMPLETION_EVERY: usize = 16;

#[expect(unsafe_code, reason = "an allocator, which only counts")]
// SAFETY: all is done by mimalloc.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { self.0.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(mimalloc::MiMalloc);

fn main() -> ExitCode {
    let mut paths = Vec::new();
    let (mut generation, mut time_limit, mut over, mut is_child) = (false, 20.0, 0.0, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next()?.parse().ok();
        match &word[..] {
            "--generation" => generation = true,
            "--child" => is_child = true,
            "--families" => {
                let sizes = words.next().unwrap_or_default();
                let sizes: Vec<usize> = sizes.split(',').filter_map(|size| size.parse().ok()).collect();
                for family in FAMILIES {
                    let sizes = sizes.iter().filter(|size| **size <= family.largest);
                    paths.extend(sizes.map(|size| PathBuf::from(format!("{FAMILY}{}:{size:04}", family.name))));
                }
            }
            "--time-limit" => time_limit = number().unwrap_or(time_limit),
            "--over" => over = number().unwrap_or(over),
            path => paths.push(PathBuf::from(path)),
        }
    }
    if is_child {
        maskwright_benches::on_large_stack(|| child(&paths, generation));
        return ExitCode::SUCCESS;
    }
    let mut files = Vec::new();
    for path in paths {
        match std::fs::read_dir(&path) {
            Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json") || of_family(path).is_some());
    files.sort();
    say("compile   first longest complet   total |   held   peak   kept   told MiB | documents");
    let mut rest = &files[..];
    while !rest.is_empty() {
        match parent(rest, generation, Duration::from_secs_f64(time_limit), over) {
            Ok(done) => rest = &rest[done..],
            Err(error) => {
                say(&error);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stdout, reason = "what the program is for")]
fn say(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
}

/// Has a process measure `files` until one takes too long, and says with how many it is done.
fn parent(files: &[PathBuf], generation: bool, time_limit: Duration, over: f64) -> Result<usize, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg("--child").args(files).stdout(Stdio::piped());
    if generation {
        command.arg("--generation");
    }
    let mut process = command.spawn().map_err(|error| error.to_string())?;
    let output = process.stdout.take().ok_or("no output")?;
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut done = 0;
    while done < files.len() {
        let name = files[done].file_stem().unwrap_or_default().to_string_lossy();
        match lines.recv_timeout(time_limit) {
            Ok(line) if line == "ready" => continue,
            Ok(line) => {
                let times = line
                    .split_whitespace()
                    .take(4)
                    .filter_map(|word| word.parse::<f64>().ok());
                if !line.contains("| ") || line.contains("WRONG") || times.fold(0.0, f64::max) >= over {
                    say(&format!("{line} {name}"));
                }
                done += 1;
            }
            Err(error) => {
                let how = match error {
                    mpsc::RecvTimeoutError::Timeout => format!("more than {} s", time_limit.as_secs()),
                    mpsc::RecvTimeoutError::Disconnected => "the process died".to_owned(),
                };
                say(&format!("FAILED: {how}: {name}"));
                done += 1;
                break;
            }
        }
    }
    let _ = process.kill();
    let _ = process.wait();
    Ok(done)
}

fn child(files: &[PathBuf], generation: bool) {
    let vocabulary = maskwright_benches::vocabulary();
    let style = if generation {
        Style::generation()
    } else {
        Style::rfc8259()
    };
    let options = ExactOptions::default().formats(Formats::Asserted).style(style);
    let compiler = ExactCompiler::new(vocabulary.clone(), options);
    // The first schema makes the parts that all schemas of the vocabulary share.
    let _ = compiler.compile("{}").map(|mut masker| masker.mask().is_ok());
    say("ready");
    for file in files {
        say(&one(&compiler, &vocabulary, generation, file).unwrap_or_else(|error| error));
    }
}

/// The family and the size that a path of `--families` names.
fn of_family(path: &Path) -> Option<(&'static Family, usize)> {
    let (name, size) = path.to_str()?.strip_prefix(FAMILY)?.split_once(':')?;
    Some((FAMILIES.iter().find(|family| family.name == name)?, size.parse().ok()?))
}

fn millis(watch: &Stopwatch) -> f64 {
    watch.elapsed().cpu_ns as f64 / 1e6
}

fn one(compiler: &ExactCompiler, vocabulary: &Vocabulary, generation: bool, file: &Path) -> Result<String, String> {
    let case = match of_family(file) {
        Some((family, size)) => {
            let test = json!({"data": (family.document)(size), "valid": true});
            json!({"schema": (family.schema)(size), "tests": [test]})
        }
        None => {
            let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
            serde_json::from_str(&text).map_err(|error| error.to_string())?
        }
    };
    let schema = case["schema"].to_string();
    let mut documents: Vec<(String, Option<bool>)> = Vec::new();
    if let Some(instance) = case["instance"].as_str() {
        documents.push((
            instance.to_owned(),
            case["expected"].as_str().map(|word| word == "valid"),
        ));
    }
    for test in case["tests"].as_array().into_iter().flatten() {
        documents.push((test["data"].to_string(), test["valid"].as_bool()));
    }
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let watch = Stopwatch::start();
    let mut masker = compiler
        .compile(&schema)
        .map_err(|error| format!("REFUSED: {error}:"))?;
    let compilation = millis(&watch);
    let first_mask = masker.mask().map(|_| ()).map_err(|error| error.to_string());
    let mut longest = (0.0, String::new());
    let first = millis(&watch) - compilation;
    let mut completion: f64 = 0.0;
    let mut outcomes = String::new();
    if let Err(error) = first_mask {
        write!(outcomes, " FIRST MASK: {error}").map_err(|error| error.to_string())?;
    }
    for (text, valid) in &documents {
        let Ok(mut masker) = masker.fork() else { continue };
        let outcome = document(&mut *masker, vocabulary, text, &mut longest, &mut completion);
        let outcome = match (outcome, valid) {
            (Err(error), _) => format!("{error:.80}"),
            (Ok(true), Some(false)) => "WRONG: accepted".to_owned(),
            (Ok(false), Some(true)) if !generation => "WRONG: rejected".to_owned(),
            (Ok(false), Some(true)) => "early".to_owned(),
            _ => "right".to_owned(),
        };
        write!(outcomes, " {outcome}").map_err(|error| error.to_string())?;
    }
    let total = millis(&watch);
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let held = mib(before);
    let peak = mib(PEAK.load(Ordering::Relaxed).saturating_sub(before));
    let kept = mib(NOW.load(Ordering::Relaxed).saturating_sub(before));
    let told = mib(masker.memory_bytes().unwrap_or(0));
    let (slowest, place) = longest;
    Ok(format!(
        "{compilation:7.1} {first:7.1} {slowest:7.1} {completion:7.1} {total:7.0} | {held:6.1} {peak:6.1} {kept:6.1} {told:6.1} |{outcomes} {place:?}"
    ))
}

/// Whether a document is accepted whole. The longest mask with the text before it, and the longest completion, are noted.
fn document(
    masker: &mut dyn Masker,
    vocabulary: &Vocabulary,
    text: &str,
    longest: &mut (f64, String),
    completion: &mut f64,
) -> Result<bool, MaskError> {
    let tokens = vocabulary
        .tokenizer()
        .map(|tokenizer| tokenizer.tokenize(text.as_bytes()));
    let mut read = 0;
    for (number, token) in tokens.unwrap_or_default().into_iter().enumerate() {
        let watch = Stopwatch::start();
        let allowed = masker.mask()?.allows(token);
        let accepted = masker.advance(token);
        let took = millis(&watch);
        if took > longest.0 {
            let before = &text.as_bytes()[..read];
            let shown = &before[before.len().saturating_sub(SHOWN)..];
            *longest = (took, String::from_utf8_lossy(shown).into_owned());
        }
        match accepted {
            Ok(()) if allowed => {}
            Ok(()) => return Err(MaskError::Internal("mask and advance differ".to_owned())),
            Err(MaskError::TokenRefused { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        read += vocabulary.token_bytes(token).len();
        if number % COMPLETION_EVERY == 0 {
            let watch = Stopwatch::start();
            let told = masker.completion(&mut Vec::new())?;
            *completion = completion.max(millis(&watch));
            if !told {
                return Err(MaskError::Internal("no completion".to_owned()));
            }
        }
    }
    masker.is_complete()
}
